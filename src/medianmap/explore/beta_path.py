"""How much should labels count? One data set, a grid of beta, each fit continuing from the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from ..core.engine import State
from ..core.labels import UNLABELLED, LabelVectors, training_labels, why_none_counts, without_marks
from ..core.memberships import Memberships
from ..estimators.base import BaseMap
from ..estimators.classifier import PrototypeClassifier, check_classifier
from ..estimators.fit import Supervision, Trained
from ..estimators.labelings import LABELINGS, Labeling
from ..sources import ALL
from ..sources.base import FloatArray, Index, IntArray
from ..utils.checks import check_beta, check_n_prototypes
from ..utils.files import table
from ..utils.threads import OnProgress
from .refits import check_data, check_estimator, check_values, mean_columns, refits

BETAS = (1.0, 0.99, 0.97, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)


@dataclass(frozen=True)
class BetaPath:
    """Figures for every beta (B,), from 1, the unsupervised map, downwards; S is the number of splits.

    accuracy : per labeling, "spread", "majority" and "learned", (B, S) on the points held out.
    quantization_error, agreement : (B,) of the fit to all data; agreement is the share of labelled points whose
        class is the one that the classifier's own labeling predicts.
    betas : (B,) from 1 downwards
    """

    betas: FloatArray
    accuracy: dict[str, FloatArray]
    quantization_error: FloatArray
    agreement: FloatArray

    @property
    def unsupervised(self) -> FloatArray:
        """(S,) accuracy of the map of beta = 1 with majority labels."""
        return self.accuracy["majority"][0]

    def best_beta(self, labeling: str = "spread") -> float:
        """The beta of highest mean accuracy, the largest on ties: the one that bends the map least.

        labeling : "spread", "majority" or "learned": whose accuracy
        """
        return float(self.betas[self.accuracy[labeling].mean(axis=1).argmax()])

    def as_records(self) -> NDArray[Any]:
        """(B,) records: beta, mean accuracy and its standard error for each labeling, the errors of the whole fit."""
        columns: dict[str, FloatArray] = {"beta": self.betas}
        for labeling in LABELINGS:
            columns |= mean_columns(f"accuracy_{labeling}", f"standard_error_{labeling}", self.accuracy[labeling])
        columns |= {"quantization_error": self.quantization_error, "agreement": self.agreement}
        return table(**columns)


def beta_path(
    classifier: PrototypeClassifier, X: Any, y: Any, betas: Sequence[float] = BETAS, *, cv: Any = 5,
    sample_weight: Any = None, warm_start: bool = True, on_progress: OnProgress | None = None,
) -> BetaPath:  # fmt: skip
    """Accuracy, quantization error and label agreement along a list of beta: how much should labels count?

    A median map's dissimilarities are computed once and serve every fit; metric parameters that the data fix (the
    variances of "seuclidean") are therefore those of all points, including those held out.

    Parameters
    ----------
    classifier : PrototypeClassifier
        Its map and `label_scale` are used; `beta` and `labeling` run over all values.
    X, y, sample_weight : as `PrototypeClassifier.fit` takes them
    betas : values of beta in (0, 1], in any order
        1, the unsupervised map, is always added.
    cv : int, scikit-learn splitter or list of (train, test), default=5
        How points are held out to measure accuracy; points without label are not judged.
    warm_start : bool, default=True
        The unsupervised map is annealed as its parameters say; each next fit starts from the prototypes and labels of
        the one before, warmed up a little (neural gas: sigma = K/15, SOM: 1.5 sigma_end), and cools in a tenth of
        the epochs.
        False anneals every fit from the map's own start: several times slower for neural gas and SOM.
    on_progress : callable or None
        Called as `on_progress("fits", done, total)` after every fit.

    Returns
    -------
    BetaPath
        Figures (B,) and accuracies (B, S) of S splits, beta descending from 1; `best_beta()` suggests one,
        `as_records()` is a table.

    See Also
    --------
    k_path : the same for the number of prototypes; choose that first, without labels.
    label_report : which labels look wrong, and which points to label next.

    Examples
    --------
    >>> from medianmap import MedianKMeans, PrototypeClassifier, beta_path
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"] * 2
    >>> kind = ["bird", "bird", "bird", "physics", "physics", "physics"] * 2
    >>> classifier = PrototypeClassifier(MedianKMeans(2, metric="edit", n_init=4, random_state=0))
    >>> path = beta_path(classifier, words, kind, [0.5], cv=2)
    >>> path.betas.tolist(), path.accuracy["spread"].shape
    ([1.0, 0.5], (2, 2))
    """
    check_classifier(classifier)
    classifier._check_parameters()
    estimator: Any = classifier._map_for(X, without_marks(y, classifier.unlabeled), sample_weight)
    check_estimator(estimator)
    grid = check_values(betas, "betas", check_beta, "[0.9, 0.5, 0.1]", always=[1.0])[::-1]
    K, called = estimator._size()
    given, m = check_data(estimator, X, sample_weight)
    labels = training_labels(without_marks(y, classifier.unlabeled), m, stacklevel=3)
    splits = _splits(cv, labels, m)
    for train, _ in splits:
        check_n_prototypes(K, int(np.count_nonzero(m[train])), called)
    fits = refits(estimator, given, m, K, (1 + len(splits)) * len(grid), on_progress)

    def path(points: Index) -> Iterator[tuple[BaseMap, Trained]]:
        """A map for every beta, fitted to some of the points."""
        before: State | None = None
        for beta in grid:
            supervision = Supervision(labels.subset(points), beta, classifier.label_scale == "mean")
            fitted, trained = fits.fit({}, points, supervision, before)
            yield fitted, trained
            before = trained.state if warm_start else None

    own = LABELINGS[classifier.labeling]
    whole = [
        (fitted.quantization_error_, _accuracy(own, trained, Memberships.of(trained.G), labels.numbers, m))
        for fitted, trained in path(ALL)
    ]
    accuracy = {name: np.empty((len(grid), len(splits))) for name in LABELINGS}
    for s, (train, judged) in enumerate(splits):
        for b, (fitted, trained) in enumerate(path(train)):
            points = fits.memberships(fitted, train, judged)
            for name, labeling in LABELINGS.items():
                accuracy[name][b, s] = _accuracy(labeling, trained, points, labels.numbers[judged], m[judged])
    quantization_error, agreement = np.array(whole).T
    return BetaPath(np.array(grid), accuracy, quantization_error, agreement)


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


def _accuracy(labeling: Labeling, trained: Trained, points: Memberships, numbers: IntArray, m: FloatArray) -> float:
    """Share of the labelled points, by weight m (n,), whose class is the one that a labeling predicts."""
    shares = labeling.of_points(labeling.of_prototypes(trained), points)
    return float(np.average(shares.argmax(axis=1) == numbers, weights=m * (numbers != UNLABELLED)))
