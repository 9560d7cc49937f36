"""The pass itself: patch after patch or as a tree, with checkpoints and a budget."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from ..core.engine import State
from ..core.labels import LabelVectors
from ..sources.base import FloatArray
from ..utils.files import check_target
from ..utils.fingerprint import digest
from ..utils.progress import epoch_watcher
from .checkpoint import Progress, read_checkpoint, write_checkpoint
from .patch import Patch, Recipe, among_prototypes, cluster_patch
from .plan import Plan, merge_width, price_of_tree
from .points import Ground, Prototypes
from .stream import Data, Stream, distance_blocks
from .tree import Runner, merged_tree, seed_of

logger = logging.getLogger("medianmap")


@dataclass(frozen=True)
class PatchRecord:
    """What `on_patch` is called with after every patch."""

    n_patches: int
    n_patches_planned: int | None  # None for a stream, whose length is not known
    n_samples_seen: int
    n_evaluations: int
    epochs: int
    seconds: float  # since this run began
    points_per_second: float
    seconds_left: float | None


@dataclass(frozen=True)
class Passed:
    """Where a pass got: the data (of a stream with what its first points fixed), and whether the budget ended it."""

    data: Data | Stream
    progress: Progress
    stopped: bool


# Called after every patch with the progress and the points that this run has read so far.
Report = Callable[[Progress, int], None]


def reporting_patches(plan: Plan | None, verbose: int, on_patch: Callable[[PatchRecord], Any] | None) -> Report:
    """What logs every patch, if asked for, and tells `on_patch` of it."""
    began = time.perf_counter()
    n_points = None if plan is None else int(plan.sizes.sum())

    def report(progress: Progress, fresh: int) -> None:
        seconds = time.perf_counter() - began
        rate = fresh / max(seconds, 1e-9)
        left = None if n_points is None else max(0, n_points - progress.n_seen) / max(rate, 1e-9)
        record = PatchRecord(
            n_patches=progress.n_patches,
            n_patches_planned=None if plan is None else plan.n_seen,
            n_samples_seen=progress.n_seen,
            n_evaluations=progress.evaluations,
            epochs=progress.epochs,
            seconds=seconds,
            points_per_second=rate,
            seconds_left=left,
        )
        if verbose or epoch_watcher() is not None:
            logger.info("patch %d of %s: %d points seen, %d dissimilarities, %.0f points/s%s", record.n_patches,
                        record.n_patches_planned or "a stream", record.n_samples_seen, record.n_evaluations, rate,
                        "" if left is None else f", {left:.0f} s left")  # fmt: skip
        if on_patch is not None:
            on_patch(record)

    return report


def advanced(recipe: Recipe, ground: Ground, progress: Progress, patch: Patch) -> Progress:
    """The progress after one more patch."""
    prototypes, evaluations, epochs = progress.prototypes, 0, 0
    if len(patch.m):
        seed = seed_of(progress.seed, 0, progress.n_patches)
        prototypes, done = cluster_patch(recipe, ground, prototypes, patch, seed)
        evaluations, epochs = done.evaluations, done.epochs
    return Progress(
        progress.seed,
        prototypes,
        progress.n_patches + 1,
        progress.n_seen + patch.n_read,
        progress.evaluations + evaluations,
        progress.epochs + epochs,
    )


def opened(data: Data | Stream) -> tuple[Data | Stream, Patch, Iterator[Patch]]:
    """The data, their first patch, and all patches."""
    data, patches = data.opened()
    first = next(patches, None)
    if first is None:
        raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")
    return data, first, chain([first], patches)


def sequential(
    recipe: Recipe,
    data: Data | Stream,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
    max_evaluations: int | None,
    report: Report,
) -> Passed:
    """Patch after patch, from where the checkpoint is, if there is one."""
    data, first, patches = opened(data)
    progress, about = Progress(seed), ""
    if checkpoint is not None:
        check_target(Path(checkpoint))
        plan = data.patch_size if data.plan is None else astuple(data.plan)
        about = digest((recipe.about(), plan, data.found.sample(first.points), data.m, first.y))
        progress = read_checkpoint(checkpoint, about) or progress
        skip(patches, progress, checkpoint)
    ground, K, seen_before = data.found.ground, recipe.n_carried, progress.n_seen
    stopped = data.plan is not None and data.plan.stops_early
    for patch in patches:
        if data.plan is None and max_evaluations is not None and progress.n_patches:
            stopped = progress.evaluations + ground.cost(len(patch.m), K) > max_evaluations
            if stopped:
                break
        progress = advanced(recipe, ground, progress, patch)
        if checkpoint is not None:
            write_checkpoint(checkpoint, about, progress)
        report(progress, progress.n_seen - seen_before)
    return Passed(data, progress, stopped)


def skip(patches: Iterator[Patch], progress: Progress, checkpoint: str | os.PathLike[str]) -> None:
    """Pass over the patches that a checkpoint has behind it; ValueError if they are not those points any more."""
    if not progress.n_patches:
        return
    logger.info("Going on after patch %d of the run in %s.", progress.n_patches, checkpoint)
    passed = sum(patch.n_read for patch in islice(patches, progress.n_patches))
    if passed != progress.n_seen:
        raise ValueError(
            f"{checkpoint} was written after {progress.n_seen} points in {progress.n_patches} patches, which now have "
            f"{passed}: the data have changed. Delete it to begin anew; points that came later go to partial_fit."
        )


def as_tree(
    recipe: Recipe,
    data: Data | Stream,
    seed: int,
    runner: Callable[[Ground], Runner],
    max_evaluations: int | None,
    report: Report,
) -> Passed:
    """All patches by themselves, then their prototypes; see `tree`."""
    data, _, patches = opened(data)
    ground, K = data.found.ground, recipe.n_carried
    sizes: list[int] = []
    stopped = data.plan is not None and data.plan.stops_early

    def counted() -> Iterator[Patch]:
        nonlocal stopped
        for patch in patches:
            if data.plan is None and max_evaluations is not None and sizes:
                price = price_of_tree(np.array([*sizes, patch.n_read]), K, ground.cost)
                if price > max_evaluations:
                    stopped = True
                    return
            sizes.append(patch.n_read)
            if len(patch.m):
                yield patch

    progress = Progress(seed)
    results = merged_tree(counted(), ground, runner(ground), seed, merge_width(data.patch_size, K))
    for prototypes, done in results:
        progress = Progress(
            seed,
            prototypes,
            progress.n_patches + (done.n_read > 0),
            progress.n_seen + done.n_read,
            progress.evaluations + done.evaluations,
            progress.epochs + done.epochs,
        )
        report(progress, progress.n_seen)
    return Passed(data, replace(progress, n_patches=len(sizes), n_seen=sum(sizes)), stopped)


@dataclass(frozen=True)
class PatchTrained:
    """What a pass leaves for a classifier; see `base.Trained`."""

    data: Data | Stream
    prototypes: Prototypes
    state: State

    @property
    def labels(self) -> LabelVectors | None:
        return self.data.labels

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, LabelVectors]]:
        """The labelled training data, block by block: dissimilarities to the prototypes, weights, labels."""
        assert isinstance(self.data, Data)
        assert self.data.labels is not None
        for at, G in distance_blocks(self.data.found, self.prototypes):
            yield G, self.data.m[at], self.data.labels.subset(at)


def learned_labels(ground: Ground, prototypes: Prototypes) -> FloatArray:
    """(K, C) label vectors; a prototype with no labelled point behind it takes those of the nearest that has one."""
    Y = prototypes.labels.copy()
    known = ~np.isnan(Y).any(axis=1)
    if not known.any():
        raise ValueError("The budget ended the pass before any labelled point; raise max_evaluations, or shuffle=True.")
    if not known.all():
        D = among_prototypes(ground, prototypes)
        nearest = np.flatnonzero(known)[D[~known][:, known].argmin(axis=1)]
        Y[~known] = Y[nearest]
    return Y
