"""`standard` and `gemm` (all maps): every one of the K x N costs, by the textbook's loops or as one matrix product."""

from __future__ import annotations

import numpy as np

from ..sources.base import ALL, FloatArray, IntArray, Source, columns, panels, rows_per_panel
from ..utils.kernels import kernel
from .frame import Screened, Search, Weights


@kernel
def _all_costs(A, candidates, C):  # type: ignore[no-untyped-def]
    """C[j, l] = sum_i A[j, i] candidates[l, i], a running sum over contiguous memory for every pair (j, l).

    A few candidates at a time meet all prototypes, so that both stay in cache whatever K is.
    """
    for first in range(0, candidates.shape[0], 8):
        last = min(first + 8, candidates.shape[0])
        for j in range(A.shape[0]):
            for l in range(first, last):
                s = 0.0
                for i in range(A.shape[1]):
                    s += A[j, i] * candidates[l, i]
                C[j, l] = s


def standard(source: Source, n_jobs: int | None = None) -> Search:
    """Compiled loops, one thread, float64: the baseline. The canonical cost decides between equal or nearly equal ones.

    Candidates are read in panels, (p, N) and converted to float64 once for all prototypes, so that a float32 or
    asymmetric matrix costs the loops nothing.
    """

    def epoch(weights: Weights, w: IntArray) -> Screened:
        K, N = weights.A.shape
        C = np.empty((K, N))
        for cols in panels(N, rows_per_panel(N)):
            _all_costs(weights.A, columns(source, cols).astype(np.float64, copy=False), C[:, cols])
        return Screened(weights.row, source, C, terms=K * N * N)

    return epoch


def gemm(source: Source, n_jobs: int | None = None) -> Search:
    """One product A @ D through BLAS per epoch, in one sequential pass over row panels of D."""
    return lambda weights, w: product_costs(weights.A, source)


def product_costs(A: FloatArray, source: Source) -> Screened:
    """C = sum over panels of A[:, rows] @ D[rows, :].

    Rows are read in order, so a memory map streams from disk and only one float64 panel is held. BLAS may sum in any
    order and with fused multiply-adds: every partial sum is of non-negative terms, which is all that Finder assumes.
    """
    K, N = A.shape
    C = np.zeros((K, source.shape[1]))
    product = np.empty_like(C)
    for rows in panels(N, rows_per_panel(source.shape[1])):
        panel = source.block(rows, ALL).astype(np.float64, copy=False)
        np.matmul(A[:, rows], panel, out=product)
        C += product
    return Screened(A.__getitem__, source, C, terms=K * N * source.shape[1])
