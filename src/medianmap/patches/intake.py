"""What a user passes to PatchClusterer -> a ground and a way to take points from it, by place or as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from ..base import BaseMap
from ..families import MedianMap
from ..metrics.registry import bind
from ..sources import Source, as_dissimilarity
from ..sources.base import FloatArray, IntArray
from ..sources.computed import take
from ..validation import as_objects, check_vectors
from .ground import BlockGround, Ground, ObjectGround, Prototypes, SourceGround, VectorGround


@dataclass(frozen=True)
class Intake:
    """Data of known length N, whose points are taken by place; or a stream, N None, read as it comes."""

    ground: Ground
    N: int | None
    points: Any = None  # N objects or vectors; None where points are places in a source, or come as a stream
    stream: Iterator[Any] | None = None
    ids: Any = None

    def take(self, places: IntArray) -> Any:
        """The points at these places, in the ground's form."""
        return places if self.points is None else take(self.points, places)

    def next_points(self, n: int) -> Any:
        """The next n points of a stream, fewer at its end, in the ground's form; None after it."""
        assert self.stream is not None
        items = list(islice(self.stream, n))
        return self.prepared(items) if items else None

    def sample(self, points: Any) -> Any:
        """Something of the first points that tells these data from others."""
        if isinstance(self.ground, SourceGround):
            return self.ground.source.block(points[:64], points[:64])
        return points

    def prepared(self, items: Any) -> Any:
        """Objects as the ground has them, checked."""
        if isinstance(self.ground, VectorGround):
            return np.asarray(check_vectors(items), dtype=np.float64, order="C")
        assert isinstance(self.ground, ObjectGround)
        return as_objects(items, self.ground.metric)


def is_stream(X: Any) -> bool:
    """An iterator, which can be read once only."""
    return hasattr(X, "__next__")


def intake(estimator: BaseMap, X: Any, m: Callable[[int], FloatArray] | None, n_jobs: int | None) -> Intake:
    """What X is for this map; m(N) are the weights of its points, which some metrics need."""
    if not isinstance(estimator, MedianMap):
        ground = VectorGround(n_jobs)
        if is_stream(X):
            return Intake(ground, None, stream=iter(X))
        vectors = np.asarray(check_vectors(X), dtype=np.float64, order="C")
        return Intake(ground, len(vectors), vectors)
    if estimator.metric == "precomputed" or isinstance(X, Source):
        if is_stream(X):
            raise ValueError(
                "A stream of rows of a precomputed matrix cannot be clustered in patches, which need blocks of it; "
                "pass the matrix, or each extended block to partial_fit."
            )
        source = as_dissimilarity(X, estimator.metric, metric_params=estimator.metric_params)
        return Intake(SourceGround(source), source.shape[0], ids=source.ids)
    metric = bind(estimator.metric, estimator.metric_params)
    if is_stream(X):
        return Intake(ObjectGround(metric, n_jobs), None, stream=iter(X))
    objects = as_objects(X, metric)
    weights = np.ones(len(objects)) if m is None else m(len(objects))
    resolved = ObjectGround(metric.resolved(objects, weights), n_jobs)
    return Intake(resolved, len(objects), objects)


def resolved_by(found: Intake, points: Any, m: FloatArray) -> Intake:
    """The same with metric parameters that the data fix taken from the first patch of a stream."""
    if not isinstance(found.ground, ObjectGround):
        return found
    return replace(found, ground=replace(found.ground, metric=found.ground.metric.resolved(points, m)))


def block_intake(D: Any, before: Prototypes | None, n_seen: int) -> tuple[Intake, IntArray]:
    """An extended block (K + n, K + n) as the ground of one patch, and the n new points in it, numbered from n_seen."""
    block = as_dissimilarity(D)
    K = 0 if before is None else len(before.m)
    n = block.shape[0] - K
    if n < 1:
        raise ValueError(
            f"The block has {block.shape[0]} rows, and the first {K} are the prototypes so far; it holds no new point."
        )
    new = np.arange(n_seen, n_seen + n)
    row = {int(place): j for j, place in enumerate(() if before is None else before.places)}
    row |= {int(place): K + i for i, place in enumerate(new)}
    return Intake(BlockGround(block, row), None), new
