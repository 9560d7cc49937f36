"""Where the points of a patch come from: places in a source, objects with a metric, or vectors.

A ground joins prototypes and patch into one extended patch and reads only the dissimilarities that it needs: those
within the patch and between patch and prototypes. Those among the prototypes are known from the patch before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..core.spaces import squared_distances
from ..estimators.base import BaseMap
from ..estimators.families import DissimilarityMap
from ..metrics.base import BoundMetric
from ..metrics.registry import bind
from ..sources import as_dissimilarity
from ..sources.base import FloatArray, IntArray, Source, is_source
from ..sources.checks import refuse_bad_entries
from ..sources.computed import ComputedSource, parts_to_compute, take
from ..sources.memory import DenseSource, fits
from ..sources.objects import as_objects, check_vectors, n_dims


@dataclass(frozen=True)
class Prototypes:
    """What a patch leaves for the next: P points and what they stand for.

    Each is a prototype (per = 0, P = K); or each relational prototype is carried by `per` points side by side, the
    nearest to it first, which share its multiplicity and have its label vector (P = K per): see `combined`.
    """

    points: Any  # places (P,) in a source, P objects, or vectors (P, M)
    places: IntArray  # (P,) which of the points seen so far they are; -1 for means
    m: FloatArray  # (P,) multiplicities: the weight of all points seen so far that each stands for
    D: NDArray[Any] | None  # (P, P) dissimilarities among them; None for vectors
    Y: FloatArray  # (P, C) label vectors, rows of NaN where no labelled point is behind; C = 0 without labels
    per: int = 0

    @property
    def width(self) -> int:
        """How many points a prototype has."""
        return self.per or 1

    @property
    def n(self) -> int:
        """K, the number of prototypes."""
        return len(self.m) // self.width

    @property
    def multiplicities(self) -> FloatArray:
        """(K,) the weight that each prototype stands for."""
        return self.m.reshape(self.n, -1).sum(axis=1)

    @property
    def labels(self) -> FloatArray:
        """(K, C) label vectors of the prototypes."""
        return self.Y[:: self.width]

    def subset(self, which: IntArray) -> Prototypes:
        """Those points, each by itself."""
        D = None if self.D is None else self.D[np.ix_(which, which)]
        return Prototypes(take(self.points, which), self.places[which], self.m[which], D, self.Y[which])


class Ground(Protocol):
    """Points in the form that its kind of data has; an extended patch in the form that the map is trained on."""

    def extended(self, before: Prototypes | None, points: Any, places: IntArray) -> tuple[Any, int]:
        """Training data of prototypes and patch together, and how many dissimilarities were evaluated or read.

        places (n,) are what errors call the points of the patch.
        """
        ...

    def cost(self, n: int, K: int) -> int:
        """How many dissimilarities `extended` evaluates or reads for n points after K prototypes."""
        ...

    def joined(self, points: Any, patch: Any) -> Any:
        """The points of both."""
        ...

    def to_prototypes(self, points: Any, prototypes: Any) -> FloatArray:
        """(n, K) dissimilarities from points to the points of prototypes."""
        ...


@dataclass(frozen=True)
class VectorGround:
    """Vectors (n, M) for batch maps; there are no dissimilarities to keep."""

    n_jobs: int | None = None

    def extended(self, before: Prototypes | None, points: FloatArray, places: IntArray) -> tuple[FloatArray, int]:
        return points if before is None else self.joined(before.points, points), 0

    def cost(self, n: int, K: int) -> int:
        return 0

    def joined(self, points: FloatArray, patch: FloatArray) -> FloatArray:
        return np.concatenate([points, patch])

    def to_prototypes(self, points: FloatArray, prototypes: FloatArray) -> FloatArray:
        return squared_distances(points, prototypes, self.n_jobs)


@dataclass(frozen=True)
class ObjectGround:
    """Objects and a metric: a list of objects, or vectors (n, M)."""

    metric: BoundMetric
    n_jobs: int | None = None

    def extended(self, before: Prototypes | None, points: Any, places: IntArray) -> tuple[DenseSource, int]:
        source = ComputedSource(points, self.metric, None, self.n_jobs, places=places)
        D = source.kept().block(slice(None), slice(None))
        if before is None:
            return DenseSource(D, self.metric.symmetric), source.evaluations
        joined, names = self.joined(before.points, points), np.append(before.places, places)
        both = ComputedSource(joined, self.metric, None, self.n_jobs, places=names)
        old, new = np.arange(len(before.m)), np.arange(len(before.m), len(names))
        forth = both.block(new, old)
        back = forth.T if self.metric.symmetric else both.block(old, new)
        return _bordered(before, forth, back, D, self.metric.symmetric), source.evaluations + both.evaluations

    def cost(self, n: int, K: int) -> int:
        halved = self.metric.symmetric and fits(n)
        within = sum((rows.stop - rows.start) * (cols.stop - cols.start) for rows, cols in parts_to_compute(n, halved))
        return within + n * K * (1 if self.metric.symmetric else 2)

    def joined(self, points: Any, patch: Any) -> Any:
        return np.concatenate([points, patch]) if isinstance(patch, np.ndarray) else [*points, *patch]

    def to_prototypes(self, points: Any, prototypes: Any) -> FloatArray:
        return self.metric.between(points, prototypes)


@dataclass(frozen=True)
class SourceGround:
    """Places in a source of dissimilarities."""

    source: Source

    def extended(self, before: Prototypes | None, points: IntArray, places: IntArray) -> tuple[DenseSource, int]:
        D = self._read(points, points)
        if before is None:
            return DenseSource(np.ascontiguousarray(D), self.source.symmetric), D.size
        forth = self._read(points, before.points)
        back = forth.T if self.source.symmetric else self._read(before.points, points)
        return _bordered(before, forth, back, D, self.source.symmetric), self.cost(len(points), len(before.m))

    def cost(self, n: int, K: int) -> int:
        return n * n + n * K * (1 if self.source.symmetric else 2)

    def _read(self, rows: IntArray, cols: IntArray) -> NDArray[Any]:
        """The block, checked: a bad entry is called by its place in the source, not in the patch."""
        block = self.source.block(rows, cols)
        refuse_bad_entries(block, places=(rows, cols))
        return block

    def joined(self, points: IntArray, patch: IntArray) -> IntArray:
        return np.concatenate([points, patch])

    def to_prototypes(self, points: IntArray, prototypes: IntArray) -> FloatArray:
        return np.asarray(self._read(points, prototypes), np.float64)


def _bordered(
    before: Prototypes, forth: NDArray[Any], back: NDArray[Any], D: NDArray[Any], symmetric: bool
) -> DenseSource:
    """The extended patch, prototypes first: rows are points, columns candidates."""
    return DenseSource(np.block([[before.D, back], [forth, D]]), symmetric)


# --- What a user passes to PatchClusterer -> a ground and a way to take points from it, by place or as th


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
