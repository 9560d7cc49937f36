"""Stability over restarts: do points that share a prototype share one again after another start?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.engine import LANDMARKS
from ..estimators.fit import as_generator
from ..sources.base import FloatArray, IntArray, panels, rows_per_panel
from ..utils.checks import check_count


@dataclass(frozen=True)
class Stability:
    """How alike the maps of several starts are, on a sample of n points.

    points : (n,) the points of the sample.
    prototypes : (n_restarts, n) nearest prototype of each of them in each run.
    together : (n, n) share of the runs in which two points share a prototype.
    per_point : (n,) sum_l together_il^2 / sum_l together_il over the others l: how consistently a point is grouped with
        the same points; 1 if it is with the same points, or alone, in every run.
    agreement : mean adjusted Rand index of all pairs of runs; 1 if all are the same, about 0 by chance.
    """

    points: IntArray
    prototypes: IntArray
    together: FloatArray
    per_point: FloatArray
    agreement: float


def restart_stability(
    estimator: Any, X: Any, *, n_restarts: int = 10, n_points: int = 1000, random_state: Any = 0,
    sample_weight: Any = None,
) -> Stability:  # fmt: skip
    """Fit a map n_restarts times from different starts and count how often points share a prototype.

    estimator : a map or a PatchClusterer, fitted or not; clones of it are fitted.
    X : the training data. If a metric is expensive, compute its matrix once and pass metric="precomputed".
    n_points : size of the sample at most; `together` holds the square of it.
    random_state : seeds the starts and the sample; the estimator's own is not used.
    """
    check_count(n_restarts, "n_restarts", at_least=2)
    check_count(n_points, "n_points")
    inner: Any = getattr(estimator, "_starting_map", None)
    if not hasattr(inner, "_reseeded"):
        raise TypeError(f"estimator is a {type(estimator).__name__}; pass one of medianmap's maps or a PatchClusterer.")
    if not isinstance(inner.init, str):
        raise ValueError("init fixes the start, so all runs would be the same; set init='random' or 'k-medoids++'.")
    rng = as_generator(random_state)
    seeds = rng.integers(2**31 - 1, size=n_restarts)
    runs: list[IntArray] = []
    for seed in seeds:
        runs.append(estimator._reseeded(int(seed)).fit(X, sample_weight=sample_weight).labels_)
        if inner.init == "embedding" and len(runs) == 1:
            n = len(runs[0]) if sample_weight is None else int(np.count_nonzero(sample_weight))
            n = estimator._n_at_start(n)
            if n <= LANDMARKS:
                raise ValueError(
                    f"init='embedding' draws from more than {LANDMARKS} points only: with {n} all runs start, and end, "
                    "the same; set init='random' or 'k-medoids++'."
                )
    N = len(runs[0])
    points = np.arange(N) if n_points >= N else np.sort(rng.choice(N, n_points, replace=False))
    prototypes = np.stack(runs)[:, points]
    together = share_together(prototypes)
    return Stability(points, prototypes, together, firmness(together), agreement(prototypes))


def share_together(prototypes: IntArray) -> FloatArray:
    """(n, n) share of the runs in which two points share a prototype, from prototypes (n_runs, n); in blocks."""
    n_runs, n = prototypes.shape
    together = np.empty((n, n))
    for rows in panels(n, rows_per_panel(n)):
        counts = np.zeros((rows.stop - rows.start, n))
        for run in prototypes:
            counts += run[rows, None] == run[None, :]
        together[rows] = counts / n_runs
    return together


def firmness(together: FloatArray) -> FloatArray:
    """(n,) sum_l t_il^2 / sum_l t_il over l != i; 1 for a point that is always alone."""
    own = np.diag(together)
    squares, sums = (together**2).sum(axis=1) - own**2, together.sum(axis=1) - own
    return np.divide(squares, sums, out=np.ones(len(sums)), where=sums > 0)


def agreement(prototypes: IntArray) -> float:
    """Mean adjusted Rand index of all pairs of runs (n_runs, n)."""
    from sklearn.metrics import adjusted_rand_score

    n = len(prototypes)
    return float(np.mean([adjusted_rand_score(prototypes[r], prototypes[s]) for r in range(n) for s in range(r)]))
