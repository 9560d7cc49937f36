"""Screens: cheap rigorous lower bounds of costs by products in float32, each with its own error bound.

cost(j, l) = sum_i W[j, i] M[i, l] with W, M >= 0. A screen returns L (K, n) float32 and promises
L (1 - relative) - absolute <= canonical cost, for every pair. Nothing else may be assumed of L.

In float32, u = 2^-24. Rounding W and M to float32 costs a factor (1 + u)^2, a sum of n products in any order a factor
1 + n u / (1 - n u), since no term is negative; leaving terms out only lowers it. Products below the normal range may be
off by 2^-126 each, and W below 1e-25 is set to 0, because arithmetic with subnormal numbers is a hundred times slower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, panels
from ..utils.kernels import kernel
from ..utils.threads import limited, run_chunks

F32 = NDArray[np.float32]
# starts, column, value of a sparse matrix row by row: row j has value[starts[j] : starts[j + 1]] in these columns.
Entries: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp], F32]

UNIT = 2.0**-24
SMALLEST = 1e-25
# Sums must stay inside the range of float32 with room to spare.
LARGEST = 1e36


@dataclass(frozen=True)
class Bounded:
    """L (K, n) with L (1 - relative) - absolute[j] <= cost."""

    L: F32
    relative: float
    absolute: FloatArray  # (K,)


def rounding(n_terms: int) -> float:
    """Relative error of a float32 sum of n non-negative products of rounded factors, with the canonical sum's own."""
    gamma = (n_terms + 8) * UNIT
    return 1.05 * gamma / (1 - gamma) if gamma < 0.5 else 1.0


def as_float32(W: NDArray[Any]) -> F32:
    """W rounded to float32, with what is too small for it set to zero (which only lowers a sum)."""
    W = W.astype(np.float32)
    W[W < SMALLEST] = 0.0
    return W


def dense_product(W: F32, M: NDArray[Any], n_jobs: int | None) -> Bounded:
    """W @ M through BLAS, columns shared out over threads (BLAS itself on one, so that the two do not fight)."""
    L = np.empty((W.shape[0], M.shape[1]), np.float32)
    parts = list(panels(M.shape[1], max(512, -(-M.shape[1] // 4))))
    with limited(1):
        run_chunks(lambda cols: np.matmul(W, M[:, cols].astype(np.float32, copy=False), out=L[:, cols]), parts, n_jobs)
    return Bounded(L, rounding(W.shape[1]), np.full(len(W), W.shape[1] * 2.0**-126))


def sparse_product(W: Entries, M: NDArray[Any], n_jobs: int | None) -> Bounded:
    """W @ M for rows of few weights; what W leaves out only lowers the sums."""
    K = len(W[0]) - 1
    L = np.empty((K, M.shape[1]), np.float32)
    run_chunks(lambda cols: _sparse_rows(*W, M, cols.start, cols.stop, L), list(panels(M.shape[1], TILE)), n_jobs)
    longest = int(np.diff(W[0]).max()) if K else 0
    return Bounded(L, rounding(longest), np.full(K, longest * 2.0**-126))


# Columns per tile: the sums of a row and the rows they come from then stay in the first- and second-level cache.
TILE = 256


@kernel
def _sparse_rows(starts, index, value, M, first, last, L):  # type: ignore[no-untyped-def]
    """L[j, first:last] = sum over t of value[t] M[index[t], first:last], four rows of M at a time."""
    for j in range(starts.shape[0] - 1):
        row = L[j, first:last]
        row[:] = np.float32(0)
        t, end = starts[j], starts[j + 1]
        while t + 4 <= end:
            a, b, c, d = value[t], value[t + 1], value[t + 2], value[t + 3]
            p, q = M[index[t], first:last], M[index[t + 1], first:last]
            r, s = M[index[t + 2], first:last], M[index[t + 3], first:last]
            for l in range(last - first):
                row[l] += (a * p[l] + b * q[l]) + (c * r[l] + d * s[l])
            t += 4
        while t < end:
            a, p = value[t], M[index[t], first:last]
            for l in range(last - first):
                row[l] += a * p[l]
            t += 1


@kernel
def heavy_entries(W, cut):  # type: ignore[no-untyped-def]
    """(starts, index, value) of the entries of W (K, F) that are >= cut, row by row."""
    K, F = W.shape
    starts = np.zeros(K + 1, np.intp)
    for j in range(K):
        n = 0
        for k in range(F):
            n += W[j, k] >= cut
        starts[j + 1] = starts[j] + n
    index = np.empty(starts[K], np.intp)
    value = np.empty(starts[K], np.float32)
    for j in range(K):
        t = starts[j]
        for k in range(F):
            if W[j, k] >= cut:
                index[t] = k
                value[t] = W[j, k]
                t += 1
    return starts, index, value


# Work in units of one multiply-add of a dense float32 product: of a sparse one, and of a canonical sum (measured).
SPARSE_COST = 6.0
CANONICAL_COST = 15.0
# Weights that a sparse screen on a lattice leaves out are below this share of the row's largest.
CUT = 0.01


class Choice:
    """Which screen to use next: least work, the candidates that it will leave over included.

    How many those are is estimated from the last time that the screen was used; one that was never used is tried. An
    estimate drifts while it is not renewed: as sigma falls, screens of heavy weights improve and those of broad weights
    decay.
    """

    def __init__(self, drift: dict[str, float]) -> None:
        self.drift = drift
        self.left: dict[str, float] = {}

    def next_epoch(self) -> None:
        """Let the estimates drift."""
        self.left = {name: estimate * self.drift.get(name, 1.0) for name, estimate in self.left.items()}

    def best(self, work: dict[str, float], terms: int) -> str:
        """The name of least work; a left-over candidate costs `terms` canonical terms."""
        return min(work, key=lambda name: work[name] + CANONICAL_COST * terms * self.left.get(name, 0.0))


def product_work(W: F32, n: int) -> dict[str, float]:
    """The work of W @ M for M with n columns, dense and of the heavy entries alone."""
    return {"dense": float(W.size * n), "sparse": SPARSE_COST * np.count_nonzero(W >= CUT) * n}


def weight_product(name: str, W: F32, M: NDArray[Any], n_jobs: int | None) -> Bounded:
    """W @ M: "dense", or of the heavy entries alone, "sparse". W (K, F) has maximum 1."""
    if name == "sparse":
        return sparse_product(heavy_entries(W, np.float32(CUT)), M, n_jobs)
    return dense_product(W, M, n_jobs)
