"""How wide should a SOM's neighbourhood end? Order on the lattice against nearness to the data, for a list of widths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .quality import topographic_error
from .refits import check_map, refits
from .sources.base import FloatArray, IntArray
from .tables import table
from .validation import check_flag, check_positive

WIDTHS = (2.0, 1.0, 0.7, 0.5, 0.3, 0.1, 0.01)


@dataclass(frozen=True)
class WidthFront:
    """Figures for every end width (P,), from the largest down, for one neighbourhood after the other.

    widths : (P,) sigma_end.
    neighborhood : (P,) the shape of the neighbourhood, "exponential" where the map has no choice.
    topographic_error, quantization_error : (P,) both better when lower; see `quality`.
    som_cost : (P,) what the map minimises, at its own width: it grows with the width and compares maps of one width.
    on_front : (P,) whether no other map here is as good in both errors and better in one.
    epochs : (P,) epochs of each fit.
    prototypes : for every width the indices (K,) or vectors (K, M) of the map, as `init` takes them.
    """

    widths: FloatArray
    neighborhood: NDArray[np.str_]
    topographic_error: FloatArray
    quantization_error: FloatArray
    som_cost: FloatArray
    on_front: NDArray[np.bool_]
    epochs: IntArray
    prototypes: tuple[NDArray[Any], ...]

    def as_records(self) -> NDArray[Any]:
        """(P,) records: width, neighborhood, topographic_error, quantization_error, som_cost, on_front, epochs."""
        names = ("neighborhood", "topographic_error", "quantization_error", "som_cost", "on_front", "epochs")
        return table(width=self.widths, **{name: getattr(self, name) for name in names})


def width_front(
    estimator: Any,
    X: Any,
    widths: Sequence[float] = WIDTHS,
    *,
    sample_weight: Any = None,
    neighborhoods: Sequence[str] | None = None,
    warm: bool = True,
) -> WidthFront:
    """Topographic and quantization error of a SOM along a list of end widths, and which of them are on the front.

    estimator : MedianSOM or BatchSOM; clones of it are fitted with sigma_end set, from its own random_state.
    X, sample_weight : as the estimator's fit takes them. Dissimilarities are computed once and serve every fit.
    widths : values of sigma_end, in any order.
    neighborhoods : shapes to compare, for maps that have the parameter `neighborhood`; None takes the map's own.
    warm : one annealing in n_epochs epochs from sigma_start to the least width, which stops at every width on its way
        until nothing moves: every map goes on from the one before. False anneals every map from the start, in n_epochs
        epochs each.
    """
    check_map(estimator, "grid", "width_front takes SOMs; `k_path` is for K-means and neural gas.")
    check_flag(warm, "warm")
    sigmas = _falling(widths)
    shapes = _shapes(estimator, neighborhoods)
    K, called = estimator._size()
    fits = refits(estimator, X, sample_weight, K, called)
    rows, prototypes = [], []
    for shape, choice in shapes.items():
        before: NDArray[Any] | None = None
        for params in _schedules(clone(estimator).set_params(**choice), sigmas, warm):
            start = {} if before is None or not warm else {"init": before}
            fitted, trained = fits.fit(**choice, **params, **start)
            before = trained.state.prototypes
            sigma, rule = params["sigma_end"], fitted._rule(K)
            cost = rule.assignment(trained.G, sigma, trained.m).cost
            order = topographic_error(trained.G, fitted.lattice_, trained.m)
            rows.append((sigma, shape, order, fitted.quantization_error_, cost, fitted.n_iter_))
            prototypes.append(fits.as_given(before))
    width, shape_of, order, error, cost, epochs = (np.array(column) for column in zip(*rows, strict=True))
    return WidthFront(width, shape_of, order, error, cost, pareto(order, error), epochs, tuple(prototypes))


def pareto(a: FloatArray, b: FloatArray) -> NDArray[np.bool_]:
    """(n,) whether no point is at most as large in both of a (n,) and b (n,) and smaller in one."""
    no_worse = (a[:, None] <= a) & (b[:, None] <= b)
    better = (a[:, None] < a) | (b[:, None] < b)
    return ~(no_worse & better).any(axis=0)


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
