"""Files that survive being killed: bytes first, then a journal line that vouches for them; the same call resumes.

A journal says in its first line, as JSON, what the work was begun with. Every later line is written only after the
bytes it vouches for are safe on the disk, so that what is lost in between is done again. While OUT grows it is called
OUT.part, with OUT.journal beside it; both are gone when OUT is complete. One process at a time holds a journal.
Digests of objects and functions that are the same in every process tell whether a run has the same input.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from .files import check_target, locked

About: TypeAlias = Mapping[str, Any]
# What is different between what a work was begun with and what is wanted now, in words; empty if nothing is.
Differs: TypeAlias = Callable[[About, About], str]

RESTART = "pass resume=False (--restart) to start again, or choose another path."


class Journal:
    """What the work in `target` was begun with (empty if it was not), and the lines that an earlier run left."""

    def __init__(self, path: Path, target: Path, file: BinaryIO) -> None:
        self.path, self.target, self._file = path, target, file
        file.seek(0)
        self._found = file.read()
        # What follows the last line break was cut off while it was written.
        self._whole = self._found.rfind(b"\n") + 1
        first, *lines = self._found[: self._whole].decode(errors="replace").split("\n")
        self.lines = lines[:-1]
        try:
            self.began: About = json.loads(first) if self._whole else {}
        except (ValueError, RecursionError):
            self.began = {}

    def resumes(self, about: About, differs: Differs, remedy: str = RESTART) -> bool:
        """Whether there is work to continue; ValueError if it was begun with something else."""
        self._refuse_foreign(about)
        if not self.began:
            return False
        refuse_other(self.target, differs(self.began, about), remedy)
        self._file.truncate(self._whole)
        return True

    def begin(self, about: About) -> None:
        """Start again with what `about` says; earlier lines go."""
        self._refuse_foreign(about)
        self._file.truncate(0)
        self.began = about
        self.vouch(json.dumps(about))

    def vouch(self, *lines: str) -> None:
        """Add lines, and return when they are safe on the disk; the bytes that they vouch for must be already."""
        self._file.seek(0, os.SEEK_END)
        self._file.write("".join(f"{line}\n" for line in lines).encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def remove(self) -> None:
        """The work is complete, or given up."""
        self.path.unlink(missing_ok=True)

    def _refuse_foreign(self, about: About) -> None:
        """ValueError for a file that does not begin as a journal of this work does, with the same first key."""
        key = next(iter(about))
        if self._whole:
            ours = isinstance(self.began, dict) and key in self.began and self.began.get("kind") == about.get("kind")
        else:  # killed while it wrote the first line
            ours = self._found.startswith(f'{{"{key}": '.encode()[: len(self._found)])
        if not ours:
            raise ValueError(f"{self.path} is not the journal of such a file; move it away, or choose another path.")


@contextmanager
def journal(path: Path, target: Path) -> Iterator[Journal]:
    """The journal in `path` of the work in `target`, for one process at a time."""
    with refusing(target):
        file = path.open("a+b")
    try:
        if not locked(file):
            raise ValueError(f"Another process is writing {target}; wait for it, or choose another name.")
        try:
            yield Journal(path, target, file)
        finally:
            if path.exists() and not path.stat().st_size:  # nothing was begun
                path.unlink()
    finally:
        with suppress(OSError):  # what a full disk did not take was said when it was vouched for
            file.close()


def refuse_other(target: str | os.PathLike[str], other: str, remedy: str = RESTART) -> None:
    """ValueError if the work in `target` was begun with something else, which `other` says in words."""
    if other:
        raise ValueError(f"{target} was begun with {other}; {remedy}")


def difference(began: About, wanted: About, words: Mapping[str, str]) -> str:
    """The words for the first name whose value is another; a value "" is one that no other run can recognise."""
    for name, said in words.items():
        if wanted[name] == "":
            return f"{said}, or such as no other run can recognise"
        if began.get(name) != wanted[name]:
            return said
    return ""


@contextmanager
def refusing(target: Path, size: str = "") -> Iterator[None]:
    """What the system refuses, as one sentence."""
    try:
        yield
    except OSError as error:
        raise type(error)(
            f"{target}{size} cannot be written: {error.strerror or error}; free some space or choose another path. "
            "The same call continues with what is written."
        ) from None


def journal_path(path: Path) -> Path:
    """OUT -> OUT.journal, which is there while OUT is incomplete."""
    return path.with_name(path.name + ".journal")


def part_path(path: Path) -> Path:
    """OUT -> OUT.part, what there is of OUT while it is incomplete."""
    return path.with_name(path.name + ".part")


@dataclass(frozen=True)
class Mark:
    """A block of a text: how many objects and bytes there are up to its end, and what tells it from others."""

    n: int
    stop: int
    signature: str


class GrowingText:
    """OUT.part, a text of a head line and blocks of lines; `marks` are the blocks that are safe."""

    def __init__(self, path: Path, lines: Journal) -> None:
        self.path, self.part, self.journal = path, part_path(path), lines
        self.marks: list[Mark] = []
        self._pending: list[Mark] = []
        self._file: Any = None
        self._head = 0

    def open(self, about: About, head: bytes, resume: bool, differs: Differs) -> None:
        """Continue what an earlier run of the same `about` left; else begin with the line `head`."""
        left = self.part.exists()
        if resume and left and not self.journal.began:
            raise FileExistsError(f"{self.part} exists already without a journal; delete it, or choose another path.")
        with refusing(self.path):
            if resume and left and self.journal.lines and self.journal.resumes(about, differs):
                self._take_up()
                return
            # In this order a kill leaves no part without a journal, which would look like somebody else's.
            self.journal.begin(about)
            self._file = self.part.open("w+b", buffering=0)
            self._write(head)
            self._head = len(head)

    def append(self, data: bytes, n: int, signature: str) -> None:
        """Write a block after which there are n objects; it counts once `vouch` has been called."""
        with refusing(self.path):
            self._write(data)
        self._pending.append(Mark(n, self._file.tell(), signature))

    def vouch(self) -> None:
        """Return when all blocks are safe on the disk and the journal says so."""
        if not self._pending:
            return
        with refusing(self.path):
            os.fsync(self._file.fileno())
            self.journal.vouch(*(f"{mark.n} {mark.stop} {mark.signature}" for mark in self._pending))
        self.marks += self._pending
        self._pending = []

    def block(self, k: int) -> bytes:
        """The bytes of block k."""
        start = self.marks[k - 1].stop if k else self._head
        with self.part.open("rb") as file:
            file.seek(start)
            return file.read(self.marks[k].stop - start)

    def finish(self, write: Callable[[Path], None] | None = None) -> None:
        """Give the text its name, or let `write` make another file of it under that name; the journal goes."""
        self.vouch()
        with refusing(self.path):
            if write is None:
                os.replace(self.part, self.path)
            else:
                write(self.part)
                self.part.unlink()
            self.journal.remove()

    def close(self) -> None:
        """Leave the files to the next run; where there is nothing to continue, none is left."""
        if self._file is not None:
            self._file.close()
            if not self.marks:
                self.part.unlink(missing_ok=True)
                self.journal.remove()

    def _take_up(self) -> None:
        for line in self.journal.lines:
            n, stop, signature = line.split()
            self.marks.append(Mark(int(n), int(stop), signature))
        if self.part.stat().st_size < self.marks[-1].stop:
            raise ValueError(f"{self.part} is shorter than its journal says, so it was changed; {RESTART}")
        self._file = self.part.open("r+b", buffering=0)
        self._head = len(self._file.readline())
        self._file.truncate(self.marks[-1].stop)
        self._file.seek(self.marks[-1].stop)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:  # an unbuffered file may take less than it is given
            rest = rest[self._file.write(rest) :]


@contextmanager
def growing_text(path: Path) -> Iterator[GrowingText]:
    """The text at `path`, for one process at a time."""
    check_target(path)
    with journal(journal_path(path), path) as lines:
        text = GrowingText(path, lines)
        try:
            yield text
        finally:
            text.close()


def digest(value: Any) -> str:
    """SHA-256 of the content of a value: arrays, text, numbers, containers of them, functions by their code and what it
    refers to, anything else as pickle writes it. Equal digests mean equal values; where pickle writes one value in two
    ways, the opposite does not hold. ValueError for what pickle cannot write."""
    total = hashlib.sha256()
    for part in _parts(value):
        total.update(part)
    return total.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """The value as bytes; each part says its kind and length first, so that no two values run together alike."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        yield f"array {value.dtype.str} {value.shape} ".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        yield b"text %d " % len(data)
        yield data
    elif isinstance(value, bytes | bytearray):
        yield b"bytes %d " % len(value)
        yield bytes(value)
    elif value is None or isinstance(value, bool | int | float | complex | np.generic):
        yield f"{type(value).__name__} {value!r} ".encode()
    elif isinstance(value, Mapping):
        yield b"mapping "
        yield from _parts(sorted((digest(key), digest(each)) for key, each in value.items()))
    elif isinstance(value, Set):
        yield b"set "
        yield from _parts(sorted(digest(each) for each in value))
    elif isinstance(value, CodeType):
        yield from _parts((value.co_code, value.co_names, value.co_consts))
    elif _plain_function(value) is not None:
        yield from _function_parts(value)
    elif isinstance(value, partial):
        yield from _parts((value.func, value.args, value.keywords))
    elif isinstance(value, Sequence | np.ndarray):
        yield b"sequence %d " % len(value)
        for each in value:
            yield from _parts(each)
    else:
        try:
            yield pickle.dumps(value, protocol=4)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ValueError(f"A {type(value).__name__} cannot be recognised again ({error}).") from None


def _plain_function(value: Any) -> FunctionType | None:
    """The Python function that a value is, or that numba compiled; None for anything else."""
    function = getattr(value, "py_func", value)
    return function if isinstance(function, FunctionType) else None


def _function_parts(value: Any) -> Iterator[bytes]:
    """A function, the data that it takes from around it, and all functions that it calls by their names."""
    todo, seen = [value], set()
    while todo:
        function = _plain_function(todo.pop())
        if function is None or function in seen:
            continue
        seen.add(function)
        yield from _parts((function.__code__, function.__defaults__, function.__kwdefaults__))
        for name, used in _names_used(function):
            yield from _parts(name)
            if _plain_function(used) is not None:
                todo.append(used)
            elif not isinstance(used, ModuleType):  # of a module the name says enough
                yield from _parts(used)


def _names_used(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """(name, value) of what a function finds in the functions around it and in its module."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    yield from ((name, cell.cell_contents) for name, cell in cells)
    names = sorted(_global_names(function.__code__) & function.__globals__.keys())
    yield from ((name, function.__globals__[name]) for name in names)


def _global_names(code: CodeType) -> set[str]:
    """Names that the code, or a function inside it, may look up in its module."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_global_names, inner))
