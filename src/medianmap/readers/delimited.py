"""Rows and columns of delimited text: which sign parts the cells, which column is meant, which cell is a number."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from .opening import Opened

# " " stands for any run of blanks, "" for lines that are one cell each.
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", " ": "blank", "": "none"}
# How tables write a value that is not known; in a matrix such a cell is a missing pair.
UNKNOWN = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})
Column = str | int
Row = tuple[int, list[str]]  # number of the line, counted from 1, and its cells

csv.field_size_limit(2**30)  # a sequence may be longer than the 128 KiB that the module expects of a cell


def check_delimiter(delimiter: str) -> str:
    """One of DELIMITERS."""
    if delimiter not in DELIMITERS:
        choices = ", ".join(f"{sign!r} ({word})" for sign, word in DELIMITERS.items())
        raise ValueError(f"delimiter is {delimiter!r}; choose one of {choices}.")
    return delimiter


def guess_delimiter(lines: Sequence[str], extension: str) -> str:
    """What parts the cells: tab in .tsv, the most frequent of , ; tab in .csv, anything that fits in other text."""
    if extension in (".tsv", ".tab"):
        return "\t"
    lines = [line for line in lines[:200] if line.strip()]
    least = {sign: min(line.count(sign) for line in lines) for sign in "\t,;"}
    most = max(least, key=lambda sign: least[sign])
    if least[most]:
        return most
    if extension == ".csv":
        return max("\t,;", key=lambda sign: (sum(line.count(sign) for line in lines), sign == ","))
    rows = [line.split() for line in lines]
    widths = {len(row) for row in rows}
    below = rows[1:] or rows  # the first line may be names
    blanks = len(widths) == 1 and widths != {1} and any(map(is_numeric, zip(*below, strict=True)))
    return " " if blanks else ""


def split_rows(lines: Iterable[str], delimiter: str, name: str, *, comments: bool = False) -> Iterator[Row]:
    """The rows that are not blank, each with the number of its (last) line; '#' opens a comment where it may."""
    number = 0

    def counted() -> Iterator[str]:
        nonlocal number
        for line in lines:
            number += 1
            yield line

    numbered = counted()
    for line in numbered:
        if not line.strip(" \r\n") or (comments and line.startswith("#")):
            continue
        if delimiter in (" ", ""):
            cells = line.split() if delimiter else [line.rstrip("\r\n")]
        elif '"' in line:
            cells = _quoted(chain([line], numbered), delimiter, name, number)
        else:  # three times faster than the csv module, which quoted cells need
            cells = line.rstrip("\r\n").split(delimiter)
        if len(cells) > 1 or cells[0].strip():
            yield number, cells


def _quoted(lines: Iterator[str], delimiter: str, name: str, number: int) -> list[str]:
    """One row with quoted cells, which may go on over several lines."""
    try:
        return next(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise ValueError(
            f"{name}: line {number} cannot be split into cells ({error}); close every quotation mark, "
            "and double those inside quoted cells."
        ) from None


def sample_rows(opened: Opened, delimiter: str, encoding: str, *, comments: bool = False) -> list[list[str]]:
    """The cells of the first lines, for guesses."""
    sample = split_rows(opened.sample(encoding), delimiter, opened.name, comments=comments)
    return [cells for _, cells in sample]


def is_number(cell: str) -> bool:
    """Whether the cell is a number as people write it: Python would take '1_2', an id, for twelve."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_numeric(column: Sequence[str]) -> bool:
    """Whether most of the cells that are known are numbers: one that is mistyped must not make a column text."""
    known = [cell for cell in column if cell.strip().lower() not in UNKNOWN]
    return 2 * sum(map(is_number, known)) > len(known)


def is_text(column: Sequence[str]) -> bool:
    """Whether there are known cells and most are not numbers."""
    return not is_numeric(column) and any(cell.strip().lower() not in UNKNOWN for cell in column)


def numbers(cells: Sequence[str], line: int, first_column: int, header: Sequence[str] | None, name: str) -> list[float]:
    """The cells as numbers; the first that is none is named by line and column (counted from 1)."""
    try:
        values = list(map(float, cells))
        if "_" not in "".join(cells):
            return values
    except ValueError:
        pass
    at = next(k for k, cell in enumerate(cells) if not is_number(cell))
    column = first_column + at
    titled = f" ({header[column]!r})" if header and column < len(header) and header[column] else ""
    found = repr(cells[at]) if cells[at].strip() else "empty"
    hint = " Write decimals with a point." if "," in cells[at] else ""
    raise ValueError(f"{name}: line {line}, column {column + 1}{titled} is {found}, but a number is needed.{hint}")


def find_column(which: Column, header: Sequence[str] | None, width: int, name: str, what: str) -> int:
    """The position, from 0, of the column that is meant by its name or position; others are named in the error."""
    if isinstance(which, str) and header is not None and which in header:
        return header.index(which)
    if isinstance(which, int) and not isinstance(which, bool) and -width <= which < width:
        return which % width
    there = f"the columns {', '.join(map(repr, header))}" if header else f"{width} columns and no line of names"
    raise ValueError(f"{name} has no column {which!r} for the {what}; it has {there}. Positions count from 0.")


def guess_header(rows: Sequence[Sequence[str]], known: frozenset[str]) -> bool:
    """Whether the first row holds names: a known one, an empty corner, one cell less, or text above numbers."""
    first, rest = rows[0], rows[1:]
    if not rest:
        return False
    if len(first) == len(rest[0]) - 1 or (len(first) > 1 and not first[0].strip()):
        return True
    if any(cell.strip().lower() in known for cell in first):
        return True
    if 2 * sum(map(is_number, first)) > len(first):  # a number that was mistyped, not a line of names
        return False
    columns = zip(first, *rest, strict=False)
    return any(not is_number(top) and top.lower() not in UNKNOWN and is_numeric(below) for top, *below in columns)
