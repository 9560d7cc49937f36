"""`stop` (NG): early stopping with terms and candidates in natural order, a check after every term."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source, candidate_rows
from .frame import Search
from .stops import StoppingFinder, stop_natural
from .weights import RankWeights


class Stop(StoppingFinder):
    def candidates(self, j: int) -> IntArray:
        """The order in which candidates are tried, (N,)."""
        return np.arange(len(self.X))

    def fill(self, j: int, taken: NDArray[np.bool_], row: FloatArray) -> int:
        return stop_natural(self.row(j), self.X, self.candidates(j), taken, self.slack, self.tiny, row)


def stop(source: Source, n_jobs: int | None = None) -> Search:
    """Early stopping in natural order; the proof is StoppingFinder's."""
    X = candidate_rows(source)

    def epoch(weights: RankWeights, w: IntArray) -> Stop:
        return Stop(weights, w, source, X)

    return epoch
