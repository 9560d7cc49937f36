"""Stability: do points that share a prototype share one again after another start, and on other samples of the data?

`restart_stability` compares pairs of points over starts; `uncertainty` says of each point how sure its prototype is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..core.engine import LANDMARKS
from ..estimators.base import check_map
from ..estimators.fit import as_generator
from ..predict.assign_all import two_best, two_nearest
from ..predict.verdicts import ratios
from ..sources.base import FloatArray, IntArray, panels, rows_per_panel
from ..utils.checks import check_count
from ..utils.files import table
from ..utils.threads import computed_once, step
from .refits import check_data, refits

# Weight of what is known of all points beside the resamples of one, in resamples, at least and at most.
FEWEST, MOST = 0.1, 100.0
# Steps of Newton's method, and how weakly the coefficients are held at 0, in points.
STEPS, RIDGE = 25, 1e-3


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
    n_restarts : how many maps.
    sample_weight : (N,) weights of the points; None counts each once.
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


# --- over resamples of the data


@dataclass(frozen=True)
class Uncertainty:
    """How sure each point's prototype is, over maps of n_resamples resamples of the data.

    points : (N,) records: point, prototype, second, ratio = d(x, nearest) / d(x, second nearest), stability (share of
        the maps in which the point is at its prototype's counterpart) and confidence, the probability of that on
        another resample.
    runs : (n_resamples, N) each point's prototype in each map, by the number of its counterpart.
    coefficients : (3,) of `confidence_of`.
    prototype_stability : (K,) mean stability of the points of each prototype, drawn towards the mean of all.
    """

    points: NDArray[Any]
    runs: IntArray
    coefficients: FloatArray
    prototype_stability: FloatArray

    @property
    def n_resamples(self) -> int:
        return len(self.runs)

    @computed_once
    def memberships(self) -> FloatArray:
        """(N, K) probability of each prototype: the point's own has its confidence, the others share the rest as they
        did in the resamples; where there was no other, the second nearest has it."""
        N, K = len(self.points), len(self.prototype_stability)
        i, own = np.arange(N), self.points["prototype"]
        U = np.zeros((N, K))
        for run in self.runs:
            U[i, run] += 1.0
        U[i, own] = 0.0
        alone = ~U.any(axis=1)
        U[i[alone], self.points["second"][alone]] = 1.0
        U *= ((1.0 - self.points["confidence"]) / U.sum(axis=1))[:, None]
        U[i, own] += self.points["confidence"]
        return U

    def confidence_of(self, G: Any) -> FloatArray:
        """(n,) probability that an object keeps its nearest prototype, from dissimilarities G (n, K) to all of them.

        1 / (1 + exp(-z)), z = a + b logit(stability of the prototype) + c ratio, fitted to the points. G is what
        `transform` gives, of new objects, too.

        G : (n, K) dissimilarities to the prototypes.
        """
        nearest = two_nearest(np.asarray(G, np.float64))
        ratio = ratios(nearest.d, nearest.e)
        return _sigmoid(_features(self.prototype_stability[nearest.first], ratio) @ self.coefficients)


def uncertainty(
    model: Any, X: Any, *, n_resamples: int = 20, sample_weight: Any = None, random_state: Any = 0, points: Any = None
) -> Uncertainty:
    """Fit the map again to resamples of its data, and say of each point how often it keeps its prototype.

    A resample draws as many points as there are, with replacement: they count as often as they are drawn. All points
    are then assigned to its map, whose prototypes are matched one to one with those of the model so that as much weight
    as possible keeps its prototype.

    stability_i is the share of maps that keep point i. With B maps it is uncertain itself, so

        confidence_i = (B stability_i + s mu) / (B + s),   mu the mean of all points,

    where s follows from how much stabilities differ beyond chance (moments of a beta-binomial distribution): among
    points of confidence 0.8, a further resample keeps 80%.

    Parameters
    ----------
    model : a fitted map. Its parameters are those of the refits, which draw starts of their own; in the place of an
        `init` that was given they start at random points.
    X : the data it was fitted on; expensive dissimilarities are computed once for all fits.
    n_resamples : number B of fits.
    sample_weight : (N,) multiplicities, as in the fit; a point of weight 0 stays without.
    random_state : seeds resamples and starts.
    points : `two_best(model, X)`, where it is computed already.

    Examples
    --------
    >>> import medianmap
    >>> words = ["heron", "herons", "hero", "herring", "quark", "quarks", "quart", "quarry"]
    >>> km = medianmap.MedianKMeans(2, metric="edit", n_init=3, random_state=0).fit(words)
    >>> told = medianmap.uncertainty(km, words)
    >>> told.points.dtype.names
    ('point', 'prototype', 'second', 'ratio', 'stability', 'confidence')
    >>> told.memberships.shape
    (8, 2)
    """
    check_map(model)
    check_count(n_resamples, "n_resamples", at_least=2)
    check_is_fitted(model)
    points = two_best(model, X) if points is None else points
    N, K = len(points), len(model.hits_)
    if len(model.labels_) != N:
        raise ValueError(f"The model was fitted on {len(model.labels_)} points, X has {N}; pass the data of the fit.")
    given, m = check_data(model, X, sample_weight)
    n = int(np.count_nonzero(m))
    if 2 * K > n:
        raise ValueError(
            f"There are {K} prototypes for {n} points that count; a resample holds two thirds of the points, and the "
            "map needs at most half as many prototypes as points for that."
        )
    again = refits(model, given, m, K, n_resamples, step)
    rng = as_generator(random_state)
    fixed: dict[str, Any] = {"warm_start": False} | ({} if isinstance(model.init, str) else {"init": "random"})
    own, keep = points["prototype"].astype(np.intp), np.flatnonzero(m)
    runs = np.empty((n_resamples, N), np.intp)
    for run in runs:
        drawn = np.zeros(N)
        while np.count_nonzero(drawn) < K:  # of few points a resample may hold too few
            drawn[keep] = np.bincount(rng.integers(n, size=n), minlength=n)
        fitted, _ = replace(again, m=m * drawn).fit({"random_state": int(rng.integers(2**31 - 1)), **fixed})
        run[:] = counterparts(fitted.labels_, own, m, K)[fitted.labels_]
    kept = runs == own
    stability = kept.mean(axis=0)
    confidence = shrunk(stability[keep], n_resamples)(stability)
    mean = float(stability[keep].mean())
    of_prototype = (np.bincount(own[keep], stability[keep], K) + mean) / (np.bincount(own[keep], minlength=K) + 1.0)
    coefficients = _logistic(_features(of_prototype[own[keep]], points["ratio"][keep]), stability[keep])
    names = ("point", "prototype", "second", "ratio")
    told = table(**{name: points[name] for name in names}, stability=stability, confidence=confidence)
    return Uncertainty(told, runs, coefficients, of_prototype)


def counterparts(labels: IntArray, own: IntArray, m: FloatArray, K: int) -> IntArray:
    """(K,) for each prototype of another map the one of ours that it stands for, by the weight that they share.

    labels, own (N,) : nearest prototypes in the other map and in ours.
    """
    from scipy.optimize import linear_sum_assignment

    shared = np.zeros((K, K))
    np.add.at(shared, (labels, own), m)
    return np.asarray(linear_sum_assignment(shared, maximize=True)[1], np.intp)


def shrunk(stability: FloatArray, n: int) -> Callable[[FloatArray], FloatArray]:
    """The function f(p) = (n p + s mu) / (n + s) of shares p of n, for which the probabilities behind the shares
    `stability` (N,) have mean mu and variance mu (1 - mu) / (s + 1), as near as s may go."""
    mu = (float(stability.sum()) * n + 0.5) / (len(stability) * n + 1.0)  # never 0 or 1
    chance, spread = mu * (1.0 - mu), float(stability.var())
    s = float(np.clip((chance - spread) / max(spread - chance / n, 1e-12), FEWEST, MOST))
    return lambda p: (n * p + s * mu) / (n + s)


def _features(prototype_stability: FloatArray, ratio: FloatArray) -> FloatArray:
    """(n, 3)."""
    p = np.clip(prototype_stability, 0.01, 0.99)
    return np.column_stack([np.ones(len(ratio)), np.log(p / (1.0 - p)), ratio])


def _logistic(F: FloatArray, p: FloatArray) -> FloatArray:
    """(3,) coefficients b of most likely p (n,) under 1 / (1 + exp(-F b)), by Newton's method."""
    b = np.zeros(F.shape[1])
    for _ in range(STEPS):
        q = _sigmoid(F @ b)
        H = (F * (q * (1.0 - q))[:, None]).T @ F + RIDGE * np.eye(len(b))
        b = b + np.linalg.solve(H, F.T @ (p - q) - RIDGE * b)
    return b


def _sigmoid(z: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + np.exp(-np.clip(z, -30.0, 30.0)))
