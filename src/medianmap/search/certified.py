"""`certified` (all maps): float32 screens discard nearly all candidates, the canonical cost decides among the rest.

K-means and SOM: block sums are kept from epoch to epoch; only points that changed their field are subtracted and added.
Neural gas: a static low-rank picture of D while weights are broad, the heaviest ranks alone once they are narrow, and
the float32 product A @ D where neither pays. Which one is chosen from the work that each would do and from how many
candidates it left over last time; the result does not depend on the choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source, candidate_rows, panels, point_rows, rows_fit
from ..utils.threads import run_chunks
from .field_screens import FieldScreen
from .frame import Finder, Search
from .gemm import gemm
from .placing import best_alone, count_survivors, settle_distinct
from .rank_screens import RankScreen
from .screens import LARGEST, Bounded, Choice
from .weights import FieldWeights, Weights

# Prototypes that a screen is judged by, and screens that need no judging: they leave out nothing.
SAMPLE = 8
EXACT_BUT_FOR_ROUNDING = ("dense", "product")


class CertifiedFinder(Finder):
    """Lower bounds for all pairs, and compiled placing where candidates are rows of a matrix in memory."""

    def __init__(
        self, weights: Weights, source: Source, bounds: Bounded, X: NDArray[Any] | None, terms: int, n_jobs: int | None
    ) -> None:
        super().__init__(weights.row, source)
        self.weights = weights
        self.bounds = bounds
        self.X = X
        self.terms = terms
        self.n_jobs = n_jobs
        self.evaluated = 0  # candidates that were evaluated canonically

    def costs(self, j: int, taken: NDArray[np.bool_] | None) -> FloatArray:
        row = self.bounds.L[j] * (1 - self.bounds.relative) - self.bounds.absolute[j]
        row = np.maximum(row, 0.0)
        return row if taken is None else np.where(taken, np.inf, row)

    def expected_survivors(self, alive: IntArray) -> float:
        """How many candidates placing will evaluate, judged by a few prototypes."""
        some = alive[:: max(1, len(alive) // SAMPLE)]
        levels, values = self.weights.levels
        args = (self.bounds.L, 1 - self.bounds.relative, self.bounds.absolute, levels, values, self.weights.m, self.X)
        return count_survivors(some, *args) / max(1, len(some)) * len(alive)

    def evaluate(self, j: int, candidates: IntArray) -> FloatArray:
        self.evaluated += len(candidates)
        return super().evaluate(j, candidates)

    def place(self, alive: IntArray, w: IntArray, distinct: bool) -> IntArray:
        if self.X is None:
            return super().place(alive, w, distinct)
        w = w.copy()
        best = w.copy()
        levels, values = self.weights.levels
        factor = 1 - self.bounds.relative
        rest = (self.bounds.L, factor, self.bounds.absolute, levels, values, self.weights.m, self.X)
        counts = np.zeros(len(alive) // 16 + 1, np.int64)

        def work(part: slice) -> None:
            counts[part.start // 16] = best_alone(part.start, part.stop, alive, *rest, best)

        run_chunks(work, list(panels(len(alive), 16)), self.n_jobs)
        self.evaluated += int(counts.sum())
        if distinct:
            self.evaluated += settle_distinct(alive, best, w, *rest)
        else:
            w[alive] = best[alive]
        self.terms += self.evaluated * self.source.shape[0]
        return w


def certified(source: Source, n_jobs: int | None = None) -> Search:
    """The search for a whole fit; what it learns in one epoch serves the next.

    Where candidates cannot be rows in memory, K-means and SOM still read only the rows of points that changed their
    field and the columns of candidates that are left over; neural gas goes over the whole matrix once an epoch.
    """
    plain = gemm(source, n_jobs)
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
            return plain(weights, w)
        choice: Choice = screen.choice
        choice.next_epoch()
        if last:
            name, finder = last.pop()
            choice.left[name] = float(finder.evaluated)
        N = source.shape[0]
        work, terms = screen.options(weights), 0
        if fields.largest * float(weights.m.sum()) > LARGEST:
            return plain(weights, w)  # outside the range of float32
        if X is None:  # a candidate left over costs N evaluations of the metric: bounds as tight as can be
            work = {"dense": work["dense"]}
        while True:
            name = choice.best(work, N)
            bounds, summed = screen.bounds(name, weights)
            terms += summed
            finder = CertifiedFinder(weights, source, bounds, X, terms, n_jobs)
            if name in EXACT_BUT_FOR_ROUNDING:
                break
            # By counting, not by faith: a screen that would leave too much over gives way to the next best.
            choice.left[name] = finder.expected_survivors(weights.alive)
            if choice.best(work, N) == name:
                break
        last.append((name, finder))
        return finder

    return epoch
