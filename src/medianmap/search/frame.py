"""What all searches share: weights in, prototypes out, and the tie rule.

Weights A (K, N) say what point i counts for prototype j; they are kept as the factors that fast searches need. Bounds
discard candidates, the canonical cost decides among the rest, and the lowest index wins ties: in `Finder`, and compiled
in placing.py for candidates that are rows of a matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source, columns, panels, rows_per_panel
from ..utils.kernels import kernel

# --- weights --------------------------------------------------------------------------------------------------------
from ..utils.threads import computed_once
from .canonical import canonical_costs


@dataclass(frozen=True)
class FieldWeights:
    """A[j, i] = H[j, winner[i]] m_i: the weight depends on i only through its receptive field (K-means, SOM)."""

    H: FloatArray  # (K, K), row = prototype, column = field
    winner: IntArray  # (N,)
    m: FloatArray  # (N,)

    @computed_once
    def A(self) -> FloatArray:
        return self.rows(slice(None))

    def row(self, j: int) -> FloatArray:
        """A[j] (N,)."""
        return self.H[j][self.winner] * self.m

    def rows(self, js: slice) -> FloatArray:
        """A[js] (k, N)."""
        # np.take, not H[:, winner]: that would lay the points of a prototype far apart in memory.
        return np.take(self.H[js], self.winner, axis=1) * self.m

    @computed_once
    def levels(self) -> tuple[NDArray[np.integer], FloatArray]:
        """(levels (1, N), values (K, K)) with A[j, i] = values[j, levels[0, i]] m_i."""
        return self.winner[None], self.H

    @computed_once
    def fields(self) -> IntArray:
        """Fields that have points, ascending."""
        return np.flatnonzero(np.bincount(self.winner, minlength=len(self.H)))

    @computed_once
    def of_fields(self) -> FloatArray:
        """H[:, fields]: the weights that count."""
        return self.H if len(self.fields) == len(self.H) else np.take(self.H, self.fields, axis=1)

    @computed_once
    def alive(self) -> IntArray:
        """Prototypes with any weight at all, ascending; the others stay where they are."""
        return np.flatnonzero(self.of_fields.any(axis=1))


@dataclass(frozen=True)
class RankWeights:
    """A[j, i] = h(rank[j, i]) / h(smallest_j) m_i: every prototype has some weight (neural gas), unless h is truncated.

    For h(t) = exp(-t / sigma) the quotient is h(rank - smallest), a shift of one table; any other h needs one table per
    smallest rank, `scaled`.
    """

    rank: NDArray[np.signedinteger]  # (K, N), 0 is the nearest
    weight_of_rank: FloatArray  # (K,) = h(0), h(1), ...
    m: FloatArray  # (N,)
    scaled: Callable[[NDArray[np.integer]], FloatArray] | None = None  # s (n, 1) -> h(r) / h(s), r < K, (n, K)

    @computed_once
    def smallest(self) -> IntArray:
        """(K,) the smallest rank that any point gives the prototype."""
        return self.rank.min(axis=1).astype(np.intp)

    @computed_once
    def A(self) -> FloatArray:
        return self.rows(slice(None))

    def row(self, j: int) -> FloatArray:
        """A[j] (N,)."""
        return self.levels[1][j][self.rank[j]] * self.m

    def rows(self, js: slice) -> FloatArray:
        """A[js] (k, N)."""
        return np.take_along_axis(self.levels[1][js], self.rank[js], axis=1) * self.m

    @computed_once
    def levels(self) -> tuple[NDArray[np.integer], FloatArray]:
        """(levels (K, N), values (K, K)) with A[j, i] = values[j, levels[j, i]] m_i."""
        # One row for each smallest rank that occurs; where no receptive field is empty that is one for all.
        occurring, which = np.zeros(1, np.intp), np.zeros(len(self.rank), np.intp)
        if self.smallest.any():
            occurring, which = np.unique(self.smallest, return_inverse=True)
        above = np.arange(len(self.rank)) - occurring[:, None]
        scaled = self.scaled
        values = self.weight_of_rank[np.maximum(above, 0)] if scaled is None else scaled(occurring[:, None])
        return self.rank, np.where(above >= 0, values, 0.0)[which]

    @computed_once
    def winner(self) -> IntArray:
        """(N,) the prototype of rank 0 of each point."""
        winner = np.zeros(self.rank.shape[1], np.int32)
        _of_rank_0(self.rank, winner)
        return winner.astype(np.intp)

    @property
    def alive(self) -> IntArray:
        """Prototypes with any weight at all, ascending; the others stay where they are."""
        return np.flatnonzero(self.levels[1].any(axis=1))


@dataclass(frozen=True)
class SoftWeights:
    """A[j, i] = P[j, i] m_i, P (K, N) any shares (K-means and SOM at a temperature)."""

    P: FloatArray  # (K, N)
    m: FloatArray  # (N,)

    @computed_once
    def A(self) -> FloatArray:
        return self.rows(slice(None))

    def row(self, j: int) -> FloatArray:
        """A[j] (N,)."""
        return self.P[j] * self.m

    def rows(self, js: slice) -> FloatArray:
        """A[js] (k, N)."""
        return self.P[js] * self.m

    @computed_once
    def levels(self) -> tuple[NDArray[np.integer], FloatArray]:
        """(levels (1, N), values (K, N)) with A[j, i] = values[j, levels[0, i]] m_i: each point has its own level."""
        return np.arange(len(self.m))[None], self.P

    @property
    def alive(self) -> IntArray:
        return np.flatnonzero(self.P.any(axis=1))


Weights: TypeAlias = FieldWeights | RankWeights | SoftWeights


# --- the search for one epoch's prototypes --------------------------------------------------------------------------


class Finder(ABC):
    """One epoch's search for the best place of each prototype.

    A strategy gives `costs`: for prototype j a row c (N,) of lower bounds up to rounding, c[l] (1 - slack) - tiny <=
    cost(j, l), or infinity for a candidate that cannot be best. The closer to the costs, the fewer are evaluated.

    Proof that `best` is exact: let u be the canonical cost of the candidate with the least c. A candidate l with
    c[l] (1 - slack) - tiny > u has a canonical cost above u, so it is not the least. All others are evaluated
    canonically and compared by (cost, index).

    slack : how far two float64 sums of the same n non-negative terms can lie apart, relative to either. Any order of
        summation errs by at most gamma = n u / (1 - n u), u = 2^-53, relative to the exact sum. Two such sums differ by
        less than 3 gamma; 64 more roundings cover accumulation over panels and products of products, and the fourth
        multiple the rounding of the comparison itself.
    tiny : what n products that underflow can lose, at most; also when subnormal numbers are flushed to zero.
    """

    def __init__(self, row: Callable[[int], FloatArray], source: Source) -> None:
        self.row = row  # j -> the weights A[j] (N,), float64
        self.source = source
        n = 2 * source.shape[0]  # N terms, in two stages where a strategy groups them
        self.slack, self.tiny = 4 * (n + 64) * 2.0**-53, n * float(np.finfo(np.float64).tiny)
        self.terms = 0  # products A[j, i] D[i, l] evaluated so far, or sums of them where the strategy factors

    @abstractmethod
    def costs(self, j: int, taken: NDArray[np.bool_]) -> FloatArray:
        """Costs of prototype j up to rounding; infinity for candidates taken (N,) or proven not to be the best."""

    def best(self, j: int, taken: NDArray[np.bool_] | None = None) -> int:
        """argmin over l not taken of the canonical cost(j, l), lowest l on ties. taken is (N,) or None."""
        row = self.costs(j, np.zeros(self.source.shape[1], bool) if taken is None else taken)
        favourite = int(row.argmin())
        upper = self.evaluate(j, np.array([favourite]))[0]
        survivors = np.flatnonzero(row * (1 - self.slack) - self.tiny <= upper)
        if len(survivors) == 1:
            return favourite
        # argmin returns the first of equal costs, and survivors ascend: the lowest index wins.
        return int(survivors[self.evaluate(j, survivors).argmin()])

    def evaluate(self, j: int, candidates: IntArray) -> FloatArray:
        """Canonical costs (len(candidates),)."""
        n = self.source.shape[0]
        a = self.row(j)
        self.terms += n * len(candidates)
        parts = panels(len(candidates), rows_per_panel(n))
        return np.concatenate([canonical_costs(a, columns(self.source, candidates[p])) for p in parts])

    def place(self, alive: IntArray, w: IntArray, distinct: bool) -> IntArray:
        """New places (K,) of the prototypes that are alive; the others stay.

        distinct: in the order of their index each takes its best candidate that no other prototype holds, so it may
        always keep its own place and none of the K sums rises.
        """
        w = w.copy()
        if not distinct:
            w[alive] = [self.best(j) for j in alive.tolist()]
            return w
        taken = np.zeros(self.source.shape[1], bool)
        taken[w] = True
        for j in alive.tolist():
            taken[w[j]] = False
            w[j] = self.best(j, taken)
            taken[w[j]] = True
        return w


class Screened(Finder):
    """All costs C (K, N) are known up to rounding."""

    def __init__(self, row: Callable[[int], FloatArray], source: Source, C: FloatArray, terms: int) -> None:
        super().__init__(row, source)
        self.C, self.terms = C, terms

    def costs(self, j: int, taken: NDArray[np.bool_]) -> FloatArray:
        return np.where(taken, np.inf, self.C[j])

    def best_of_all(self) -> IntArray:
        """(K,) `best(j)` for every j; rows where rounding cannot hide a rival are settled at once."""
        best = self.C.argmin(axis=1)
        least = self.C[np.arange(len(self.C)), best]
        # Twice the slack: once for the least cost, once for the rival's.
        close = self.C <= (least * (1 + 2 * self.slack) + 2 * self.tiny)[:, None]
        for j in np.flatnonzero(close.sum(axis=1) > 1).tolist():
            best[j] = self.best(j)
        return best


# One per fit; called every epoch with the weights and the prototypes (K,) that they belong to.
Search: TypeAlias = Callable[[Any, IntArray], Finder]


@kernel
def _of_rank_0(rank, winner):  # type: ignore[no-untyped-def]
    """winner[i] = the prototype of rank 0, by rank (K, N)."""
    for start in range(0, winner.shape[0], 1024):
        w = winner[start : start + 1024]
        for j in range(rank.shape[0]):
            r = rank[j, start : start + 1024]
            for i in range(w.shape[0]):
                w[i] = j if r[i] == 0 else w[i]
