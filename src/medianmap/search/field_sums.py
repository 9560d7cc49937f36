"""Block sums S[k, l] = sum over i in field k of m_i R[i, l], kept from epoch to epoch.

Only the rows of points that changed their field are read, added to the new field and subtracted from the old one,
unless summing a field again is faster. R is D for the searches and D transposed for combinations of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, panels, rows_per_panel
from ..utils.kernels import kernel
from ..utils.threads import run_chunks

# Columns that a thread works on at a time: a row of sums then stays in the first-level cache.
COLUMNS = 1024


class FieldSums:
    """S (K, N) for the fields of the last `follow`.

    It is not what a fresh sum would give, but within `error` (K,): each addition or subtraction is off by at most 2^-53
    of the largest sum that its field can have had, its mass times the largest dissimilarity.
    """

    def __init__(
        self, n: int, rows: NDArray[Any] | None, read: Callable[[IntArray], NDArray[Any]], n_jobs: int | None
    ) -> None:
        """rows : R (N, N) where it is in memory; read : points -> their rows of R, where it is not."""
        self.n, self.rows, self.read, self.n_jobs = n, rows, read, n_jobs
        self.largest = 0.0 if rows is None else float(rows.max())  # of all dissimilarities that were added so far
        self.winner: IntArray = np.zeros(0, np.intp)  # the fields that S belongs to; none yet
        self.m = self.error = np.zeros(0)
        self.S, self.S32 = np.zeros((0, 0)), np.zeros((0, 0), np.float32)

    def single(self, fields: IntArray) -> NDArray[np.float32]:
        """S[fields] in float32, without what rounding put below zero."""
        return self.S32 if len(fields) == len(self.S32) else self.S32[fields]

    def follow(self, winner: IntArray, m: FloatArray, K: int) -> int:
        """Bring S up to date with the fields winner (N,) of K; returns how many rows were added or subtracted."""
        N = self.n
        if len(self.S) != K or self.m is not m:
            self._start(K)
            self.error = np.zeros(K)
            self.m = m
            self.winner = np.full(N, -1)
        before, after = self.winner, winner
        moved = np.flatnonzero(before != after)
        if not len(moved):
            return 0
        gained = np.bincount(after[moved], minlength=K)
        lost = np.bincount(before[moved][before[moved] >= 0], minlength=K)
        size = np.bincount(after, minlength=K)
        anew = (gained + lost > size) & (gained + lost > 0)
        # Additions of points that came, subtractions of points that left, and whole fields where these are more.
        came = moved[~anew[after[moved]]]
        left = moved[(before[moved] >= 0) & ~anew[before[moved]]]
        whole = np.flatnonzero(anew[after])
        field = np.concatenate([after[came], before[left], after[whole]])
        point = np.concatenate([came, left, whole])
        factor = np.concatenate([m[came], -m[left], m[whole]])
        # Numbers of 16 bits are sorted ten times as fast.
        order = np.argsort(field.astype(np.uint16) if K <= 2**16 else field, kind="stable")
        self._clear(np.flatnonzero(anew))
        self._add_rows(field[order], point[order], factor[order])
        self._changed(np.flatnonzero(gained + lost))
        self.error[anew] = 0.0
        mass = np.bincount(after, m, K) + np.bincount(before[before >= 0], m[before >= 0], K)
        self.error += np.bincount(field, minlength=K) * 2.0**-53 * mass * self.largest
        self.error[size == 0] = 0.0
        self.winner = after
        return len(field)

    def _start(self, K: int) -> None:
        self.S, self.S32 = np.zeros((K, self.n)), np.zeros((K, self.n), np.float32)

    def _clear(self, fields: IntArray) -> None:
        self.S[fields] = 0.0

    def _changed(self, fields: IntArray) -> None:
        """The sums of these fields are others now."""
        run_chunks(lambda part: _to_float32(self.S, fields[part], self.S32), list(panels(len(fields), 16)), self.n_jobs)

    def _add_rows(self, field: IntArray, point: IntArray, factor: FloatArray) -> None:
        """S[field[t]] += factor[t] R[point[t]]; only these rows are read, in panels if they must be fetched."""
        if self.rows is not None:
            self._add(self.rows, point, field, factor)
            return
        for part in panels(len(point), rows_per_panel(self.n)):
            rows = self.read(point[part])
            self.largest = max(self.largest, float(rows.max()))
            self._add(rows, np.arange(len(rows)), field[part], factor[part])

    def _add(self, rows: NDArray[Any], index: IntArray, field: IntArray, factor: FloatArray) -> None:
        given, parts = (rows, index, field, factor), list(panels(rows.shape[1], COLUMNS))
        run_chunks(lambda cols: _add_rows(*given, cols.start, cols.stop, self.S), parts, self.n_jobs)


@kernel
def _add_rows(rows, index, field, factor, first, last, S):  # type: ignore[no-untyped-def]
    """S[field[t]] += factor[t] rows[index[t]] for columns first .. last - 1."""
    for t in range(field.shape[0]):
        sums, row, f = S[field[t], first:last], rows[index[t], first:last], factor[t]
        for l in range(last - first):
            sums[l] += f * np.float64(row[l])


@kernel
def _to_float32(S, fields, S32):  # type: ignore[no-untyped-def]
    for k in fields:
        for l in range(S.shape[1]):
            # A sum that should be zero may have become slightly negative.
            S32[k, l] = np.float32(max(S[k, l], 0.0))
