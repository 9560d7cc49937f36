"""`standard`: the exhaustive O(N^2 K) loops of the textbook, compiled, one thread, float64: the baseline."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..sources.base import IntArray, Source, columns, panels, rows_per_panel
from .frame import Screened, Search, Weights


@njit(cache=True, nogil=True)
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
    """All K x N costs by plain loops; the canonical cost decides between equal or nearly equal ones.

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
