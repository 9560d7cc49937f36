"""What all strategies share, with the tie rule: bounds discard, the canonical cost decides, the lowest index wins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, Source, columns, panels, rows_per_panel
from .canonical import canonical_costs


def relative_slack(n_terms: int) -> float:
    """How far two float64 sums of the same n non-negative terms can lie apart, relative to either.

    Any order of summation errs by at most gamma = n u / (1 - n u), u = 2^-53, relative to the exact sum, because no
    term is negative. Two such sums differ by less than 3 gamma; 64 more roundings cover accumulation over panels and
    products of products, and the fourth multiple the rounding of the comparison itself.
    """
    return 4 * (n_terms + 64) * 2.0**-53


def underflow(n_terms: int) -> float:
    """What n products that underflow can lose, at most; also when subnormal numbers are flushed to zero."""
    return n_terms * float(np.finfo(np.float64).tiny)


class Finder(ABC):
    """One epoch's search for the best place of each prototype.

    A strategy gives `costs`: for prototype j a row c (N,) of lower bounds up to rounding, c[l] (1 - slack) - tiny <=
    cost(j, l), or infinity for a candidate that cannot be best. The closer to the costs, the fewer are evaluated.

    Proof that `best` is exact: let u be the canonical cost of the candidate with the least c. A candidate l with
    c[l] (1 - slack) - tiny > u has a canonical cost above u, so it is not the least. All others are evaluated
    canonically and compared by (cost, index).
    """

    def __init__(self, row: Callable[[int], FloatArray], source: Source) -> None:
        self.row = row  # j -> the weights A[j] (N,), float64
        self.source = source
        n = source.shape[0]
        self.slack = relative_slack(2 * n)  # N terms, in two stages where a strategy groups them
        self.tiny = underflow(2 * n)
        self.terms = 0  # products A[j, i] D[i, l] evaluated so far, or sums of them where the strategy factors

    @abstractmethod
    def costs(self, j: int, taken: NDArray[np.bool_] | None) -> FloatArray:
        """Costs of prototype j up to rounding; infinity for candidates taken or proven not to be the best."""

    def best(self, j: int, taken: NDArray[np.bool_] | None = None) -> int:
        """argmin over l not taken of the canonical cost(j, l), lowest l on ties. taken is (N,) or None."""
        row = self.costs(j, taken)
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
        self.C = C
        self.terms = terms

    def costs(self, j: int, taken: NDArray[np.bool_] | None) -> FloatArray:
        return self.C[j] if taken is None else np.where(taken, np.inf, self.C[j])

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
