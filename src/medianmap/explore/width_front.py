"""How wide should a SOM's neighbourhood end? Order on the lattice against nearness to the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..core.quality import topographic_error
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_count, check_flag, check_n_prototypes, check_positive
from ..utils.files import table
from ..utils.threads import OnProgress
from .refits import Refits, check_data, check_restarts, check_values, mean_columns, random_seeds, refits

WIDTHS = (2.0, 1.0, 0.7, 0.5, 0.3, 0.1, 0.01)


@dataclass(frozen=True)
class WidthFront:
    """Figures for every end width (P,), from the largest down, one neighbourhood after the other, and R runs each.

    widths : (P,) sigma_end.
    neighborhood : (P,) the shape of the neighbourhood.
    topographic_error, quantization_error : (P, R) both better when lower; see `quality`.
    som_cost : (P, R) what the map minimises, at its own width: compare it only between maps of the same width.
    epochs : (P, R) epochs of each fit.
    on_front : (P,) whether no other width is as good in the means of both errors and better in one.
    prototypes : for every width the indices (K,) or vectors (K, M) of the map of least cost, as `init` takes them.
    """

    widths: FloatArray
    neighborhood: NDArray[np.str_]
    topographic_error: FloatArray
    quantization_error: FloatArray
    som_cost: FloatArray
    epochs: IntArray
    on_front: NDArray[np.bool_]
    prototypes: tuple[NDArray[Any], ...]

    def as_records(self) -> NDArray[Any]:
        """(P,) records: width, neighborhood, on_front; means over the runs, and standard errors of the two errors."""
        columns: dict[str, NDArray[Any]] = {"width": self.widths, "neighborhood": self.neighborhood}
        for kind in ("topographic", "quantization"):
            columns |= mean_columns(f"{kind}_error", f"standard_error_{kind}", getattr(self, f"{kind}_error"))
        columns |= {"som_cost": self.som_cost.mean(axis=1), "epochs": self.epochs.mean(axis=1)}
        return table(**columns, on_front=self.on_front)


def width_front(
    estimator: Any, X: Any, widths: Sequence[float] = WIDTHS, *, sample_weight: Any = None,
    neighborhoods: Sequence[str] | None = None, n_restarts: int = 5, warm: bool = True, random_state: Any = None,
    on_progress: OnProgress | None = None,
) -> WidthFront:  # fmt: skip
    """Topographic and quantization error of a SOM along a list of end widths, and which of them are on the front.

    A width is on the front if no other is better in one error and at least as good in the other. Dissimilarities are
    computed once and serve every fit.

    Parameters
    ----------
    estimator : MedianSOM or BatchSOM
        Clones of it are fitted with `sigma_end` and `random_state` set.
    X, sample_weight : as the estimator's `fit` takes them
    widths : values of `sigma_end`, in any order
    neighborhoods : list of str or None
        Shapes to compare, values of the parameter `neighborhood`; None takes the map's own.
    n_restarts : int, default=5
        Runs over all widths from different starts, the same for every width; single runs differ by more than near
        widths do. (With `init="embedding"` and at most 200 points there is only one start.)
    warm : bool, default=True
        A run is one annealing in `n_epochs` epochs from `sigma_start` to the least width, which stops at every width on
        its way until nothing moves: every map continues from the one before. False anneals every map from the start, in
        `n_epochs` epochs each.
    random_state : int, RandomState, Generator or None
        Seeds the runs; None takes the estimator's own.
    on_progress : callable or None
        Called as `on_progress("fits", done, total)` after every fit.

    Returns
    -------
    WidthFront
        Figures (P, R) of every width and run, widths descending; `as_records()` is a table of means.

    See Also
    --------
    k_path : the same for the number of prototypes.
    beta_path : the same for the weight of labels.

    Examples
    --------
    >>> import numpy as np
    >>> from medianmap import BatchSOM, width_front
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> front = width_front(BatchSOM((3, 3), n_epochs=10, random_state=0), X, [0.3, 1.0], n_restarts=2)
    >>> front.widths.tolist(), front.topographic_error.shape
    ([1.0, 0.3], (2, 2))
    """
    check_restarts(estimator, "grid", "width_front takes SOMs; `k_path` is for K-means and neural gas.")
    if estimator.temperature is not None:
        raise ValueError("temperature cools a map at one width, and width_front compares widths; set temperature=None.")
    check_count(n_restarts, "n_restarts")
    check_flag(warm, "warm")
    falling = check_values(widths, "widths", lambda width: check_positive(width, "sigma_end"), "[1, 0.3, 0.1]")[::-1]
    shapes = _shapes(estimator, neighborhoods)
    K, called = estimator._size()
    given, m = check_data(estimator, X, sample_weight)
    check_n_prototypes(K, int(np.count_nonzero(m)), called)
    seeds, _ = random_seeds(estimator, random_state, n_restarts)
    n_fits = len(shapes) * n_restarts * len(falling)
    fits = refits(estimator, given, m, K, n_fits, on_progress).of_positive_weight()
    runs = [[_run(fits, shape, falling, warm, seed) for seed in seeds] for shape in shapes]
    maps = [list(row) for of_shape in runs for row in zip(*of_shape, strict=True)]  # (P, R)
    figures = {
        name: np.array([[each[name] for each in row] for row in maps])
        for name in ("topographic_error", "quantization_error", "som_cost", "epochs")
    }
    return WidthFront(
        widths=np.tile(falling, len(shapes)),
        neighborhood=np.repeat(shapes, len(falling)),
        **figures,
        on_front=pareto(figures["topographic_error"].mean(axis=1), figures["quantization_error"].mean(axis=1)),
        prototypes=tuple(fits.as_given(min(row, key=lambda each: each["som_cost"])["prototypes"]) for row in maps),
    )


def _run(fits: Refits, shape: str, falling: list[float], warm: bool, seed: int) -> list[dict[str, Any]]:
    """Prototypes and figures of a map for every width, with a neighbourhood of this shape."""
    maps: list[dict[str, Any]] = []
    for params in _schedules(fits.estimator, falling, warm):
        start = {"init": maps[-1]["prototypes"]} if warm and maps else {}
        fitted, trained = fits.fit({"random_state": seed, "neighborhood": shape, **params, **start})
        G, m, K = trained.G, trained.m, len(fitted.hits_)
        _, cost = fitted._plan(K).assignment(G, params["sigma_end"], m)
        maps.append({"prototypes": trained.state.prototypes, "som_cost": cost, "epochs": fitted.n_iter_,
                     "topographic_error": topographic_error(G, fitted.lattice_, m),
                     "quantization_error": fitted.quantization_error_})  # fmt: skip
    return maps


def pareto(a: FloatArray, b: FloatArray) -> NDArray[np.bool_]:
    """(n,) whether no point is at most as large in both of a (n,) and b (n,) and smaller in one."""
    no_worse = (a[:, None] <= a) & (b[:, None] <= b)
    better = (a[:, None] < a) | (b[:, None] < b)
    return np.asarray(~(no_worse & better).any(axis=0))


def _shapes(estimator: Any, neighborhoods: Any) -> list[str]:
    """The shapes of the neighbourhood to compare, each once."""
    if neighborhoods is None:
        return [estimator.neighborhood]
    if isinstance(neighborhoods, str) or not all(isinstance(shape, str) for shape in neighborhoods):
        raise ValueError(f"neighborhoods is {neighborhoods!r}; pass a list of names, for example ['gaussian'].")
    return list(dict.fromkeys(neighborhoods))


def _schedules(estimator: Any, falling: list[float], warm: bool) -> list[dict[str, Any]]:
    """The annealing of every fit: sigma_end, and for parts of one long annealing also sigma_start and n_epochs."""
    if not warm:
        return [{"sigma_end": width} for width in falling]
    sigmas = clone(estimator).set_params(sigma_end=falling[0])._plan(estimator._size()[0]).sigmas
    starts = [float(sigmas[0]), *falling[:-1]]
    # Each part gets a share of the epochs in proportion to its length on the logarithmic scale of sigma.
    ways = np.log(np.divide(starts, falling))
    shares = ways / max(ways.sum(), np.finfo(float).tiny)
    return [
        {"sigma_start": start, "sigma_end": end, "n_epochs": max(1, round(len(sigmas) * share))}
        for start, end, share in zip(starts, falling, shares, strict=True)
    ]
