"""Prices of substitutions: a number, a table, a function or a name, turned into whole numbers where that is exact."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_nonnegative
from .letters import ALPHABETS, alphabet_named

# Halves, quarters ... and decimals: every price that people write down is a whole number after one of these.
BINARY_SCALES = (1, 2, 4, 8, 16)
SCALES = (*BINARY_SCALES, 10, 100, 1000)
LARGEST = 2**40


@dataclass(frozen=True)
class Prices:
    """What the edit distance charges: `uniform` for any two different symbols, or `table` (n, n) over `alphabet`,
    or `function` to be tabulated over the symbols in use; `indel` for one symbol inserted or deleted."""

    indel: float
    uniform: float | None = None
    table: NDArray[np.float64] | None = None
    function: Callable[[Any, Any], float] | None = None
    alphabet: tuple[Hashable, ...] | None = None

    @property
    def symmetric(self) -> bool:
        if self.table is not None:
            return np.array_equal(self.table, self.table.T)
        return self.function is None  # what a function of two symbols promises is not known

    def whole_over(self, table: NDArray[np.float64] | None) -> tuple[int, list[NDArray[np.int64]]] | None:
        """(scale, [indel, substitution]) in whole numbers; None where they are none.

        A function is tabulated over the symbols of a block, and a distance must not depend on what else is in it: so
        decimals, whose sums in floating point are not exact, are never scaled there, halves and quarters may be.
        """
        scales = BINARY_SCALES if self.function is not None else SCALES
        return whole(self.indel, self.uniform if table is None else table, scales=scales)

    def over(self, symbols: tuple[Any, ...]) -> NDArray[np.float64] | None:
        """The table over these symbols; None if the price is uniform."""
        if self.function is None:
            return self.table
        return _checked(np.array([[self.function(s, t) if s != t else 0.0 for t in symbols] for s in symbols], float),
                        symbols)  # fmt: skip


def prices(substitution: Any = 1.0, indel: Any = 1.0, alphabet: Any = None) -> Prices:
    """The parameters of `edit`, checked."""
    charge = check_nonnegative(indel, "indel")
    symbols = alphabet_named(alphabet)
    if isinstance(substitution, str):
        if substitution != "chromosome":
            raise ValueError(f"substitution is {substitution!r}; the one table with a name is 'chromosome'.")
        if symbols not in (None, tuple(ALPHABETS["chromosome"])):
            raise ValueError("substitution='chromosome' has an alphabet of its own; leave alphabet out.")
        symbols = tuple(ALPHABETS["chromosome"])
        step = np.arange(len(symbols))
        return Prices(charge, table=np.abs(step[:, None] - step).astype(float), alphabet=symbols)
    if isinstance(substitution, Mapping):
        symbols = symbols or tuple(dict.fromkeys(s for pair in substitution for s in _pair(pair)))
        return Prices(charge, table=_from_pairs(substitution, symbols), alphabet=symbols)
    if callable(substitution):
        if symbols is None:
            return Prices(charge, function=substitution)
        return Prices(charge, table=Prices(charge, function=substitution).over(symbols), alphabet=symbols)
    if np.ndim(substitution) == 0:
        return Prices(charge, uniform=check_nonnegative(substitution, "substitution"), alphabet=symbols)
    if symbols is None:
        raise ValueError("substitution is a table; say with alphabet which letters its rows and columns are.")
    return Prices(charge, table=_checked(np.asarray(substitution, float), symbols), alphabet=symbols)


def whole(*values: Any, scales: Sequence[int] = SCALES) -> tuple[int, list[NDArray[np.int64]]] | None:
    """(scale, values * scale as whole numbers) with k / scale == value for every value; None where no scale serves.

    Sums of whole numbers are exact, so every backend and every order of summation gives the same distance.
    """
    flat = [np.asarray(v, dtype=np.float64) for v in values]
    for scale in scales:
        rounded = [np.rint(v * scale) for v in flat]
        if all(np.array_equal(k / scale, v) and np.abs(k).max(initial=0) <= LARGEST
               for k, v in zip(rounded, flat, strict=True)):  # fmt: skip
            return scale, [k.astype(np.int64) for k in rounded]
    return None


def _checked(table: NDArray[np.float64], symbols: tuple[Any, ...]) -> NDArray[np.float64]:
    n = len(symbols)
    if table.shape != (n, n):
        raise ValueError(f"The substitution table has shape {table.shape}; an alphabet of {n} letters needs {n} x {n}.")
    bad = np.argwhere(~((table >= 0) & (table < np.inf)) | ((table != 0) & np.eye(n, dtype=bool)))
    if len(bad):
        i, l = bad[0]
        rule = "a letter costs nothing to keep" if i == l else "edit costs must be >= 0 and finite"
        raise ValueError(f"The cost of {symbols[i]!r} -> {symbols[l]!r} is {table[i, l]:g}; {rule}.")
    return table


def _pair(pair: Any) -> tuple[Any, Any]:
    if len(pair) != 2:
        raise ValueError(f"A cost is given for {pair!r}; a pair of letters is needed, for example 'AC' or ('A', 'C').")
    return pair[0], pair[1]


def _from_pairs(costs: Mapping[Any, Any], symbols: tuple[Any, ...]) -> NDArray[np.float64]:
    """A pair given one way holds both ways; a pair of the alphabet that is not given is an error."""
    number = {symbol: k for k, symbol in enumerate(symbols)}
    n = len(symbols)
    table = np.full((n, n), np.nan)
    np.fill_diagonal(table, 0.0)
    given = np.zeros((n, n), bool)
    for pair, cost in costs.items():
        s, t = _pair(pair)
        if s not in number or t not in number:
            raise ValueError(f"A cost is given for {pair!r}, but the alphabet is {symbols!r}; drop it.")
        i, l = number[s], number[t]
        table[i, l] = check_nonnegative(cost, f"The cost of {s!r} -> {t!r}")
        given[i, l] = True
        if not given[l, i]:
            table[l, i] = table[i, l]
    missing = np.argwhere(np.isnan(table))
    if len(missing):
        i, l = missing[0]
        raise ValueError(f"No cost is given for {symbols[i]!r} -> {symbols[l]!r}; give every pair of letters.")
    return _checked(table, symbols)
