"""The two nearest prototypes of every point, and what follows: border points and outliers, each rule defined here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, rows_per_panel
from ..utils.checks import check_nonnegative
from ..utils.files import table
from ..utils.progress import OnProgress, step
from ..utils.threads import limited
from .queries import Block, Queries, as_queries, dissimilarities, map_of

# A point is on a border where its nearest prototype is hardly nearer than the second: ratio of the dissimilarities.
BORDER_RATIO = 0.9
# A point is an outlier where it lies so many robust standard deviations farther from its prototype than usual.
OUTLIER_SCORE = 3.5
# The standard deviation of a normal distribution in units of its median and of its mean absolute deviation.
PER_MEDIAN_DEVIATION, PER_MEAN_DEVIATION = 1.482602218505602, 1.2533141373155001


class Nearest(NamedTuple):
    """Of n points: nearest prototype (n,), dissimilarity to it, second nearest, dissimilarity to that."""

    first: IntArray
    d: FloatArray
    second: IntArray
    e: FloatArray


def two_nearest(G: FloatArray) -> Nearest:
    """The two nearest prototypes by dissimilarities G (n, K).

    Ties go to the lower index; of one prototype the second is itself, at infinity.
    """
    i = np.arange(len(G))
    first = G.argmin(axis=1)
    d = G[i, first]
    others = G.copy()
    others[i, first] = np.inf
    second = others.argmin(axis=1)
    return Nearest(first, d, second, others[i, second])


def nearest_blocks(
    queries: Queries, size: int, n_jobs: int | None, on_progress: OnProgress | None
) -> Iterator[tuple[Block, Nearest]]:
    """Blocks of `size` objects with their two nearest prototypes; on_progress is told of every block."""
    report = on_progress or step
    with limited(n_jobs), limited(1):  # our own threads do the work, not those of BLAS
        for block in queries.blocks(size):
            yield block, two_nearest(dissimilarities(queries.fitted, block, n_jobs))
            report("assignment", block.start + len(block), queries.n)


def two_best(model: Any, X: Any, *, n_jobs: int | None = None, on_progress: OnProgress | None = None) -> NDArray[Any]:
    """(N,) records: point, prototype, dissimilarity, second, second_dissimilarity, ratio.

    ratio = d(x, nearest) / d(x, second nearest), in [0, 1]: 0 on an exemplar, 1 where two are equally near (also
    both at 0). Ties go to the lower prototype; on a map of one prototype the second is the same, at infinity. X is read
    in blocks, so that memory does not grow with N K.

    n_jobs : threads, by default those of the map.
    on_progress : called as on_progress("assignment", done, total or None) after every block.
    """
    fitted = map_of(model)
    queries = as_queries(fitted, X, None)
    n_jobs = fitted.n_jobs if n_jobs is None else n_jobs
    blocks = nearest_blocks(queries, rows_per_panel(len(fitted.hits_)), n_jobs, on_progress)
    first, d, second, e = (np.concatenate(column) for column in zip(*(nearest for _, nearest in blocks), strict=True))
    return table(point=np.arange(len(first)), prototype=first, dissimilarity=d, second=second,
                 second_dissimilarity=e, ratio=ratios(d, e))  # fmt: skip


def nearest_of(points: NDArray[Any]) -> Nearest:
    """The two nearest prototypes out of the records of `two_best`."""
    return Nearest(*(points[name] for name in ("prototype", "dissimilarity", "second", "second_dissimilarity")))


def ratios(d: FloatArray, e: FloatArray) -> FloatArray:
    """d / e (N,), 1 where both are 0; negative dissimilarities, which combinations of the data may have, count as 0."""
    return np.divide(np.maximum(d, 0.0), e, out=np.ones(len(d)), where=e > 0)


def border_points(points: NDArray[Any], at_least: float = BORDER_RATIO) -> NDArray[Any]:
    """The records of `two_best` whose ratio is at_least or more, the nearest to a border first."""
    check_nonnegative(at_least, "at_least")
    found = points[points["ratio"] >= at_least]
    return found[np.argsort(-found["ratio"], kind="stable")]


def outliers(points: NDArray[Any], cutoff: float = OUTLIER_SCORE) -> NDArray[Any]:
    """Records point, prototype, dissimilarity, score of the points far from every prototype, the farthest first.

    score_i = (d_i - median d) / (1.4826 median |d - median d|) over all points, d_i the dissimilarity to the nearest
    prototype: robust standard deviations above the usual. A point is an outlier where score_i > cutoff. Where more than
    half of the points have exactly the same d, the mean absolute deviation times 1.2533 replaces the median one.

    points : the table of `two_best`.
    """
    check_nonnegative(cutoff, "cutoff")
    score = robust_scores(points["dissimilarity"])
    at = np.flatnonzero(score > cutoff)
    at = at[np.argsort(-score[at], kind="stable")]
    columns = {name: points[name][at] for name in ("point", "prototype", "dissimilarity")}
    return table(**columns, score=score[at])


def robust_scores(d: FloatArray) -> FloatArray:
    """(N,) robust standard deviations of d (N,) from its median, see `outliers`; zeros where all are equal."""
    away = d - np.median(d)
    spread = PER_MEDIAN_DEVIATION * np.median(np.abs(away)) or PER_MEAN_DEVIATION * np.abs(away).mean()
    return away / spread if spread > 0 else np.zeros(len(d))
