"""How far long work is: the one kind of progress callback, and `step`, which tells whoever follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

# Called as on_progress(stage, done, total): what is worked on, how much of it is done, and of how much; the total is
# None where it is not known, and may grow on the way. `step` is one of these, too: functions with a parameter
# `on_progress` call `on_progress or step`.
OnProgress = Callable[[str, int, "int | None"], None]

# Of this thread alone: work that runs beside other work, as restarts do, has no place in one bar.
_follower: ContextVar[OnProgress | None] = ContextVar("follower", default=None)


@contextmanager
def _bound(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def followed(follower: OnProgress) -> AbstractContextManager[None]:
    """The follower is told of the steps inside."""
    return _bound(_follower, follower)


def step(stage: str, done: int, total: int | None) -> None:
    """Tell the follower that `done` of `total` steps of a stage are over; costs next to nothing where there is none."""
    follower = _follower.get()
    if follower is not None:
        follower(stage, done, total)


def in_steps(stage: str, n: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size` that cover range(n), each told when it is done."""
    for start in range(0, n, size):
        step(stage, start, n)
        yield slice(start, min(start + size, n))
    step(stage, n, n)


# Called with the record of each epoch; of this thread alone, too.
EPOCH_WATCHER: ContextVar[Callable[[Any], Any] | None] = ContextVar("epoch_watcher", default=None)


def epochs_watched(watcher: Callable[[Any], Any]) -> AbstractContextManager[None]:
    """The watcher is called after every epoch of the fits inside, like a map's `on_epoch`, but no map keeps it.

    The log of each epoch is written, too; the level of the logger "medianmap" says who sees it.
    """
    return _bound(EPOCH_WATCHER, watcher)
