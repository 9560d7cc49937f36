"""One more patch of a user's own making, for `partial_fit`: objects like those before, or an extended block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..base import BaseMap
from ..families import DissimilarityMap
from ..metrics.registry import bind
from ..sources import as_dissimilarity
from ..sources.base import FloatArray
from ..validation import check_n_prototypes, check_weights
from .checkpoint import Progress
from .ground import ObjectGround, SourceGround
from .intake import Intake, features_of, stream_intake
from .step import Patch


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
