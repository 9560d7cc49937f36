"""Strings and token sequences as small whole numbers, end to end in one array; a foreign letter is named."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Neighbours in the chromosome alphabet differ by one step of density: f is -6, '=' is 0, E is +5.
ALPHABETS = {
    "dna": "ACGT",
    "rna": "ACGU",
    "protein": "ACDEFGHIKLMNPQRSTVWY",
    "chromosome": "fedcba=ABCDE",
}


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
        """A text or bytes with one character a code, cut into the sequences."""
        return [text[start:stop] for start, stop in pairwise(self.starts.tolist())]

    def rows(self, part: slice) -> Packed:
        """Sequences part.start .. part.stop - 1 (no copy of the letters)."""
        return Packed(self.codes, self.starts[part.start : part.stop + 1])


def alphabet_named(alphabet: Any) -> tuple[Hashable, ...] | None:
    """The symbols of a named alphabet, or those given, each once; None leaves the alphabet open."""
    if alphabet is None:
        return None
    symbols = tuple(ALPHABETS.get(alphabet, alphabet) if isinstance(alphabet, str) else alphabet)
    if len(set(symbols)) < len(symbols) or not symbols:
        raise ValueError(
            f"alphabet is {alphabet!r}; give one of {', '.join(map(repr, ALPHABETS))}, or the letters, each once."
        )
    return symbols


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
                raise ValueError(f"X[{i}][{bad}] is a {type(tokens[bad]).__name__}; tokens must be hashable.")
            out.append(tokens)
        else:
            raise ValueError(
                f"X[{i}] is a {type(thing).__name__}; the metric {name!r} compares strings or lists of tokens."
            )
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
    """Both lists over one numbering of symbols: that of the alphabet, or those in use; ValueError for a foreign one."""
    if all(isinstance(first, str) for first in (*a[:1], *b[:1])):
        return _coded_strings(a, b, alphabet)
    symbols = alphabet if alphabet is not None else tuple(dict.fromkeys(token for seq in (*a, *b) for token in seq))
    number = {symbol: k for k, symbol in enumerate(symbols)}

    def packed(side: Sequence[Any]) -> Packed:
        codes = np.fromiter((number.get(token, -1) for seq in side for token in seq), np.int32)
        return _refuse_foreign(Packed(codes, starts_of(side)), side, symbols)

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
        _refuse_foreign(Packed(number[p.codes], p.starts), side, symbols)
        for p, side in zip(points, (a, b), strict=True)
    )
    return packed_a, packed_b, symbols


def _refuse_foreign(side: Packed, words: Sequence[Any], symbols: tuple[Any, ...]) -> Packed:
    """The sequences as they are, or a ValueError for the first symbol without a number."""
    if side.codes.min(initial=0) >= 0:
        return side
    at = int(np.argmin(side.codes >= 0))
    i = int(np.searchsorted(side.starts, at, side="right")) - 1
    k = at - int(side.starts[i])
    legal = "".join(symbols) if all(isinstance(symbol, str) and len(symbol) == 1 for symbol in symbols) else symbols
    letter = words[i][k]
    advice = "write letters in upper case" if str(letter).upper() in symbols else "correct or drop that string"
    raise ValueError(
        f"X[{i}] has {letter!r} at position {k} (counted from 0), which is not in the alphabet {legal!r}; {advice}."
    )


def starts_of(sequences: Sequence[Any]) -> NDArray[np.int64]:
    """(n + 1,): where each begins when they lie end to end."""
    starts = np.zeros(len(sequences) + 1, np.int64)
    np.cumsum([len(s) for s in sequences], out=starts[1:])
    return starts


def row_chunks(n: int) -> list[slice]:
    """Sixteen chunks or so, the same whatever the number of threads."""
    size = max(1, -(-n // 16))
    return [slice(k, min(k + size, n)) for k in range(0, n, size)]
