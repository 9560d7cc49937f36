"""Eager descent: candidates are tried in a given order, and the first that improves a state is taken at once.

Threads look at later chunks of candidates against one state; the first find in order counts, and results beyond it are
discarded. The result is that of one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from typing import Protocol

import numpy as np

from ..sources.base import IntArray, panels
from ..utils.threads import outer_threads, run_chunks, step, stop_if_asked
from .candidates import Block, Candidates

# After so many candidates without a swap, threads look ahead; before, most of what they find would be discarded.
PATIENCE = 128
# With fewer points, starting a thread takes longer than its work.
WORTH_THREADS = 2000
# Candidates that a thread looks at per chunk.
AHEAD = 32
# Shares of the exemplars that kicks replace, in turn: a few stay near the optimum, many leave its neighbourhood.
KICKED = (0.05, 0.25, 0.1, 0.5)


class Improvable(Protocol):
    """What a descent asks of a state."""

    def first_improving(self, block: Block, n_jobs: int | None) -> int:
        """Index in the block of the first candidate to improve; len(block) if none."""

    def descend(self, block: Block, patience: int, most: int) -> tuple[int, int, int]:
        """Go through the block and take what improves, `most` times at most, until `patience` candidates did not.

        Returns (how many were taken, candidates looked at, candidates since the last that was taken).
        """


class LookCount:
    """Counts the candidates looked at, for the progress bar; a descent looks at n, and at n again after every swap."""

    def __init__(self, n: int, descents: int = 1) -> None:
        self.n, self.left, self.done = n, descents, 0

    def report(self, idle: int) -> None:
        """Report progress; `idle` candidates of this descent were looked at since the last swap."""
        step("swaps", self.done, self.done + max(0, self.left * self.n - idle))


def descended(
    candidates: Candidates, order: IntArray, state: Improvable, most: int, n_jobs: int | None, looks: LookCount,
    idle: int = 0,
) -> tuple[int, bool]:  # fmt: skip
    """Change a state in place until no candidate improves it; the number of swaps, and whether there is none.

    order (N,) : in which candidates are tried, again from the first after the last.
    idle : how many, the last ones of the order, are known not to improve the state.
    """
    N = candidates.n
    looks.left = max(1, looks.left)
    parallel = N >= WORTH_THREADS and outer_threads(n_jobs) > 1
    swaps = 0
    for part in cycle(panels(N, candidates.block_size)):
        if idle >= N or swaps >= most:
            break
        stop_if_asked()
        looks.report(idle)
        block, at = candidates.block(order[part]), 0
        while at < len(block) and idle < N and swaps < most:
            if parallel and idle >= PATIENCE:
                found = state.first_improving(block[at:], n_jobs)
                idle, at = idle + found, at + found
                if at == len(block):
                    break
            patience = min(N - idle, PATIENCE) if parallel else N - idle
            done, looked, idle_now = state.descend(block[at:], patience, most - swaps)
            swaps, at, idle = swaps + done, at + looked, idle_now if done else idle + idle_now
        looks.done += at
    looks.left = max(0, looks.left - 1)
    return swaps, idle >= N


def first_find(look: Callable[[slice], int], n: int, n_jobs: int | None) -> int:
    """The first of n candidates that improves, n if none does; look(chunk) returns the first within a chunk, or -1.

    Several threads look at chunks of AHEAD candidates against one state, and the earliest find counts: the candidate
    that a single thread would have found first.
    """
    found = np.full(-(-n // AHEAD), n)

    def look_at(chunk: slice) -> None:
        which = chunk.start // AHEAD
        if (found[:which] < n).any():
            return  # an earlier chunk has a find already
        r = look(chunk)
        if r >= 0:
            found[which] = chunk.start + r

    run_chunks(look_at, list(panels(n, AHEAD)), n_jobs)
    return int(found.min(initial=n))


def drawn(kicks: int, n: int, rng: np.random.Generator) -> Iterator[Callable[[IntArray], IntArray]]:
    """So many functions, each of which replaces some of the best exemplars (K,) so far by random ones of n points."""
    for share in islice(cycle(KICKED), kicks):
        yield partial(_kicked, n, share, rng)


def _kicked(n: int, share: float, rng: np.random.Generator, best: IntArray) -> IntArray:
    start = best.copy()
    free = np.setdiff1d(np.arange(n), start)
    many = min(max(1, round(share * len(start))), len(free))
    gone = rng.choice(len(start), many, replace=False)
    start[gone] = rng.choice(free, many, replace=False)
    return start
