"""CSV, TSV and plain text: rows become strings, vectors or series with ids, or a matrix with names at its sides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .columns import (
    Column,
    Layout,
    check_delimiter,
    find_column,
    guess_delimiter,
    header_of,
    lay_out,
    numbers,
    sample_rows,
    split_rows,
)
from .number_tables import is_grid, read_grid
from .opening import Opened
from .records import Kind, Matrix, Record, Records, collect
from .sequences import letter_check

DECIMAL_COMMA = re.compile(r"\s*-?[0-9]+,[0-9]+\s*")
KINDS = (None, "strings", "vectors", "series", "matrix")
Sample = list[list[str]]


@dataclass(frozen=True)
class Asked:
    """What the user said about a table; see `read`."""

    kind: Any = None
    id: Column | None = None
    label: Column | None = None
    string: Column | None = None
    columns: Sequence[Column] | None = None
    header: bool | None = None
    delimiter: str = ""
    encoding: str = "utf-8"
    alphabet: str | None = None
    allow_empty: bool = False

    @property
    def names_columns(self) -> bool:
        """Whether something was said that means nothing to a matrix."""
        return any(each is not None for each in (self.id, self.label, self.string, self.columns, self.alphabet))


@dataclass(frozen=True)
class Stream:
    """Records to come, and what is known of them all."""

    records: Iterator[Record]
    kind: Kind
    columns: list[str] | None
    note: str


def read_table(
    opened: Opened,
    *,
    similarity: Any = None,
    missing: str | float | None = None,
    symmetrize: str | None = None,
    **options: Any,
) -> Records | Matrix:
    """A whole table. Without `kind` a square of numbers with a zero diagonal or equal names is a matrix."""
    every = {"similarity": similarity, "missing": missing, "symmetrize": symmetrize}
    rules = {name: rule for name, rule in every.items() if rule is not None}
    asked, sample = _look(opened, options)
    if rules and asked.kind is None and not asked.names_columns:  # they are said of matrices alone
        asked = replace(asked, kind="matrix")
    is_numbers = asked.kind in (None, "vectors") and not asked.names_columns and is_grid(sample, asked.header)
    if asked.kind == "matrix" or is_numbers:
        return read_grid(
            opened, sample, asked.delimiter, asked.encoding, asked.kind, asked.header, rules, id=asked.id
        )  # fmt: skip
    if rules:
        raise ValueError(
            f"{opened.name} is read as records, for which {next(iter(rules))} means nothing; "
            "for a matrix pass kind='matrix'."
        )
    stream = _stream(opened, asked, sample)
    return collect(stream.records, stream.kind, opened.name, stream.columns, stream.note)


def iter_table(opened: Opened, **options: Any) -> Iterator[Record]:
    """The rows of a table one by one; what the columns are is settled by the first lines."""
    asked, sample = _look(opened, options)
    if asked.kind == "matrix":
        raise ValueError(f"{opened.name}: a matrix cannot be read record by record; use read.")
    return _stream(opened, asked, sample).records


def _look(opened: Opened, options: dict[str, Any]) -> tuple[Asked, Sample]:
    """What was asked, with the delimiter, and the cells of the first lines."""
    encoding = options.get("encoding", "utf-8")
    delimiter = options.get("delimiter")
    if delimiter is None:
        delimiter = guess_delimiter(opened.sample(encoding), opened.extension)
    asked = Asked(**{**options, "delimiter": check_delimiter(delimiter)})
    if asked.kind not in KINDS:
        raise ValueError(f"kind is {asked.kind!r}; choose one of {', '.join(repr(k) for k in KINDS if k)}.")
    if delimiter == "" and asked.header is None:  # a line of text is not a name, whatever it says
        asked = replace(asked, header=False)
    sample = sample_rows(opened, delimiter, encoding)
    if delimiter == ";" and asked.kind != "strings" and asked.string is None:
        _refuse_decimal_commas(sample, opened.name)
    return asked, sample


def _refuse_decimal_commas(sample: Sample, name: str) -> None:
    comma = next((cell for row in sample for cell in row if DECIMAL_COMMA.fullmatch(cell)), None)
    if comma is not None:
        raise ValueError(
            f"{name} writes {comma!r} with a decimal comma; write decimals with a point, "
            "or, if these are strings, say which column holds them with string=."
        )


def _stream(opened: Opened, asked: Asked, sample: Sample) -> Stream:
    if asked.kind == "series":
        return Stream(_iter_series(opened, asked, sample), "series", None, "")
    layout = lay_out(
        sample,
        opened.name,
        kind=asked.kind,
        header=asked.header,
        id=asked.id,
        label=asked.label,
        string=asked.string,
        columns=asked.columns,
    )
    return Stream(_iter_rows(opened, asked, layout), layout.kind, layout.columns, layout.note)


def _iter_rows(opened: Opened, asked: Asked, layout: Layout) -> Iterator[Record]:
    check = letter_check(asked.alphabet)
    rows = split_rows(opened.lines(asked.encoding), asked.delimiter, opened.name)
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
            where = f"{opened.name}: line {line} ({name!r})"
            object = cells[layout.objects[0]]
            if not object and not asked.allow_empty:
                raise ValueError(f"{where} has an empty string; pass allow_empty=True if this is meant.")
            check(object, where)
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


def _iter_series(opened: Opened, asked: Asked, sample: Sample) -> Iterator[Record]:
    """A series a row, each of its own length; cells that are empty at the end of a row are padding."""
    names, _ = header_of(sample, bool(asked.header), False)
    width = min(len(row) for row in sample)
    at_id, at_label = (
        None if which is None else find_column(which, names, width, opened.name, what)
        for which, what in ((asked.id, "id"), (asked.label, "label"))
    )
    rows = split_rows(opened.lines(asked.encoding), asked.delimiter, opened.name)
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
