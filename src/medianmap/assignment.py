"""G -> weights A (K, N): what point i counts for prototype j. Winner (K-means), rank (neural gas), lattice (SOM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .neighborhood import Lattice, h
from .quality import kmeans_cost, neural_gas_cost, som_cost
from .search.gemm import gemm
from .sources.base import FloatArray
from .sources.dense import DenseSource


@dataclass(frozen=True)
class Assigned:
    """Weights A (K, N) with multiplicities in them, and the cost that this assignment minimises."""

    A: FloatArray
    cost: float


class Assignment(Protocol):
    """G (N, K), sigma and multiplicities m (N,), all positive -> weights and cost."""

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned: ...


@dataclass(frozen=True)
class Winner:
    """A[j, i] = m_i if j is the nearest prototype of i (lowest j on ties), else 0. Sigma plays no part."""

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned:
        N, K = G.shape
        A = np.zeros((K, N))
        A[G.argmin(axis=1), np.arange(N)] = m
        return Assigned(A, kmeans_cost(G, m))


@dataclass(frozen=True)
class Rank:
    """A[j, i] = m_i h(rank_ij - min_i rank_ij): rank 0 is the nearest, ties go to the lower prototype index.

    Subtracting the prototype's smallest rank scales a row of A, which changes neither its argmin nor its mean, but
    keeps a prototype that is nobody's winner from losing all its weight when sigma is small.
    """

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned:
        N, K = G.shape
        order = np.argsort(G, axis=1, kind="stable")
        rank = np.empty((K, N), np.intp)
        rank[order, np.arange(N)[:, None]] = np.arange(K)
        weight_of_rank = h(np.arange(K), sigma)
        rank -= rank.min(axis=1, keepdims=True)
        cost = neural_gas_cost(np.take_along_axis(G, order, axis=1), weight_of_rank, m)
        return Assigned(weight_of_rank[rank] * m, cost)


@dataclass(frozen=True)
class OnLattice:
    """A[j, i] = m_i h(nd(I*(i), j) - min_i nd(I*(i), j)),  I*(i) = argmin_j sum_l h(nd(j, l)) G[i, l] (Heskes).

    I* is the search for prototypes in small: weights G (N, K), candidates the K columns of H. So the same frame
    answers it, with the same rule for ties.
    """

    lattice: Lattice

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned:
        H = h(self.lattice.distances, sigma)
        winner = gemm(G, DenseSource(H, symmetric=True)).best_of_all()
        t = self.lattice.distances[:, np.unique(winner)]
        scaled = h(self.lattice.distances - t.min(axis=1, keepdims=True), sigma)
        minimum = (H[winner] * G).sum(axis=1)
        return Assigned(scaled[:, winner] * m, som_cost(minimum, m))
