"""One patch: prototypes of the patch before, with their multiplicities, and new points -> new prototypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..base import BaseMap, Supervision
from ..engine import State
from ..families import MedianMap
from ..labels import LabelVectors
from ..sources.base import FloatArray, IntArray
from ..sources.computed import take
from ..sources.dense import DenseSource
from .ground import Ground, Prototypes


@dataclass(frozen=True)
class Patch:
    """Points (n) in the ground's form, their places in the data (n,), weights m (n,) > 0 and label vectors y (n, C).

    Rows of y are NaN where a point has no label; C = 0 without any.
    """

    points: Any
    places: IntArray
    m: FloatArray
    y: FloatArray
    n_read: int = 0  # points read to make it, those of weight 0 included


@dataclass(frozen=True)
class Done:
    """What one patch did: points, dissimilarities evaluated, epochs, quantization error of the extended patch."""

    n_points: int
    evaluations: int
    epochs: int
    quantization_error: float


NO_MATTER = ("random_state", "n_jobs", "verbose", "on_epoch", "search")


@dataclass(frozen=True)
class Recipe:
    """How every patch is clustered. Plain data, so that it can be sent to another process."""

    estimator: BaseMap
    classes: NDArray[Any]
    beta: float = 1.0
    scaled: bool = False
    warm_start: bool = True

    def about(self) -> str:
        """What decides the result, in words: everything but how fast and how loud."""
        params = {k: v for k, v in self.estimator.get_params(deep=False).items() if k not in NO_MATTER}
        params["init"] = np.asarray(params["init"]).tolist()
        if isinstance(self.estimator.random_state, int):  # another seed is another run; without one the file has it
            params["random_state"] = self.estimator.random_state
        name = type(self.estimator).__name__
        return repr((name, params, self.classes.tolist(), self.beta, self.scaled, self.warm_start))

    def map_of(self, seed: int) -> BaseMap:
        """The map to train on an extended patch."""
        fresh: BaseMap = clone(self.estimator).set_params(random_state=seed)
        if isinstance(fresh, MedianMap):
            fresh.set_params(metric="precomputed", metric_params=None)
        return fresh


def cluster_patch(
    recipe: Recipe, ground: Ground, before: Prototypes | None, patch: Patch, seed: int
) -> tuple[Prototypes, Done]:
    """Cluster the patch together with the prototypes before it, which count as points of their multiplicity.

    A prototype that stands for nothing is no point any more; the map starts from a new point in its place. The
    multiplicity of a new prototype is the weight of its receptive field, so nothing is counted twice or lost.
    """
    standing = None if before is None else before.subset(np.flatnonzero(before.m > 0))
    data, evaluations = ground.extended(standing, patch.points)
    points, places, m, y = patch.points, patch.places, patch.m, patch.y
    if standing is not None:
        points, places = ground.joined(standing.points, points), np.append(standing.places, places)
        m, y = np.append(standing.m, m), np.vstack([standing.Y, y])
    fitted = recipe.map_of(seed)
    start = None
    if before is not None and recipe.warm_start:
        start = _start(before, data)
    known: NDArray[np.bool_] = ~np.isnan(y).any(axis=1)  # type: ignore[assignment]
    supervised = y.shape[1] > 0 and known.any()
    labels = LabelVectors(recipe.classes, np.where(known[:, None], y, 0.0), known)
    supervision = Supervision(labels, recipe.beta, recipe.scaled) if supervised else None
    trained = fitted._train(data, m, supervision, start)

    K = len(fitted.hits_)
    if isinstance(data, DenseSource):
        at = fitted.medoid_indices_
        chosen, places, among = take(points, at), places[at], np.ascontiguousarray(data.block(at, at))
    else:
        chosen, places, among = fitted.cluster_centers_, np.full(K, -1), None
    Y = trained.state.labels.copy() if supervised else np.full((K, y.shape[1]), np.nan)
    Y[np.bincount(fitted.labels_, weights=m * known, minlength=K) == 0] = np.nan
    done = Done(len(patch.m), evaluations, fitted.n_iter_, fitted.quantization_error_)
    return Prototypes(chosen, places, fitted.hits_, among, Y), done


def _start(before: Prototypes, data: Any) -> State:
    """The prototypes before as the state to go on from, so that a lattice keeps its orientation."""
    Y = np.where(np.isnan(before.Y), _class_shares(before), before.Y)
    if not isinstance(data, DenseSource):
        return State(before.points, Y)
    standing = np.flatnonzero(before.m > 0)
    places = np.full(len(before.m), -1, np.intp)
    places[standing] = np.arange(len(standing))
    free = np.arange(len(standing), data.shape[0])
    for j in np.flatnonzero(places < 0):
        # The new point nearest to the nearest prototype that stands for something: no evaluation is needed for it.
        host = 0 if before.D is None else int(before.D[j, standing].argmin())
        nearest = int(data.block(np.array([host]), free)[0].argmin())
        places[j], free = free[nearest], np.delete(free, nearest)
    return State(places, Y)


def _class_shares(before: Prototypes) -> FloatArray:
    """(C,) shares of the classes among the labelled prototypes, or even shares."""
    C = before.Y.shape[1]
    known = ~np.isnan(before.Y).any(axis=1)
    weight = before.m[known].sum()
    if C == 0 or weight == 0:
        return np.full(C, 1.0 / max(C, 1))
    return (before.m[known, None] * before.Y[known]).sum(axis=0) / weight
