"""Letters and tokens as small whole numbers, end to end in one array, and what it costs to exchange them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_nonnegative
from ..utils.files import counted

# Neighbours in the chromosome alphabet differ by one step of density: f is -6, '=' is 0, E is +5.
ALPHABETS = {"dna": "ACGT", "rna": "ACGU", "protein": "ACDEFGHIKLMNPQRSTVWY", "chromosome": "fedcba=ABCDE"}

# Halves, quarters ... and decimals: every cost that people write down times one of these is a whole number.
BINARY_SCALES = (1, 2, 4, 8, 16)
SCALES = (*BINARY_SCALES, 10, 100, 1000)
LARGEST_COST = 2**40


@dataclass(frozen=True)
class Packed:
    """Sequence i is codes[starts[i] : starts[i + 1]]; codes (total length,), starts (n + 1,)."""

    codes: NDArray[Any]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def pieces(self, text: Any) -> list[Any]:
        """A text or bytes with one character per code, cut into the sequences."""
        return [text[start:stop] for start, stop in pairwise(self.starts.tolist())]

    def rows(self, part: slice) -> Packed:
        """Sequences part.start .. part.stop - 1 (no copy of the letters)."""
        return Packed(self.codes, self.starts[part.start : part.stop + 1])


def alphabet_named(alphabet: Any) -> tuple[Hashable, ...] | None:
    """The symbols of a named alphabet, or those given, each once; None allows any symbol."""
    if alphabet is None:
        return None
    symbols = tuple(ALPHABETS.get(alphabet, alphabet) if isinstance(alphabet, str) else alphabet)
    if len(set(symbols)) < len(symbols) or not symbols:
        raise ValueError(f"alphabet is {alphabet!r}; give {', '.join(map(repr, ALPHABETS))} or the letters, each once.")
    return symbols


# Gaps of alignments, and what stands for letters that tables of scores lack: RNA for DNA; selenocysteine, pyrrolysine,
# and leucine or isoleucine.
GAPS = "-.~"
INSTEAD = {"dna": {"U": "T"}, "protein": {"U": "C", "O": "K", "J": "L"}}
NUCLEIC = "ACGTUN"


@dataclass(frozen=True)
class Respelling:
    """How sequences are spelled before they are compared, as databases write them; the sequences themselves stay.

    table : letter -> the one it is read as, "" for a letter that is left out. stop : whether a final '*' is left out.
    """

    table: Mapping[str, str]
    stop: bool

    def __call__(self, strings: Sequence[str]) -> list[str]:
        table = str.maketrans(dict(self.table))
        spelled = (string.translate(table) for string in strings)
        return [string.rstrip("*") for string in spelled] if self.stop else list(spelled)

    def told(self, strings: Sequence[str]) -> str:
        """What is read otherwise than written, in words, with the number of sequences; empty if nothing is."""
        found: Counter[tuple[str, str]] = Counter()
        for string in strings:
            changed = set(string) & self.table.keys()
            found.update({self._kind(letter) for letter in changed})
            found["a final *", "left out"] += self.stop and string.endswith("*")
        most_first = sorted(found.items(), key=lambda item: -item[1])
        return "; ".join(f"{what} in {counted(n, 'sequence')}, {read_as}" for (what, read_as), n in most_first if n)

    def _kind(self, letter: str) -> tuple[str, str]:
        """What is written, and what becomes of it."""
        to = self.table[letter]
        if letter in GAPS:
            return ("gaps", "left out") if not to else (f"gaps as {letter!r}", f"read as {to!r}")
        return ("lower case", "read as upper case") if to == letter.upper() else (letter.upper(), f"scored as {to}")


def respelling(spelling: str, alphabet: Sequence[Hashable] | None = None, aligned: bool = False) -> Respelling | None:
    """Of "dna" or "protein" letters, None for "exact"; letters of the alphabet stay, and none that it lacks is put in.

    aligned : whether gaps are columns of an alignment, all written as "-".
    """
    if spelling == "exact":
        return None
    known = None if alphabet is None else set(alphabet)

    def changes(letter: str, to: str) -> bool:
        return known is None or (letter not in known and to in known)

    table = {letter: letter.upper() for letter in ascii_lowercase if changes(letter, letter.upper())}
    if known is not None or spelling == "dna":
        for letter, to in INSTEAD[spelling].items():
            if changes(letter, to):
                table |= {letter: to, letter.lower(): to}
    table |= {gap: "-" if aligned else "" for gap in GAPS if known is None or gap not in known}
    return Respelling(table, stop=not aligned)


def is_nucleic(sequences: Sequence[str]) -> bool:
    """Whether all letters but gaps are codes of nucleotides, nine of ten those of one nucleotide or N."""
    text = "".join(sequences)
    letters = {letter: text.count(letter) for letter in set(text) - set(GAPS)}
    plain = sum(n for letter, n in letters.items() if letter.upper() in NUCLEIC)
    codes = "ACGTURYSWKMBDHVN"
    return all(letter.upper() in codes for letter in letters) and 10 * plain >= 9 * sum(letters.values()) > 0


def are_aligned(sequences: Sequence[str]) -> bool:
    """Whether these are rows of one alignment with gaps but not in every column, so that any two can be compared."""
    if len({len(string) for string in sequences}) != 1 or not any(
        gap in string for gap in GAPS for string in sequences
    ):
        return False
    rows = code_points(sequences).codes.reshape(len(sequences), -1)
    return bool((~np.isin(rows, [ord(gap) for gap in GAPS])).all(axis=0).any())


def strings_or_tokens(objects: list[Any], name: str) -> list[Any]:
    """Strings as str, other sequences as tuples of tokens; ValueError names the first object that is neither."""
    out: list[Any] = []
    for i, thing in enumerate(objects):
        if isinstance(thing, str):
            out.append(str(thing))
        elif isinstance(thing, list | tuple) or (isinstance(thing, np.ndarray) and thing.ndim == 1):
            tokens = tuple(thing.tolist() if isinstance(thing, np.ndarray) else thing)
            bad = next((k for k, token in enumerate(tokens) if not isinstance(token, Hashable)), None)
            if bad is not None:
                raise ValueError(f"X[{i}][{bad}] is a {type(tokens[bad]).__name__}; pass hashable tokens.")
            out.append(tokens)
        else:
            raise ValueError(f"X[{i}] is a {type(thing).__name__}; for {name!r} pass strings or lists of tokens.")
    if len({isinstance(thing, str) for thing in out}) > 1:
        kind = type(out[0])
        odd = next(i for i, thing in enumerate(out) if type(thing) is not kind)
        raise ValueError(
            f"X[0] is a {kind.__name__} but X[{odd}] is a {type(out[odd]).__name__}; pass strings or lists, not both."
        )
    return out


def code_points(strings: Sequence[str]) -> Packed:
    """Unicode code points of strings."""
    letters = np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), np.uint32)
    return Packed(letters, starts_of(strings))


def coded(
    a: Sequence[Any], b: Sequence[Any], alphabet: tuple[Hashable, ...] | None
) -> tuple[Packed, Packed, tuple[Any, ...]]:
    """Both lists over one numbering of symbols: those of the alphabet, or those in use; ValueError for any other."""
    if all(isinstance(first, str) for first in (*a[:1], *b[:1])):
        return _coded_strings(a, b, alphabet)
    symbols = alphabet if alphabet is not None else tuple(dict.fromkeys(token for seq in (*a, *b) for token in seq))
    number = {symbol: k for k, symbol in enumerate(symbols)}

    def packed(side: Sequence[Any]) -> Packed:
        codes = np.fromiter((number.get(token, -1) for seq in side for token in seq), np.int32)
        return _refuse_unknown_symbols(Packed(codes, starts_of(side)), side, symbols)

    return packed(a), packed(b), symbols


def _coded_strings(
    a: Sequence[str], b: Sequence[str], alphabet: tuple[Hashable, ...] | None
) -> tuple[Packed, Packed, tuple[Any, ...]]:
    points = code_points(a), code_points(b)
    size = 1 + max(int(p.codes.max(initial=0)) for p in points)
    if alphabet is None:
        present = np.zeros(size, bool)
        for p in points:
            present[p.codes] = True
        known = np.flatnonzero(present)
    else:
        known = np.array([ord(str(letter)) if len(str(letter)) == 1 else -1 for letter in alphabet])
        size = max(size, 1 + int(known.max()))
    number = np.full(size, -1, np.int32)
    number[known[known >= 0]] = np.flatnonzero(known >= 0)
    symbols = tuple(chr(k) for k in known) if alphabet is None else alphabet
    packed_a, packed_b = (
        _refuse_unknown_symbols(Packed(number[p.codes], p.starts), side, symbols)
        for p, side in zip(points, (a, b), strict=True)
    )
    return packed_a, packed_b, symbols


def _refuse_unknown_symbols(side: Packed, words: Sequence[Any], symbols: tuple[Any, ...]) -> Packed:
    """The sequences as they are; ValueError for the first symbol without a number."""
    if side.codes.min(initial=0) >= 0:
        return side
    at = int(np.argmin(side.codes >= 0))
    i = int(np.searchsorted(side.starts, at, side="right")) - 1
    k = at - int(side.starts[i])
    allowed = "".join(symbols) if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols) else symbols
    letter = words[i][k]
    advice = "write letters in upper case" if str(letter).upper() in symbols else "correct or drop that string"
    if "X" in symbols and letter != GAPS[0]:
        advice += ", or pass unknown='X' to score such letters as X"
    raise ValueError(f"X[{i}] has {letter!r} at position {k} from 0, not in the alphabet {allowed!r}; {advice}.")


def starts_of(sequences: Sequence[Any]) -> NDArray[np.int64]:
    """(n + 1,): where each begins when they are joined end to end."""
    starts = np.zeros(len(sequences) + 1, np.int64)
    np.cumsum([len(s) for s in sequences], out=starts[1:])
    return starts


def row_chunks(n: int) -> list[slice]:
    """About sixteen chunks, the same whatever the number of threads."""
    size = max(1, -(-n // 16))
    return [slice(k, min(k + size, n)) for k in range(0, n, size)]


@dataclass(frozen=True)
class Costs:
    """Costs of the edit distance: `uniform` for any two different symbols, or `table` (n, n) over `alphabet`, or
    `function`, to be tabulated over the symbols in use; `indel` for one symbol inserted or deleted."""

    indel: float
    uniform: float | None = None
    table: NDArray[np.float64] | None = None
    function: Callable[[Any, Any], float] | None = None
    alphabet: tuple[Hashable, ...] | None = None

    @property
    def symmetric(self) -> bool:
        if self.table is not None:
            return np.array_equal(self.table, self.table.T)
        return self.function is None  # whether a function is symmetric is not known

    def whole_over(self, table: NDArray[np.float64] | None) -> tuple[int, list[NDArray[np.int64]]] | None:
        """(scale, [indel, substitution]) in whole numbers; None where no scale makes them whole.

        A function is tabulated over the symbols of a block, and a distance must not depend on what else is in the
        block. Sums of decimals are not exact in floating point, so decimals are never scaled there; halves and quarters
        are.
        """
        scales = BINARY_SCALES if self.function is not None else SCALES
        return whole(self.indel, self.uniform if table is None else table, scales=scales)

    def over(self, symbols: tuple[Any, ...]) -> NDArray[np.float64] | None:
        """The table over these symbols; None if the cost is uniform."""
        if self.function is None:
            return self.table
        return _checked(np.array([[self.function(s, t) if s != t else 0.0 for t in symbols] for s in symbols], float),
                        symbols)  # fmt: skip


def edit_costs(substitution: Any = 1.0, indel: Any = 1.0, alphabet: Any = None) -> Costs:
    """The parameters of `edit`, checked."""
    cost_of_gap = check_nonnegative(indel, "indel")
    symbols = alphabet_named(alphabet)
    if isinstance(substitution, str):
        if substitution != "chromosome":
            raise ValueError(f"substitution is {substitution!r}; pass 'chromosome', a number, or a table of costs.")
        if symbols not in (None, tuple(ALPHABETS["chromosome"])):
            raise ValueError("substitution='chromosome' has an alphabet of its own; leave alphabet out.")
        symbols = tuple(ALPHABETS["chromosome"])
        step = np.arange(len(symbols))
        return Costs(cost_of_gap, table=np.abs(step[:, None] - step).astype(float), alphabet=symbols)
    if isinstance(substitution, Mapping):
        symbols = symbols or tuple(dict.fromkeys(s for pair in substitution for s in _pair(pair)))
        return Costs(cost_of_gap, table=_from_pairs(substitution, symbols), alphabet=symbols)
    if callable(substitution):
        if symbols is None:
            return Costs(cost_of_gap, function=substitution)
        return Costs(cost_of_gap, table=Costs(cost_of_gap, function=substitution).over(symbols), alphabet=symbols)
    if np.ndim(substitution) == 0:
        return Costs(cost_of_gap, uniform=check_nonnegative(substitution, "substitution"), alphabet=symbols)
    if symbols is None:
        raise ValueError("substitution is a table; name the letters of its rows and columns with alphabet.")
    return Costs(cost_of_gap, table=_checked(np.asarray(substitution, float), symbols), alphabet=symbols)


def whole(*values: Any, scales: Sequence[int] = SCALES) -> tuple[int, list[NDArray[np.int64]]] | None:
    """(scale, values * scale as whole numbers) with k / scale == value for every value; None if no scale does that.

    Sums of whole numbers are exact, so every backend and every order of summation gives the same distance.
    """
    flat = [np.asarray(v, dtype=np.float64) for v in values]
    for scale in scales:
        rounded = [np.rint(v * scale) for v in flat]
        if all(np.array_equal(k / scale, v) and np.abs(k).max(initial=0) <= LARGEST_COST
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
        rule = "make it 0, since nothing changes" if i == l else "make it >= 0 and finite"
        raise ValueError(f"The cost of {symbols[i]!r} -> {symbols[l]!r} is {table[i, l]:g}; {rule}.")
    return table


def _pair(pair: Any) -> tuple[Any, Any]:
    if len(pair) != 2:
        raise ValueError(f"A cost is given for {pair!r}; give it for two letters, for example 'AC' or ('A', 'C').")
    return pair[0], pair[1]


def _from_pairs(costs: Mapping[Any, Any], symbols: tuple[Any, ...]) -> NDArray[np.float64]:
    """A pair given in one order counts in both; ValueError for a pair of the alphabet that is not given."""
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
