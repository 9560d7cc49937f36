"""`stop-fine` (NG): early stopping with terms and candidates in the order of their ranks, a check after every term.

Points of small rank have the largest weights, and the best candidates are among them.
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
def _stop_fine(a, X, order, taken, slack, tiny, row):  # type: ignore[no-untyped-def]
    """Terms and candidates both in the same order (N,), and so are the weights a; a check after each term."""
    terms = 0
    limit = np.inf
    for l in order:
        if taken[l]:
            continue
        s = 0.0
        t = 0
        while t < order.shape[0] and s <= limit:
            s += a[t] * np.float64(X[l, order[t]])
            t += 1
        terms += t
        if s <= limit:
            row[l] = s
            limit = min(limit, s * (1 + 3 * slack) + 3 * tiny)
    return terms


class StopFine(StoppingFinder):
    def fill(self, j: int, taken: NDArray[np.bool_], row: FloatArray) -> int:
        order = compact(np.argsort(self.weights.rank[j], kind="stable"))
        return _stop_fine(self.row(j)[order], self.X, order, taken, self.slack, self.tiny, row)


def stop_fine(source: Source, n_jobs: int | None = None) -> Search:
    """Early stopping in the order of ranks; the proof is StoppingFinder's."""
    X = candidate_rows(source)

    def epoch(weights: RankWeights, w: IntArray) -> StopFine:
        return StopFine(weights, w, source, X)

    return epoch
