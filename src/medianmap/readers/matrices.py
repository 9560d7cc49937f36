"""Matrices as text of other programs: PHYLIP read; PHYLIP, lsmat and pairs written, every number to its last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources import Source, as_dissimilarity
from ..sources.base import ALL, panels, rows_per_panel
from ..utils.checks import check_choice, refuse_duplicate_ids
from ..utils.files import atomic, packed
from .columns import is_number, numbers
from .records import Matrix, Opened, numbered_ids
from .similarity import finish

NAME_WIDTH = 10
Line = tuple[int, str]
Split = Callable[[str], tuple[str, list[str]]]
Rows = list[tuple[str, list[float]]]
Target = str | PathLike[str]  # a name that ends in .gz is compressed


def read_phylip(opened: Opened, *, names: str | None = None, encoding: str = "utf-8", **rules: Any) -> Matrix:
    """A square or lower-triangular matrix; a lower one, with or without its diagonal, is mirrored.

    names : "relaxed" (a name ends at the first blank), "strict" (a name is the first ten letters, blanks included);
        None tries relaxed, then strict, and refuses a file that both can read but differently.
    """
    check_choice(names, "names", (None, "relaxed", "strict"))
    lines = [(k, line.rstrip("\r\n")) for k, line in enumerate(opened.lines(encoding), 1) if line.strip()]
    n = _count(lines[0], opened.name)
    body = lines[1:]
    if len(lines[0][1].split()) == 2 and body and not any(map(is_number, body[0][1].split()[1:])):
        raise ValueError(f"{opened.name} is a PHYLIP alignment, not a matrix; write its sequences as FASTA.")
    rows = _rows(body, n, SPLITS[names], opened.name) if names else _either(body, n, opened.name)
    ids = [name for name, _ in rows]
    refuse_duplicate_ids(ids, opened.name, "row")
    return finish(opened.name, mirrored([values for _, values in rows]), ids, **rules)


def _count(line: Line, name: str) -> int:
    words = line[1].split()
    if not words or not words[0].isdecimal() or int(words[0]) < 1:
        raise ValueError(
            f"{name}: line {line[0]} is {line[1].strip()[:40]!r}, but a PHYLIP matrix starts with the number of its "
            "points; check that this is the right file."
        )
    return int(words[0])


def _relaxed(line: str) -> tuple[str, list[str]]:
    name, *cells = line.split()
    return name, cells


def _strict(line: str) -> tuple[str, list[str]]:
    return line[:NAME_WIDTH].strip(), line[NAME_WIDTH:].split()


SPLITS: dict[str, Split] = {"relaxed": _relaxed, "strict": _strict}


def _either(body: Sequence[Line], n: int, name: str) -> Rows:
    """The rows, with names read in the way that fits."""
    try:
        relaxed = _rows(body, n, _relaxed, name)
    except ValueError as error:
        try:
            return _rows(body, n, _strict, name)
        except ValueError:
            raise error from None
    if all(len(row_name) <= NAME_WIDTH for row_name, _ in relaxed):
        return relaxed
    try:
        strict = _rows(body, n, _strict, name)
    except ValueError:
        return relaxed
    if strict != relaxed:
        raise ValueError(
            f"{name} can be read with names of ten letters ({strict[0][0]!r}) and with names that end at a blank "
            f"({relaxed[0][0]!r}); pass names='strict' or names='relaxed'."
        )
    return relaxed


def _rows(body: Sequence[Line], n: int, split: Split, name: str) -> Rows:
    """n names with their numbers: n each (square), or k (+ 1 with the diagonal) in row k = 0, 1, ... (lower)."""
    rows: Rows = []
    shape: Callable[[int], int] | None = None
    k = 0
    while k < len(body):
        number, line = body[k]
        k += 1
        if len(rows) == n:
            raise ValueError(f"{name} says {n} points, but there is another row in line {number}; correct the count.")
        row_name, cells = split(line)
        if not row_name:
            raise ValueError(f"{name}: line {number} has no name; start every row with the name of its point.")
        values = numbers(cells, number, range(1, 1 + len(cells)), None, name)  # column 1 is the name
        if shape is None:
            shape = _shape(len(values), n)
        need = shape(len(rows))
        while len(values) < need and k < len(body) and is_number(body[k][1].split()[0]):  # a row may take several lines
            cells = body[k][1].split()
            values += numbers(cells, body[k][0], range(len(cells)), None, name)
            k += 1
        if len(values) != need:
            raise ValueError(
                f"{name}: the row of {row_name!r} (line {number}) has {len(values)} numbers where {need} are expected; "
                "correct it, or the number in the first line: a matrix is square or a lower triangle."
            )
        rows.append((row_name, values))
    if len(rows) != n:
        raise ValueError(f"{name} says {n} points but holds {len(rows)}; correct the number, or complete the file.")
    return rows


def _shape(first: int, n: int) -> Callable[[int], int]:
    """How many numbers each row has, from how many the first line has."""
    if first == 0:
        return lambda row: row
    if first == 1 and n > 1:
        return lambda row: row + 1
    return lambda row: n


def mirrored(rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """D (N, N); a lower triangle is mirrored, with zeros on a missing diagonal."""
    n = len(rows)
    if len(rows[0]) == n:
        return np.array(rows, np.float64)
    D = np.zeros((n, n))
    for i, row in enumerate(rows):
        D[i, : len(row)] = row
        D[: len(row), i] = row
    return D


def write_phylip(path: Target, D: Any, ids: Sequence[str] | None = None) -> None:
    """A square PHYLIP matrix with relaxed names.

    path : the file to write, whole or not at all; packed where the name ends in .gz.
    D : anything that `as_dissimilarity` takes.
    ids : N names; None takes those of D, or numbers.
    """
    source, names = _named(D, ids)
    bad = next((name for name in names if not name or any(c.isspace() for c in name)), None)
    if bad is not None:
        raise ValueError(f"The id {bad!r} is empty or contains a blank, which ends a name in PHYLIP; rename it.")
    _write_rows(path, source, names, f"{len(names)}\n", " ")


def write_lsmat(path: Target, D: Any, ids: Sequence[str] | None = None) -> None:
    """A scikit-bio / QIIME matrix: separated by tabs, with ids above and at the left.

    path : the file to write, whole or not at all; packed where the name ends in .gz.
    D : anything that `as_dissimilarity` takes.
    ids : N names; None takes those of D, or numbers.
    """
    source, names = _named(D, ids)
    _refuse_unwritable(names, "lsmat")
    _write_rows(path, source, names, "".join(f"\t{name}" for name in names) + "\n", "\t")


def write_pairs(path: Target, D: Any, ids: Sequence[str] | None = None) -> None:
    """Three columns separated by tabs: from, to, value; all N^2 pairs, both directions and the diagonal.

    path : the file to write, whole or not at all; packed where the name ends in .gz.
    D : anything that `as_dissimilarity` takes.
    ids : N names; None takes those of D, or numbers.
    """
    source, names = _named(D, ids)
    _refuse_unwritable(names, "a pair table")
    with atomic(path) as plain, packed(plain, path) as file:
        for i, row in _rows_of(source):
            lines = "".join(f"{names[i]}\t{to}\t{value!r}\n" for to, value in zip(names, row, strict=True))
            file.write(lines.encode())


def _named(D: Any, ids: Sequence[str] | None) -> tuple[Source, list[str]]:
    source = as_dissimilarity(D, ids=ids) if ids is not None else as_dissimilarity(D)
    names = numbered_ids(source.shape[0]) if source.ids is None else [str(each) for each in source.ids]
    refuse_duplicate_ids(names, "ids", "place")
    return source, names


def _refuse_unwritable(names: Sequence[str], what: str) -> None:
    bad = next((n for n in names if not n or n != n.strip() or n[0] == "#" or any(c in n for c in '\t\r\n"')), None)
    if bad is not None:
        raise ValueError(
            f"The id {bad!r} cannot be written to {what}: it is empty, starts with '#', or contains a tab, a line "
            "break, a quotation mark or blanks at its ends; rename it."
        )


def _rows_of(source: Source) -> Iterator[tuple[int, list[float]]]:
    """(i, row i as a list of Python floats), panel by panel."""
    n = source.shape[0]
    for rows in panels(n, rows_per_panel(n)):
        block: NDArray[np.float64] = np.asarray(source.block(rows, ALL), np.float64)
        yield from enumerate(block.tolist(), rows.start)


def _write_rows(path: Target, source: Source, names: Sequence[str], opening: str, delimiter: str) -> None:
    with atomic(path) as plain, packed(plain, path) as file:
        file.write(opening.encode())
        for i, row in _rows_of(source):
            file.write(f"{names[i]}{delimiter}{delimiter.join(map(repr, row))}\n".encode())
