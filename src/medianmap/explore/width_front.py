"""How wide should a SOM's neighbourhood end? Order on the lattice against nearness to the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..core.quality import topographic_error
from ..estimators.base import as_generator
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_count, check_flag, check_positive
from ..utils.tables import table
from .beta_path import standard_error
from .refits import Refits, check_map, refits

WIDTHS = (2.0, 1.0, 0.7, 0.5, 0.3, 0.1, 0.01)


@dataclass(frozen=True)
class WidthFront:
    """Figures for every end width (P,), from the largest down, one neighbourhood after the other, and R runs each.

    widths : (P,) sigma_end.
    neighborhood : (P,) the shape of the neighbourhood, "exponential" where the map has no choice.
    topographic_error, quantization_error : (P, R) both better when lower; see `quality`.
    som_cost : (P, R) what the map minimises, at its own width: it grows with the width and compares maps of one width.
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
            errors = getattr(self, f"{kind}_error")
            columns |= {f"{kind}_error": errors.mean(axis=1), f"standard_error_{kind}": standard_error(errors)}
        columns |= {"som_cost": self.som_cost.mean(axis=1), "epochs": self.epochs.mean(axis=1)}
        return table(**columns, on_front=self.on_front)


def width_front(
    estimator: Any,
    X: Any,
    widths: Sequence[float] = WIDTHS,
    *,
    sample_weight: Any = None,
    neighborhoods: Sequence[str] | None = None,
    n_restarts: int = 5,
    warm: bool = True,
    random_state: Any = None,
) -> WidthFront:
    """Topographic and quantization error of a SOM along a list of end widths, and which of them are on the front.

    estimator : MedianSOM or BatchSOM; clones of it are fitted with sigma_end and random_state set.
    X, sample_weight : as the estimator's fit takes them. Dissimilarities are computed once and serve every fit.
    widths : values of sigma_end, in any order.
    neighborhoods : shapes to compare, for maps that have the parameter `neighborhood`; None takes the map's own.
    n_restarts : runs over all widths from different starts, the same for every width; single runs differ by more than
        near widths do. (With init="embedding" and at most 200 points there is one start only.)
    warm : a run is one annealing in n_epochs epochs from sigma_start to the least width, which stops at every width on
        its way until nothing moves: every map goes on from the one before. False anneals every map from the start, in
        n_epochs epochs each.
    random_state : seeds the runs; None takes the estimator's own.
    """
    check_map(estimator, "grid", "width_front takes SOMs; `k_path` is for K-means and neural gas.")
    check_count(n_restarts, "n_restarts")
    check_flag(warm, "warm")
    falling = _falling(widths)
    shapes = _shapes(estimator, neighborhoods)
    K, called = estimator._size()
    fits = refits(estimator, X, sample_weight, K, called)
    rng = as_generator(estimator.random_state if random_state is None else random_state)
    seeds = [int(seed) for seed in rng.integers(2**31 - 1, size=n_restarts)]
    runs = [[_run(fits, choice, falling, warm, seed) for seed in seeds] for choice in shapes.values()]
    maps = [list(row) for shape in runs for row in zip(*shape, strict=True)]  # (P, R)
    order, error, cost = (
        np.array([[getattr(each, name) for each in row] for row in maps])
        for name in ("topographic_error", "quantization_error", "som_cost")
    )
    return WidthFront(
        np.tile(falling, len(shapes)),
        np.repeat(list(shapes), len(falling)),
        order,
        error,
        cost,
        np.array([[each.epochs for each in row] for row in maps]),
        pareto(order.mean(axis=1), error.mean(axis=1)),
        tuple(fits.as_given(min(row, key=lambda each: each.som_cost).prototypes) for row in maps),
    )


@dataclass(frozen=True)
class _Map:
    """One map of a run and its figures."""

    prototypes: NDArray[Any]
    topographic_error: float
    quantization_error: float
    som_cost: float
    epochs: int


def _run(fits: Refits, choice: dict[str, str], falling: list[float], warm: bool, seed: int) -> list[_Map]:
    """A map for every width, the neighbourhood being as `choice` says."""
    maps: list[_Map] = []
    for params in _schedules(clone(fits.estimator).set_params(**choice), falling, warm):
        start = {"init": maps[-1].prototypes} if warm and maps else {}
        fitted, trained = fits.fit({"random_state": seed, **choice, **params, **start})
        G, m, K = trained.G, trained.m, len(fitted.hits_)
        order = topographic_error(G, fitted.lattice_, m)
        cost = fitted._rule(K).assignment(G, params["sigma_end"], m).cost
        maps.append(_Map(trained.state.prototypes, order, fitted.quantization_error_, cost, fitted.n_iter_))
    return maps


def pareto(a: FloatArray, b: FloatArray) -> NDArray[np.bool_]:
    """(n,) whether no point is at most as large in both of a (n,) and b (n,) and smaller in one."""
    no_worse = (a[:, None] <= a) & (b[:, None] <= b)
    better = (a[:, None] < a) | (b[:, None] < b)
    return np.asarray(~(no_worse & better).any(axis=0))


def _falling(widths: Any) -> list[float]:
    """The widths, descending and each once."""
    if isinstance(widths, str) or not isinstance(widths, Iterable):
        raise ValueError(f"widths is {widths!r}; pass a list of positive numbers, for example [1, 0.3, 0.1].")
    falling = sorted({float(check_positive(width, "sigma_end")) for width in widths}, reverse=True)
    if not falling:
        raise ValueError("widths is empty; pass at least one value of sigma_end.")
    return falling


def _shapes(estimator: Any, neighborhoods: Any) -> dict[str, dict[str, str]]:
    """Shape -> the parameters that choose it."""
    own = estimator.get_params(deep=False).get("neighborhood")
    if neighborhoods is None:
        return {own or "exponential": {}}
    if own is None:
        raise ValueError(f"{type(estimator).__name__} has no parameter neighborhood; leave neighborhoods out.")
    if isinstance(neighborhoods, str) or not all(isinstance(shape, str) for shape in neighborhoods):
        raise ValueError(f"neighborhoods is {neighborhoods!r}; pass a list of names, for example ['gaussian'].")
    return {shape: {"neighborhood": shape} for shape in neighborhoods}


def _schedules(estimator: Any, falling: list[float], warm: bool) -> list[dict[str, Any]]:
    """The annealing of every fit: sigma_end, and for parts of one long annealing also sigma_start and n_epochs."""
    if not warm:
        return [{"sigma_end": width} for width in falling]
    sigmas = clone(estimator).set_params(sigma_end=falling[0])._rule(estimator._size()[0]).sigmas
    starts = [float(sigmas[0]), *falling[:-1]]
    # Every part has the share of the epochs that it has of the way.
    ways = np.log(np.divide(starts, falling))
    shares = ways / max(ways.sum(), np.finfo(float).tiny)
    return [
        {"sigma_start": start, "sigma_end": end, "n_epochs": max(1, round(len(sigmas) * share))}
        for start, end, share in zip(starts, falling, shares, strict=True)
    ]
