"""What a pass reads, one patch after the other: data of known length, a stream, or a patch passed to `partial_fit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from ..core.labels import LabelVectors
from ..estimators.base import BaseMap
from ..sources import as_dissimilarity
from ..sources.base import FloatArray, HoldsObjects, IntArray, is_source, panels
from ..sources.checks import columns_of, columns_of_objects, n_dims
from ..sources.computed import ComparedSource, checked_objects, take
from ..utils.checks import check_n_prototypes, check_weights
from .checkpoint import PassProgress
from .one_patch import Patch
from .plan import PatchPlan
from .points import ComparedObjects, Comparison, MatrixComparison, MetricComparison, Prototypes, VectorComparison

# Points whose dissimilarities to the prototypes are held at a time.
BLOCK = 8192


@dataclass(frozen=True)
class Input:
    """X as the map reads it."""

    compared: Comparison
    points: Any = None  # N places, objects or vectors; None for a stream, whose points are not held
    ids: Any = None  # names of the points; of a stream a function, places -> names
    features: dict[str, Any] = field(default_factory=dict)  # n_features_in_, feature_names_in_, where X has columns
    begun: bool = False  # whether earlier points have fixed what all others must be

    def checked(self, items: Any) -> Any:
        """New points in the form in which they are held; ValueError if they are of another kind than earlier ones."""
        n_features = self.features.get("n_features_in_")
        points = self.compared.checked(items, vectors=n_features is not None if self.begun else None)
        if n_features is not None and points.shape[1] != n_features:
            raise ValueError(
                f"X has {points.shape[1]} features, but PatchClusterer is expecting {n_features} features as input."
            )
        return points

    def fixed_by(self, X: Any, points: Any, m: FloatArray) -> Input:
        """The same with what the first points fix: their columns, and parameters of the metric."""
        features = columns_of_objects(X, points)
        return replace(self, compared=self.compared.fixed_by(points, m), begun=True, features=features)


def is_stream(X: Any) -> bool:
    """Whether X is an iterator, which can be read only once."""
    return hasattr(X, "__next__")


def read_input(estimator: BaseMap, X: Any, m: Callable[[int], FloatArray], n_jobs: int | None) -> Input:
    """What X is for this map; m(N) are the weights of its points, which some metrics need."""
    if estimator._reads_matrix():
        if is_stream(X):
            raise ValueError(
                "A stream of rows of a precomputed matrix cannot be clustered in patches, which need blocks of it; "
                "pass the matrix, or each extended block to partial_fit."
            )
        source = as_dissimilarity(X, metric_params=estimator.metric_params)
        N = source.shape[0]
        features = columns_of(X) if n_dims(X) == 2 and not is_source(X) else {"n_features_in_": N}
        return Input(MatrixComparison(source), np.arange(N), source.ids, features)
    held = objects_in(estimator, X)
    if held is not None:
        points: Any = np.arange(held.shape[0]) if isinstance(held, ComparedSource) else held.objects
        compared = ComparedObjects(held) if isinstance(held, ComparedSource) else MetricComparison(held.metric, n_jobs)
        features = columns_of_objects(held, held.objects)
        return Input(compared.fixed_by(points, m(len(points))), points, held.ids, features, begun=True)
    found = Input(comparison_of(estimator, n_jobs))
    if is_stream(X):
        return replace(found, ids=getattr(X, "ids", None))
    points = found.checked(X)
    return replace(found.fixed_by(X, points, m(len(points))), points=points)


def objects_in(estimator: BaseMap, X: Any) -> HoldsObjects | None:
    """X, if it is a source of objects, which it must compare as the map does; else None."""
    metric = estimator._object_metric(fitted=False)
    return checked_objects(X, metric) if metric is not None and is_source(X) else None


def comparison_of(estimator: BaseMap, n_jobs: int | None, fitted: bool = False) -> Comparison:
    """How the map compares objects or vectors; fitted: with the metric's parameters that its fit has fixed."""
    metric = estimator._object_metric(fitted)
    return VectorComparison(n_jobs) if metric is None else MetricComparison(metric, n_jobs)


def distance_blocks(found: Input, prototypes: Prototypes) -> Iterator[tuple[IntArray, FloatArray]]:
    """(places (n,), dissimilarities (n, K) from these points to the prototypes), over all points."""
    distances = prototypes.distances(found.compared)
    for part in panels(len(found.points), BLOCK):
        yield np.arange(part.start, part.stop), distances(take(found.points, part))


@dataclass(frozen=True)
class DataInPatches:
    """N points, their weights m (N,) and labels, and the order (N,) in which they are taken, patch by patch."""

    found: Input
    m: FloatArray
    labels: LabelVectors | None
    order: IntArray
    plan: PatchPlan

    @property
    def patch_size(self) -> int:
        return self.plan.patch_size

    def opened(self) -> tuple[DataInPatches, Patch, Iterator[Patch]]:
        """The data, their first patch, and all patches."""
        return self, next(self.patches()), self.patches()

    def patches(self) -> Iterator[Patch]:
        """One patch after the other; points of weight 0 are left out of them."""
        Y = np.empty((len(self.m), 0))
        if self.labels is not None:
            Y = np.where(self.labels.known[:, None], self.labels.y, np.nan)
        stop = 0
        for size in self.plan.sizes:
            start, stop = stop, stop + int(size)
            at = self.order[start:stop]
            at = at[self.m[at] > 0]
            yield Patch(take(self.found.points, at), at, self.m[at], Y[at], int(size))


@dataclass(frozen=True)
class StreamInPatches:
    """The objects of an iterator, patch_size at a time, each of weight 1 and without label."""

    found: Input
    objects: Iterator[Any]
    patch_size: int
    m: None = None
    labels: None = None
    plan: None = None

    def opened(self) -> tuple[StreamInPatches, Patch, Iterator[Patch]]:
        """The stream with what its first points fix, its first patch, and all patches."""
        first = next(self._patches(0), None)
        if first is None:
            raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")
        known = replace(self, found=self.found.fixed_by(first.points, first.points, first.m))
        return known, first, chain([first], known._patches(first.n_read))

    def _patches(self, seen: int) -> Iterator[Patch]:
        """The patches after the first `seen` points."""
        while items := list(islice(self.objects, self.patch_size)):
            try:
                patch = Patch.unlabelled(self.found.checked(items), seen, np.ones(len(items)))
            except (TypeError, ValueError) as error:
                where = f"points {seen} to {seen + len(items) - 1} of the stream, counted from 0 there"
                raise type(error)(f"{error} (Among {where}.)") from error
            yield patch
            seen += len(items)


def one_more_patch(
    estimator: BaseMap, X: Any, sample_weight: Any, progress: PassProgress, fitted: BaseMap | None, n_jobs: int | None
) -> tuple[Input, Patch, PassProgress]:
    """For `partial_fit`: the input X, the patch of its points, and the progress before it, without labels.

    fitted : the map as the patches before left it; None for the first patch.
    """
    if progress.prototypes is not None:
        progress = replace(progress, prototypes=unlabelled(progress.prototypes)).with_held(unlabelled)
    held = None if estimator._reads_matrix() else objects_in(estimator, X)
    if estimator._reads_matrix():
        found, points, progress = _of_extended_block(X, progress)
    elif fitted is None:
        found = Input(comparison_of(estimator, n_jobs))
        points = found.checked(X if held is None else held.objects)
    else:  # points of the kind, and under the metric with the parameters, of the patches before
        columns = {k: v for k, v in vars(fitted).items() if k in ("n_features_in_", "feature_names_in_")}
        found = Input(comparison_of(fitted, n_jobs, fitted=True), features=columns, begun=True)
        points, before = found.checked(X if held is None else held.objects), progress.prototypes
        if before is not None and not progress.held:
            known = found.compared.with_dissimilarities(before)
            read = 0 if known is before or known.D is None else known.D.size
            progress = replace(progress, prototypes=known, evaluations=progress.evaluations + read)
    m = check_weights(sample_weight, len(points))
    if fitted is None:
        check_n_prototypes(estimator._size()[0], int(np.count_nonzero(m)), "the number of prototypes")
        if not found.begun:
            found = found.fixed_by(X, points, m)
    return found, Patch.unlabelled(points, progress.n_seen, m).counting(), progress


def unlabelled(prototypes: Prototypes) -> Prototypes:
    """The same without label vectors."""
    return replace(prototypes, Y=np.empty((len(prototypes.m), 0)))


def _of_extended_block(D: Any, progress: PassProgress) -> tuple[Input, IntArray, PassProgress]:
    """Of an extended block (P + n, P + n) the points are rows: first those carried so far, then the new ones."""
    block = as_dissimilarity(D)
    before = progress.prototypes
    carried = progress.held or ([] if before is None else [before])
    P = sum(len(each.m) for each in carried)
    n = block.shape[0] - P
    if n < 1:
        raise ValueError(f"The block has {P + n} rows, the first {P} of them for the prototypes so far; add points.")
    compared, first = MatrixComparison(block), 0

    def in_rows(each: Prototypes) -> Prototypes:
        nonlocal first
        rows, first = np.arange(first, first + len(each.m)), first + len(each.m)
        # It is easily forgotten that several points carry one combination, or a summary.
        if (each.per or progress.held) and each.D is not None:
            close = 1e-5 * float(each.D.max())
            if not np.allclose(compared.between(rows, rows), each.D, 1e-5, close):
                name = "summary_['indices']" if progress.held else "carried_indices_"
                raise ValueError(
                    f"The first {P} rows and columns of the block are not the points that carry the prototypes so far, "
                    f"in the order of {name}; put those first."
                )
        return replace(each, points=rows)

    if progress.held:
        progress = progress.with_held(in_rows)
    elif before is not None:
        progress = replace(progress, prototypes=compared.with_dissimilarities(in_rows(before)))
    found = Input(compared, features={"n_features_in_": progress.n_seen + n}, begun=True)
    return found, np.arange(P, P + n), progress
