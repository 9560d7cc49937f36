"""One pass over all entries of D (N, N), tile by tile: a matrix larger than memory is read once and never held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...sources import DenseSource, Source, panels
from ...sources.checks import TILE
from ...utils.progress import OnProgress, step

# What is counted, with the first place in row order; ASYMMETRIC counts unordered pairs, the others entries.
NAN, INF, NEGATIVE, ZERO, ASYMMETRIC = range(5)


@dataclass(frozen=True)
class Scan:
    """What all entries say. Except for `diagonal` (N,) and the counts of bad entries, off the diagonal and finite only.

    counts, first (5,) : how many of each kind, and i * N + l of the first D[i, l].
    low, high, total : smallest and largest entry, and the sum.
    worst, worst_place : largest |D[i, l] - D[l, i]| and its i * N + l.
    row_maxima (N,) : largest entry of each row, -inf where there is none.
    twins (N,) : the lowest point that i is joined to by pairs with D[i, l] = D[l, i] = 0; itself where there is none.
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
    """Read D once; a source that is symmetric by construction is read by half.

    on_progress : called as on_progress("health", done, total) now and then, of entries.
    """
    report = on_progress or step
    n = source.shape[0]
    counts, first = np.zeros(5, np.int64), np.full(5, n * n, np.int64)
    figures = np.array([np.inf, -np.inf, 0.0, 0.0])  # low, high, total, worst
    worst_place = np.zeros(1, np.int64)
    diagonal, row_maxima = np.empty(n), np.full(n, -np.inf)
    parent = np.arange(n)
    # A stored matrix may have been declared symmetric by somebody who did not look.
    by_construction = source.symmetric and not isinstance(source, DenseSource)
    for rows in panels(n, TILE):
        for cols in panels(n, TILE):
            if cols.start < rows.start:
                continue
            upper = _readable(source.block(rows, cols))
            lower = upper if rows == cols else _readable(upper.T if by_construction else source.block(cols, rows))
            _scan_tile(
                upper, lower, rows.start, cols.start, counts, first, figures, worst_place, diagonal, row_maxima, parent
            )
        # What is left is the square below and right of the rows so far.
        report("health", n * n - (n - rows.stop) ** 2, n * n)
    low, high, total, worst = figures
    return Scan(
        n,
        counts,
        first,
        float(low),
        float(high),
        float(total),
        float(worst),
        int(worst_place[0]),
        diagonal,
        row_maxima,
        _roots(parent),
    )


def _readable(tile: NDArray[Any]) -> NDArray[Any]:
    """Contiguous float32 or float64: two kinds of tile to compile for, and a memory map's pages are copied once."""
    return np.ascontiguousarray(tile, np.float32 if tile.dtype == np.float32 else np.float64)


@njit(cache=True, nogil=True)
def _root(parent, i):  # type: ignore[no-untyped-def]
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(cache=True, nogil=True)
def _roots(parent):  # type: ignore[no-untyped-def]
    out = np.empty_like(parent)
    for i in range(parent.shape[0]):
        out[i] = _root(parent, i)
    return out


@njit(cache=True, nogil=True)
def _note(kind, place, counts, first):  # type: ignore[no-untyped-def]
    counts[kind] += 1
    first[kind] = min(first[kind], place)


@njit(cache=True, nogil=True)
def _note_if_bad(value, place, counts, first):  # type: ignore[no-untyped-def]
    if np.isnan(value):
        _note(NAN, place, counts, first)
    elif np.isinf(value):
        _note(INF, place, counts, first)
    elif value < 0.0:
        _note(NEGATIVE, place, counts, first)


@njit(cache=True, nogil=True)
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
            # Nearly all entries are positive and finite, and nothing is to be noted of them.
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
