"""G -> weights A (K, N): what point i counts for prototype j. Winner (K-means), rank (neural gas), lattice (SOM)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .neighborhood import Lattice, h
from .quality import kmeans_cost, neural_gas_cost, som_cost
from .ranking import rank_points
from .search.gemm import product_costs
from .sources.base import FloatArray
from .sources.dense import DenseSource
from .weights import FieldWeights, RankWeights, Weights


@dataclass(frozen=True)
class Assigned:
    """Weights with multiplicities in them, and the cost that this assignment minimises."""

    weights: Weights
    cost: float


class Assignment(Protocol):
    """G (N, K), sigma and multiplicities m (N,), all positive -> weights and cost."""

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned: ...


@dataclass(frozen=True)
class Winner:
    """A[j, i] = m_i if j is the nearest prototype of i (lowest j on ties), else 0. Sigma plays no part."""

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned:
        return Assigned(FieldWeights(np.eye(G.shape[1]), G.argmin(axis=1), m), kmeans_cost(G, m))


@dataclass(frozen=True)
class Rank:
    """A[j, i] = m_i h(rank_ij - min_i rank_ij): rank 0 is the nearest, ties go to the lower prototype index.

    Subtracting the prototype's smallest rank scales a row of A, which changes neither its argmin nor its mean, but
    keeps a prototype that is nobody's winner from losing all its weight when sigma is small.
    """

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned:
        rank, sums = rank_points(G.T, m)
        weight_of_rank = h(np.arange(len(rank)), sigma)
        return Assigned(RankWeights(rank, weight_of_rank, m), neural_gas_cost(sums, weight_of_rank))


@dataclass(frozen=True)
class OnLattice:
    """A[j, i] = m_i h(nd(I*(i), j) - min_i nd(I*(i), j)),  I*(i) = argmin_j sum_l h(nd(j, l)) G[i, l] (Heskes).

    I* is the search for prototypes in small: weights G (N, K), candidates the K columns of H. So the same frame
    answers it, with the same rule for ties.
    """

    lattice: Lattice

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned:
        nd = self.lattice.distances
        H = h(nd, sigma)
        winner = product_costs(G, DenseSource(H, symmetric=True)).best_of_all()
        nearest = nd[:, np.unique(winner)].min(axis=1, keepdims=True)
        cost = som_cost((H[winner] * G).sum(axis=1), m)
        return Assigned(FieldWeights(h(nd - nearest, sigma), winner, m), cost)
