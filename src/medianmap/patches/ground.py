"""Where the points of a patch come from: places in a source, objects with a metric, or vectors.

A ground joins prototypes and patch into one extended patch and reads only the dissimilarities that it needs: those
within the patch and between patch and prototypes. Those among the prototypes are known from the patch before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..metrics.registry import BoundMetric
from ..sources.base import FloatArray, IntArray, Source
from ..sources.computed import ComputedSource, take
from ..sources.dense import DenseSource
from ..spaces import squared_distances


@dataclass(frozen=True)
class Prototypes:
    """What a patch leaves for the next: K points and what they stand for."""

    points: Any  # places (K,) in a source, K objects, or vectors (K, M)
    places: IntArray  # (K,) which of the points seen so far they are; -1 for means
    m: FloatArray  # (K,) multiplicities: the weight of all points seen so far that each stands for
    D: NDArray[Any] | None  # (K, K) dissimilarities among them; None for vectors, and where they were not kept
    Y: FloatArray  # (K, C) label vectors, rows of NaN where no labelled point is behind; C = 0 without labels

    def subset(self, which: IntArray) -> Prototypes:
        """Those of the given numbers."""
        D = None if self.D is None else self.D[np.ix_(which, which)]
        return Prototypes(take(self.points, which), self.places[which], self.m[which], D, self.Y[which])


class Ground(Protocol):
    """Points in the form that its kind of data has; an extended patch in the form that the map is trained on."""

    def extended(self, before: Prototypes | None, patch: Any) -> tuple[Any, int]:
        """Training data of prototypes and patch together, and how many dissimilarities were evaluated or read."""
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

    def extended(self, before: Prototypes | None, patch: FloatArray) -> tuple[FloatArray, int]:
        return patch if before is None else self.joined(before.points, patch), 0

    def joined(self, points: FloatArray, patch: FloatArray) -> FloatArray:
        return np.concatenate([points, patch])

    def to_prototypes(self, points: FloatArray, prototypes: FloatArray) -> FloatArray:
        return squared_distances(points, prototypes, self.n_jobs)


@dataclass(frozen=True)
class ObjectGround:
    """Objects and a metric: a list of objects, or vectors (n, M)."""

    metric: BoundMetric
    n_jobs: int | None = None

    def extended(self, before: Prototypes | None, patch: Any) -> tuple[DenseSource, int]:
        source = ComputedSource(patch, self.metric, None, self.n_jobs)
        own = source.kept()
        D, evaluations = own.block(slice(None), slice(None)), source.evaluations
        if before is None:
            return DenseSource(D, self.metric.symmetric), evaluations
        both = ComputedSource(self.joined(before.points, patch), self.metric, None, self.n_jobs)
        K, n = len(before.m), len(patch)
        old, new = np.arange(K), np.arange(K, K + n)
        among = both.block(old, old) if before.D is None else before.D
        forth = both.block(new, old)
        back = forth.T if self.metric.symmetric else both.block(old, new)
        return DenseSource(np.block([[among, back], [forth, D]]), self.metric.symmetric), evaluations + both.evaluations

    def joined(self, points: Any, patch: Any) -> Any:
        return np.concatenate([points, patch]) if isinstance(patch, np.ndarray) else [*points, *patch]

    def to_prototypes(self, points: Any, prototypes: Any) -> FloatArray:
        return self.metric.between(points, prototypes)


@dataclass(frozen=True)
class SourceGround:
    """Places in a source of dissimilarities."""

    source: Source

    def extended(self, before: Prototypes | None, patch: IntArray) -> tuple[DenseSource, int]:
        D = self.source.block(patch, patch)
        if before is None:
            return DenseSource(np.ascontiguousarray(D), self.source.symmetric), D.size
        among = self.source.block(before.points, before.points) if before.D is None else before.D
        forth = self.source.block(patch, before.points)
        back = forth.T if self.source.symmetric else self.source.block(before.points, patch)
        read = D.size + forth.size * (1 if self.source.symmetric else 2) + (among.size if before.D is None else 0)
        return DenseSource(np.block([[among, back], [forth, D]]), self.source.symmetric), read

    def joined(self, points: IntArray, patch: IntArray) -> IntArray:
        return np.concatenate([points, patch])

    def to_prototypes(self, points: IntArray, prototypes: IntArray) -> FloatArray:
        return np.asarray(self.source.block(points, prototypes), np.float64)


@dataclass(frozen=True)
class BlockGround:
    """An extended block that somebody measured; points are places, and `row` says where each lies in it."""

    block: Source
    row: dict[int, int]

    def extended(self, before: Prototypes | None, patch: IntArray) -> tuple[DenseSource, int]:
        points = patch if before is None else self.joined(before.points, patch)
        rows = np.array([self.row[int(place)] for place in points], np.intp)
        D = np.ascontiguousarray(self.block.block(rows, rows))
        return DenseSource(D, self.block.symmetric), D.size - (0 if before is None else len(before.m) ** 2)

    def joined(self, points: IntArray, patch: IntArray) -> IntArray:
        return np.concatenate([points, patch])

    def to_prototypes(self, points: IntArray, prototypes: IntArray) -> FloatArray:
        rows, cols = ([self.row[int(place)] for place in places] for places in (points, prototypes))
        return np.asarray(self.block.block(np.array(rows), np.array(cols)), np.float64)
