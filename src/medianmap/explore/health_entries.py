"""One pass over all entries of D (N, N), in tiles, and what they say: bad, symmetric, duplicate, similarities, scale.

A matrix larger than memory is read once and never held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..sources import DenseSource, Source, panels
from ..sources.base import IntArray
from ..sources.checks import TILE
from ..sources.squares import SIMILARITIES, similarity_kind
from ..utils.files import counted
from ..utils.kernels import kernel
from ..utils.threads import OnProgress, step

Level: TypeAlias = Literal["ok", "note", "warning", "error"]
Verdict: TypeAlias = tuple[Level, str, dict[str, Any]]  # level, sentence and value of a finding

# Differences below this share of the largest entry are rounding.
ROUNDING = 1e-6
# Asymmetry in so few pairs looks like a slip in the data; in more, like the nature of the measure.
FEW_PAIRS = 0.01
# A dissimilarity of 0 says 'identical'; in a matrix of mostly zeros it rather says 'unrelated'.
MOSTLY = 0.5
# What is counted, with the first place in row order. ASYMMETRIC counts unordered pairs, the others entries.
NAN, INF, NEGATIVE, ZERO, ASYMMETRIC = range(5)


@dataclass(frozen=True)
class Scan:
    """Figures of all entries. Only finite entries off the diagonal count, except in `diagonal` (N,) and `counts`.

    counts, first (5,) : how many of each kind, and i * N + l of the first D[i, l].
    low, high, total : smallest and largest entry, and the sum.
    worst, worst_place : largest |D[i, l] - D[l, i]| and its i * N + l.
    row_maxima (N,) : largest entry of each row, -inf where there is none.
    twins (N,) : the lowest point that i is joined to by pairs with D[i, l] = D[l, i] = 0; i itself if there is none.
    """

    n: int
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    low: float
    high: float
    total: float
    worst: float
    worst_place: int
    diagonal: NDArray[np.float64]
    row_maxima: NDArray[np.float64]
    twins: NDArray[np.int64]

    @property
    def bad(self) -> int:
        """Entries that no map can use."""
        return int(self.counts[NAN] + self.counts[INF] + self.counts[NEGATIVE])


def scan(source: Source, on_progress: OnProgress | None = None) -> Scan:
    """Read D once; of a source that is symmetric by construction, only one half.

    on_progress : called as on_progress("health", done, total) with numbers of entries.
    """
    report = on_progress or step
    n = source.shape[0]
    counts, first = np.zeros(5, np.int64), np.full(5, n * n, np.int64)
    figures = np.array([np.inf, -np.inf, 0.0, 0.0])  # low, high, total, worst
    worst_place = np.zeros(1, np.int64)
    diagonal, row_maxima = np.empty(n), np.full(n, -np.inf)
    parent = np.arange(n)
    found = counts, first, figures, worst_place, diagonal, row_maxima, parent
    # A stored matrix may have been declared symmetric without a check.
    by_construction = source.symmetric and not isinstance(source, DenseSource)
    for rows in panels(n, TILE):
        for cols in panels(n, TILE):
            if cols.start < rows.start:
                continue
            upper = _readable(source.block(rows, cols))
            lower = upper if rows == cols else _readable(upper.T if by_construction else source.block(cols, rows))
            _scan_tile(upper, lower, rows.start, cols.start, *found)
        # What is left is the square below and right of the rows so far.
        report("health", n * n - (n - rows.stop) ** 2, n * n)
    low, high, total, worst = map(float, figures)
    place, twins = int(worst_place[0]), _roots(parent)
    return Scan(n, counts, first, low, high, total, worst, place, diagonal, row_maxima, twins)


def _readable(tile: NDArray[Any]) -> NDArray[Any]:
    """Contiguous float32 or float64: only two kinds of tile to compile for; pages of a memory map are copied once."""
    return np.ascontiguousarray(tile, np.float32 if tile.dtype == np.float32 else np.float64)


@kernel
def _root(parent, i):  # type: ignore[no-untyped-def]
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def _roots(parent):  # type: ignore[no-untyped-def]
    out = np.empty_like(parent)
    for i in range(parent.shape[0]):
        out[i] = _root(parent, i)
    return out


@kernel
def _note(kind, place, counts, first):  # type: ignore[no-untyped-def]
    counts[kind] += 1
    first[kind] = min(first[kind], place)


@kernel
def _note_if_bad(value, place, counts, first):  # type: ignore[no-untyped-def]
    if np.isnan(value):
        _note(NAN, place, counts, first)
    elif np.isinf(value):
        _note(INF, place, counts, first)
    elif value < 0.0:
        _note(NEGATIVE, place, counts, first)


@kernel
def _scan_tile(upper, lower, top, left, counts, first, figures, worst_place, diagonal, row_maxima, parent):  # type: ignore[no-untyped-def]
    """Pairs i < l of the tile upper = D[top:, left:], each with its mirror image in lower = D[left:, top:]."""
    n = diagonal.shape[0]
    low, high, total, worst = figures
    for r in range(upper.shape[0]):
        i = top + r
        if top == left:
            diagonal[i] = upper[r, r]
            _note_if_bad(diagonal[i], i * n + i, counts, first)
        row_maximum = row_maxima[i]
        for c in range(r + 1 if top == left else 0, upper.shape[1]):
            l = left + c
            there, back = np.float64(upper[r, c]), np.float64(lower[c, r])
            # Nearly all entries are positive and finite; there is nothing to note about them.
            if not (0.0 < there < np.inf and 0.0 < back < np.inf):
                _note_if_bad(there, i * n + l, counts, first)
                _note_if_bad(back, l * n + i, counts, first)
                if there == 0.0:
                    _note(ZERO, i * n + l, counts, first)
                if back == 0.0:
                    _note(ZERO, l * n + i, counts, first)
                if there == 0.0 and back == 0.0:
                    a, b = _root(parent, i), _root(parent, l)
                    parent[max(a, b)] = min(a, b)
            if np.isfinite(there):
                low, high, total = min(low, there), max(high, there), total + there
                row_maximum = max(row_maximum, there)
            if np.isfinite(back):
                low, high, total = min(low, back), max(high, back), total + back
                row_maxima[l] = max(row_maxima[l], back)
            if there != back and not (np.isnan(there) and np.isnan(back)):
                _note(ASYMMETRIC, i * n + l, counts, first)
                difference = abs(there - back)
                if np.isfinite(difference) and difference > worst:
                    worst = difference
                    worst_place[0] = i * n + l
        row_maxima[i] = row_maximum
    figures[:] = low, high, total, worst


# --- what the figures mean: one function per finding


@dataclass(frozen=True)
class Names:
    """What a user calls the points that were checked: their places in the whole matrix, and their ids."""

    points: IntArray
    ids: Sequence[str] | None

    def places(self, *local: int) -> list[int]:
        """Indices into the whole matrix."""
        return [int(self.points[i]) for i in local]

    def point(self, i: int) -> str:
        return f"{self.points[i]}" + ("" if self.ids is None else f" ({self.ids[i]})")

    def entry(self, i: int, l: int) -> str:
        name = f"D[{self.points[i]}, {self.points[l]}]"
        return name if self.ids is None else f"{name} ({self.ids[i]}, {self.ids[l]})"


def _entries(scan: Scan, names: Names) -> Verdict:
    """NaN, infinite and negative entries: no map can use them."""
    kinds = (("NaN", NAN, "fill them in or drop the points"), ("infinite", INF, "replace them by a large number"),
             ("negative", NEGATIVE, "dissimilarities must be >= 0"))  # fmt: skip
    value: dict[str, Any] = {f"n_{kind.lower()}": int(scan.counts[at]) for kind, at, _ in kinds}
    value |= {f"first_{kind.lower()}": _first(scan, at, names) for kind, at, _ in kinds}
    if not scan.bad:
        return "ok", f"All {scan.n**2} entries are finite and >= 0.", value
    said = [
        f"{scan.counts[at]} {'entry is' if scan.counts[at] == 1 else 'entries are'} {kind} "
        f"(first {names.entry(*divmod(int(scan.first[at]), scan.n))}): {advice}"
        for kind, at, advice in kinds
        if scan.counts[at]
    ]
    return "error", "; ".join(said) + ".", value


def _similarity(scan: Scan) -> Verdict:
    """Whether the numbers look like similarities: large on the diagonal, or all negative."""
    mean = scan.total / max(1, scan.n * (scan.n - 1))
    kind = similarity_kind(scan.diagonal, scan.row_maxima, scan.low, scan.high, mean)
    if kind is None:
        return "ok", "It does not look like a matrix of similarities.", {"suspected": None}
    looks, _, formula = SIMILARITIES[kind]
    return "warning", f"It looks like {looks}; convert with {formula}.", {"suspected": kind}


def _symmetry(scan: Scan, names: Names) -> Verdict:
    """Asymmetric matrices are legal; a handful of asymmetric pairs is suspect."""
    n_pairs = scan.n * (scan.n - 1) // 2
    count = int(scan.counts[ASYMMETRIC])
    share = count / n_pairs if n_pairs else 0.0
    i, l = divmod(scan.worst_place, scan.n)
    value = {"n_asymmetric_pairs": count, "share": share, "largest_difference": scan.worst,
             "where": names.places(i, l) if scan.worst > 0 else None}  # fmt: skip
    if not count:
        return "ok", "Symmetric to the last bit.", value
    worst = f"the largest difference is {scan.worst:g}" + (f" at {names.entry(i, l)}" if scan.worst > 0 else "")
    said = f"{count} of {n_pairs} pairs ({share:.3g}) differ between D[i, l] and D[l, i]; {worst}"
    if scan.worst <= ROUNDING * scan.high:
        return "note", f"{said}: rounding. (D + D.T) / 2 makes it exact.", value
    if share < FEW_PAIRS:
        return "warning", f"{said}. So few are seldom intended: look at these pairs.", value
    return "note", f"{said}. A row is read as a point, a column as a prototype; (D + D.T) / 2 is symmetric.", value


def _diagonal(scan: Scan, names: Names) -> Verdict:
    """D[i, i] = 0 up to rounding."""
    off = np.flatnonzero(~(np.abs(scan.diagonal) <= 1e-12 * max(scan.high, 0.0)))
    value = {"n_nonzero": len(off), "first": names.places(off[0], off[0]) if len(off) else None}
    if not len(off):
        return "ok", "Every point has dissimilarity 0 to itself.", value
    i = int(off[0])
    said = (
        f"{len(off)} of {scan.n} points differ from themselves (first {names.entry(i, i)} = {scan.diagonal[i]:g}); "
        "the diagonal is used as given. Set it to 0, or convert first if these are similarities."
    )
    return "warning", said, value


def _duplicates(scan: Scan, names: Names) -> Verdict:
    """Groups of points that are joined by zeros in both directions; in a matrix of mostly zeros they mean nothing."""
    _, sizes = np.unique(scan.twins, return_counts=True)
    groups = sizes[sizes > 1]
    zeros = int(scan.counts[ZERO])
    share = zeros / max(1, scan.n * (scan.n - 1))
    value = {"n_groups": len(groups), "n_points": int(groups.sum()), "largest_group": int(groups.max(initial=0)),
             "n_zero_entries": zeros, "first": _first(scan, ZERO, names)}  # fmt: skip
    if not zeros:
        return "ok", "No two points have dissimilarity 0.", value
    where = names.entry(*divmod(int(scan.first[ZERO]), scan.n))
    if share > MOSTLY and scan.high > 0:
        said = f"{share:.0%} of the entries between points are 0 (first {where}), which says 'identical'. "
        return "warning", said + "If zero means 'unrelated' or 'not measured', convert or fill in first.", value
    if not len(groups):
        return "note", f"{zeros} entries between points are 0 in one direction only (first {where}).", value
    said = (
        f"{value['n_points']} points are in {counted(len(groups), 'group')} of identical points (largest: "
        f"{value['largest_group']} points; first zero {where}). Legal; `sample_weight` counts them without copies."
    )
    return "note", said, value


def _scale(scan: Scan) -> Verdict:
    """Range and mean of the entries off the diagonal; a constant matrix has no structure, a huge one overflows."""
    n_off = scan.n * (scan.n - 1)
    finite = n_off and np.isfinite(scan.low)
    mean = scan.total / n_off if finite and not scan.bad and np.isfinite(scan.total) else None
    value = {"min": scan.low if finite else None, "max": scan.high if finite else None, "mean": mean}
    if not finite:
        return "note", "There is no finite dissimilarity between two points.", value
    if scan.high > np.finfo(np.float64).max / scan.n:
        said = f"The largest entry is {scan.high:g}: sums of {scan.n} of them overflow. Divide by a constant."
        return "error", said, value
    if scan.low == scan.high and scan.n > 2:
        said = f"All dissimilarities between points are {scan.low:g}: nothing is nearer than anything else."
        return "warning", said, value
    said = f"Between points: {scan.low:g} to {scan.high:g}" + ("." if mean is None else f", mean {mean:g}.")
    return "ok", said, value


def _first(scan: Scan, kind: int, names: Names) -> list[int] | None:
    return names.places(*divmod(int(scan.first[kind]), scan.n)) if scan.counts[kind] else None


def judge_entries(scan: Scan, names: Names) -> dict[str, Verdict]:
    """The findings about all entries, by name."""
    return {
        "entries": _entries(scan, names),
        "similarity": _similarity(scan),
        "symmetry": _symmetry(scan, names),
        "diagonal": _diagonal(scan, names),
        "duplicates": _duplicates(scan, names),
        "scale": _scale(scan),
    }
