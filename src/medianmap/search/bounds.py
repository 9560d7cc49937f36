"""Branch and bound over receptive fields, on block sums: `bound-self`, `bound-all`, `bound-all-stop` (K-means, SOM).

The candidates of field m share the lower bound  eta(m, j) = sum over k in Theta of H[j, k] min_{l in field m} S[k, l]
of their costs, since no term is negative: a field whose bound exceeds a known cost holds no better candidate.

| name | Theta | bounds cost |
| --- | --- | --- |
| bound-self | {j} | O(K^2) |
| bound-all | all fields | O(K^3), tighter |
| bound-all-stop | all fields, and a candidate's sum is stopped at its largest weights if these exceed a known cost | |
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source
from ..weights import FieldWeights
from .blocks import Blocks, block_sums, field_minima, weighted_sum
from .frame import Finder, Search

# Terms of largest weight that bound-all-stop looks at before it sums a candidate in full.
PROBE = 4


@njit(cache=True, nogil=True)
def _search_fields(h, S, order, starts, bounds, probe, taken, slack, tiny, row):  # type: ignore[no-untyped-def]
    """Fill row (N,) with the costs of all candidates that may be best for weights h (F,); returns terms summed.

    A field is passed over if its bound exceeds `limit`, the least cost so far with room for rounding on both sides. The
    field of least bound comes first, so that the limit is low from the start.
    """
    terms = 0
    limit = np.inf
    F = starts.shape[0] - 1
    first = np.argmin(bounds)
    for step in range(F):
        m = first if step == 0 else (step if step > first else step - 1)
        if bounds[m] > limit:
            continue
        for p in range(starts[m], starts[m + 1]):
            l = order[p]
            if taken[l]:
                continue
            if probe.shape[0] > 0:
                s = 0.0
                for k in probe:
                    s += h[k] * S[p, k]
                terms += probe.shape[0]
                if s > limit:
                    continue
            c = weighted_sum(h, S[p])
            terms += F
            row[l] = c
            limit = min(limit, c * (1 + 3 * slack) + 3 * tiny)
    return terms


class BoundedFinder(Finder):
    """Branch and bound, one prototype at a time.

    Exact: a candidate is left out only if a lower bound of its cost exceeds the cost of another, both up to rounding:
    sums of the same kind of terms as the canonical ones, with three times the frame's slack between them.
    """

    def __init__(self, weights: FieldWeights, source: Source, blocks: Blocks, theta: str, stop: bool) -> None:
        super().__init__(weights.row, source)
        self.blocks = blocks
        self.minima = field_minima(blocks.S, blocks.starts)
        self.theta = theta
        self.stop = stop
        N, F = blocks.S.shape
        self.terms = N * N + N * F

    def bounds(self, j: int) -> FloatArray:
        """eta(m, j) for every field m, (F,)."""
        blocks = self.blocks
        if self.theta == "all":
            self.terms += self.minima.size
            return self.minima @ blocks.H[j]
        own = blocks.own[j]
        if own < 0:
            return np.zeros(len(self.minima))
        self.terms += len(self.minima)
        return self.minima[:, own] * blocks.H[j, own]

    def costs(self, j: int, taken: NDArray[np.bool_] | None) -> FloatArray:
        blocks = self.blocks
        n = len(blocks.order)
        row = np.full(n, np.inf)
        h = blocks.H[j]
        probe = np.argsort(-h, kind="stable")[:PROBE] if self.stop and len(h) > 4 * PROBE else np.zeros(0, np.intp)
        taken = np.zeros(n, bool) if taken is None else taken
        self.terms += _search_fields(
            h, blocks.S, blocks.order, blocks.starts, self.bounds(j), probe, taken, self.slack, self.tiny, row
        )
        return row


def _bounded(source: Source, n_jobs: int | None = None, *, theta: str, stop: bool) -> Search:
    def epoch(weights: FieldWeights, w: IntArray) -> BoundedFinder:
        return BoundedFinder(weights, source, block_sums(source, weights), theta, stop)

    return epoch


bound_self = partial(_bounded, theta="self", stop=False)
bound_all = partial(_bounded, theta="all", stop=False)
bound_all_stop = partial(_bounded, theta="all", stop=True)
