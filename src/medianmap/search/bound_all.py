"""`bound-all` (K-means, SOM): block sums, and fields bounded by all terms, Theta = {1 .. K}: O(K^3), tighter.

eta(m, j) = sum_k H[j, k] min_{l in field m} S[k, l]: the minimum of a sum is at least the sum of the minima.
"""

from __future__ import annotations

from ..sources.base import FloatArray, Source
from .bounds import BoundedFinder
from .frame import Search
from .weights import FieldWeights


class BoundAll(BoundedFinder):
    def bounds(self, j: int) -> FloatArray:
        self.terms += self.minima.size
        return self.minima @ self.blocks.H[j]


def bound_all(source: Source, n_jobs: int | None = None) -> Search:
    """Branch and bound with Theta = {1 .. K}; the proof is BoundedFinder's."""

    def epoch(weights: FieldWeights, w: object) -> BoundAll:
        return BoundAll(weights, source)

    return epoch
