"""Which points are outliers, which lie between two groups of the map, which new objects are like none of training.

A reach is a distance behind which there are other points: of an outlier that is an exemplar itself, or of two or three
that share one, the distance to their own prototype says nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..sources import ComputedSource, Source
from ..sources.base import ALL, ExpensiveSource, FloatArray, IntArray, panels, rows_per_panel
from ..sources.tensors import TensorSource
from ..utils.checks import check_nonnegative
from ..utils.files import table
from ..utils.threads import step

# An outlier may have company: these many neighbours are looked at, first in all data, then around the point.
NEAR, AROUND = 5, 15
# By how much the second comparison must exceed the first to count as much: in tight families it has a long tail.
LOCAL_HEADROOM = 2.0
# Shares of the points below; the quantile of a normal distribution there, in standard deviations.
UPPER, UPPER_SIGMAS = 0.9, 1.2815515655446004
# Distances below this share of their mean count as that much: of duplicates, nothing is a multiple of 0.
LEAST_SHARE, LEAST_AROUND = 1e-3, 0.1
# An outlier: so many upper standard deviations above the median.
OUTLIER_SCORE = 3.5
# Between groups: the other is hardly farther, ratio of the dissimilarities; and no more than one in twenty of all.
BORDER_SCORE = 0.9
MOST_ON_BORDERS = 0.05
# A new object is flagged where its score is above those of all but this share of the training points.
FALSE_ALARMS = 0.01


class Reaches(NamedTuple):
    """Of n points: how far the others are (n,), and how far in multiples of what is usual around the point (n,)."""

    r: FloatArray
    local: FloatArray


class Scale(NamedTuple):
    """The least reach that counts; medians (2,) and upper standard deviations (2,) of log r and of log local."""

    floor: float
    centers: FloatArray
    spreads: FloatArray


def neighbour_reaches(pairs: Source) -> Reaches:
    """r: distance to the 5th nearest neighbour; local: that to the 15th over its mean over the 15.

    pairs : all dissimilarities (N, N).

    In a small set half of the others at most are asked.
    """
    N = pairs.shape[0]
    near, around = min(NEAR, max(1, N // 2)), min(AROUND, max(1, N // 2))
    if N < 2:
        return Reaches(np.zeros(N), np.ones(N))
    if isinstance(pairs, TensorSource):
        nearest, who = pairs.nearest_others(around)
    else:
        nearest, who = _nearest_others(pairs, around)
    first, last = nearest[:, near - 1], nearest[:, -1]
    usual = np.maximum(last, LEAST_AROUND * last.mean())
    return Reaches(first, _over(last, usual[who].mean(axis=1)))


def _nearest_others(pairs: Source, k: int) -> tuple[FloatArray, IntArray]:
    """Of every point the dissimilarities (N, k) to the k nearest others, ascending, and which these are."""
    N = pairs.shape[0]
    nearest, who = np.empty((N, k)), np.empty((N, k), np.intp)
    for rows in panels(N, rows_per_panel(N)):
        step("neighbours", rows.start, N)
        D = np.array(pairs.block(rows, ALL), np.float64)
        i = np.arange(len(D))
        D[i, rows.start + i] = np.inf
        who[rows] = np.argpartition(D, k - 1, axis=1)[:, :k]
        nearest[rows] = np.sort(np.take_along_axis(D, who[rows], axis=1), axis=1)
    return nearest, who


def reach(points: Any, held: NDArray[Any]) -> tuple[FloatArray, IntArray]:
    """(n,) distance to the nearest prototype where that holds 5 points, else to the second; and which one it is.

    points : records of `two_best`. held : (K,) number of training points at each prototype.
    """
    enough = (held[points["prototype"]] >= NEAR) | ~np.isfinite(points["second_dissimilarity"])
    r = np.where(enough, points["dissimilarity"], points["second_dissimilarity"])
    return np.maximum(r, 0.0), np.where(enough, points["prototype"], points["second"])


def around_prototypes(points: NDArray[Any], held: NDArray[Any]) -> FloatArray:
    """(K,) mean reach of the training points at each prototype, that of all where there are none."""
    r, _ = reach(points, held)
    usual = np.maximum(r, LEAST_AROUND * r.mean())
    sums = np.bincount(points["prototype"], usual, minlength=len(held))
    return np.divide(sums, held, out=np.full(len(held), usual.mean()), where=held > 0)


def prototype_reaches(points: Any, held: NDArray[Any], around: FloatArray) -> Reaches:
    """r: see `reach`; local: over the mean of r at the prototype that it leads to."""
    r, at = reach(points, held)
    return Reaches(r, _over(r, around[at]))


def scale_of(reaches: Reaches) -> Scale:
    """What is usual among these points."""
    floor = LEAST_SHARE * float(reaches.r.mean())
    logs = _logs(reaches, floor)
    centers = np.median(logs, axis=1)
    spreads = (np.quantile(logs, UPPER, axis=1) - centers) / UPPER_SIGMAS
    # Where nine in ten points have the same reach, the others say how it spreads.
    return Scale(floor, centers, np.where(spreads > 0, spreads, logs.std(axis=1)))


def scores(reaches: Reaches, scale: Scale | None = None) -> FloatArray:
    """(n,) max(z_1, z_2 - 2): z in upper standard deviations above the median, of log r and of log local.

    scale : what is usual; None: among these points.
    """
    scale = scale_of(reaches) if scale is None else scale
    away = _logs(reaches, scale.floor) - scale.centers[:, None]
    z = np.divide(away, scale.spreads[:, None], out=np.zeros_like(away), where=scale.spreads[:, None] > 0)
    return np.maximum(z[0], z[1] - LOCAL_HEADROOM)


def _logs(reaches: Reaches, floor: float) -> FloatArray:
    """(2, n) logarithms; zeros where all reaches are 0."""
    if not floor > 0:
        return np.zeros((2, len(reaches.r)))
    return np.log([np.maximum(reaches.r, floor), np.maximum(reaches.local, LEAST_SHARE)])


def _over(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b, 1 where b is 0."""
    return np.divide(a, b, out=np.ones(len(a)), where=b > 0)


def judged(points: NDArray[Any], pairs: Source | None = None) -> NDArray[Any]:
    """The table of `two_best` with outlier_score, outlier, border_score and border of every point.

    outlier_score = max(z(log r), z(log r / r_around) - 2), z(v) = (v - median v) / s, s = (q_0.9 v - median v) / 1.28.

    With all pairs, r is the distance to the fifth nearest neighbour, and r / r_around compares that to the 15th with
    its mean over the 15. Without, r is the distance to the nearest prototype if that stands for five points or more,
    else to the second nearest, and r_around its mean over the points of that prototype. So an outlier that has become
    an exemplar, or two or three that share one, are told by what lies next to them. outlier: the score is above 3.5.

    border_score = d(x, nearest prototype) / d(x, nearest prototype of another group). border: it is 0.9 or more, and
    of the highest twentieth, ties included.

    points : the table of `two_best`.
    pairs : all dissimilarities (N, N) of the points; where they would have to be computed or asked for, distances to
        prototypes do.
    """
    if not has_all_pairs(pairs):
        K = 1 + int(max(points["prototype"].max(), points["second"].max()))
        held = np.bincount(points["prototype"], minlength=K)
        reaches = prototype_reaches(points, held, around_prototypes(points, held))
    else:
        assert pairs is not None
        reaches = neighbour_reaches(pairs)
    score, between = scores(reaches), border_scores(points)
    columns = {name: points[name] for name in points.dtype.names or ()}
    return table(
        **columns, outlier_score=score, outlier=score > OUTLIER_SCORE, border_score=between,
        border=between >= border_cut(between),
    )  # fmt: skip


def has_all_pairs(pairs: Source | None) -> bool:
    """Whether outlier scores come from neighbours among all points; else from the exemplars around."""
    return pairs is not None and not isinstance(pairs, ComputedSource | ExpensiveSource)


def ratios(d: FloatArray, e: FloatArray) -> FloatArray:
    """d / e (N,), 1 where both are 0; negative dissimilarities, which combinations of the data may have, count as 0."""
    return np.divide(np.maximum(d, 0.0), e, out=np.ones(len(d)), where=e > 0)


def border_scores(points: NDArray[Any]) -> FloatArray:
    """(N,) how near the second group is: 0 on an exemplar, 1 where two groups are equally near."""
    return ratios(points["dissimilarity"], points["other_dissimilarity"])


def border_cut(scores: FloatArray) -> float:
    """The border score from which on a point is flagged: at least 0.9, and that of one point in twenty."""
    return max(BORDER_SCORE, float(np.quantile(scores, 1 - MOST_ON_BORDERS, method="higher")))


def border_points(points: NDArray[Any], at_least: float | None = None) -> NDArray[Any]:
    """Records of points between two groups of the map, the nearest to both first.

    points : the table of `two_best`.
    at_least : the border score from which on; None: that of `border_cut`.
    """
    score = border_scores(points)
    least = border_cut(score) if at_least is None else check_nonnegative(at_least, "at_least")
    names = ("point", "prototype", "other", "dissimilarity", "other_dissimilarity")
    return _first(points, names, score, score >= least)


def outliers(points: NDArray[Any], cutoff: float = OUTLIER_SCORE, pairs: Source | None = None) -> NDArray[Any]:
    """Records point, prototype, dissimilarity, score of the points whose outlier score is above the cutoff.

    The most unusual come first; see `judged`.

    points : the table of `two_best`.
    cutoff : the score beyond which a point is an outlier.
    pairs : all dissimilarities.
    """
    check_nonnegative(cutoff, "cutoff")
    score = judged(points, pairs)["outlier_score"]
    return _first(points, ("point", "prototype", "dissimilarity"), score, score > cutoff)


def _first(points: NDArray[Any], names: tuple[str, ...], score: FloatArray, chosen: NDArray[np.bool_]) -> NDArray[Any]:
    """The chosen records by falling score."""
    at = np.flatnonzero(chosen)
    at = at[np.argsort(-score[at], kind="stable")]
    return table(**{name: points[name][at] for name in names}, score=score[at])


# --- what a map remembers of its training points, for objects that come later


def usual_among(points: NDArray[Any], groups: IntArray) -> dict[str, Any]:
    """What a map keeps as `usual_`, from the records of `two_best` of its training points.

    groups, held, around : (K,) group of each prototype, training points there, their mean reach.
    floor, centers, spreads : see `Scale`. novelty : the score that one in a hundred training points exceeds.
    border : the least border score that is flagged.
    """
    held = np.bincount(points["prototype"], minlength=len(groups))
    around = around_prototypes(points, held)
    reaches = prototype_reaches(points, held, around)
    scale = scale_of(reaches)
    cut = float(np.quantile(scores(reaches, scale), 1 - FALSE_ALARMS, method="higher"))
    return {
        "groups": groups,
        "held": held,
        "around": around,
        **scale._asdict(),
        "novelty": cut,
        "border": border_cut(border_scores(points)),
    }


def novelty(points: Any, usual: dict[str, Any]) -> FloatArray:
    """(n,) scores of new objects, records of `two_best`, among the training points that the map remembers."""
    scale = Scale(usual["floor"], usual["centers"], usual["spreads"])
    return scores(prototype_reaches(points, usual["held"], usual["around"]), scale)
