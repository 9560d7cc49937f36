"""`certified` (all maps, the default): float32 screens discard nearly all candidates, the canonical cost decides.

K-means and SOM: block sums are kept from epoch to epoch; only points that changed their field are subtracted and added.
Neural gas: a fixed low-rank approximation of D while weights are broad, the heaviest ranks alone once they are narrow,
and the float32 product A @ D where neither pays. The choice among them follows from the work that each would do and
from how many candidates it left over last time; the result does not depend on it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources import ALL, Source, panels
from ..sources.base import FloatArray, IntArray, candidate_rows, point_rows, rows_fit
from ..utils.kernels import kernel
from ..utils.threads import run_chunks
from . import screens
from .exhaustive import product_costs
from .field_sums import FieldSums
from .frame import FieldWeights, Finder, RankWeights, Search, Weights, best_alone, count_survivors, settle_distinct
from .lowrank import LowRank
from .screens import LARGEST, UNIT, Bounded, Choice, as_float32

# How many prototypes a screen is judged by, and the screens that need no judging: they leave out nothing.
SAMPLE = 8
EXACT_BUT_FOR_ROUNDING = ("dense", "product")
# Ranks that the sparse screen leaves out weigh less than this; rows of D come from further than those of block sums.
LIGHT = 0.08
ROW_COST = 9.0
# A low-rank approximation does not pay for fewer points or prototypes.
SMALLEST_LOW_RANK = (1000, 20)


class CertifiedFinder(Finder):
    """Lower bounds for all pairs, and compiled placing where candidates are rows of a matrix in memory."""

    def __init__(
        self, weights: Weights, source: Source, bounds: Bounded, X: NDArray[Any] | None, terms: int, n_jobs: int | None
    ) -> None:
        super().__init__(weights.row, source)
        self.weights, self.bounds, self.X, self.terms, self.n_jobs = weights, bounds, X, terms, n_jobs
        self.evaluated = 0  # candidates that were evaluated canonically

    def costs(self, j: int, taken: NDArray[np.bool_]) -> FloatArray:
        row = self.bounds.L[j] * (1 - self.bounds.relative) - self.bounds.absolute[j]
        return np.where(taken, np.inf, np.maximum(row, 0.0))

    @property
    def _known(self) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
        """What the compiled functions of the frame are given."""
        bounds, weights = self.bounds, self.weights
        return bounds.L, 1 - bounds.relative, bounds.absolute, *weights.levels, weights.m, self.X

    def expected_survivors(self, alive: IntArray) -> float:
        """How many candidates placing will evaluate, judged by a few prototypes."""
        some = alive[:: max(1, len(alive) // SAMPLE)]
        return count_survivors(some, *self._known) / max(1, len(some)) * len(alive)

    def evaluate(self, j: int, candidates: IntArray) -> FloatArray:
        self.evaluated += len(candidates)
        return super().evaluate(j, candidates)

    def place(self, alive: IntArray, w: IntArray, distinct: bool) -> IntArray:
        if self.X is None:
            return super().place(alive, w, distinct)
        w, best, known = w.copy(), w.copy(), self._known
        counts = np.zeros(len(alive) // 16 + 1, np.int64)

        def work(part: slice) -> None:
            counts[part.start // 16] = best_alone(part.start, part.stop, alive, *known, best)

        run_chunks(work, list(panels(len(alive), 16)), self.n_jobs)
        self.evaluated += int(counts.sum())
        if distinct:
            self.evaluated += settle_distinct(alive, best, w, *known)
        else:
            w[alive] = best[alive]
        self.terms += self.evaluated * self.source.shape[0]
        return w


def certified(source: Source, n_jobs: int | None = None) -> Search:
    """The search for a whole fit; what it learns in one epoch serves the next.

    Where candidates cannot be rows in memory, K-means and SOM still read only the rows of points that changed their
    field and the columns of candidates that are left over; neural gas goes over the whole matrix once per epoch.
    """
    X = candidate_rows(source) if rows_fit(source) else None
    D = point_rows(source)
    if D is None and X is not None:
        D = X if source.symmetric else np.ascontiguousarray(X.T)
    fields = FieldScreen(source, n_jobs, D)
    ranks = None if X is None or D is None else RankScreen(D, n_jobs)
    last: list[tuple[str, CertifiedFinder]] = []

    def epoch(weights: Weights, w: IntArray) -> Finder:
        screen: Any = fields if isinstance(weights, FieldWeights) else ranks
        if screen is None:
            return product_costs(weights.A, source)
        choice = screen.choice
        choice.next_epoch()
        if last:
            name, finder = last.pop()
            choice.left[name] = float(finder.evaluated)
        N = source.shape[0]
        work, terms = screen.options(weights), 0
        if fields.sums.largest * float(weights.m.sum()) > LARGEST:
            return product_costs(weights.A, source)  # outside the range of float32
        if X is None:  # a candidate left over costs N evaluations of the metric: bounds as tight as can be
            work = {"dense": work["dense"]}
        while True:
            name = choice.best(work, N)
            bounds, summed = screen.bounds(name, weights)
            terms += summed
            finder = CertifiedFinder(weights, source, bounds, X, terms, n_jobs)
            if name in EXACT_BUT_FOR_ROUNDING:
                break
            # Counted, not trusted: a screen that would leave too many candidates gives way to the next best.
            choice.left[name] = finder.expected_survivors(weights.alive)
            if choice.best(work, N) == name:
                break
        last.append((name, finder))
        return finder

    return epoch


# --- the screen of K-means and SOM ------------------------------------------------------------------------------------


class FieldScreen:
    """L = H @ S from the block sums S[k, l] = sum over i in field k of m_i D[i, l], which are kept up to date."""

    def __init__(self, source: Source, n_jobs: int | None, D: NDArray[Any] | None = None) -> None:
        self.sums = FieldSums(source.shape[0], D, lambda points: source.block(points, ALL), n_jobs)
        self.n_jobs = n_jobs
        self.choice = Choice({"sparse": 0.7})

    def options(self, weights: FieldWeights) -> dict[str, float]:
        """Bring the block sums up to date; the work of each kind of bounds from them."""
        self.rows_summed = self.sums.follow(weights.winner, weights.m, len(weights.H))
        self.H = as_float32(weights.H[:, weights.fields])
        return screens.product_work(self.H, self.sums.n)

    def bounds(self, name: str, weights: FieldWeights) -> tuple[Bounded, int]:
        """Lower bounds of all costs, and the number of terms that were summed for them."""
        fields, N = weights.fields, self.sums.n
        S = self.sums.single(fields)
        bounds = screens.weight_product(name, self.H, S, self.n_jobs)
        # Twice the error: once for S, once for what rounding makes of it.
        absolute = bounds.absolute + 2 * (weights.H[:, fields] @ self.sums.error[fields])
        return replace(bounds, absolute=absolute), self.rows_summed * N + self.H.size * N


# --- the screens of neural gas ----------------------------------------------------------------------------------------


class RankScreen:
    """A low-rank approximation of D, the heaviest ranks alone, or the whole product, and what they keep."""

    def __init__(self, D: NDArray[Any], n_jobs: int | None) -> None:
        self.D = D  # (N, N), one row per data point
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
            return self.heavy_ranks(weights), self.heavy * N * N
        A, values, m = np.empty((K, N), np.float32), as_float32(weights.levels[1]), weights.m.astype(np.float32)
        run_chunks(lambda js: _look_up(weights.rank[js], values[js], m, A[js]), list(panels(K, 32)), self.n_jobs)
        if name == "product":
            return screens.dense_product(A, self.D, self.n_jobs), K * N * N
        if self.low_rank is None:
            self.low_rank = LowRank(self.D, self.n_jobs)
        return self.low_rank(A), 3 * K * N * LowRank.RANK

    def heavy_ranks(self, weights: RankWeights) -> Bounded:
        """Each prototype's points of its `heavy` smallest ranks; leaving the others out only lowers the sum."""
        heavy = self.heavy
        if heavy == 1 and self._narrow is not None and self._narrow[0] is weights.rank:
            # The nearest points have weight 1 whatever sigma is.
            return replace(self._narrow[1], L=self._narrow[1].L.copy())
        values, m = as_float32(weights.levels[1]), weights.m.astype(np.float32)
        entries = _rank_entries(weights.rank, weights.smallest + heavy, values, m)
        bounds = screens.sparse_product(entries, self.D, self.n_jobs)
        # The value is itself a rounded product of weight and multiplicity.
        bounds = replace(bounds, relative=bounds.relative + 2 * UNIT)
        if heavy == 1:  # a copy: placing strikes out candidates in its own
            self._narrow = (weights.rank, replace(bounds, L=bounds.L.copy()))
        return bounds


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
def _look_up(rank, values, m, A):  # type: ignore[no-untyped-def]
    """A[j, i] = values[j, rank[j, i]] m_i in float32."""
    for j in range(rank.shape[0]):
        for i in range(rank.shape[1]):
            A[j, i] = values[j, rank[j, i]] * m[i]
