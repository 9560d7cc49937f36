"""`certified` (all maps, the default): float32 screens discard nearly all candidates, the canonical cost decides.

K-means and SOM: block sums are kept from epoch to epoch; only points that changed their field are subtracted and added.
Neural gas: a fixed low-rank approximation of D while weights are broad, block sums and that approximation of what they
leave, the heaviest ranks alone once weights are narrow, and the float32 product A @ D where none of these pays. The
choice among them follows from the work that each would do and from how many candidates it left over last time; the
result does not depend on it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources import ALL, Source, panels
from ..sources.base import FloatArray, IntArray, candidate_rows, point_rows, rows_fit
from ..utils.threads import run_chunks
from . import screens
from .exhaustive import product_costs
from .field_sums import FieldSums
from .frame import FieldWeights, Finder, Search, SoftWeights, Weights
from .placing import best_free, count_survivors, settle_distinct
from .rank_screen import RankScreen
from .screens import Bounded, Choice, as_float32

# How many prototypes a screen is judged by, and the screens that need no judging: they leave out nothing.
SAMPLE = 24
EXACT_BUT_FOR_ROUNDING = ("dense", "product")
# So many bounds are looked through sooner than they are handed to another thread.
SMALL = 2**15


class CertifiedFinder(Finder):
    """Lower bounds for all pairs, and compiled placing where candidates are rows of a matrix in memory.

    upper (K,) : at least the costs of the places that the prototypes have now, infinite where nothing is known.
    """

    def __init__(
        self, weights: Weights, source: Source, bounds: Bounded, X: NDArray[Any] | None, terms: int, n_jobs: int | None,
        upper: FloatArray | None = None,
    ) -> None:  # fmt: skip
        super().__init__(weights.row, source)
        self.weights, self.bounds, self.X, self.terms, self.n_jobs = weights, bounds, X, terms, n_jobs
        self.upper = upper
        self.evaluated = 0  # candidates that were evaluated canonically
        self.placed: tuple[IntArray, FloatArray] | None = None  # where they are now, upper bounds of their costs

    def costs(self, j: int, taken: NDArray[np.bool_]) -> FloatArray:
        row = self.bounds.L[j] * (1 - self.bounds.relative) - self.bounds.absolute[j]
        return np.where(taken, np.inf, np.maximum(row, 0.0))

    @property
    def _known(self) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
        """What the compiled functions are given."""
        bounds, weights = self.bounds, self.weights
        return bounds.L, 1 - bounds.relative, bounds.absolute, *weights.levels, weights.m, self.X

    def expected_survivors(self, alive: IntArray) -> float:
        """How many candidates placing will evaluate, judged by a few prototypes."""
        some = alive[:: max(1, len(alive) // SAMPLE)]
        return count_survivors(some, *self._known) / max(1, len(some)) * len(alive)

    def still_at_most(self, weights: Weights, w: IntArray) -> FloatArray | None:
        """Upper bounds of the costs of w under the next epoch's weights, if this epoch's costs are such.

        They are where neither prototypes nor ranks or fields changed and no weight rose: a sum in a fixed order falls
        with its terms, rounding included.
        """
        if self.placed is None or weights.m is not self.weights.m or not np.array_equal(w, self.placed[0]):
            return None
        (levels, values), (levels_before, values_before) = weights.levels, self.weights.levels
        same = levels is levels_before or (len(levels) == 1 and np.array_equal(levels, levels_before))
        return self.placed[1] if same and np.all(values <= values_before) else None

    def evaluate(self, j: int, candidates: IntArray) -> FloatArray:
        self.evaluated += len(candidates)
        return super().evaluate(j, candidates)

    def place(self, alive: IntArray, w: IntArray, distinct: bool) -> IntArray:
        if self.X is None:
            return super().place(alive, w, distinct)
        best, cost, known = w.copy(), np.full(len(w), np.inf), self._known
        upper = cost.copy() if self.upper is None else self.upper
        size = max(16, SMALL // self.source.shape[0])
        parts = list(panels(len(alive), size))
        counts = np.zeros(len(parts), np.int64)

        def work(part: slice) -> None:
            counts[part.start // size] = best_free(alive[part], w, distinct, upper, *known, best, cost)

        run_chunks(work, parts, self.n_jobs)
        self.evaluated += int(counts.sum())
        if distinct:
            after = w.copy()
            self.evaluated += settle_distinct(alive, best, cost, after, *known)
        else:
            after = best
        self.terms += self.evaluated * self.source.shape[0]
        self.placed = after, cost
        return after


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
    ranks = None if X is None or D is None else RankScreen(D, fields.sums, n_jobs)
    last: list[tuple[str, CertifiedFinder]] = []

    def epoch(weights: Weights, w: IntArray) -> Finder:
        screen: Any = None  # soft weights have no structure that a screen could use
        if not isinstance(weights, SoftWeights):
            screen = fields if isinstance(weights, FieldWeights) else ranks
        if screen is None:
            return product_costs(weights.A, source)
        choice = screen.choice
        choice.next_epoch()
        upper, before = None, ""
        if last:
            before, finder = last.pop()
            choice.left[before] = float(finder.evaluated)
            upper = finder.still_at_most(weights, w)
        N = source.shape[0]
        work, terms = screen.options(weights), 0
        if X is None:  # a candidate left over costs N evaluations of the metric: bounds as tight as can be
            work = {"dense": work["dense"]}
        while True:
            name = choice.best(work, N)
            bounds, summed = screen.bounds(name, weights)
            terms += summed
            finder = CertifiedFinder(weights, source, bounds, X, terms, n_jobs, upper)
            if name in EXACT_BUT_FOR_ROUNDING or name == before:
                break
            # Counted, not trusted: a screen that would leave too many candidates gives way to the next best. One that
            # was used in the last epoch was counted there.
            choice.left[name] = finder.expected_survivors(weights.alive)
            if choice.best(work, N) == name:
                break
        last.append((name, finder))
        return finder

    return epoch


# --- the screen of K-means and SOM; that of neural gas is in rank_screen.py -------------------------------------------


class FieldScreen:
    """L = H @ S from the block sums S[k, l] = sum over i in field k of m_i D[i, l], which are kept up to date."""

    def __init__(self, source: Source, n_jobs: int | None, D: NDArray[Any] | None = None) -> None:
        self.sums = FieldSums(source.shape[0], D, lambda points: source.block(points, ALL), n_jobs)
        self.n_jobs = n_jobs
        self.choice = Choice({"sparse": 0.7})

    def options(self, weights: FieldWeights) -> dict[str, float]:
        """Bring the block sums up to date; the work of each kind of bounds from them."""
        self.rows_summed = self.sums.follow(weights.winner, weights.m, len(weights.H))
        self.H = as_float32(weights.of_fields)
        return screens.product_work(self.H, self.sums.n)

    def bounds(self, name: str, weights: FieldWeights) -> tuple[Bounded, int]:
        """Lower bounds of all costs, and the number of terms that were summed for them."""
        fields, N = weights.fields, self.sums.n
        S = self.sums.single(fields)
        bounds = screens.weight_product(name, self.H, S, self.n_jobs)
        # Twice the error: once for S, once for what rounding makes of it.
        absolute = bounds.absolute + 2 * (weights.of_fields @ self.sums.error[fields])
        return replace(bounds, absolute=absolute), self.rows_summed * N + self.H.size * N
