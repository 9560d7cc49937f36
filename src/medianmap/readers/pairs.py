"""Tables of pairs as text, one pair per line: (id, id, value), and the 12 columns of BLAST and MMseqs2 (m8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_choice, refuse_duplicate_ids
from ..utils.files import counted
from .columns import Column, Row, check_delimiter, data_rows, find_column, guess_delimiter, is_number, sample_rows
from .records import DENSE_BYTES, Matrix, Opened
from .similarity import Rule, finish

M8_COLUMNS = [
    "qseqid", "sseqid", "pident", "length", "mismatch", "gapopen",
    "qstart", "qend", "sstart", "send", "evalue", "bitscore",
]  # fmt: skip
SCORES = ("pident", "evalue", "bitscore")
DUPLICATES = ("error", "first", "min", "max")

Pair = tuple[int, str, str, str]  # line, row id, column id, value


def read_pairs(
    opened: Opened, *, columns: Sequence[Column] | None = None, header: bool | None = None,
    delimiter: str | None = None, encoding: str = "utf-8", **options: Any,
) -> Matrix:  # fmt: skip
    """A table of three columns (from, to, value); columns : which three, if there are more."""
    if delimiter is None:
        lines = [line for line in opened.sample(encoding) if not line.startswith("#")]
        delimiter = guess_delimiter(lines or [""], opened.extension) or " "
    rows = sample_rows(opened, check_delimiter(delimiter), encoding, comments=True)
    width = len(rows[0]) if rows else 0
    if columns is None and width != 3:
        raise ValueError(
            f"{opened.name} has {width} columns; a pair table has three (from, to, value). "
            "Choose three, for example columns=(0, 1, 2)."
        )
    chosen: Sequence[Column] = range(3) if columns is None else columns
    if len(chosen) != 3:
        raise ValueError(f"columns names {counted(len(chosen), 'column')}; name three columns: from, to and value.")
    if header is None:
        value = chosen[2]
        header = isinstance(value, str) or not (-width <= value < width and is_number(rows[0][value]))
    names = [cell.strip() for cell in rows[0]] if header else None
    what = ("first id", "second id", "value")
    at = [find_column(c, names, width, opened.name, w) for c, w in zip(chosen, what, strict=True)]
    rows_after = data_rows(opened, delimiter, encoding, header=header, width=width, comments=True)
    return assemble(opened.name, _pairs(rows_after, at), **options)


def read_m8(
    opened: Opened, *, score: str = "bitscore", similarity: Rule = None, encoding: str = "utf-8", **options: Any
) -> Matrix:
    """BLAST -outfmt 6 / MMseqs2 m8: from query to subject, by `score`; '#' lines (-outfmt 7) are skipped."""
    check_choice(score, "score", SCORES)
    if similarity is None:
        raise ValueError(
            f"{opened.name} holds search scores, and {score} is not a dissimilarity; say how it becomes one: "
            "pass similarity='max-s', similarity='normalized', or in Python a function of the array of scores."
        )
    if score == "evalue" and not callable(similarity):
        raise ValueError(
            f"An e-value grows as two sequences differ, so similarity={similarity!r} would reverse it; "
            "choose another score, or in Python pass a function, for example numpy.log1p."
        )
    # "-outfmt '6 std qlen slen'" has further columns after the twelve.
    width = max(len(M8_COLUMNS), *(len(row) for row in sample_rows(opened, "\t", encoding, comments=True)[:1]))
    rows = data_rows(opened, "\t", encoding, header=False, width=width, comments=True)
    pairs = _pairs(rows, [0, 1, M8_COLUMNS.index(score)])
    return assemble(opened.name, pairs, similarity=similarity, several="several hits of a pair are usual", **options)


def _pairs(rows: Iterable[Row], at: Sequence[int]) -> Iterator[Pair]:
    a, b, v = at
    return ((line, cells[a].strip(), cells[b].strip(), cells[v]) for line, cells in rows)


def assemble(
    name: str, pairs: Iterable[Pair], *, ids: Sequence[str] | None = None, symmetric: bool | None = None,
    duplicates: str = "error", several: str = "", **rules: Any,
) -> Matrix:  # fmt: skip
    """The square matrix of a list of pairs.

    ids : which objects, in which order; by default all, as they first occur (the first id of a line before the second).
    symmetric : True mirrors every pair that occurs in one direction only; False mirrors none; None, the default, reads
        a table in which no pair occurs in both directions as one triangle and mirrors it, and any other as it is.
    duplicates : "error", or which value counts if a pair occurs on several lines: "first", "min" or "max".
    """
    check_choice(symmetric, "symmetric", (None, True, False))
    check_choice(duplicates, "duplicates", DUPLICATES)
    given = None if ids is None else [str(each) for each in ids]
    if given is not None:
        refuse_duplicate_ids(given, "ids", "place")
    names, places, values = _coded(name, pairs, given)
    n = len(names)
    if n * n * 8 > DENSE_BYTES:
        raise ValueError(
            f"{name} names {n} objects, whose square matrix would take {n * n * 8 / 2**30:.0f} GiB of memory; "
            "keep the pairs in a Parquet file or DuckDB database, which is read as needed (see PairSource)."
        )
    S = _one_per_pair(name, names, places, values, duplicates, several)
    S, note = _mirrored(name, S, names, symmetric)
    return finish(name, S, names, note=note, symmetric=False if symmetric is False else None, **rules)


def _coded(
    name: str, pairs: Iterable[Pair], given: list[str] | None
) -> tuple[list[str], NDArray[np.int64], NDArray[np.float64]]:
    """Ids, (3, P) lines, rows and columns, and (P,) values of the P pairs."""
    code = {} if given is None else {each: k for k, each in enumerate(given)}
    places: list[tuple[int, int, int]] = []
    values: list[float] = []
    for line, a, b, text in pairs:
        try:
            if given is None:
                places.append((line, code.setdefault(a, len(code)), code.setdefault(b, len(code))))
            else:
                places.append((line, code[a], code[b]))
            values.append(float(text))
            if "_" in text:  # Python reads '1_2' as twelve
                raise ValueError
        except KeyError as error:
            raise ValueError(f"{name}: line {line} has the id {error}, not one of ids; add it or drop it.") from None
        except ValueError:
            raise ValueError(f"{name}: line {line} has {text!r} where a number is needed; correct it.") from None
        if not (a and b):
            raise ValueError(f"{name}: line {line} has an empty id; give every pair two.")
    if not places:
        raise ValueError(f"{name} holds no pairs; check that this is the right file.")
    return list(code), np.array(places, np.int64).T, np.array(values)


def _one_per_pair(
    name: str, names: list[str], places: NDArray[np.int64], values: NDArray[np.float64], duplicates: str, several: str
) -> NDArray[np.float64]:
    """S (N, N) from P pairs: places (3, P) are their lines, rows and columns; NaN where there is no pair."""
    n, (lines, i, l) = len(names), places
    key = i * n + l
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order][1:] == key[order][:-1])
    if len(again) and duplicates == "error":
        at = again[np.argmin(lines[order][again + 1])]
        first, second = order[at], order[at + 1]
        both = f"({names[i[first]]!r}, {names[l[first]]!r})"
        hint = f" ({several})" if several else ""
        raise ValueError(
            f"{name}: lines {lines[first]} and {lines[second]} are both the pair {both}{hint}; "
            "delete one, or pass duplicates='first', duplicates='min' or duplicates='max'."
        )
    flat = np.full(n * n, np.nan)
    if duplicates in ("min", "max"):
        (np.fmin if duplicates == "min" else np.fmax).at(flat, key, values)
    else:
        flat[key[::-1]] = values[::-1]  # the last assignment to a place stays: backwards, that is the first line
    return flat.reshape(n, n)


def _mirrored(
    name: str, S: NDArray[np.float64], names: list[str], symmetric: bool | None
) -> tuple[NDArray[np.float64], str]:
    """S with one-way pairs mirrored where the rule of `assemble` says so, and what was done, in words."""
    known = ~np.isnan(S)
    np.fill_diagonal(known, False)
    if symmetric is False or (symmetric is None and (known & known.T).any()) or not known.any():
        return S, ""
    if symmetric:
        unlike = np.argwhere(known & known.T & (S != S.T))
        if len(unlike):
            i, l = (int(k) for k in unlike[0])
            raise ValueError(
                f"{name} was declared symmetric, but ({names[i]!r}, {names[l]!r}) is {S[i, l]:g} one way and "
                f"{S[l, i]:g} the other; correct one, or drop symmetric=True and, if you like, pass symmetrize='mean'."
            )
    note = "" if symmetric else "no pair occurs in both directions: read as one triangle and mirrored"
    return np.where(known, S, S.T), note
