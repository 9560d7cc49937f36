"""A text file that grows block by block and survives being killed: its bytes first, then a line that vouches for them.

While OUT is being written it is called OUT.part, and OUT.journal beside it holds one line that says what is written,
then a line `objects bytes signature` for every block that lies safely in the file. See also `medianmap.journal`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ..sources.journal import append_line, locked
from ..utils.files import check_target

KIND = "medianmap-assignment"
START = json.dumps({"kind": KIND})[:-1].encode()  # of a journal


@dataclass(frozen=True)
class Mark:
    """A block in the file: how many objects and bytes there are with it, and what tells it from others."""

    n: int
    stop: int
    signature: str


class Growing:
    """OUT.part, opened to go on behind the blocks `marks` that an earlier run left."""

    def __init__(self, path: Path, journal: BinaryIO) -> None:
        self.path = path
        self.journal = journal
        self.part = path.with_name(path.name + ".part")
        self.marks: list[Mark] = []
        self.about: dict[str, Any] = {}
        self._pending: list[Mark] = []
        self._file: Any = None

    def open(self, about: dict[str, Any], head: bytes, resume: bool) -> None:
        """Take up what an earlier run of the same `about` left; else begin with the line `head`."""
        lines = self._journalled()
        if self.part.exists() and not lines and resume:
            raise FileExistsError(
                f"{self.part} exists already, and no journal goes with it; delete it, or choose another path."
            )
        with self._writing():
            if len(lines) > 1 and resume and self.part.exists():
                self._take_up(lines, about)
            else:
                self._begin(about, head)

    def _begin(self, about: dict[str, Any], head: bytes) -> None:
        # In this order a kill leaves no part without a journal, which would look like somebody else's.
        self.part.unlink(missing_ok=True)
        self.journal.truncate(0)
        append_line(self.journal, json.dumps({"kind": KIND, **about}))
        self._file = self.part.open("w+b", buffering=0)
        self._write(head)
        self.marks, self.about, self._head = [], about, len(head)

    def append(self, data: bytes, n: int, signature: str) -> None:
        """Write a block after which there are n objects; it counts once `vouch` has been called."""
        with self._writing():
            self._write(data)
        self._pending.append(Mark(n, self._file.tell(), signature))

    def vouch(self) -> None:
        """Return when all blocks are safe on the disk and the journal says so."""
        if not self._pending:
            return
        with self._writing():
            os.fsync(self._file.fileno())
            append_line(self.journal, "\n".join(f"{m.n} {m.stop} {m.signature}" for m in self._pending))
        self.marks += self._pending
        self._pending = []

    def block(self, k: int) -> bytes:
        """The bytes of the k-th block of an earlier run."""
        start = self.marks[k - 1].stop if k else self._head
        with self.part.open("rb") as file:
            file.seek(start)
            return file.read(self.marks[k].stop - start)

    def finish(self, write: Callable[[Path], None] | None) -> None:
        """Give the file its name, or let `write` make another of it under that name; the journal goes."""
        self.vouch()
        with self._writing():
            if write is None:
                os.replace(self.part, self.path)
            else:
                write(self.part)
                self.part.unlink()
            self._journal_path.unlink()

    def close(self) -> None:
        """Leave the files to the next run; where there is nothing to go on from, none is left."""
        if self._file is not None:
            self._file.close()
        begun_here = self._file is not None and not self.marks
        if self._journal_path.exists() and (begun_here or not self._journal_path.stat().st_size):
            if begun_here:
                self.part.unlink(missing_ok=True)
            self._journal_path.unlink()

    @property
    def _journal_path(self) -> Path:
        return journal_path(self.path)

    def _journalled(self) -> list[bytes]:
        """The whole lines of the journal; ValueError if it is somebody else's."""
        self.journal.seek(0)
        content = self.journal.read()
        lines = content.split(b"\n")[:-1]  # what follows the last line's end was cut off in the writing
        with suppress(ValueError, AttributeError):
            if not content or (lines and json.loads(lines[0]).get("kind") == KIND):
                return lines
        if not lines and content.startswith(START[: len(content)]):
            return []  # killed while it wrote its first line
        raise ValueError(f"{self._journal_path} is not the journal of an assignment; move it, or choose another path.")

    def _take_up(self, lines: list[bytes], about: dict[str, Any]) -> None:
        self.about = json.loads(lines[0])
        for name, said in (("model", "another model"), ("data", "other data"), ("columns", "other columns")):
            if self.about.get(name) != about[name] or about[name] == "":
                raise ValueError(
                    f"{self.path} was begun with {said}; pass resume=False (--restart) to start anew, "
                    "or choose another path."
                )
        for line in lines[1:]:
            n, stop, signature = line.split()
            self.marks.append(Mark(int(n), int(stop), signature.decode()))
        self._file = self.part.open("r+b", buffering=0)
        self._head = len(self._file.readline())
        whole = self.marks[-1].stop if self.marks else self._head
        if self.part.stat().st_size < whole:
            raise ValueError(
                f"{self.part} is shorter than its journal says, so it was changed; pass resume=False (--restart) to "
                "start anew."
            )
        self._file.truncate(whole)
        self._file.seek(whole)
        self.journal.truncate(sum(len(line) + 1 for line in lines))

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:  # an unbuffered file may take less than it is given
            rest = rest[self._file.write(rest) :]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """What the system refuses, as one sentence."""
        try:
            yield
        except OSError as error:
            raise refused(self.path, error) from None


def journal_path(path: Path) -> Path:
    return path.with_name(path.name + ".journal")


def refused(path: Path, error: OSError) -> OSError:
    """The same error in words that say what to do."""
    return type(error)(
        f"{path} cannot be written: {error.strerror or error}; free some space or choose another path. "
        "What is written is kept: the same call goes on from there."
    )


@contextmanager
def growing(path: Path) -> Iterator[Growing]:
    """The file at `path`, for one process at a time."""
    check_target(path)
    try:
        journal = journal_path(path).open("a+b")
    except OSError as error:
        raise refused(path, error) from None
    with journal:
        if not locked(journal):
            raise ValueError(f"Another process is writing {path}; wait for it, or choose another path.")
        rows = Growing(path, journal)
        try:
            yield rows
        finally:
            rows.close()
