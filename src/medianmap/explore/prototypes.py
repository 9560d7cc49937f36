"""Prototypes, what lies near them, and which belong together: U-matrix, hits, shares, layout, graph, superclusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from ..core.labels import as_label_vectors
from ..core.neighborhood import Lattice
from ..core.plane import symmetrized
from ..estimators.base import BaseMap
from ..predict.queries import SourceRows, as_queries, dissimilarities, map_of
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_choice, check_count, check_weights
from ..utils.files import table
from ..utils.threads import limited

METHODS = ("average", "complete", "single", "weighted")
# More groups than these need colours that cannot be told apart.
MOST_GROUPS = 8


def lattice_of(model: Any) -> Lattice:
    """The lattice of a SOM; ValueError for a map without one."""
    fitted = map_of(model)
    lattice: Lattice | None = getattr(fitted, "lattice_", None)
    if lattice is None:
        raise ValueError(
            f"{type(fitted).__name__} has no lattice, so there is no grid to draw; use a SOM, or the topology graph "
            "(medianmap.report.plots.TopologyDisplay)."
        )
    return lattice


def prototype_dissimilarities(model: Any, X: Any = None) -> FloatArray:
    """P[j, l] = d(w_j, w_l) (K, K), row: as a data point, column: as a prototype; squared distances for batch maps.

    X : the training data of a map of metric="precomputed", in any form that it takes; other maps hold their prototypes.
    model : a fitted map, classifier or pass over patches.
    """
    fitted: Any = map_of(model)
    with limited(fitted.n_jobs):
        if not fitted._needs_matrix:
            return fitted._between_prototypes()
        if X is None:
            raise ValueError("The map holds no prototypes but their places in a matrix; pass the matrix as X.")
        queries, w, n = as_queries(fitted, X, None), fitted.medoid_indices_, fitted.n_features_in_
        if queries.n != n:
            raise ValueError(f"X holds {queries.n} rows, but the map was fitted on {n}; pass those.")
        if isinstance(queries.objects, SourceRows):
            return np.asarray(queries.objects.source.block(w, w), np.float64)
        return dissimilarities(fitted, next(queries.blocks(n)), fitted.n_jobs)[w]


def as_lengths(fitted: BaseMap, P: FloatArray) -> FloatArray:
    """P (K, K) as lengths to be laid out: the roots of squared distances, those of batch maps and "sqeuclidean"."""
    return np.sqrt(np.maximum(P, 0.0)) if fitted._squared else P  # between combinations rounding may leave less than 0


@dataclass(frozen=True)
class UMatrix:
    """Dissimilarities between prototypes of neighbouring neurons.

    edges : records (a, b, dissimilarity), a < b neurons that touch.
    means : (K,) mean over the edges of each neuron.
    """

    edges: NDArray[Any]
    means: FloatArray


def u_matrix(lattice: Lattice, P: FloatArray) -> UMatrix:
    """u(a, b) = (P[a, b] + P[b, a]) / 2 of neurons that touch, and its mean at each neuron.

    The only neuron of a map of one has the mean 0.

    lattice : `lattice_` of a SOM.
    P : (K, K) dissimilarities of its prototypes, see `prototype_dissimilarities`.
    """
    a, b = np.nonzero(np.triu(lattice.neighbors))
    u = symmetrized(P)[a, b]
    K = len(lattice.distances)
    ends = np.concatenate([a, b])
    degree = np.bincount(ends, minlength=K)
    means = np.bincount(ends, weights=np.concatenate([u, u]), minlength=K) / np.maximum(degree, 1)
    return UMatrix(table(a=a, b=b, dissimilarity=u), means)


def hit_map(model: Any) -> FloatArray:
    """Weight of the points at each neuron: (rows, columns) for a SOM, (K,) for other maps.

    model : a fitted map, classifier or pass over patches.
    """
    fitted = map_of(model)
    hits = np.asarray(fitted.hits_, np.float64)
    return hits.reshape(fitted.lattice_.shape) if hasattr(fitted, "lattice_") else hits


def class_shares(
    prototypes: IntArray, y: Any, n_prototypes: int, sample_weight: Any = None
) -> tuple[FloatArray, NDArray[Any]]:
    """(K, C) share of each class among the labelled points at each prototype, and the classes (C,).

    prototypes : (N,) nearest prototype of each point.
    y : (N,) labels, -1, None or NaN where there is none, or (N, C) fuzzy ones.

    Rows sum to 1; a prototype without labelled points has a row of zeros.

    n_prototypes : K.
    sample_weight : (N,) weights of the points; None counts each once.
    """
    N = len(prototypes)
    m, labels = check_weights(sample_weight, N), as_label_vectors(y, N)
    counts = np.zeros((n_prototypes, len(labels.classes)))
    np.add.at(counts, prototypes, m[:, None] * labels.y)  # unlabelled points have rows of zeros
    total = counts.sum(axis=1, keepdims=True)
    return counts / np.where(total > 0, total, 1.0), labels.classes


def mean_dissimilarity(points: NDArray[Any], n_prototypes: int, sample_weight: Any = None) -> FloatArray:
    """(K,) mean dissimilarity of the points at each prototype to it, NaN if there are none: how well it fits them.

    points : the table of `two_best`.
    n_prototypes : K.
    sample_weight : (N,) weights of the points; None counts each once.
    """
    m = check_weights(sample_weight, len(points))
    total = np.bincount(points["prototype"], weights=m, minlength=n_prototypes)
    sums = np.bincount(points["prototype"], weights=m * points["dissimilarity"], minlength=n_prototypes)
    return np.divide(sums, total, out=np.full(n_prototypes, np.nan), where=total > 0)


def component_planes(model: Any) -> tuple[FloatArray, list[str]]:
    """(K, M) coordinates of the prototypes of vector data, and the names of the M columns.

    model : a fitted map of vectors.
    """
    fitted: Any = map_of(model)
    W = fitted._exemplar_objects()
    if not (isinstance(W, np.ndarray) and W.ndim == 2):
        raise ValueError("Component planes need vectors; the prototypes of this map are not vectors.")
    names = getattr(model, "feature_names_in_", getattr(fitted, "feature_names_in_", None))
    return np.asarray(W, np.float64), [f"x{k}" for k in range(W.shape[1])] if names is None else [*map(str, names)]


# --- which prototypes belong together


def topology_graph(points: NDArray[Any], sample_weight: Any = None) -> NDArray[Any]:
    """Records (a, b, count), a < b: how many points, by weight, have a and b as their two nearest prototypes.

    Competitive Hebbian learning: every point joins its two nearest.

    points : the table of `two_best`.
    sample_weight : (N,) weights of the points; None counts each once.
    """
    m = check_weights(sample_weight, len(points))
    low = np.minimum(points["prototype"], points["second"])
    high = np.maximum(points["prototype"], points["second"])
    joined = (low != high) & (m > 0)
    pairs, which = np.unique(np.stack([low, high], axis=1)[joined], axis=0, return_inverse=True)
    count = np.bincount(which.ravel(), weights=m[joined], minlength=len(pairs))
    return table(a=pairs[:, 0], b=pairs[:, 1], count=count)


@dataclass(frozen=True)
class Superclusters:
    """Groups of prototypes, from a tree of them.

    silhouettes : number of groups -> mean silhouette of the prototypes, if the number was chosen by it.
    groups : (K,) the group of each prototype, numbered from that of the first prototype.
    linkage : (K - 1, 4) SciPy's.
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
    from sklearn.metrics import silhouette_score

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
        for n in range(2, min(MOST_GROUPS, K - 1) + 1):
            silhouettes[n] = float(silhouette_score(S, cut_tree(tree, n)[:, 0], metric="precomputed"))
        n_groups = max(silhouettes, key=lambda n: silhouettes[n], default=1)
    return Superclusters(cut_tree(tree, n_groups)[:, 0].astype(np.intp), tree, silhouettes)
