"""Several starts of one training, side by side in threads that share the data; the best is kept by whoever asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any, TypeVar

from ..sources.memory import DenseSource, SubsetSource
from ..utils.threads import alone, limited, outer_threads, stop_if_asked
from .engine import Epoch, OnEpoch, Problem

T = TypeVar("T")


def run_all(
    train: Callable[[Problem, int, OnEpoch], T], problem: Problem, n_runs: int, n_jobs: int | None, watch: OnEpoch
) -> Iterator[T]:
    """train(problem, run, on_epoch) for each run in turn, one run a thread: their epochs wait for nobody.

    The runs share the data. What a search learns from epoch to epoch stays with its run, so that even the counts of
    its work do not depend on the threads. An outcome is given away as soon as those before it are: whoever keeps the
    best need not hold them all.
    """
    workers = min(outer_threads(n_jobs), n_runs) if _in_memory(problem.space) else 1
    if workers <= 1:
        yield from (train(_own(problem), run, watch) for run in range(n_runs))
        return
    stop = Event()

    def watched(epoch: Epoch) -> None:
        stop_if_asked()
        watch(epoch)

    def work(run: int) -> T:
        with alone(stop):
            return train(_own(problem), run, watched)

    with limited(1), ThreadPoolExecutor(workers, thread_name_prefix="medianmap-run") as pool:
        try:
            yield from pool.map(work, range(n_runs))
        except BaseException:  # a run's failure, or that of whoever takes the outcomes
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _own(problem: Problem) -> Problem:
    """The problem with an empty memory, for one run."""
    return replace(problem, space=_forgetful(problem.space), assignment=_forgetful(problem.assignment))


def _in_memory(space: Any) -> bool:
    """Whether threads may read the data at the same time; a database or a user's function may not bear it."""
    source = getattr(space, "source", None)
    while isinstance(source, SubsetSource):
        source = source.base
    return source is None or isinstance(source, DenseSource)


def _forgetful(part: Any) -> Any:
    return replace(part, memory={}) if hasattr(part, "memory") else part
