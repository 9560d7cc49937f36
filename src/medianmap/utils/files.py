"""Writing files so that a reader never sees half of one and a kill leaves nothing for good; tables as lines of text."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from .signals import uninterrupted


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
    """A binary file that appears under `path` complete when the block ends without error, and not at all otherwise.

    What a killed process left of the same file is removed.
    """
    target = Path(path)
    check_target(target)
    _sweep(target)
    name = ""
    try:
        with uninterrupted():
            file, name = _held(target)
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.chmod(name, 0o666 & ~umask())  # mkstemp is private; a user's file follows the user's umask
            os.replace(name, target)
    except BaseException as error:
        if name:
            Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk names no file
            error.filename = os.fspath(target)
        raise


def _held(target: Path) -> tuple[BinaryIO, str]:
    """A new file beside the target, locked for as long as it is open: so another process sees that it is in use."""
    while True:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        file = os.fdopen(handle, "wb")
        locked(file, wait=True)
        if os.fstat(file.fileno()).st_nlink:
            return file, name
        file.close()  # taken for a leftover before it was locked


def _sweep(target: Path) -> None:
    """Remove the files of `_held` whose processes were killed: nobody holds their locks."""
    ours = re.compile(rf"\.{re.escape(target.name)}\.[a-z0-9_]{{8}}\.part")
    for left in target.parent.iterdir():
        if ours.fullmatch(left.name):
            with suppress(OSError), left.open("rb") as file:
                if locked(file):
                    left.unlink()


def locked(file: BinaryIO, wait: bool = False) -> bool:
    """Take the file for this process until it is closed; the system releases it when the process dies."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


SCRATCH, LOCK = "medianmap-scratch-", "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for files that nobody keeps; at the end it is removed, and before it those of killed processes."""
    for left in _temporary().glob(f"{SCRATCH}*"):
        _remove_left(left)
    folder = None
    try:
        with uninterrupted():
            folder, lock = _held_folder()
        with lock:
            yield folder
    finally:
        if folder is not None:
            with uninterrupted():
                _remove(folder)


def _temporary() -> Path:
    """The user's folder for temporary files; `tempfile` would try it by a file of its own, which a kill leaves."""
    for folder in (*map(os.environ.get, ("TMPDIR", "TEMP", "TMP")), "/tmp"):
        if folder and os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
            return Path(folder).absolute()
    return Path(tempfile.gettempdir())


def _held_folder() -> tuple[Path, BinaryIO]:
    """A new folder and the lock in it, held for as long as it is open."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=_temporary()))
        with suppress(FileNotFoundError):  # taken for a leftover before it was locked
            lock = (folder / LOCK).open("wb")
            locked(lock, wait=True)
            if os.fstat(lock.fileno()).st_nlink:
                return folder, lock
            lock.close()


def _remove(folder: Path) -> None:
    """Remove a folder, its lock last: one without a lock is empty."""
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each, ignore_errors=True)
        elif each.name != LOCK:
            each.unlink(missing_ok=True)
    (folder / LOCK).unlink(missing_ok=True)
    folder.rmdir()


def _remove_left(folder: Path) -> None:
    """Remove a folder of `scratch_folder` whose process was killed; nothing of another user, and no link."""
    with suppress(OSError):
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        try:
            held = (folder / LOCK).open("rb")
        except FileNotFoundError:
            folder.rmdir()
            return
        with held:
            if locked(held):
                _remove(folder)


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
    if isinstance(value, str):
        return protected(value.translate(_BLANKS))
    return str(int(value) if isinstance(value, bool) else value)


# Whether tables are written for a spreadsheet, which takes text that begins with = + - @ for a formula and runs it.
FOR_SPREADSHEETS: ContextVar[bool] = ContextVar("for_spreadsheets", default=False)
_FORMULA = re.compile(r"\s*[=+\-@]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would take the text for a formula; a number is none."""
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def protected(text: str) -> str:
    """The text, after an apostrophe where tables are for spreadsheets and it would be taken for a formula."""
    return f"'{text}" if FOR_SPREADSHEETS.get() and is_formula(text) else text


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


def first_few(names: Sequence[object], most: int = 3) -> str:
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
