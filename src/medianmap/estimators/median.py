"""The maps whose prototypes are data points: MedianKMeans, MedianNeuralGas, MedianSOM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.engine import State
from ..core.spaces import MedianSpace, Space
from ..core.tensor_spaces import median_space
from ..search import CHOICES, check_search_fits
from ..search.frame import SoftWeights
from ..sources.base import FloatArray, IntArray, Source
from ..sources.computed import ROWS_PER_STEP, take
from ..utils.checks import check_choice, check_count, check_share
from ..utils.threads import in_steps
from .base import CompressedNeuralGasMap, DissimilarityMap, KMeansMap, SOMMap, among, source_of
from .fit import Plan
from .parameters import (
    ANNEALINGS,
    COLLISIONS,
    REFINEMENTS,
    TIES,
    CompressedAnnealing,
    MedianParameters,
    MedianSOMParameters,
    documented,
    parameters,
)

# Data points annealed from wider neighbourhoods freeze before they have parted (docs/decisions/0021-alternatives.md).
WIDEST_OF_POINTS = 2.0


class MedianMap(MedianParameters, DissimilarityMap):
    """Prototypes are data points."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.annealing, "annealing", ANNEALINGS)
        check_choice(self.collisions, "collisions", COLLISIONS)
        check_choice(self.ties, "ties", TIES)
        check_choice(self.search, "search", CHOICES)
        check_search_fits(self.search, self._gives, type(self).__name__)
        check_choice(self.refine, "refine", REFINEMENTS)
        if self._gives is SoftWeights and self.annealing == "none":
            raise ValueError("temperature anneals, and annealing='none' does not; drop one of them.")
        if self.max_swaps is not None:
            check_count(self.max_swaps, "max_swaps", at_least=0)

    def _order(self, n: int, rng: np.random.Generator) -> IntArray | None:
        # Ties go to the lowest index everywhere, so they are random where indices are.
        return None if self.ties == "first" else rng.permutation(n)

    def _distinct_start(self) -> bool:
        return self.collisions == "distinct"

    def _earlier(self, space: Space, keep: IntArray) -> IntArray:
        if self._distinct_start() and len(np.unique(self.medoid_indices_)) < len(self.medoid_indices_):
            raise ValueError(
                "warm_start continues from prototypes two of which are the same point; collisions='distinct' needs "
                "different ones. Set warm_start=False."
            )
        return among(self.medoid_indices_, keep, space.n_points)

    def _space(self, source: Source) -> MedianSpace:
        return median_space(source, self.search, self.collisions, self.n_jobs)

    def _plan(self, K: int) -> Plan:
        plan, combines = super()._plan(K), self.annealing != "median"
        # Swaps alone end where no epoch of K-means could move a prototype, and sooner, unless few are allowed.
        free = self.annealing == "auto" and self.refine is not None and self.max_swaps is None
        none = self.annealing == "none" or (free and not plan.assignment.anneals)
        return replace(
            plan, as_combinations=combines, without_epochs=none, arrange=plan.arrange and combines,
            compression=plan.compression if combines else None,
            refine=self.refine is not None, max_swaps=self.max_swaps, distinct=self._distinct_start(),
            n_jobs=self.n_jobs,
        )  # fmt: skip

    def _run_attributes(self, state: State) -> dict[str, Any]:
        return {} if self.refine is None else {"n_swaps_": state.swaps}

    def _prototype_attributes(self, given: Space, space: Space, m: FloatArray, prototypes: IntArray) -> dict[str, Any]:
        source = self._resolved(source_of(given), m)
        fitted: dict[str, Any] = {"medoid_indices_": prototypes, "cluster_centers_": None}
        fitted |= self._object_attributes(source, "cluster_centers_", prototypes)
        if source.ids is not None:
            fitted["prototype_ids_"] = [source.ids[i] for i in prototypes]
        return fitted

    def _to_prototypes(self, X: Any) -> FloatArray:
        if self.metric != "precomputed":
            return self._from_objects(X, self.cluster_centers_)
        D = self._from_training_points(X, self.medoid_indices_, getattr(self, "prototype_ids_", None))
        return np.ascontiguousarray(D, dtype=np.float64)

    # --- what the folders above ask

    def _usual_merge(self) -> str:
        return "tree"  # carried exemplars of large multiplicity would stay where they are

    def _carriers(self, G: FloatArray, places: IntArray, each: int) -> IntArray:
        return self.medoid_indices_[:, None]

    def _prototypes_at(self, points: IntArray, n: int) -> IntArray:
        return points[:, 0]

    def _carried_attributes(
        self, places: IntArray, objects: Any, D: NDArray[Any] | None, each: int, ids: Sequence[str] | None
    ) -> dict[str, Any]:
        return {"medoid_indices_": places, "cluster_centers_": objects}

    @property
    def _needs_matrix(self) -> bool:
        return self._reads_matrix()

    def _between_prototypes(self) -> FloatArray:
        metric, W = self._object_metric(fitted=True), self.cluster_centers_
        rows = in_steps("exemplars", len(W), ROWS_PER_STEP)
        return np.concatenate([metric.between(take(W, part), W) for part in rows])


@documented
@parameters
class MedianKMeans(MedianMap, KMeansMap):
    """K-means whose prototypes are data points (K-centers; alternating k-medoids).

    Minimises sum_i m_i min_j d(x_i, w_j) over data points w_j in alternating steps: each point is assigned to its
    nearest prototype, then each prototype moves to the data point with the smallest total dissimilarity to its points.
    Without swaps or annealing, the result depends on the start: use n_init.

    See Also
    --------
    MedianNeuralGas : Less dependent on the start.
    RelationalKMeans : Prototypes are combinations of data points.

    Examples
    --------
    >>> from medianmap import MedianKMeans
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    >>> km = MedianKMeans(2, metric="edit", n_init=5, random_state=0).fit(words)
    >>> sorted(km.cluster_centers_)
    ['heron', 'quark']
    >>> bool(km.predict(["quarts"])[0] == km.labels_[3])
    True
    """


@documented
@parameters
class MedianNeuralGas(CompressedAnnealing, MedianMap, CompressedNeuralGasMap):
    """Neural gas whose prototypes are data points: depends little on the start and needs no lattice.

    Minimises sum_ij m_i h(rank_ij) d(x_i, w_j), h(t) = exp(-t / sigma), where rank_ij counts the prototypes nearer to
    point i than j; sigma falls geometrically, so that all prototypes first move together and then separate.

    See Also
    --------
    MedianSOM : Arranges the prototypes on a lattice, which can be drawn.
    MedianKMeans : Faster, but more dependent on the start.

    Examples
    --------
    >>> import numpy as np
    >>> from medianmap import MedianNeuralGas
    >>> D = np.abs(np.subtract.outer([1.0, 2, 3, 11, 12, 13], [1.0, 2, 3, 11, 12, 13]))
    >>> gas = MedianNeuralGas(2, metric="precomputed", random_state=0).fit(D)
    >>> sorted(gas.medoid_indices_.tolist()), gas.inertia_, gas.converged_
    ([1, 4], 4.0, True)
    """

    def _first_width(self, K: int) -> float:
        wide = super()._first_width(K)
        return min(wide, WIDEST_OF_POINTS) if self.annealing == "median" else wide


@documented
@parameters
class MedianSOM(MedianSOMParameters, MedianMap, SOMMap):
    """Self-organizing map whose prototypes are data points, in Heskes' version, which has a cost function.

    Minimises sum_i m_i sum_l H[I*(i), l] d(x_i, w_l), where H[j, l] falls with the distance of the neurons j and l on
    the lattice and sums to 1 over l, and I*(i) is the neuron with the smallest inner sum. Unless annealing="median",
    training uses combinations of the data, which are then replaced by data points; these are swapped for others and
    between neurons (see `order`).

    See Also
    --------
    MedianNeuralGas : No lattice; a smaller quantization error.
    RelationalSOM : Prototypes are combinations of data points, in better order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from medianmap import MedianSOM
    >>> som = MedianSOM(grid=(3, 4), random_state=0).fit(load_iris().data)
    >>> som.lattice_.positions.shape, som.labels_.shape, som.cluster_centers_.shape
    ((12, 2), (150,), (12, 4))
    """

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_share(self.order, "order")

    def _plan(self, K: int) -> Plan:
        return replace(super()._plan(K), order=float(self.order))
