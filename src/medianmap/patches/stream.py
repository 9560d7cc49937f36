"""What goes into a pass: data of known length with a plan, or a stream; both give one patch after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ..core.labels import LabelVectors
from ..estimators.base import BaseMap
from ..estimators.families import DissimilarityMap
from ..metrics.registry import bind
from ..sources import as_dissimilarity
from ..sources.base import FloatArray, IntArray, panels
from ..utils.checks import check_n_prototypes, check_weights
from .checkpoint import Progress
from .patch import Patch, to_prototypes
from .plan import Plan
from .points import Intake, ObjectGround, Prototypes, SourceGround, features_of, stream_intake

# Points whose dissimilarities to the prototypes are held at a time.
BLOCK = 8192


@dataclass(frozen=True)
class Data:
    """N points, their weights m (N,) and labels, and the order (N,) they are taken in, patch by patch as planned."""

    found: Intake
    m: FloatArray
    labels: LabelVectors | None
    order: IntArray
    plan: Plan

    @property
    def patch_size(self) -> int:
        return self.plan.patch_size

    def opened(self) -> tuple[Data, Iterator[Patch]]:
        """The data and their patches."""
        return self, self.patches()

    def patches(self) -> Iterator[Patch]:
        """One patch after the other; points of weight 0 are left out of them."""
        y = np.empty((len(self.m), 0))
        if self.labels is not None:
            y = np.where(self.labels.known[:, None], self.labels.y, np.nan)
        stop = 0
        for size in self.plan.sizes:
            start, stop = stop, stop + int(size)
            at = self.order[start:stop]
            at = at[self.m[at] > 0]
            yield Patch(self.found.take(at), at, self.m[at], y[at], int(size))


@dataclass(frozen=True)
class Stream:
    """Points that come as they come, patch_size at a time, each of weight 1 and without label."""

    found: Intake
    patch_size: int
    m: None = None
    labels: None = None
    plan: None = None

    def opened(self) -> tuple[Stream, Iterator[Patch]]:
        """The stream with what its first points fix of the metric, and all its patches."""
        points = self.found.next_points(self.patch_size, 0)
        if points is None:
            return self, iter(())
        known = replace(self, found=self.found.after_first(points, np.ones(len(points))))
        return known, chain([_unweighted(points, 0)], known._rest(len(points)))

    def _rest(self, seen: int) -> Iterator[Patch]:
        while (points := self.found.next_points(self.patch_size, seen)) is not None:
            yield _unweighted(points, seen)
            seen += len(points)


def _unweighted(points: Any, seen: int) -> Patch:
    n = len(points)
    return Patch(points, np.arange(seen, seen + n), np.ones(n), np.empty((n, 0)), n)


def distance_blocks(found: Intake, prototypes: Prototypes) -> Iterator[tuple[IntArray, FloatArray]]:
    """(places (n,), dissimilarities (n, K) from these points to the prototypes), over all points."""
    assert found.N is not None
    distances = to_prototypes(found.ground, prototypes)
    for part in panels(found.N, BLOCK):
        at = np.arange(part.start, part.stop)
        yield at, distances(found.take(at))


# --- One more patch of a user's own making, for `partial_fit`: objects like those before, or an extended


def arrived(
    estimator: BaseMap, X: Any, sample_weight: Any, progress: Progress, fitted: BaseMap | None, n_jobs: int | None
) -> tuple[Intake, Patch, Progress]:
    """Where the points of X come from, the patch they make, and the progress before it in the same terms.

    fitted : the map as the patches before left it; None for the first. New points have no labels, and prototypes lose
    theirs.
    """
    if progress.prototypes is not None:
        unlabelled = replace(progress.prototypes, Y=np.empty((len(progress.prototypes.m), 0)))
        progress = replace(progress, prototypes=unlabelled)
    if isinstance(estimator, DissimilarityMap) and estimator.metric == "precomputed":
        found, points, progress = _of_block(X, progress)
    elif fitted is None:
        found = stream_intake(estimator, None, n_jobs)
        points = found.prepared(X)
    else:
        found, points, progress = _like_before(estimator, X, progress, fitted, n_jobs)
    m = check_weights(sample_weight, len(points))
    if fitted is None:
        check_n_prototypes(estimator._size()[0], int(np.count_nonzero(m)), "the number of prototypes")
        if not isinstance(found.ground, SourceGround):
            found = replace(found.after_first(points, m), features=features_of(X, points))
    return found, _patch(points, m, progress.n_seen), progress


def _of_block(D: Any, progress: Progress) -> tuple[Intake, Any, Progress]:
    """Of an extended block (K + n, K + n) the points are rows: first the prototypes so far, then the new ones."""
    block = as_dissimilarity(D)
    before = progress.prototypes
    K = 0 if before is None else len(before.m)
    n = block.shape[0] - K
    if n < 1:
        raise ValueError(
            f"The block has {block.shape[0]} rows, and the first {K} are the prototypes so far; it holds no new point."
        )
    ground = SourceGround(block)
    if before is not None:
        rows = np.arange(K)
        among = ground.to_prototypes(rows, rows) if before.D is None else before.D
        # It is easily forgotten that combinations are carried by several points each.
        if before.per and not np.allclose(ground.to_prototypes(rows, rows), among, 1e-5, 1e-5 * float(among.max())):
            raise ValueError(
                f"The first {K} rows and columns of the block are not the points that carry the prototypes so far, in "
                "the order of carried_indices_; put those first."
            )
        progress = replace(progress, prototypes=replace(before, points=rows, D=among))
    found = Intake(ground, None, features={"n_features_in_": progress.n_seen + n})
    return found, np.arange(K, K + n), progress


def _like_before(
    estimator: BaseMap, X: Any, progress: Progress, fitted: BaseMap, n_jobs: int | None
) -> tuple[Intake, Any, Progress]:
    """Objects of the kind, and under the metric with the parameters, of the patches before."""
    features = {name: value for name, value in vars(fitted).items() if name in ("n_features_in_", "feature_names_in_")}
    found = replace(stream_intake(estimator, None, n_jobs), begun=True, features=features)
    before = progress.prototypes
    if isinstance(found.ground, ObjectGround):
        ground = replace(found.ground, metric=bind(fitted.metric, fitted.metric_params_))
        found = replace(found, ground=ground)
        if before is not None and before.D is None:  # a model file does not hold them
            among = ground.to_prototypes(before.points, before.points)
            evaluations = progress.evaluations + among.size
            progress = replace(progress, prototypes=replace(before, D=among), evaluations=evaluations)
    return found, found.prepared(X), progress


def _patch(points: Any, m: FloatArray, n_seen: int) -> Patch:
    places = np.arange(n_seen, n_seen + len(m))
    return Patch(points, places, m, np.empty((len(m), 0)), len(m)).counting()
