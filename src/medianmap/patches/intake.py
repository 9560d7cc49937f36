"""What a user passes to PatchClusterer -> a ground and a way to take points from it, by place or as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..base import BaseMap
from ..families import DissimilarityMap
from ..metrics.registry import bind
from ..sources import as_dissimilarity
from ..sources.base import FloatArray, IntArray, is_source
from ..sources.computed import take
from ..validation import as_objects, check_vectors, n_dims
from .ground import Ground, ObjectGround, SourceGround, VectorGround


@dataclass(frozen=True)
class Intake:
    """Data of known length N, whose points are taken by place; or a stream, N None, read as it comes."""

    ground: Ground
    N: int | None
    points: Any = None  # N objects or vectors; None where points are places in a source, or come as a stream
    stream: Iterator[Any] | None = None
    ids: Any = None
    features: dict[str, Any] = field(default_factory=dict)  # n_features_in_, feature_names_in_, where there are such
    begun: bool = False  # of a stream: whether its first points have fixed what the others must be

    def take(self, places: IntArray) -> Any:
        """The points at these places, in the ground's form."""
        return places if self.points is None else take(self.points, places)

    def next_points(self, n: int, seen: int) -> Any:
        """The next n points of a stream, of which `seen` were read before, in the ground's form; None after its end."""
        assert self.stream is not None
        items = list(islice(self.stream, n))
        if not items:
            return None
        try:
            return self.prepared(items)
        except (TypeError, ValueError) as error:
            where = f"points {seen} to {seen + len(items) - 1} of the stream, counted from 0 there"
            raise type(error)(f"{error} (Among {where}.)") from error

    def sample(self, points: Any) -> Any:
        """Something of the first points that tells these data from others."""
        if isinstance(self.ground, SourceGround):
            return self.ground.source.block(points[:64], points[:64])
        return points

    def prepared(self, items: Any) -> Any:
        """Objects as the ground has them, checked; after a first patch they must be of its kind."""
        known = self.features.get("n_features_in_")
        if isinstance(self.ground, VectorGround):
            points = np.asarray(check_vectors(items), dtype=np.float64, order="C")
        else:
            assert isinstance(self.ground, ObjectGround)
            # Rows of numbers are vectors or lists, as the first patch was.
            points = as_objects(items, self.ground.metric, vectors=known is not None if self.begun else None)
        if known is not None and points.shape[1] != known:
            raise ValueError(
                f"X has {points.shape[1]} features, but PatchClusterer is expecting {known} features as input."
            )
        return points

    def after_first(self, points: Any, m: FloatArray) -> Intake:
        """The same, with what the first points of a stream fix: the kind of objects and parameters of the metric."""
        ground = self.ground
        if isinstance(ground, ObjectGround):
            ground = replace(ground, metric=ground.metric.resolved(points, m))
        return replace(self, ground=ground, begun=True, features=features_of(points, points))


def is_stream(X: Any) -> bool:
    """An iterator, which can be read once only."""
    return hasattr(X, "__next__")


def intake(estimator: BaseMap, X: Any, m: Callable[[int], FloatArray], n_jobs: int | None) -> Intake:
    """What X is for this map; m(N) are the weights of its points, which some metrics need."""
    if isinstance(estimator, DissimilarityMap) and (estimator.metric == "precomputed" or is_source(X)):
        if is_stream(X):
            raise ValueError(
                "A stream of rows of a precomputed matrix cannot be clustered in patches, which need blocks of it; "
                "pass the matrix, or each extended block to partial_fit."
            )
        source = as_dissimilarity(X, estimator.metric, metric_params=estimator.metric_params)
        features = {"n_features_in_": source.shape[0]}
        if n_dims(X) == 2 and not is_source(X):
            features = columns_of(X)
        return Intake(SourceGround(source), source.shape[0], ids=source.ids, features=features)
    found = stream_intake(estimator, X, n_jobs)
    if is_stream(X):
        return found
    points = found.prepared(X)
    whole = found.after_first(points, m(len(points)))
    return replace(whole, N=len(points), points=points, stream=None, features=features_of(X, points))


def stream_intake(estimator: BaseMap, objects: Any, n_jobs: int | None) -> Intake:
    """Objects that come as they come, of which none was seen yet."""
    if not isinstance(estimator, DissimilarityMap):
        return Intake(VectorGround(n_jobs), None, stream=objects)
    return Intake(ObjectGround(bind(estimator.metric, estimator.metric_params), n_jobs), None, stream=objects)


def features_of(X: Any, points: Any) -> dict[str, Any]:
    """The columns of X where its points are vectors; strings and other objects have none."""
    if not (isinstance(points, np.ndarray) and points.ndim == 2):
        return {}
    return columns_of(X if n_dims(X) == 2 else points)


def columns_of(X: Any) -> dict[str, Any]:
    """n_features_in_ and feature_names_in_ as scikit-learn finds them."""
    scratch = BaseEstimator()
    validate_data(scratch, X, skip_check_array=True)
    return vars(scratch)
