"""One limit for every kind of thread, and chunks of work whose results do not depend on how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    import numpy.linalg  # noqa: F401  (BLAS must be loaded before it can be found)
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


def n_threads(n_jobs: int | None) -> int:
    """How many threads may run. None: as many as BLAS may use now, so OMP_NUM_THREADS and joblib's limits are kept;
    negative: counted back from the number of cores, -1 being all of them."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        allowed = [lib["num_threads"] for lib in _controller().info() if lib["user_api"] == "blas"]
        return max(1, min([cores, *allowed]))
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


_lock = Lock()
_depth = 0
_outside: Any = None


@contextmanager
def limited(n_jobs: int | None) -> Iterator[int]:
    """BLAS uses at most n_threads(n_jobs) threads inside; yields that number.

    The limit belongs to the process. Of fits that run at the same time the last to begin sets it, and the last to end
    puts back what was before the first.
    """
    global _depth, _outside
    with _lock:
        n = n_threads(n_jobs)
        limiter = _controller().limit(limits=n, user_api="blas")
        if _depth == 0:
            _outside = limiter
        _depth += 1
    try:
        yield n
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _outside.restore_original_limits()


def run_chunks(work: Callable[[slice], Any], chunks: Sequence[slice], n_jobs: int | None) -> None:
    """Call work(chunk) for every chunk; the chunks, not the threads, fix what is computed.

    Threads of our own rather than numba's: they survive a fork and may be nested in a caller's threads.
    The work must release the GIL to gain (numba nogil kernels, SciPy's distances).
    """
    n = min(n_threads(n_jobs), len(chunks))
    if n <= 1:
        for chunk in chunks:
            work(chunk)
        return
    with ThreadPoolExecutor(n) as pool:
        list(pool.map(work, chunks))
