"""h_sigma(t) = exp(-t / sigma) or exp(-t^2 / 2 sigma^2), its annealing, and the lattices on which a SOM measures t."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..utils.checks import check_choice, check_count, check_flag

# Products of smaller weights with small dissimilarities would be subnormal: slow, and without a relative error bound.
SMALLEST_WEIGHT = 1e-290


def h(t: ArrayLike, sigma: float, neighborhood: str = "exponential", least: ArrayLike = 0.0) -> NDArray[np.float64]:
    """h_sigma(t) / h_sigma(least), flushed to zero below SMALLEST_WEIGHT; least = 0 gives h_sigma(t) itself.

    exponential: exp(-(t - least) / sigma); gaussian: exp(-(t^2 - least^2) / (2 sigma^2)). Taken as one exponential,
    the quotient is a number also where both of its parts would underflow.
    """
    t, least = np.asarray(t, np.float64), np.asarray(least, np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        exponent = (t - least) / sigma
        if neighborhood == "gaussian":
            # Not 0 times infinity where sigma is next to nothing.
            exponent = np.where(t == least, 0.0, exponent * ((t + least) / (2 * sigma)))
        values = np.exp(-exponent)
    return np.where(values < SMALLEST_WEIGHT, 0.0, values)


def geometric(start: float, end: float, n_epochs: int) -> NDArray[np.float64]:
    """sigma_t = start (end / start)^(t / (n_epochs - 1)), t = 0 .. n_epochs - 1; one epoch uses start."""
    # One by one: NumPy's power of an array may differ from that of a number in the last bit, and with ties bits decide.
    sigmas = [start * (end / start) ** (t / max(n_epochs - 1, 1)) for t in range(n_epochs)]
    if n_epochs > 1:
        sigmas[-1] = end  # to the last bit
    return np.array(sigmas)


@dataclass(frozen=True)
class Lattice:
    """K neurons in the plane: positions (K, 2), row by row, and nd = distances (K, K), neighbours at distance 1."""

    shape: tuple[int, int]
    kind: str
    periodic: bool
    positions: NDArray[np.float64] = field(compare=False)
    distances: NDArray[np.float64] = field(compare=False)

    @cached_property
    def _codes(self) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """The few different distances, and which of them each pair has."""
        values, codes = np.unique(self.distances, return_inverse=True)
        return values, codes.reshape(self.distances.shape)

    @cached_property
    def _codes_falling(self) -> NDArray[np.intp]:
        """The codes of each row, the largest distance first."""
        return np.sort(self._codes[1], axis=1)[:, ::-1].copy()

    def weights(self, sigma: float, neighborhood: str = "exponential") -> NDArray[np.float64]:
        """H = h_sigma(distances) (K, K): the exponential is taken once for each different distance."""
        values, codes = self._codes
        return h(values, sigma, neighborhood)[codes]

    def row_sums(self, sigma: float, neighborhood: str = "exponential") -> NDArray[np.float64]:
        """Z (K,), Z_j = sum_l H[j, l], the smallest first: neurons with the same distances have the same bits."""
        return h(self._codes[0], sigma, neighborhood)[self._codes_falling].sum(axis=1)

    @property
    def diameter(self) -> float:
        return float(self.distances.max())

    @property
    def neighbors(self) -> NDArray[np.bool_]:
        """(K, K): True where two neurons touch."""
        # The nearest non-neighbours are at sqrt(2) (rectangular) or sqrt(3) (hexagonal).
        return (self.distances > 0) & (self.distances < 1.2)


def make_lattice(shape: tuple[int, int], kind: str = "hexagonal", periodic: bool = False) -> Lattice:
    """nd(j, l) = Euclidean distance of the positions; on a torus the shortest way round.

    Neuron j sits in row j // columns, column j % columns. Hexagonal: odd rows are shifted by half a step and rows are
    sqrt(3) / 2 apart, so that all six neighbours are at distance 1.
    """
    rows, cols = shape
    hexagonal = kind == "hexagonal"
    if hexagonal and periodic and rows % 2:
        raise ValueError(f"A periodic hexagonal lattice needs an even number of rows; grid has {rows}.")
    r, c = np.divmod(np.arange(rows * cols), cols)
    height = np.sqrt(3) / 2 if hexagonal else 1.0
    positions = np.column_stack([c + 0.5 * (r % 2) * hexagonal, r * height]).astype(np.float64)
    offset = np.abs(positions[:, None, :] - positions[None, :, :])
    if periodic:
        offset = np.minimum(offset, np.abs(np.array([cols, rows * height]) - offset))
    distances = np.hypot(offset[..., 0], offset[..., 1])
    # Mathematically equal distances must be equal numbers, or rounding would decide between equal neurons.
    distances = np.sqrt(np.round(distances**2 * 4) / 4)
    return Lattice(shape, kind, periodic, positions, distances)


def checked_grid(grid: Any) -> tuple[int, int]:
    """The user's (rows, columns); ValueError for anything but two numbers from 1 on."""
    if not isinstance(grid, tuple | list) or len(grid) != 2:
        raise ValueError(f"grid is {grid!r}; it must be a pair (rows, columns).")
    rows, cols = (check_count(side, f"grid[{axis}]") for axis, side in enumerate(grid))
    return rows, cols


def checked_lattice(grid: Any, kind: Any, periodic: Any) -> Lattice:
    """The lattice that the user asks for."""
    check_choice(kind, "lattice", ("hexagonal", "rectangular"))
    return make_lattice(checked_grid(grid), kind, check_flag(periodic, "periodic"))
