"""Patches as a tree: each is summarised by itself, summaries are joined and summarised again; one map at the end.

The summary of points is a few of them with the weight that each represents: medoids, and the weights of their fields.
Of vectors without dissimilarities it is the K means of the map. A level holds summaries until they are too many
together; then one summary is made of them, and goes a level up. So what is held grows with the logarithm of the number
of patches, every point goes through as few summaries, and each patch counts alike.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.engine import spread
from ..core.spaces import MedianSpace
from ..refine import swap_medoids
from ..sources.base import DenseSource, IntArray
from ..sources.computed import take
from .checkpoint import Level, PassProgress
from .fields import fields_of, mean_costs
from .one_patch import Patch, PatchCost, PatchSettings, seed_of, trained_on
from .plan import first_group
from .points import Comparison, Prototypes


@dataclass(frozen=True)
class Task:
    """Sets of points that become one of at most `size` points; level and number make its seed.

    n_read : points read to make them, those of weight 0 included; 0 for summaries.
    """

    sets: tuple[Prototypes, ...]
    size: int
    level: int
    number: int
    n_read: int = 0


def leaf(settings: PatchSettings, patch: Patch, number: int) -> Task:
    """The task of one patch."""
    assert settings.sizes is not None
    return Task((patch.counting().compared(None),), settings.sizes.patch, 0, number, patch.n_read)


def join(settings: PatchSettings, sets: Iterable[Prototypes], level: int, number: int) -> Task:
    """The task that makes one summary of several."""
    assert settings.sizes is not None
    return Task(tuple(sets), settings.sizes.joined, level, number)


def summarised(settings: PatchSettings, compared: Comparison, seed: int, task: Task) -> tuple[Prototypes, PatchCost]:
    """The summary that a task asks for: a pure function of its arguments, wherever and whenever it runs."""
    data, evaluations = _data_of(compared, task.sets)
    points, seed = Patch.joined(*task.sets), seed_of(seed, task.level, task.number)
    if not compared.keeps_dissimilarities:
        if len(points.m) <= task.size:
            return points.compared(None), PatchCost(task.n_read, evaluations, 0)
        means, epochs = trained_on(settings, settings.map_for(seed, None), data, points, None)
        return means.subset(np.flatnonzero(means.m)), PatchCost(task.n_read, evaluations, epochs)
    costs, medoids = _costs_of(data, task.sets), np.arange(len(points.m))
    if len(medoids) > task.size:
        rng = np.random.default_rng(seed)
        start = spread(MedianSpace(costs, "standard"), task.size, points.m, rng)
        medoids = swap_medoids(costs, start, points.m, random_state=rng).medoids
    return _represented(points, data.D, costs.D, medoids), PatchCost(task.n_read, evaluations, 0)


def _data_of(compared: Comparison, sets: Iterable[Prototypes]) -> tuple[Any, int]:
    """Training data of all points of the sets, and how many dissimilarities that took."""
    known, evaluations = [], 0
    for each in sets:
        if each.D is None:
            D, own = compared.within(each.points, each.places)
            each, evaluations = replace(each, D=D), evaluations + own
        known.append(each)
    data, between = compared.joined(*known)
    return data, evaluations + between


def _costs_of(data: DenseSource, sets: Iterable[Prototypes]) -> DenseSource:
    """What candidates cost the points that each point of the sets stands for; the data where that is itself."""
    costs = mean_costs(data.D, [(len(each.m), each.fields) for each in sets])
    return data if costs is data.D else DenseSource(costs, False)


def _represented(points: Patch, D: NDArray[Any], costs: NDArray[Any], w: IntArray) -> Prototypes:
    """The points w (k,), each with the weight of those that it costs least, and the mean of their label vectors."""
    field = costs[:, w].argmin(axis=1)
    field[w] = np.arange(len(w))  # of points that coincide each stands for itself
    known: NDArray[np.bool_] = ~np.isnan(points.Y).any(axis=1)  # type: ignore[assignment]
    k = len(w)
    m = points.m * known
    labelled = np.bincount(field, m, k)
    Y = np.full((k, points.Y.shape[1]), np.nan)
    for column, of_points in zip(Y.T, np.where(known[:, None], points.Y, 0.0).T, strict=True):
        np.divide(np.bincount(field, m * of_points, k), labelled, out=column, where=labelled > 0)
    among = np.ascontiguousarray(D[np.ix_(w, w)])
    weight = np.bincount(field, points.m, k).astype(np.float64)
    fields = fields_of(D, costs, points.m, w, field)
    return Prototypes(take(points.points, w), points.places[w], weight, among, Y, fields=fields)


def grown(settings: PatchSettings, compared: Comparison, progress: PassProgress, patch: Patch) -> PassProgress:
    """The progress after one more patch. The first is kept as it is: it may be the only one."""
    if progress.n_leaves == 0 and progress.alone is None:
        counting = patch.counting()
        return replace(progress.after(None, PatchCost(patch.n_read, 0, 0)), alone=counting.compared(None))
    new = [leaf(settings, patch, progress.n_leaves)]
    if progress.alone is not None:
        first = Task((progress.alone,), new[0].size, 0, 0)
        new = [first, replace(new[0], number=1)]
    progress = replace(progress, alone=None)
    for task in new:
        made, cost = summarised(settings, compared, progress.seed, task)
        progress = _added(settings, compared, progress.after(None, cost), made)
    return progress


def _added(settings: PatchSettings, compared: Comparison, progress: PassProgress, new: Prototypes) -> PassProgress:
    """The progress with one more summary of a patch: it is held on level 0, unless that is full."""
    assert settings.sizes is not None
    levels = list(progress.levels)
    for number in range(len(levels) + 1):
        held = levels[number] if number < len(levels) else Level()
        full = bool(held.sets) and n_points(held.sets) + len(new.m) > settings.sizes.most
        sets = (new,) if full else (*held.sets, new)
        levels[number : number + 1] = [Level(sets, held.n_added + 1, held.n_joins + full)]
        if not full:
            break
        task = join(settings, held.sets, number + 1, held.n_joins)
        new, cost = summarised(settings, compared, progress.seed, task)
        progress = progress.after(None, cost)
    return replace(progress, levels=tuple(levels))


def groups(sets: Iterable[Prototypes], most: int) -> Iterator[tuple[Prototypes, ...]]:
    """Sets in their order, as many at a time as have at most `most` points together."""
    group: tuple[Prototypes, ...] = ()
    for new in sets:
        if group and n_points(group) + len(new.m) > most:
            yield group
            group = ()
        group = (*group, new)
    if group:
        yield group


def n_points(sets: Iterable[Prototypes]) -> int:
    """The number of points of all sets together."""
    return sum(len(each.m) for each in sets)


def mapped(settings: PatchSettings, compared: Comparison, progress: PassProgress) -> PassProgress:
    """The progress with the map of all that it holds; the newest of that is summarised first where it is too much."""
    assert settings.sizes is not None
    sets, most, number = progress.held, settings.sizes.most, 0
    if not sets:  # the budget ended the pass before any point that counts
        return progress
    while len(sets) > 1 and n_points(sets) > most:
        first = first_group([len(each.m) for each in sets], most)
        task = join(settings, sets[:first], len(progress.levels) + 1, number)
        made, cost = summarised(settings, compared, progress.seed, task)
        progress, sets, number = progress.after(None, cost), [made, *sets[first:]], number + 1
    data, evaluations = _data_of(compared, sets)
    points = Patch.joined(*sets)
    fitted = settings.map_for(seed_of(progress.seed, len(progress.levels) + 2, 0), None)
    if compared.keeps_dissimilarities and not settings.per:  # combinations of points are no candidates
        costs = _costs_of(data, sets)
        with warnings.catch_warnings():  # a field has a radius
            warnings.filterwarnings("ignore", "The diagonal is not zero", UserWarning)
            prototypes, epochs = trained_on(settings, fitted, costs, points, None, data)
    else:
        prototypes, epochs = trained_on(settings, fitted, data, points, None)
    progress = progress.after(prototypes, PatchCost(0, evaluations, epochs))
    if progress.alone is None:
        return progress
    # Later patches come after its summary.
    alone = points.compared(getattr(data, "D", None))
    made, _ = summarised(settings, compared, progress.seed, Task((alone,), settings.sizes.patch, 0, 0))
    return replace(progress, alone=None, levels=(Level((made,), 1),))
