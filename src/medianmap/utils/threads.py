"""One limit for all threads, chunks of work whose results do not depend on their number, and how far work has come."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Event, RLock, current_thread, local, main_thread
from time import perf_counter
from types import CodeType
from typing import Any, Generic, Self, TypeVar, overload
from weakref import ref

from threadpoolctl import LibController, ThreadpoolController

from .signals import uninterrupted

T = TypeVar("T")


@cache
def _blas() -> list[LibController]:
    import numpy.linalg  # noqa: F401  (BLAS must be loaded before it can be found)
    import scipy.linalg  # noqa: F401

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


def n_threads(n_jobs: int | None) -> int:
    """How many threads may run. None: as many as BLAS may use now, so OMP_NUM_THREADS and joblib's limits are kept;
    negative: counted back from the number of cores, -1 being all of them. One inside `alone`."""
    if getattr(_here, "alone", False):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        allowed = [library.num_threads for library in _blas()]
        return max(1, min([cores, *allowed]))
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


class _Ticket:
    """Of one limit; it ends with the call that holds it."""


_lock = RLock()  # a call may end anywhere, also while this thread changes the limits
# (reference to the ticket, threads, threads of BLAS) of those in force, latest last; the first is what held outside.
_limits: list[tuple[Callable[[], _Ticket | None], int, int]] = []


@contextmanager
def limited(n_jobs: int | None) -> Iterator[int]:
    """BLAS uses at most n_threads(n_jobs) threads inside; yields that number.

    The limit belongs to the process. Of fits that run at the same time the one that began last sets it; when all have
    ended it is what it was before. Outside of the main thread BLAS itself has one thread: when a process forks, as
    main threads do to start others, OpenBLAS ends its threads, and a call that waits for one never returns.
    """
    ticket = _Ticket()
    mine = ref(ticket, _end)  # Ctrl-C may come just before `finally` begins its work: then the ticket's end does it
    try:
        with uninterrupted(), _lock:  # Ctrl-C between two of these steps would leave the limit to the whole process
            n = n_threads(n_jobs)
            if not _limits:
                outside = n_threads(None)
                _limits.append((_Ticket, outside, outside))
            blas = n if current_thread() is main_thread() else 1
            _limits.append((mine, n, blas))
            _set_blas(blas)
        yield n
    finally:
        with uninterrupted():
            _end(mine)
            del mine  # or it would hear of the ticket's end, too


def _end(mine: Callable[[], _Ticket | None]) -> None:
    """The limit of this ticket, and any whose call is over, is in force no more."""
    with _lock:
        _limits[:] = [entry for entry in _limits if entry[0] is not mine and entry[0]() is not None]
        if _limits:
            _set_blas(_limits[-1][2])
        if len(_limits) == 1:
            _limits.clear()


def _set_blas(n: int) -> None:
    for library in _blas():
        if library.num_threads != n:
            _take_control(library)
            library.set_num_threads(n)
            _take_control(library)  # nobody else is kept from setting it


def _take_control(library: LibController) -> None:
    """threadpoolctl (3.7 on) lets one thread of a process set the number of OpenBLAS and ignores others silently."""
    clear = getattr(library, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class computed_once(Generic[T]):
    """A property that is computed when it is first asked for and kept with its object, as functools' cached_property.

    That one has a lock for all objects until Python 3.11: a process that forks while another thread computes any of
    them waits for ever. Here two threads may both compute a value; they get the same.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        value: T = self.compute(instance)
        vars(instance)[self.name] = value
        return value


def run_chunks(work: Callable[[slice], Any], chunks: Sequence[slice], n_jobs: int | None) -> None:
    """Call work(chunk) for every chunk; the chunks, not the threads, fix what is computed.

    Threads of our own rather than numba's: they survive a fork and can be nested in a caller's threads.
    The work must release the GIL to gain (numba nogil kernels, SciPy's distances). Work that lately took less than
    waking threads does is done here and now.
    """
    stop_if_asked()
    n = min(outer_threads(n_jobs), len(chunks))
    if n <= 1:
        for chunk in chunks:
            work(chunk)
        return
    code, size = getattr(work, "__code__", None), chunks[-1].stop - chunks[0].start
    small = _pace.get(code, 1.0) * size < WAKING
    seconds = _work_through(work, chunks) if small else _hand_out(work, chunks, n)
    if code is not None:
        _pace[code] = seconds / size


# Seconds of work for which waking threads and hearing from them does not pay.
WAKING = 1e-4
# Seconds that the code of some work took lately for each index of its chunks, all threads together: what waking them
# takes is not in it, or small work that was handed out once would seem too long for ever.
_pace: dict[CodeType | None, float] = {}


def _hand_out(work: Callable[[slice], Any], chunks: Sequence[slice], n: int) -> float:
    """The chunks on n threads; how many seconds these worked, added up."""
    # One group per thread: handing out every chunk by itself would cost more than small ones take.
    given_up = Event()
    groups = [_pool(n).submit(_work_through, work, chunks[k::n], given_up) for k in range(n)]
    try:
        return sum(group.result() for group in groups)
    except BaseException:  # also Ctrl-C: no thread goes on writing into arrays that the caller has given up
        given_up.set()
        wait(groups)
        raise


def _work_through(work: Callable[[slice], Any], chunks: Sequence[slice], given_up: Event | None = None) -> float:
    """The chunks on this thread, up to where it is given up; how many seconds that took."""
    began = perf_counter()
    with alone():  # work handed out from here would wait for the very threads that wait for it
        for chunk in chunks:
            if given_up is not None and given_up.is_set():
                break
            work(chunk)
    return perf_counter() - began


def outer_threads(n_jobs: int | None) -> int:
    """n_threads, but of the outermost limit for None: BLAS is held to one thread while our own do the work."""
    if n_jobs is None and len(_limits) > 1 and not getattr(_here, "alone", False):
        return _limits[1][1]
    return n_threads(n_jobs)


_here = local()


class Stopped(Exception):
    """Raised in a thread that works alone when what it works for has failed elsewhere, or the user interrupted."""


@contextmanager
def alone(stop: Event | None = None) -> Iterator[None]:
    """This thread works by itself inside: the others have work of their own; it is `Stopped` once stop is set."""
    before = vars(_here).copy()
    _here.alone, _here.stop = True, stop
    try:
        yield
    finally:
        vars(_here).clear()
        vars(_here).update(before)


def stop_if_asked() -> None:
    """Raise `Stopped` in a thread that works alone and is to end."""
    stop = getattr(_here, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


@cache
def _pool(n: int) -> ThreadPoolExecutor:
    """Kept from call to call: starting threads would cost more than most chunks."""
    return ThreadPoolExecutor(n, thread_name_prefix="medianmap")


_held: list[Any] = []  # over a fork, and only then


def _before_fork() -> None:
    """No other thread holds a lock that fits wait for when a process forks: the child would wait for it for ever.

    These are ours and that of numba's compiler, where it is loaded; whoever compiles is waited for.
    """
    _lock.acquire()
    _held.append(_lock)
    compiler = getattr(sys.modules.get("numba.core.compiler_lock"), "global_compiler_lock", None)
    if compiler is not None:
        compiler.acquire()
        _held.append(compiler)


def _after_fork() -> None:
    while _held:
        _held.pop().release()


def _after_fork_in_child() -> None:
    """The child has what the other threads left, but none of them: no pool, and no limits of their fits."""
    _after_fork()
    _pool.cache_clear()
    if _limits:
        _set_blas(_limits[0][2])
        _limits.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


# Called as on_progress(stage, done, total): what is worked on, how much of it is done, and of how much; the total is
# None where it is not known, and may grow on the way. `step` is one of these, too: functions with a parameter
# `on_progress` call `on_progress or step`.
OnProgress = Callable[[str, int, "int | None"], None]

# Of this thread alone: work that runs beside other work, as restarts do, has no place in one bar.
_follower: ContextVar[OnProgress | None] = ContextVar("follower", default=None)


@contextmanager
def bound(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """The variable has this value inside."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def followed(follower: OnProgress) -> AbstractContextManager[None]:
    """The follower is called at every step inside."""
    return bound(_follower, follower)


def step(stage: str, done: int, total: int | None) -> None:
    """Tell the follower that `done` of `total` steps of a stage are over; costs next to nothing where there is none."""
    follower = _follower.get()
    if follower is not None:
        follower(stage, done, total)


def in_steps(stage: str, n: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size` that cover range(n), each reported when it is done."""
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
    return bound(EPOCH_WATCHER, watcher)
