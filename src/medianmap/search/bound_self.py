"""`bound-self` (K-means, SOM): block sums, and fields bounded by one term, Theta = {j}: O(K^2) for all bounds.

eta(m, j) = H[j, j] min_{l in field m} S[j, l]. A conservative bound that grows sharp as sigma falls and H nears the
identity. A prototype without points has no such term, and its bound is 0: then nothing is passed over.
"""

from __future__ import annotations

import numpy as np

from ..sources.base import FloatArray, Source
from .bounds import BoundedFinder
from .frame import Search
from .weights import FieldWeights


class BoundSelf(BoundedFinder):
    def bounds(self, j: int) -> FloatArray:
        own = self.blocks.own[j]
        if own < 0:
            return np.zeros(len(self.minima))
        self.terms += len(self.minima)
        return self.minima[:, own] * self.blocks.H[j, own]


def bound_self(source: Source, n_jobs: int | None = None) -> Search:
    """Branch and bound with Theta = {j}; the proof is BoundedFinder's."""

    def epoch(weights: FieldWeights, w: object) -> BoundSelf:
        return BoundSelf(weights, source)

    return epoch
