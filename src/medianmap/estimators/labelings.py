"""How prototypes get the classes that a classifier predicts, and how points get theirs from the prototypes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, dia_array
from scipy.sparse.linalg import splu

from ..core.memberships import Memberships
from ..sources.base import FloatArray
from ..utils.threads import limited
from .fit import Trained

# How much the prototypes around one count for its shares on average, and the nearest labelled point: as so many labels.
NEIGHBOURS, NEAREST = 0.4, 0.02
# The least weight of the nearest labelled point, as a share of the largest weight of labels: what keeps S unique where
# weights are so large that rounding would lose the rest.
LEAST = 1e-12


@dataclass(frozen=True)
class Votes:
    """What the labelled points say about the prototypes of a trained map, and how near prototypes are to each other.

    P are `Memberships` of points as a matrix (N, K), m weights, y labels.

    votes (K, C): P' m y of the labelled points. weights (K, K): P' m P of the same points.
    near (K, C): the label of the labelled point nearest to each prototype, the first on ties.
    links (K, K): P' m P of all points, without its diagonal: points between two prototypes tie them together. Without
        prototypes that no point is nearest to, too: these lie between clusters, second to many, and would join them.
    unit: the weight of one labelled point: 1, or the mean weight where that is less.
    """

    votes: FloatArray
    weights: csr_array
    near: FloatArray
    links: csr_array
    unit: float

    @classmethod
    def of(cls, trained: Trained, between: bool = True) -> Votes:
        """All that the training data say, block by block; between : whether points may belong to two prototypes."""
        K, C = trained.state.labels.shape
        votes, near, least = np.zeros((K, C)), np.zeros((K, C)), np.full(K, np.inf)
        weights, links, labelled, hits = csr_array((K, K)), csr_array((K, K)), np.zeros(2), np.zeros(K)
        for G, m, labels in trained.blocks():
            points = Memberships.of(G)
            P = (points if between else points._replace(t=np.zeros(len(G)))).matrix(K)
            Pm = (P * m[:, None]).tocsr()
            links = links + P.T @ Pm
            np.add.at(hits, points.first, m)
            counting = np.flatnonzero(labels.known & (m > 0))
            if len(counting):
                Pm, G, y, m = Pm[counting], G[counting], labels.y[counting], m[counting]
                votes += Pm.T @ y
                weights = weights + P[counting].T @ Pm
                first, d = G.argmin(axis=0), G.min(axis=0)
                near[d < least] = y[first[d < least]]
                least = np.minimum(least, d)
                labelled += m.sum(), len(m)
        some = _diagonal((hits > 0).astype(float))
        links = csr_array(some @ (links - _diagonal(links.diagonal())) @ some)
        return cls(votes, weights, near, links, min(1.0, labelled[0] / labelled[1]))


def _diagonal(values: FloatArray) -> dia_array:
    """(K, K) sparse; SciPy's diags_array is newer than the oldest SciPy that we take."""
    return dia_array((values[None], [0]), shape=(len(values), len(values)))


def spread_labels(trained: Trained) -> FloatArray:
    """(K, C) class shares S that agree with the labelled points and with the shares of the prototypes around.

    S minimises  sum_i m_i |y_i - (P S)_i|^2 + a sum_{j < l} w_jl |S_j - S_l|^2 + b sum_j |S_j - near_j|^2

    i runs over the labelled points, and (P S)_i are the shares that are predicted for point i, see `Memberships`; w are
    the links of `Votes`, divided by their mean sum over a row; a = NEIGHBOURS, b = NEAREST. Entries below 0, which two
    labels near each other between the same prototypes can ask for, become 0.
    With labels everywhere these decide; where there are few, classes spread from prototype to prototype, farther where
    data connect them than across a gap, and shares say how far the nearest labels are. Rows sum to 1.
    """
    votes = Votes.of(trained)
    sums = votes.links.sum(axis=1)
    scale = NEIGHBOURS * votes.unit / (sums.mean() or 1.0)
    b = max(NEAREST * votes.unit, LEAST * float(votes.weights.diagonal().max()))
    A = votes.weights + _diagonal(scale * sums + b) - scale * votes.links
    with limited(1):  # the same bits at any number of threads
        S = splu(A.tocsc()).solve(votes.votes + b * votes.near)
    S = np.maximum(S, 0.0)
    return S / S.sum(axis=1, keepdims=True)


def majority_labels(trained: Trained) -> FloatArray:
    """(K, C) class shares of the labelled points in each receptive field, by weight; the largest share is the vote.

    A field without labelled weight takes the label of the nearest labelled point, the first on ties.
    """
    votes = Votes.of(trained, between=False)
    total = votes.votes.sum(axis=1, keepdims=True)
    return np.where(total > 0, votes.votes / np.where(total > 0, total, 1.0), votes.near)


@dataclass(frozen=True)
class Labeling:
    """of_prototypes : what training left -> (K, C). mixes : whether points between two prototypes have both shares."""

    of_prototypes: Callable[[Trained], FloatArray]
    mixes: bool = False

    def of_points(self, S: FloatArray, points: Memberships) -> FloatArray:
        """(n, C) class shares of points, from those of the prototypes S (K, C)."""
        return points.mean_of(S) if self.mixes else S[points.first]


LABELINGS = {
    "spread": Labeling(spread_labels, mixes=True),
    "majority": Labeling(majority_labels),
    "learned": Labeling(lambda trained: trained.state.labels),
}
