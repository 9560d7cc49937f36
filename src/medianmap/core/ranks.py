"""Ranks of prototypes for every point, exactly, by sorting 32-bit keys.

A key is the leading bits of the dissimilarity (non-negative floats order like their bits) above the prototype's index.
Sorting keys sorts by (leading bits, index). Where bits were cut off, runs of equal leading bits are put right by the
full values afterwards; where none were, as for edit distances on a coarse grid, the order is already exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, panels
from ..utils.kernels import kernel
from ..utils.threads import run_chunks

# Points per chunk: keys of 500 prototypes then fit in the second-level cache.
CHUNK = 256


def rank_points(GT: NDArray[Any], m: FloatArray, n_jobs: int | None = None) -> tuple[NDArray[np.int32], FloatArray]:
    """(rank (K, N), sums (K,)) for GT (K, N): dissimilarities from points (columns) to prototypes (rows).

    rank[j, i] counts the prototypes before j when those of point i are ordered by (dissimilarity, index);
    sums[k] = sum_i m_i times the dissimilarity of i to its prototype of rank k.
    """
    K, N = GT.shape
    rank = np.empty((K, N), np.int32)
    chunks = list(panels(N, CHUNK))
    sums = np.zeros((len(chunks), K))
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
        _unpack(keys, np.uint32((1 << index_bits) - 1), columns, m[part], rank[:, part], sums[part.start // CHUNK])

    run_chunks(work, chunks, n_jobs)
    return rank, sums.sum(axis=0)


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
def _unpack(keys, mask, values, m, rank, sums):  # type: ignore[no-untyped-def]
    """rank[j, i] = place of j's key in row i; sums[p] += m[i] values[j, i]."""
    for i in range(keys.shape[0]):
        for p in range(keys.shape[1]):
            j = keys[i, p] & mask
            rank[j, i] = p
            sums[p] += m[i] * np.float64(values[j, i])
