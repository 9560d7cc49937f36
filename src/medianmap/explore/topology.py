"""Which prototypes belong together: the topology graph, their layout in the plane, and superclusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_choice, check_count, check_weights
from ..utils.progress import step
from ..utils.tables import table
from ..utils.threads import limited
from .prototypes import symmetrized

# Stress that falls by less than this share has settled, as far as an eye can tell.
SETTLED = 1e-5
METHODS = ("average", "complete", "single", "weighted")
# More groups than these need colours that cannot be told apart.
MOST_GROUPS = 8


def topology_graph(points: NDArray[Any], sample_weight: Any = None) -> NDArray[Any]:
    """Records (a, b, count), a < b: how many points, by weight, have a and b as their two nearest prototypes.

    Competitive Hebbian learning: every point joins its two nearest. points : the table of `two_best`.
    """
    m = check_weights(sample_weight, len(points))
    low = np.minimum(points["prototype"], points["second"])
    high = np.maximum(points["prototype"], points["second"])
    joined = (low != high) & (m > 0)
    pairs, which = np.unique(np.stack([low, high], axis=1)[joined], axis=0, return_inverse=True)
    count = np.bincount(which.ravel(), weights=m[joined], minlength=len(pairs))
    return table(a=pairs[:, 0], b=pairs[:, 1], count=count)


@dataclass(frozen=True)
class PlaneLayout:
    """positions (K, 2) in the plane, centred; stress: Kruskal's, 0 if all dissimilarities are drawn exactly."""

    positions: FloatArray
    stress: float


def layout(P: FloatArray, max_iter: int = 300) -> PlaneLayout:
    """Positions z that lower sum_{a<b} (s_ab - |z_a - z_b|)^2, s = (P + P^T) / 2 (metric scaling by SMACOF).

    P : (K, K) dissimilarities of the prototypes. For squared distances pass their roots; otherwise large ones dominate.

    Nothing is random: it starts from classical scaling, with the sign of each axis fixed by its largest coordinate.
    stress = sqrt(sum (s - |z_a - z_b|)^2 / sum s^2).
    """
    check_count(max_iter, "max_iter")
    K, S = len(P), symmetrized(P)
    largest = float(S.max())
    if largest == 0:
        return PlaneLayout(np.zeros((K, 2)), 0.0)
    S /= largest
    with limited(1):  # the same positions at any number of threads
        z = _classical(S)
        stress = np.inf
        for k in range(max_iter):
            step("layout", k, max_iter)
            d = _distances(z)
            before, stress = stress, float(((S - d) ** 2).sum())
            if before - stress <= SETTLED * before < np.inf:
                break
            B = -np.divide(S, d, out=np.zeros_like(S), where=d > 0)
            np.fill_diagonal(B, -B.sum(axis=1))
            z = B @ z / K
        error = ((S - _distances(z)) ** 2).sum() / (S**2).sum()
    return PlaneLayout(z * largest, float(np.sqrt(error)))


def _classical(S: FloatArray) -> FloatArray:
    """(K, 2) classical scaling of S (K, K): the two leading eigenvectors of the centred matrix of squares."""
    from scipy.linalg import eigh

    K = len(S)
    Q = -0.5 * S**2
    Q += Q.mean() - Q.mean(axis=0) - Q.mean(axis=1)[:, None]
    values, vectors = eigh(Q, subset_by_index=[max(K - 2, 0), K - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    z = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.hstack([z, np.zeros((K, 2 - z.shape[1]))])


def _distances(z: FloatArray) -> FloatArray:
    from scipy.spatial.distance import cdist

    return cdist(z, z)


@dataclass(frozen=True)
class Superclusters:
    """groups (K,): the group of each prototype, numbered from that of the first prototype; linkage (K - 1, 4): SciPy's.

    silhouettes : number of groups -> mean silhouette of the prototypes, if the number was chosen by it.
    """

    groups: IntArray
    linkage: FloatArray
    silhouettes: dict[int, float]

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1


def superclusters(P: FloatArray, n_groups: int | None = None, method: str = "average") -> Superclusters:
    """SciPy's linkage of the prototypes by (P + P^T) / 2, cut into n_groups groups.

    P : (K, K) dissimilarities of the prototypes, not necessarily symmetric.
    n_groups : None takes the number from 2 to 8 with the largest mean silhouette, the smallest on ties.
    method : "average", "complete", "single" or "weighted": the methods that need no vectors.
    """
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    check_choice(method, "method", METHODS)
    K = len(P)
    if n_groups is not None and check_count(n_groups, "n_groups") > K:
        raise ValueError(f"n_groups = {n_groups} exceeds the {K} prototypes; ask for fewer groups.")
    if K == 1:
        return Superclusters(np.zeros(1, np.intp), np.empty((0, 4)), {})
    S = symmetrized(P)
    tree = linkage(squareform(S, checks=False), method)
    silhouettes: dict[int, float] = {}
    if n_groups is None:
        silhouettes = _silhouettes(S, tree)
        n_groups = max(silhouettes, key=lambda n: silhouettes[n], default=1)
    return Superclusters(cut_tree(tree, n_groups)[:, 0].astype(np.intp), tree, silhouettes)


def _silhouettes(S: FloatArray, tree: FloatArray) -> dict[int, float]:
    from scipy.cluster.hierarchy import cut_tree
    from sklearn.metrics import silhouette_score

    numbers = range(2, min(MOST_GROUPS, len(S) - 1) + 1)
    cuts = cut_tree(tree, numbers) if numbers else np.empty((len(S), 0))
    return {n: float(silhouette_score(S, cuts[:, k], metric="precomputed")) for k, n in enumerate(numbers)}
