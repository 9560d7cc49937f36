"""The frame that all strategies share: bounds discard, the canonical cost decides, the lowest index wins ties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, Source, columns, panels, rows_per_panel
from .canonical import canonical_costs


class Finder(Protocol):
    """One epoch's search: best places for prototypes whose weights are the rows of A (K, N)."""

    terms: int  # products A[j, i] D[i, l] evaluated so far

    def best(self, j: int, taken: NDArray[np.bool_] | None) -> int:
        """argmin over l not taken of the canonical cost(j, l), lowest l on ties. taken is (N,) or None."""
        ...


Strategy: TypeAlias = Callable[[FloatArray, Source], Finder]


def relative_slack(n_terms: int) -> float:
    """How far two float64 sums of the same n non-negative terms can lie apart, relative to either.

    Any order of summation errs by at most gamma = n u / (1 - n u), u = 2^-53, relative to the exact sum, because no
    term is negative. Two such sums differ by less than 3 gamma; 64 more roundings cover accumulation over panels and
    the fourth multiple the rounding of the comparison itself.
    """
    return 4 * (n_terms + 64) * 2.0**-53


@dataclass
class Screened:
    """A screen has all K x N costs up to rounding; what might still be the least is evaluated canonically.

    C (K, N) with |C - cost| <= slack * C + tiny, where tiny covers products that underflow.

    Proof that `best` is exact: let u be the canonical cost of the candidate that the screen prefers. A candidate l
    with C[j, l] (1 - slack) - tiny > u has a canonical cost above u, so it cannot be the least. All others are
    evaluated canonically and compared by (cost, index).
    """

    A: FloatArray
    source: Source
    C: FloatArray
    terms: int
    slack: float = field(init=False)
    tiny: float = field(init=False)

    def __post_init__(self) -> None:
        n = self.A.shape[1]
        self.slack = relative_slack(n)
        self.tiny = n * float(np.finfo(np.float64).tiny)

    def best(self, j: int, taken: NDArray[np.bool_] | None) -> int:
        row = self.C[j] if taken is None else np.where(taken, np.inf, self.C[j])
        favourite = int(row.argmin())
        upper = self._evaluate(j, np.array([favourite]))[0]
        survivors = np.flatnonzero(row * (1 - self.slack) - self.tiny <= upper)
        if len(survivors) == 1:
            return favourite
        # argmin returns the first of equal costs, and survivors ascend: the lowest index wins.
        return int(survivors[self._evaluate(j, survivors).argmin()])

    def best_of_all(self) -> NDArray[np.intp]:
        """(K,) `best(j, None)` for every j; rows where rounding cannot hide a rival are settled at once."""
        best = self.C.argmin(axis=1)
        least = self.C[np.arange(len(self.C)), best]
        # Twice the slack: once for the least cost, once for the rival's.
        close = self.C <= (least * (1 + 2 * self.slack) + 2 * self.tiny)[:, None]
        for j in np.flatnonzero(close.sum(axis=1) > 1):
            best[j] = self.best(int(j), None)
        return best

    def _evaluate(self, j: int, candidates: NDArray[np.intp]) -> FloatArray:
        n = self.A.shape[1]
        self.terms += n * len(candidates)
        parts = panels(len(candidates), rows_per_panel(n))
        return np.concatenate([canonical_costs(self.A[j], columns(self.source, candidates[p])) for p in parts])
