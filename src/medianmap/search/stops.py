"""Early stopping for neural gas: `stop`, `stop-candidates`, `stop-fine`, `stop-coarse`.

cost(j, l) = sum_i A[j, i] D[i, l] has no negative term: once a partial sum exceeds a known cost, l cannot be best and
its sum is broken off. It pays if large terms and good candidates come first.

| name | order of candidates | order of terms | checks |
| --- | --- | --- | --- |
| stop | natural | natural | after every term |
| stop-candidates | own receptive field, then fields by the dissimilarity of their prototypes | natural | every term |
| stop-fine | by their rank for prototype j | by rank | every term |
| stop-coarse | by rank | by rank, one sum a rank class, times h(rank) | once a class |
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source, candidate_rows
from ..weights import RankWeights
from .frame import Finder, Search


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _stop_fine(a, X, order, taken, slack, tiny, row):  # type: ignore[no-untyped-def]
    """Terms and candidates both in the same order (N,), a check after each term."""
    terms = 0
    limit = np.inf
    for l in order:
        if taken[l]:
            continue
        s = 0.0
        t = 0
        while t < order.shape[0] and s <= limit:
            i = order[t]
            s += a[i] * np.float64(X[l, i])
            t += 1
        terms += t
        if s <= limit:
            row[l] = s
            limit = min(limit, s * (1 + 3 * slack) + 3 * tiny)
    return terms


@njit(cache=True, nogil=True)
def _stop_coarse(h, m, X, order, starts, taken, slack, tiny, row):  # type: ignore[no-untyped-def]
    """sum over rank classes k of h[k] (sum of m_i D[i, l] over the class), a check after each class.

    Class k is order[starts[k] : starts[k + 1]]; candidates come in the same order.
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
                p += m[order[t]] * np.float64(X[l, order[t]])
                q += m[order[t + 1]] * np.float64(X[l, order[t + 1]])
                r += m[order[t + 2]] * np.float64(X[l, order[t + 2]])
                u += m[order[t + 3]] * np.float64(X[l, order[t + 3]])
                t += 4
            while t < end:
                p += m[order[t]] * np.float64(X[l, order[t]])
                t += 1
            s += h[k] * ((p + q) + (r + u))
            terms += starts[k + 1] - starts[k]
            k += 1
        if s <= limit:
            row[l] = s
            limit = min(limit, s * (1 + 3 * slack) + 3 * tiny)
    return terms


class StoppingFinder(Finder):
    """One prototype at a time, with the orders of one of the four strategies.

    Exact: a sum is broken off only above `limit`, the least complete sum so far with three times the frame's slack;
    what it would have grown to is no less, so its canonical cost is above the least.
    """

    def __init__(self, weights: RankWeights, w: IntArray, source: Source, X: NDArray[np.floating], kind: str) -> None:
        super().__init__(weights.row, source)
        self.weights = weights
        self.w = w
        self.X = X  # (N, N), a candidate a row
        self.kind = kind

    def costs(self, j: int, taken: NDArray[np.bool_] | None) -> FloatArray:
        weights, X = self.weights, self.X
        n = X.shape[0]
        row = np.full(n, np.inf)
        taken = np.zeros(n, bool) if taken is None else taken
        rest = (taken, self.slack, self.tiny, row)
        if self.kind in ("natural", "candidates"):
            order = np.arange(n) if self.kind == "natural" else self.by_field(j)
            self.terms += _stop_natural(weights.row(j), X, order, *rest)
            return row
        order = np.argsort(weights.rank[j], kind="stable")
        if self.kind == "fine":
            self.terms += _stop_fine(weights.row(j), X, order, *rest)
            return row
        K = len(weights.rank)
        starts = np.searchsorted(weights.rank[j][order], np.arange(weights.smallest[j], K + 1))
        h = weights.weight_of_rank[: K - weights.smallest[j]]
        self.terms += _stop_coarse(h, weights.m, X, order, starts, *rest)
        return row

    def by_field(self, j: int) -> IntArray:
        """Points grouped by their winner: those of j first, then by the dissimilarity of the winners to w_j."""
        winner = self.weights.rank.argmin(axis=0)
        to_j = self.X[self.w[j], self.w].astype(np.float64)
        to_j[j] = -1.0
        place = np.empty(len(self.w), np.intp)
        place[np.argsort(to_j, kind="stable")] = np.arange(len(self.w))
        return np.argsort(place[winner], kind="stable")


def _stopping(source: Source, n_jobs: int | None = None, *, kind: str) -> Search:
    X = candidate_rows(source)

    def epoch(weights: RankWeights, w: IntArray) -> StoppingFinder:
        return StoppingFinder(weights, w, source, X, kind)

    return epoch


stop = partial(_stopping, kind="natural")
stop_candidates = partial(_stopping, kind="candidates")
stop_fine = partial(_stopping, kind="fine")
stop_coarse = partial(_stopping, kind="coarse")
