"""What all maps share: fit, predict, transform, score and assign; and what makes a map K-means, neural gas or SOM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.assignment import Gibbs, OnLattice, Rank, SoftOnLattice, Winner
from ..core.engine import Epoch, State, explicit
from ..core.neighborhood import Lattice, checked_distances, checked_grid, checked_lattice, geometric
from ..core.quality import quantization_error
from ..core.spaces import MedianSpace, RelationalSpace, Space
from ..metrics.base import BoundMetric
from ..metrics.registry import bind
from ..metrics.tensors import nearest, on_tensors
from ..search.frame import FieldWeights, RankWeights, SoftWeights, Weights
from ..sources import (
    Source,
    as_dissimilarity,
    check_entries,
    check_queries,
    column_ids,
    computed,
    ids_and_array,
    open_npy,
    points_to,
)
from ..sources.base import (
    FloatArray,
    IntArray,
    PartlyKeptSource,
    condensed_size,
    is_source,
    kept_if_expensive,
    with_objects,
)
from ..sources.checks import (
    as_objects,
    columns_of,
    columns_of_objects,
    n_dims,
    refuse_bad_entries,
    refuse_overflow_of_costs,
    scaled,
)
from ..sources.computed import ComparedSource, checked_objects, take
from ..sources.stored import is_pair_store
from ..sources.tensors import TensorSource, bytes_of_entry, tensor_source
from ..utils.checks import (
    check_choice,
    check_count,
    check_flag,
    check_n_jobs,
    check_nonnegative,
    check_temperature,
    check_weights,
    check_width,
)
from ..utils.device import (
    as_tensor,
    asked,
    at_hand,
    bytes_beyond,
    check_device,
    chosen,
    in_memory,
    on_card,
    refuse_too_little_beside,
    released,
)
from ..utils.threads import EPOCH_WATCHER, limited
from .answers import MapAnswers, ModelViews
from .fit import GoOnFrom, Plan, Supervision, Trained, logger, train_map
from .parameters import (
    INITS,
    NEIGHBORHOODS,
    WINNERS,
    AnnealedParameters,
    CompressedParameters,
    DissimilarityParameters,
    KMeansParameters,
    MapParameters,
    NeuralGasParameters,
    SOMParameters,
)

# After annealing, neural gas and SOM continue at sigma_end until nothing moves; this bounds the wait.
MAX_SETTLING = 300


class BaseMap(
    MapParameters,
    MapAnswers,
    ModelViews,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """fit, predict, transform, score and assign for every map.

    A concrete map says how points are assigned (`_size`, `_plan`; the classes at the end of this file) and what a
    prototype is (`_given_space`, `_ready`, `_prototype_attributes`, `_to_prototypes`; median.py, relational.py,
    batch.py).
    """

    _gives: type[Weights]  # the kind of weights that the map's assignment gives
    _on_lattice = False
    _signed = False  # whether dissimilarities to prototypes may be negative

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the map.

        Parameters
        ----------
        X : the data, as the class says.
        y : ignored.
        sample_weight : (N,) multiplicities, 1 by default. A point of weight 2 counts like two points, one of weight 0
            like none: it cannot be a prototype, but it gets a label.
        """
        continued = self.warm_start and hasattr(self, "hits_")
        self._train(X, sample_weight, go_on_from=self._earlier if continued else None)
        return self

    def predict(self, X: Any) -> IntArray:
        """Nearest prototype of each query, (n_query,); the lowest prototype index on ties.

        X : queries of the kind that was fitted; with metric="precomputed" their dissimilarities (n_query, N) to all
        """
        check_is_fitted(self)
        return self._nearest(X)

    def transform(self, X: Any) -> FloatArray:
        """Dissimilarities from the queries to the prototypes, (n_query, K).

        X : queries of the kind that was fitted; with metric="precomputed" their dissimilarities (n_query, N) to all
        """
        check_is_fitted(self)
        return self._dissimilarities(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Negative quantization error of X: -0.5 sum_i m_i min_j d(x_i, w_j). Higher is better.

        X : the data, as `predict` takes them
        y : ignored
        sample_weight : (n_query,) weights m_i; None counts every point once
        """
        check_is_fitted(self)
        G = self._dissimilarities(X)
        return -quantization_error(G, check_weights(sample_weight, len(G)))

    def assign(self, D: Any) -> IntArray:
        """Nearest prototype (n_query,) from dissimilarities D (n_query, K) of queries to the K prototypes alone.

        A new object costs K evaluations; the training set is not needed.

        D : (n_query, K) dissimilarities from the queries to the prototypes, in their order
        """
        check_is_fitted(self)
        return check_queries(D, len(self.hits_), "prototype", type(self).__name__, self._signed).argmin(axis=1)

    # --- what a concrete map says ---------------------------------------------------------------------------------

    def _size(self) -> tuple[int, str]:
        """The number of prototypes, and what the user knows it as."""
        return check_count(self.n_clusters, "n_clusters"), "n_clusters"

    def _plan(self, K: int) -> Plan:
        """How K prototypes are trained."""
        raise NotImplementedError

    def _given_space(self, X: Any) -> Space:
        """What X is, with its shape and type checked."""
        raise NotImplementedError

    def _ready(self, given: Space, m: FloatArray, K: int) -> Space:
        """The space to train in, with its entries computed and checked."""
        raise NotImplementedError

    def _prototype_attributes(
        self, given: Space, space: Space, m: FloatArray, prototypes: NDArray[Any]
    ) -> dict[str, Any]:
        """The fitted attributes that depend on the kind of prototype; `space` is `given` made ready."""
        raise NotImplementedError

    def _run_attributes(self, state: State) -> dict[str, Any]:
        """The fitted attributes about how training went, besides those that all maps have."""
        return {}

    def _to_prototypes(self, X: Any) -> FloatArray:
        """(n_query, K) dissimilarities from queries to prototypes."""
        raise NotImplementedError

    def _earlier(self, space: Space, keep: IntArray) -> NDArray[Any]:
        """The prototypes of the previous fit among the points `keep` of `space`; ValueError if they are not there."""
        raise NotImplementedError

    def _order(self, n: int, rng: np.random.Generator) -> IntArray | None:
        """(n,) the order in which training sees the points; None for their own."""
        return None

    def _distinct_start(self) -> bool:
        """Whether an explicit start must not name a point twice."""
        return False

    def _features(self, X: Any, given: Space) -> dict[str, Any]:
        """n_features_in_ and feature_names_in_, as scikit-learn finds them, where X has columns."""
        return columns_of(X)

    def _check_parameters(self) -> None:
        """ValueError for a parameter that is wrong whatever the data."""
        check_count(self.n_init, "n_init")
        check_flag(self.warm_start, "warm_start")
        check_count(self.verbose, "verbose", at_least=0)
        check_n_jobs(self.n_jobs)
        if self.on_epoch is not None and not callable(self.on_epoch):
            raise ValueError(f"on_epoch is {self.on_epoch!r}; it must be None or a function of one epoch's record.")
        if isinstance(self.init, str):  # indices and vectors are checked with the data
            if self.init == "embedding" and not self._on_lattice:
                raise ValueError(
                    "init='embedding' lays points out on a lattice, which only a SOM has; choose 'random' or "
                    "'k-medoids++'."
                )
            check_choice(self.init, "init", INITS if self._on_lattice else INITS[:-1])

    # --- what a fit asks ------------------------------------------------------------------------------------------

    def _train(
        self, X: Any, sample_weight: Any, supervision: Supervision | None = None, go_on_from: GoOnFrom = None
    ) -> Trained:
        """Fit, with labels where there are any, from a start or from where an earlier fit ended (see `train_map`)."""
        with released(self._device(X)):
            return train_map(self, X, sample_weight, supervision, go_on_from)

    def _explicit_start(self, given: Space, K: int, keep: IntArray) -> NDArray[Any] | None:
        """The user's init, indices counted among the points `keep`; None if the start is to be drawn."""
        if isinstance(self.init, str):
            return None
        return explicit(self.init, K, given.n_points, keep, given.n_features, distinct=self._distinct_start())

    def _checked_start(self, prototypes: NDArray[Any], K: int) -> NDArray[Any]:
        """The prototypes of the previous fit, if there are as many as are wanted now."""
        if len(prototypes) != K:
            raise ValueError(
                f"warm_start continues from the {len(prototypes)} prototypes of the previous fit, but there are to be "
                f"{K}; set warm_start=False, or as many."
            )
        return prototypes

    @property
    def _watched(self) -> bool:
        """Whether anybody asks for the records of epochs while training goes on."""
        return bool(self.verbose) or self.on_epoch is not None or EPOCH_WATCHER.get() is not None

    def _device(self, X: Any) -> str | None:
        """Where the map is to be fitted to X; None for this computer's cores."""
        return None

    def _watch(self, epoch: Epoch) -> None:
        """Log an epoch and pass it on to the user's function."""
        shown = self.verbose > 1 or (self.verbose and (epoch.number % 10 == 0 or epoch.went_back))
        if shown or EPOCH_WATCHER.get() is not None:
            logger.info(
                "run %d epoch %d: sigma %.4g, cost %.6g, quantization error %.6g, %d moved%s",
                epoch.run, epoch.number, epoch.sigma, epoch.cost, epoch.quantization_error, epoch.moved,
                f": the cost no longer fell, {epoch.went_back} epochs back" if epoch.went_back else "",
            )  # fmt: skip
        for watcher in (self.on_epoch, EPOCH_WATCHER.get()):
            if watcher is not None:
                watcher(epoch)

    def _dissimilarities(self, X: Any) -> FloatArray:
        # Not transform(): that may return a frame when set_output asks for one.
        with limited(self.n_jobs):
            return self._to_prototypes(X)

    def _nearest(self, X: Any) -> IntArray:
        return self._dissimilarities(X).argmin(axis=1)

    @property
    def _answering_map(self) -> Self:
        """The fitted map that answers for this model."""
        return self

    def _exemplar_objects(self) -> Any:
        """The K objects that show what the prototypes are like; None if the map does not hold them."""
        return self.cluster_centers_

    @property
    def _n_features_out(self) -> int:
        return len(self.hits_)


def check_map(estimator: Any) -> None:
    """TypeError unless it is one of the maps."""
    if not isinstance(estimator, BaseMap):
        raise TypeError(f"estimator is a {type(estimator).__name__}; pass one of medianmap's maps.")


class DissimilarityMap(DissimilarityParameters, BaseMap):
    """X is anything that `as_dissimilarity` accepts: a matrix, a source, or objects and a metric."""

    def _space(self, source: Source) -> Space:
        """The space of the map's prototypes over a source."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_device(self.device)

    def _device(self, X: Any) -> str | None:
        matrix = X.matrix if isinstance(X, ComparedSource) else X
        if isinstance(matrix, TensorSource):
            return "torch:cpu" if matrix.device.type == "cpu" else str(matrix.device)
        return self.device

    def _given_space(self, X: Any) -> Space:
        return self._space(self._source(X))

    def _ready(self, given: Space, m: FloatArray, K: int) -> Space:
        """With parameters fixed, expensive dissimilarities kept in memory, entries checked and brought to about 1."""
        source = self._resolved(source_of(given), m)
        if isinstance(source, ComparedSource):
            source = source.matrix
        n, size = source.shape[0], bytes_of_entry(source)
        beside = bytes_beyond(n, K, size, self._on_lattice)
        device = chosen(self.device, n, n * n * size + beside)
        if isinstance(source, TensorSource):
            refuse_too_little_beside(source.device, n, K, beside)
        source = tensor_source(source, device, beside=beside) if device is not None else kept_if_expensive(source)
        if isinstance(source, TensorSource):  # whose entries were checked where they lie
            refuse_overflow_of_costs(float(np.ldexp(source.largest, source.exponent)), n, K * float(m.sum()))
            return self._space(replace(source, scaled=True))
        if not isinstance(source, PartlyKeptSource):  # which checks values as they come, and reads them again each time
            source = scaled(source, check_entries(source, K * float(m.sum())))
        return self._space(source)

    def _source(self, X: Any) -> Source:
        if self.metric == "precomputed":
            # Whether D[i, l] = D[l, i] is seen on the device much sooner.
            unknown = asked(self.device) and self.device != "auto" and isinstance(X, np.ndarray) and X.ndim == 2
            return as_dissimilarity(X, metric_params=self.metric_params, symmetric=False if unknown else None)
        if is_source(X):
            return checked_objects(X, bind(self.metric, self.metric_params))
        return computed(X, self.metric, metric_params=self.metric_params, n_jobs=self.n_jobs)

    def _features(self, X: Any, given: Space) -> dict[str, Any]:
        if self.metric != "precomputed":
            held = with_objects(source_of(given))
            return {} if held is None else columns_of_objects(X, held.objects)
        if n_dims(X) == 2 and not is_source(X):
            return super()._features(X, given)
        return {"n_features_in_": given.n_points}  # a source, a path, a condensed vector

    def _resolved(self, source: Source, m: FloatArray) -> Source:
        """The source with metric parameters that the weighted data fix."""
        held = with_objects(source)
        return source if held is None else held.resolved(m)

    def _object_attributes(self, source: Source, name: str, places: IntArray) -> dict[str, Any]:
        """The fitted attribute `name`, the objects at `places`, and what is known of their metric; none of a matrix."""
        held = with_objects(source)
        if held is None:
            return {}
        params = dict(held.metric.params)
        return {name: take(held.objects, places), "metric_params_": params, "n_evaluations_": held.evaluations}

    def _nearest(self, X: Any) -> IntArray:
        if not asked(self.device) or self.metric == "precomputed" or not isinstance(self.cluster_centers_, np.ndarray):
            return super()._nearest(X)
        metric, W = bind(self.metric, self.metric_params_), self.cluster_centers_
        queries = self._queries(X, metric)
        device = None if on_tensors(metric) is None else at_hand(self.device, len(queries) * len(W))
        if device is None:
            with limited(self.n_jobs):
                return metric.between(queries, W).argmin(axis=1)
        with released(self.device), limited(self.n_jobs):
            return nearest(queries, W, metric, device)

    def _queries(self, X: Any, metric: BoundMetric) -> Any:
        """New objects as the metric takes them."""
        if is_source(X):
            return checked_objects(X, metric).objects
        vectors = hasattr(self, "n_features_in_")
        queries = as_objects(X, metric, vectors=vectors)
        if vectors:
            validate_data(self, X, reset=False, skip_check_array=True)
        return queries

    def _from_objects(self, X: Any, objects: Any) -> FloatArray:
        """(n_query, n) dissimilarities from the queries X to objects of the training data."""
        metric = bind(self.metric, self.metric_params_)
        return metric.between(self._queries(X, metric), objects)

    def _from_training_points(self, X: Any, at: IntArray, ids: Sequence[str] | None) -> NDArray[Any]:
        """The columns `at` of dissimilarities (n_query, N) to all training points, in any form.

        ids : the names that those columns had in training, to be compared where X has names.
        """
        N, who = self.n_features_in_, type(self).__name__
        if isinstance(X, str | PathLike):
            X = as_dissimilarity(X) if is_pair_store(Path(X)) else open_npy(Path(X))
        if not is_source(X) and n_dims(X) == 1 and condensed_size(len(X)) == N:
            X = as_dissimilarity(X)  # the training data themselves
        if is_source(X):
            if X.shape[1] != N:
                raise ValueError(f"X is a source of {X.shape[1]} points, but {who} was fitted on {N}.")
            G = points_to(X, at)
            refuse_bad_entries(G)
            return G
        if on_card(X) and X.ndim == 2 and X.shape[1] == N:
            G = in_memory(as_tensor(X)[:, at.tolist()])  # no more of it than is asked for
            refuse_bad_entries(G)
            return G
        names = column_ids(X)
        if names is not None and len(names) == N and ids is not None:
            for i, name in zip(at, ids, strict=True):
                if names[i] != name:
                    raise ValueError(
                        f"Column {i} is named {names[i]!r}, but was {name!r} in training; "
                        "put the columns in the order of the training points."
                    )
        D = check_queries(ids_and_array(X)[1] if hasattr(X, "condensed_form") else X, N, "training point", who)
        if hasattr(X, "columns"):
            validate_data(self, X, reset=False, skip_check_array=True)
        return D[:, at]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed
        return tags

    # --- what the folders above ask

    def _for_refit(self, params: dict[str, Any]) -> Self:
        return super()._for_refit({**params, "metric": "precomputed", "metric_params": None})

    def _reads_matrix(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    @property
    def _squared(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "sqeuclidean"

    def _object_metric(self, fitted: bool) -> BoundMetric:
        return bind(self.metric, self.metric_params_ if fitted else self.metric_params)


def source_of(space: Space) -> Source:
    """The dissimilarities of a median or relational space."""
    assert isinstance(space, MedianSpace | RelationalSpace)
    return space.source


def among(places: IntArray, keep: IntArray, n: int) -> IntArray:
    """Where the points `places` of n are among the points `keep`, ascending; ValueError if one is not."""
    lost = np.setdiff1d(places, keep)
    if len(lost):
        why = f"X has {n} points" if lost[0] >= n else "its sample_weight is 0"
        raise ValueError(
            f"warm_start continues from prototypes that need point {lost[0]} of the previous fit, but {why}; pass the "
            "same points, or set warm_start=False."
        )
    return np.searchsorted(keep, places)


# --- K-means, neural gas, SOM: how points are assigned, and how the map is annealed ---------------------------------


class KMeansMap(KMeansParameters, BaseMap):
    """Every point counts for its nearest prototype alone."""

    @property
    def _gives(self) -> type[Weights]:  # type: ignore[override]
        return FieldWeights if self.temperature is None else SoftWeights

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_temperature(self.temperature, "temperature")

    def _plan(self, K: int) -> Plan:
        epochs, T = check_count(self.max_iter, "max_iter"), self.temperature
        # Winner-take-all is the limit sigma -> 0: one epoch at 0, and on until nothing moves.
        assignment = Winner() if T is None else Gibbs()
        return Plan(assignment, np.zeros(1), sigma_end=0.0, max_settling=epochs - 1, sigma_warm=0.0, temperature=T)


class AnnealedMap(AnnealedParameters, BaseMap):
    """What neural gas and SOM share: sigma falls geometrically."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.neighborhood, "neighborhood", NEIGHBORHOODS)

    def _annealed(self, assignment: Rank | OnLattice, default_start: float, sigma_warm: float) -> Plan:
        n_epochs = check_count(self.n_epochs, "n_epochs")
        end = check_width(self.sigma_end, "sigma_end")
        start = max(default_start, end) if self.sigma_start is None else check_width(self.sigma_start, "sigma_start")
        if start < end:
            raise ValueError(f"sigma_start = {start:g} is below sigma_end = {end:g}; sigma falls during training.")
        sigmas = geometric(start, end, n_epochs)
        return Plan(assignment, sigmas, end, MAX_SETTLING, sigma_warm)


class NeuralGasMap(NeuralGasParameters, AnnealedMap):
    """Every point counts for every prototype by its rank."""

    _gives = RankWeights

    def _plan(self, K: int) -> Plan:
        # Lower warm starts end in worse maps, higher ones need more epochs.
        last = None if self.truncate is None else check_count(self.truncate, "truncate", at_least=0)
        return self._annealed(Rank(self.neighborhood, last), self._first_width(K), sigma_warm=max(1.0, K / 15))

    def _first_width(self, K: int) -> float:
        """Where sigma starts unless the user says it."""
        return K / 2


class CompressedNeuralGasMap(CompressedParameters, NeuralGasMap):
    """Neural gas of combinations of the data."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        rank = self.compression
        if isinstance(rank, str) and rank != "auto":
            raise ValueError(f"compression is {rank!r}; it must be None, 'auto' or a whole number.")
        if rank is not None and rank != "auto":
            check_count(rank, "compression")

    def _plan(self, K: int) -> Plan:
        return replace(super()._plan(K), compression=self.compression)


class SOMMap(SOMParameters, AnnealedMap):
    """Every point counts for its winner and the neurons around it on the lattice."""

    _on_lattice = True

    @property
    def _gives(self) -> type[Weights]:  # type: ignore[override]
        return FieldWeights if self.temperature is None else SoftWeights

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.winner, "winner", WINNERS)
        check_temperature(self.temperature, "temperature")
        if self.temperature is not None and self.winner == "nearest":
            raise ValueError(
                "temperature makes winners by the neighbourhood soft, and winner='nearest' has others; drop one of "
                "them."
            )

    def _size(self) -> tuple[int, str]:
        # Only counted: of too many neurons all distances would take too long.
        K = prod(checked_grid(self.grid)) if isinstance(self.lattice, str) else len(checked_distances(self.lattice))
        return K, "the number of neurons"

    def _plan(self, K: int) -> Plan:
        lattice = self._neurons()
        far = None if self.truncate is None else check_nonnegative(self.truncate, "truncate")
        shape = (
            lattice, self.neighborhood, check_flag(self.normalized, "normalized"), self.winner == "nearest", far
        )  # fmt: skip
        if self.temperature is not None:
            # The width stays and the temperature falls: in its place, to 0.
            assignment = SoftOnLattice(*shape, width=check_width(self.sigma_end, "sigma_end"))
            plan = Plan(assignment, np.zeros(1), 0.0, MAX_SETTLING, sigma_warm=0.0, temperature=self.temperature)
            return replace(plan, arrange=check_flag(self.arrange, "arrange"))
        # From a higher sigma a short annealing ends in worse maps than it began with.
        plan = self._annealed(
            OnLattice(*shape), lattice.diameter / 2, sigma_warm=max(0.5, 1.5 * check_width(self.sigma_end, "sigma_end"))
        )
        return replace(plan, arrange=check_flag(self.arrange, "arrange"))

    def _neurons(self) -> Lattice:
        return checked_lattice(self.grid, self.lattice, self.periodic)
