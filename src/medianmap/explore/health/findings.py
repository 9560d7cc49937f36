"""What a check leaves: findings with a level, a sentence for people and numbers for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from ...sources.base import IntArray
from .entries import ASYMMETRIC, INF, NAN, NEGATIVE, ZERO, Scan
from .samples import Estimate, Triangles

Level: TypeAlias = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One property of a matrix.

    level : "ok"; "note", legal and worth knowing; "warning", legal but hardly meant; "error", no map can use it.
    value : numbers, text and None in plain dictionaries and lists, as JSON holds them.
    """

    name: str
    level: Level
    sentence: str
    value: dict[str, Any]


@dataclass(frozen=True)
class Health:
    """The verdict on a table of dissimilarities (N, N); `print` it, or take `as_dict()`."""

    n_points: int
    dtype: str
    seed: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether a map can be fitted: nothing was found at the level "error"."""
        return all(finding.level != "error" for finding in self.findings)

    def __getitem__(self, name: str) -> Finding:
        """The finding of that name; KeyError where nothing was found out about it."""
        return {finding.name: finding for finding in self.findings}[name]

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "ok": self.ok,
            "n_points": self.n_points,
            "dtype": self.dtype,
            "seed": self.seed,
            "findings": [asdict(finding) for finding in self.findings],
        }

    def __str__(self) -> str:
        counts = Counter(finding.level for finding in self.findings)
        told = [_counted(counts[level], level) for level in ("error", "warning", "note") if counts[level]]
        verdict = ("usable" if self.ok else "NOT usable") + (f": {', '.join(told)}" if told else ", nothing to remark")
        lines = [f"{self.n_points} x {self.n_points} {self.dtype} is {verdict}."]
        width = max(len(finding.name) for finding in self.findings)
        lines += [f"  {f.level:<7}  {f.name:<{width}}  {f.sentence}" for f in self.findings]
        return "\n".join(lines)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("s" if n > 1 else "")


# --- Numbers -> findings: what each figure means, at which level, and what to do about it. One function a

# Differences below this share of the largest entry are rounding.
ROUNDING = 1e-6
# Asymmetry in so few pairs looks like a slip in the data; in more, like the nature of the measure.
FEW_PAIRS = 0.01
# A dissimilarity says 'identical' with a zero; a matrix of mostly zeros says 'unrelated'.
MOSTLY = 0.5
# Skewness of k-occurrences beyond which a few points are near to very many.
HUBS = 1.5
# A share of negative eigenvalues below this is noise in the entries.
EUCLIDEAN = 1e-6


@dataclass(frozen=True)
class Names:
    """How a user knows the points that were looked at: their place in the whole table, and their ids."""

    points: IntArray
    ids: Sequence[str] | None

    def places(self, *local: int) -> list[int]:
        """Indices into the whole table."""
        return [int(self.points[i]) for i in local]

    def point(self, i: int) -> str:
        return f"{self.points[i]}" + ("" if self.ids is None else f" ({self.ids[i]})")

    def entry(self, i: int, l: int) -> str:
        told = f"D[{self.points[i]}, {self.points[l]}]"
        return told if self.ids is None else f"{told} ({self.ids[i]}, {self.ids[l]})"


def entries(scan: Scan, names: Names) -> Finding:
    """NaN, infinite and negative entries: no map can use them."""
    places = {"NaN": NAN, "infinite": INF, "negative": NEGATIVE}
    value: dict[str, Any] = {f"n_{kind.lower()}": int(scan.counts[at]) for kind, at in places.items()}
    value |= {f"first_{kind.lower()}": _first(scan, at, names) for kind, at in places.items()}
    if not scan.bad:
        return Finding("entries", "ok", f"All {scan.n**2} entries are finite and >= 0.", value)
    advice = {
        "NaN": "fill them in or drop the points",
        "infinite": "replace them by a large number",
        "negative": "dissimilarities must be >= 0",
    }
    told = [
        f"{scan.counts[at]} {'entry is' if scan.counts[at] == 1 else 'entries are'} {kind} "
        f"(first {names.entry(*divmod(int(scan.first[at]), scan.n))}): {advice[kind]}"
        for kind, at in places.items()
        if scan.counts[at]
    ]
    return Finding("entries", "error", "; ".join(told) + ".", value)


def scale(scan: Scan) -> Finding:
    """Range and mean of the entries off the diagonal; a constant matrix has no structure, a huge one overflows."""
    n_off = scan.n * (scan.n - 1)
    finite = n_off and np.isfinite(scan.low)
    mean = scan.total / n_off if finite and not scan.bad and np.isfinite(scan.total) else None
    value = {"min": scan.low if finite else None, "max": scan.high if finite else None, "mean": mean}
    if not finite:
        return Finding("scale", "note", "There is no finite dissimilarity between two points.", value)
    if scan.high > np.finfo(np.float64).max / scan.n:
        sentence = f"The largest entry is {scan.high:g}: sums of {scan.n} of them overflow. Divide by a constant."
        return Finding("scale", "error", sentence, value)
    if scan.low == scan.high and scan.n > 2:
        sentence = f"All dissimilarities between points are {scan.low:g}: nothing is nearer than anything else."
        return Finding("scale", "warning", sentence, value)
    told = "" if mean is None else f", mean {mean:g}"
    return Finding("scale", "ok", f"Between points: {scan.low:g} to {scan.high:g}{told}.", value)


def symmetry(scan: Scan, names: Names) -> Finding:
    """Asymmetric matrices are legal; a handful of asymmetric pairs is suspect."""
    n_pairs = scan.n * (scan.n - 1) // 2
    count = int(scan.counts[ASYMMETRIC])
    share = count / n_pairs if n_pairs else 0.0
    i, l = divmod(scan.worst_place, scan.n)
    value = {
        "n_asymmetric_pairs": count,
        "share": share,
        "largest_difference": scan.worst,
        "where": names.places(i, l) if scan.worst > 0 else None,
    }
    if not count:
        return Finding("symmetry", "ok", "Symmetric to the last bit.", value)
    worst = f"the largest difference is {scan.worst:g}" + (f" at {names.entry(i, l)}" if scan.worst > 0 else "")
    told = f"{count} of {n_pairs} pairs ({share:.3g}) differ between D[i, l] and D[l, i]; {worst}"
    if scan.worst <= ROUNDING * scan.high:
        return Finding("symmetry", "note", f"{told}: rounding. (D + D.T) / 2 makes it exact.", value)
    if share < FEW_PAIRS:
        return Finding("symmetry", "warning", f"{told}. So few are seldom meant: look at these pairs.", value)
    meaning = "It is read as from row (point) to column (prototype); (D + D.T) / 2 makes it symmetric."
    return Finding("symmetry", "note", f"{told}. {meaning}", value)


def diagonal(scan: Scan, names: Names) -> Finding:
    """D[i, i] = 0 up to rounding."""
    largest = max(scan.high, 0.0)
    off = np.flatnonzero(~(np.abs(scan.diagonal) <= 1e-12 * largest))
    value = {"n_nonzero": len(off), "first": names.places(off[0], off[0]) if len(off) else None}
    if not len(off):
        return Finding("diagonal", "ok", "Every point has dissimilarity 0 to itself.", value)
    i = int(off[0])
    sentence = (
        f"{len(off)} of {scan.n} points differ from themselves (first {names.entry(i, i)} = {scan.diagonal[i]:g}); "
        "it is used as given. Set it to 0, or convert first if these are similarities."
    )
    return Finding("diagonal", "warning", sentence, value)


def duplicates(scan: Scan, names: Names) -> Finding:
    """Groups of points that are joined by zeros in both directions; mostly zeros are no duplicates."""
    _, sizes = np.unique(scan.twins, return_counts=True)
    groups = sizes[sizes > 1]
    zeros = int(scan.counts[ZERO])
    share = zeros / max(1, scan.n * (scan.n - 1))
    value = {
        "n_groups": len(groups),
        "n_points": int(groups.sum()),
        "largest_group": int(groups.max(initial=0)),
        "n_zero_entries": zeros,
        "first": _first(scan, ZERO, names),
    }
    if not zeros:
        return Finding("duplicates", "ok", "No two points have dissimilarity 0.", value)
    where = names.entry(*divmod(int(scan.first[ZERO]), scan.n))
    if share > MOSTLY and scan.high > 0:
        sentence = (
            f"{share:.0%} of the entries between points are 0 (first {where}), which says 'identical'. "
            "If zero means 'unrelated' or 'not measured', convert or fill in first."
        )
        return Finding("duplicates", "warning", sentence, value)
    if not len(groups):
        sentence = f"{zeros} entries between points are 0 in one direction only (first {where})."
        return Finding("duplicates", "note", sentence, value)
    sentence = (
        f"{value['n_points']} points fall into {len(groups)} groups without differences (largest: "
        f"{value['largest_group']} points; first zero {where}). Legal; `sample_weight` counts them without copies."
    )
    return Finding("duplicates", "note", sentence, value)


def similarity(scan: Scan) -> Finding:
    """Whether the numbers look like similarities: large on the diagonal, or all negative."""
    kind = _similarity_kind(scan)
    value = {"suspected": kind}
    told = {
        "correlation": "It looks like correlations (1 on the diagonal, entries in [-1, 1]); convert with D = 1 - S.",
        "unit": "It looks like similarities (1 on the diagonal, entries in [0, 1]); convert with D = 1 - S.",
        "scores": "It looks like similarities (every point is most like itself: the diagonal is the row's maximum); "
        "convert with D = 1 - S / sqrt(outer(diag(S), diag(S))).",
        "kernel": "It looks like inner products (larger on the diagonal than elsewhere, on average); "
        "convert with D = sqrt(diag(S)[:, None] + diag(S) - 2 S).",
        "negated": "It looks like negated dissimilarities (0 on the diagonal, no positive entry); convert with D = -S.",
    }
    if kind is None:
        return Finding("similarity", "ok", "It does not look like a matrix of similarities.", value)
    return Finding("similarity", "warning", told[kind], value)


def _similarity_kind(scan: Scan) -> str | None:
    """Each sign is one that dissimilarities do not give: they are 0 on the diagonal and positive elsewhere."""
    if scan.n < 2 or not np.isfinite(scan.diagonal).all() or not np.isfinite(scan.row_maxima).all():
        return None
    if (scan.diagonal == 0).all():
        return "negated" if scan.high <= 0 and scan.low < 0 else None
    if scan.low == scan.high and scan.high >= scan.diagonal.max():
        return None
    if not (scan.diagonal > 0).all():
        return None
    if not (scan.diagonal >= scan.row_maxima).all():
        return "kernel" if scan.diagonal.mean() > scan.total / (scan.n * (scan.n - 1)) else None
    near_one = bool(np.all(np.abs(scan.diagonal - 1) <= 1e-6))
    if near_one and scan.high <= 1 + 1e-6 and scan.low >= -1 - 1e-6:
        return "unit" if scan.low >= 0 else "correlation"
    return "scores"


def triangle(found: Triangles, names: Names) -> Finding:
    """The triangle inequality is a help to some methods and needed by none here."""
    value = {
        "share": found.share.value,
        "interval": [found.share.low, found.share.high],
        "n_triples": found.n_triples,
        "sampled": found.share.sampled,
        "largest_relative_excess": found.worst,
        "where": None if found.where is None else names.places(*found.where),
    }
    of = f"{found.n_triples} random triples" if found.share.sampled else f"all {found.n_triples} triples"
    if found.where is None:
        told = f"The triangle inequality holds on {of}{_interval(found.share, 'of violations ')}."
        return Finding("triangle", "ok", told, value)
    i, j, k = found.where
    sentence = (
        f"{found.share.value:.3%} of {of} break the triangle inequality{_interval(found.share)}; at worst "
        f"{names.entry(i, k)} exceeds the way round by point {names.point(j)} by {found.worst:.2g} of itself. "
        "Legal: no map here needs it."
    )
    return Finding("triangle", "note", sentence, value)


def spectrum(plain: Estimate, squared: Estimate, n_landmarks: int, repeats: int) -> Finding:
    """How far from Euclidean: the share of negative eigenvalues, for D and for D taken as squared distances."""
    value = {
        "negative_share": plain.value,
        "interval": [plain.low, plain.high],
        "negative_share_if_squared": squared.value,
        "interval_if_squared": [squared.low, squared.high],
        "n_landmarks": n_landmarks,
        "n_samples": repeats,
    }
    of = f"{repeats} samples of {n_landmarks} landmarks" if plain.sampled else f"all {n_landmarks} points"
    if plain.value <= EUCLIDEAN:
        return Finding("spectrum", "ok", f"Euclidean on {of}: no negative eigenvalues.", value)
    if squared.value <= EUCLIDEAN:
        sentence = (
            f"The square roots of the entries are Euclidean distances on {of}; the entries themselves are not: "
            f"negative eigenvalues hold {plain.value:.2%} of the spectrum{_interval(plain)}."
        )
        return Finding("spectrum", "note", sentence, value)
    sentence = (
        f"Not Euclidean: negative eigenvalues hold {plain.value:.2%} of the spectrum{_interval(plain)}, on {of}; "
        f"{squared.value:.2%}{_interval(squared)} if the entries are squared distances. Median maps do not mind."
    )
    return Finding("spectrum", "note", sentence, value)


def hubness(skew: Estimate, largest: float, k: int, n_landmarks: int, repeats: int) -> Finding:
    """Whether a few points are among the nearest of very many others."""
    value = {
        "skewness": skew.value,
        "interval": [skew.low, skew.high],
        "largest_occurrence": largest,
        "k": k,
        "n_landmarks": n_landmarks,
        "n_samples": repeats,
    }
    of = f"{repeats} samples of {n_landmarks} points" if skew.sampled else f"all {n_landmarks} points"
    told = (
        f"skewness {skew.value:.2f}{_interval(skew, form='.2f')} of how often a point is among the {k} nearest "
        f"of others, on {of}; the most frequent one is for {largest:.0f}"
    )
    if skew.value > HUBS:
        return Finding(
            "hubness", "note", f"A few points are near to very many: {told}. Such hubs attract prototypes.", value
        )
    return Finding("hubness", "ok", f"No strong hubs: {told}.", value)


def _interval(estimate: Estimate, of: str = "", form: str = ".3%") -> str:
    if not estimate.sampled:
        return ""
    return f" (95% interval {of}{estimate.low:{form}} to {estimate.high:{form}})"


def _first(scan: Scan, kind: int, names: Names) -> list[int] | None:
    return names.places(*divmod(int(scan.first[kind]), scan.n)) if scan.counts[kind] else None


def plain_value(value: Any) -> Any:
    """NaN and infinity, which JSON cannot hold, become None."""
    if isinstance(value, dict):
        return {key: plain_value(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain_value(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
