"""Prototypes, what lies near them, and which belong together: U-matrix, hits, shares, layout, graph, superclusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from ..core.labels import as_label_vectors
from ..core.neighborhood import Lattice
from ..core.plane import chosen_cut, symmetrized, ward_tree
from ..predict.queries import as_lengths as as_lengths
from ..predict.queries import map_of
from ..predict.queries import prototype_dissimilarities as prototype_dissimilarities
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_choice, check_count, check_weights
from ..utils.files import table

METHODS = ("ward", "average", "complete", "single", "weighted")


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
    y : (N,) labels, None or NaN where there is none, or (N, C) fuzzy ones.

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

    silhouettes : number of groups -> mean silhouette by weight of the prototypes, if the number was chosen by it.
    groups : (K,) the group of each prototype, numbered from that of the first prototype.
    linkage : (K - 1, 4) SciPy's.
    """

    groups: IntArray
    linkage: FloatArray
    silhouettes: dict[int, float]

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    @property
    def why(self) -> str:
        """How the number of groups came about, in a sentence."""
        if len(self.silhouettes) < 2:
            return f"{self.n_groups} groups: " + ("no other number is possible." if self.silhouettes else "as asked.")
        low, high = min(self.silhouettes), max(self.silhouettes)
        return (
            f"{self.n_groups} groups: of {low} to {high} they have the best silhouette, "
            f"{self.silhouettes[self.n_groups]:.2f}."
        )


def superclusters(
    P: FloatArray, n_groups: int | None = None, method: str = "ward", *, hits: Any = None
) -> Superclusters:
    """A tree of the prototypes by (P + P^T) / 2, cut into n_groups groups.

    P : (K, K) dissimilarities of the prototypes as lengths, not necessarily symmetric. For squared distances pass
        their roots.
    n_groups : None takes the number from 2 to 8 with the largest mean silhouette over the points, the smallest on ties;
        a single prototype with less than a twentieth of the points is no group where it need not be.
    method : "ward", in which prototypes with more points weigh more; or SciPy's "average", "complete", "single" or
        "weighted", in which they do not.
    hits : (K,) weight of the points at each prototype; None: all the same.
    """
    from scipy.cluster.hierarchy import cut_tree, linkage

    check_choice(method, "method", METHODS)
    K = len(P)
    weights = np.ones(K) if hits is None else np.asarray(hits, np.float64)
    if len(weights) != K:
        raise ValueError(f"hits holds {len(weights)} weights for {K} prototypes; give one per prototype.")
    if n_groups is not None and check_count(n_groups, "n_groups") > K:
        raise ValueError(f"n_groups = {n_groups} exceeds the {K} prototypes; ask for fewer groups.")
    if K == 1:
        return Superclusters(np.zeros(1, np.intp), np.empty((0, 4)), {})
    S = symmetrized(P)
    tree = ward_tree(S, weights) if method == "ward" else linkage(squareform(S, checks=False), method)
    silhouettes: dict[int, float] = {}
    if n_groups is None:
        n_groups, silhouettes = chosen_cut(S, tree, weights)
    return Superclusters(cut_tree(tree, n_groups)[:, 0].astype(np.intp), tree, silhouettes)
