"""`bound-all-stop` (K-means, SOM): bound-all, and a candidate is dropped if its heaviest terms alone cost too much.

The terms of the largest H[j, k] are part of a sum without negative terms: if they exceed a known cost, so does the sum.
"""

from __future__ import annotations

import numpy as np

from ..sources.base import IntArray, Source
from .bound_all import BoundAll
from .bounds import NO_PROBE
from .frame import Search
from .weights import FieldWeights

# Terms that are looked at before a candidate is summed in full; with fewer than four times as many it does not pay.
PROBE = 4


class BoundAllStop(BoundAll):
    def probe(self, j: int) -> IntArray:
        h = self.blocks.H[j]
        return np.argsort(-h, kind="stable")[:PROBE] if len(h) > 4 * PROBE else NO_PROBE


def bound_all_stop(source: Source, n_jobs: int | None = None) -> Search:
    """Branch and bound with Theta = {1 .. K} and early stopping; the proof is BoundedFinder's."""

    def epoch(weights: FieldWeights, w: object) -> BoundAllStop:
        return BoundAllStop(weights, source)

    return epoch
