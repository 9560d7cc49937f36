"""The folder that a command writes, all of it or nothing; beside it the state from which a stopped run continues."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..utils.files import umask
from ..utils.resumable import Journal, journal

FILES = (
    "model.mmap", "assignments.tsv", "assignments.tsv.gz", "prototypes.fasta", "prototypes.fasta.gz", "prototypes.tsv",
    "prototypes.tsv.gz", "summary.json", "report.html", "config.toml",
)  # fmt: skip
JOURNAL = "journal"


def check_out(out: Path, force: bool) -> None:
    """A new or empty folder, or with `force` any folder; else one sentence."""
    if str(out) == "-":
        raise ValueError("-o - means standard output, which cannot hold a folder of files; give the name of a folder.")
    if out.is_dir():
        if any(out.iterdir()) and not force:
            raise FileExistsError(
                f"The folder {out} exists already and is not empty; choose another for -o, or pass --force to replace "
                "the files of an earlier run in it."
            )
    elif out.exists():
        raise NotADirectoryError(f"{out} is a file; give -o the name of a folder.")


class Workshop:
    """`DIR.partial` beside the folder: the new files while they are written, and what a next run can continue."""

    def __init__(self, out: Path, names: Sequence[str]) -> None:
        self.out, self.names = out, names
        named = out if out.name not in ("", "..") else out.resolve()  # "." has no name of its own
        self.path = named.with_name(named.name + ".partial")
        self.files = self.path
        self.journal: Journal | None = None

    def state(self, name: str, about: str) -> Path:
        """Where to keep the state of the work that `about` identifies; the state of any other work is removed."""
        assert self.journal is not None
        if self.journal.began != {"about": about}:
            for each in self._kept():
                each.unlink()
            self.journal.begin({"about": about})
        return self.path / name

    @property
    def keeps(self) -> str:
        """What a next run can continue, in words; empty if there is nothing."""
        kept = self._kept()
        return f"the {kept[0].name.split('.')[0]} so far" if kept else ""

    def _kept(self) -> list[Path]:
        return [each for each in self.path.iterdir() if each.is_file() and each.name != JOURNAL]

    def deliver(self) -> None:
        """Put the new files in their place; nothing can come between where other files are there already."""
        with _uninterrupted():
            if not self.out.exists():
                os.replace(self.files, self.out)
            else:
                for name in self.names:
                    if (self.files / name).exists():
                        os.replace(self.files / name, self.out / name)
                    else:
                        (self.out / name).unlink(missing_ok=True)
            shutil.rmtree(self.path)


@contextmanager
def workshop(out: Path, force: bool, names: Sequence[str] = FILES) -> Iterator[Workshop]:
    """The workshop of a folder that may be written; at the end only what a next run can continue is left.

    names : all files that a run may write; those of an earlier run that this one does not write are removed.
    """
    check_out(out, force)
    shop = Workshop(out, names)
    new = _first_missing(shop.path)
    with ExitStack() as held:
        try:
            shop.path.mkdir(parents=True, exist_ok=True)
            shop.journal = held.enter_context(journal(shop.path / JOURNAL, out))
            for left in shop.path.glob("files-*"):  # by a run that was killed
                shutil.rmtree(left)
            shop.files = Path(tempfile.mkdtemp(prefix="files-", dir=shop.path))
            shop.files.chmod(0o777 & ~umask())
        except OSError as error:
            if new is not None:
                shutil.rmtree(new, ignore_errors=True)
            if error.strerror is None:  # a sentence already
                raise
            raise type(error)(f"{out} cannot be written: {error.strerror}; choose another folder for -o.") from None
        with _tidied(shop, new):
            yield shop


@contextmanager
def _tidied(shop: Workshop, new: Path | None) -> Iterator[None]:
    """Leave nothing behind that a next run cannot use; `new` is the uppermost folder that was made."""
    try:
        yield
    except BaseException as error:
        shutil.rmtree(shop.files, ignore_errors=True)
        # A user's mistake must be put right first, and then other dissimilarities are wanted.
        if isinstance(error, ValueError) or not shop.keeps:
            shutil.rmtree(shop.path if new is None else new, ignore_errors=True)
        raise


def _first_missing(folder: Path) -> Path | None:
    """The uppermost folder on the way that is yet to be made."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    return missing[-1] if missing else None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the block, which then is done; only the main thread can say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
