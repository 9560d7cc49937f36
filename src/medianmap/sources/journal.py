"""A matrix that grows on disk and survives being killed: its bytes first, then a line of journal that vouches for them.

While D.npy is being computed it is called D.npy.part, and D.npy.journal beside it holds one line that says what is
being computed, then one line `row column` a checkpoint: every block before that place lies safely in the file. A line
is written only after the blocks it speaks for have been flushed, so that what is lost in between is computed again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..utils.files import write_text
from .computed import panel_height
from .stored import Sidecar, journal_path, sidecar_path

# (first row of a panel, column): all panels above, and the columns before this one of the panel itself, are computed.
Place: TypeAlias = tuple[int, int]

START: Place = (0, 0)


class Journal:
    """The matrix `D` (N, N) at D.npy.part, writable, and `place`, up to where it is computed."""

    def __init__(self, path: Path, sidecar: Sidecar, file: BinaryIO) -> None:
        self.path = path
        self.sidecar = sidecar
        self.file = file
        self.part = path.with_name(path.name + ".part")
        self.place = START
        self.D: NDArray[np.floating] | None = None

    def resume(self) -> bool:
        """Take up what an earlier run left. False if it left nothing; ValueError if it computed something else."""
        self.file.seek(0)
        lines = self.file.read().split(b"\n")[:-1]  # what follows the last line's end was cut off in the writing
        if not lines:
            return False
        began = json.loads(lines[0])
        difference = differs(began, self._first_line())
        if difference:
            raise ValueError(
                f"{self.path} was begun with {difference}; pass resume=False (--restart) to start it anew, "
                "or choose another path."
            )
        for line in lines[1:]:
            row, column = line.split()
            self.place = int(row), int(column)
        if self.part.exists():
            self.D = np.load(self.part, mmap_mode="r+", allow_pickle=False)
        # A run killed between its last two steps has put the matrix in place, but not its sidecar.
        elif not (self.place[0] >= self.sidecar.n and self.path.exists()):
            return False
        self.file.truncate(sum(len(line) + 1 for line in lines))
        return True

    def begin(self) -> None:
        """An empty matrix whose room on disk is really there, then the journal's first line."""
        self.place = START
        self.file.truncate(0)
        shape, dtype = (self.sidecar.n, self.sidecar.n), np.dtype(self.sidecar.dtype)
        try:
            self.D = np.lib.format.open_memmap(self.part, "w+", dtype, shape)
            _allocate(self.part)
            append_line(self.file, json.dumps(self._first_line()))
        except OSError as error:
            self.discard()
            raise self._failure(error) from None

    def record(self, place: Place) -> None:
        """Vouch for all blocks before `place`."""
        if place == self.place or self.D is None:
            return
        try:
            self.D.flush()  # type: ignore[attr-defined]
            append_line(self.file, f"{place[0]} {place[1]}")
        except OSError as error:
            raise self._failure(error) from None
        self.place = place

    def finish(self) -> None:
        """Give the matrix its name and its sidecar; the journal goes."""
        if self.D is not None:
            self.D = None
            with self.part.open("r+b") as file:
                os.fsync(file.fileno())
            sidecar_path(self.path).unlink(missing_ok=True)  # an old sidecar must not speak for the new matrix
            os.replace(self.part, self.path)
        write_text(sidecar_path(self.path), self.sidecar.as_json())
        journal_path(self.path).unlink()

    def discard(self) -> None:
        """Remove what was begun."""
        self.D = None
        self.part.unlink(missing_ok=True)
        journal_path(self.path).unlink(missing_ok=True)

    def _first_line(self) -> dict[str, object]:
        return {"height": panel_height(self.sidecar.n), **asdict(self.sidecar)}

    def _failure(self, error: OSError) -> OSError:
        size = self.sidecar.n**2 * np.dtype(self.sidecar.dtype).itemsize
        return OSError(
            f"{self.path} ({size / 1e9:.3g} GB) cannot be written: {error.strerror or error}; "
            "free some space or choose another path, then run the same again."
        )


@contextmanager
def open_journal(path: Path, sidecar: Sidecar) -> Iterator[Journal]:
    """The journal of the matrix at `path`, for one process at a time."""
    try:
        file = journal_path(path).open("a+b")
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror}; choose another path.") from None
    with file:
        if not locked(file):
            raise ValueError(f"Another process is computing {path}; wait for it, or choose another path.")
        yield Journal(path, sidecar, file)


def differs(had: dict[str, object], wanted: dict[str, object]) -> str:
    """Where two sidecars are of different dissimilarities, in words; empty if they are of the same."""
    prints = had["fingerprint"], wanted["fingerprint"]
    assert isinstance(prints[0], dict)
    assert isinstance(prints[1], dict)
    for name in prints[1]:
        if not prints[1][name]:
            return f"{name} that cannot be known again in another run"
        if prints[0].get(name) != prints[1][name]:
            return f"other {name}"
    words = {"n": "another number of objects", "dtype": "another dtype", "symmetric": "another symmetry",
             "ids": "other ids", "medianmap": "another version of medianmap", "height": "other blocks"}  # fmt: skip
    return next((said for name, said in words.items() if had.get(name) != wanted.get(name)), "")


def _allocate(path: Path) -> None:
    """Claim the whole file on disk: writing through a memory map into a hole of a full disk kills the process."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def append_line(file: BinaryIO, line: str) -> None:
    """Add a line, and return when it is safe on the disk."""
    file.seek(0, os.SEEK_END)
    file.write(line.encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def locked(file: BinaryIO) -> bool:
    """Take the file for this process until it is closed; the system lets go of it when the process dies."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
