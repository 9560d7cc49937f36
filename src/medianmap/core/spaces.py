"""What a prototype is: a data point (median) or a mean vector (batch); combinations of the data are in relational.py.

The only places where the three differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..search import Search, make_search
from ..search.weights import Weights
from ..sources.base import FloatArray, Index, IntArray, Source, mean_of_pairs, panels, points_to
from ..sources.memory import RectangleSource, SubsetSource
from ..utils.threads import run_chunks

COLLISIONS = ("distinct", "noise", "allow")
# Relative size of the perturbation of collisions="noise": far below the differences that carry structure.
NOISE = 1e-3

# Points a chunk: small enough to share out, large enough to hide the cost of a call.
CHUNK = 4096


class Space(Protocol):
    """Prototypes P: indices (K,) or vectors (K, M)."""

    @property
    def n_points(self) -> int: ...

    @property
    def n_features(self) -> int | None:
        """Length of a prototype vector; None where prototypes are indices."""
        ...

    def at(self, indices: IntArray) -> NDArray[Any]:
        """Prototypes on the given data points."""
        ...

    def subset(self, keep: IntArray) -> Space:
        """The same space over the points `keep` (n,) alone."""
        ...

    def lifted(self, P: NDArray[Any], keep: IntArray) -> NDArray[Any]:
        """Prototypes of `subset(keep)` in terms of this space."""
        ...

    def distances(self, P: NDArray[Any]) -> FloatArray:
        """G (N, K) from every point to every prototype."""
        ...

    def mean(self, m: FloatArray) -> float:
        """Mean dissimilarity of all N^2 pairs, a pair (i, l) counting m_i m_l."""
        ...

    def perturbed(self, G: FloatArray, rng: np.random.Generator) -> FloatArray:
        """G as the assignment is to see it; the same G unless collisions are prevented by noise."""
        ...

    def update(self, weights: Weights, P: NDArray[Any]) -> tuple[NDArray[Any], int]:
        """New prototypes that minimise the cost for these weights, and the number of terms evaluated."""
        ...

    # --- what the folders above ask

    def training_data(self, points: Index) -> Any:
        """X for another fit, to some of the points: vectors, or a source of dissimilarities."""
        ...

    def query_data(self, queries: Index, points: IntArray) -> Any:
        """X for `predict` of the points `queries`, by a map fitted to `training_data(points)`."""
        ...


@dataclass(frozen=True)
class MedianSpace:
    """w_j = argmin_l sum_i A[j, i] D[i, l] over data points l; a prototype without weight stays.

    Collisions. `distinct`: a candidate held by another prototype is passed over (see Finder.place). `noise`: the
    dissimilarities that ranks and winners see are multiplied by 1 + 0.001 u, u uniform in [0, 1), afresh every epoch,
    so that prototypes on one point part. `allow`: nothing is done.
    """

    source: Source
    strategy: str
    collisions: str = "distinct"
    n_jobs: int | None = None
    memory: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def n_points(self) -> int:
        return self.source.shape[0]

    @property
    def n_features(self) -> None:
        return None

    def at(self, indices: IntArray) -> IntArray:
        return indices

    def subset(self, keep: IntArray) -> MedianSpace:
        return MedianSpace(SubsetSource(self.source, keep), self.strategy, self.collisions, self.n_jobs)

    def lifted(self, P: IntArray, keep: IntArray) -> IntArray:
        return keep[P]

    def distances(self, P: IntArray) -> FloatArray:
        # The very same array while prototypes stand still: an assignment may then keep what it made of it.
        if "P" not in self.memory or not np.array_equal(self.memory["P"], P):
            self.memory["P"], self.memory["G"] = P, points_to(self.source, P)
        return self.memory["G"]

    def mean(self, m: FloatArray) -> float:
        return mean_of_pairs(self.source, m)

    def perturbed(self, G: FloatArray, rng: np.random.Generator) -> FloatArray:
        return G if self.collisions != "noise" else np.asfortranarray(G * (1 + NOISE * rng.random(G.shape)))

    @cached_property
    def search(self) -> Search:
        """One for the whole fit, since a search may learn from epoch to epoch."""
        return make_search(self.strategy, self.source, self.n_jobs)

    def update(self, weights: Weights, P: IntArray) -> tuple[IntArray, int]:
        finder = self.search(weights, P)
        return finder.place(weights.alive, P, self.collisions == "distinct"), finder.terms

    # --- what the folders above ask

    def training_data(self, points: Index) -> Source:
        return self.source if isinstance(points, slice) else SubsetSource(self.source, points)

    def query_data(self, queries: Index, points: IntArray) -> Source:
        return RectangleSource(self.source, np.arange(self.n_points)[queries], points)


@dataclass(frozen=True)
class VectorSpace:
    """W_j = sum_i A[j, i] x_i / sum_i A[j, i]; G[i, j] = |x_i - W_j|^2; a prototype without weight stays.

    Sums run point by point in a fixed order, threads share out rows of G and prototypes: no result depends on their
    number.
    """

    X: FloatArray
    n_jobs: int | None = None

    @property
    def n_points(self) -> int:
        return len(self.X)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def at(self, indices: IntArray) -> FloatArray:
        return self.X[indices]  # an index array copies

    def subset(self, keep: IntArray) -> VectorSpace:
        return replace(self, X=self.X[keep])

    def lifted(self, P: FloatArray, keep: IntArray) -> FloatArray:
        return P

    def distances(self, P: FloatArray) -> FloatArray:
        return squared_distances(self.X, P, self.n_jobs)

    def mean(self, m: FloatArray) -> float:
        # The squared distances of all pairs, without going over them: twice the variance.
        p = (m / m.sum())[:, None]
        center = (p * self.X).sum(axis=0)
        return 2.0 * float((p * (self.X - center) ** 2).sum())

    def perturbed(self, G: FloatArray, rng: np.random.Generator) -> FloatArray:
        return G

    def update(self, weights: Weights, P: FloatArray) -> tuple[FloatArray, int]:
        A, W = weights.A, P.copy()
        run_chunks(lambda js: _means(A[js], self.X, W[js]), list(panels(len(W), 8)), self.n_jobs)
        return W, A.size

    # --- what the folders above ask

    def training_data(self, points: Index) -> FloatArray:
        return self.X[points]

    def query_data(self, queries: Index, points: IntArray) -> FloatArray:
        return self.X[queries]


def squared_distances(X: FloatArray, W: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """|x_i - W_j|^2 (N, K), each pair by itself, so that a row does not depend on the rows around it."""
    G = np.empty((len(X), len(W)))

    def fill(rows: slice) -> None:
        G[rows] = cdist(X[rows], W, "sqeuclidean")

    run_chunks(fill, list(panels(len(X), CHUNK)), n_jobs)
    return G


@njit(cache=True, nogil=True)
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
