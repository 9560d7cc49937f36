"""The pass itself: patches out of the data, one after the other or as a tree, with checkpoints and a budget."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from ..engine import State
from ..files import check_target
from ..labels import LabelVectors
from ..sources.base import FloatArray, IntArray, panels
from .checkpoint import Progress, fingerprint, read_checkpoint, write_checkpoint
from .ground import Ground, Prototypes
from .intake import Intake, resolved_by
from .plan import Plan, StreamPlan, patch_cost
from .step import Patch, Recipe, cluster_patch
from .tree import Runner, merged_tree, seed_of

logger = logging.getLogger("medianmap")

# Points whose dissimilarities to the prototypes are held at a time.
BLOCK = 8192


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
class Data:
    """What goes into a pass: points, their weights m (N,) and label vectors y (N, C), and the order they are taken in.

    m, y and order are None for a stream: weights are 1, there are no labels, points come as they come.
    """

    found: Intake
    m: FloatArray | None
    labels: LabelVectors | None
    order: IntArray | None

    def patches(self, plan: Plan | StreamPlan) -> Iterator[Patch]:
        """One patch after the other; points of weight 0 are left out of them."""
        if self.m is None or self.order is None or isinstance(plan, StreamPlan):
            yield from self._of_stream(plan.patch_size)
            return
        y = np.empty((len(self.m), 0))
        if self.labels is not None:
            y = np.where(self.labels.known[:, None], self.labels.y, np.nan)
        stop = 0
        for size in plan.sizes:
            start, stop = stop, stop + int(size)
            at = self.order[start:stop]
            at = at[self.m[at] > 0]
            yield Patch(self.found.take(at), at, self.m[at], y[at], int(size))

    def _of_stream(self, patch_size: int) -> Iterator[Patch]:
        seen = 0
        while (points := self.found.next_points(patch_size)) is not None:
            n = len(points)
            yield Patch(points, np.arange(seen, seen + n), np.ones(n), np.empty((n, 0)), n)
            seen += n


def advanced(recipe: Recipe, ground: Ground, progress: Progress, patch: Patch) -> Progress:
    """The progress after one more patch."""
    prototypes, done_evaluations, epochs = progress.prototypes, 0, 0
    if len(patch.m):
        seed = seed_of(progress.seed, 0, progress.n_patches)
        prototypes, done = cluster_patch(recipe, ground, prototypes, patch, seed)
        done_evaluations, epochs = done.evaluations, done.epochs
    return Progress(
        progress.seed,
        prototypes,
        progress.n_patches + 1,
        progress.n_seen + patch.n_read,
        progress.evaluations + done_evaluations,
        progress.epochs + epochs,
    )


def sequential(
    recipe: Recipe,
    data: Data,
    plan: Plan | StreamPlan,
    seed: int,
    checkpoint: str | os.PathLike[str] | None,
    max_evaluations: int | None,
    report: Callable[[Progress, int], None],
) -> tuple[Data, Progress, bool]:
    """Patch after patch; returns the data (with what the first patch fixed of the metric), where the pass got, and
    whether the budget ended it early. `report` is called with the progress and the points of this run so far."""
    patches = data.patches(plan)
    first = next(patches, None)
    if first is None:
        raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")
    if data.m is None:
        data = replace(data, found=resolved_by(data.found, first.points, first.m))
    progress, about = Progress(seed), ""
    if checkpoint is not None:
        check_target(Path(checkpoint))
        about = fingerprint(recipe.about(), plan, data.found.sample(first.points), data.m, first.y)
        progress = read_checkpoint(checkpoint, about) or progress
        if progress.n_patches:
            logger.info("Going on after patch %d of the run in %s.", progress.n_patches, checkpoint)
    ground, fresh = data.found.ground, 0
    stopped = isinstance(plan, Plan) and plan.stops_early
    for number, patch in enumerate(chain([first], patches)):
        if number < progress.n_patches:
            continue
        if isinstance(plan, StreamPlan) and max_evaluations is not None and number:
            cost = patch_cost(len(patch.m), plan.K, plan.symmetric)
            if progress.evaluations + cost > max_evaluations:
                stopped = True
                break
        progress = advanced(recipe, ground, progress, patch)
        fresh += patch.n_read
        if checkpoint is not None:
            write_checkpoint(checkpoint, about, progress)
        report(progress, fresh)
    return data, progress, stopped


def as_tree(
    data: Data,
    plan: Plan | StreamPlan,
    seed: int,
    runner: Callable[[Ground], Runner],
    report: Callable[[Progress, int], None],
) -> tuple[Data, Progress, bool]:
    """All patches by themselves, then their prototypes; see `tree`."""
    patches = data.patches(plan)
    first = next(patches, None)
    if first is None:
        raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")
    if data.m is None:
        data = replace(data, found=resolved_by(data.found, first.points, first.m))
    progress = Progress(seed)
    read: list[int] = []

    def noted() -> Iterator[Patch]:
        for patch in chain([first], patches):
            read.append(patch.n_read)
            if len(patch.m):
                yield patch

    for number, (prototypes, done) in enumerate(
        merged_tree(noted(), data.found.ground, runner(data.found.ground), seed, plan.patch_size)
    ):
        seen = sum(read[: number + 1]) if number < len(read) else sum(read)
        progress = Progress(
            seed, prototypes, number + 1, seen, progress.evaluations + done.evaluations, progress.epochs + done.epochs
        )
        report(progress, seen)
    return data, replace(progress, n_patches=len(read)), isinstance(plan, Plan) and plan.stops_early


@dataclass(frozen=True)
class PatchTrained:
    """What a pass leaves for a classifier; see `base.Trained`."""

    data: Data
    prototypes: Prototypes
    state: State

    @property
    def labels(self) -> LabelVectors | None:
        return self.data.labels

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, LabelVectors]]:
        """The labelled training data, block by block: dissimilarities to the prototypes, weights, labels."""
        assert self.data.labels is not None
        assert self.data.m is not None
        for at, G in distance_blocks(self.data, self.prototypes):
            yield G, self.data.m[at], self.data.labels.subset(at)


def distance_blocks(data: Data, prototypes: Prototypes) -> Iterator[tuple[IntArray, FloatArray]]:
    """(places (n,), dissimilarities (n, K) from these points to the prototypes), over all points."""
    assert data.found.N is not None
    for part in panels(data.found.N, BLOCK):
        at = np.arange(part.start, part.stop)
        yield at, data.found.ground.to_prototypes(data.found.take(at), prototypes.points)


def learned_labels(ground: Ground, prototypes: Prototypes) -> FloatArray:
    """(K, C) label vectors; a prototype with no labelled point behind it takes those of the nearest that has one."""
    Y = prototypes.Y.copy()
    known = ~np.isnan(Y).any(axis=1)
    if Y.shape[1] and known.any() and not known.all():
        D = prototypes.D if prototypes.D is not None else ground.to_prototypes(prototypes.points, prototypes.points)
        nearest = np.flatnonzero(known)[D[~known][:, known].argmin(axis=1)]
        Y[~known] = Y[nearest]
    return Y
