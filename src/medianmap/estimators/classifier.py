"""Supervised and semi-supervised maps: any map, guided by the labels of some or all of its points."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..core.labels import as_label_vectors, class_numbers, why_none_counts, without_marks
from ..core.memberships import Memberships
from ..sources.base import FloatArray, with_objects
from ..sources.checks import n_different
from ..utils.checks import check_beta_or_auto, check_choice, check_weights
from .answers import ModelViews
from .base import BaseMap, source_of
from .fit import Supervision
from .labelings import LABELINGS
from .median import MedianNeuralGas
from .parameters import usual_size


class PrototypeClassifier(ModelViews, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A map whose prototypes carry classes, trained with d_beta = beta d(x_i, w_j) + (1 - beta) |y_i - Y_j|^2.

    y_i is the label of point i as a vector of class shares, and Y_j that of prototype j: the weighted mean of the
    labels of its points. Training lowers both parts together; for points without a label only the first part counts. A
    new point gets the class of its nearest prototype under d or, if it lies between two, of their mixture (see
    `labeling`).

    Parameters
    ----------
    estimator : one of the maps, a PatchClusterer of one, or None, default=None
        The map to train; it is cloned, not changed. None is a median neural gas of vectors under the Euclidean
        distance. For n different points it has round(5 sqrt(n)) prototypes, at most one for four points, but at least
        one for each class.
    beta : "auto" or float, default="auto"
        Weight of the data relative to their labels, in (0, 1]; 1 is the unsupervised map, bit for bit. "auto" depends
        on the number n of labelled points: 1 if n is at most the number of prototypes, and approaching 0.8 as n grows,
        (1 - beta) / beta = max(0, 1 - K / n) / 4.
    labeling : {"spread", "majority", "learned"}, default="spread"
        How prototypes get class shares, and points theirs from them. "spread": from the votes of the labelled points,
        weighted by sample_weight, and the shares of neighbouring prototypes, which decide if there is no vote; a point
        between two prototypes has shares of both. "majority": from the votes alone; without any, from the nearest
        labelled point; a point has the shares of its nearest prototype. With beta=1 this is the posterior labelling of
        an unsupervised map. "learned": from the vectors Y of training, that of the nearest prototype for a point.
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
        estimator: BaseMap | None = None,
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
        y = without_marks(y, self.unlabeled)
        fitted = self._map_for(X, y, sample_weight)
        trained = fitted._train(X, sample_weight, Supervision(y, self.beta, self.label_scale == "mean"))
        assert trained.labels is not None
        self.estimator_ = fitted
        self.beta_ = trained.beta
        self.classes_ = trained.labels.classes
        self.prototype_labels_ = LABELINGS[self.labeling].of_prototypes(trained)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
            elif hasattr(self, name):
                delattr(self, name)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be."""
        given: Any = MedianNeuralGas() if self.estimator is None else self.estimator
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

    def _map_for(self, X: Any, y: Any, sample_weight: Any) -> BaseMap:
        """The map to fit, a new one: `estimator`, or one that suits the data, with this class's random_state.

        y : labels, None where there is none.
        """
        if self.estimator is None:
            map_: BaseMap = MedianNeuralGas()
            points = with_objects(source_of(map_._given_space(X)))
            assert points is not None  # the default metric compares vectors
            m = check_weights(sample_weight, len(points.objects))
            different = n_different(points.objects[m > 0])
            n_classes = len(as_label_vectors(y, len(m)).classes)
            K = min(different, max(n_classes, usual_size(different, different)))
            map_.set_params(n_clusters=max(1, K))
        else:
            map_ = clone(self.estimator)
        return map_ if self.random_state is None else map_.set_params(random_state=self.random_state)

    def predict(self, X: Any) -> NDArray[Any]:
        """(n_query,) class of each query: its largest share, the first class on ties.

        X : queries, as the `predict` of the map takes them
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """(n_query, n_classes) class shares: those of the nearest prototype, with "spread" mixed with the second's.

        X : queries, as the `predict` of the map takes them
        """
        check_is_fitted(self)
        return self._shares_of(Memberships.of(self._answering_map._dissimilarities(X)))

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
        return MedianNeuralGas().metric if self.estimator is None else self.estimator.metric

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.estimator, BaseEstimator):  # otherwise `fit` says what is wrong
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    # --- what the folders above ask

    def _shares_of(self, points: Memberships) -> FloatArray:
        """(n, n_classes) class shares of points by their two nearest prototypes."""
        return LABELINGS[self.labeling].of_points(self.prototype_labels_, points)

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
