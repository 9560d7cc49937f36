"""`stop-candidates` (NG): early stopping, candidates of the own receptive field first, then by prototype dissimilarity.

A good candidate early makes the limit low, so that the sums of the others are broken off sooner.
"""

from __future__ import annotations

import numpy as np

from ..sources.base import IntArray, Source, candidate_rows
from .frame import Search
from .stop import Stop
from .weights import RankWeights


class StopCandidates(Stop):
    def candidates(self, j: int) -> IntArray:
        """Points grouped by their winner: those of j first, then by the dissimilarity of the winners to w_j."""
        winner = self.weights.rank.argmin(axis=0)
        to_j = self.X[self.w[j], self.w].astype(np.float64)
        to_j[j] = -1.0
        place = np.empty(len(self.w), np.intp)
        place[np.argsort(to_j, kind="stable")] = np.arange(len(self.w))
        return np.argsort(place[winner], kind="stable")


def stop_candidates(source: Source, n_jobs: int | None = None) -> Search:
    """Early stopping with ordered candidates; the proof is StoppingFinder's."""
    X = candidate_rows(source)

    def epoch(weights: RankWeights, w: IntArray) -> StopCandidates:
        return StopCandidates(weights, w, source, X)

    return epoch
