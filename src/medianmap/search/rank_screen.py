"""The screens of neural gas: cheap lower bounds of sum_i A[j, i] D[i, l], where A[j, i] depends on the rank of j for i.

Points of one receptive field see the prototypes in similar orders. With alpha[j, k] the mean weight of field k for j,

    sum_i A[j, i] D[i, l] = sum_k alpha[j, k] S[k, l] + sum_i (A[j, i] - alpha[j, winner of i] m_i) D[i, l],

S being block sums, which hardly change late in an annealing, when hardly a prototype moves. What is left in the second
sum is small, and a low-rank approximation of D bounds it. Besides there are the low-rank approximation alone, for broad
weights, the points of smallest rank alone, for narrow ones, and the whole product.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import panels
from ..utils.kernels import kernel
from ..utils.threads import run_chunks
from . import screens
from .field_sums import FieldSums
from .frame import RankWeights
from .lowrank import LowRank
from .screens import F32, SMALLEST, UNIT, Bounded, Choice, as_float32

# Ranks that the screen of smallest ranks leaves out weigh less than this; its work per term, since it reads rows of D
# from memory, where block sums lie in the caches.
LIGHT = 0.08
ROW_COST = 5.5
# Mean weights of fields below this stay with the remainder, where that saves time.
LIGHT_FIELD = 0.05
# Work of the low-rank screen per weight and dimension, and of what else looks at every weight, as in screens.py.
LOW_RANK_COST, WEIGHT_COST = 4.0, 100.0
# Inverses of lighter fields are more than float32 holds.
FAINT = 1e-30
# A low-rank approximation does not pay for fewer points or prototypes.
SMALLEST_LOW_RANK = (1000, 20)


class RankScreen:
    """Each screen by its name, and what they keep from epoch to epoch."""

    def __init__(self, D: NDArray[Any], sums: FieldSums, n_jobs: int | None) -> None:
        self.D, self.sums = D, sums  # (N, N), one row per data point; its block sums
        self.n_jobs = n_jobs
        self.low_rank: LowRank | None = None
        self.choice = Choice({"ranks": 0.7, "low rank": 1.1})
        self._narrow: tuple[Any, Bounded] | None = None

    def options(self, weights: RankWeights) -> dict[str, float]:
        """The work of each screen."""
        K, N = weights.rank.shape
        self.heavy = int(np.count_nonzero(weights.weight_of_rank >= LIGHT))
        ranks = 0.0 if self._remembered(weights) is not None else (ROW_COST * self.heavy * N + WEIGHT_COST * K) * N
        work = {"product": float(K * N * N), "ranks": ranks}
        if N >= SMALLEST_LOW_RANK[0] and K >= SMALLEST_LOW_RANK[1]:
            near = 1.5 * np.count_nonzero(weights.weight_of_rank >= LIGHT_FIELD)
            work["low rank"] = (LOW_RANK_COST * LowRank.RANK + WEIGHT_COST) * K * N
            work["fields"] = work["low rank"] + (WEIGHT_COST + min(K, screens.SPARSE_COST * near)) * K * N
        return work

    def bounds(self, name: str, weights: RankWeights) -> tuple[Bounded, int]:
        """Lower bounds of all costs, and the number of terms that were summed for them."""
        bounds, terms = self._bounds(name, weights)
        # What float32 loses of weights next to nothing, or leaves out, times their dissimilarities.
        lost = 2 * len(weights.m) * SMALLEST * self.sums.largest
        return replace(bounds, absolute=bounds.absolute + lost), terms

    def _bounds(self, name: str, weights: RankWeights) -> tuple[Bounded, int]:
        """The same without what is lost of weights that float32 does not hold."""
        K, N = weights.rank.shape
        if name == "ranks":
            return self.heavy_ranks(weights), self.heavy * N * N
        A, values, m = np.empty((K, N), np.float32), as_float32(weights.levels[1]), as_float32(weights.m)
        parts = list(panels(K, 32))
        if name == "product":
            run_chunks(lambda js: weights_by_table(weights.rank[js], values[js], m, A[js]), parts, self.n_jobs)
            return screens.dense_product(A, self.D, self.n_jobs), K * N * N
        if self.low_rank is None:
            self.low_rank = LowRank(self.D, self.n_jobs)
        order, field = self.low_rank.order, np.zeros(N, np.intp)
        alpha, base, terms = np.zeros((K, 1), np.float32), None, 3 * K * N * LowRank.RANK
        if name == "fields":
            field = weights.winner
            alpha, base, more = self.field_means(weights, values, m)
            terms += more
        given = order, m[order], field[order]
        run_chunks(lambda js: _remainder(weights.rank[js], values[js], alpha[js], *given, A[js]), parts, self.n_jobs)
        return self.low_rank(A, base), terms

    def field_means(self, weights: RankWeights, values: F32, m: F32) -> tuple[F32, Bounded, int]:
        """alpha (K, K), bounds of alpha @ S, and the number of terms that were summed for them.

        Any alpha will do. In float32, what is subtracted from a weight and what is left of it add up to it but for
        4 UNIT of both; LowRank allows for that.
        """
        K, N = weights.rank.shape
        winner, alpha = weights.winner, np.empty((K, K), np.float32)
        rows = self.sums.follow(winner, weights.m, K)
        mass = np.bincount(winner, weights.m, K)
        share = np.divide(1.0, mass, out=np.zeros(K), where=mass > FAINT).astype(np.float32)
        run_chunks(
            lambda js: _means(weights.rank[js], values[js], m, winner, share, alpha[js]),
            list(panels(K, 32)), self.n_jobs,
        )  # fmt: skip
        heavy = alpha >= LIGHT_FIELD
        name = "dense"
        if screens.SPARSE_COST * np.count_nonzero(heavy) < alpha.size:
            alpha, name = np.where(heavy, alpha, np.float32(0)), "sparse"
        base = screens.weight_product(name, alpha, self.sums.S32, self.n_jobs)
        # Twice the error: once for S, once for what rounding makes of it.
        base = replace(base, absolute=base.absolute + 2 * (alpha @ self.sums.error))
        return alpha, base, (rows + np.count_nonzero(alpha)) * N

    def heavy_ranks(self, weights: RankWeights) -> Bounded:
        """Each prototype's points of its `heavy` smallest ranks; leaving the others out only lowers the sum."""
        known = self._remembered(weights)
        if known is not None:
            return known
        values, m = as_float32(weights.levels[1]), as_float32(weights.m)
        entries = _rank_entries(weights.rank, weights.smallest + self.heavy, values, m)
        bounds = screens.sparse_product(entries, self.D, self.n_jobs)
        # The value is itself a rounded product of weight and multiplicity.
        bounds = replace(bounds, relative=bounds.relative + 2 * UNIT)
        self._narrow = (weights.rank, bounds) if self.heavy == 1 else None
        return bounds

    def _remembered(self, weights: RankWeights) -> Bounded | None:
        """The bounds from the nearest points alone, which have weight 1 whatever sigma is."""
        if self._narrow is None or self.heavy > 1 or self._narrow[0] is not weights.rank:
            return None
        return self._narrow[1]


@kernel
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


@kernel
def weights_by_table(rank, values, m, A):  # type: ignore[no-untyped-def]
    """A[j, i] = values[j, rank[j, i]] m_i in float32."""
    for j in range(rank.shape[0]):
        for i in range(rank.shape[1]):
            A[j, i] = values[j, rank[j, i]] * m[i]


@kernel
def _means(rank, values, m, field, share, alpha):  # type: ignore[no-untyped-def]
    """alpha[j, k] = mean over the points of field k of values[j, rank[j, i]], point i counting m_i; about."""
    for j in range(rank.shape[0]):
        sums = alpha[j]
        sums[:] = np.float32(0)
        for i in range(rank.shape[1]):
            sums[field[i]] += values[j, rank[j, i]] * m[i]
        for k in range(sums.shape[0]):
            sums[k] *= share[k]
            if sums[k] < SMALLEST:
                sums[k] = np.float32(0)


@kernel
def _remainder(rank, values, alpha, order, m, field, A):  # type: ignore[no-untyped-def]
    """A[j, t] = (values[j, rank[j, i]] - alpha[j, field]) m for the points i = order[t]; m and field in that order."""
    for j in range(rank.shape[0]):
        for t in range(order.shape[0]):
            A[j, t] = (values[j, rank[j, order[t]]] - alpha[j, field[t]]) * m[t]
