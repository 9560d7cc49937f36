"""A file opened, plain, .gz or standard input, and what it holds once it is read: Records of objects, or a Matrix."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..sources import Source, as_dissimilarity
from ..utils.checks import refuse_duplicate_ids
from ..utils.loading import require
from ..utils.threads import step

Kind: TypeAlias = Literal["strings", "vectors", "series", "table"]
HEAD_BYTES = 64 * 2**10
HEAD_LINES = 4  # a wide matrix has few lines in its first bytes; this many are read even if they are long,
HEAD_MOST = 16 * 2**20  # up to this size
GZIP_MAGIC = b"\x1f\x8b"
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What a packed file may unpack to unasked: real data shrink to a twentieth at the most, bombs to a thousandth.
UNPACKED_FREE, UNPACKED_TIMES = 256 * 2**20, 100
DENSE_BYTES = 4 * 2**30  # a square array made in memory; beyond this (23000 points) a database is better
WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")


@dataclass(frozen=True)
class Limits:
    """How large the parts of a file may be; more is refused with a sentence that says how to ask for it.

    max_length : bytes of a line, letters of a sequence; a tenth of it, columns of a table; a hundredth, blank lines.
    max_unpacked : bytes that a packed file unpacks to; None: 100 times its size, and 256 MiB at least.
    max_objects : objects of a file that is read as a whole.
    """

    max_length: int = 10_000_000
    max_unpacked: int | None = None
    max_objects: int = 2_000_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(f"{name} is {value!r}; it must be a whole number, 1 or more.")

    @property
    def columns(self) -> int:
        """Columns of a table: each is looked at several times, to guess what a table holds."""
        return max(self.max_length // 10, 1)

    @property
    def blank_lines(self) -> int:
        """Blank lines in a row, of which a file of a few kB unpacks to millions."""
        return max(self.max_length // 100, 1)

    def refuse_length(self, where: str, what: str, most: int | None = None) -> NoReturn:
        """ValueError for a line or a sequence that is longer than max_length, or what else is the most."""
        raise ValueError(
            f"{where} has more than {most or self.max_length} {what}; check that this is the right file, or, if this "
            f"is meant, pass max_length={10 * self.max_length}."
        )

    def check_unpacked(self, name: str, packed: int, unpacked: int) -> None:
        """ValueError where a file of so many bytes unpacks to more than it may."""
        most = self.max_unpacked or max(UNPACKED_FREE, UNPACKED_TIMES * packed)
        if unpacked > most:
            raise ValueError(
                f"{name} unpacks from {packed} to more than {most} bytes, as files made to fill the memory do; "
                f"check where it comes from, or, if this is meant, pass max_unpacked={10 * most}."
            )

    def check_objects(self, name: str, n: int) -> None:
        """ValueError for more objects than may be read into memory."""
        if n > self.max_objects:
            raise ValueError(
                f"{name} holds more than {self.max_objects} objects; read it as a stream, or, if you have memory for "
                f"them, pass max_objects={10 * self.max_objects}."
            )


LIMITS = tuple(each.name for each in fields(Limits))


def limits_in(options: Mapping[str, Any]) -> Limits:
    """The limits among the options of `read`, the usual ones for the others."""
    return Limits(**{name: options[name] for name in LIMITS if options.get(name) is not None})


@dataclass(frozen=True)
class Opened:
    """A file being read: `stream` starts at the beginning, uncompressed; `head` is a copy of its first bytes."""

    name: str  # as the user knows it, for messages
    path: Path | None  # None: standard input
    stream: BinaryIO
    head: bytes
    compressed: bool
    limits: Limits = field(default_factory=Limits)
    size: int = 0  # bytes of the file, 0 of standard input
    recoded: bool = False  # UTF-16 by its mark: stream and head are UTF-8, whatever encoding is asked for
    preface: int = 0  # lines of comments before a table
    decimal_comma: bool = False  # of a table

    @property
    def extension(self) -> str:
        """What the name ends in, in lower case, .gz left out: '.fasta' for 'x.FASTA.gz'."""
        return "" if self.path is None else Path(self.path.name.lower().removesuffix(".gz")).suffix

    def _refuse_lone_returns(self) -> None:
        """ValueError for text whose lines end as on old Macs: it would be read as one long line."""
        if b"\r" in self.head and b"\n" not in self.head:
            raise ValueError(f"{self.name} ends its lines with \\r only; convert them, for example: tr '\\r' '\\n'.")

    def _is_utf8(self, encoding: str) -> bool:
        return self.recoded or encoding.lower().replace("_", "-") in ("utf-8", "utf8")

    def _refuse_zero_bytes(self) -> None:
        if b"\0" in self.head:
            raise ValueError(f"{self.name} has zero bytes, so it is not UTF-8 text; for UTF-16 pass encoding='utf-16'.")

    def raw_lines(self) -> Iterator[bytes]:
        """The lines as bytes; ValueError for one that is longer than they may be, and for blank ones without end."""
        most, blank = self.limits.max_length + len(b"\r\n"), 0
        for number, raw in enumerate(iter(partial(self.stream.readline, most + 1), b""), 1):
            if len(raw) > most:
                self.limits.refuse_length(f"{self.name}: line {number}", "bytes")
            blank = blank + 1 if raw.isspace() else 0
            if blank > self.limits.blank_lines:
                self.limits.refuse_length(f"{self.name}: line {number - blank}", "blank lines after it", blank - 1)
            yield raw

    def lines(self, encoding: str = "utf-8") -> Iterator[str]:
        """The lines with their line breaks; ValueError names the line of a byte that is not text."""
        self._refuse_lone_returns()
        if not self._is_utf8(encoding):
            yield from self._lines_in(encoding)
            return
        self._refuse_zero_bytes()
        for number, raw in enumerate(self.raw_lines(), 1):
            try:
                line = raw.decode()
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{self.name} is not UTF-8 text: line {number} has the byte 0x{raw[error.start]:02x} at position "
                    f"{error.start + 1}; convert it, or pass its encoding, for example encoding='latin-1'."
                ) from None
            yield line.removeprefix("\ufeff") if number == 1 else line

    def _lines_in(self, encoding: str) -> Iterator[str]:
        most = self.limits.max_length + len("\r\n")
        try:
            text = io.TextIOWrapper(self.stream, encoding, newline="")
            for number, line in enumerate(iter(partial(text.readline, most + 1), ""), 1):
                if len(line) > most:
                    self.limits.refuse_length(f"{self.name}: line {number}", "letters")
                yield line
        except LookupError:
            raise ValueError(f"There is no encoding {encoding!r}; use for example 'utf-8' or 'latin-1'.") from None
        except UnicodeError as error:
            raise ValueError(f"{self.name} is not text in {encoding!r} ({error}); choose another encoding.") from None

    def sample(self, encoding: str = "utf-8") -> list[str]:
        """The complete lines of the head, as text."""
        self._refuse_lone_returns()
        if self._is_utf8(encoding):
            self._refuse_zero_bytes()
            encoding = "utf-8"
        longest = max(map(len, self.head.split(b"\n")))
        if longest > self.limits.max_length + 1:
            self.limits.refuse_length(f"{self.name}: one of its first lines", "bytes")
        try:
            lines = list(io.StringIO(self.head.decode(encoding, "replace").removeprefix("\ufeff"), newline="\n"))
        except LookupError:
            raise ValueError(f"There is no encoding {encoding!r}; use for example 'utf-8' or 'latin-1'.") from None
        if len(self.head) >= HEAD_BYTES and len(lines) > 1 and not lines[-1].endswith("\n"):
            lines.pop()
        return lines


@contextmanager
def opening(path: str | PathLike[str], limits: Limits | None = None) -> Iterator[Opened]:
    """Open a path, or standard input for '-'; whatever is wrong with the file becomes one sentence."""
    limits = limits or Limits()
    if fspath(path) == "-":
        with _looked_at("standard input", None, sys.stdin.buffer, limits) as opened:
            yield opened
        return
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder; give the path of a file.")
    if not place.exists():
        raise FileNotFoundError(f"There is no file {place}; check the path.")
    if not place.is_file():  # it would be opened more than once, to look at its beginning, and would have lost that
        what = "a pipe, which can be read only once" if place.is_fifo() else "a device"
        raise ValueError(
            f"{place} is {what}; write - in its place and put the data on standard input, as in: "
            "cat FILE | medianmap fit - -o DIR"
        )
    if place.suffix.lower() in WORKBOOKS:
        content = sheet_as_csv(place, limits)
        stream = cast(BinaryIO, io.BytesIO(content))
        yield Opened(str(place), place.with_suffix(".csv"), stream, content, False, limits)
        return
    with place.open("rb") as raw, _looked_at(str(place), place, raw, limits) as opened:
        yield opened


@contextmanager
def _looked_at(name: str, path: Path | None, raw: BinaryIO, limits: Limits) -> Iterator[Opened]:
    start = raw.read(len(GZIP_MAGIC))
    compressed = start == GZIP_MAGIC
    size = 0 if path is None else path.stat().st_size
    counted = _Counted(raw, size)
    stream = _rejoined(start, counted.read)
    try:
        if compressed:
            stream = _rejoined(b"", _Unpacked(gzip.GzipFile(fileobj=stream), counted, name, limits).read)
        head = stream.read(HEAD_BYTES)
        recoded = head.startswith(UTF16_MARKS)
        if recoded:  # as spreadsheets save text
            stream = _rejoined(b"", _Recoded(_rejoined(head, stream.read), name).read)
            head = stream.read(HEAD_BYTES)
        while b"\0" not in head and head.count(b"\n") < HEAD_LINES and len(head) < HEAD_MOST:
            if not (more := stream.readline(2**20)):
                break
            head += more
        if not head.strip():
            raise ValueError(f"{name} is empty; check that this is the right file.")
        yield Opened(name, path, _rejoined(head, stream.read), head, compressed, limits, size, recoded)
    except EOFError:
        raise ValueError(f"{name} is truncated: the compressed data stop before their end. Copy it again.") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} is damaged: it cannot be decompressed ({error}). Copy it again.") from None


class _Counted:
    """file.read that also reports how much of the file was read; size : of the file, 0 where it is not known."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size, self.done = file, size, 0

    def read(self, n: int) -> bytes:
        data = self.file.read(n)
        self.done += len(data)
        step("reading", self.done // 1000, max(self.size, self.done) // 1000 if self.size else None)
        return data


class _Unpacked:
    """file.read of a packed file that unpacks to no more than it may."""

    def __init__(self, file: gzip.GzipFile, packed: _Counted, name: str, limits: Limits) -> None:
        self.file, self.packed, self.name, self.limits, self.done = file, packed, name, limits, 0

    def read(self, n: int) -> bytes:
        data = self.file.read(n)
        self.done += len(data)
        self.limits.check_unpacked(self.name, self.packed.done, self.done)
        return data


class _Recoded:
    """file.read of UTF-16 text that gives UTF-8."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file, self.name, self.decoder = file, name, codecs.getincrementaldecoder("utf-16")()

    def read(self, n: int) -> bytes:
        while True:
            data = self.file.read(n)
            try:
                text = self.decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise ValueError(f"{self.name} begins as UTF-16 text, but is not ({error}); copy it again.") from None
            if text or not data:
                return text.encode("utf-8", "surrogatepass")


def check_archive(opened: Opened, content: bytes, what: str) -> None:
    """ValueError for what is no zip archive, or one whose members say that they unpack to more than they may."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
    except (zipfile.BadZipFile, OSError) as error:
        raise ValueError(f"{opened.name} is not a whole {what} ({error}); copy it again.") from None
    opened.limits.check_unpacked(opened.name, len(content), unpacked)


def check_hdf5(opened: Opened, file: Any, what: str) -> None:
    """ValueError for an HDF5 file whose datasets say that they are larger than they may be."""
    h5py = require("h5py", "biom", f"{opened.name} is HDF5, which")
    sizes: list[int] = []

    def add(name: str, each: Any) -> None:
        if isinstance(each, h5py.Dataset):
            sizes.append(each.size * each.dtype.itemsize)

    try:
        with h5py.File(file, "r") as content:
            content.visititems(add)
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        said = str(error).splitlines()[0]
        raise ValueError(f"{opened.name} is no whole {what} ({said}); copy it again.") from None
    opened.limits.check_unpacked(opened.name, opened.size, sum(sizes))


def _rejoined(head: bytes, read: Callable[[int], bytes]) -> BinaryIO:
    """One stream of `head` and then what `read` gives: a pipe can be looked at though it cannot be rewound."""
    return cast(BinaryIO, io.BufferedReader(_Rejoined(head, read), buffer_size=2**18))


class _Rejoined(io.RawIOBase):
    def __init__(self, head: bytes, read: Callable[[int], bytes]) -> None:
        self._head, self._read = io.BytesIO(head), read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head.read(len(buffer)) or self._read(len(buffer))
        if len(data) > len(buffer):  # recoded text may be longer than what was asked for
            self._head, data = io.BytesIO(data[len(buffer) :]), data[: len(buffer)]
        buffer[: len(data)] = data
        return len(data)


# --- what it holds ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Record:
    """One object of a stream: its id, the object (a string, a vector (M,) or a row), its label and its description.

    id : the name.
    object : a string, a vector (M,) or a row of a table.
    label : the class, where there is one.
    description : what follows the id.
    """

    id: str
    object: Any
    label: str | None = None
    description: str = ""


@dataclass(frozen=True, eq=False)
class Records:
    """N objects with their ids, ready for a metric.

    ids : N names, "0" .. "N-1" where the file has none.
    objects : N strings; an array (N, M) of vectors; N arrays of any lengths (series); or N rows of a table, each M
        numbers, texts and None, as the metric "gower" takes them.
    kind : "strings", "vectors", "series" or "table", accordingly.
    columns : M names of the coordinates, where the file has them.
    labels : N classes, where the file has them and they were asked for or recognised.
    descriptions : N texts that follow the ids (FASTA, FASTQ).
    note : what was guessed on reading, in words; empty if nothing was.
    usual : the metric by which such records are usually compared, where the file says what they are.
    """

    ids: list[str]
    objects: list[str] | NDArray[Any] | list[NDArray[Any]] | list[tuple[Any, ...]]
    kind: Kind
    columns: list[str] | None = None
    labels: list[str] | None = None
    descriptions: list[str] | None = None
    note: str = ""
    usual: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def source(
        self, metric: str | Callable[[Any, Any], float], *, metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> Source:  # fmt: skip
        """The objects under a metric, with their ids, as every median map accepts them.

        metric : a name or a function of two objects.
        metric_params : keyword arguments of the metric.
        n_jobs : number of threads; None uses what BLAS may use.
        """
        return as_dissimilarity(self.objects, metric, metric_params=metric_params, ids=self.ids, n_jobs=n_jobs)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Dissimilarities D (N, N), row = data point, column = candidate, or a SciPy condensed vector, with N ids.

    ids : N names; None where the file has none.
    D : the dissimilarities; a memory map where the file is an uncompressed .npy.
    labels : N classes, where the file has them and they were asked for.
    note : what was guessed on reading, in words; empty if nothing was.
    """

    ids: list[str] | None
    D: NDArray[Any]
    labels: list[str] | None = None
    note: str = ""

    def source(self) -> Source:
        """The matrix with its ids, as every median map accepts it."""
        return as_dissimilarity(self.D, ids=self.ids)


def collect(records: Iterable[Record], kind: Kind, opened: Opened, columns: list[str] | None, note: str) -> Records:
    """A whole stream as Records; two records of one id are refused."""
    name, most = opened.name, opened.limits.max_objects
    every = list(islice(records, most + 1))
    opened.limits.check_objects(name, len(every))
    if not every:
        raise ValueError(f"{name} holds no records; check that this is the right file.")
    ids = [record.id for record in every]
    refuse_duplicate_ids(ids, name, "record")
    objects: Any = [record.object for record in every]
    described = any(record.description for record in every)
    return Records(
        ids=ids, objects=np.array(objects) if kind == "vectors" else objects, kind=kind, columns=columns,
        labels=None if every[0].label is None else [record.label or "" for record in every],
        descriptions=[record.description for record in every] if described else None, note=note,
    )  # fmt: skip


def sheet_as_csv(workbook: Path, limits: Limits) -> bytes:
    """The first sheet of a workbook as CSV in UTF-8: whole numbers without a point, dates as in ISO 8601."""
    calamine = require("python_calamine", "excel", f"{workbook} is an Excel workbook, which")
    if zipfile.is_zipfile(workbook):
        with zipfile.ZipFile(workbook) as archive:
            unpacked = sum(each.file_size for each in archive.infolist())
        limits.check_unpacked(str(workbook), workbook.stat().st_size, unpacked)
    try:
        sheet = calamine.CalamineWorkbook.from_path(str(workbook)).get_sheet_by_index(0)
    except calamine.CalamineError as error:
        raise ValueError(f"{workbook} is no whole Excel workbook ({error}); save it again, or as CSV.") from None
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_cell, row) for row in sheet.to_python())
    if not text.getvalue().strip(",\n"):
        raise ValueError(f"{workbook}: its first sheet is empty; put the table there, or save that sheet as CSV.")
    return text.getvalue().encode()


def _cell(value: Any) -> Any:
    """The text of a cell; calamine has all numbers as float."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def numbered_ids(n: int) -> list[str]:
    """Ids of objects that have none: their positions, "0" .. "n-1", as medoid_indices_ counts them."""
    return [str(k) for k in range(n)]
