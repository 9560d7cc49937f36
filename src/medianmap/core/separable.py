"""The Gaussian of a lattice in the plane as a product of one factor along its columns and one along its rows.

    exp(-nd^2 / 2 sigma^2) = exp(-dx^2 / 2 sigma^2) exp(-dy^2 / 2 sigma^2)

So smoothing over K = rows * cols neurons takes 2 cols + rows products a neuron and point instead of K: every row of
neurons is first smoothed along itself, once for even and once for odd rows, which a hexagonal lattice shifts by half a
step, and then the rows are added up. No term is negative, so the sums are a screen like any other (search/screens.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..search.screens import F32, SMALLEST, Bounded, rounding
from ..sources.base import FloatArray, panels
from ..utils.threads import computed_once, limited, run_chunks
from .neighborhood import Lattice, h

# Points per chunk: what lies between the two sums then stays in the second-level cache.
CHUNK = 256
# A product of so small matrices takes this many times as long per term as a large one (measured).
SMALL_COST = 2.0


@dataclass(frozen=True, eq=False)
class Factors:
    """H[(r, c), (s, d)] = share[(r, c)] Y[r, s] X[r % 2, s % 2, c, d]; neurons by row and column, r and c, s and d.

    H is the Gaussian of a lattice, its rows times share (K,) <= 1.
    """

    lattice: Lattice
    sigma: float
    share: FloatArray

    def work(self, n: int) -> float:
        """In units of one multiply-add of a dense float32 product."""
        rows, cols = self.lattice.shape
        return SMALL_COST * (2 * cols + rows) * rows * cols * n

    @computed_once
    def _parts(self) -> tuple[F32, F32, F32]:
        """X, Y, share. Small ones are left out, which only lowers a sum."""
        rows, cols = self.lattice.shape
        places = self.lattice.positions.reshape(rows, cols, 2)
        x, y = places[:2, :, 0], places[:, 0, 1]
        across, down = np.abs(x[:, None, :, None] - x[None, :, None, :]), np.abs(y[:, None] - y)
        if self.lattice.periodic:
            height = y[1] - y[0] if rows > 1 else 1.0
            across, down = np.minimum(across, cols - across), np.minimum(down, rows * height - down)
        parts = h(across, self.sigma, "gaussian"), h(down, self.sigma, "gaussian"), self.share
        # Each at least the root, so that no product of both leaves the range where float32 is fast.
        X, Y, share = (np.where(each < SMALLEST**0.5, 0.0, each).astype(np.float32) for each in parts)
        return X, Y, share

    def product(self, M: NDArray[Any], n_jobs: int | None) -> Bounded:
        """H @ M for M (K, n) float32, >= 0."""
        (rows, cols), (X, Y, share) = self.lattice.shape, self._parts
        L = np.empty(M.shape, np.float32)
        share, out = share.reshape(rows, cols, 1), L.reshape(rows, cols, -1)

        def work(part: slice) -> None:
            given = np.ascontiguousarray(M[:, part]).reshape(rows, cols, -1)
            along = np.empty_like(given)
            for p in range(min(rows, 2)):  # even rows, odd rows
                for q in range(min(rows, 2)):
                    np.matmul(X[p, q], given[q::2], out=along[q::2])
                summed = (Y[p::2] @ along.reshape(rows, -1)).reshape(-1, *given.shape[1:])
                np.multiply(summed, share[p::2], out=out[p::2, :, part])

        with limited(1):
            run_chunks(work, list(panels(M.shape[1], CHUNK)), n_jobs)
        # cols terms, then rows; four factors are rounded instead of two. Either sum may lose products to underflow.
        return Bounded(L, rounding(cols + rows + 8), np.full(rows * cols, 2.0 * rows * cols * 2.0**-126))
