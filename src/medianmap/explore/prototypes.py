"""Prototypes among themselves and what lies at them: U-matrix, hits, class shares, mean dissimilarity, components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.labels import as_label_vectors
from ..core.neighborhood import Lattice
from ..core.vectors import squared_distances
from ..estimators.batch import BatchMap
from ..estimators.relational import RelationalMap
from ..metrics.registry import bind
from ..predict.queries import SourceRows, as_queries, dissimilarities, fitted_on_dissimilarities, map_of
from ..sources.base import FloatArray, IntArray
from ..sources.computed import ROWS_A_STEP, take
from ..utils.checks import check_weights
from ..utils.progress import in_steps
from ..utils.tables import table
from ..utils.threads import limited


def exemplars_of(fitted: Any) -> Any:
    """The K objects that show what the prototypes are like; None where the map was fitted on a matrix.

    Of a relational map, whose prototypes are combinations, those are the data points nearest to them.
    """
    if not isinstance(fitted, RelationalMap):
        return fitted.cluster_centers_
    objects = getattr(fitted, "support_objects_", None)
    at: IntArray = np.searchsorted(fitted.support_, np.asarray(fitted.exemplar_indices_))
    if objects is None or not np.array_equal(fitted.support_.take(at, mode="clip"), fitted.exemplar_indices_):
        return None  # a point of vanishing weight is not kept
    return take(objects, at)


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
        if isinstance(fitted, BatchMap):
            W = np.asarray(fitted.cluster_centers_, np.float64)
            return squared_distances(W, W, fitted.n_jobs)
        if isinstance(fitted, RelationalMap):
            return np.asarray(fitted.prototype_dissimilarities_)
        if not fitted_on_dissimilarities(fitted):
            metric, W = bind(fitted.metric, fitted.metric_params_), fitted.cluster_centers_
            rows = in_steps("exemplars", len(W), ROWS_A_STEP)
            return np.concatenate([metric.between(take(W, part), W) for part in rows])
        return _out_of_matrix(fitted, X)


def _out_of_matrix(fitted: Any, X: Any) -> FloatArray:
    if X is None:
        raise ValueError("The map holds no prototypes but their places in a matrix; pass the matrix as X.")
    queries, w = as_queries(fitted, X, None), fitted.medoid_indices_
    if queries.n != fitted.n_features_in_:
        raise ValueError(f"X holds {queries.n} rows, but the map was fitted on {fitted.n_features_in_}; pass those.")
    if isinstance(queries.objects, SourceRows):
        return np.asarray(queries.objects.source.block(w, w), np.float64)
    return dissimilarities(fitted, next(queries.blocks(fitted.n_features_in_)), fitted.n_jobs)[w]


def needs_matrix(fitted: Any) -> bool:
    """Whether the map knows its prototypes by their places in a matrix alone."""
    return fitted_on_dissimilarities(fitted) and not isinstance(fitted, RelationalMap)


def as_lengths(fitted: Any, P: FloatArray) -> FloatArray:
    """P (K, K) as lengths to be laid out: the roots of squared distances, those of batch maps and "sqeuclidean"."""
    squared = isinstance(fitted, BatchMap) or (isinstance(fitted.metric, str) and fitted.metric == "sqeuclidean")
    return np.sqrt(np.maximum(P, 0.0)) if squared else P  # rounding may leave less than 0 of combinations


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
