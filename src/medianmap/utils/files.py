"""Writing files so that a reader never sees half of one; tables and sequences as lines of text."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast


def check_target(target: Path) -> None:
    """OSError unless the folder exists and can be written, and the name is not that of a folder."""
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent}; create it, then write {target.name} there.")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the path of a file.")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"{target} cannot be written: the folder is read-only for you; choose another.")


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that appears under `path` complete when the block ends without error, and not at all otherwise."""
    target = Path(path)
    check_target(target)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~umask())  # mkstemp is private; a user's file follows the user's umask
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def umask() -> int:
    """The permissions that the user takes from new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def packed(file: BinaryIO, name: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """The file itself, or a stream that compresses into it where the name ends in .gz.

    Neither time nor name goes into the bytes, so that the same contents are the same bytes.
    """
    if Path(name).suffix.lower() != ".gz":
        yield file
        return
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as stream:
        yield cast(BinaryIO, stream)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write atomically, compressed where the name ends in .gz."""
    with atomic(path) as file, packed(file, path) as stream:
        stream.write(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text atomically, compressed where the name ends in .gz."""
    write_bytes(path, text.encode())


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
