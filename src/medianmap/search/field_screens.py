"""The screen of K-means and SOM: block sums that follow the points from field to field, times H in float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..sources.base import ALL, FloatArray, IntArray, Source, panels, rows_per_panel
from ..utils.threads import run_chunks
from .screens import Bounded, Choice, as_float32, product_work, weight_product
from .weights import FieldWeights

# Columns a thread works on at a time: a row of sums then stays in the first-level cache.
COLUMNS = 1024


class FieldScreen:
    """S[k, l] = sum over i in field k of m_i D[i, l], kept up to date; L = H @ S.

    Only the points that changed field are added and subtracted, unless a field is summed faster anew. S is then not
    what a fresh sum would give, but within `error`: each addition or subtraction is off by at most 2^-53 of the largest
    sum that its field can have had, its mass times the largest dissimilarity.
    """

    def __init__(self, source: Source, n_jobs: int | None, D: NDArray[Any] | None = None) -> None:
        self.source = source
        self.D = D  # (N, N), a data point a row, where that is in memory
        self.largest = 0.0 if D is None else float(D.max())  # of all dissimilarities that were added so far
        self.n_jobs = n_jobs
        self.choice = Choice({"sparse": 0.7})
        self.winner: IntArray = np.zeros(0, np.intp)  # the fields that S belongs to; none yet
        self.m = self.error = np.zeros(0)
        self.S, self.S32 = np.zeros((0, 0)), np.zeros((0, 0), np.float32)

    def options(self, weights: FieldWeights) -> dict[str, float]:
        """Bring the block sums up to date; the work of each kind of bounds from them."""
        self.rows_summed = self.follow(weights)
        self.H = as_float32(weights.H[:, weights.fields])
        return product_work(self.H, self.source.shape[0])

    def bounds(self, name: str, weights: FieldWeights) -> tuple[Bounded, int]:
        """Lower bounds of all costs, and the number of terms that were summed for them."""
        fields, N = weights.fields, self.source.shape[0]
        S = self.S32 if len(fields) == len(self.S32) else self.S32[fields]
        bounds = weight_product(name, self.H, S, self.n_jobs)
        # Twice the error: once for S, once for what rounding makes of it.
        absolute = bounds.absolute + 2 * (weights.H[:, fields] @ self.error[fields])
        return Bounded(bounds.L, bounds.relative, absolute), self.rows_summed * N + self.H.size * N

    def follow(self, weights: FieldWeights) -> int:
        """Bring S up to date; returns how many rows of D were added or subtracted."""
        K, N = len(weights.H), self.source.shape[0]
        if len(self.S) != K or self.m is not weights.m:
            self.S, self.S32 = np.zeros((K, N)), np.zeros((K, N), np.float32)
            self.error = np.zeros(K)
            self.m = weights.m
            self.winner = np.full(N, -1)
        before, after, m = self.winner, weights.winner, weights.m
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
        order = np.argsort(field, kind="stable")
        dirty = np.flatnonzero(gained + lost)
        self.S[anew] = 0.0
        self.add_rows(field[order], point[order], factor[order])
        run_chunks(lambda part: _to_float32(self.S, dirty[part], self.S32), list(panels(len(dirty), 16)), self.n_jobs)
        self.error[anew] = 0.0
        mass = np.bincount(after, m, K) + np.bincount(before[before >= 0], m[before >= 0], K)
        self.error += np.bincount(field, minlength=K) * 2.0**-53 * mass * self.largest
        self.error[size == 0] = 0.0
        self.winner = after
        return len(field)

    def add_rows(self, field: IntArray, point: IntArray, factor: FloatArray) -> None:
        """S[field[t]] += factor[t] D[point[t]]; only these rows of D are read, in panels if they must be fetched."""
        if self.D is not None:
            self._add(self.D, point, field, factor)
            return
        for part in panels(len(point), rows_per_panel(self.source.shape[0])):
            rows = self.source.block(point[part], ALL)
            self.largest = max(self.largest, float(rows.max()))
            self._add(rows, np.arange(len(rows)), field[part], factor[part])

    def _add(self, rows: NDArray[Any], index: IntArray, field: IntArray, factor: FloatArray) -> None:
        run_chunks(
            lambda cols: _add_rows(rows, index, field, factor, cols.start, cols.stop, self.S),
            list(panels(rows.shape[1], COLUMNS)),
            self.n_jobs,
        )


@njit(cache=True, nogil=True)
def _add_rows(rows, index, field, factor, first, last, S):  # type: ignore[no-untyped-def]
    """S[field[t]] += factor[t] rows[index[t]] for columns first .. last - 1."""
    for t in range(field.shape[0]):
        sums, row, f = S[field[t], first:last], rows[index[t], first:last], factor[t]
        for l in range(last - first):
            sums[l] += f * np.float64(row[l])


@njit(cache=True, nogil=True)
def _to_float32(S, fields, S32):  # type: ignore[no-untyped-def]
    for k in fields:
        for l in range(S.shape[1]):
            # A sum that should be zero may have become slightly negative.
            S32[k, l] = np.float32(max(S[k, l], 0.0))
