"""One patch: clustered together with the prototypes so far; new multiplicities are the weights of receptive fields."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.engine import State
from ..core.labels import LabelVectors
from ..estimators.base import BaseMap
from ..estimators.fit import Supervision
from ..sources.base import FloatArray, IntArray
from ..sources.computed import take
from .plan import CostOfPatch, TreeSizes, cost_of_sequence, cost_of_tree
from .points import Comparison, Prototypes, joined


@dataclass(frozen=True)
class Patch:
    """Points (n), their places in the data (n,), weights m (n,) and label vectors Y (n, C).

    Rows of Y are NaN where a point has no label; C = 0 without any. Weights are 0 for prototypes that represent no
    point: they are used only where there are too few other points.
    """

    points: Any
    places: IntArray
    m: FloatArray
    Y: FloatArray
    n_read: int = 0  # points read to make it, those of weight 0 included

    @classmethod
    def unlabelled(cls, points: Any, first: int, m: FloatArray) -> Patch:
        """n new points of weights m (n,) at the places from `first` on."""
        n = len(m)
        return cls(points, np.arange(first, first + n), m, np.empty((n, 0)), n)

    def counting(self) -> Patch:
        """The points of positive weight."""
        which = np.flatnonzero(self.m)
        return Patch(take(self.points, which), self.places[which], self.m[which], self.Y[which], self.n_read)

    def compared(self, D: NDArray[Any] | None) -> Prototypes:
        """Each point as a prototype of its own, with the dissimilarities D (n, n) among them."""
        return Prototypes(self.points, self.places, self.m, D, self.Y)

    @classmethod
    def joined(cls, *groups: Patch | Prototypes) -> Patch:
        """The points of all groups as one patch, in their order."""
        points, places, m, Y = zip(*((group.points, group.places, group.m, group.Y) for group in groups), strict=True)
        return cls(joined(*points), np.concatenate(places), np.concatenate(m), np.concatenate(Y))


@dataclass(frozen=True)
class PatchCost:
    """What one patch took: points read, dissimilarities evaluated, epochs."""

    n_read: int
    evaluations: int
    epochs: int


# Parameters of a map that do not change its result.
WITHOUT_EFFECT = ("random_state", "n_jobs", "verbose", "on_epoch", "search")


@dataclass(frozen=True)
class PatchSettings:
    """How every patch is clustered. Plain data, so that it can be sent to another process.

    per : how many points carry a prototype to the next patch in equal parts; 0 where it is itself a point or a mean.
    sizes : of the summaries of a tree; None where patches are clustered one after the other.
    """

    estimator: BaseMap
    per: int = 0
    warm_start: bool = True
    classes: NDArray[Any] | None = None
    beta: float = 1.0
    scaled: bool = False
    sizes: TreeSizes | None = None

    @property
    def n_prototypes(self) -> int:
        return self.estimator._size()[0]

    @property
    def n_carried(self) -> int:
        """How many points the prototypes are between patches."""
        return self.n_prototypes * (self.per or 1)

    def cost_of_pass(self, sizes: IntArray, cost: CostOfPatch) -> int:
        """How many dissimilarities a pass over patches of these sizes evaluates at most."""
        if self.sizes is None:
            return cost_of_sequence(sizes, self.n_carried, cost)
        return cost_of_tree(sizes, self.sizes, cost)

    def about(self) -> tuple[Any, ...]:
        """All that decides the result, for the fingerprint of a checkpoint."""
        params = {k: v for k, v in self.estimator.get_params(deep=False).items() if k not in WITHOUT_EFFECT}
        if isinstance(self.estimator.random_state, int):  # another seed is another run; without one the file has it
            params["random_state"] = self.estimator.random_state
        if self.per:
            params["points_per_prototype"] = self.per
        classes = np.empty(0) if self.classes is None else self.classes
        sizes = () if self.sizes is None else astuple(self.sizes)
        return type(self.estimator).__name__, params, classes, self.beta, self.scaled, self.warm_start, sizes

    def map_for(self, seed: int, first: IntArray | None) -> BaseMap:
        """The map to train on an extended patch; first (n,): the ascending places of the points of the first patch."""
        fresh = self.estimator._for_refit({"random_state": seed})
        if not names_points(fresh.init):
            return fresh
        if first is None:
            return fresh.set_params(init="random")
        missing = np.setdiff1d(fresh.init, first)
        if len(missing):
            raise ValueError(
                f"init names point {missing[0]}, but the start must be points of the first patch with positive weight: "
                f"{len(first)} points, {first[0]} to {first[-1]}. Choose points there, or a larger patch_size."
            )
        return fresh.set_params(init=np.searchsorted(first, fresh.init))


def seed_of(seed: int, level: int, number: int) -> int:
    """The seed of one task: independent for every level and number."""
    return int(np.random.SeedSequence([seed, level, number]).generate_state(1)[0])


def names_points(init: Any) -> bool:
    """Whether the start is given as numbers of data points, not as a method or as vectors."""
    return not isinstance(init, str) and np.ndim(init) == 1 and np.asarray(init).dtype.kind in "iu"


def cluster_patch(
    settings: PatchSettings, compared: Comparison, before: Prototypes | None, patch: Patch, seed: int
) -> tuple[Prototypes, PatchCost]:
    """Cluster the patch together with the prototypes before it, which count as points of their multiplicity.

    A prototype that represents no point is dropped, and the map starts from a new point in its place. The multiplicity
    of a new prototype is the weight of its receptive field, so nothing is counted twice or lost.
    """
    K = settings.n_prototypes
    standing = None if before is None else before.subset(np.flatnonzero(before.m > 0))
    counting = patch.counting()
    fitted = settings.map_for(seed, counting.places if before is None else None)
    if len(counting.m) + (0 if standing is None else len(standing.m)) < K:
        alone, evaluations = _each_its_own(compared, before, patch, K)
        return replace(alone, per=min(1, settings.per)), PatchCost(patch.n_read, evaluations, 0)
    data, evaluations = compared.extended(standing, counting.points, counting.places)
    both = counting if standing is None else Patch.joined(standing, counting)
    start = None
    if before is not None and settings.warm_start and before.n == K:
        start = _start(before, data, fitted)
    prototypes, epochs = trained_on(settings, fitted, data, both, start)
    return prototypes, PatchCost(patch.n_read, evaluations, epochs)


def trained_on(
    settings: PatchSettings, fitted: BaseMap, data: Any, points: Patch, start: State | None, among: Any = None
) -> tuple[Prototypes, int]:
    """(prototypes, epochs) of a map that is trained on the data of these points, with the labels that they have.

    among : where dissimilarities between prototypes are read; the data, if not given.
    """
    K, m, y, supervision = settings.n_prototypes, points.m, points.Y, None
    known: NDArray[np.bool_] = ~np.isnan(y).any(axis=1)  # type: ignore[assignment]
    if settings.classes is not None and known.any():
        labels = LabelVectors(settings.classes, np.where(known[:, None], y, 0.0), known)
        supervision = Supervision(labels, settings.beta, settings.scaled)
    trained = fitted._train(data, m, supervision, start)

    Y = np.full((K, y.shape[1]), np.nan) if supervision is None else trained.state.labels.copy()
    Y[np.bincount(fitted.labels_, weights=m * known, minlength=K) == 0] = np.nan
    carriers = fitted._carriers(trained.G, points.places, settings.per)
    if carriers is None:
        return Prototypes(fitted.cluster_centers_, np.full(K, -1), fitted.hits_, None, Y), fitted.n_iter_
    each, at = carriers.shape[1], carriers.ravel()
    hits, Y = np.repeat(fitted.hits_ / each, each), np.repeat(Y, each, axis=0)
    D, per = np.ascontiguousarray((among or data).block(at, at)), each if settings.per else 0
    return Prototypes(take(points.points, at), points.places[at], hits, D, Y, per), fitted.n_iter_


def _each_its_own(compared: Comparison, before: Prototypes | None, patch: Patch, K: int) -> tuple[Prototypes, int]:
    """(prototypes, evaluations) where fewer than K points have weight: each is a prototype, others fill up to K."""
    data, evaluations = compared.extended(before, patch.points, patch.places)
    both = patch if before is None else Patch.joined(before, patch)
    order = np.argsort(both.m == 0, kind="stable")[:K]
    D = getattr(data, "D", None)  # vectors have none
    return Prototypes(both.points, both.places, both.m, D, both.Y).subset(order), evaluations


def _start(before: Prototypes, data: Any, fitted: BaseMap) -> State | None:
    """The prototypes before as the state to start from, so that a lattice keeps its orientation.

    None where there are fewer new points than prototypes that represent no point.
    """
    Y = np.where(np.isnan(before.labels), _class_shares(before), before.labels)
    if before.D is None:
        return State(before.points, Y)
    standing = np.flatnonzero(before.m > 0)
    free = np.arange(len(standing), data.shape[0])
    place = np.full(len(before.m), -1, np.intp)  # of each point among the data
    place[standing] = np.arange(len(standing))
    rows = place.reshape(before.n, before.points_each).copy()
    dead = np.flatnonzero(rows[:, 0] < 0)
    if len(dead) > len(free):
        return None
    for j in dead:
        # The new point nearest to the nearest prototype that represents points: no evaluation is needed for it.
        own = np.arange(j * before.points_each, (j + 1) * before.points_each)
        host = int(before.D[np.ix_(own, standing)].mean(axis=0).argmin())
        nearest = int(data.block(np.array([host]), free)[0].argmin())
        rows[j], free = free[nearest], np.delete(free, nearest)
    return State(fitted._prototypes_at(rows, data.shape[0]), Y)


def _class_shares(before: Prototypes) -> FloatArray:
    """(C,) shares of the classes among the labelled prototypes, or even shares."""
    known = ~np.isnan(before.Y).any(axis=1)
    m, Y = before.m[known], before.Y[known]
    return (m[:, None] * Y).sum(axis=0) / m.sum() if m.any() else np.full(Y.shape[1], 1.0 / max(Y.shape[1], 1))
