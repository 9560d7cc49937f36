"""How far a long loop is: `step` tells whoever follows, and costs next to nothing where nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# (stage, done, total): what is worked at, and how much of how much is done.
Follower = Callable[[str, int, "int | None"], None]

# Of this thread alone: what runs beside others, as restarts do, has no place in one bar.
_follower: ContextVar[Follower | None] = ContextVar("follower", default=None)


@contextmanager
def followed(follower: Follower) -> Iterator[None]:
    """The follower hears of the steps inside."""
    before = _follower.set(follower)
    try:
        yield
    finally:
        _follower.reset(before)


def step(stage: str, done: int, total: int | None) -> None:
    """Tell that `done` of `total` steps of a stage are over; a total may grow on the way."""
    follower = _follower.get()
    if follower is not None:
        follower(stage, done, total)


def in_steps(stage: str, n: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size` that cover range(n), each told when it is done."""
    for start in range(0, n, size):
        step(stage, start, n)
        yield slice(start, min(start + size, n))
    step(stage, n, n)
