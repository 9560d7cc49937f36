"""A table of numbers with names at its sides or without: a matrix if it is square and says so, else vectors."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import refuse_duplicate_ids
from .arrays import refuse_not_square, square_kind
from .columns import (
    FIRST_LINE_IS_DATA,
    ID_NAMES,
    KNOWN,
    LABEL_NAMES,
    UNKNOWN,
    Column,
    header_of,
    is_number,
    is_text,
    numbers,
    split_rows,
)
from .opening import Opened
from .records import Matrix, Records, counted
from .similarity import finish


@dataclass(frozen=True)
class Grid:
    """Numbers X (N, M) with the names of their rows and columns, where there are any."""

    columns: list[str] | None
    rows: list[str] | None
    X: NDArray[np.float64]
    unknown: str  # the sentence for the first cell that is not a number but one of UNKNOWN; empty if none is


def is_grid(rows: Sequence[Sequence[str]], header: bool | None) -> bool:
    """Whether the sampled rows are numbers but for a line and a column of names, and no column is a label."""
    names, _ = header_of(rows, header, False)
    data = rows[1:] if names else rows
    columns = list(zip(*data, strict=False))
    if len(columns) < 2 or any(map(is_text, columns[1:])):
        return False
    firsts = [cell.strip() for cell in columns[0]]
    if names and (not names[0] or firsts == names[1 : len(firsts) + 1]):
        return True
    if names and (names[0].lower() in LABEL_NAMES or any(title.lower() in KNOWN for title in names[1:])):
        return False
    return len(set(firsts)) == len(firsts) or not is_text(firsts)


def read_grid(
    opened: Opened,
    sample: Sequence[Sequence[str]],
    delimiter: str,
    encoding: str,
    kind: str | None,
    header: bool | None,
    rules: dict[str, Any],
    *,
    id: Column | None = None,
    comments: bool = False,
) -> Records | Matrix:
    """The whole table as a Matrix or as vectors; `kind` settles which, else its shape, names and diagonal.

    id : 0 if the first column names the rows though it looks like numbers.
    """
    if id not in (None, 0):
        raise ValueError(
            f"id is {id!r}, but the names of a matrix's rows stand in its first column; pass id=0 or none."
        )
    grid = _numbers_as_ids(_read(opened, sample, delimiter, encoding, header, id is not None, comments), kind)
    name = opened.name
    X = grid.X
    if kind is None:
        _refuse_half_a_matrix(grid, name)
        named = grid.rows is not None and grid.columns is not None
        kind, note = square_kind(X, bool(rules), grid.rows == grid.columns if named else None)
    else:
        note = ""
    if kind == "vectors":
        if grid.unknown:
            raise ValueError(grid.unknown)
        if rules:
            raise ValueError(f"{name} holds vectors, for which {next(iter(rules))} means nothing; see kind='matrix'.")
        if grid.rows is not None:
            refuse_duplicate_ids(grid.rows, name, "row")
            note = note if grid.columns else "; ".join(filter(None, (note, FIRST_LINE_IS_DATA)))
        return Records(grid.rows or counted(len(X)), X, "vectors", grid.columns, None, None, note)
    refuse_not_square(X, name)
    _refuse_other_names(grid, name)
    ids = grid.rows or grid.columns
    if ids is not None:
        refuse_duplicate_ids(ids, name, "row")
    return finish(name, X, ids, note=note, **rules)


def _read(
    opened: Opened,
    sample: Sequence[Sequence[str]],
    delimiter: str,
    encoding: str,
    header: bool | None,
    has_row_names: bool,
    comments: bool,
) -> Grid:
    names, shifted = header_of(sample, header, False)
    data = sample[1:] if names else sample
    titled = names is not None and names[0].lower() in ("", *ID_NAMES)
    row_names = has_row_names or shifted or titled or is_text([row[0] for row in data])
    first = int(row_names)
    rows: list[str] = []
    values = array("d")
    unknown = ""
    lines = split_rows(opened.lines(encoding), delimiter, opened.name, comments=comments)
    if names is not None:
        next(lines)
    width = len(names) if names is not None else len(sample[0])
    for line, cells in lines:
        if len(cells) != width:
            raise ValueError(
                f"{opened.name}: line {line} has {len(cells)} columns where {width} are expected; "
                "the file may be truncated."
            )
        rows.append(cells[0].strip())
        if row_names and not rows[-1]:
            raise ValueError(f"{opened.name}: line {line} has an empty id; give every row a name.")
        try:
            row = numbers(cells[first:], line, first, names, opened.name)
        except ValueError as error:
            filled = ["nan" if cell.strip().lower() in UNKNOWN else cell for cell in cells[first:]]
            row = numbers(filled, line, first, names, opened.name)
            unknown = unknown or str(error)
        values.extend(row)
    if not values:
        raise ValueError(f"{opened.name} holds a line of names and no rows after it; the file may be truncated.")
    columns = names[first:] if names is not None else None
    X = np.frombuffer(values).reshape(len(rows), -1)
    return Grid(columns, rows if row_names else None, X, unknown)


def _numbers_as_ids(grid: Grid, kind: str | None) -> Grid:
    """Names that are numbers look like values: a first row 0 .. N-1 above a square, a first column like the header."""
    X = grid.X
    if grid.rows is not None or kind == "vectors":
        return grid
    if grid.columns is None and X.shape[0] == X.shape[1] + 1:
        for start in (0, 1):
            if np.array_equal(X[0], np.arange(start, start + X.shape[1])) and not np.diagonal(X[1:]).any():
                return Grid([str(k + start) for k in range(X.shape[1])], None, X[1:], grid.unknown)
    ids = (grid.columns or [])[1:]
    if len(ids) == len(X) and all(map(is_number, ids)) and np.array_equal(X[:, 0], [float(each) for each in ids]):
        return Grid(ids, ids, X[:, 1:], grid.unknown)
    return grid


def _refuse_half_a_matrix(grid: Grid, name: str) -> None:
    """Rows that the header names, but not all of them or in another order: a matrix that went wrong, not vectors."""
    X = grid.X
    if grid.rows is None or grid.columns is None:
        n = len(X)
        if 3 <= n < X.shape[1] and not np.diagonal(X).any() and np.array_equal(X[:, :n], X[:, :n].T):
            refuse_not_square(X, name)
        return
    shared = set(grid.rows) & set(grid.columns)
    if len(shared) > min(len(grid.rows), len(grid.columns)) / 2:
        refuse_not_square(X, name)
        _refuse_other_names(grid, name)


def _refuse_other_names(grid: Grid, name: str) -> None:
    for k, (row, column) in enumerate(zip(grid.rows or (), grid.columns or (), strict=False), 1):
        if row != column:
            raise ValueError(
                f"{name}: row {k} is named {row!r} but column {k} is named {column!r}; "
                "put rows and columns in the same order."
            )


def read_lsmat(opened: Opened, *, encoding: str = "utf-8", **rules: Any) -> Matrix:
    """scikit-bio and QIIME: cells by tabs, a line of ids after an empty cell, then a row an id; '#' opens a comment."""
    sample = [cells for _, cells in split_rows(opened.sample(encoding), "\t", opened.name, comments=True)]
    if not sample or len(sample[0]) < 2 or sample[0][0].strip():
        raise ValueError(
            f"{opened.name} is no lsmat file: its first line must be an empty cell, then the ids, by tabs."
        )
    matrix = read_grid(opened, sample, "\t", encoding, "matrix", True, rules, comments=True)
    assert isinstance(matrix, Matrix)
    return matrix
