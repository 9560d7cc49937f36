"""The maps of vectors, whose prototypes are means: BatchKMeans, BatchNeuralGas, BatchSOM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ..core.spaces import Space
from ..core.vectors import VectorSpace, squared_distances
from ..sources.base import LARGE, FloatArray, IntArray
from ..sources.checks import check_vectors, exponent_of
from .base import BaseMap, KMeansMap, NeuralGasMap, SOMMap
from .parameters import BatchParameters, PlaneStart, documented, parameters

# Squares of smaller coordinates lose bits.
SMALLEST = 1e-140


class BatchMap(BatchParameters, BaseMap):
    """Prototypes are mean vectors; X (N, M) are vectors, compared by the squared Euclidean distance."""

    def _earlier(self, space: Space, keep: IntArray) -> FloatArray:
        W = np.asarray(self.cluster_centers_, np.float64)
        if W.shape[1] != space.n_features:
            raise ValueError(f"warm_start: X has {space.n_features} features, the fit before had {W.shape[1]}.")
        return W

    def _given_space(self, X: Any) -> VectorSpace:
        return VectorSpace(np.asarray(check_vectors(X), dtype=np.float64, order="C"), self.n_jobs)

    def _ready(self, given: Space, m: FloatArray, K: int) -> VectorSpace:
        assert isinstance(given, VectorSpace)
        largest = float(np.abs(given.X).max())
        # Squared distances are at most 4 M largest^2, and K m of them are summed.
        most = np.sqrt(np.finfo(np.float64).max / (4 * given.X.shape[1] * max(K * float(m.sum()), 1.0)))
        if largest > most:
            raise ValueError(
                f"The largest coordinate is {largest:g}: costs overflow. Divide X or the weights by a constant."
            )
        if 0 < largest < SMALLEST:
            raise ValueError(f"The largest coordinate is {largest:g}: its square underflows. Multiply X by a constant.")
        e = exponent_of(largest, LARGE // 2)
        return replace(given, X=np.ldexp(given.X, -e), given=given.X, exponent=2 * e) if e else given

    def _prototype_attributes(
        self, given: Space, space: Space, m: FloatArray, prototypes: FloatArray
    ) -> dict[str, Any]:
        return {"cluster_centers_": prototypes}

    def _to_prototypes(self, X: Any) -> FloatArray:
        queries = np.asarray(check_vectors(X), dtype=np.float64, order="C")
        validate_data(self, X, reset=False, skip_check_array=True)
        return squared_distances(queries, self.cluster_centers_, self.n_jobs)

    # --- what the folders above ask

    @property
    def _squared(self) -> bool:
        return True

    def _between_prototypes(self) -> FloatArray:
        W = np.asarray(self.cluster_centers_, np.float64)
        return squared_distances(W, W, self.n_jobs)


@documented
@parameters
class BatchKMeans(BatchMap, KMeansMap):
    """K-means of vectors (Lloyd), on the same engine as the median maps.

    Minimises sum_i m_i min_j |x_i - w_j|^2. A cluster that becomes empty keeps its centre.

    See Also
    --------
    MedianKMeans : For any dissimilarity.
    BatchNeuralGas : Less dependent on the start.

    Examples
    --------
    >>> from medianmap import BatchKMeans
    >>> BatchKMeans(2, init=[0, 2]).fit([[0.0], [1.0], [10.0]]).cluster_centers_.tolist()
    [[0.5], [10.0]]
    """


@documented
@parameters
class BatchNeuralGas(BatchMap, NeuralGasMap):
    """Batch neural gas of vectors: prototypes are means weighted by h(rank).

    Minimises sum_ij m_i h(rank_ij) |x_i - w_j|^2, where rank_ij counts the prototypes nearer to point i than j.

    See Also
    --------
    MedianNeuralGas : For any dissimilarity.
    BatchSOM : Arranges the prototypes on a lattice.

    Examples
    --------
    >>> from medianmap import BatchNeuralGas
    >>> gas = BatchNeuralGas(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> sorted(gas.cluster_centers_.ravel().round(6).tolist())
    [0.5, 10.5]
    """


@documented
@parameters
class BatchSOM(PlaneStart, BatchMap, SOMMap):
    """Batch self-organizing map of vectors, in Heskes' version, which has a cost function.

    Minimises sum_i m_i sum_l H[I*(i), l] |x_i - w_l|^2, where H[j, l] falls with the distance of the neurons j and l on
    the lattice and sums to 1 over l, and I*(i) is the neuron with the smallest inner sum.

    See Also
    --------
    MedianSOM : For any dissimilarity.
    BatchNeuralGas : No lattice; a smaller quantization error.

    Examples
    --------
    >>> from medianmap import BatchSOM
    >>> som = BatchSOM((1, 2), sigma_end=0.01).fit([[0.0], [1.0], [10.0], [11.0]])
    >>> sorted(som.cluster_centers_.ravel().round(6).tolist())
    [0.5, 10.5]
    """
