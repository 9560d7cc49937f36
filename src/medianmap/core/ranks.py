"""Ranks of prototypes for every point, exactly: by sorting 32-bit keys, or from the last ranks where few moved.

A key is the leading bits of the dissimilarity (non-negative floats order like their bits) above the prototype's index.
Sorting keys sorts by (leading bits, index). Where bits were cut off, runs of equal leading bits are put right by the
full values afterwards; where none were, as for edit distances on a coarse grid, the order is already exact.

Late in an annealing most prototypes stand still. A prototype that moved shifts every other's rank by one place where
it passes it, and that is all that is computed then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, panels
from ..utils.kernels import kernel
from ..utils.threads import run_chunks

# Points per chunk: keys of 500 prototypes then fit in the second-level cache.
CHUNK = 256
# The same where rows are compared: a few rows of a chunk then fit in the first-level cache.
WIDE = 1024
# When more prototypes moved, sorting is faster.
FEW = 12


@dataclass(frozen=True)
class Ranks:
    """rank[j, i] counts the prototypes before j when those of point i are ordered by (dissimilarity, index).

    GT (K, N) : dissimilarities from points (columns) to prototypes (rows). rank (K, N) : int16 where that is enough.
    sums (K,) : sums[k] = sum_i m_i times the dissimilarity of i to its prototype of rank k.
    """

    GT: NDArray[Any]
    rank: NDArray[np.signedinteger]
    sums: FloatArray


def ranks_after(last: Ranks | None, GT: NDArray[Any], m: FloatArray, n_jobs: int | None = None) -> Ranks:
    """`rank_points`, with the same result but sooner where few rows of GT differ from the last ones."""
    if last is not None and last.GT.shape == GT.shape:
        moved = changed_rows(last.GT, GT, n_jobs)
        if len(moved) <= FEW:
            return _moved(last, GT, moved, m, n_jobs)
    return rank_points(GT, m, n_jobs)


def rank_points(GT: NDArray[Any], m: FloatArray, n_jobs: int | None = None) -> Ranks:
    """The ranks of every prototype for every point, by sorting."""
    K, N = GT.shape
    rank = np.empty((K, N), np.int16 if K <= 2**15 else np.int32)
    index_bits = max(1, (K - 1).bit_length())

    def work(part: slice) -> None:
        columns = np.ascontiguousarray(GT[:, part])
        keys = np.empty((columns.shape[1], K), np.uint32)
        with np.errstate(over="ignore", under="ignore"):  # rounding keeps the order of two values, or makes them equal
            values = _above_zero(columns).astype(np.float32, copy=False)
        exact = _pack(values.view(np.uint32), np.uint32(index_bits), keys)
        exact = exact and values is columns
        keys.sort(axis=1)
        if not exact:
            _sort_runs(keys, np.uint32(index_bits), columns)
        _unpack(keys, np.uint32((1 << index_bits) - 1), rank[:, part])

    run_chunks(work, list(panels(N, CHUNK)), n_jobs)
    return Ranks(GT, rank, _sums(rank, GT, m, n_jobs))


def changed_rows(before: NDArray[Any], after: NDArray[Any], n_jobs: int | None = None) -> IntArray:
    """Rows in which two arrays (K, N) differ, ascending."""
    same = np.ones(len(after), bool)
    run_chunks(lambda js: _compare(before[js], after[js], same[js]), list(panels(len(after), 32)), n_jobs)
    return np.flatnonzero(~same)


def _moved(last: Ranks, GT: NDArray[Any], moved: IntArray, m: FloatArray, n_jobs: int | None) -> Ranks:
    """The ranks for GT, which differs from the last one in the rows `moved` only."""
    rank = np.empty_like(last.rank)
    given = last.rank, last.GT, GT, moved
    run_chunks(lambda part: _shift(*given, part.start, part.stop, rank), list(panels(GT.shape[1], WIDE)), n_jobs)
    return Ranks(GT, rank, _sums(rank, GT, m, n_jobs))


def _sums(rank: NDArray[Any], GT: NDArray[Any], m: FloatArray, n_jobs: int | None) -> FloatArray:
    """(K,) sums of m_i GT[j, i] by rank; summed chunk by chunk, so that threads change nothing."""
    parts = list(panels(GT.shape[1], WIDE))
    sums = np.zeros((len(parts), len(GT)))
    run_chunks(lambda part: _add_up(rank[:, part], GT[:, part], m[part], sums[part.start // WIDE]), parts, n_jobs)
    return sums.sum(axis=0)


def _above_zero(columns: NDArray[Any]) -> NDArray[Any]:
    """The columns themselves if nothing in them is negative (dissimilarities to combinations may be); else each minus
    its least value. Rounding may then make values equal, but never changes their order."""
    low = columns.min(axis=0)
    return columns - low if (low < 0).any() else columns


@kernel
def _pack(bits, index_bits, keys):  # type: ignore[no-untyped-def]
    """keys[i, j] = leading bits of bits[j, i], then j; returns whether no bit was lost."""
    K, N = bits.shape
    mask = (np.uint32(1) << index_bits) - np.uint32(1)
    # The sign bit is always 0: shift it out, and what the index needs beyond it is cut off at the low end.
    cut = index_bits - np.uint32(1)
    lost = np.uint32(0)
    low = (np.uint32(1) << cut) - np.uint32(1)
    for first in range(0, N, 16):
        last = min(first + 16, N)
        for j in range(K):
            for i in range(first, last):
                b = bits[j, i]
                lost |= b & low
                keys[i, j] = ((b >> cut) << index_bits) | (np.uint32(j) & mask)
    return lost == 0


@kernel
def _sort_runs(keys, index_bits, values):  # type: ignore[no-untyped-def]
    """Insertion sort by (value, index) inside runs of equal leading bits; values (K, N) are the full ones."""
    mask = (np.uint32(1) << index_bits) - np.uint32(1)
    for i in range(keys.shape[0]):
        for p in range(1, keys.shape[1]):
            key = keys[i, p]
            j = key & mask
            value = values[j, i]
            q = p
            while q > 0 and (keys[i, q - 1] >> index_bits) == (key >> index_bits):
                other = keys[i, q - 1] & mask
                if values[other, i] < value or (values[other, i] == value and other < j):
                    break
                keys[i, q] = keys[i, q - 1]
                q -= 1
            keys[i, q] = key


@kernel
def _unpack(keys, mask, rank):  # type: ignore[no-untyped-def]
    """rank[j, i] = place of j's key in row i."""
    for i in range(keys.shape[0]):
        for p in range(keys.shape[1]):
            rank[keys[i, p] & mask, i] = p


@kernel
def _add_up(rank, GT, m, sums):  # type: ignore[no-untyped-def]
    for j in range(rank.shape[0]):
        for i in range(rank.shape[1]):
            sums[rank[j, i]] += m[i] * np.float64(GT[j, i])


@kernel
def _compare(before, after, same):  # type: ignore[no-untyped-def]
    """same[j] becomes whether rows j are equal; a row is left soon after its first difference."""
    for j in range(after.shape[0]):
        for start in range(0, after.shape[1], 64):
            p, q = before[j, start : start + 64], after[j, start : start + 64]
            equal = True
            for i in range(p.shape[0]):
                equal &= p[i] == q[i]
            if not equal:
                same[j] = False
                break


@kernel
def _shift(rank, before, after, moved, first, last, new):  # type: ignore[no-untyped-def]
    """new[:, first:last]: of k that stayed, the old rank with each t of `moved` counted where it is now before k, not
    where it was; of t, the number of all that are before it. Of equal dissimilarities the lower index comes first."""
    at_rest = np.ones(after.shape[0], np.bool_)
    for t in moved:
        at_rest[t] = False
        new[t, first:last] = 0
    for k in range(after.shape[0]):
        if not at_rest[k]:
            for t in moved:
                if t != k:
                    _count(after[k, first:last], after[t, first:last], k < t, new[t, first:last])
            continue
        g, r = after[k, first:last], new[k, first:last]
        r[:] = rank[k, first:last]
        for t in moved:
            was, now, own = before[t, first:last], after[t, first:last], new[t, first:last]
            if t < k:
                for i in range(g.shape[0]):
                    r[i] += int(now[i] <= g[i]) - int(was[i] <= g[i])
                    own[i] += g[i] < now[i]
            else:
                for i in range(g.shape[0]):
                    r[i] += int(now[i] < g[i]) - int(was[i] < g[i])
                    own[i] += g[i] <= now[i]


@kernel
def _count(g, now, first, own):  # type: ignore[no-untyped-def]
    """own[i] += 1 where g[i] comes before now[i], on ties if `first`."""
    for i in range(g.shape[0]):
        own[i] += g[i] < now[i] or (first and g[i] == now[i])
