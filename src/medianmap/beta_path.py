"""How much should labels count? One data set, a grid of beta, each fit going on from the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from .base import BaseMap, Supervision, Trained
from .classifier import LABELINGS, PrototypeClassifier, majority_labels
from .labels import LabelVectors, as_label_vectors
from .sources import Source, as_dissimilarity
from .sources.base import FloatArray, IntArray
from .tables import table
from .validation import check_beta, check_weights

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
    cv : number of folds, or any scikit-learn splitter; points without label are not judged.
    warm_start : the unsupervised map is annealed as its parameters say; each next fit starts from the prototypes and
        labels of the one before, warmed up a little (neural gas: sigma = K/15, SOM: 0.5), and cools in a tenth of the
        epochs. False anneals every fit from the map's own start: several times slower.
    """
    grid = np.array(sorted({1.0, *(check_beta(beta) for beta in betas)}, reverse=True))
    if get_tags(classifier).input_tags.pairwise:
        X = as_dissimilarity(X)
    N = X.shape[0] if isinstance(X, Source) else _num_samples(X)
    labels = as_label_vectors(y, N)
    m = check_weights(sample_weight, N)
    splits = list(check_cv(cv, _strata(labels), classifier=True).split(np.zeros(N), _strata(labels)))
    for s, (_, test) in enumerate(splits):
        if not labels.known[test].any():
            raise ValueError(f"No point held out in split {s} is labelled, so there is no accuracy; use fewer folds.")

    everything = np.arange(N)
    whole = _fits(classifier, X, labels, m, everything, grid, warm_start)
    accuracy = {labeling: np.empty((len(grid), len(splits))) for labeling in LABELINGS}
    for s, (train, test) in enumerate(splits):
        judged = test[labels.known[test]]
        queries, truth = _part(X, judged, train), _strata(labels)[judged]
        for b, (fitted, trained) in enumerate(_fits(classifier, X, labels, m, train, grid, warm_start)):
            winner = fitted.predict(queries)
            for labeling, Y in (("learned", trained.state.labels), ("majority", majority_labels(trained))):
                accuracy[labeling][b, s] = np.average(Y[winner].argmax(axis=1) == truth, weights=m[judged])
    return BetaPath(
        grid,
        accuracy,
        np.array([fitted.quantization_error_ for fitted, _ in whole]),
        np.array([_agreement(fitted, trained) for fitted, trained in whole]),
    )


def _fits(
    classifier: PrototypeClassifier,
    X: Any,
    labels: LabelVectors,
    m: FloatArray,
    train: IntArray,
    grid: FloatArray,
    warm_start: bool,
) -> list[tuple[BaseMap, Trained]]:
    """A fitted map for every beta, on the points `train`."""
    part, known = _part(X, train, train), labels.known[train]
    shares = np.where(known[:, None], labels.y[train], np.nan)
    fits: list[tuple[BaseMap, Trained]] = []
    for beta in grid:
        fitted: BaseMap = clone(classifier.estimator)
        supervision = Supervision(shares, float(beta), classifier.label_scale == "mean")
        before = fits[-1][1].state if fits and warm_start else None
        fits.append((fitted, fitted._train(part, m[train], supervision, before)))
    return fits


def _agreement(fitted: BaseMap, trained: Trained) -> float:
    """Share of the labelled points, by weight, that have the class of their prototype."""
    labels = trained.labels
    assert labels is not None
    same = trained.state.labels.argmax(axis=1)[fitted.labels_] == _strata(labels)
    return float(np.average(same[labels.known], weights=trained.m[labels.known]))


def _strata(labels: LabelVectors) -> IntArray:
    """(N,) number of each point's class, the largest share of a fuzzy one; -1 without label."""
    return np.where(labels.known, labels.y.argmax(axis=1), -1)


def _part(X: Any, rows: IntArray, cols: IntArray) -> Any:
    """The points `rows` of X; of a source their dissimilarities to the points `cols`."""
    return X.block(rows, cols) if isinstance(X, Source) else _safe_indexing(X, rows)
