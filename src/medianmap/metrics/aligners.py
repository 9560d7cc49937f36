"""Best alignments with affine gaps, by numba or stringzillas: their scores, and how many letters are equal in them.

Scores and costs are whole numbers; stringzillas takes those of a signed byte and at most 32 symbols.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..utils.loading import require
from ..utils.threads import run_chunks
from .letters import Packed, row_chunks

NOTHING = -(2**62)  # far below any score, and far enough from overflow
SYMBOLS = 32
# A scope of several cores starts and ends its own threads, which takes milliseconds; smaller blocks stay on one core.
CELLS_WORTH_THREADS = 10**8


@njit(cache=True, nogil=True)
def _best(s, t, W, gap_open, gap_extend, local, H, F):  # type: ignore[no-untyped-def]
    """H[i, l] = max(H[i-1, l-1] + W(s_i, t_l), E[i, l], F[i, l]), E and F ending in a gap in s or in t; the last, or
    with `local` the largest where every H is at least 0.

    E[i, l] = max(H[i, l-1] - gap_open, E[i, l-1] - gap_extend), F likewise along i: a gap of length k costs
    gap_open + (k - 1) gap_extend. One row is kept: H and F are scratch of length len(t) + 1.
    """
    n, m = s.shape[0], t.shape[0]
    H[0] = 0
    for l in range(m):
        H[l + 1] = 0 if local else -gap_open - l * gap_extend
    F[: m + 1] = NOTHING
    best = 0
    for i in range(n):
        weight = W[s[i]]
        diagonal = H[0]
        H[0] = 0 if local else -gap_open - i * gap_extend
        E = NOTHING
        for l in range(m):
            E = max(H[l] - gap_open, E - gap_extend)
            F[l + 1] = max(H[l + 1] - gap_open, F[l + 1] - gap_extend)
            here = max(diagonal + weight[t[l]], max(E, F[l + 1]))
            if local:
                here = max(here, 0)
                best = max(best, here)
            diagonal = H[l + 1]
            H[l + 1] = here
    return best if local else H[m]


@njit(cache=True, nogil=True)
def _best_block(codes_a, starts_a, codes_b, starts_b, W, gap_open, gap_extend, local, paired, out):  # type: ignore[no-untyped-def]
    """out (len(a), len(b)) of all pairs; if `paired`, out (len(a), 1) of a[i] with b[i]."""
    longest = 0
    for l in range(starts_b.shape[0] - 1):
        longest = max(longest, starts_b[l + 1] - starts_b[l])
    H, F = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    for i in range(out.shape[0]):
        s = codes_a[starts_a[i] : starts_a[i + 1]]
        for k in range(out.shape[1]):
            l = i if paired else k
            out[i, k] = _best(s, codes_b[starts_b[l] : starts_b[l + 1]], W, gap_open, gap_extend, local, H, F)


@njit(cache=True, nogil=True)
def _columns_block(codes_a, starts_a, codes_b, starts_b, gap, kept, pairs):  # type: ignore[no-untyped-def]
    """Of rows of one alignment: columns where neither has the letter `gap`, and those of them that are equal."""
    for i in range(kept.shape[0]):
        s = codes_a[starts_a[i] : starts_a[i + 1]]
        for l in range(kept.shape[1]):
            t = codes_b[starts_b[l] : starts_b[l + 1]]
            same = both = 0
            for k in range(s.shape[0]):
                if s[k] != gap and t[k] != gap:
                    both += 1
                    same += s[k] == t[k]
            kept[i, l], pairs[i, l] = same, both


def best_scores(
    a: Packed, b: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool, n_jobs: int
) -> NDArray[np.int64]:
    """(len(a), len(b)) scores of the best alignments by numba; W (n, n) scores of letters, gaps as costs."""
    out = np.empty((len(a), len(b)), np.int64)

    def fill(part: slice) -> None:
        rows = a.rows(part)
        _best_block(rows.codes, rows.starts, b.codes, b.starts, W, gap_open, gap_extend, local, False, out[part])

    run_chunks(fill, row_chunks(len(a)), n_jobs)
    return out


def own_scores(a: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool) -> NDArray[np.int64]:
    """(len(a),) best scores of every sequence with itself.

    Where W(c, c) >= 0 and W(c, d) <= (W(c, c) + W(d, d)) / 2, no alignment of a with itself beats the sum of
    W(c, c): each pair scores at most half of its two letters' own scores, no letter is used twice on a side, and
    letters in gaps add nothing. Sequences with other letters (X, which scores -1 with itself) are aligned.
    """
    own = np.diag(W)
    good = own >= 0
    if not np.all(2 * W[np.ix_(good, good)] <= own[good][:, None] + own[good]):
        good[:] = False
    total = np.concatenate([[0], np.cumsum(own[a.codes])])
    wrong = np.concatenate([[0], np.cumsum(~good[a.codes])])
    scores = (total[a.starts[1:]] - total[a.starts[:-1]]).astype(np.int64)
    for i in np.flatnonzero(wrong[a.starts[1:]] > wrong[a.starts[:-1]]):
        one = a.rows(slice(i, i + 1))
        _best_block(one.codes, one.starts, one.codes, one.starts, W, gap_open, gap_extend, local, True,
                    scores[i : i + 1, None])  # fmt: skip
    return scores


def identities(
    a: Packed, b: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool, n_jobs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(equal letters, paired letters), each (len(a), len(b)), along the best alignment; of several with the same score
    the one with most equal letters, of these one with fewest pairs: so the counts are unique and symmetric.

    All three are maximised at once as one number: score B^2 + equal B - pairs, where B exceeds any count.
    """
    B = 1 << int(max(a.lengths.max(initial=0), b.lengths.max(initial=0)) + 1).bit_length()
    most = max(int(np.abs(W).max(initial=0)), gap_open) * 2 * (B + 1)
    if most * B * B >= -NOTHING:
        raise ValueError("These sequences are too long to count identities along their alignment; choose 'normalized'.")
    joint = W * B * B + np.eye(len(W), dtype=np.int64) * B - 1
    key = best_scores(a, b, joint, gap_open * B * B, gap_extend * B * B, local, n_jobs)
    pairs = -key % B
    return (key + pairs) // B % B, pairs


def column_identities(a: Packed, b: Packed, gap: int, n_jobs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(equal letters, columns with two letters), each (len(a), len(b)), of sequences that are aligned already."""
    kept, pairs = np.empty((2, len(a), len(b)), np.int64)

    def fill(part: slice) -> None:
        rows = a.rows(part)
        _columns_block(rows.codes, rows.starts, b.codes, b.starts, gap, kept[part], pairs[part])

    run_chunks(fill, row_chunks(len(a)), n_jobs)
    return kept, pairs


@cache
def available() -> bool:
    """Whether stringzillas is installed."""
    return find_spec("stringzillas") is not None and find_spec("stringzilla") is not None


def fits(*costs: NDArray[np.int64]) -> bool:
    """Whether every score and gap is a signed byte."""
    return all(int(np.abs(cost).max(initial=0)) <= 127 for cost in costs)


def all_scores(
    a: Packed, b: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool, n_jobs: int
) -> NDArray[np.int64]:
    """(len(a), len(b)) scores of the best alignments by stringzillas; W (n, n) scores of symbols, gaps as costs.

    A gap of length k costs gap_open + (k - 1) gap_extend. Costs must fit in a byte (`fits`): larger ones would
    overflow silently.
    """
    library = require("stringzillas", "seq", "The backend 'stringzillas'")
    table = np.zeros((SYMBOLS, SYMBOLS), np.int8)
    table[: len(W), : len(W)] = W
    classes = np.arange(256, dtype=np.uint8) % SYMBOLS
    kind = library.SmithWatermanScores if local else library.NeedlemanWunschScores
    engine = kind(classes, table, -gap_open, -gap_extend)
    cells = float(a.lengths.sum()) * float(b.lengths.sum())
    # The library keeps the GIL, so threads of ours would wait for one another. Its own threads spin while idle and do
    # not survive a fork: the scope lives for this call only.
    scope = library.DeviceScope(cpu_cores=n_jobs if cells >= CELLS_WORTH_THREADS else 1)
    return np.asarray(engine(_strs(a), _strs(b), device=scope))


def _strs(packed: Packed) -> Any:
    strings = require("stringzilla", "seq", "The backend 'stringzillas'")
    return strings.Strs(packed.pieces(packed.codes.astype(np.uint8).tobytes()))
