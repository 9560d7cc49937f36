"""Points and their prototypes: nearest and second nearest, points on borders, outliers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..predict.assign_all import two_nearest
from ..predict.queries import as_queries, dissimilarities
from ..sources.base import FloatArray, IntArray, rows_per_panel
from ..utils.checks import check_nonnegative
from ..utils.tables import table
from ..utils.threads import limited
from .prototypes import fitted_map

# The standard deviation of a normal distribution in units of its median and of its mean absolute deviation.
PER_MEDIAN_DEVIATION, PER_MEAN_DEVIATION = 1.482602218505602, 1.2533141373155001


def two_best(model: Any, X: Any) -> NDArray[Any]:
    """(N,) records: point, prototype, dissimilarity, second, second_dissimilarity, ratio.

    ratio = d(x, nearest) / d(x, second nearest), in [0, 1]: 0 on an exemplar, 1 where two are equally near (also
    both at 0). Ties go to the lower prototype; on a map of one prototype the second is the same, at infinity. X is read
    in blocks, so that memory does not grow with N K.
    """
    fitted = fitted_map(model)
    queries = as_queries(fitted, X, None)
    with limited(fitted.n_jobs):
        parts = [
            two_nearest(dissimilarities(fitted, block, fitted.n_jobs))
            for block in queries.blocks(rows_per_panel(len(fitted.hits_)))
        ]
    if not parts:
        raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")
    return points_table(parts)


def points_table(parts: Iterable[tuple[IntArray, FloatArray, IntArray, FloatArray]]) -> NDArray[Any]:
    """The records of `two_best` out of what `two_nearest` says of consecutive blocks of points."""
    first, d, second, e = (np.concatenate(column) for column in zip(*parts, strict=True))
    return table(
        point=np.arange(len(first)),
        prototype=first,
        dissimilarity=d,
        second=second,
        second_dissimilarity=e,
        ratio=ratios(d, e),
    )


def ratios(d: FloatArray, e: FloatArray) -> FloatArray:
    """d / e (N,), 1 where both are 0; below 0, as combinations of the data may be from a point, counts as 0."""
    return np.divide(np.maximum(d, 0.0), e, out=np.ones(len(d)), where=e > 0)


def border_points(points: NDArray[Any], at_least: float = 0.9) -> NDArray[Any]:
    """The records of `two_best` whose ratio is at_least or more, the nearest to a border first."""
    check_nonnegative(at_least, "at_least")
    found = points[points["ratio"] >= at_least]
    return found[np.argsort(-found["ratio"], kind="stable")]


def outliers(points: NDArray[Any], cutoff: float = 3.5) -> NDArray[Any]:
    """Records point, prototype, dissimilarity, score of the points far from every prototype, the farthest first.

    score_i = (d_i - median d) / (1.4826 median |d - median d|) over all points, d_i the dissimilarity to the nearest
    prototype: robust standard deviations above the usual. A point is an outlier where score_i > cutoff. Where more than
    half of the points have the very same d, the mean absolute deviation, times 1.2533, takes the place of the median.

    points : the table of `two_best`.
    """
    check_nonnegative(cutoff, "cutoff")
    score = robust_scores(points["dissimilarity"])
    at = np.flatnonzero(score > cutoff)
    at = at[np.argsort(-score[at], kind="stable")]
    return table(
        point=points["point"][at],
        prototype=points["prototype"][at],
        dissimilarity=points["dissimilarity"][at],
        score=score[at],
    )


def robust_scores(d: FloatArray) -> FloatArray:
    """(N,) robust standard deviations of d (N,) from its median, see `outliers`; zeros where all are equal."""
    away = d - np.median(d)
    spread = PER_MEDIAN_DEVIATION * np.median(np.abs(away)) or PER_MEAN_DEVIATION * np.abs(away).mean()
    return away / spread if spread > 0 else np.zeros(len(d))
