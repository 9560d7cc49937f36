"""G -> weights A (K, N): what point i counts for prototype j. Winner (K-means), rank (neural gas), lattice (SOM)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .neighborhood import Lattice, h
from .quality import kmeans_cost, neural_gas_cost, som_cost
from .ranking import rank_points
from .sources.base import FloatArray
from .weights import FieldWeights, RankWeights, Weights
from .winners import smoothed_winners


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
    keeps a prototype that is nobody's winner from losing all its weight when sigma is small. While prototypes stand
    still only sigma changes, and the ranks of the last epoch serve again.
    """

    memory: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned:
        if self.memory.get("G") is not G:  # the prototypes moved
            self.memory["G"], self.memory["ranks"] = G, rank_points(G.T, m)
        rank, sums = self.memory["ranks"]
        weight_of_rank = h(np.arange(len(rank)), sigma)
        return Assigned(RankWeights(rank, weight_of_rank, m), neural_gas_cost(sums, weight_of_rank))


@dataclass(frozen=True)
class OnLattice:
    """A[j, i] = m_i h(nd(I*(i), j) - min_i nd(I*(i), j)),  I*(i) = argmin_j sum_l h(nd(j, l)) G[i, l] (Heskes).

    Subtracting the distance to the nearest winner scales a row of A, as in Rank.
    """

    lattice: Lattice

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> Assigned:
        nd, H = self.lattice.distances, self.lattice.weights(sigma)
        winner, minimum = smoothed_winners(G.T, H)
        weights = FieldWeights(H, winner, m)
        nearest = nd[:, weights.fields].min(axis=1)
        empty = nearest > 0  # a neuron with points is its own nearest winner, and its row is scaled already
        if empty.any():
            H = H.copy()
            H[empty] = h(nd[empty] - nearest[empty, None], sigma)
        return Assigned(FieldWeights(H, winner, m), som_cost(minimum, m))
