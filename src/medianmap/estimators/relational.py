"""Maps whose prototypes are convex combinations of the data: RelationalKMeans, RelationalNeuralGas, RelationalSOM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..core.spaces import RelationalSpace, Space, between_prototypes, in_equal_parts, products, snapped
from ..core.tensor_spaces import relational_space
from ..sources.base import FloatArray, IntArray, Source
from ..sources.computed import take
from .base import CompressedNeuralGasMap, DissimilarityMap, KMeansMap, SOMMap, among, source_of
from .parameters import RelationalParameters, documented, parameters


class RelationalMap(RelationalParameters, DissimilarityMap):
    """Prototypes are convex combinations of the data, known by their coefficients."""

    _signed = True

    def _earlier(self, space: Space, keep: IntArray) -> FloatArray:
        P = np.zeros((len(self.hits_), len(keep)))
        P[:, among(self.support_, keep, space.n_points)] = self.coefficients_.toarray()
        return P

    def _space(self, source: Source) -> RelationalSpace:
        return relational_space(source, self.n_jobs)

    def _prototype_attributes(
        self, given: Space, space: Space, m: FloatArray, prototypes: FloatArray
    ) -> dict[str, Any]:
        assert isinstance(space, RelationalSpace)
        source = self._resolved(source_of(given), m)
        G, self_terms = space.rowwise(prototypes)
        exemplars = snapped(np.where(m[:, None] > 0, G, np.inf), distinct=False)
        support = np.flatnonzero(prototypes.any(axis=0))
        fitted: dict[str, Any] = {
            "coefficients_": csr_array(prototypes[:, support]),
            "support_": support,
            "self_terms_": self_terms,
            "exemplar_indices_": exemplars,
            "prototype_dissimilarities_": between_prototypes(prototypes, G),
            "cluster_centers_": None,
        }
        fitted |= self._object_attributes(source, "support_objects_", support)
        if source.ids is not None:
            fitted["prototype_ids_"] = [source.ids[i] for i in exemplars]
            fitted["support_ids_"] = [source.ids[i] for i in support.tolist()]
        return fitted

    def _to_prototypes(self, X: Any) -> FloatArray:
        if self.metric != "precomputed":
            D = self._from_objects(X, self.support_objects_)
        else:
            D = self._from_training_points(X, self.support_, getattr(self, "support_ids_", None))
        return products(D, self.coefficients_, self.n_jobs) - self.self_terms_ + 0.0

    # --- what the folders above ask

    _init_takes_prototypes = False  # they are coefficients

    def _points_each(self, most: int) -> int:
        return most

    def _carriers(self, G: FloatArray, places: IntArray, each: int) -> IntArray:
        once = np.unique(places, return_index=True)[1]
        return once[np.argsort(G[once], axis=0, kind="stable")[:each].T]

    def _prototypes_at(self, points: IntArray, n: int) -> FloatArray:
        P = np.zeros((len(points), n))
        np.add.at(P, (np.arange(len(points))[:, None], points), 1.0 / points.shape[1])
        return P

    def _carried_attributes(
        self, places: IntArray, objects: Any, D: NDArray[Any] | None, each: int, ids: Sequence[str] | None
    ) -> dict[str, Any]:
        assert D is not None
        combinations = in_equal_parts(places, D, each)
        support = places[combinations.at]
        fitted: dict[str, Any] = {
            "coefficients_": combinations.coefficients,
            "support_": support,
            "self_terms_": combinations.self_terms,
            "exemplar_indices_": places[::each],
            "prototype_dissimilarities_": combinations.among,
            "cluster_centers_": None,
        }
        if objects is not None:
            fitted["support_objects_"] = take(objects, combinations.at)
        if ids is not None:
            fitted["support_ids_"] = [ids[i] for i in support.tolist()]
        return fitted

    def _between_prototypes(self) -> FloatArray:
        return np.asarray(self.prototype_dissimilarities_)

    def _exemplar_objects(self) -> Any:
        """The data points nearest to the prototypes; None if one of them has no weight in any prototype."""
        objects = getattr(self, "support_objects_", None)
        at: IntArray = np.searchsorted(self.support_, np.asarray(self.exemplar_indices_))
        if objects is None or not np.array_equal(self.support_.take(at, mode="clip"), self.exemplar_indices_):
            return None
        return take(objects, at)


@documented
@parameters
class RelationalKMeans(RelationalMap, KMeansMap):
    """K-means whose prototypes are convex combinations of the data, represented by their coefficients.

    w_j = sum_l alpha_j[l] x_l, and d(x_i, w_j) = (D alpha_j)_i - alpha_j' D alpha_j / 2: K-means in the space that a
    symmetric D comes from, without the vectors. If D contains squared Euclidean distances, this is `BatchKMeans` on the
    underlying vectors; otherwise it is the same in a pseudo-Euclidean space, where d may be negative. To minimise what
    K-means minimises for vectors, pass squared distances ("sqeuclidean", D**2). `exemplar_indices_` has the data point
    nearest to each prototype.

    See Also
    --------
    MedianKMeans : Prototypes are data points.
    BatchKMeans : The same for vectors.

    Examples
    --------
    >>> from scipy.spatial.distance import cdist
    >>> from sklearn.datasets import load_iris
    >>> from medianmap import BatchKMeans, RelationalKMeans
    >>> X = load_iris().data
    >>> relational = RelationalKMeans(3, metric="sqeuclidean", init=[0, 50, 100]).fit(X)
    >>> bool((relational.labels_ == BatchKMeans(3, init=[0, 50, 100]).fit(X).labels_).all())
    True
    """


@documented
@parameters
class RelationalNeuralGas(RelationalMap, CompressedNeuralGasMap):
    """Neural gas whose prototypes are convex combinations of the data, represented by their coefficients.

    Minimises sum_ij m_i h(rank_ij) d(x_i, w_j) with w_j = sum_l alpha_j[l] x_l and
    d(x_i, w_j) = (D alpha_j)_i - alpha_j' D alpha_j / 2, which may be negative if D is not squared Euclidean.

    See Also
    --------
    MedianNeuralGas : Prototypes are data points.
    RelationalSOM : Arranges the prototypes on a lattice.

    Examples
    --------
    >>> from medianmap import RelationalNeuralGas
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    >>> gas = RelationalNeuralGas(2, metric="edit", random_state=0).fit(words)
    >>> sorted(words[i] for i in gas.exemplar_indices_)
    ['heron', 'quark']
    """


@documented
@parameters
class RelationalSOM(RelationalMap, SOMMap):
    """Self-organizing map whose prototypes are convex combinations of the data, represented by their coefficients.

    Minimises sum_i m_i sum_l H[I*(i), l] d(x_i, w_l) (see MedianSOM for H and I*) with w_j = sum_l alpha_j[l] x_l and
    d(x_i, w_j) = (D alpha_j)_i - alpha_j' D alpha_j / 2, which may be negative if D is not squared Euclidean.

    See Also
    --------
    MedianSOM : Prototypes are data points.
    RelationalNeuralGas : No lattice.

    Examples
    --------
    >>> from medianmap import RelationalSOM
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    >>> som = RelationalSOM((1, 2), metric="edit", random_state=0).fit(words)
    >>> sorted(words[i] for i in som.exemplar_indices_)
    ['heron', 'quark']
    """
