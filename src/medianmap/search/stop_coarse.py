"""`stop-coarse` (NG): as stop-fine, with one check a rank class and one multiplication by h(rank).

cost(j, l) = sum_k h(k) sum over i of rank k of m_i D[i, l]: inside a class nothing is checked, so its sum is fast.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source, candidate_rows
from .frame import Search
from .stops import StoppingFinder, compact
from .weights import RankWeights


@njit(cache=True, nogil=True)
def _stop_coarse(h, m, X, order, starts, taken, slack, tiny, row):  # type: ignore[no-untyped-def]
    """sum over rank classes k of h[k] (sum of m_i D[i, l] over the class), a check after each class.

    Class k is order[starts[k] : starts[k + 1]]; candidates come in the same order, and so do the weights m.
    """
    terms = 0
    limit = np.inf
    for l in order:
        if taken[l]:
            continue
        s = 0.0
        k = 0
        while k < h.shape[0] and s <= limit:
            # Four sums side by side: a class has no check inside, so its additions need not wait for each other.
            p = q = r = u = 0.0
            t, end = starts[k], starts[k + 1]
            while t + 4 <= end:
                p += m[t] * np.float64(X[l, order[t]])
                q += m[t + 1] * np.float64(X[l, order[t + 1]])
                r += m[t + 2] * np.float64(X[l, order[t + 2]])
                u += m[t + 3] * np.float64(X[l, order[t + 3]])
                t += 4
            while t < end:
                p += m[t] * np.float64(X[l, order[t]])
                t += 1
            s += h[k] * ((p + q) + (r + u))
            terms += starts[k + 1] - starts[k]
            k += 1
        if s <= limit:
            row[l] = s
            limit = min(limit, s * (1 + 3 * slack) + 3 * tiny)
    return terms


class StopCoarse(StoppingFinder):
    def fill(self, j: int, taken: NDArray[np.bool_], row: FloatArray) -> int:
        weights = self.weights
        K, smallest = len(weights.rank), weights.smallest[j]
        order = compact(np.argsort(weights.rank[j], kind="stable"))
        starts = np.searchsorted(weights.rank[j][order], np.arange(smallest, K + 1))
        h = weights.levels[1][j, smallest:]
        return _stop_coarse(h, weights.m[order], self.X, order, starts, taken, self.slack, self.tiny, row)


def stop_coarse(source: Source, n_jobs: int | None = None) -> Search:
    """Early stopping by rank classes; the proof is StoppingFinder's."""
    X = candidate_rows(source)

    def epoch(weights: RankWeights, w: IntArray) -> StopCoarse:
        return StopCoarse(weights, w, source, X)

    return epoch
