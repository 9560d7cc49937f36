"""`blocksum` (K-means, SOM): costs from the block sums S[k, l] = sum over i in field k of m_i D[i, l].

The weight of a point depends on it only through its field, so cost(j, l) = sum_k H[j, k] S[k, l]: the N terms of a
candidate shrink to one per field, O(N^2 + N K^2) in all. Fields without points are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..sources.base import ALL, FloatArray, IntArray, Source, panels, rows_per_panel
from ..utils.kernels import kernel
from .frame import FieldWeights, Screened, Search


@dataclass(frozen=True)
class Blocks:
    """Block sums with candidates grouped by their own field: S[p, k] for the candidate `order[p]`, field k.

    Candidates of field k are at p = starts[k] .. starts[k + 1] - 1. H (K, F) has one column per field with points.
    """

    S: FloatArray  # (N, F)
    order: IntArray  # (N,)
    starts: IntArray  # (F + 1,)
    H: FloatArray  # (K, F)
    own: IntArray  # (K,) the column of prototype j's own field, -1 if it has no points


def block_sums(source: Source, weights: FieldWeights) -> Blocks:
    """One sequential pass over the rows of D."""
    N, K = source.shape[0], len(weights.H)
    fields = weights.fields
    own = np.full(K, -1, np.intp)
    own[fields] = np.arange(len(fields))
    field_of = own[weights.winner]
    order = np.argsort(field_of, kind="stable")
    S = np.zeros((len(fields), N))
    for rows in panels(N, rows_per_panel(N)):
        panel = source.block(rows, ALL)
        _add_rows(panel, field_of[rows], weights.m[rows], np.argsort(field_of[rows], kind="stable"), S)
    starts = np.searchsorted(field_of[order], np.arange(len(fields) + 1))
    return Blocks(np.ascontiguousarray(S.T[order]), order, starts, np.ascontiguousarray(weights.H[:, fields]), own)


@kernel
def _add_rows(panel, field_of, m, by_field, S):  # type: ignore[no-untyped-def]
    """S[field_of[r]] += m[r] panel[r]; rows of one field one after the other, so that its sums stay in cache."""
    for r in by_field:
        k, weight = field_of[r], m[r]
        for l in range(panel.shape[1]):
            S[k, l] += weight * np.float64(panel[r, l])


@kernel
def weighted_sum(h, s):  # type: ignore[no-untyped-def]
    """sum_k h[k] s[k] in eight partial sums, which the processor adds side by side."""
    n = h.shape[0]
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    full = n - n % 8
    for k in range(0, full, 8):
        a0 += h[k] * s[k]
        a1 += h[k + 1] * s[k + 1]
        a2 += h[k + 2] * s[k + 2]
        a3 += h[k + 3] * s[k + 3]
        a4 += h[k + 4] * s[k + 4]
        a5 += h[k + 5] * s[k + 5]
        a6 += h[k + 6] * s[k + 6]
        a7 += h[k + 7] * s[k + 7]
    for k in range(full, n):
        a0 += h[k] * s[k]
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))


@kernel
def field_minima(S, starts):  # type: ignore[no-untyped-def]
    """(F, F): entry [m, k] is the least S[., k] among the candidates of field m."""
    F = starts.shape[0] - 1
    out = np.full((F, F), np.inf)
    for m in range(F):
        for p in range(starts[m], starts[m + 1]):
            for k in range(F):
                if S[p, k] < out[m, k]:
                    out[m, k] = S[p, k]
    return out


@kernel
def _all_sums(H, S, order, C):  # type: ignore[no-untyped-def]
    for p in range(S.shape[0]):
        for j in range(H.shape[0]):
            C[j, order[p]] = weighted_sum(H[j], S[p])


def blocksum(source: Source, n_jobs: int | None = None) -> Search:
    """Exhaustive, with terms grouped by field.

    Exact: the grouped sum has the same non-negative terms as the canonical one in another order, which is what the
    frame's slack covers. Terms: N^2 for the block sums, then one per field for each of K N costs.
    """

    def epoch(weights: FieldWeights, w: IntArray) -> Screened:
        blocks = block_sums(source, weights)
        N, F = blocks.S.shape
        C = np.empty((len(blocks.H), N))
        _all_sums(blocks.H, blocks.S, blocks.order, C)
        return Screened(weights.row, source, C, terms=N * N + len(blocks.H) * N * F)

    return epoch
