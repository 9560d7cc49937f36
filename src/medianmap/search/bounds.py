"""Branch and bound over receptive fields on block sums (K-means, SOM): `bound-self`, `bound-all`, `bound-all-stop`.

The candidates of field m share a lower bound of their costs,

    eta(m, j) = sum over k in Theta of H[j, k] min_{l in field m} S[k, l],

since no term is negative: a field whose bound exceeds a known cost holds no better candidate. The strategies differ in
Theta, and in whether single candidates are dropped early too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source
from ..utils.kernels import kernel
from .blocksum import block_sums, field_minima, weighted_sum
from .frame import FieldWeights, Finder, Search

NO_PROBE = np.zeros(0, np.intp)
# Terms that are looked at before a candidate is summed in full; with fewer than four times as many it does not pay.
PROBE = 4


@kernel
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

    def __init__(self, weights: FieldWeights, source: Source) -> None:
        super().__init__(weights.row, source)
        self.blocks = block_sums(source, weights)
        self.minima = field_minima(self.blocks.S, self.blocks.starts)
        N, F = self.blocks.S.shape
        self.terms = N * N + N * F

    @abstractmethod
    def bounds(self, j: int) -> FloatArray:
        """eta(m, j) for every field m, (F,)."""

    def probe(self, j: int) -> IntArray:
        """Fields whose terms are summed first, to drop a candidate early; none by default."""
        return NO_PROBE

    def costs(self, j: int, taken: NDArray[np.bool_]) -> FloatArray:
        blocks, row = self.blocks, np.full(len(taken), np.inf)
        self.terms += _search_fields(
            blocks.H[j], blocks.S, blocks.order, blocks.starts, self.bounds(j), self.probe(j), taken,
            self.slack, self.tiny, row,
        )  # fmt: skip
        return row


class BoundSelf(BoundedFinder):
    """Theta = {j}: eta(m, j) = H[j, j] min_{l in field m} S[j, l], O(K^2) for all bounds.

    A conservative bound that grows sharp as sigma falls and H nears the identity. A prototype without points has no
    such term, and its bound is 0: then no field is passed over.
    """

    def bounds(self, j: int) -> FloatArray:
        own = self.blocks.own[j]
        if own < 0:
            return np.zeros(len(self.minima))
        self.terms += len(self.minima)
        return self.minima[:, own] * self.blocks.H[j, own]


class BoundAll(BoundedFinder):
    """Theta = {1 .. K}, O(K^3) for all bounds, tighter: the minimum of a sum is at least the sum of the minima."""

    def bounds(self, j: int) -> FloatArray:
        self.terms += self.minima.size
        return self.minima @ self.blocks.H[j]


class BoundAllStop(BoundAll):
    """BoundAll, and a candidate is dropped if its heaviest terms alone cost too much.

    The terms of the largest H[j, k] are part of a sum without negative terms: if they exceed a known cost, so does the
    sum.
    """

    def probe(self, j: int) -> IntArray:
        h = self.blocks.H[j]
        return np.argsort(-h, kind="stable")[:PROBE] if len(h) > 4 * PROBE else NO_PROBE


def bounded_by(finder: type[BoundedFinder]) -> Callable[[Source, int | None], Search]:
    """The strategy that searches every epoch with such a finder; the proof is BoundedFinder's."""
    return lambda source, n_jobs: lambda weights, w: finder(weights, source)
