"""The pass itself, in sequence or as a tree on processes or Dask: with checkpoints, a budget, and a time estimate."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import astuple, dataclass, replace
from functools import partial
from itertools import chain, count, islice
from operator import call
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ..core.engine import State
from ..core.labels import LabelVectors
from ..sources.base import FloatArray
from ..utils.files import check_target
from ..utils.loading import require
from ..utils.resumable import digest, refuse_other
from ..utils.threads import EPOCH_WATCHER, bound
from .checkpoint import Level, PassProgress, write_checkpoint
from .fields import Fields
from .input import DataInPatches, StreamInPatches, distance_blocks
from .one_patch import Patch, PatchCost, PatchSettings, cluster_patch, seed_of
from .plan import PatchPlan
from .points import Comparison, Prototypes
from .tree import Task, groups, grown, join, leaf, mapped, summarised

logger = logging.getLogger("medianmap")

# Patches that are clustered to measure the time of one.
REHEARSED = 4


@dataclass(frozen=True)
class PatchRecord:
    """What `on_patch` is called with after every patch. The map of a tree is trained after the last."""

    n_patches: int
    n_patches_planned: int | None  # None for a stream, whose length is not known
    n_samples_seen: int
    n_evaluations: int
    epochs: int
    seconds: float  # since this run began
    points_per_second: float
    seconds_left: float | None


@dataclass(frozen=True)
class RunOptions:
    """How a pass is run, which does not change the map: parameters of PatchClusterer, and what gets the assignments.

    on_points : called with the table of `two_best` of all points, where labels are computed.
    """

    checkpoint: str | os.PathLike[str] | None = None
    n_jobs: int | None = None
    client: Any = None
    on_patch: Callable[[PatchRecord], Any] | None = None
    on_points: Callable[[NDArray[Any]], Any] | None = None


# Used instead of a PatchClusterer's own parameters, by callers that do not want the model to keep them.
RUN_OPTIONS: ContextVar[RunOptions | None] = ContextVar("run_options", default=None)


def run_with(options: RunOptions) -> AbstractContextManager[None]:
    """Passes inside are run with these options."""
    return bound(RUN_OPTIONS, options)


# Data of a pass; and where it ended: the data (of a stream with what its first points fixed), the progress, and whether
# the budget ended it.
InPatches: TypeAlias = DataInPatches | StreamInPatches
PassResult: TypeAlias = tuple[InPatches, PassProgress, bool]

# Called after every patch with the progress and the points that this run has read so far.
Report = Callable[[PassProgress, int], None]

# Runs many tasks: their results, in the order of the tasks.
Runner = Callable[[Iterable[Task]], Iterator[tuple[Prototypes, PatchCost]]]


def patch_reporter(plan: PatchPlan | None, verbose: int, on_patch: Callable[[PatchRecord], Any] | None) -> Report:
    """What logs every patch, if asked for, and passes its record to `on_patch`."""
    began = time.perf_counter()
    n_points = None if plan is None else int(plan.sizes.sum())

    def report(progress: PassProgress, fresh: int) -> None:
        seconds = time.perf_counter() - began
        rate = fresh / max(seconds, 1e-9)
        left = None if n_points is None else max(0, n_points - progress.n_seen) / max(rate, 1e-9)
        counts = progress.n_seen, progress.evaluations, progress.epochs
        record = PatchRecord(progress.n_patches, None if plan is None else plan.n_seen, *counts, seconds, rate, left)
        if verbose or EPOCH_WATCHER.get() is not None:
            logger.info("patch %d of %s: %d points seen, %d dissimilarities, %.0f points/s%s", record.n_patches,
                        record.n_patches_planned or "a stream", record.n_samples_seen, record.n_evaluations, rate,
                        "" if left is None else f", {left:.0f} s left")  # fmt: skip
        if on_patch is not None:
            on_patch(record)

    return report


def advanced(settings: PatchSettings, compared: Comparison, progress: PassProgress, patch: Patch) -> PassProgress:
    """The progress after one more patch."""
    if not len(patch.m):
        return progress.after(progress.prototypes, PatchCost(patch.n_read, 0, 0))
    if settings.sizes is not None:
        return grown(settings, compared, progress, patch)
    seed = seed_of(progress.seed, 0, progress.n_patches)
    return progress.after(*cluster_patch(settings, compared, progress.prototypes, patch, seed))


def one_more(settings: PatchSettings, compared: Comparison, progress: PassProgress, patch: Patch) -> PassProgress:
    """The progress after one more patch of which there may be others, with the map that there is now."""
    if settings.sizes is None:
        return advanced(settings, compared, progress, patch)
    before = progress.prototypes
    if before is not None and not progress.held:  # of a loaded model, or after patches in sequence
        standing = before.subset(np.flatnonzero(before.m))
        if standing.D is not None:
            standing = replace(standing, fields=Fields.of_points(standing.D))
        progress = replace(progress, levels=(Level((standing,), 1),))
    return mapped(settings, compared, advanced(settings, compared, progress, patch))


def pass_in_sequence(
    settings: PatchSettings, data: InPatches, progress: PassProgress, checkpoint: str | os.PathLike[str] | None,
    max_evaluations: int | None, report: Report,
) -> PassResult:  # fmt: skip
    """Patch after patch, from the progress of the checkpoint or from none; the map of a tree comes last."""
    data, first, patches = data.opened()
    compared, seen_before = data.found.compared, progress.n_seen
    if checkpoint is not None:
        check_target(Path(checkpoint))
        plan = data.patch_size if data.plan is None else astuple(data.plan)
        about = digest((settings.about(), plan, compared.sample(first.points), data.m, first.Y))
        other = "" if progress.about in ("", about) else "other data, another map or other settings"
        refuse_other(checkpoint, other, "choose another file for this run, or delete that one.")
        progress = replace(progress, about=about)
        skip(patches, progress, checkpoint)
    stopped = data.plan is not None and data.plan.stops_early
    for patch in patches:
        if data.plan is None and max_evaluations is not None and progress.n_patches:
            sizes = np.append(np.full(progress.n_patches, data.patch_size), patch.n_read)
            stopped = settings.cost_of_pass(sizes, compared.cost) > max_evaluations
            if stopped:
                break
        progress = advanced(settings, compared, progress, patch)
        if checkpoint is not None:
            write_checkpoint(checkpoint, progress)
        report(progress, progress.n_seen - seen_before)
    return data, mapped(settings, compared, progress) if settings.sizes is not None else progress, stopped


def skip(patches: Iterator[Patch], progress: PassProgress, checkpoint: str | os.PathLike[str]) -> None:
    """Pass over the patches that are in the checkpoint; ValueError if they have other points now."""
    if not progress.n_patches:
        return
    logger.info("Continuing after patch %d of the run in %s.", progress.n_patches, checkpoint)
    passed = sum(patch.n_read for patch in islice(patches, progress.n_patches))
    if passed != progress.n_seen:
        raise ValueError(
            f"{checkpoint} was written after {progress.n_seen} points in {progress.n_patches} patches, which now have "
            f"{passed}: the data have changed. Delete it to start again; pass points that came later to partial_fit."
        )


def pass_on_workers(
    settings: PatchSettings, data: InPatches, progress: PassProgress, runner: Callable[[Comparison, int], Runner],
    max_evaluations: int | None, report: Report,
) -> PassResult:  # fmt: skip
    """A tree whose tasks run on several workers, level by level: what `pass_in_sequence` makes of it, to the same bits.

    It does not depend on how many workers there are, in which order they finish, or whether one dies and its task is
    run again.
    """
    assert settings.sizes is not None
    data, _, patches = data.opened()
    compared, sizes = data.found.compared, list[int]()
    stopped = data.plan is not None and data.plan.stops_early

    def within_budget() -> Iterator[Patch]:
        nonlocal stopped
        for patch in patches:
            if data.plan is None and max_evaluations is not None and sizes:
                stopped = settings.cost_of_pass(np.array([*sizes, patch.n_read]), compared.cost) > max_evaluations
                if stopped:
                    return
            sizes.append(patch.n_read)
            if len(patch.m):
                yield patch

    run, counting = runner(compared, progress.seed), within_budget()
    first = list(islice(counting, 2))
    levels: list[Level] = []
    if len(first) < 2:
        for patch in first:
            progress = grown(settings, compared, progress, patch)
            report(progress, progress.n_seen)
    else:
        tasks: Iterable[Task] = map(partial(leaf, settings), chain(first, counting), count())
        while tasks:
            made = []
            for summary, cost in run(tasks):
                made.append(summary)
                progress = progress.after(None, cost)
                if not levels:
                    report(progress, progress.n_seen)
            full = list(groups(made, settings.sizes.most))
            levels.append(Level(full.pop(), len(made), len(full)))
            tasks = [join(settings, sets, len(levels), number) for number, sets in enumerate(full)]
    progress = replace(progress, n_patches=len(sizes), n_seen=sum(sizes), levels=tuple(levels))
    return data, mapped(settings, compared, progress), stopped


@contextmanager
def task_runner(
    settings: PatchSettings, client: Any, n_jobs: int | None
) -> Iterator[Callable[[Comparison, int], Runner]]:
    """What runs the tasks, given how points are compared and the seed: processes of this machine, or a Dask cluster.

    client : None for processes; a `distributed.Client`; or a scheduler's address, whose connection is closed after.
    """
    if client is None:
        yield lambda compared, seed: _on_processes(partial(summarised, settings, compared, seed), n_jobs)
        return
    connection: Any = nullcontext(client)
    if isinstance(client, str):
        distributed = require("distributed", "dask", "A Dask cluster")
        try:
            connection = distributed.Client(client)
        except (OSError, ValueError) as error:
            raise ValueError(f"No Dask scheduler answers at {client} ({error}).") from None
    with connection as connected:
        yield lambda compared, seed: _on_dask(partial(summarised, settings, compared, seed), connected)


def _on_processes(work: partial[Any], n_jobs: int | None) -> Runner:
    """Processes of joblib; one runs in this process."""

    def run(tasks: Iterable[Task]) -> Iterator[tuple[Prototypes, PatchCost]]:
        pool = Parallel(n_jobs=n_jobs or 1, return_as="generator", pre_dispatch="2*n_jobs")
        yield from pool(delayed(work)(task) for task in tasks)

    return run


def _on_dask(work: partial[Any], client: Any) -> Runner:
    """Workers of a Dask cluster. They get settings and comparison once, and the points of one task at a time.

    At most a few tasks per core wait at a time, so that a long stream of patches is not held in memory.
    """
    # A task, not scattered data: when every worker that holds its result dies, it is run again.
    sent = client.submit(partial, work, pure=False)

    def run(tasks: Iterable[Task]) -> Iterator[tuple[Prototypes, PatchCost]]:
        waiting: list[Any] = []
        room = 4 * max(1, sum(client.nthreads().values()))
        for task in tasks:
            waiting.append(client.submit(call, sent, task, pure=False))
            if len(waiting) >= room:
                yield waiting.pop(0).result()
        for future in waiting:
            yield future.result()

    return run


@dataclass(frozen=True)
class TrainedByPass:
    """What a pass leaves for a classifier, with the attributes of `estimators.base.Trained`."""

    data: InPatches
    prototypes: Prototypes
    state: State
    labels: LabelVectors | None
    beta: float = 1.0

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, LabelVectors]]:
        """The labelled training data, block by block: dissimilarities to the prototypes, weights, labels."""
        assert self.data.m is not None
        assert self.labels is not None
        for at, G in distance_blocks(self.data.found, self.prototypes):
            yield G, self.data.m[at], self.labels.subset(at)


def learned_labels(compared: Comparison, prototypes: Prototypes) -> FloatArray:
    """(K, C) label vectors; a prototype that represents no labelled point takes that of the nearest that does."""
    Y = prototypes.labels.copy()
    known = ~np.isnan(Y).any(axis=1)
    if not known.any():
        raise ValueError("The budget ended the pass before any labelled point; raise max_evaluations, or shuffle=True.")
    if not known.all():
        D = prototypes.among(compared)[np.ix_(~known, known)]
        Y[~known] = Y[known][D.argmin(axis=1)]
    return Y


@dataclass(frozen=True)
class PassEstimate:
    """Patches, dissimilarities, seconds on this machine, and bytes of memory beyond the data, of one pass."""

    n_patches: int
    n_evaluations: int
    seconds: float
    bytes: int

    def __str__(self) -> str:
        return (
            f"{self.n_patches} patches, {self.n_evaluations:.3g} dissimilarities, about {self.seconds:.3g} s "
            f"on this machine, {self.bytes / 2**20:.0f} MiB beyond the data"
        )


def estimate_pass(settings: PatchSettings, data: DataInPatches, n_evaluations: int) -> PassEstimate:
    """Cluster a few patches of the planned size and extrapolate from their times.

    The first patch of a sequence is annealed from scratch, all later ones take the median time of the next few. A tree
    has no first, but summaries of several patches, in the mean of the times, and a map at the end. All is done twice,
    so that the time of compiling is not counted.

    data : points for at least one patch of their plan, which may be for more points.
    """
    compared, size, sizes = data.found.compared, data.patch_size, settings.sizes
    n = min(REHEARSED, len(data.order) // size)
    if sizes is not None:
        n = min(REHEARSED * (sizes.most // sizes.patch), len(data.order) // size)
    began, seconds = time.perf_counter, 0.0
    for _ in range(2):
        progress, times = PassProgress(0), []
        for patch in replace(data, plan=PatchPlan(n * size, n, n)).patches():
            start = began()
            progress = advanced(settings, compared, progress, patch)
            times.append(began() - start)
        if sizes is None:
            seconds = times[0] + (data.plan.n_seen - 1) * float(np.median(times[1:] or times))
        else:
            start = began()
            mapped(settings, compared, progress)
            seconds = data.plan.n_seen * float(np.mean(times)) + began() - start
    # The extended patch, or the summaries that are joined, and what a search keeps beside them.
    largest = size + settings.n_carried if sizes is None else max(size, sizes.most)
    return PassEstimate(data.plan.n_seen, n_evaluations, seconds, 3 * 8 * largest**2)
