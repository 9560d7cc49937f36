"""Writing files so that a reader never sees half of one: atomic, compressed where the name ends in .gz."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast


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
