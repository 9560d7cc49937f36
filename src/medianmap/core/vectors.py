"""Mean vectors as prototypes: the space of the batch maps, and squared distances to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.spatial.distance import cdist

from ..search.frame import FieldWeights, Weights
from ..sources.base import FloatArray, Index, IntArray, panels
from ..utils.kernels import kernel
from ..utils.threads import run_chunks
from .spaces import Space

# Dissimilarities per chunk: few enough to share out, many enough to hide the cost of a call.
CHUNK = 2**16


@dataclass(frozen=True)
class VectorSpace(Space):
    """W_j = sum_i A[j, i] x_i / sum_i A[j, i]; G[i, j] = |x_i - W_j|^2; a prototype without weight stays.

    Sums run point by point in a fixed order, threads share out rows of G and prototypes: no result depends on their
    number.
    """

    X: FloatArray
    n_jobs: int | None = None
    given: FloatArray | None = None  # the user's vectors, where X is those divided by 2^(exponent / 2)
    exponent: int = 0

    @property
    def n_points(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def at(self, indices: IntArray) -> FloatArray:
        return self.X[indices]  # an index array copies

    def subset(self, keep: IntArray) -> Self:
        return replace(self, X=self.X[keep], given=None if self.given is None else self.given[keep])

    def brought_in(self, P: FloatArray) -> FloatArray:
        return np.ldexp(P, -self.exponent // 2) if self.exponent else P

    def taken_out(self, P: FloatArray) -> FloatArray:
        return np.ldexp(P, self.exponent // 2) if self.exponent else P

    def unscaled(self) -> Self:
        return self if self.given is None else replace(self, X=self.given, given=None, exponent=0)

    def distances(self, P: FloatArray) -> FloatArray:
        return squared_distances(self.X, P, self.n_jobs)

    def mean(self, m: FloatArray) -> float:
        # The squared distances of all pairs, without going over them: twice the variance.
        p = (m / m.sum())[:, None]
        center = (p * self.X).sum(axis=0)
        return 2.0 * float((p * (self.X - center) ** 2).sum())

    def update(self, weights: Weights, P: FloatArray) -> tuple[FloatArray, int]:
        W = P.copy()
        if isinstance(weights, FieldWeights) and (weights.H == np.eye(len(P))).all():  # K-means: one pass, and no A
            sums, fields = np.zeros(P.shape), weights.fields
            _add_points(weights.winner, weights.m, self.X, sums)
            W[fields] = sums[fields] / np.bincount(weights.winner, weights.m)[fields, None]
            return W, len(self.X)
        A = weights.A
        run_chunks(lambda js: _means(A[js], self.X, W[js]), list(panels(len(W), 8)), self.n_jobs)
        return W, A.size

    def training_data(self, points: Index) -> FloatArray:
        return self.X[points]

    def query_data(self, queries: Index, points: IntArray) -> FloatArray:
        return self.X[queries]


def squared_distances(X: FloatArray, W: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """|x_i - W_j|^2 (N, K), each pair by itself, so that a row does not depend on the rows around it."""
    G = np.empty((len(X), len(W)))
    parts = list(panels(len(X), max(1, CHUNK // max(1, len(W)))))
    run_chunks(lambda rows: cdist(X[rows], W, "sqeuclidean", out=G[rows]), parts, n_jobs)
    return G


@kernel
def _add_points(field, m, X, sums):  # type: ignore[no-untyped-def]
    """sums[field[i]] += m[i] X[i], i ascending."""
    for i in range(X.shape[0]):
        total, factor = sums[field[i]], m[i]
        for k in range(X.shape[1]):
            total[k] += factor * X[i, k]


@kernel
def _means(A, X, W):  # type: ignore[no-untyped-def]
    """W[j] = sum_i A[j, i] X[i] / sum_i A[j, i] in place; rows of A that are all zero leave W[j] alone."""
    for j in range(A.shape[0]):
        total = 0.0
        mean = np.zeros(X.shape[1])
        for i in range(X.shape[0]):
            a = A[j, i]
            if a == 0.0:
                continue  # most weights are zero once sigma is small
            total += a
            for k in range(X.shape[1]):
                mean[k] += a * X[i, k]
        if total > 0.0:
            W[j] = mean / total
