"""Delimited text: lines split into cells, cells that are numbers, and which column holds ids, labels or objects."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..utils.files import first_few
from .records import Kind, Opened

# " " means any run of blanks, "" lines of one cell each.
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blank", "": "none"}
DECIMAL_COMMA = re.compile(r"\s*[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?\s*")
# 1,234 may be a decimal, or a thousand and more; so may 1.234, where decimals have commas. 1,234.5 has both signs.
THOUSANDS = re.compile(r"\s*[-+]?[1-9][0-9]{0,2}[.,][0-9]{3}\s*")
BOTH_SIGNS = re.compile(r"\s*[-+]?[0-9]{1,3}(,[0-9]{3})+\.[0-9]+\s*|\s*[-+]?[0-9]{1,3}(\.[0-9]{3})+,[0-9]+\s*")
# Lines at the beginning of a table that are comments, unless they are its line of names.
COMMENTS = ("#", "%")
# Numbers with separators or units, and dates: text, but hardly the strings to compare.
NEARLY_NUMBERS = re.compile(
    r"[<>~] ?[0-9.]+|[-+]?[0-9]+,[0-9]+|[-+]?[0-9]{1,3}([,' ][0-9]{3})+(\.[0-9]+)?|[-+]?[0-9.]+( ?%| [a-zA-Z]{1,4})"
    r"|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([ T][0-9:.]+Z?)?"
)
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
    """What separates the cells: tab in .tsv, the most frequent of , ; tab in .csv, whatever fits in other text."""
    if extension in (".tsv", ".tab"):
        return "\t"
    lines = [line for line in lines[:200] if line.strip()]
    least = {sign: min(line.count(sign) for line in lines) for sign in "\t,;"}
    in_cells = [cell for line in lines for cell in line.strip("\r\n").split(";") if "," in cell]
    if least[";"] and not least["\t"] and in_cells and all(map(DECIMAL_COMMA.fullmatch, in_cells)):
        return ";"
    most = max(least, key=lambda sign: least[sign])
    if least[most]:
        return most
    if extension == ".csv":
        return max("\t,;", key=lambda sign: (sum(line.count(sign) for line in lines), sign == ","))
    for sign in (" ", "|"):
        rows = [line.split(sign if sign == "|" else None) for line in lines]
        widths = {len(row) for row in rows}
        below = rows[1:] or rows  # the first line may be names
        if len(widths) == 1 and widths != {1} and any(map(is_numeric, zip(*below, strict=True))):
            return sign
    return ""


def preface(lines: Sequence[str], extension: str) -> int:
    """How many lines before a table are comments: those that begin as such and have not as many cells as its rows."""
    begun = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith(COMMENTS)), 0)
    delimiter = guess_delimiter(lines[begun:], extension) if begun else ""
    if not delimiter:  # lines of text may begin with any sign
        return 0
    try:
        last, first = (next(split_rows([line], delimiter, ""))[1] for line in (lines[begun - 1], lines[begun]))
    except (ValueError, StopIteration):  # quotation marks of prose, or a blank line
        return begun
    return begun - (len(last) == len(first))


def split_rows(lines: Iterable[str], delimiter: str, name: str, *, comments: bool = False) -> Iterator[Row]:
    """The rows that are not blank, each with the number of its (last) line; with `comments` '#' starts a comment."""
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


def rows_of(opened: Opened, lines: Iterable[str], delimiter: str, *, comments: bool = False) -> Iterator[Row]:
    """`split_rows` of lines of a table, without its preface, and with points for decimal commas."""
    if opened.preface:
        lines = ("\n" if k < opened.preface else line for k, line in enumerate(lines))
    rows = split_rows(lines, delimiter, opened.name, comments=comments)
    if not opened.decimal_comma:
        return rows
    return ((k, [_with_point(cell, opened.name, k) for cell in cells]) for k, cells in rows)


def _with_point(cell: str, name: str, line: int) -> str:
    """The cell with a point for its decimal comma; ValueError for a point that then separates thousands."""
    if DECIMAL_COMMA.fullmatch(cell):
        return cell.replace(",", ".")
    if "." in cell and (THOUSANDS.fullmatch(cell) or BOTH_SIGNS.fullmatch(cell)):
        raise ValueError(
            f"{name}: line {line} holds {cell.strip()!r} in a table of decimal commas, where the point may separate "
            "thousands; write all numbers without separators and with decimal points."
        )
    return cell


def has_decimal_commas(sample: Sequence[Sequence[str]], name: str) -> bool:
    """Whether the sampled cells have decimal commas; ValueError where their commas may as well separate thousands."""
    cells = [cell for row in sample for cell in row]
    commas = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    if not commas:
        return False
    if all(map(THOUSANDS.fullmatch, commas)):
        raise ValueError(
            f"{name} holds {commas[0].strip()!r}, whose comma may be a decimal comma or separate thousands; write all "
            "numbers without separators and with decimal points, or, if these are strings to compare, pass string=NAME."
        )
    return True


def _quoted(lines: Iterator[str], delimiter: str, name: str, number: int) -> list[str]:
    """One row with quoted cells, which may continue over several lines."""
    try:
        return next(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise ValueError(
            f"{name}: line {number} cannot be split into cells ({error}); close every quotation mark, "
            "and double those inside quoted cells."
        ) from None


def data_rows(
    opened: Opened, delimiter: str, encoding: str, *, header: bool, width: int, comments: bool = False
) -> Iterator[Row]:
    """The rows after the line of names, if there is one; ValueError for the first that does not have `width` cells."""
    rows = rows_of(opened, opened.lines(encoding), delimiter, comments=comments)
    if header:
        next(rows, None)
    for line, cells in rows:
        if len(cells) != width:
            series = "" if len(cells) < 4 or not all(map(is_number, cells[1:])) else (
                " For one series of any length per line pass kind='series'."
            )  # fmt: skip
            raise ValueError(
                f"{opened.name}: line {line} has {len(cells)} columns where {width} are expected; "
                f"complete the line if it was cut short, and quote cells that have the delimiter in them.{series}"
            )
        yield line, cells


def sample_rows(opened: Opened, delimiter: str, encoding: str, *, comments: bool = False) -> list[list[str]]:
    """The cells of the first lines, for guesses."""
    sample = rows_of(opened, opened.sample(encoding), delimiter, comments=comments)
    rows = []
    for line, cells in sample:
        if len(cells) > opened.limits.columns:
            opened.limits.refuse_length(f"{opened.name}: line {line}", "columns", opened.limits.columns)
        rows.append(cells)
    return rows


def is_number(cell: str) -> bool:
    """Whether the cell is a number as people write it: Python would take '1_2', an id, for twelve."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_numeric(column: Sequence[str]) -> bool:
    """Whether most of the known cells are numbers: one mistyped cell must not make a column text."""
    known = [cell for cell in column if cell.strip().lower() not in UNKNOWN]
    return 2 * sum(map(is_number, known)) > len(known)


def is_text(column: Sequence[str]) -> bool:
    """Whether there are known cells and most are not numbers."""
    return not is_numeric(column) and any(cell.strip().lower() not in UNKNOWN for cell in column)


def numbers(
    cells: Sequence[str], line: int, columns: Sequence[int], header: Sequence[str] | None, name: str
) -> list[float]:
    """The cells of these columns as numbers; ValueError names the first that is not one by line and column, from 1."""
    try:
        values = list(map(float, cells))
        if "_" not in "".join(cells):
            return values
    except ValueError:
        pass
    at = next(k for k, cell in enumerate(cells) if not is_number(cell))
    column = columns[at]
    titled = f" ({header[column]!r})" if header and column < len(header) and header[column] else ""
    found = repr(cells[at]) if cells[at].strip() else "empty"
    hint = "write decimals with a point" if "," in cells[at] else "correct it"
    if cells[at].strip().lower() in UNKNOWN:
        hint = "fill it in, or pass kind='table' to compare rows by what both have"
    raise ValueError(f"{name}: line {line}, column {column + 1}{titled} is {found}, but a number is needed; {hint}.")


def find_column(which: Column, header: Sequence[str] | None, width: int, name: str, what: str) -> int:
    """The position, from 0, of the column that a name or position means; the error lists those there are."""
    if isinstance(which, str) and header is not None and which in header:
        return header.index(which)
    if isinstance(which, int) and not isinstance(which, bool) and -width <= which < width:
        return which % width
    advice = f"its {width} columns have no names, so count from 0"
    if header:
        advice = f"choose one of {', '.join(map(repr, header))}, or its position from 0"
    raise ValueError(f"{name} has no column {which!r} for the {what}; {advice}.")


def listed_columns(which: Any) -> Sequence[Column]:
    """'height,width' -> ['height', 'width'], '0,2' -> [0, 2], as typed on the command line; a list stays as it is."""
    if isinstance(which, str):
        names = [each.strip() for each in which.split(",")]
        return [int(each) if each.isdecimal() else each for each in names]
    return [which] if isinstance(which, int) else list(which)


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


ID_NAMES = ("id", "ids", "name", "names", "identifier", "accession", "sample", "sample_id", "key")
_IDS_OF_METADATA = frozenset(
    (*(each.replace("_", "") for each in ID_NAMES), "sampleid", "samplename", "featureid", "otuid")
)
LABEL_NAMES = ("label", "labels", "class", "family", "species", "target", "category", "group", "type")
STRING_NAMES = ("string", "sequence", "seq", "text", "word", "peptide", "protein", "dna", "rna", "smiles")
FIRST_LINE_IS_DATA = "the first line was read as data; if it holds names pass header=True"
KNOWN = frozenset(ID_NAMES + LABEL_NAMES + STRING_NAMES)


def is_id_name(title: str) -> bool:
    """Whether a column of metadata is called like ids: 'id', '#SampleID' of QIIME 1, 'sample-id' of QIIME 2, ..."""
    return re.sub(r"[#_\- ]", "", title.lower()) in _IDS_OF_METADATA


@dataclass(frozen=True)
class TableOptions:
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
        """Whether something was said that means nothing for a matrix."""
        return any(each is not None for each in (self.id, self.label, self.string, self.columns, self.alphabet))


@dataclass(frozen=True)
class Layout:
    """Positions of the columns of a table of records; `objects` is one string or M coordinates."""

    kind: Kind
    header: list[str] | None
    width: int
    id: int | None
    label: int | None
    objects: tuple[int, ...]
    note: str
    numeric: tuple[bool, ...] = ()  # whether each of `objects` holds numbers

    @property
    def columns(self) -> list[str] | None:
        """Names of the coordinates."""
        return [self.header[k] for k in self.objects] if self.header and self.kind in ("vectors", "table") else None


def header_of(rows: Sequence[Sequence[str]], header: bool | None, named: bool) -> list[str] | None:
    """Names of the columns, if the first row holds them; "" for a first column that it leaves out, as R writes it."""
    if not (named or guess_header(rows, KNOWN) if header is None else header):
        return None
    names = [cell.strip() for cell in rows[0]]
    return ["", *names] if len(rows) > 1 and len(names) == len(rows[1]) - 1 else names


def lay_out(rows: Sequence[Sequence[str]], name: str, asked: TableOptions) -> Layout:
    """The layout of a table from its first rows: what was asked for, the rest by names and contents."""
    given = [asked.id, asked.label, asked.string, *(asked.columns or ())]
    names = header_of(rows, asked.header, any(isinstance(c, str) for c in given))
    width = len(names) if names else len(rows[0])
    data = [row for row in (rows[1:] if names else rows) if len(row) == width]
    if not data:
        raise ValueError(f"{name} holds a line of names and no rows after it; check that the file is whole.")
    return _Chooser(name, names, width, data).layout(asked)


class _Chooser:
    """Decides which column of one table is what, and notes what was guessed."""

    def __init__(self, name: str, names: list[str] | None, width: int, data: Sequence[Sequence[str]]) -> None:
        self.name, self.names, self.width = name, names, width
        cells = list(zip(*data, strict=True))
        self.numeric = [is_numeric(column) for column in cells]
        self.unique = [len(set(column)) == len(column) for column in cells]
        known = [[cell for cell in column if cell.strip().lower() not in UNKNOWN] for column in cells]
        self.gaps = [len(each) < len(column) for each, column in zip(known, cells, strict=True)]
        # Text whose values repeat.
        self.categories = [not number and 2 * len(set(each)) <= len(each)
                           for number, each in zip(self.numeric, known, strict=True)]  # fmt: skip
        # A cell of a column of nothing but numbers with separators or units, or dates.
        self.nearly = [
            next(iter(each), None) if all(NEARLY_NUMBERS.fullmatch(cell.strip()) for cell in each) else None
            for each in known
        ]
        self.n_rows = len(data)
        self.notes: list[str] = []

    def layout(self, asked: TableOptions) -> Layout:
        kind, id, label, string, columns = asked.kind, asked.id, asked.label, asked.string, asked.columns
        if string is not None and columns is not None:
            raise ValueError("Both string= and columns= are given; a table is read as strings or as vectors; drop one.")
        taken = [self.find(c, w) for c, w in ((string, "string"), (id, "id"), (label, "label")) if c is not None]
        features = None if columns is None else [self.find(c, "vectors") for c in columns]
        taken += features or []
        at_string = None if string is None else self.find(string, "string")
        at_id = self.by_name(ID_NAMES, "ids", taken) if id is None else self.find(id, "id")
        at_label = self.by_name(LABEL_NAMES, "labels", taken) if label is None else self.find(label, "label")
        if at_string is None and features is None and kind in (None, "strings"):
            at_string = self.by_name(STRING_NAMES, "strings", [*taken, at_id, at_label], text=True)
        rest = [k for k in range(self.width) if k not in (at_id, at_label, *taken)]
        if kind is None:
            kind = self.kind(at_string, features, rest, at_label)
        if at_id is None and (kind != "strings" or len(rest) > (at_string is None)):
            at_id = self.first_as_id([*taken, at_string], kind)
            rest = [k for k in rest if k != at_id]
        if kind == "strings":
            if at_string is None:
                at_string = self.only_text(rest)
            if string is None:
                self.note_numbers([k for k in rest if k != at_string and self.numeric[k]])
            return self.done(kind, at_id, at_label, [at_string])
        if kind == "table":
            return self.done(kind, at_id, at_label, self.of_table(rest) if features is None else features)
        if features is None:
            features = self.coordinates(rest)
            text = [k for k in rest if not self.numeric[k]]
            if at_label is None and len(text) == 1 and not self.unique[text[0]]:
                at_label = text[0]
                self.notes.append(f"{self.title(at_label)} read as labels")
            elif text:
                self.notes.append(f"{self.titles(text)} left out")
        return self.done(kind, at_id, at_label, features)

    def find(self, which: Column, what: str) -> int:
        return find_column(which, self.names, self.width, self.name, what)

    def title(self, k: int) -> str:
        return f"column {self.names[k]!r}" if self.names and self.names[k] else f"column {k}"

    def titles(self, columns: Sequence[int]) -> str:
        if len(columns) == 1:
            return self.title(columns[0])
        return f"columns {first_few([(self.names and self.names[k]) or k for k in columns], 5)}"

    def by_name(self, known: Sequence[str], what: str, taken: Sequence[int | None], text: bool = False) -> int | None:
        """The first column with such a name that is still free."""
        lower = [title.lower() for title in self.names or ()]
        for each in known:
            if each in lower and lower.index(each) not in taken and not (text and self.numeric[lower.index(each)]):
                self.notes.append(f"{self.title(lower.index(each))} read as {what}")
                return lower.index(each)
        return None

    def kind(self, at_string: int | None, features: list[int] | None, rest: list[int], at_label: int | None) -> Kind:
        """Vectors if there are coordinates, strings if there is text and at most one column of numbers; a table if
        there are categories beside labels, or coordinates that are missing."""
        if at_string is not None:
            return "strings"
        used = rest if features is None else features
        n_categories, n_numeric = sum(self.categories[k] for k in used), sum(self.numeric[k] for k in used)
        missing = n_numeric > 1 and any(self.gaps[k] for k in used if self.numeric[k])
        # Other text might be the strings; in the first column it rather is the ids.
        free = any(not self.numeric[k] and not self.categories[k] for k in used if k > 0 or not self.unique[0])
        mixed = n_categories > 1 or missing or (n_categories and n_numeric > 1 and at_label is not None)
        if mixed and not free:
            return "table"
        if features is not None:
            return "vectors"
        return "vectors" if n_numeric > 1 or 0 < n_numeric == len(rest) else "strings"

    def first_as_id(self, taken: Sequence[int | None], kind: Kind) -> int | None:
        """The first column if it names the rows: text without repeats, or under an empty corner."""
        corner = self.names is not None and not self.names[0]
        texts = [k for k in range(self.width) if not self.numeric[k] and k not in taken]
        alone = kind == "strings" and texts == [0] and not any(k is not None for k in taken)
        if 0 in taken or self.width < 2 or not (corner or (not self.numeric[0] and self.unique[0] and not alone)):
            return None
        self.notes.append(f"{self.title(0)} read as ids")
        return 0

    def only_text(self, rest: Sequence[int]) -> int:
        texts = [k for k in rest if not self.numeric[k]] or (list(rest) if len(rest) == 1 else [])
        if len(texts) > 1 and self.n_rows == 1:
            raise ValueError(f"{self.name} holds a line of names and no rows after it; check that the file is whole.")
        if len(texts) == 1 and self.nearly[texts[0]] is not None and len(self.numeric) > 1:
            raise ValueError(
                f"{self.name}: {self.title(texts[0])} holds {self.nearly[texts[0]]!r}, which is no plain number; write "
                "numbers without separators and units, or, if these are strings to compare, pass string=NAME."
            )
        if len(texts) != 1:
            found = f"{len(texts)} columns of text" + (f" ({', '.join(map(self.title, texts))})" if texts else "")
            raise ValueError(
                f"{self.name} has {found}; say which holds the strings: pass string=NAME or a position, "
                "or kind='table' to compare whole rows."
            )
        if self.width > 1:
            self.notes.append(f"{self.title(texts[0])} read as strings")
        return texts[0]

    def of_table(self, rest: Sequence[int]) -> list[int]:
        """Numbers and categories; text of which hardly two rows have the same says nothing of how alike they are."""
        left_out = [k for k in rest if not (self.numeric[k] or self.categories[k])]
        if left_out and len(left_out) < len(rest):
            self.notes.append(f"{', '.join(map(self.title, left_out))} left out: hardly a value occurs twice")
            return [k for k in rest if k not in left_out]
        return list(rest)

    def coordinates(self, rest: Sequence[int]) -> list[int]:
        features = [k for k in rest if self.numeric[k]]
        if not features:
            raise ValueError(f"{self.name} has no columns of numbers for vectors; pass columns=NAMES.")
        return features

    def note_numbers(self, left_out: Sequence[int]) -> None:
        """Say which numbers beside the strings are not used, and how to compare them instead."""
        if left_out:
            instead = "; to compare numbers, pass kind='vectors'" if len(left_out) > 1 else ""
            self.notes.append(f"{self.titles(left_out)} left out{instead}")

    def done(self, kind: Kind, id: int | None, label: int | None, objects: Sequence[int]) -> Layout:
        if self.names is None and kind == "strings" and self.width > 1:
            self.notes.append(FIRST_LINE_IS_DATA)
        numeric = tuple(self.numeric[k] for k in objects)
        return Layout(kind, self.names, self.width, id, label, tuple(objects), "; ".join(self.notes), numeric)
