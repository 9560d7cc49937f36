"""Is this matrix fit for a map? `check_dissimilarity`: what is wrong or unusual with dissimilarities, as sentences.

What one pass over all entries says is in health_entries.py; what would cost more is estimated here from samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.quality import expected_over_ties
from ..sources import ALL, ComputedSource, DenseSource, Source, SubsetSource, as_dissimilarity
from ..sources.base import FloatArray, IntArray, is_source
from ..sources.computed import block_in_steps
from ..utils.checks import check_count
from ..utils.files import counted
from ..utils.threads import OnProgress
from .health_entries import Level, Names, Verdict, judge_entries, scan

__all__ = ["Finding", "Health", "check_dissimilarity"]

# Of objects that a metric compares, so many points are drawn: all pairs of them are enough to judge.
COMPUTED_POINTS = 1000


@dataclass(frozen=True)
class Finding:
    """One property of a matrix.

    level : "ok"; "note", legal and worth knowing; "warning", legal but probably not intended; "error", no map can use
        the matrix.
    value : numbers, text and None in plain dictionaries and lists, as JSON holds them.
    name : what was looked at, for example "symmetric".
    sentence : what was found, in words.
    """

    name: str
    level: Level
    sentence: str
    value: dict[str, Any]


@dataclass(frozen=True)
class Health:
    """All findings about dissimilarities (N, N); `print` it, or take `as_dict()`.

    n_points : N.
    dtype : type of the entries.
    seed : what the samples were drawn with.
    findings : all of them; `health[name]` is the one of that name.
    """

    n_points: int
    dtype: str
    seed: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether a map can be fitted: no finding has the level "error"."""
        return all(finding.level != "error" for finding in self.findings)

    def __getitem__(self, name: str) -> Finding:
        """The finding of that name; KeyError if there is none."""
        return {finding.name: finding for finding in self.findings}[name]

    def as_dict(self) -> dict[str, Any]:
        """Everything in a form that JSON can hold."""
        about = {"ok": self.ok, "n_points": self.n_points, "dtype": self.dtype, "seed": self.seed}
        return about | {"findings": [asdict(finding) for finding in self.findings]}

    def __str__(self) -> str:
        counts = Counter(finding.level for finding in self.findings)
        found = [counted(counts[level], level) for level in ("error", "warning", "note") if counts[level]]
        usable = ("usable" if self.ok else "NOT usable") + (f": {', '.join(found)}" if found else ", nothing to remark")
        lines = [f"{self.n_points} x {self.n_points} {self.dtype} is {usable}."]
        width = max(len(finding.name) for finding in self.findings)
        lines += [f"  {f.level:<7}  {f.name:<{width}}  {f.sentence}" for f in self.findings]
        return "\n".join(lines)


def check_dissimilarity(
    D: Any, *, metric: str | Callable[[Any, Any], float] = "precomputed",
    metric_params: Mapping[str, Any] | None = None, seed: int = 0, max_points: int | None = None,
    max_triples: int = 50_000, n_landmarks: int = 400, n_samples: int = 8, n_neighbors: int = 10,
    on_progress: OnProgress | None = None,
) -> Health:  # fmt: skip
    """Check dissimilarities before a map is fitted to them.

    All entries are read once, in tiles: finite, non-negative, symmetric, zero diagonal, duplicates, scale, suspected
    similarities. The triangle inequality, negative eigenvalues and hubness are estimated from random samples with 95%
    intervals, or computed from all points if there are few.

    Parameters
    ----------
    D, metric, metric_params : anything that `as_dissimilarity` takes
        A matrix on disk is never loaded whole.
    seed : int, default=0
        Seed of the random samples; the same seed gives the same report.
    max_points : int or None
        Check so many random points instead of all. None takes all points of a stored matrix, and 1000 of objects that a
        metric compares.
    max_triples : int, default=50000
        How many triples of points to test; all triples if there are no more than these.
    n_landmarks, n_samples : int, default=400, 8
        Spectrum and hubness are taken from `n_samples` random sets of `n_landmarks` points; from all points if there
        are at most twice `n_landmarks`.
    n_neighbors : int, default=10
        k of the k-occurrences whose skewness measures hubness.
    on_progress : callable or None
        Called as `on_progress("health", done, total)`, in entries, while all entries are read.

    Returns
    -------
    Health
        `ok` says whether a map can be fitted; `findings` has a level, a sentence and numbers for each property.

    See Also
    --------
    as_dissimilarity : what D may be.

    Examples
    --------
    >>> from medianmap import check_dissimilarity
    >>> health = check_dissimilarity([[0, 1, 5], [1, 0, 2], [5, 2, 0]])
    >>> health.ok, health["triangle"].value["where"]
    (True, [0, 1, 2])
    """
    for name, value, at_least in (("max_triples", max_triples, 1), ("n_landmarks", n_landmarks, 3),
                                  ("n_samples", n_samples, 2), ("n_neighbors", n_neighbors, 1),
                                  ("seed", seed, 0)):  # fmt: skip
        check_count(value, name, at_least=at_least)
    rng = np.random.default_rng(seed)
    # Symmetry is checked here, so as_dissimilarity need not make a pass for it.
    symmetric = None if is_source(D) or metric != "precomputed" else True
    source = as_dissimilarity(D, metric, metric_params=metric_params, symmetric=symmetric)
    computed, n_all = isinstance(source, ComputedSource), source.shape[0]
    usual = COMPUTED_POINTS if computed else n_all
    limit = usual if max_points is None else check_count(max_points, "max_points")
    points = np.arange(n_all) if n_all <= limit else np.sort(rng.choice(n_all, limit, replace=False))
    if len(points) < n_all:
        source = SubsetSource(source, points)
    if computed and len(points) <= COMPUTED_POINTS:
        # Both directions are computed, to catch a metric that claims to be symmetric and is not.
        source = DenseSource(block_in_steps(source), False, source.ids)
    names, scanned = Names(points, source.ids), scan(source, on_progress)
    verdicts = {"scope": _scope(len(points), n_all)} | judge_entries(scanned, names)
    # Figures from entries that no map can use would mean nothing.
    if all(level != "error" for level, _, _ in verdicts.values()):
        verdicts |= judge_samples(source, names, max_triples, n_landmarks, n_samples, n_neighbors, rng)
    findings = [Finding(name, level, said, json_value(value)) for name, (level, said, value) in verdicts.items()]
    return Health(n_all, str(source.dtype), int(seed), tuple(findings))


def _scope(n: int, n_all: int) -> Verdict:
    value = {"n_points_read": n, "n_points": n_all}
    if n == n_all:
        return "ok", f"All {n} x {n} entries were read.", value
    return "note", f"{n} of {n_all} points were drawn at random; only the entries between them were read.", value


def json_value(value: Any) -> Any:
    """NaN and infinity, which JSON cannot hold, become None."""
    if isinstance(value, dict):
        return {key: json_value(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [json_value(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


# Skewness of k-occurrences beyond which a few points are near to very many.
HUBS = 1.5
# A share of negative eigenvalues below this is noise in the entries.
EUCLIDEAN = 1e-6
# A matrix of at most so many points is held while triples are drawn from it.
HOLD = 2000
# Triples read with one block where single entries cannot be read: few blocks, with few entries that nobody needs.
GROUP = 4


@dataclass(frozen=True)
class IntervalEstimate:
    """A figure, its 95% interval (the figure itself if nothing was sampled), and whether it is from a sample."""

    value: float
    low: float
    high: float
    sampled: bool


def wilson(hits: int, n: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """Wilson's score interval of a share: (p + z^2/2n -+ z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    p = hits / n
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and n hits the formula gives 0 and 1 up to rounding.
    low, high = (middle - half) / scale, (middle + half) / scale
    return (0.0 if hits == 0 else low), (1.0 if hits == n else high)


def mean_estimate(values: list[float]) -> IntervalEstimate:
    """The mean over independent samples with Student's 95% interval; a single value counts as exact."""
    from scipy.stats import t

    mean = float(np.mean(values))
    if len(values) == 1:
        return IntervalEstimate(mean, mean, mean, False)
    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / sqrt(len(values)))
    return IntervalEstimate(mean, mean - half, mean + half, True)


# --- the triangle inequality ---------------------------------------------------------------------------------------


def triangles(source: Source, names: Names, max_triples: int, rng: np.random.Generator) -> Verdict:
    """How many triples have a side that is longer than the way round; the inequality helps some methods, none here.

    All triples if there are at most `max_triples`, else that many independent random ones; D (n, n), n >= 3.
    """
    n = source.shape[0]
    sampled = comb(n, 3) > max_triples
    every = () if sampled else list(combinations(range(n), 3))
    triples = _distinct_triples(n, max_triples, rng) if sampled else np.array(every, np.intp)
    # Rounding of the entries, a few units in the last place, does not count as a violation.
    unit = np.finfo(source.dtype if source.dtype.kind == "f" else np.float64).eps
    excess, turn = _excess(_corners(source, triples), 16 * float(unit))
    hits, count, at = int(np.count_nonzero(excess > 0)), len(triples), int(excess.argmax())
    interval = wilson(hits, count) if sampled else (hits / count, hits / count)
    share, worst = IntervalEstimate(hits / count, *interval, sampled), float(excess[at])
    i, j, k = triples[at][list(WAYS[turn[at]])].tolist()  # D[i, k] > D[i, j] + D[j, k]
    value = {"share": share.value, "interval": list(interval), "n_triples": count, "sampled": sampled,
             "largest_relative_excess": worst, "where": names.places(i, j, k) if hits else None}  # fmt: skip
    of = f"{count} random triples" if sampled else f"all {count} triples"
    if not hits:
        return "ok", f"The triangle inequality holds on {of}{_interval(share, 'of violations ')}.", value
    said = (
        f"{share.value:.3%} of {of} break the triangle inequality{_interval(share)}; at worst {names.entry(i, k)} "
        f"exceeds the way round by point {names.point(j)} by {worst:.2g} of itself. Legal: no map here needs it."
    )
    return "note", said, value


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


# --- landmarks: spectrum and hubness -------------------------------------------------------------------------------


def negative_share(D: FloatArray, *, squared: bool) -> float:
    """sum of |negative eigenvalues| / sum of |eigenvalues| of -1/2 J S J, J = I - 1/n; D (n, n).

    S is D if its entries are squared dissimilarities, else D^2 entry by entry; an asymmetric D is replaced by its mean
    with the transpose. The share is zero if and only if the points lie in a Euclidean space.
    """
    scale = np.abs(D).max(initial=0.0)
    if scale == 0.0:
        return 0.0
    S = (D / scale + D.T / scale) / 2
    S = S if squared else S * S
    np.fill_diagonal(S, 0.0)
    means = S.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(-0.5 * (S - means[:, None] - means[None, :] + means.mean()))
    # Eigenvalues of this size come from rounding.
    rounding = len(S) * np.finfo(np.float64).eps * np.abs(eigenvalues).max()
    eigenvalues[np.abs(eigenvalues) <= rounding] = 0.0
    total = np.abs(eigenvalues).sum()
    return float(-eigenvalues[eigenvalues < 0].sum() / total) if total > 0 else 0.0


def occurrences(D: FloatArray, k: int) -> FloatArray:
    """N_k(l) = number of points i that have l among their k nearest by D[i, :]; (n,), tied places shared equally."""
    near, _ = expected_over_ties(D.copy(), np.arange(len(D)), k)
    return near.sum(axis=0)


def skewness(x: FloatArray) -> float:
    """E[(x - mean)^3] / sd^3; 0 if all are equal."""
    centred = x - x.mean()
    spread = sqrt(float((centred**2).mean()))
    return float((centred**3).mean()) / spread**3 if spread > 1e-12 * max(1.0, float(np.abs(x).max())) else 0.0


# --- what the figures mean: one function per finding


def judge_samples(
    source: Source, names: Names, max_triples: int, n_landmarks: int, n_samples: int, n_neighbors: int,
    rng: np.random.Generator,
) -> dict[str, Verdict]:  # fmt: skip
    """The findings from samples, by name, as `check_dissimilarity` describes its parameters; none of n < 3 points."""
    n = source.shape[0]
    if n < 3:
        return {}
    found = triangles(source, names, max_triples, rng)
    sets: list[IntArray] = [np.arange(n)]
    if n > 2 * n_landmarks:
        sets = [np.sort(rng.choice(n, n_landmarks, replace=False)) for _ in range(n_samples)]
    blocks = [np.array(source.block(points, points), np.float64) for points in sets]
    size = len(blocks[0])
    plain, squared = (mean_estimate([negative_share(B, squared=s) for B in blocks]) for s in (False, True))
    k = min(n_neighbors, (size - 1) // 2)
    counts = [occurrences(B, k) for B in blocks]
    skew, largest = mean_estimate([skewness(c) for c in counts]), max(float(c.max()) for c in counts)
    return {
        "triangle": found,
        "spectrum": _spectrum(plain, squared, size, len(blocks)),
        "hubness": _hubness(skew, largest, k, size, len(blocks)),
    }


def _spectrum(plain: IntervalEstimate, squared: IntervalEstimate, n_landmarks: int, repeats: int) -> Verdict:
    """How far from Euclidean: the share of negative eigenvalues, for D and for D taken as squared distances."""
    value = {"negative_share": plain.value, "interval": [plain.low, plain.high],
             "negative_share_if_squared": squared.value, "interval_if_squared": [squared.low, squared.high],
             "n_landmarks": n_landmarks, "n_samples": repeats}  # fmt: skip
    of = f"{repeats} samples of {n_landmarks} landmarks" if plain.sampled else f"all {n_landmarks} points"
    negative = f"negative eigenvalues hold {plain.value:.2%} of the spectrum{_interval(plain)}"
    if plain.value <= EUCLIDEAN:
        return "ok", f"Euclidean on {of}: no negative eigenvalues.", value
    if squared.value <= EUCLIDEAN:
        said = f"The square roots of the entries are Euclidean distances on {of}; the entries themselves are not: "
        return "note", f"{said}{negative}.", value
    if_squared = f"{squared.value:.2%}{_interval(squared)} if the entries are squared distances"
    return "note", f"Not Euclidean: {negative}, on {of}; {if_squared}. Median maps work all the same.", value


def _hubness(skew: IntervalEstimate, largest: float, k: int, n_landmarks: int, repeats: int) -> Verdict:
    """Whether a few points are among the nearest of very many others."""
    value = {"skewness": skew.value, "interval": [skew.low, skew.high], "largest_occurrence": largest, "k": k,
             "n_landmarks": n_landmarks, "n_samples": repeats}  # fmt: skip
    of = f"{repeats} samples of {n_landmarks} points" if skew.sampled else f"all {n_landmarks} points"
    said = (
        f"skewness {skew.value:.2f}{_interval(skew, form='.2f')} of how often a point is among the {k} nearest "
        f"of others, on {of}; the most frequent one is among the nearest of {largest:.0f}"
    )
    if skew.value > HUBS:
        return "note", f"A few points are near to very many: {said}. Such hubs attract prototypes.", value
    return "ok", f"No strong hubs: {said}.", value


def _interval(estimate: IntervalEstimate, of: str = "", form: str = ".3%") -> str:
    if not estimate.sampled:
        return ""
    return f" (95% interval {of}{estimate.low:{form}} to {estimate.high:{form}})"
