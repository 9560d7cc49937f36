"""Supervised and semi-supervised maps: any map, guided by the labels of some or all of its points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, dia_array
from scipy.sparse.linalg import splu
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..core.labels import class_numbers, why_none_counts, without_marks
from ..sources.base import FloatArray
from ..utils.checks import check_beta_or_auto, check_choice, check_weights
from ..utils.threads import limited
from .answers import ModelViews
from .base import BaseMap
from .fit import Supervision, Trained

# How much the fields around one count for its shares on average, and the nearest labelled point, in labelled points.
NEIGHBOURS, NEAREST = 0.2, 0.02


class PrototypeClassifier(ModelViews, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A map whose prototypes carry classes, trained with d_beta = beta d(x_i, w_j) + (1 - beta) |y_i - Y_j|^2.

    y_i is the label of point i as a vector of class shares, and Y_j that of prototype j: the weighted mean of the
    labels of its points. Training lowers both parts together; for points without a label only the first part counts. A
    new point gets the class of its nearest prototype under d.

    Parameters
    ----------
    estimator : one of the maps, or a PatchClusterer of one
        The map to train; it is cloned, not changed.
    beta : "auto" or float, default="auto"
        Weight of the data relative to their labels, in (0, 1]; 1 is the unsupervised map, bit for bit. "auto" depends
        on the number n of labelled points: 1 if n is at most the number of prototypes, and approaching 0.8 as n grows,
        (1 - beta) / beta = max(0, 1 - K / n) / 4.
    labeling : {"spread", "majority", "learned"}, default="spread"
        How prototypes get the classes that are predicted. "spread": from the votes of their labelled points, weighted
        by sample_weight, and the shares of neighbouring prototypes, which decide if there is no vote. "majority": from
        the votes alone; without any, from the nearest labelled point. With beta=1 this is the posterior labelling of an
        unsupervised map. "learned": from the vectors Y of training.
    label_scale : {"mean"} or None, default="mean"
        "mean" divides the dissimilarities in d_beta by their mean, so that beta has the same effect on every data set;
        None uses them as they are. beta="auto" needs "mean".
    unlabeled : a label or None, default=None
        A value of y that means "not labelled", in addition to None, NaN and masked entries; for example -1, as in
        scikit-learn's semi-supervised classifiers. By default every value is a class.
    random_state : int, RandomState, Generator or None, default=None
        Passed on to the map; None keeps the seed of the map.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; for fuzzy labels, the names or numbers of the columns.
    prototype_labels_ : ndarray of shape (K, n_classes)
        Class shares of each prototype; rows sum to 1.
    beta_ : float
        The beta used for training.
    estimator_ : the fitted map
        With all its attributes.
    n_features_in_ : int
        Number of columns of X, if the map has it.
    feature_names_in_ : ndarray
        Names of the columns of X, if the map has them.

    See Also
    --------
    medianmap.beta_path : How accuracy depends on beta.
    medianmap.label_report : Labels that look wrong, and what to label next.

    Examples
    --------
    >>> from medianmap import MedianNeuralGas, PrototypeClassifier
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    >>> kind = ["bird", None, "bird", "particle", None, None]
    >>> clf = PrototypeClassifier(MedianNeuralGas(2, metric="edit", random_state=0)).fit(words, kind)
    >>> clf.predict(["quarts", "herod"]).tolist()
    ['particle', 'bird']
    """

    classes_: NDArray[Any]
    prototype_labels_: FloatArray
    beta_: float
    estimator_: BaseMap

    def __init__(
        self,
        estimator: BaseMap,
        beta: float | str = "auto",
        labeling: str = "spread",
        label_scale: str | None = "mean",
        *,
        unlabeled: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.beta = beta
        self.labeling = labeling
        self.label_scale = label_scale
        self.unlabeled = unlabeled
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the map under the guidance of y.

        Parameters
        ----------
        X : the data, as the map takes them.
        y : (N,) labels (strings, bytes, dates or numbers), None, NaN, masked or `unlabeled` where a point has none; or
            (N, n_classes) fuzzy labels, rows of shares (divided by their sums), None or a row of NaN where a point has
            none.
        sample_weight : (N,) multiplicities, 1 by default.
        """
        self._check_parameters()
        fitted: BaseMap = clone(self.estimator)
        if self.random_state is not None:
            fitted.set_params(random_state=self.random_state)
        y = without_marks(y, self.unlabeled)
        trained = fitted._train(X, sample_weight, Supervision(y, self.beta, self.label_scale == "mean"))
        assert trained.labels is not None
        self.estimator_ = fitted
        self.beta_ = trained.beta
        self.classes_ = trained.labels.classes
        self.prototype_labels_ = LABELINGS[self.labeling](trained)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be."""
        given: Any = self.estimator
        if not (isinstance(given, BaseEstimator) and hasattr(given, "_train")):
            found = f"the class {given.__name__} itself" if isinstance(given, type) else f"a {type(given).__name__}"
            raise TypeError(f"estimator is {found}; pass one of medianmap's maps, for example MedianNeuralGas(20).")
        check_beta_or_auto(self.beta)
        check_choice(self.labeling, "labeling", tuple(LABELINGS))
        check_choice(self.label_scale, "label_scale", (None, "mean"))
        if self.beta == "auto" and self.label_scale is None:
            raise ValueError(
                "beta='auto' is chosen for label_scale='mean'; give beta as a number, or label_scale='mean'."
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """(n_query,) class of the nearest prototype: its largest share, the first class on ties.

        X : queries, as the `predict` of the map takes them
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_query, n_classes) class shares of the nearest prototype.

        X : queries, as the `predict` of the map takes them
        """
        check_is_fitted(self)
        return self.prototype_labels_[self.estimator_.predict(X)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy: the share of the labelled points of X whose class is predicted, by weight.

        y is what `fit` takes; of fuzzy labels the largest share counts. Points without label are left out, a class that
        no training point had counts as wrong.

        X : the points, as `predict` takes them
        y : their labels
        sample_weight : weights of the points; None counts each once
        """
        proposed = self.predict_proba(X).argmax(axis=1)
        truth, labels = class_numbers(without_marks(y, self.unlabeled), len(proposed), self.classes_)
        m = check_weights(sample_weight, len(proposed))
        reason = why_none_counts(labels.known, m)
        if reason is not None:
            raise ValueError(f"There is no accuracy without labelled points: {reason}.")
        return float(np.average(proposed == truth, weights=m * labels.known))

    @property
    def metric(self) -> Any:
        """The map's metric; scikit-learn's estimator checks read it to tell dissimilarities from kernels."""
        return self.estimator.metric

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, BaseEstimator):  # otherwise `fit` says what is wrong
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    # --- what the folders above ask

    @property
    def _answering_map(self) -> BaseMap:
        """The fitted map that answers for this model."""
        return self.estimator_._answering_map


def check_classifier(classifier: Any) -> None:
    """A PrototypeClassifier itself; a map or a pipeline with one in it has no prototype labels."""
    if not isinstance(classifier, PrototypeClassifier):
        raise TypeError(
            f"classifier is a {type(classifier).__name__}; pass a PrototypeClassifier "
            "(of a pipeline its last step, with X transformed by the others)."
        )


@dataclass(frozen=True)
class Votes:
    """What the labelled points say about the prototypes of a trained map, and how near prototypes are to each other.

    V (K, C): the weighted votes of the labelled points whose nearest prototype it is.
    near (K, C): the label of the labelled point nearest to each prototype, the first on ties.
    links (K, K): symmetric; sum of m_i (d1 / d2)^2 over the points whose two nearest prototypes these are.
    unit: the weight of one labelled point: 1, or the mean weight where that is less.
    """

    V: FloatArray
    near: FloatArray
    links: csr_array
    unit: float

    @classmethod
    def of(cls, trained: Trained) -> Votes:
        """All that the training data say, block by block."""
        K, C = trained.state.labels.shape
        V, near, least = np.zeros((K, C)), np.zeros((K, C)), np.full(K, np.inf)
        links, labelled = csr_array((K, K)), np.zeros(2)
        for G, m, labels in trained.blocks():
            links = links + _links(G, m)
            counting = np.flatnonzero(labels.known & (m > 0))
            if len(counting):
                G, y, m = G[counting], labels.y[counting], m[counting]
                np.add.at(V, G.argmin(axis=1), m[:, None] * y)
                first, d = G.argmin(axis=0), G.min(axis=0)
                near[d < least] = y[first[d < least]]
                least = np.minimum(least, d)
                labelled += m.sum(), len(m)
        return cls(V, near, links + links.T, min(1.0, labelled[0] / labelled[1]))


def _links(G: FloatArray, m: FloatArray) -> csr_array:
    """(K, K) sum of m_i (d1 / d2)^2 in row j and column l, the nearest and the second nearest prototype of point i.

    A point between two prototypes ties them together, one that is at home with one of them does not. Dissimilarities
    below 0 (to combinations of the data) count as 0.
    """
    (n, K), rows = G.shape, np.arange(len(G))
    if K == 1:
        return csr_array((1, 1))
    j = G.argmin(axis=1)
    others = G.astype(np.float64)
    d1 = np.maximum(others[rows, j], 0.0)
    others[rows, j] = np.inf
    l, d2 = others.argmin(axis=1), others.min(axis=1)
    ratio = np.divide(d1, d2, out=np.ones(n), where=d2 > 0)
    return csr_array((m * ratio**2, (j, l)), shape=(K, K))


def majority_labels(trained: Trained) -> FloatArray:
    """(K, C) class shares of the labelled points in each receptive field, by weight; the largest share is the vote.

    A field without labelled weight takes the label of the nearest labelled point, the first on ties.
    """
    votes = Votes.of(trained)
    total = votes.V.sum(axis=1, keepdims=True)
    return np.where(total > 0, votes.V / np.where(total > 0, total, 1.0), votes.near)


def spread_labels(trained: Trained) -> FloatArray:
    """(K, C) class shares S that agree with the votes V in each field and with the shares of the fields around it.

    S minimises  sum_j n_j |S_j - V_j / n_j|^2 + a sum_{j < l} w_jl |S_j - S_l|^2 + b sum_j |S_j - near_j|^2

    n_j = sum_c V_jc; w are the links of `Votes`, divided by their mean sum over a row; a = NEIGHBOURS, b = NEAREST.
    With labels everywhere the votes decide; where there are few, classes spread from field to field, farther where data
    connect them than across a gap, and shares say how far the nearest votes are. Rows sum to 1.
    """
    votes = Votes.of(trained)
    n, W = votes.V.sum(axis=1), votes.links
    sums = W.sum(axis=1)
    W = (NEIGHBOURS * votes.unit / (sums.mean() or 1.0)) * W
    b = NEAREST * votes.unit
    diagonal = n + W.sum(axis=1) + b
    A = dia_array((diagonal[None], [0]), shape=W.shape) - W  # diags_array is newer than the oldest SciPy that we take
    with limited(1):  # the same bits at any number of threads
        S = splu(A.tocsc()).solve(votes.V + b * votes.near)
    S = np.maximum(S, 0.0)
    return S / S.sum(axis=1, keepdims=True)


# How prototypes get the classes that are predicted, by name: what training left -> (K, C).
LABELINGS: dict[str, Callable[[Trained], FloatArray]] = {
    "spread": spread_labels,
    "majority": majority_labels,
    "learned": lambda trained: trained.state.labels,
}
