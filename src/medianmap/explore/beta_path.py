"""How much should labels count? One data set, a grid of beta, each fit going on from the last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv

from ..core.engine import State
from ..core.labels import UNLABELLED, LabelVectors, training_labels, why_none_counts
from ..core.relational import RelationalSpace
from ..core.spaces import MedianSpace, Space, VectorSpace
from ..estimators.base import BaseMap, Supervision, Trained
from ..estimators.classifier import LABELINGS, PrototypeClassifier, check_classifier, majority_labels
from ..sources import ALL
from ..sources.base import FloatArray, Index, IntArray
from ..utils.checks import check_beta, check_n_prototypes, check_weights
from ..utils.tables import table
from ..utils.threads import limited
from .refits import data_of

BETAS = (1.0, 0.99, 0.97, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)


@dataclass(frozen=True)
class BetaPath:
    """Figures for every beta (B,), from 1, the unsupervised map, downwards; S is the number of splits.

    accuracy : per labeling, "learned" and "majority", (B, S) on the points held out.
    quantization_error, agreement : (B,) of the fit to all data; agreement is the share of labelled points that have
        the class of their prototype.
    """

    betas: FloatArray
    accuracy: dict[str, FloatArray]
    quantization_error: FloatArray
    agreement: FloatArray

    @property
    def unsupervised(self) -> FloatArray:
        """(S,) accuracy of the map of beta = 1 with majority labels."""
        return self.accuracy["majority"][0]

    def best_beta(self, labeling: str = "learned") -> float:
        """The beta of highest mean accuracy, the largest on ties: the one that bends the map least."""
        return float(self.betas[self.accuracy[labeling].mean(axis=1).argmax()])

    def as_records(self) -> NDArray[Any]:
        """(B,) records: beta, mean accuracy and its standard error for each labeling, the errors of the whole fit."""
        columns: dict[str, FloatArray] = {"beta": self.betas}
        for labeling in LABELINGS:
            columns[f"accuracy_{labeling}"] = self.accuracy[labeling].mean(axis=1)
            columns[f"standard_error_{labeling}"] = standard_error(self.accuracy[labeling])
        columns |= {"quantization_error": self.quantization_error, "agreement": self.agreement}
        return table(**columns)


def standard_error(values: FloatArray) -> FloatArray:
    """Standard deviation over the last axis (S,) divided by sqrt(S); 0 for a single value."""
    n = values.shape[-1]
    return values.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(values.shape[:-1])


def beta_path(
    classifier: PrototypeClassifier,
    X: Any,
    y: Any,
    betas: Sequence[float] = BETAS,
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    warm_start: bool = True,
) -> BetaPath:
    """Accuracy, quantization error and label agreement along a grid of beta.

    classifier : its map and label_scale are used; beta and labeling run over all values.
    X, y, sample_weight : as `PrototypeClassifier.fit` takes them.
    betas : in (0, 1]; taken in descending order, after 1, the unsupervised map.
    cv : number of folds, any scikit-learn splitter, or a list of (train, test); points without label are not judged.
    warm_start : the unsupervised map is annealed as its parameters say; each next fit starts from the prototypes and
        labels of the one before, warmed up a little (neural gas: sigma = K/15, SOM: 0.5), and cools in a tenth of the
        epochs. False anneals every fit from the map's own start: for neural gas and SOM several times slower.

    A median map's dissimilarities are computed once and serve every fit; metric parameters that the data fix (the
    variances of "seuclidean") are therefore those of all points, those held out included.
    """
    check_classifier(classifier)
    classifier._check_parameters()
    estimator: Any = classifier.estimator
    if not isinstance(estimator, BaseMap):
        raise TypeError(
            f"The classifier's estimator is a {type(estimator).__name__}, whose passes cannot go on from each other; "
            "pass a classifier of one of the maps."
        )
    grid = _grid(betas)
    estimator._check_parameters()
    estimator._check_beta(float(grid[-1]))
    K, called = estimator._size()
    with limited(estimator.n_jobs):
        given = estimator._given_space(X)
        m = check_weights(sample_weight, given.n_points)
        labels = training_labels(y, m, stacklevel=3)
        splits = _splits(cv, labels, m)
        for train, _ in splits:
            check_n_prototypes(K, int(np.count_nonzero(m[train])), called)
        space = estimator._ready(given, m, K)
    task = _Task(estimator, space, labels, m, classifier.label_scale == "mean", grid, warm_start)

    whole = [
        (fitted.quantization_error_, _accuracy(trained.state.labels, fitted.labels_, labels.numbers, m))
        for fitted, trained in task.fits(ALL)
    ]
    accuracy = {labeling: np.empty((len(grid), len(splits))) for labeling in LABELINGS}
    for s, (train, judged) in enumerate(splits):
        for b, (fitted, trained) in enumerate(task.fits(train)):
            winner = task.winners(fitted, train, judged)
            for labeling, Y in (("learned", trained.state.labels), ("majority", majority_labels(trained))):
                accuracy[labeling][b, s] = _accuracy(Y, winner, labels.numbers[judged], m[judged])
    quantization_error, agreement = np.array(whole).T
    return BetaPath(grid, accuracy, quantization_error, agreement)


def _grid(betas: Any) -> FloatArray:
    """(B,) the values of beta, falling from 1."""
    if isinstance(betas, str) or not isinstance(betas, Iterable):
        raise ValueError(f"betas is {betas!r}; pass a list of numbers in (0, 1].")
    return np.array(sorted({1.0, *(check_beta(beta) for beta in betas)}, reverse=True))


def _splits(cv: Any, labels: LabelVectors, m: FloatArray) -> list[tuple[IntArray, IntArray]]:
    """(train, judged) indices of every split: points to learn from, and the held-out points that have a label."""
    points, splits = np.arange(len(m)), []
    for s, sides in enumerate(check_cv(cv, labels.numbers, classifier=True).split(points, labels.numbers)):
        train, test = (points[np.asarray(side)] for side in sides)  # indices or masks
        for side, use in ((train, "learn from"), (test, "judge")):
            reason = why_none_counts(labels.known[side], m[side])
            if reason is not None:
                raise ValueError(f"Split {s} has no labelled point to {use}: {reason} there. Use fewer or other folds.")
        splits.append((train, test[labels.known[test]]))
    if not splits:
        raise ValueError("cv holds no splits; give a number of folds, a splitter, or pairs (train, test).")
    return splits


def _accuracy(Y: FloatArray, winner: IntArray, numbers: IntArray, m: FloatArray) -> float:
    """Share of the labelled points, by weight m (n,), whose class is that of the prototype `winner` (n,)."""
    return float(np.average(Y.argmax(axis=1)[winner] == numbers, weights=m * (numbers != UNLABELLED)))


@dataclass(frozen=True)
class _Task:
    """What the fits of a path share; the space holds all points, its dissimilarities computed and checked."""

    estimator: BaseMap
    space: Space
    labels: LabelVectors
    m: FloatArray
    scaled: bool
    grid: FloatArray
    warm_start: bool

    def fits(self, train: Index) -> Iterator[tuple[BaseMap, Trained]]:
        """A fitted map for every beta, on the points `train`."""
        data = data_of(self.space, train)
        before: State | None = None
        for beta in self.grid:
            fitted: BaseMap = clone(self.estimator)
            if not isinstance(self.space, VectorSpace):
                fitted.set_params(metric="precomputed", metric_params=None)
            supervision = Supervision(self.labels.subset(train), float(beta), self.scaled)
            trained = fitted._train(data, self.m[train], supervision, before)
            yield fitted, trained
            before = trained.state if self.warm_start else None

    def winners(self, fitted: BaseMap, train: IntArray, queries: IntArray) -> IntArray:
        """(n,) nearest prototype of the points `queries` (n,), in a map fitted to the points `train`."""
        if isinstance(self.space, RelationalSpace):
            return fitted.predict(self.space.source.block(queries, train))
        if isinstance(self.space, MedianSpace):
            return fitted.assign(self.space.source.block(queries, train[fitted.medoid_indices_]))
        return fitted.predict(data_of(self.space, queries))
