"""Tables as structured arrays, which `pandas.DataFrame` accepts, and as lines of text files; lines of FASTA files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .files import atomic, packed

if TYPE_CHECKING:
    from numpy.typing import NDArray


def table(**columns: NDArray[Any]) -> NDArray[Any]:
    """Columns (n,) by name as one structured array (n,)."""
    import numpy as np  # here, since the command line writes tables long before it needs arrays

    n = len(next(iter(columns.values())))
    rows = np.empty(n, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        rows[name] = column
    return rows


FASTA_WIDTH = 60
_BLANKS = str.maketrans("\t\r\n", "   ")


def tsv_lines(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Cells separated by tabs; numbers read back exact, True and False are 1 and 0, None is an empty cell."""
    yield "\t".join(columns)
    for row in rows:
        yield "\t".join(map(_cell, row))


def _cell(value: Any) -> str:
    """A label may contain a tab or line break, which separate cells and rows here; a blank replaces it."""
    if value is None:
        return ""
    return str(int(value) if isinstance(value, bool) else value).translate(_BLANKS)


def as_tsv(rows: NDArray[Any]) -> str:
    """A structured array (n,) as lines under the names of its fields."""
    return "".join(f"{line}\n" for line in tsv_lines(rows.dtype.names or (), rows.tolist()))


def fasta_lines(records: Iterable[tuple[str, str]]) -> Iterator[str]:
    """(header, letters) -> the header and the letters, 60 per line."""
    for header, letters in records:
        yield f">{header.translate(_BLANKS)}".rstrip()
        yield from (letters[at : at + FASTA_WIDTH] for at in range(0, len(letters), FASTA_WIDTH))


def counted(n: int, thing: str) -> str:
    """'1 point', '2 points'."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def first_few(names: Sequence[str], most: int = 3) -> str:
    """'a', 'b', 'c' and 5 more."""
    more = len(names) - most
    return ", ".join(map(repr, names[:most])) + (f" and {more} more" if more > 0 else "")


def write_lines(texts: dict[Path, Iterable[str]]) -> list[Path]:
    """Write files of lines; all are complete before the first takes its place."""
    with ExitStack() as files:
        for path, lines in texts.items():
            with packed(files.enter_context(atomic(path)), path) as file:
                file.writelines(f"{line}\n".encode() for line in lines)
    return list(texts)
