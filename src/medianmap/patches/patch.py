"""Relational prototypes between patches: each, a combination of a whole patch, is carried by the few points nearest to
it in equal parts (the K-approximation of patch relational neural gas; Hasenfuss, Hammer & Rossi 2008)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone

from ..core.engine import State
from ..core.labels import LabelVectors
from ..core.relational import between_prototypes, products, self_terms
from ..estimators.base import BaseMap, Supervision
from ..estimators.families import DissimilarityMap, RelationalMap
from ..sources.base import FloatArray, IntArray
from ..sources.computed import take
from ..sources.memory import DenseSource
from .points import Ground, Prototypes


@dataclass(frozen=True)
class Combination:
    """Carried points `at` (S,), each once and by rising place, and the K prototypes in terms of them.

    coefficients (K, S), self terms (K,) and dissimilarities among the prototypes (K, K) as a relational map has them.
    """

    at: IntArray
    coefficients: csr_array
    self_terms: FloatArray
    among: FloatArray

    def distances(self, D: FloatArray) -> FloatArray:
        """(n, K) from dissimilarities D (n, S) to the points; the very bits that the map itself answers."""
        return products(D, self.coefficients) - self.self_terms + 0.0


def combination(prototypes: Prototypes) -> Combination:
    """The prototypes as the combinations that they are carried as."""
    assert prototypes.D is not None
    _, at, back = np.unique(prototypes.places, return_index=True, return_inverse=True)
    K, per = prototypes.n, prototypes.width
    P = np.zeros((K, len(at)))
    P[np.repeat(np.arange(K), per), back] = 1.0 / per
    alpha = csr_array(P)
    Q = products(prototypes.D[np.ix_(at, at)], alpha)
    own = self_terms(P, Q.T)
    return Combination(at, alpha, own, between_prototypes(P, Q - own))


def nearest_points(G: FloatArray, places: IntArray, per: int) -> IntArray:
    """(K, per) the points nearest to each prototype, the nearest first, from dissimilarities G (N, K).

    A point that several prototypes brought along is there several times, at one of the places (N,), and taken once.
    """
    once = np.unique(places, return_index=True)[1]
    return once[np.argsort(G[once], axis=0, kind="stable")[:per].T]


def to_prototypes(ground: Ground, prototypes: Prototypes) -> Callable[[Any], FloatArray]:
    """What gives the dissimilarities (n, K) from n points to the prototypes."""
    if not prototypes.per:
        return lambda points: ground.to_prototypes(points, prototypes.points)
    carried = combination(prototypes)
    support = take(prototypes.points, carried.at)
    return lambda points: carried.distances(ground.to_prototypes(points, support))


def among_prototypes(ground: Ground, prototypes: Prototypes) -> FloatArray:
    """(K, K) dissimilarities of the prototypes themselves."""
    if prototypes.per:
        return combination(prototypes).among
    return prototypes.D if prototypes.D is not None else ground.to_prototypes(prototypes.points, prototypes.points)


# --- One patch: prototypes of the patch before, with their multiplicities, and new points -> new prototyp


@dataclass(frozen=True)
class Patch:
    """Points (n) in the ground's form, their places in the data (n,), weights m (n,) and label vectors y (n, C).

    Rows of y are NaN where a point has no label; C = 0 without any. Weights are 0 for prototypes that stand for
    nothing: they count only where there are too few other points.
    """

    points: Any
    places: IntArray
    m: FloatArray
    y: FloatArray
    n_read: int = 0  # points read to make it, those of weight 0 included

    def counting(self) -> Patch:
        """The points that stand for something."""
        which = np.flatnonzero(self.m)
        return Patch(take(self.points, which), self.places[which], self.m[which], self.y[which], self.n_read)


@dataclass(frozen=True)
class Done:
    """What one patch took: points read, dissimilarities evaluated, epochs."""

    n_read: int
    evaluations: int
    epochs: int


NO_MATTER = ("random_state", "n_jobs", "verbose", "on_epoch", "search")


@dataclass(frozen=True)
class Recipe:
    """How every patch is clustered. Plain data, so that it can be sent to another process."""

    estimator: BaseMap
    classes: NDArray[Any]
    beta: float = 1.0
    scaled: bool = False
    warm_start: bool = True
    points_per_prototype: int = 4

    @property
    def n_prototypes(self) -> int:
        return self.estimator._size()[0]

    @property
    def n_carried(self) -> int:
        """How many points the prototypes are between patches."""
        return n_carried(self.estimator, self.points_per_prototype)

    def about(self) -> tuple[Any, ...]:
        """What decides the result: everything but how fast and how loud."""
        params = {k: v for k, v in self.estimator.get_params(deep=False).items() if k not in NO_MATTER}
        if isinstance(self.estimator.random_state, int):  # another seed is another run; without one the file has it
            params["random_state"] = self.estimator.random_state
        if isinstance(self.estimator, RelationalMap):
            params["points_per_prototype"] = self.points_per_prototype
        return type(self.estimator).__name__, params, self.classes, self.beta, self.scaled, self.warm_start

    def map_of(self, seed: int, first: IntArray | None) -> BaseMap:
        """The map to train on an extended patch; first (n,): the places of its points if it is the first patch."""
        fresh: BaseMap = clone(self.estimator).set_params(random_state=seed)
        if isinstance(fresh, DissimilarityMap):
            fresh.set_params(metric="precomputed", metric_params=None)
        if names_points(fresh.init):
            fresh.set_params(init="random" if first is None else positions(fresh.init, first))
        return fresh


def check_estimator(given: Any) -> None:
    """TypeError unless patches can be clustered by it."""
    if not isinstance(given, BaseMap):
        raise TypeError(f"estimator is a {type(given).__name__}; pass one of medianmap's maps.")


def n_carried(estimator: BaseMap, per: int) -> int:
    """How many points stand for the prototypes of the map: one for each, or `per` for each combination."""
    return estimator._size()[0] * (per if isinstance(estimator, RelationalMap) else 1)


def names_points(init: Any) -> bool:
    """Whether the start is given as numbers of data points, not as a method or as vectors."""
    return not isinstance(init, str) and np.ndim(init) == 1 and np.asarray(init).dtype.kind in "iu"


def positions(init: Any, places: IntArray) -> IntArray:
    """Where the data points `init` are among those of the first patch, whose places are given in rising order."""
    indices = np.asarray(init)
    missing = np.setdiff1d(indices, places)
    if len(missing):
        raise ValueError(
            f"init names point {missing[0]}, but a start must lie in the first patch and count: "
            f"{len(places)} points, {places[0]} to {places[-1]}. Choose points there, or a larger patch_size."
        )
    return np.searchsorted(places, indices)


def cluster_patch(
    recipe: Recipe, ground: Ground, before: Prototypes | None, patch: Patch, seed: int
) -> tuple[Prototypes, Done]:
    """Cluster the patch together with the prototypes before it, which count as points of their multiplicity.

    A prototype that stands for nothing is no point any more; the map starts from a new point in its place. The
    multiplicity of a new prototype is the weight of its receptive field, so nothing is counted twice or lost.
    """
    K = recipe.n_prototypes
    standing = None if before is None else before.subset(np.flatnonzero(before.m > 0))
    counting = patch.counting()
    fitted = recipe.map_of(seed, counting.places if before is None else None)
    if len(counting.m) + (0 if standing is None else len(standing.m)) < K:
        alone, done = _each_its_own(ground, before, patch, K)
        return replace(alone, per=int(isinstance(fitted, RelationalMap))), done
    data, evaluations = ground.extended(standing, counting.points, counting.places)
    both = _joined(ground, standing, counting)
    start = None
    if before is not None and recipe.warm_start and before.n == K:
        start = _start(before, data, fitted)
    m, y = both.m, both.y
    known: NDArray[np.bool_] = ~np.isnan(y).any(axis=1)  # type: ignore[assignment]
    supervised = y.shape[1] > 0 and known.any()
    labels = LabelVectors(recipe.classes, np.where(known[:, None], y, 0.0), known)
    supervision = Supervision(labels, recipe.beta, recipe.scaled) if supervised else None
    trained = fitted._train(data, m, supervision, start)

    done = Done(patch.n_read, evaluations, fitted.n_iter_)
    Y = trained.state.labels.copy() if supervised else np.full((K, y.shape[1]), np.nan)
    Y[np.bincount(fitted.labels_, weights=m * known, minlength=K) == 0] = np.nan
    hits, per = fitted.hits_, 0
    if not isinstance(data, DenseSource):
        return Prototypes(fitted.cluster_centers_, np.full(K, -1), hits, None, Y), done
    if isinstance(fitted, RelationalMap):
        nearest = nearest_points(trained.G, both.places, recipe.points_per_prototype)
        per, at = nearest.shape[1], nearest.ravel()
        hits, Y = np.repeat(hits / per, per), np.repeat(Y, per, axis=0)
    else:
        at = fitted.medoid_indices_
    among = np.ascontiguousarray(data.block(at, at))
    return Prototypes(take(both.points, at), both.places[at], hits, among, Y, per), done


def _joined(ground: Ground, before: Prototypes | None, patch: Patch) -> Patch:
    """Prototypes and patch as one patch, prototypes first."""
    if before is None:
        return patch
    return Patch(
        ground.joined(before.points, patch.points),
        np.append(before.places, patch.places),
        np.append(before.m, patch.m),
        np.vstack([before.Y, patch.y]),
    )


def _each_its_own(ground: Ground, before: Prototypes | None, patch: Patch, K: int) -> tuple[Prototypes, Done]:
    """Fewer than K points stand for something: each is a prototype, and those that stand for nothing fill up to K."""
    data, evaluations = ground.extended(before, patch.points, patch.places)
    both = _joined(ground, before, patch)
    D = data.D if isinstance(data, DenseSource) else None
    order = np.argsort(both.m == 0, kind="stable")[:K]
    return Prototypes(both.points, both.places, both.m, D, both.y).subset(order), Done(patch.n_read, evaluations, 0)


def _start(before: Prototypes, data: Any, fitted: BaseMap) -> State | None:
    """The prototypes before as the state to go on from, so that a lattice keeps its orientation.

    None where there are fewer new points than prototypes that stand for nothing.
    """
    Y = np.where(np.isnan(before.labels), _class_shares(before), before.labels)
    if not isinstance(data, DenseSource):
        return State(before.points, Y)
    assert before.D is not None
    standing = np.flatnonzero(before.m > 0)
    free = np.arange(len(standing), data.shape[0])
    place = np.full(len(before.m), -1, np.intp)  # of each point among the data
    place[standing] = np.arange(len(standing))
    rows = place.reshape(before.n, before.width).copy()
    dead = np.flatnonzero(rows[:, 0] < 0)
    if len(dead) > len(free):
        return None
    for j in dead:
        # The new point nearest to the nearest prototype that stands for something: no evaluation is needed for it.
        own = np.arange(j * before.width, (j + 1) * before.width)
        host = int(before.D[np.ix_(own, standing)].mean(axis=0).argmin())
        nearest = int(data.block(np.array([host]), free)[0].argmin())
        rows[j], free = free[nearest], np.delete(free, nearest)
    if not isinstance(fitted, RelationalMap):
        return State(rows[:, 0], Y)
    P = np.zeros((before.n, data.shape[0]))
    np.add.at(P, (np.arange(before.n)[:, None], rows), 1.0 / before.width)
    return State(P, Y)


def _class_shares(before: Prototypes) -> FloatArray:
    """(C,) shares of the classes among the labelled prototypes, or even shares."""
    C = before.Y.shape[1]
    known = ~np.isnan(before.Y).any(axis=1)
    weight = before.m[known].sum()
    if C == 0 or weight == 0:
        return np.full(C, 1.0 / max(C, 1))
    return (before.m[known, None] * before.Y[known]).sum(axis=0) / weight
