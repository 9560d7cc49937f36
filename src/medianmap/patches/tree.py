"""The parallel pass, on processes or Dask: patches by themselves, then their prototypes merged level by level.

Every task is a pure function of its points and of a seed made of its level and number. So the result does not depend on
how many workers there are, in which order they finish, or whether one dies and its task is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import count
from operator import call
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ..utils.loading import require
from .one_patch import Patch, PatchCost, PatchSettings, cluster_patch
from .points import Comparison, Prototypes

Result = tuple[Prototypes, PatchCost]
# Runs cluster_patch on many patches: (patches, seeds) -> results in the order of the patches.
Runner = Callable[[Iterable[Patch], Iterable[int]], Iterator[Result]]


def seed_of(seed: int, level: int, number: int) -> int:
    """The seed of one task: independent for every level and number."""
    return int(np.random.SeedSequence([seed, level, number]).generate_state(1)[0])


def merged_tree(patches: Iterable[Patch], runner: Runner, seed: int, width: int) -> Iterator[Result]:
    """Results of all tasks, level after level, with `width` sets of prototypes merged at a time.

    The last is the result of the whole.
    """
    for level in count():
        results = []
        for result in runner(patches, map(partial(seed_of, seed, level), count())):
            results.append(result[0])
            yield result
        if len(results) <= 1:
            return
        groups = [results[k : k + width] for k in range(0, len(results), width)]
        patches = (Patch.joined(*group) for group in groups)


@contextmanager
def task_runner(settings: PatchSettings, client: Any, n_jobs: int | None) -> Iterator[Callable[[Comparison], Runner]]:
    """What runs the tasks, once it is known how points are compared: processes of this machine, or a Dask cluster.

    client : None for processes; a `distributed.Client`; or a scheduler's address, whose connection is closed after.
    """
    if client is None:
        yield lambda compared: _on_processes(settings, compared, n_jobs)
        return
    connection: Any = nullcontext(client)
    if isinstance(client, str):
        distributed = require("distributed", "dask", "A Dask cluster")
        try:
            connection = distributed.Client(client)
        except (OSError, ValueError) as error:
            raise ValueError(f"No Dask scheduler answers at {client} ({error}).") from None
    with connection as connected:
        yield lambda compared: _on_dask(settings, compared, connected)


def _on_processes(settings: PatchSettings, compared: Comparison, n_jobs: int | None) -> Runner:
    """Processes of joblib; one runs in this process."""

    def run(patches: Iterable[Patch], seeds: Iterable[int]) -> Iterator[Result]:
        pool = Parallel(n_jobs=n_jobs or 1, return_as="generator", pre_dispatch="2*n_jobs")
        tasks = zip(patches, seeds, strict=False)
        yield from pool(delayed(cluster_patch)(settings, compared, None, patch, seed) for patch, seed in tasks)

    return run


def _on_dask(settings: PatchSettings, compared: Comparison, client: Any) -> Runner:
    """Workers of a Dask cluster. They get settings and comparison once, and the points of one patch per task.

    At most a few tasks per core wait at a time, so that a long stream of patches is not held in memory.
    """
    # A task, not scattered data: when every worker that holds its result dies, it is run again.
    task = client.submit(partial, cluster_patch, settings, compared, None, pure=False)

    def run(patches: Iterable[Patch], seeds: Iterable[int]) -> Iterator[Result]:
        waiting: list[Any] = []
        room = 4 * max(1, sum(client.nthreads().values()))
        for patch, seed in zip(patches, seeds, strict=False):
            waiting.append(client.submit(call, task, patch, seed, pure=False))
            if len(waiting) >= room:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()

    return run
