"""Early stopping for neural gas: `stop`, `stop-candidates`, `stop-fine` and `stop-coarse`.

cost(j, l) = sum_i A[j, i] D[i, l] has no negative term: once a partial sum exceeds a known cost, l cannot be best and
its sum is broken off. It pays if large terms and good candidates come first; the strategies differ in these orders.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source, candidate_rows
from ..utils.kernels import kernel
from .frame import Finder, RankWeights, Search


class StoppingFinder(Finder):
    """One prototype at a time.

    Exact: a sum is broken off only above `limit`, the least complete sum so far with three times the frame's slack;
    what it would have grown to is no less, so its canonical cost is above the least.
    """

    def __init__(self, weights: RankWeights, w: IntArray, source: Source, X: NDArray[Any]) -> None:
        super().__init__(weights.row, source)
        self.weights, self.w, self.X = weights, w, X  # X (N, N), one row per candidate

    def by_rank(self, j: int) -> NDArray[np.integer]:
        """(N,) points by their rank for prototype j, in the smallest type: with a row of D it then fits the cache."""
        return np.argsort(self.weights.rank[j], kind="stable").astype(np.uint16 if len(self.X) <= 2**16 else np.int32)

    @abstractmethod
    def fill(self, j: int, taken: NDArray[np.bool_], row: FloatArray) -> int:
        """Write the costs of candidates that may be best into row (N,); returns the terms summed."""

    def costs(self, j: int, taken: NDArray[np.bool_]) -> FloatArray:
        row = np.full(len(taken), np.inf)
        self.terms += self.fill(j, taken, row)
        return row


@kernel
def _stop_natural(a, X, candidates, taken, slack, tiny, row):  # type: ignore[no-untyped-def]
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


class Stop(StoppingFinder):
    """Terms and candidates in natural order, a check after every term."""

    def candidates(self, j: int) -> IntArray:
        """The order in which candidates are tried, (N,)."""
        return np.arange(len(self.X))

    def fill(self, j: int, taken: NDArray[np.bool_], row: FloatArray) -> int:
        return _stop_natural(self.row(j), self.X, self.candidates(j), taken, self.slack, self.tiny, row)


class StopCandidates(Stop):
    """Candidates of the prototype's own receptive field first, then by the dissimilarity of their prototypes.

    A good candidate early makes the limit low, so that the sums of the others are broken off sooner.
    """

    def candidates(self, j: int) -> IntArray:
        winner = self.weights.rank.argmin(axis=0)
        to_j = self.X[self.w[j], self.w].astype(np.float64)
        to_j[j] = -1.0
        place = np.empty(len(self.w), np.intp)
        place[np.argsort(to_j, kind="stable")] = np.arange(len(self.w))
        return np.argsort(place[winner], kind="stable")


@kernel
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
    """Terms and candidates in the order of their ranks, a check after every term.

    Points of small rank have the largest weights, and the best candidates are among them.
    """

    def fill(self, j: int, taken: NDArray[np.bool_], row: FloatArray) -> int:
        order = self.by_rank(j)
        return _stop_fine(self.row(j)[order], self.X, order, taken, self.slack, self.tiny, row)


@kernel
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
    """As StopFine, with one check per rank class and one multiplication by h(rank).

    cost(j, l) = sum_k h(k) sum over i of rank k of m_i D[i, l]: inside a class nothing is checked, so its sum is fast.
    """

    def fill(self, j: int, taken: NDArray[np.bool_], row: FloatArray) -> int:
        weights = self.weights
        K, smallest = len(weights.rank), weights.smallest[j]
        order = self.by_rank(j)
        starts = np.searchsorted(weights.rank[j][order], np.arange(smallest, K + 1))
        h = weights.levels[1][j, smallest:]
        return _stop_coarse(h, weights.m[order], self.X, order, starts, taken, self.slack, self.tiny, row)


def stopped_by(finder: type[StoppingFinder]) -> Callable[[Source, int | None], Search]:
    """The strategy that searches every epoch with such a finder; the proof is StoppingFinder's."""

    def make(source: Source, n_jobs: int | None = None) -> Search:
        X = candidate_rows(source)
        return lambda weights, w: finder(weights, w, source, X)

    return make
