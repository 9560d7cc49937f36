"""How many prototypes? One data set, a list of K, each fit going on from the last; what the figures suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.engine import State, spread
from ..core.quality import medoid_silhouette
from ..estimators.base import BaseMap
from ..estimators.fit import Trained
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_choice, check_count, check_flag, check_n_prototypes
from ..utils.files import table
from ..utils.threads import OnProgress
from .refits import check_data, check_restarts, check_values, random_seeds, refits
from .stability import agreement

STABILITIES = ("halves", "restarts")
SUGGESTIONS = ("silhouette", "stability")


@dataclass(frozen=True)
class KPath:
    """Figures for every K (P,), ascending, of the map kept for it: the one of least quantization error.

    quantization_error, inertia : (P,) of the map; inertia is twice the error.
    silhouette : (P,) mean of 1 - d1 / d2 over the points by weight, see `quality.medoid_silhouette`; nan for K = 1.
    stability : (P,) mean adjusted Rand index between fits to different halves of the points or from different starts,
        as `stability_of` says ("halves" or "restarts"); points count once each. nan with fewer than two such fits.
    epochs : (P,) epochs of the map.
    warm : (P,) whether it came from the exemplars of the K before rather than from a start of its own.
    prototypes : for every K the indices (K,) or vectors (K, M) of the map, as `init` takes them.
    n_clusters : (P,) the K, ascending.
    stability_of : "halves" or "restarts".
    """

    n_clusters: IntArray
    quantization_error: FloatArray
    inertia: FloatArray
    silhouette: FloatArray
    stability: FloatArray
    epochs: IntArray
    warm: NDArray[np.bool_]
    prototypes: tuple[NDArray[Any], ...]
    stability_of: str

    def best(self, by: str = "silhouette") -> int:
        """A suggestion, no proof: the K >= 2 of highest "silhouette" or "stability", the smallest on ties.

        Both favour few well separated clusters, and the silhouette goes to 1 again as K nears the number of points.
        K that carry finer structure show as further peaks: look at the whole table.

        by : "silhouette" or "stability"
        """
        check_choice(by, "by", SUGGESTIONS)
        values = np.where(self.n_clusters >= 2, getattr(self, by), np.nan)
        if np.isnan(values).all():
            raise ValueError(f"No K here has a {by}; give n_clusters from 2 on and, for stability, n_restarts from 2.")
        return int(self.n_clusters[np.nanargmax(values)])

    def is_largest(self, K: int) -> bool:
        """Whether K is the largest of those tried, so that a larger one might be better still.

        K : one of `n_clusters`.
        """
        return K == int(self.n_clusters[-1]) and len(self.n_clusters) > 1

    def as_records(self) -> NDArray[Any]:
        """(P,) records: n_clusters, quantization_error, inertia, silhouette, stability, epochs, warm."""
        names = ("n_clusters", "quantization_error", "inertia", "silhouette", "stability", "epochs", "warm")
        return table(**{name: getattr(self, name) for name in names})


def k_path(
    estimator: Any, X: Any, n_clusters: Sequence[int], *, sample_weight: Any = None, n_restarts: int = 5,
    stability: str = "halves", warm: bool = True, random_state: Any = None, on_progress: OnProgress | None = None,
) -> KPath:  # fmt: skip
    """Quantization error, medoid silhouette and stability along a list of K: how many prototypes?

    Dissimilarities are computed once and serve every fit. None of the figures proves a choice.

    Parameters
    ----------
    estimator : K-means or neural gas, median or batch
        Clones of it are fitted with `n_clusters` and `random_state` set.
    X, sample_weight : as the estimator's `fit` takes them
    n_clusters : the values of K, in any order
    n_restarts : int, default=5
        Fits for every K whose agreement is the stability; seeds and halves are the same for all K.
    stability : {"halves", "restarts"}, default="halves"
        "halves" fits `n_restarts` random halves of the points (and once all of them) and compares where all points go
        then: would other data have the same clusters? "restarts" fits all points from `n_restarts` starts: does the
        optimisation find the same clusters again? Fits that stop in poor optima disagree for that reason alone: give
        the estimator `init="k-medoids++"` and several `n_init`.
    warm : bool, default=True
        For every K but the first also go on from the map of the K before: its exemplars and as many more points, drawn
        by the k-medoids++ rule given those (neural gas is warmed up a little, as in `beta_path`). The error of median
        and batch K-means then never rises with K. Of all fits to all points the one of least error is kept.
    random_state : int, RandomState, Generator or None
        Seeds everything; None takes the estimator's own.
    on_progress : callable or None
        Called as `on_progress("fits", done, total)` after every fit.

    Returns
    -------
    KPath
        Figures (P,) and prototypes for every K, ascending; `best()` suggests a K, `as_records()` is a table.

    See Also
    --------
    width_front : the same for the end width of a SOM.
    beta_path : the same for the weight of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from medianmap import MedianKMeans, k_path
    >>> x = np.array([1.0, 1.2, 1.4, 5.0, 5.2, 5.4, 9.0, 9.2, 9.4])
    >>> path = k_path(MedianKMeans(metric="precomputed", random_state=0), abs(x[:, None] - x), [2, 3, 4])
    >>> path.best()
    3
    """
    check_restarts(estimator, "n_clusters", "k_path takes K-means and neural gas; `width_front` is for SOMs.")
    check_count(n_restarts, "n_restarts")
    check_choice(stability, "stability", STABILITIES)
    check_flag(warm, "warm")
    sizes = check_values(n_clusters, "n_clusters", lambda K: check_count(K, "n_clusters"), "[2, 5, 10]")
    most = sizes[-1]
    given, m = check_data(estimator, X, sample_weight)
    n = int(np.count_nonzero(m))
    check_n_prototypes(most, n)
    seeds, rng = random_seeds(estimator, random_state, n_restarts)
    halves: list[IntArray] = []
    if stability == "halves":
        if n // 2 < most:
            raise ValueError(f"Half of the {n} points are too few for n_clusters = {most}; use stability='restarts'.")
        # Sorted: a fit to a half is then the fit to these points as they come.
        halves = [np.sort(rng.choice(n, n // 2, replace=False)) for _ in range(n_restarts)]
    cold_seeds = seeds[:1] if halves else seeds
    n_fits = (len(cold_seeds) + len(halves)) * len(sizes) + (len(sizes) - 1 if warm else 0)
    fits = refits(estimator, given, m, most, n_fits, on_progress).of_positive_weight()

    kept: list[tuple[BaseMap, Trained, bool]] = []
    stable = []
    for K in sizes:
        cold = [fits.fit({"n_clusters": K, "random_state": seed}) for seed in cold_seeds]
        runs = [(*run, False) for run in cold]
        if warm and kept:
            before = kept[-1][1].state.prototypes
            more = spread(fits.space, K - len(before), fits.m, rng, beside=before)
            start = State(np.concatenate([before, fits.space.at(more)]))
            went_on = fits.fit({"n_clusters": K, "random_state": seeds[0]}, go_on_from=start)
            runs.append((*went_on, True))
        winners = [fitted.labels_ for fitted, _ in cold]
        if halves:
            pairs = [(half, {"n_clusters": K, "random_state": seed}) for half, seed in zip(halves, seeds, strict=True)]
            winners = [fits.winners(fits.fit(params, half)[0], half) for half, params in pairs]
        stable.append(agreement(np.stack(winners)) if n_restarts > 1 else np.nan)
        kept.append(min(runs, key=lambda run: run[0].inertia_))

    maps = [fitted for fitted, _, _ in kept]
    return KPath(
        np.array(sizes),
        np.array([fitted.quantization_error_ for fitted in maps]),
        np.array([fitted.inertia_ for fitted in maps]),
        np.array([medoid_silhouette(trained.G, trained.m) for _, trained, _ in kept]),
        np.array(stable),
        np.array([fitted.n_iter_ for fitted in maps]),
        np.array([from_before for _, _, from_before in kept]),
        tuple(fits.as_given(trained.state.prototypes) for _, trained, _ in kept),
        stability,
    )
