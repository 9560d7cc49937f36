"""Long work with stages, as a user sees it: sentences and bars on stderr."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..fitting.watching import Watch
from .options import loudness, note, shows_progress


class _Shown(Watch):
    def __init__(self, move: Callable[[str, int, int | None], None]) -> None:
        self.move, self.verbose = move, 2 if loudness() > 0 else 0

    def tell(self, sentence: str) -> None:
        note(sentence)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        self.move(stage, done, total)


@contextmanager
def watched() -> Iterator[Watch]:
    """What tells the user, as loud as -v and -q ask; the same warning is told once."""
    from .progress import stage_bars

    with stage_bars(shows_progress()) as move, warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        # The command line reads plain columns, whatever they were called in training.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield _Shown(move)
