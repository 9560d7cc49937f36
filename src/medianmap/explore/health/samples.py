"""Figures that would cost more than one pass: estimated from random triples and random landmarks, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.quality import expected_over_ties
from ...sources import ALL, DenseSource, Source
from ...sources.base import FloatArray, IntArray

# A matrix of so many points may be held while triples are drawn from it.
HOLD = 2000
# Triples read with one block where single entries cannot be had: few blocks without many entries that nobody needs.
GROUP = 4


@dataclass(frozen=True)
class Estimate:
    """A figure, its 95% interval (the figure itself where nothing was sampled) and what it was taken from."""

    value: float
    low: float
    high: float
    sampled: bool


def wilson(hits: int, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson's score interval of a share: (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    p = hits / n
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and n hits the formula gives the bound itself up to rounding.
    low, high = (middle - half) / scale, (middle + half) / scale
    return (0.0 if hits == 0 else low), (1.0 if hits == n else high)


def mean_estimate(values: list[float]) -> Estimate:
    """The mean over independent samples with Student's 95% interval; one value is taken as exact."""
    from scipy.stats import t

    mean = float(np.mean(values))
    if len(values) == 1:
        return Estimate(mean, mean, mean, False)
    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / sqrt(len(values)))
    return Estimate(mean, mean - half, mean + half, True)


# --- the triangle inequality ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Triangles:
    """share of triples of points of which some side is longer than a way round; `worst` is the largest
    (side - way round) / side, `where` its (i, j, k): D[i, k] > D[i, j] + D[j, k]."""

    share: Estimate
    n_triples: int
    worst: float
    where: tuple[int, int, int] | None


def triangles(source: Source, max_triples: int, rng: np.random.Generator) -> Triangles | None:
    """All triples if there are at most `max_triples`, else that many independent random ones; None below 3 points."""
    n = source.shape[0]
    if n < 3:
        return None
    everything = comb(n, 3) <= max_triples
    if everything:
        triples = np.array(list(combinations(range(n), 3)), np.intp)
    else:
        triples = _distinct_triples(n, max_triples, rng)
    excess, turn = _excess(_corners(source, triples), _tolerance(source.dtype))
    hits = int(np.count_nonzero(excess > 0))
    share = hits / len(triples)
    low, high = (share, share) if everything else wilson(hits, len(triples))
    at = int(excess.argmax())
    i, j, k = triples[at][list(WAYS[turn[at]])]
    return Triangles(
        Estimate(share, low, high, not everything),
        len(triples),
        float(excess[at]),
        (int(i), int(j), int(k)) if hits else None,
    )


# The six directed ways round a triangle: from the first to the last corner by the middle one.
WAYS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))


def _distinct_triples(n: int, count: int, rng: np.random.Generator) -> IntArray:
    """(count, 3) ordered triples of distinct points, each equally likely."""
    i, j, k = rng.integers(n, size=count), rng.integers(n - 1, size=count), rng.integers(n - 2, size=count)
    j += j >= i
    low, high = np.minimum(i, j), np.maximum(i, j)
    k += k >= low
    k += k >= high
    return np.stack([i, j, k], axis=1).astype(np.intp)


def _corners(source: Source, triples: IntArray) -> FloatArray:
    """(T, 3, 3): the block of D between the three points of each triple."""
    D = source.D if isinstance(source, DenseSource) else source.block(ALL, ALL) if source.shape[0] <= HOLD else None
    if D is not None:
        return np.asarray(D[triples[:, :, None], triples[:, None, :]], np.float64)
    out = np.empty((len(triples), 3, 3))
    for start in range(0, len(triples), GROUP):
        points = triples[start : start + GROUP].ravel()
        block = source.block(points, points)
        for g in range(len(points) // 3):
            out[start + g] = block[3 * g : 3 * g + 3, 3 * g : 3 * g + 3]
    return out


def _excess(T: FloatArray, tolerance: float) -> tuple[FloatArray, NDArray[np.intp]]:
    """max over the six ways of (T[i, k] - T[i, j] - T[j, k]) / T[i, k], (T,), 0 where none exceeds the tolerance;
    and which way."""
    relative = np.zeros((len(T), len(WAYS)))
    for w, (i, j, k) in enumerate(WAYS):
        side, way_round = T[:, i, k], T[:, i, j] + T[:, j, k]
        too_long = side > way_round * (1 + tolerance)
        np.divide(side - way_round, side, out=relative[:, w], where=too_long)
    return relative.max(axis=1), relative.argmax(axis=1)


def _tolerance(dtype: np.dtype[Any]) -> float:
    """Rounding of the entries is no violation: a few units in the last place."""
    return 16 * float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


# --- landmarks: spectrum and hubness -------------------------------------------------------------------------------


def landmark_blocks(source: Source, size: int, repeats: int, rng: np.random.Generator) -> list[FloatArray]:
    """`repeats` blocks of D between `size` random points; all points, once, if there are no more than two such sets."""
    n = source.shape[0]
    sets: list[IntArray] = [np.arange(n)]
    if n > 2 * size:
        sets = [np.sort(rng.choice(n, size, replace=False)) for _ in range(repeats)]
    return [np.array(source.block(points, points), np.float64) for points in sets]


def negative_share(D: FloatArray, *, squared: bool) -> float:
    """sum of |negative eigenvalues| / sum of |eigenvalues| of -1/2 J S J, J = I - 1/n; D (n, n).

    S is D where its entries are squared dissimilarities already, else D^2 entry by entry; an asymmetric D is replaced
    by its mean with the transpose. The share is zero exactly where the points lie in a Euclidean space.
    """
    scale = np.abs(D).max(initial=0.0)
    if scale == 0.0:
        return 0.0
    S = (D / scale + D.T / scale) / 2
    S = S if squared else S * S
    np.fill_diagonal(S, 0.0)
    means = S.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(-0.5 * (S - means[:, None] - means[None, :] + means.mean()))
    # Rounding leaves eigenvalues of this size where there is none.
    rounding = len(S) * np.finfo(np.float64).eps * np.abs(eigenvalues).max()
    eigenvalues[np.abs(eigenvalues) <= rounding] = 0.0
    total = np.abs(eigenvalues).sum()
    return float(-eigenvalues[eigenvalues < 0].sum() / total) if total > 0 else 0.0


def occurrences(D: FloatArray, k: int) -> FloatArray:
    """N_k(l) = number of points i that have l among their k nearest by D[i, :]; (n,), tied places shared equally."""
    near, _ = expected_over_ties(D.copy(), np.arange(len(D)), k)
    return near.sum(axis=0)


def skewness(x: FloatArray) -> float:
    """E[(x - mean)^3] / sd^3; 0 where all are equal."""
    centred = x - x.mean()
    spread = sqrt(float((centred**2).mean()))
    return float((centred**3).mean()) / spread**3 if spread > 1e-12 * max(1.0, float(np.abs(x).max())) else 0.0
