"""The weights A (K, N) of every point for every prototype, kept as the factors that fast searches need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray


@dataclass(frozen=True)
class FieldWeights:
    """A[j, i] = H[j, winner[i]] m_i: the weight depends on i only through its receptive field (K-means, SOM)."""

    H: FloatArray  # (K, K), row = prototype, column = field
    winner: IntArray  # (N,)
    m: FloatArray  # (N,)

    @cached_property
    def A(self) -> FloatArray:
        # np.take, not H[:, winner]: that would lay the points of a prototype far apart in memory.
        return np.take(self.H, self.winner, axis=1) * self.m

    def row(self, j: int) -> FloatArray:
        """A[j] (N,)."""
        return self.H[j][self.winner] * self.m

    @cached_property
    def levels(self) -> tuple[NDArray[np.integer], FloatArray]:
        """(levels (1, N), values (K, K)) with A[j, i] = values[j, levels[0, i]] m_i."""
        return self.winner[None], self.H

    @cached_property
    def fields(self) -> IntArray:
        """Fields that have points, ascending."""
        return np.flatnonzero(np.bincount(self.winner, minlength=len(self.H)))

    @cached_property
    def alive(self) -> IntArray:
        """Prototypes with any weight at all, ascending; the others stay where they are."""
        return np.flatnonzero(self.H[:, self.fields].any(axis=1))


@dataclass(frozen=True)
class RankWeights:
    """A[j, i] = h(rank[j, i]) / h(smallest_j) m_i: every prototype has some weight (neural gas).

    For h(t) = exp(-t / sigma) the quotient is h(rank - smallest), a shift of one table; any other h needs one table per
    smallest rank, `scaled`.
    """

    rank: NDArray[np.int32]  # (K, N), 0 is the nearest
    weight_of_rank: FloatArray  # (K,) = h(0), h(1), ...
    m: FloatArray  # (N,)
    scaled: Callable[[NDArray[np.integer]], FloatArray] | None = None  # s (n, 1) -> h(r) / h(s), r < K, (n, K)

    @cached_property
    def smallest(self) -> NDArray[np.int32]:
        """(K,) the smallest rank that any point gives the prototype."""
        return self.rank.min(axis=1)

    @cached_property
    def A(self) -> FloatArray:
        return np.take_along_axis(self.levels[1], self.rank, axis=1) * self.m

    def row(self, j: int) -> FloatArray:
        """A[j] (N,)."""
        return self.levels[1][j][self.rank[j]] * self.m

    @cached_property
    def levels(self) -> tuple[NDArray[np.integer], FloatArray]:
        """(levels (K, N), values (K, K)) with A[j, i] = values[j, levels[j, i]] m_i."""
        above = np.arange(len(self.rank)) - self.smallest[:, None]
        if self.scaled is None:
            values = self.weight_of_rank[np.maximum(above, 0)]
        else:
            occurring, which = np.unique(self.smallest, return_inverse=True)
            values = self.scaled(occurring[:, None])[which]
        return self.rank, np.where(above >= 0, values, 0.0)

    @property
    def alive(self) -> IntArray:
        return np.arange(len(self.rank))


Weights: TypeAlias = FieldWeights | RankWeights
