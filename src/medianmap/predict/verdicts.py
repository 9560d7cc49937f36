"""Which points are unusual, and which lie between two groups of the map: a score for every point, and a flag.

Unusual is relative to what is usual in the data, so both scores are compared with those of all points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources import Source
from ..sources.base import ALL, FloatArray, IntArray, panels, rows_per_panel
from ..utils.checks import check_nonnegative
from ..utils.files import table
from ..utils.threads import step
from .assign_all import ratios

# An outlier may have company: these many neighbours are looked at, first in all data, then around the point.
NEAR, AROUND = 5, 15
# By how much the second comparison must exceed the first to count as much: in tight families it has a long tail.
LOCAL_HEADROOM = 2.0
# Shares of the points below; the quantile of a normal distribution there, in standard deviations.
UPPER, UPPER_SIGMAS = 0.9, 1.2815515655446004
# Distances below this share of their mean count as that much: of duplicates, nothing is a multiple of 0.
LEAST_SHARE, LEAST_AROUND = 1e-3, 0.1
# An outlier: so many upper standard deviations. Between groups: so near to both.
OUTLIER_SCORE = 3.5
BORDER_SCORE = 0.9
MOST_ON_BORDERS = 0.05


def judged(points: NDArray[Any], pairs: Source | None = None) -> NDArray[Any]:
    """The table of `two_best` with outlier_score, outlier, border_score and border of every point.

    outlier_score = max(z(log r), z(log r / r_around) - 2), z(v) = (v - median v) / s, s = (q_0.9 v - median v) / 1.28.

    With all pairs, r is the distance to the fifth nearest neighbour, and r / r_around compares that to the 15th with
    its mean over the 15. Without, r is the distance to the nearest prototype that stands for five points or more, the
    second nearest at most, and r_around its mean over the points of that prototype. So an outlier that has become an
    exemplar, or two or three that share one, are told by what lies next to them. outlier: the score is above 3.5.

    border_score = d(x, nearest prototype) / d(x, nearest prototype of another group). border: it is 0.9 or more, and
    of the highest twentieth.

    points : the table of `two_best`. pairs : all dissimilarities (N, N) of the points.
    """
    score = scores(*(reaches(points) if pairs is None else neighbour_reaches(pairs)))
    between = ratios(points["dissimilarity"], points["group_dissimilarity"])
    columns = {name: points[name] for name in points.dtype.names or ()}
    return table(
        **columns, outlier_score=score, outlier=score > OUTLIER_SCORE, border_score=between,
        border=between >= border_cut(between),
    )  # fmt: skip


def border_cut(scores: FloatArray) -> float:
    """The border score from which on a point is flagged: at least 0.9, and above that of 19 in 20 points."""
    return max(BORDER_SCORE, float(np.quantile(scores, 1 - MOST_ON_BORDERS, method="higher")))


def border_points(points: NDArray[Any], at_least: float | None = None) -> NDArray[Any]:
    """Records of points between two groups of the map, the nearest to the border first.

    points : the table of `two_best`. at_least : the border score from which on; None: that of `border_cut`.
    """
    score = ratios(points["dissimilarity"], points["group_dissimilarity"])
    least = border_cut(score) if at_least is None else check_nonnegative(at_least, "at_least")
    at = np.flatnonzero(score >= least)
    at = at[np.argsort(-score[at], kind="stable")]
    columns = {name: points[name][at] for name in ("point", "prototype", "second", "dissimilarity", "ratio")}
    return table(**columns, score=score[at])


def outliers(points: NDArray[Any], cutoff: float = OUTLIER_SCORE, pairs: Source | None = None) -> NDArray[Any]:
    """Records point, prototype, dissimilarity, score of the points whose outlier score is above the cutoff.

    The most unusual come first. points : the table of `two_best`. pairs : all dissimilarities. See `judged`.
    """
    check_nonnegative(cutoff, "cutoff")
    score = judged(points, pairs)["outlier_score"]
    at = np.flatnonzero(score > cutoff)
    at = at[np.argsort(-score[at], kind="stable")]
    columns = {name: points[name][at] for name in ("point", "prototype", "dissimilarity")}
    return table(**columns, score=score[at])


def neighbour_reaches(pairs: Source) -> tuple[FloatArray, FloatArray]:
    """Of all points (N,), the distance to the 5th nearest neighbour, and that to the 15th over its mean over the 15.

    A small set has fewer neighbours to ask: half of the others at most.
    """
    N = pairs.shape[0]
    near, around = min(NEAR, max(1, N // 2)), min(AROUND, max(1, N // 2))
    if N < 2:
        return np.zeros(N), np.ones(N)
    first, last, who = np.empty(N), np.empty(N), np.empty((N, around), np.intp)
    for rows in panels(N, rows_per_panel(N)):
        step("neighbours", rows.start, N)
        D = np.array(pairs.block(rows, ALL), np.float64)
        i = np.arange(len(D))
        D[i, rows.start + i] = np.inf
        who[rows] = np.argpartition(D, around - 1, axis=1)[:, :around]
        nearest = np.sort(np.take_along_axis(D, who[rows], axis=1), axis=1)
        first[rows], last[rows] = nearest[:, near - 1], nearest[:, -1]
    usual = np.maximum(last, LEAST_AROUND * last.mean())
    return first, _over(last, usual[who].mean(axis=1))


def reaches(points: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Of all points (N,), the distance to a prototype that stands for five points, and that over its mean there."""
    K = 1 + int(max(points["prototype"].max(), points["second"].max()))
    hits = np.bincount(points["prototype"], minlength=K)
    r, at = reach(points, hits)
    usual = np.maximum(r, LEAST_AROUND * r.mean())
    sums = np.bincount(points["prototype"], usual, minlength=K)
    around = np.divide(sums, hits, out=np.full(K, usual.mean()), where=hits > 0)
    return r, _over(r, around[at])


def reach(points: NDArray[Any], hits: NDArray[Any]) -> tuple[FloatArray, IntArray]:
    """(n,) distance to the nearest prototype where it stands for five points, else to the second; and which it is."""
    enough = (hits[points["prototype"]] >= NEAR) | ~np.isfinite(points["second_dissimilarity"])
    r = np.where(enough, points["dissimilarity"], points["second_dissimilarity"])
    return np.maximum(r, 0.0), np.where(enough, points["prototype"], points["second"])


def scores(r: FloatArray, local: FloatArray) -> FloatArray:
    """(N,) outlier scores from reaches r and the same relative to their surroundings, see `judged`."""
    floor = LEAST_SHARE * r.mean()
    if not floor > 0:
        return np.zeros(len(r))
    among_all = _upper_sigmas(np.log(np.maximum(r, floor)))
    around = _upper_sigmas(np.log(np.maximum(local, LEAST_SHARE)))
    return np.maximum(among_all, around - LOCAL_HEADROOM)


def _over(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b, 1 where b is 0."""
    return np.divide(a, b, out=np.ones(len(a)), where=b > 0)


def _upper_sigmas(v: FloatArray) -> FloatArray:
    """(v - median) / s, s the standard deviation that the upper half of a normal distribution would tell."""
    center = np.median(v)
    spread = (np.quantile(v, UPPER) - center) / UPPER_SIGMAS or v.std()
    return (v - center) / spread if spread > 0 else np.zeros(len(v))
