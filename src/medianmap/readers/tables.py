"""CSV, TSV and plain text: rows become strings, vectors or series with ids, or a matrix with names at its sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .delimited import Column, check_delimiter, find_column, guess_delimiter, numbers, sample_rows, split_rows
from .grid import is_grid, read_grid
from .layout import Layout, header_of, lay_out
from .opening import Opened
from .records import Matrix, Record, Records, collect
from .sequences import letter_check

KINDS = (None, "strings", "vectors", "series", "matrix")


def read_table(
    opened: Opened,
    *,
    kind: str | None = None,
    id: Column | None = None,
    label: Column | None = None,
    string: Column | None = None,
    columns: Sequence[Column] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    alphabet: str | None = None,
    **rules: Any,
) -> Records | Matrix:
    """A whole table. Without `kind` a square of numbers with a zero diagonal or equal names is a matrix."""
    delimiter, rows = _look(opened, kind, delimiter, encoding)
    as_records = any(option is not None for option in (id, label, string, columns, alphabet))
    if kind == "matrix" or (kind in (None, "vectors") and not as_records and is_grid(rows, header)):
        return read_grid(opened, rows, delimiter, encoding, kind, header, rules, id=id)
    if rules:
        raise ValueError(
            f"{opened.name} is read as records, for which {next(iter(rules))} means nothing; "
            "for a matrix pass kind='matrix'."
        )
    if kind == "series":
        records = _iter_series(opened, rows, delimiter, encoding, header, id, label)
        return collect(records, "series", opened.name, None, "")
    layout = lay_out(
        rows, opened.name, kind=kind, header=header, id=id, label=label, string=string, columns=columns  # type: ignore[arg-type]
    )  # fmt: skip
    return collect(
        _iter_rows(opened, layout, delimiter, encoding, alphabet), layout.kind, opened.name, layout.columns, layout.note
    )


def iter_table(
    opened: Opened,
    *,
    kind: str | None = None,
    id: Column | None = None,
    label: Column | None = None,
    string: Column | None = None,
    columns: Sequence[Column] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    alphabet: str | None = None,
) -> Iterator[Record]:
    """The rows of a table one by one; the layout is settled by the first lines."""
    delimiter, rows = _look(opened, kind, delimiter, encoding)
    if kind == "matrix":
        raise ValueError(f"{opened.name}: a matrix cannot be read record by record; use read.")
    if kind == "series":
        return _iter_series(opened, rows, delimiter, encoding, header, id, label)
    layout = lay_out(
        rows, opened.name, kind=kind, header=header, id=id, label=label, string=string, columns=columns  # type: ignore[arg-type]
    )  # fmt: skip
    return _iter_rows(opened, layout, delimiter, encoding, alphabet)


def _look(opened: Opened, kind: str | None, delimiter: str | None, encoding: str) -> tuple[str, list[list[str]]]:
    """The delimiter, and the cells of the first lines."""
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; choose one of {', '.join(repr(k) for k in KINDS if k)}.")
    if delimiter is None:
        delimiter = guess_delimiter(opened.sample(encoding), opened.extension)
    return check_delimiter(delimiter), sample_rows(opened, delimiter, encoding)


def _iter_rows(opened: Opened, layout: Layout, delimiter: str, encoding: str, alphabet: str | None) -> Iterator[Record]:
    check = letter_check(alphabet)
    rows = split_rows(opened.lines(encoding), delimiter, opened.name)
    if layout.header is not None:
        next(rows)
    for k, (line, cells) in enumerate(rows):
        if len(cells) != layout.width:
            raise ValueError(
                f"{opened.name}: line {line} has {len(cells)} columns where {layout.width} are expected; "
                "the file may be truncated, or a cell with the delimiter in it is not quoted."
            )
        name = str(k) if layout.id is None else cells[layout.id].strip()
        if not name:
            raise ValueError(f"{opened.name}: line {line} has an empty id; give every record an id.")
        object: Any
        if layout.kind == "strings":
            object = cells[layout.objects[0]]
            check(object, f"{opened.name}: line {line} ({name!r})")
        else:
            object = _vector(cells, layout, line, opened.name)
        yield Record(name, object, None if layout.label is None else cells[layout.label].strip())


def _vector(cells: list[str], layout: Layout, line: int, name: str) -> Any:
    """The coordinates of one row (M,)."""
    try:
        return np.array(numbers([cells[k] for k in layout.objects], line, 0, None, name))
    except ValueError:
        for k in layout.objects:  # again one by one: the message names the column of the file, not the coordinate
            numbers([cells[k]], line, k, layout.header, name)
        raise


def _iter_series(
    opened: Opened,
    sample: list[list[str]],
    delimiter: str,
    encoding: str,
    header: bool | None,
    id: Column | None,
    label: Column | None,
) -> Iterator[Record]:
    """A series a row, each of its own length; cells that are empty at the end of a row are padding."""
    names, _ = header_of(sample, bool(header), False)
    width = min(len(row) for row in sample)
    at_id, at_label = (
        None if which is None else find_column(which, names, width, opened.name, what)
        for which, what in ((id, "id"), (label, "label"))
    )
    rows = split_rows(opened.lines(encoding), delimiter, opened.name)
    if names is not None:
        next(rows)
    for k, (line, cells) in enumerate(rows):
        while cells and not cells[-1].strip():
            cells.pop()
        places = [at for at in range(len(cells)) if at not in (at_id, at_label)]
        if not places or max(at_id or 0, at_label or 0) >= len(cells):
            raise ValueError(f"{opened.name}: line {line} holds no series; the file may be truncated.")
        values = [value for at in places for value in numbers([cells[at]], line, at, names, opened.name)]
        name = str(k) if at_id is None else cells[at_id].strip()
        yield Record(name, np.array(values), None if at_label is None else cells[at_label].strip())
