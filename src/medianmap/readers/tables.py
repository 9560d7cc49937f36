"""CSV, TSV and plain text: rows become strings, vectors or series with ids, or a matrix with names at its sides."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.squares import judge_square
from ..utils.checks import refuse_duplicate_ids
from . import columns as text
from .arrays import refuse_not_square, square_kind
from .matrices import mirrored
from .records import Kind, Matrix, Opened, Record, Records, collect, numbered_ids
from .sequences import letter_check
from .similarity import RULE_OPTIONS, finish

KINDS = (None, "strings", "vectors", "series", "table", "matrix", "similarity")
Sample = list[list[str]]


def read_table(opened: Opened, **options: Any) -> Records | Matrix:
    """A whole table. Without `kind` a square of numbers with a zero diagonal or equal names is a matrix."""
    rules = {name: options.pop(name) for name in RULE_OPTIONS if name in options}
    opened, asked, sample, said = _look(opened, options)
    if rules and asked.kind is None and not asked.names_columns:  # rules are for matrices alone
        asked = replace(asked, kind="matrix")
    if asked.kind in (None, "matrix") and not asked.names_columns and is_triangle(sample):
        return read_triangle(opened, sample, asked, rules, said)
    is_numbers = asked.kind in (None, "vectors") and not asked.names_columns and is_grid(sample, asked.header)
    if asked.kind in ("matrix", "similarity") or is_numbers:
        found = read_grid(opened, sample, asked, rules)
        return replace(found, note="; ".join(filter(None, (said, found.note))))
    if rules:
        raise ValueError(f"{opened.name} is read as records; drop {next(iter(rules))}, or pass kind='matrix'.")
    records, kind, columns, note = _stream(opened, asked, sample)
    return collect(records, kind, opened, columns, "; ".join(filter(None, (said, note))))


def iter_table(opened: Opened, **options: Any) -> Iterator[Record]:
    """The rows of a table one by one; the first lines decide which column is what."""
    opened, asked, sample, _ = _look(opened, options)
    if asked.kind in ("matrix", "similarity"):
        raise ValueError(f"{opened.name}: a matrix cannot be read as a stream of records; read it as a whole.")
    return _stream(opened, asked, sample)[0]


def _look(opened: Opened, options: dict[str, Any]) -> tuple[Opened, text.TableOptions, Sample, str]:
    """How the file writes a table, what was asked, with the delimiter, the cells of the first lines, and a note."""
    encoding = options.get("encoding", "utf-8")
    delimiter, lines, note = options.get("delimiter"), opened.sample(encoding), ""
    if delimiter is None:
        before = text.preface(lines, opened.extension)
        opened = replace(opened, preface=before)
        delimiter = text.guess_delimiter(lines[before:], opened.extension)
    asked = text.TableOptions(**{**options, "delimiter": text.check_delimiter(delimiter)})
    if asked.kind not in KINDS:
        raise ValueError(f"kind is {asked.kind!r}; choose one of {', '.join(repr(k) for k in KINDS if k)}.")
    if delimiter == "" and asked.header is None:  # a line of text is not a name, whatever it says
        asked = replace(asked, header=False)
    sample = text.sample_rows(opened, delimiter, encoding)
    numbers = delimiter == ";" and asked.kind != "strings" and asked.string is None
    if numbers and text.has_decimal_commas(sample, opened.name):
        opened = replace(opened, decimal_comma=True)
        sample, note = text.sample_rows(opened, delimiter, encoding), "decimal commas read as points"
    return opened, asked, sample, note


def _stream(
    opened: Opened, asked: text.TableOptions, sample: Sample
) -> tuple[Iterator[Record], Kind, list[str] | None, str]:
    """Records still to be read, and of all of them: their kind, the names of their columns, what was guessed."""
    if asked.kind == "series":
        return _iter_series(opened, asked, sample), "series", None, ""
    layout = text.lay_out(sample, opened.name, asked)
    return _iter_rows(opened, asked, layout), layout.kind, layout.columns, layout.note


def _iter_rows(opened: Opened, asked: text.TableOptions, layout: text.Layout) -> Iterator[Record]:
    check = letter_check(asked.alphabet)
    header = layout.header is not None
    rows = text.data_rows(opened, asked.delimiter, asked.encoding, header=header, width=layout.width)
    for k, (line, cells) in enumerate(rows):
        name = str(k) if layout.id is None else cells[layout.id].strip()
        if not name:
            raise ValueError(f"{opened.name}: line {line} has an empty id; give every record an id.")
        object: Any
        if layout.kind == "strings":
            where = f"{opened.name}: line {line} ({name!r})"
            object = cells[layout.objects[0]]
            if not object and not asked.allow_empty:
                raise ValueError(f"{where} has an empty string; pass allow_empty=True if this is meant.")
            check(object, where)
        elif layout.kind == "table":
            object = _row_of_table(cells, layout, line, opened.name)
            refuse_empty_row(object, f"{opened.name}: line {line} ({name!r})")
        else:
            coordinates = [cells[k] for k in layout.objects]
            object = np.array(text.numbers(coordinates, line, layout.objects, layout.header, opened.name))
        yield Record(name, object, None if layout.label is None else cells[layout.label].strip())


def _row_of_table(cells: Sequence[str], layout: text.Layout, line: int, name: str) -> tuple[Any, ...]:
    """Numbers of columns of numbers, texts of the others, None where a value is not known."""
    row: list[Any] = []
    for k, numeric in zip(layout.objects, layout.numeric, strict=True):
        cell = cells[k].strip()
        if cell.lower() in text.UNKNOWN:
            row.append(None)
        else:
            row.append(text.numbers([cell], line, [k], layout.header, name)[0] if numeric else cell)
    return tuple(row)


def refuse_empty_row(row: tuple[Any, ...], where: str) -> None:
    """ValueError for a row of which nothing is known: it cannot be compared with any other."""
    if all(value is None for value in row):
        raise ValueError(f"{where} has no value in any of its {len(row)} columns; drop that row.")


def _iter_series(opened: Opened, asked: text.TableOptions, sample: Sample) -> Iterator[Record]:
    """One series per row, each of its own length; empty cells at the end of a row are padding.

    Without `id` a first column of text without repeats names the series.
    """
    names = text.header_of(sample, bool(asked.header), False)
    width = min(len(row) for row in sample)
    firsts = [row[0] for row in (sample[1:] if names else sample)]
    named = asked.id is None and text.is_text(firsts) and len(set(firsts)) == len(firsts) and width > 1
    at_id, at_label = (
        None if which is None else text.find_column(which, names, width, opened.name, what)
        for which, what in ((0 if named else asked.id, "id"), (asked.label, "label"))
    )
    rows = text.rows_of(opened, opened.lines(asked.encoding), asked.delimiter)
    if names is not None:
        next(rows)
    for k, (line, cells) in enumerate(rows):
        while cells and not cells[-1].strip():
            cells.pop()
        places = [at for at in range(len(cells)) if at not in (at_id, at_label)]
        if not places or max(at_id or 0, at_label or 0) >= len(cells):
            raise ValueError(f"{opened.name}: line {line} holds no series; complete or remove it.")
        values = text.numbers([cells[at] for at in places], line, places, names, opened.name)
        name = str(k) if at_id is None else cells[at_id].strip()
        yield Record(name, np.array(values), None if at_label is None else cells[at_label].strip())


@dataclass(frozen=True)
class Grid:
    """Numbers X (N, M) with the names of their rows and columns, where there are any."""

    columns: list[str] | None
    rows: list[str] | None
    X: NDArray[np.float64]
    unknown: str  # the sentence for the first cell that is not a number but one of UNKNOWN; empty if none is


def is_grid(rows: Sequence[Sequence[str]], header: bool | None) -> bool:
    """Whether the sampled rows are numbers but for a line and a column of names, and no column is a label."""
    names = text.header_of(rows, header, False)
    data = rows[1:] if names else rows
    columns = list(zip(*data, strict=False))
    if len(columns) < 2 or any(map(text.is_text, columns[1:])):
        return False
    firsts = [cell.strip() for cell in columns[0]]
    if names and (not names[0] or firsts == names[1 : len(firsts) + 1]):
        return True
    if names and (names[0].lower() in text.LABEL_NAMES or any(title.lower() in text.KNOWN for title in names[1:])):
        return False
    return len(set(firsts)) == len(firsts) or not text.is_text(firsts)


def is_triangle(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the sampled rows grow by one number each, after a name or not, as those of a lower triangle do."""
    widths = [len(row) for row in rows]
    return (
        len(rows) > 2
        and widths[0] <= 2
        and widths == [*range(widths[0], widths[0] + len(rows))]
        and all(text.is_number(cell) for row in rows for cell in row[1:])
    )


def read_triangle(opened: Opened, sample: Sample, asked: text.TableOptions, rules: dict[str, Any], note: str) -> Matrix:
    """A lower triangle, mirrored; with or without names, a diagonal, and the first row, which then is empty."""
    name = opened.name
    firsts = [row[0].strip() for row in sample]
    counted = any(firsts == [str(start + k) for k in range(len(sample))] for start in (0, 1))
    diagonal = all(text.is_number(row[-1]) and float(row[-1]) == 0 for row in sample)
    named = len(sample[0]) == 2 or text.is_text(firsts) or (counted and not diagonal)
    ids: list[str] = []
    values: list[list[float]] = []
    for line, cells in text.rows_of(opened, opened.lines(asked.encoding), asked.delimiter):
        need = len(sample[0]) + len(values)
        if len(cells) != need:
            raise ValueError(
                f"{name}: line {line} has {len(cells)} columns where {need} are expected, one more than in the line "
                "before, as in a lower triangle; complete or remove it."
            )
        opened.limits.check_objects(name, len(values) + 1)
        ids.append(cells[0].strip())
        values.append(text.numbers(cells[named:], line, range(named, need), None, name))
    if named:
        refuse_duplicate_ids(ids, name, "row")
    elif not diagonal:  # the first line is that of the second point
        values = [[], *values]
    said = "; ".join(filter(None, (note, "a lower triangle, mirrored")))
    return finish(name, mirrored(values), ids if named else None, note=said, **rules)


def read_grid(
    opened: Opened, sample: Sample, asked: text.TableOptions, rules: dict[str, Any], comments: bool = False
) -> Records | Matrix:
    """The whole table as a Matrix or as vectors: as asked.kind says, else by its shape, names and diagonal.

    asked.id : 0 if the first column names the rows though it looks like numbers.
    """
    if asked.id not in (None, 0):
        raise ValueError(f"id is {asked.id!r}, but a matrix has the names of its rows in the first column; pass id=0.")
    kind, name = asked.kind, opened.name
    grid = _numbers_as_ids(_read(opened, sample, asked, comments), kind)
    X = grid.X
    if kind is None:
        _refuse_half_a_matrix(grid, name)
    named = grid.rows is not None and grid.columns is not None
    kind, X, note = square_kind(name, X, kind, rules, grid.rows == grid.columns if named else None)
    if kind == "vectors":
        if grid.unknown and asked.kind is not None:
            raise ValueError(grid.unknown)
        if rules:
            raise ValueError(f"{name} holds vectors; drop {next(iter(rules))}, or for a matrix pass kind='matrix'.")
        if grid.rows is not None:
            refuse_duplicate_ids(grid.rows, name, "row")
            note = note if grid.columns else "; ".join(filter(None, (note, text.FIRST_LINE_IS_DATA)))
        ids_of_rows = grid.rows or numbered_ids(len(X))
        if not grid.unknown:
            return Records(ids_of_rows, X, "vectors", grid.columns, None, None, note)
        table = [tuple(None if value != value else value for value in row) for row in X.tolist()]
        for i, row in zip(ids_of_rows, table, strict=True):
            refuse_empty_row(row, f"{name}: the row {i!r}")
        return Records(
            ids_of_rows, table, "table", grid.columns, None, None, "; ".join(filter(None, (note, "values are missing")))
        )
    refuse_not_square(X, name)
    _refuse_other_names(grid, name)
    ids = grid.rows or grid.columns
    if ids is not None:
        refuse_duplicate_ids(ids, name, "row")
    return finish(name, X, ids, note=note, **rules)


def _read(opened: Opened, sample: Sequence[Sequence[str]], asked: text.TableOptions, comments: bool) -> Grid:
    names = text.header_of(sample, asked.header, False)
    data = sample[1:] if names else sample
    titled = names is not None and names[0].lower() in ("", *text.ID_NAMES)
    row_names = asked.id is not None or titled or text.is_text([row[0] for row in data])
    first = int(row_names)
    rows: list[str] = []
    values = array("d")
    unknown = ""
    header, width = names is not None, len(names or sample[0])
    lines = text.data_rows(opened, asked.delimiter, asked.encoding, header=header, width=width, comments=comments)
    for line, cells in lines:
        rows.append(cells[0].strip())
        opened.limits.check_objects(opened.name, len(rows))
        if row_names and not rows[-1]:
            raise ValueError(f"{opened.name}: line {line} has an empty id; give every row a name.")
        try:
            row = text.numbers(cells[first:], line, range(first, width), names, opened.name)
        except ValueError as error:
            filled = ["nan" if cell.strip().lower() in text.UNKNOWN else cell for cell in cells[first:]]
            row = text.numbers(filled, line, range(first, width), names, opened.name)
            unknown = unknown or str(error)
        values.extend(row)
    if not values:
        raise ValueError(f"{opened.name} holds a line of names and no rows after it; check that the file is whole.")
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
    if len(ids) == len(X) and all(map(text.is_number, ids)) and np.array_equal(X[:, 0], [float(each) for each in ids]):
        return Grid(ids, ids, X[:, 1:], grid.unknown)
    return grid


def _refuse_half_a_matrix(grid: Grid, name: str) -> None:
    """ValueError for rows that the header names, but not all or in another order: a damaged matrix, not vectors."""
    X = grid.X
    if grid.rows is None or grid.columns is None:
        n = len(X)
        if 3 <= n < X.shape[1]:
            head = judge_square(X[:, :n])
            if head.kind == "dissimilarities" and head.symmetric:
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
    """scikit-bio and QIIME: tabs between cells, first an empty cell and the ids, then a row per id; '#' comments."""
    sample = text.sample_rows(opened, "\t", encoding, comments=True)
    if not sample or len(sample[0]) < 2 or sample[0][0].strip():
        raise ValueError(
            f"{opened.name} is not an lsmat file: begin it with an empty cell and the ids, separated by tabs."
        )
    asked = text.TableOptions(kind="matrix", header=True, delimiter="\t", encoding=encoding)
    matrix = read_grid(opened, sample, asked, rules, comments=True)
    assert isinstance(matrix, Matrix)
    return matrix
