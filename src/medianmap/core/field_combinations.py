"""Combinations of the data whose coefficients depend on a point only through its field, as K-means and SOM make them.

    alpha_j[i] = w[j, f(i)] m_i,   sum_i alpha_j[i] = 1,   f(i) the field of point i

(K, K) numbers say all of it, and D is met through the block sums S[k, i] = sum over l in field k of m_l D[i, l] alone:

    (D alpha_j)_i = sum_k w[j, k] S[k, i],      alpha_j' D alpha_j = sum_i alpha_j[i] (D alpha_j)_i.

That is O(N K^2) per epoch beside the rows of points that changed their field, where coefficients (K, N) need O(N^2 K).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..search.field_sums import FieldSums
from ..search.frame import FieldWeights
from ..sources.base import FloatArray, IntArray, Source, candidate_rows, columns, panels, rows_fit
from ..utils.kernels import kernel
from ..utils.threads import limited, run_chunks

# Coefficients below this share of the prototype's largest are dropped, and the others scaled up to sum 1 again.
TOLERANCE = 1e-12
# BLAS multiplies zeros faster than a loop leaves them out, until so few weights of fields are left.
SPARSE = 0.1
# Products of float32 numbers below TINY lose digits, and so do sums of a field of so little weight.
TINY = 1e-30
# Pairs of fields that are compared at a time.
PAIRS = 256
# Points per chunk of a product; their sums stay in the cache.
POINTS = 1024


@dataclass(frozen=True, eq=False)
class FieldCombinations:
    """w (K, K), row = prototype, column = field; field (N,) of each point; m (N,) weights."""

    w: FloatArray
    field: IntArray
    m: FloatArray

    def __len__(self) -> int:
        return len(self.w)

    def coefficients(self, js: slice = slice(None)) -> FloatArray:
        """alpha[js] (J, N)."""
        alpha = np.take(self.w[js], self.field, axis=1)
        alpha *= self.m
        return alpha

    def n_moved(self, other: FieldCombinations) -> int:
        """How many prototypes have other coefficients there: points that share both fields are compared once.

        A few fields tell most prototypes that differ, and the rest are compared for the others only.
        """
        K = len(self)
        shared = np.zeros(K * K, bool)
        shared[self.field * K + other.field] = True
        pairs, same = np.flatnonzero(shared), np.arange(K)
        for part in panels(len(pairs), PAIRS):
            ours, theirs = np.divmod(pairs[part], K)
            differ = (self.w[np.ix_(same, ours)] != other.w[np.ix_(same, theirs)]).any(axis=1)
            same = same[~differ]
        return K - len(same)


def combined(weights: FieldWeights) -> FieldCombinations | None:
    """alpha_j = A[j] / sum_i A[j, i]; None if some prototype has no weight and so has to stay as it was."""
    if len(weights.alive) < len(weights.H):
        return None
    some = np.zeros(len(weights.H), bool)
    some[weights.fields] = True
    # The largest coefficient of a prototype is sought among the points, whose weights m differ.
    heaviest = np.zeros(len(weights.H))
    np.maximum.at(heaviest, weights.winner, weights.m)
    H = np.where(some, weights.H, 0.0)
    H[H * heaviest < TOLERANCE * (H * heaviest).max(axis=1, keepdims=True)] = 0.0
    mass = np.bincount(weights.winner, weights.m, len(H))
    return FieldCombinations(H / (H * mass).sum(axis=1, keepdims=True), weights.winner, weights.m)


def field_sums(source: Source, n_jobs: int | None) -> FieldSums:
    """S[k, i] = sum over l in field k of m_l D[i, l], for one fit; only the columns that are needed are read."""
    rows = candidate_rows(source) if rows_fit(source) else None
    return FieldSums(source.shape[0], rows, lambda points: columns(source, points), n_jobs)


def field_distances(P: FieldCombinations, sums: FieldSums, single: bool) -> NDArray[Any]:
    """(K, N) d(x_i, w_j) = (D alpha_j)_i - alpha_j' D alpha_j / 2, products in float32 if `single` and if they fit."""
    sums.follow(P.field, P.m, len(P))
    if single and float(P.w.max()) < 1 / TINY:
        Q = _products(P, sums, np.dtype(np.float32))
        single = bool(Q.max() > TINY)
    else:
        single = False
    if not single:
        Q = _products(P, sums, np.dtype(np.float64))
    own = np.empty(len(P))
    run_chunks(lambda js: _self_terms(P.w[js], P.field, P.m, Q[js], own[js]), list(panels(len(P), 8)), sums.n_jobs)
    Q -= own.astype(Q.dtype)[:, None]
    Q += Q.dtype.type(0)  # no negative zeros, whose bits order differently
    return Q


def _products(P: FieldCombinations, sums: FieldSums, dtype: np.dtype[Any]) -> NDArray[Any]:
    """(K, N) sum_k w[j, k] S[k, i], threads sharing out the points in parts of fixed size."""
    fields = np.flatnonzero(P.w.any(axis=0))
    whole = len(fields) == len(sums.S)
    S = sums.S32 if dtype == np.float32 else sums.S
    w = np.ascontiguousarray(P.w[:, fields], dtype)
    Q = np.empty((len(P), sums.n), dtype)
    sparse = np.count_nonzero(w) <= SPARSE * w.size

    def multiply(part: slice) -> None:
        some = S[:, part] if whole else S[fields, part]
        if sparse:
            _sparse_product(w, some, Q[:, part])
        else:
            np.matmul(w, some, out=Q[:, part])

    with limited(1):
        run_chunks(multiply, list(panels(sums.n, POINTS)), sums.n_jobs)
    return Q


@kernel
def _sparse_product(w, S, Q):  # type: ignore[no-untyped-def]
    """Q[j] = sum_k w[j, k] S[k], k ascending, zeros left out."""
    for j in range(w.shape[0]):
        q = Q[j]
        q[:] = 0
        for k in range(w.shape[1]):
            a = w[j, k]
            if a != 0:
                s = S[k]
                for i in range(q.shape[0]):
                    q[i] += a * s[i]


@kernel
def _self_terms(w, field, m, Q, own):  # type: ignore[no-untyped-def]
    """own[j] = sum_i w[j, f(i)] m_i Q[j, i] / 2, i ascending."""
    for j in range(w.shape[0]):
        total = 0.0
        for i in range(field.shape[0]):
            total += w[j, field[i]] * m[i] * np.float64(Q[j, i])
        own[j] = 0.5 * total
