"""Edit distance of strings with one price for a substitution and one for an insertion or deletion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .registry import Metric, register


@njit(cache=True, nogil=True)
def _edit_distance(s, t, substitution, indel, row):  # type: ignore[no-untyped-def]
    """e[i, l] = min(e[i-1, l-1] + substitution [s_i != t_l], e[i-1, l] + indel, e[i, l-1] + indel); returns the last.

    One row of the table is kept; `row` is scratch of length len(t) + 1.
    """
    n, m = s.shape[0], t.shape[0]
    for l in range(m + 1):
        row[l] = l * indel
    for i in range(n):
        diagonal = row[0]
        row[0] = (i + 1) * indel
        for l in range(m):
            above = row[l + 1]
            best = diagonal if s[i] == t[l] else diagonal + substitution
            best = min(best, min(above, row[l]) + indel)
            row[l + 1] = best
            diagonal = above
    return row[m]


@njit(cache=True, nogil=True)
def _edit_block(letters_a, starts_a, letters_b, starts_b, substitution, indel):  # type: ignore[no-untyped-def]
    """All pairs of two packed lists of strings: string i is letters[starts[i] : starts[i + 1]]."""
    longest = 0
    for l in range(starts_b.shape[0] - 1):
        longest = max(longest, starts_b[l + 1] - starts_b[l])
    row = np.empty(longest + 1)
    out = np.empty((starts_a.shape[0] - 1, starts_b.shape[0] - 1))
    for i in range(out.shape[0]):
        s = letters_a[starts_a[i] : starts_a[i + 1]]
        for l in range(out.shape[1]):
            out[i, l] = _edit_distance(s, letters_b[starts_b[l] : starts_b[l + 1]], substitution, indel, row)
    return out


def _pack(strings: Any) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Code points of all strings end to end, and where each begins, (len + 1,)."""
    starts = np.zeros(len(strings) + 1, np.int64)
    np.cumsum([len(s) for s in strings], out=starts[1:])
    return np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), np.uint32), starts


def edit_block(a: Any, b: Any, *, substitution: float = 1.0, indel: float = 1.0) -> NDArray[np.float64]:
    """(len(a), len(b)) edit distances of strings."""
    if not (substitution >= 0 and indel >= 0):
        raise ValueError(f"Edit costs are substitution={substitution}, indel={indel}; they must be >= 0.")
    return _edit_block(*_pack(a), *_pack(b), float(substitution), float(indel))


register(
    Metric(
        "edit",
        edit_block,
        True,
        "strings",
        "edit distance; substitution=1, indel=1 are the default costs",
        threaded=True,
    )
)
