"""Prototypes among themselves and what lies at them: U-matrix, hits, class shares, mean dissimilarity, components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.labels import as_label_vectors
from ..core.neighborhood import Lattice
from ..estimators.base import BaseMap
from ..predict.queries import SourceRows, as_queries, dissimilarities, map_of
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_weights
from ..utils.tables import table
from ..utils.threads import limited


def exemplars_of(fitted: BaseMap) -> Any:
    """The K objects that show what the prototypes are like; None if the map was fitted on a matrix.

    For a relational map, whose prototypes are combinations, those are the data points nearest to them.
    """
    return fitted._exemplar_objects()


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
    """
    fitted = map_of(model)
    with limited(fitted.n_jobs):
        return _from_matrix(fitted, X) if fitted._needs_matrix else fitted._between_prototypes()


def _from_matrix(fitted: Any, X: Any) -> FloatArray:
    if X is None:
        raise ValueError("The map holds no prototypes but their places in a matrix; pass the matrix as X.")
    queries, w = as_queries(fitted, X, None), fitted.medoid_indices_
    if queries.n != fitted.n_features_in_:
        raise ValueError(f"X holds {queries.n} rows, but the map was fitted on {fitted.n_features_in_}; pass those.")
    if isinstance(queries.objects, SourceRows):
        return np.asarray(queries.objects.source.block(w, w), np.float64)
    return dissimilarities(fitted, next(queries.blocks(fitted.n_features_in_)), fitted.n_jobs)[w]


def needs_matrix(fitted: BaseMap) -> bool:
    """Whether the map knows its prototypes only by their places in a matrix."""
    return fitted._needs_matrix


def as_lengths(fitted: BaseMap, P: FloatArray) -> FloatArray:
    """P (K, K) as lengths to be laid out: the roots of squared distances, those of batch maps and "sqeuclidean"."""
    return np.sqrt(np.maximum(P, 0.0)) if fitted._squared else P  # between combinations rounding may leave less than 0


def symmetrized(P: FloatArray) -> FloatArray:
    """(P + P^T) / 2 with a zero diagonal (K, K): what linkage, layout and U-matrix work on.

    Below 0, as combinations of the data may be from each other, counts as 0.
    """
    S = np.maximum(P / 2 + P.T / 2, 0.0)  # halves first: the sum of two huge numbers may overflow
    np.fill_diagonal(S, 0.0)
    return S


@dataclass(frozen=True)
class UMatrix:
    """edges: records (a, b, dissimilarity), a < b touching neurons; means (K,): averages over a neuron's edges."""

    edges: NDArray[Any]
    means: FloatArray


def u_matrix(lattice: Lattice, P: FloatArray) -> UMatrix:
    """u(a, b) = (P[a, b] + P[b, a]) / 2 of neurons that touch, and its mean at each neuron; P (K, K).

    A neuron that touches none, on a map of one, has the mean 0.
    """
    a, b = np.nonzero(np.triu(lattice.neighbors))
    u = symmetrized(P)[a, b]
    K = len(lattice.positions)
    ends = np.concatenate([a, b])
    degree = np.bincount(ends, minlength=K)
    means = np.bincount(ends, weights=np.concatenate([u, u]), minlength=K) / np.maximum(degree, 1)
    return UMatrix(table(a=a, b=b, dissimilarity=u), means)


def hit_map(model: Any) -> FloatArray:
    """Weight of the points at each neuron, (rows, columns) of a SOM, (K,) of other maps."""
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
    """
    N = len(prototypes)
    m, labels = check_weights(sample_weight, N), as_label_vectors(y, N)
    counts = np.zeros((n_prototypes, len(labels.classes)))
    np.add.at(counts, prototypes, m[:, None] * labels.y)  # unlabelled points have rows of zeros
    total = counts.sum(axis=1, keepdims=True)
    return counts / np.where(total > 0, total, 1.0), labels.classes


def mean_dissimilarity(points: NDArray[Any], n_prototypes: int, sample_weight: Any = None) -> FloatArray:
    """(K,) mean dissimilarity of the points at each prototype to it, NaN where there are none: how well it stands.

    points : the table of `two_best`.
    """
    m = check_weights(sample_weight, len(points))
    total = np.bincount(points["prototype"], weights=m, minlength=n_prototypes)
    sums = np.bincount(points["prototype"], weights=m * points["dissimilarity"], minlength=n_prototypes)
    return np.divide(sums, total, out=np.full(n_prototypes, np.nan), where=total > 0)


def component_planes(model: Any) -> tuple[FloatArray, list[str]]:
    """(K, M) coordinates of the prototypes of vector data, and the names of the M columns."""
    fitted: Any = map_of(model)
    W = exemplars_of(fitted)
    if not (isinstance(W, np.ndarray) and W.ndim == 2):
        raise ValueError("Component planes need vectors; the prototypes of this map are not vectors.")
    names = getattr(model, "feature_names_in_", getattr(fitted, "feature_names_in_", None))
    return np.asarray(W, np.float64), [f"x{k}" for k in range(W.shape[1])] if names is None else [*map(str, names)]
