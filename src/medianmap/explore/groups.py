"""Superclusters: prototypes that belong together, by hierarchical clustering of the prototypes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_choice, check_count
from .prototypes import symmetrized

METHODS = ("average", "complete", "single", "weighted")
# A picture tells no more colours apart than these.
MOST_GROUPS = 8


@dataclass(frozen=True)
class Superclusters:
    """groups (K,): number of each prototype's group, counted from the first prototype on; linkage (K - 1, 4): SciPy's.

    silhouettes : number of groups -> mean silhouette of the prototypes, where the number was chosen by it.
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
    n_groups : None takes the number from 2 to 8 of largest mean silhouette, the least of these on ties.
    method : "average", "complete", "single" or "weighted": those that need no vectors.
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
