"""Early stopping for neural gas: what stop, stop-candidates, stop-fine and stop-coarse share.

cost(j, l) = sum_i A[j, i] D[i, l] has no negative term: once a partial sum exceeds a known cost, l cannot be best and
its sum is broken off. It pays if large terms and good candidates come first; the strategies differ in these orders.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source
from .frame import Finder
from .weights import RankWeights


def compact(order: IntArray) -> NDArray[np.integer]:
    """The same indices in the smallest type: order and a row of D together then stay in the first-level cache."""
    return order.astype(np.uint16 if len(order) <= 2**16 else np.int32)


class StoppingFinder(Finder):
    """One prototype at a time.

    Exact: a sum is broken off only above `limit`, the least complete sum so far with three times the frame's slack;
    what it would have grown to is no less, so its canonical cost is above the least.
    """

    def __init__(self, weights: RankWeights, w: IntArray, source: Source, X: NDArray[Any]) -> None:
        super().__init__(weights.row, source)
        self.weights = weights
        self.w = w
        self.X = X  # (N, N), a candidate a row

    @abstractmethod
    def fill(self, j: int, taken: NDArray[np.bool_], row: FloatArray) -> int:
        """Write the costs of candidates that may be best into row (N,); returns the terms summed."""

    def costs(self, j: int, taken: NDArray[np.bool_] | None) -> FloatArray:
        n = len(self.X)
        row = np.full(n, np.inf)
        self.terms += self.fill(j, np.zeros(n, bool) if taken is None else taken, row)
        return row


@njit(cache=True, nogil=True)
def stop_natural(a, X, candidates, taken, slack, tiny, row):  # type: ignore[no-untyped-def]
    """Terms in natural order, a check after each; candidates (N,) in the order given. Returns terms summed."""
    terms = 0
    limit = np.inf
    for l in candidates:
        if taken[l]:
            continue
        s = 0.0
        i = 0
        while i < a.shape[0] and s <= limit:
            s += a[i] * np.float64(X[l, i])
            i += 1
        terms += i
        if s <= limit:
            row[l] = s
            limit = min(limit, s * (1 + 3 * slack) + 3 * tiny)
    return terms
