"""Patches by themselves, in parallel, then their weighted prototypes, level by level, until one set is left.

Every task is a pure function of its points and a seed made of its level and number: the result does not depend on how
many workers there are, in which order they finish, or whether one dies and its task is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from .patch import Done, Patch, Recipe, cluster_patch
from .points import Ground, Prototypes

Result = tuple[Prototypes, Done]
# Runs cluster_patch on many patches: (patches, seeds) -> results in the order of the patches.
Runner = Callable[[Iterable[Patch], Iterable[int]], Iterator[Result]]


def seed_of(seed: int, level: int, number: int) -> int:
    """The seed of one task: independent for every level and number."""
    return int(np.random.SeedSequence([seed, level, number]).generate_state(1)[0])


def merged_tree(patches: Iterable[Patch], ground: Ground, runner: Runner, seed: int, width: int) -> Iterator[Result]:
    """Results of all tasks, level after level, `width` sets of prototypes merged at a time; the last is the result of
    the whole."""
    level, results = 0, []
    for result in runner(patches, (seed_of(seed, 0, number) for number in count())):
        results.append(result[0])
        yield result
    while len(results) > 1:
        level += 1
        groups = [results[k : k + width] for k in range(0, len(results), width)]
        unions = (union(group, ground) for group in groups)
        results = []
        for result in runner(unions, (seed_of(seed, level, number) for number in range(len(groups)))):
            results.append(result[0])
            yield result


def union(group: Sequence[Prototypes], ground: Ground) -> Patch:
    """The prototypes of several sets as one patch of weighted points."""
    points = group[0].points
    for prototypes in group[1:]:
        points = ground.joined(points, prototypes.points)
    return Patch(
        points,
        np.concatenate([prototypes.places for prototypes in group]),
        np.concatenate([prototypes.m for prototypes in group]),
        np.vstack([prototypes.Y for prototypes in group]),
    )


def on_this_machine(recipe: Recipe, ground: Ground, n_jobs: int | None) -> Runner:
    """Processes of joblib; one runs in this process."""

    def run(patches: Iterable[Patch], seeds: Iterable[int]) -> Iterator[Result]:
        pool = Parallel(n_jobs=n_jobs or 1, return_as="generator", pre_dispatch="2*n_jobs")
        tasks = (delayed(cluster_patch)(recipe, ground, None, p, s) for p, s in zip(patches, seeds, strict=False))
        yield from pool(tasks)

    return run


def on_dask(recipe: Recipe, ground: Ground, client: Any) -> Runner:
    """Workers of a Dask cluster. They get recipe and ground once and the points of one patch a task; at most a few
    tasks a core wait at a time, so that a long stream of patches is not held in memory."""
    # A task, not scattered data: when every worker that holds its result dies, it is run again.
    handle = client.submit(_carried, recipe, ground, pure=False)

    def run(patches: Iterable[Patch], seeds: Iterable[int]) -> Iterator[Result]:
        waiting: list[Any] = []
        room = 4 * max(1, sum(client.nthreads().values()))
        for patch, seed in zip(patches, seeds, strict=False):
            waiting.append(client.submit(_task, handle, patch, seed, pure=False))
            if len(waiting) >= room:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()

    return run


def _carried(recipe: Recipe, ground: Ground) -> tuple[Recipe, Ground]:
    return recipe, ground


def _task(handle: tuple[Recipe, Ground], patch: Patch, seed: int) -> Result:
    recipe, ground = handle
    return cluster_patch(recipe, ground, None, patch, seed)
