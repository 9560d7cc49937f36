"""h_sigma(t) = exp(-t / sigma) or exp(-t^2 / 2 sigma^2), its annealing, and the lattices on which a SOM measures t."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..utils.checks import check_choice, check_count, check_flag
from ..utils.threads import computed_once
from .plane import layout

# Products of smaller weights with small dissimilarities would be subnormal: slow, and without a relative error bound.
SMALLEST_WEIGHT = 1e-290
# Distances that differ by less than this share are equal: what sums of the same steps may differ by.
ROUNDING = 1e-9


def h(
    t: ArrayLike, sigma: float, neighborhood: str = "exponential", least: ArrayLike = 0.0, most: float | None = None
) -> NDArray[np.float64]:
    """h_sigma(t) / h_sigma(least), flushed to zero below SMALLEST_WEIGHT; least = 0 gives h_sigma(t) itself.

    exponential: exp(-(t - least) / sigma); gaussian: exp(-(t^2 - least^2) / (2 sigma^2)). Taken as one exponential,
    the quotient is a number also where both of its parts would underflow. most : h is 0 beyond it.
    """
    t, least = np.asarray(t, np.float64), np.asarray(least, np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        exponent = (t - least) / sigma
        if neighborhood == "gaussian":
            # Not 0 times infinity where sigma is next to nothing.
            exponent = np.where(t == least, 0.0, exponent * ((t + least) / (2 * sigma)))
        values = np.exp(-exponent)
    return np.where(values < SMALLEST_WEIGHT if most is None else (values < SMALLEST_WEIGHT) | (t > most), 0.0, values)


def log_h(
    t: ArrayLike, sigma: float, neighborhood: str = "exponential", most: float | None = None
) -> NDArray[np.float64]:
    """log h_sigma(t), minus infinity beyond `most`: also where h itself would underflow."""
    t = np.asarray(t, np.float64)
    with np.errstate(over="ignore"):
        steps = t / sigma
        log = -steps if neighborhood == "exponential" else -0.5 * steps**2
    return log if most is None else np.where(t > most, -np.inf, log)


def geometric(start: float, end: float, n_epochs: int) -> NDArray[np.float64]:
    """sigma_t = start (end / start)^(t / (n_epochs - 1)), t = 0 .. n_epochs - 1; one epoch uses start."""
    # One by one: NumPy's power of an array may differ from that of a number in the last bit, and with ties bits decide.
    sigmas = [start * (end / start) ** (t / max(n_epochs - 1, 1)) for t in range(n_epochs)]
    if n_epochs > 1:
        sigmas[-1] = end  # to the last bit
    return np.array(sigmas)


@dataclass(frozen=True, eq=False)
class Lattice:
    """K neurons: nd = distances (K, K) in steps, 1 between neurons that touch, or 1 on average.

    shape : (rows, columns), (layers, rows, columns), or (K,) where the user gave the distances.
    kind : "hexagonal", "rectangular" or "given".
    places (K, 2 or 3) : x, y and the layer of each neuron, row by row; None where only distances are known.
    """

    shape: tuple[int, ...]
    kind: str
    periodic: bool
    places: NDArray[np.float64] | None
    distances: NDArray[np.float64]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Lattice)
            and (self.shape, self.kind, self.periodic) == (other.shape, other.kind, other.periodic)
            and np.array_equal(self.distances, other.distances)
        )

    @property
    def is_plane(self) -> bool:
        """Whether neurons are in rows and columns, and nothing else."""
        return len(self.shape) == 2

    @computed_once
    def _codes(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """The few different distances, and which of them each pair has."""
        values, codes = np.unique(self.distances, return_inverse=True)
        return values, codes.reshape(self.distances.shape)

    @computed_once
    def _codes_falling(self) -> NDArray[np.intp]:
        """The codes of each row, the largest distance first."""
        return np.sort(self._codes[1], axis=1)[:, ::-1].copy()

    def weights(
        self, sigma: float, neighborhood: str = "exponential", most: float | None = None
    ) -> NDArray[np.float64]:
        """H = h_sigma(distances) (K, K): the exponential is taken once for each different distance."""
        values, codes = self._codes
        return h(values, sigma, neighborhood, most=most)[codes]

    def row_sums(
        self, sigma: float, neighborhood: str = "exponential", most: float | None = None
    ) -> NDArray[np.float64]:
        """Z (K,), Z_j = sum_l H[j, l], the smallest first: neurons with the same distances have the same bits."""
        return h(self._codes[0], sigma, neighborhood, most=most)[self._codes_falling].sum(axis=1)

    @property
    def diameter(self) -> float:
        return float(self.distances.max())

    @computed_once
    def neighbors(self) -> NDArray[np.bool_]:
        """(K, K): True where two neurons touch."""
        if self.places is None:
            return touching(self.distances)
        # The nearest non-neighbours are at sqrt(2) (rectangular) or sqrt(3) (hexagonal).
        return (self.distances > 0) & (self.distances < 1.2)

    @computed_once
    def coordinates(self) -> NDArray[np.float64]:
        """(K, 2 or 3) points whose distances are about those of the neurons; on a torus, cut open."""
        return self.positions if self.places is None else self.places

    @computed_once
    def positions(self) -> NDArray[np.float64]:
        """(K, 2) where neurons are drawn, one step apart: in their rows; layers beside each other; given distances laid
        out in the plane (`plane.layout`), so that half of the neurons have another within one step."""
        if self.places is None:
            z = layout(self.distances).positions
            apart = np.hypot(*(z[:, None] - z[None]).T)
            np.fill_diagonal(apart, np.inf)
            step = float(np.median(apart.min(axis=1))) if len(z) > 1 else 1.0
            return z / (step if step > 0 else 1.0)
        if self.is_plane:
            return self.places
        x, y, layer = self.places.T
        beside = ceil(sqrt(self.shape[0]))  # layers in a row
        return np.column_stack([
            x + layer % beside * (x.max() + 2), y + layer // beside * (y.max() + 2)
        ])  # fmt: skip


def touching(distances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(K, K): True where no third neuron is nearer to both than they are to each other (relative neighbourhood graph).

    Of the shortest ways in a graph whose edges all have the same length, these are its edges; of those in a tree, too.
    """
    found = np.empty(distances.shape, bool)
    for j, d in enumerate(distances):
        by_third = np.maximum(d, distances).min(axis=1)  # least over k of max(d[j, k], d[l, k]); k = j gives d[j, l]
        found[j] = by_third >= d * (1 - ROUNDING)
    np.fill_diagonal(found, False)
    return found


def make_lattice(shape: tuple[int, ...], kind: str = "hexagonal", periodic: bool = False) -> Lattice:
    """nd(j, l) = Euclidean distance of the neurons; on a torus the shortest way round.

    Neuron j sits in row j // columns, column j % columns. Hexagonal: odd rows are shifted by half a step and rows are
    sqrt(3) / 2 apart, so that all six neighbours are at distance 1. Of three numbers the first are layers, each of
    rows * columns neurons, which lie one step above each other.
    """
    *layers, rows, cols = shape
    hexagonal = kind == "hexagonal"
    if hexagonal and periodic and rows % 2:
        raise ValueError(f"A periodic hexagonal lattice needs an even number of rows; grid has {rows}.")
    *layer, r, c = np.indices(shape).reshape(len(shape), -1)
    height = np.sqrt(3) / 2 if hexagonal else 1.0
    places = np.column_stack([c + 0.5 * (r % 2) * hexagonal, r * height, *layer]).astype(np.float64)
    offset = np.abs(places[:, None, :] - places[None, :, :])
    if periodic:
        offset = np.minimum(offset, np.abs(np.array([cols, rows * height, *layers]) - offset))
    # Mathematically equal distances must be equal numbers, or rounding would decide between equal neurons.
    distances = np.sqrt(np.round((offset**2).sum(axis=2) * 4) / 4)
    return Lattice(tuple(shape), kind, periodic, places, distances)


def given_lattice(distances: Any) -> Lattice:
    """The lattice of the user's distances (K, K), divided by their mean over neurons that touch."""
    nd = checked_distances(distances)
    near = touching(nd)
    return Lattice((len(nd),), "given", False, None, nd / nd[near].mean() if near.any() else nd)


def checked_distances(distances: Any) -> NDArray[np.float64]:
    """The user's distances between neurons (K, K), K >= 1: symmetric, finite, above 0 but on the diagonal."""
    try:
        nd = np.array(distances, np.float64)
    except (TypeError, ValueError):
        nd = np.empty(0)
    if nd.ndim != 2 or nd.shape[0] != nd.shape[1] or not len(nd):
        raise ValueError(
            'lattice must be "hexagonal", "rectangular", or the distances between all neurons as a square array.'
        )
    if not np.isfinite(nd).all():
        j, l = np.argwhere(~np.isfinite(nd))[0]
        raise ValueError(
            f"lattice[{j}, {l}] is {nd[j, l]}; distances between neurons must be finite. Where a graph is not "
            "connected, take a large number."
        )
    wrong = (nd <= 0) != np.eye(len(nd), dtype=bool)
    if wrong.any():
        j, l = np.argwhere(wrong)[0]
        needed = "0: the distance of a neuron to itself" if j == l else "above 0: two neurons are not at one place"
        raise ValueError(f"lattice[{j}, {l}] is {nd[j, l]:g}; it must be {needed}.")
    odd = np.abs(nd - nd.T) > ROUNDING * nd
    if odd.any():
        j, l = np.argwhere(odd)[0]
        raise ValueError(
            f"lattice[{j}, {l}] is {nd[j, l]:g}, but lattice[{l}, {j}] is {nd[l, j]:g}; they must be equal."
        )
    return (nd + nd.T) / 2


def checked_grid(grid: Any) -> tuple[int, ...]:
    """The user's (rows, columns) or (layers, rows, columns); ValueError for anything but numbers from 1 on."""
    if not isinstance(grid, tuple | list) or len(grid) not in (2, 3):
        raise ValueError(f"grid is {grid!r}; it must be (rows, columns), or (layers, rows, columns).")
    return tuple(check_count(side, f"grid[{axis}]") for axis, side in enumerate(grid))


def checked_lattice(grid: Any, kind: Any, periodic: Any) -> Lattice:
    """The lattice that the user asks for; `kind` may be distances, which need no grid."""
    joined = check_flag(periodic, "periodic")
    if not isinstance(kind, str):
        if joined:
            raise ValueError("periodic=True joins the edges of a grid; of a lattice of your own the distances say it.")
        return given_lattice(kind)
    check_choice(kind, "lattice", ("hexagonal", "rectangular"))
    return make_lattice(checked_grid(grid), kind, joined)
