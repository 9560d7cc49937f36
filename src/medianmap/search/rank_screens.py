"""The screens of neural gas: a low-rank picture of D, the heaviest ranks alone, or the whole product in float32."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..sources.base import panels
from ..utils.threads import run_chunks
from .lowrank import LowRank
from .screens import UNIT, Bounded, Choice, Entries, as_float32, dense_product, sparse_product
from .weights import RankWeights

# Ranks that the sparse screen leaves out weigh less than this; rows of D come from further than those of block sums.
LIGHT = 0.08
ROW_COST = 9.0
# A low-rank picture is not worth making for fewer points or prototypes.
SMALLEST_LOW_RANK = (1000, 20)


class RankScreen:
    """The three, and what they keep from epoch to epoch."""

    def __init__(self, D: NDArray[Any], n_jobs: int | None) -> None:
        self.D = D  # (N, N), a data point a row
        self.n_jobs = n_jobs
        self.low_rank: LowRank | None = None
        self.choice = Choice({"ranks": 0.7, "low rank": 1.1})
        self._narrow: tuple[Any, Bounded] | None = None

    def options(self, weights: RankWeights) -> dict[str, float]:
        """The work of each screen."""
        K, N = weights.rank.shape
        self.heavy = int(np.count_nonzero(weights.weight_of_rank >= LIGHT))
        work = {"product": float(K * N * N), "ranks": ROW_COST * self.heavy * N * N}
        if N >= SMALLEST_LOW_RANK[0] and K >= SMALLEST_LOW_RANK[1]:
            work["low rank"] = 4.0 * K * N * LowRank.RANK
        return work

    def bounds(self, name: str, weights: RankWeights) -> tuple[Bounded, int]:
        """Lower bounds of all costs, and the number of terms that were summed for them."""
        K, N = weights.rank.shape
        if name == "ranks":
            return self.heavy_ranks(weights, self.heavy), self.heavy * N * N
        A = _weights32(weights, self.n_jobs)
        if name == "product":
            return dense_product(A, self.D, self.n_jobs), K * N * N
        if self.low_rank is None:
            self.low_rank = LowRank(self.D, self.n_jobs)
        return self.low_rank(A), 3 * K * N * LowRank.RANK

    def heavy_ranks(self, weights: RankWeights, heavy: int) -> Bounded:
        """Each prototype's points of its `heavy` smallest ranks; leaving the others out only lowers the sum."""
        if heavy == 1 and self._narrow is not None and self._narrow[0] is weights.rank:
            return replace(
                self._narrow[1], L=self._narrow[1].L.copy()
            )  # the nearest points have weight 1 whatever sigma is
        entries = _rank_entries(
            weights.rank, weights.smallest + heavy, as_float32(weights.levels[1]), weights.m.astype(np.float32)
        )
        bounds = sparse_product(Entries(*entries), self.D, self.n_jobs)
        # The value is itself a rounded product of weight and multiplicity.
        bounds = Bounded(bounds.L, bounds.relative + 2 * UNIT, bounds.absolute)
        if heavy == 1:  # a copy: placing strikes out candidates in its own
            self._narrow = (weights.rank, replace(bounds, L=bounds.L.copy()))
        return bounds


@njit(cache=True, nogil=True)
def _rank_entries(rank, top, values, m):  # type: ignore[no-untyped-def]
    """(starts, index, value): for each prototype the points with rank < top[j], weighing values[j, rank] m."""
    K, N = rank.shape
    starts = np.zeros(K + 1, np.intp)
    for j in range(K):
        n = 0
        for i in range(N):
            n += rank[j, i] < top[j]
        starts[j + 1] = starts[j] + n
    index = np.empty(starts[K], np.intp)
    value = np.empty(starts[K], np.float32)
    for j in range(K):
        t = starts[j]
        for i in range(N):
            if rank[j, i] < top[j]:
                index[t] = i
                value[t] = values[j, rank[j, i]] * m[i]
                t += 1
    return starts, index, value


def _weights32(weights: RankWeights, n_jobs: int | None) -> NDArray[np.float32]:
    """A (K, N) in float32, what is too small set to zero."""
    K, N = weights.rank.shape
    A = np.empty((K, N), np.float32)
    values, m = as_float32(weights.levels[1]), weights.m.astype(np.float32)
    run_chunks(lambda js: _look_up(weights.rank[js], values[js], m, A[js]), list(panels(K, 32)), n_jobs)
    return A


@njit(cache=True, nogil=True)
def _look_up(rank, values, m, A):  # type: ignore[no-untyped-def]
    for j in range(rank.shape[0]):
        for i in range(rank.shape[1]):
            A[j, i] = values[j, rank[j, i]] * m[i]
