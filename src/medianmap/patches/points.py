"""Points of a pass (rows of a matrix, objects, vectors), how they are compared, and the prototypes carried onwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..core.spaces import Combinations, in_equal_parts
from ..core.vectors import squared_distances
from ..estimators.base import BaseMap
from ..estimators.fit import replace_fitted
from ..metrics.base import BoundMetric
from ..sources.base import DenseSource, FloatArray, IntArray, Source, fits
from ..sources.checks import as_objects, check_vectors, refuse_bad_entries
from ..sources.computed import ComparedSource, ComputedSource, evaluated, parts_to_compute, take
from .fields import Fields


@dataclass(frozen=True)
class Prototypes:
    """What one patch leaves for the next: P points and the weight that each represents.

    Each point is a prototype (per = 0, P = K). Or each prototype is a combination of data (relational maps): it is
    carried by `per` points in equal parts, the nearest to it first, which share its multiplicity and have its label
    vector (P = K per). This is the K-approximation of patch relational neural gas (Hasenfuss, Hammer & Rossi 2008).
    """

    points: Any  # places (P,) in a source, P objects, or vectors (P, M)
    places: IntArray  # (P,) their numbers among the points seen so far; -1 for means
    m: FloatArray  # (P,) multiplicities: the weight of all points seen so far that each represents
    D: NDArray[Any] | None  # (P, P) dissimilarities among them; None for vectors
    Y: FloatArray  # (P, C) label vectors, rows of NaN where no labelled point is represented; C = 0 without labels
    per: int = 0
    fields: Fields | None = None  # of a summary; None where each point stands for itself

    @property
    def points_each(self) -> int:
        """How many points one prototype has."""
        return self.per or 1

    @property
    def n(self) -> int:
        """K, the number of prototypes."""
        return len(self.m) // self.points_each

    @property
    def labels(self) -> FloatArray:
        """(K, C) label vectors of the prototypes."""
        return self.Y[:: self.points_each]

    @property
    def combinations(self) -> Combinations:
        """The prototypes as combinations of their points."""
        assert self.D is not None
        return in_equal_parts(self.places, self.D, self.per)

    def subset(self, which: IntArray) -> Prototypes:
        """The points `which`, each as a prototype of its own."""
        D = None if self.D is None else self.D[np.ix_(which, which)]
        return Prototypes(take(self.points, which), self.places[which], self.m[which], D, self.Y[which])

    def distances(self, compared: Comparison) -> Callable[[Any], FloatArray]:
        """A function: n points -> (n, K) dissimilarities from them to the prototypes."""
        if not self.per:
            return lambda points: compared.between(points, self.points)
        combinations = self.combinations
        support = take(self.points, combinations.at)
        return lambda points: combinations.distances(compared.between(points, support))

    def among(self, compared: Comparison) -> FloatArray:
        """(K, K) dissimilarities of the prototypes from each other."""
        own = compared.between(self.points, self.points) if self.D is None else self.D
        return self.combinations.among if self.per else own


def bordered(
    sets: Sequence[Prototypes], symmetric: bool, block: Callable[[IntArray, IntArray], NDArray[Any]]
) -> DenseSource:
    """The dissimilarities of all sets: those within a set are known, block(rows, cols) gives those between sets."""
    own: list[NDArray[Any]] = [each.D for each in sets]  # type: ignore[misc]
    stops = np.cumsum([len(D) for D in own])
    D = own[0]
    for k in range(1, len(own)):
        old, new = np.arange(stops[k - 1]), np.arange(stops[k - 1], stops[k])
        forth = block(new, old)
        back = forth.T if symmetric else block(old, new)
        D = np.block([[D, back], [forth, own[k]]])
    return DenseSource(D, symmetric)


def joined(*groups: Any) -> Any:
    """The points of all groups."""
    return np.concatenate(groups) if isinstance(groups[-1], np.ndarray) else list(chain(*groups))


class Comparison(Protocol):
    """How points of one kind are compared, and in which form they are held.

    Of the N^2 dissimilarities only those within a patch and between a patch and the prototypes before it are evaluated;
    those among the prototypes are known from the patch before.
    """

    # Whether points are known by their dissimilarities, so that some of them can stand for all.
    keeps_dissimilarities: ClassVar[bool] = True

    def within(self, points: Any, places: IntArray) -> tuple[NDArray[Any] | None, int]:
        """The dissimilarities (n, n) among points, where they are kept, and how many were evaluated or read.

        places (n,) : the numbers by which errors name the points.
        """

    def joined(self, *sets: Prototypes) -> tuple[Any, int]:
        """Training data of all sets, in this order, and how many dissimilarities between sets that took."""

    def extended(self, before: Prototypes | None, points: Any, places: IntArray) -> tuple[Any, int]:
        """Training data of prototypes and patch, in this order, and how many dissimilarities were evaluated or read."""
        D, own = self.within(points, places)
        patch = Prototypes(points, places, np.ones(len(places)), D, np.empty((len(places), 0)))
        data, between = self.joined(*(() if before is None else (before,)), patch)
        return data, own + between

    def cost(self, n: int, K: int) -> int:
        """How many dissimilarities `extended` evaluates or reads for n points after K prototypes."""

    def between(self, points: Any, others: Any) -> FloatArray:
        """(n, k) dissimilarities from points to k others."""

    def with_dissimilarities(self, prototypes: Prototypes) -> Prototypes:
        """The prototypes with the dissimilarities among them, which a model file does not hold."""
        p = prototypes
        return p if p.D is not None else replace(p, D=self.between(p.points, p.points))

    def checked(self, items: Any, vectors: bool | None) -> Any:
        """New points in the form in which they are held; `vectors`: whether earlier ones were, None if there are none.

        Rows of numbers may be vectors or lists; they are what the earlier points were.
        """
        return items

    def fixed_by(self, points: Any, m: FloatArray) -> Comparison:
        """The same with the parameters that the first points, of weights m (n,), fix for all others."""
        return self

    def sample(self, points: Any) -> Any:
        """A part of the first points that tells these data from others."""
        return points

    def objects(self, points: Any) -> Any:
        """What a fitted map keeps of its prototypes' points; None where it keeps their places alone."""
        return points

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes of a map that predicts with this comparison."""
        return {}


@dataclass(frozen=True)
class VectorComparison(Comparison):
    """Vectors (n, M) for batch maps, by squared Euclidean distance; no dissimilarities are kept."""

    n_jobs: int | None = None
    keeps_dissimilarities = False

    def within(self, points: FloatArray, places: IntArray) -> tuple[None, int]:
        return None, 0

    def joined(self, *sets: Prototypes) -> tuple[FloatArray, int]:
        return joined(*(each.points for each in sets)), 0

    def cost(self, n: int, K: int) -> int:
        return 0

    def between(self, points: FloatArray, others: FloatArray) -> FloatArray:
        return squared_distances(points, others, self.n_jobs)

    def with_dissimilarities(self, prototypes: Prototypes) -> Prototypes:
        return prototypes

    def checked(self, items: Any, vectors: bool | None) -> FloatArray:
        return np.asarray(check_vectors(items), dtype=np.float64, order="C")


@dataclass(frozen=True)
class MetricComparison(Comparison):
    """Objects under a metric: a list of objects, or vectors (n, M)."""

    metric: BoundMetric
    n_jobs: int | None = None

    def within(self, points: Any, places: IntArray) -> tuple[NDArray[Any], int]:
        source = ComputedSource(points, self.metric, None, self.n_jobs, places=places)
        return source.kept().block(slice(None), slice(None)), source.evaluations

    def joined(self, *sets: Prototypes) -> tuple[DenseSource, int]:
        points, places = joined(*(each.points for each in sets)), np.concatenate([each.places for each in sets])
        both = ComputedSource(points, self.metric, None, self.n_jobs, places=places)
        data = bordered(sets, self.metric.symmetric, both.block)
        return data, both.evaluations

    def cost(self, n: int, K: int) -> int:
        halved = self.metric.symmetric and fits(n)
        within = sum((rows.stop - rows.start) * (cols.stop - cols.start) for rows, cols in parts_to_compute(n, halved))
        return within + n * K * (1 if self.metric.symmetric else 2)

    def between(self, points: Any, others: Any) -> FloatArray:
        at, to = np.arange(len(points)), np.arange(len(others))
        return evaluated(self.metric, points, others, at, to, self.n_jobs)

    def checked(self, items: Any, vectors: bool | None) -> Any:
        return as_objects(items, self.metric, vectors=vectors)

    def fixed_by(self, points: Any, m: FloatArray) -> MetricComparison:
        return replace(self, metric=self.metric.resolved(points, m))

    def attributes(self) -> dict[str, Any]:
        return {"metric_params_": dict(self.metric.params)}


@dataclass(frozen=True)
class MatrixComparison(Comparison):
    """Points are places in a source of dissimilarities."""

    source: Source

    def within(self, points: IntArray, places: IntArray) -> tuple[NDArray[Any], int]:
        D = np.ascontiguousarray(self._read(points, points))
        return D, D.size

    def joined(self, *sets: Prototypes) -> tuple[DenseSource, int]:
        points = np.concatenate([each.points for each in sets])
        data = bordered(sets, self.source.symmetric, lambda rows, cols: self._read(points[rows], points[cols]))
        known = sum(len(each.points) ** 2 for each in sets)
        return data, (len(points) ** 2 - known) // (2 if self.source.symmetric else 1)

    def cost(self, n: int, K: int) -> int:
        return n * n + n * K * (1 if self.source.symmetric else 2)

    def _read(self, rows: IntArray, cols: IntArray) -> NDArray[Any]:
        """The block, checked: an error names a bad entry by its place in the source, not in the patch."""
        block = self.source.block(rows, cols)
        refuse_bad_entries(block, places=(rows, cols))
        return block

    def between(self, points: IntArray, others: IntArray) -> FloatArray:
        return np.asarray(self._read(points, others), np.float64)

    def sample(self, points: IntArray) -> NDArray[Any]:
        return self.source.block(points[:64], points[:64])

    def objects(self, points: IntArray) -> Any:
        return None


@dataclass(frozen=True)
class ComparedObjects(MatrixComparison):
    """Points are places in a source that has their objects besides: prototypes are objects, nothing is evaluated."""

    source: ComparedSource

    def objects(self, points: IntArray) -> Any:
        return take(self.source.objects, points)

    def attributes(self) -> dict[str, Any]:
        return {"metric_params_": dict(self.source.metric.params)}


def map_of_prototypes(
    estimator: BaseMap, prototypes: Prototypes, compared: Comparison, ids: Any, others: dict[str, Any]
) -> BaseMap:
    """A clone of the map whose fitted attributes are those of the prototypes, and `others`.

    hits_ are the multiplicities; labels_ and what follows from them need all points and are missing.
    """
    fitted: BaseMap = clone(estimator)
    p = prototypes
    attributes = {**others, "hits_": p.m.reshape(p.n, -1).sum(axis=1), **compared.attributes()}
    attributes |= fitted._carried_attributes(p.places, compared.objects(p.points), p.D, p.per, ids)
    if ids is not None:
        at = p.places[:: p.points_each].tolist()
        attributes["prototype_ids_"] = ids(at) if callable(ids) else [ids[i] for i in at]
    lattice = fitted._plan(p.n).assignment.lattice
    if lattice is not None:
        attributes["lattice_"] = lattice
    replace_fitted(fitted, attributes)
    return fitted


def prototypes_of_map(fitted: Any, places: IntArray | None) -> Prototypes:
    """The prototypes of a map that `map_of_prototypes` made, without the dissimilarities among them.

    places : carried_indices_ of a relational map.
    """
    m = fitted.hits_
    if places is None:
        own: IntArray = getattr(fitted, "medoid_indices_", np.full(len(m), -1))
        centers = own if fitted.cluster_centers_ is None else fitted.cluster_centers_
        return Prototypes(centers, own, m, None, np.empty((len(m), 0)))
    per = len(places) // len(m)
    points: Any = places
    if hasattr(fitted, "support_objects_"):
        points = take(fitted.support_objects_, np.searchsorted(fitted.support_, places))
    return Prototypes(points, places, np.repeat(m / per, per), None, np.empty((len(places), 0)), per)
