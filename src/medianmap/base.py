"""What the six maps share: parameters -> Problem -> engine -> attributes_. The maps themselves are in estimators.py."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .assignment import Assignment
from .engine import Epoch, OnEpoch, Problem, State, anneal
from .initialization import INITS, explicit, start_points
from .metrics.registry import bind
from .neighborhood import Lattice
from .quality import inertia, quantization_error
from .search import CHOICES, check_search_fits
from .sources import (
    ComputedSource,
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
from .sources.base import FloatArray, IntArray
from .sources.checks import refuse_bad_entries
from .sources.computed import PartlyKeptSource, take
from .sources.condensed import condensed_size
from .spaces import COLLISIONS, MedianSpace, Space, VectorSpace, squared_distances
from .threads import limited
from .validation import (
    as_objects,
    check_choice,
    check_count,
    check_n_jobs,
    check_n_prototypes,
    check_vectors,
    check_weights,
    n_dims,
)
from .weights import Weights

logger = logging.getLogger("medianmap")

HISTORY = np.dtype([("sigma", "f8"), ("cost", "f8"), ("quantization_error", "f8"), ("terms", "i8"), ("moved", "i8")])


@dataclass(frozen=True)
class Rule:
    """The half of a map that does not depend on the kind of prototype: how points are assigned, how it is annealed."""

    assignment: Assignment
    sigmas: FloatArray
    sigma_end: float
    max_settling: int
    lattice: Lattice | None = None


class BaseMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """fit, predict, transform, score and assign for every map.

    A concrete map says how points are assigned (`_size`, `_rule`) and what a prototype is (`_given_space`, `_ready`,
    `_prototype_attributes`, `_to_prototypes`).
    """

    init: Any
    n_init: int
    random_state: Any
    n_jobs: int | None
    verbose: int
    on_epoch: OnEpoch | None
    _gives: type[Weights]  # the kind of weights that the map's assignment gives

    def _size(self) -> tuple[int, str]:
        """The number of prototypes, and what the user knows it as."""
        raise NotImplementedError

    def _rule(self, K: int) -> Rule:
        raise NotImplementedError

    def _given_space(self, X: Any) -> Space:
        """What X is, with its shape and type checked."""
        raise NotImplementedError

    def _ready(self, given: Space, m: FloatArray, K: int) -> Space:
        """The space to train in, with its entries computed and checked."""
        raise NotImplementedError

    def _prototype_attributes(self, given: Space, m: FloatArray, prototypes: NDArray[Any]) -> dict[str, Any]:
        """The fitted attributes that depend on the kind of prototype."""
        raise NotImplementedError

    def _to_prototypes(self, X: Any) -> FloatArray:
        """(n_query, K) dissimilarities from queries to prototypes."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the map.

        Parameters
        ----------
        X : the data, as the class says.
        y : ignored.
        sample_weight : (N,) multiplicities, 1 by default. A point of weight 2 counts like two points, one of weight 0
            like none: it can be no prototype, but it gets a label.
        """
        self._check_parameters()
        K, called = self._size()
        with reporting(self.verbose), limited(self.n_jobs):
            given = self._given_space(X)
            features = self._features(X, given)
            m = check_weights(sample_weight, given.n_points)
            keep = np.flatnonzero(m)
            check_n_prototypes(K, len(keep), called)
            rule = self._rule(K)
            start = self._explicit_start(given, K, keep)
            space = self._ready(given, m, K)
            problem = Problem(space if m.all() else space.subset(keep), rule.assignment, m[keep])
            best = self._best_run(problem, rule, K, start)
            prototypes = space.lifted(best.prototypes, keep)
            G = space.distances(prototypes)
            fitted = {
                **features,
                **self._prototype_attributes(given, m, prototypes),
                "labels_": G.argmin(axis=1),
                "inertia_": inertia(G, m),
                "quantization_error_": quantization_error(G, m),
                "n_iter_": len(best.history),
                "converged_": best.converged,
                "history_": as_records(best.history),
            }
            fitted["hits_"] = np.bincount(fitted["labels_"], weights=m, minlength=K)
            if rule.lattice is not None:
                fitted["lattice_"] = rule.lattice
            self._replace_fitted(fitted)
            logger.info(
                "%s: %d epochs, %s, quantization error %.6g", type(self).__name__, self.n_iter_,
                "converged" if self.converged_ else "stopped before a fixed point", self.quantization_error_,
            )  # fmt: skip
        return self

    def predict(self, X: Any) -> IntArray:
        """Nearest prototype of each query, (n_query,); the lowest prototype index on ties."""
        check_is_fitted(self)
        return self._dissimilarities(X).argmin(axis=1)

    def transform(self, X: Any) -> FloatArray:
        """Dissimilarities from the queries to the prototypes, (n_query, K)."""
        check_is_fitted(self)
        return self._dissimilarities(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Negative quantization error of X: -0.5 sum_i m_i min_j d(x_i, w_j). Higher is better."""
        check_is_fitted(self)
        G = self._dissimilarities(X)
        return -quantization_error(G, check_weights(sample_weight, len(G)))

    def assign(self, D: Any) -> IntArray:
        """Nearest prototype (n_query,) from dissimilarities D (n_query, K) of queries to the K prototypes alone.

        A new object costs K evaluations; the training set is not needed.
        """
        check_is_fitted(self)
        return check_queries(D, len(self.hits_), "prototype", type(self).__name__).argmin(axis=1)

    def _dissimilarities(self, X: Any) -> FloatArray:
        # Not transform(): that may return a frame when set_output asks for one.
        with limited(self.n_jobs):
            return self._to_prototypes(X)

    def _check_parameters(self) -> None:
        check_count(self.n_init, "n_init")
        check_count(self.verbose, "verbose", at_least=0)
        check_n_jobs(self.n_jobs)
        if self.on_epoch is not None and not callable(self.on_epoch):
            raise ValueError(f"on_epoch is {self.on_epoch!r}; it must be None or a function of one epoch's record.")
        if isinstance(self.init, str):
            check_choice(self.init, "init", INITS)

    def _features(self, X: Any, given: Space) -> dict[str, Any]:
        """n_features_in_ and feature_names_in_, as scikit-learn finds them, where X has columns."""
        scratch = BaseEstimator()
        validate_data(scratch, X, skip_check_array=True)
        return vars(scratch)

    def _explicit_start(self, given: Space, K: int, keep: IntArray) -> NDArray[Any] | None:
        """The user's init, indices counted among the points `keep`; None if the start is to be drawn."""
        if isinstance(self.init, str):
            return None
        n = given.n_points
        start = explicit(self.init, K, n, n_features=given.n_features, distinct=self._distinct_start())
        if start.ndim == 2:
            return start
        place = np.full(n, -1, np.intp)
        place[keep] = np.arange(len(keep))
        weightless = start[place[start] < 0]
        if len(weightless):
            raise ValueError(f"init names point {weightless[0]}, whose sample_weight is 0; choose points that count.")
        return place[start]

    def _distinct_start(self) -> bool:
        return False

    def _best_run(self, problem: Problem, rule: Rule, K: int, start: NDArray[Any] | None) -> State:
        """The run of least quantization error out of n_init, the first on ties; an explicit start is run once."""
        rng = as_generator(self.random_state)
        space, runs = problem.space, []
        for run in range(self.n_init if start is None else 1):
            places = start_points(self.init, space, K, problem.m, rng) if start is None else start
            prototypes = space.at(places) if places.ndim == 1 else places
            state = anneal(problem, prototypes, rule.sigmas, rule.sigma_end, rule.max_settling, rng, self._watch, run)
            runs.append((inertia(space.distances(state.prototypes), problem.m), state))
        return min(runs, key=lambda outcome: outcome[0])[1]

    def _watch(self, epoch: Epoch) -> None:
        if self.verbose > 1 or (self.verbose and epoch.number % 10 == 0):
            logger.info(
                "run %d epoch %d: sigma %.4g, cost %.6g, quantization error %.6g, %d moved",
                epoch.run, epoch.number, epoch.sigma, epoch.cost, epoch.quantization_error, epoch.moved,
            )  # fmt: skip
        if self.on_epoch is not None:
            self.on_epoch(epoch)

    def _replace_fitted(self, fitted: dict[str, Any]) -> None:
        """Put new fitted attributes in the place of those of an earlier fit, all at once."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        for name, value in fitted.items():
            setattr(self, name, value)

    @property
    def _n_features_out(self) -> int:
        return len(self.hits_)


class MedianMap(BaseMap):
    """Prototypes are data points; X is anything that `as_dissimilarity` accepts."""

    metric: Any
    metric_params: Any
    collisions: str
    search: str
    refine: None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.collisions, "collisions", COLLISIONS)
        check_choice(self.search, "search", CHOICES)
        check_search_fits(self.search, self._gives, type(self).__name__)
        check_choice(self.refine, "refine", (None,))

    def _distinct_start(self) -> bool:
        return self.collisions == "distinct"

    def _given_space(self, X: Any) -> MedianSpace:
        if self.metric == "precomputed" or isinstance(X, Source):
            source = as_dissimilarity(X, self.metric, metric_params=self.metric_params)
        else:
            source = computed(X, self.metric, metric_params=self.metric_params, n_jobs=self.n_jobs)
        return MedianSpace(source, self.search, self.collisions, self.n_jobs)

    def _features(self, X: Any, given: Space) -> dict[str, Any]:
        assert isinstance(given, MedianSpace)
        if self.metric != "precomputed":
            objects = given.source.objects if isinstance(given.source, ComputedSource) else None
            if not isinstance(objects, np.ndarray):
                return {}  # strings and other objects have no columns
            return super()._features(X if n_dims(X) == 2 else objects, given)
        if n_dims(X) == 2 and not isinstance(X, Source):
            return super()._features(X, given)
        return {"n_features_in_": given.n_points}  # a source, a path, a condensed vector

    def _ready(self, given: Space, m: FloatArray, K: int) -> MedianSpace:
        assert isinstance(given, MedianSpace)
        source = self._resolved(given.source, m)
        if isinstance(source, ComputedSource):
            source = source.kept()
        if not isinstance(source, PartlyKeptSource):  # its metric checks every value as it comes, and a pass is dear
            check_entries(source, K * float(m.sum()))
        return MedianSpace(source, self.search, self.collisions, self.n_jobs)

    def _resolved(self, source: Source, m: FloatArray) -> Source:
        """The source with metric parameters that the weighted data fix."""
        if not isinstance(source, ComputedSource):
            return source
        return replace(source, metric=source.metric.resolved(source.objects, m))

    def _prototype_attributes(self, given: Space, m: FloatArray, prototypes: IntArray) -> dict[str, Any]:
        assert isinstance(given, MedianSpace)
        source = self._resolved(given.source, m)
        fitted: dict[str, Any] = {"medoid_indices_": prototypes, "cluster_centers_": None}
        if isinstance(source, ComputedSource):
            fitted["cluster_centers_"] = take(source.objects, prototypes)
            fitted["metric_params_"] = dict(source.metric.params)
            fitted["n_evaluations_"] = source.evaluations
        if source.ids is not None:
            fitted["prototype_ids_"] = [source.ids[i] for i in prototypes]
        return fitted

    def _to_prototypes(self, X: Any) -> FloatArray:
        if self.metric == "precomputed":
            return self._columns_of_medoids(X)
        metric = bind(self.metric, self.metric_params_)
        vectors = hasattr(self, "n_features_in_")
        queries = as_objects(X, metric, vectors=vectors)
        if vectors:
            validate_data(self, X, reset=False, skip_check_array=True)
        return metric.between(queries, self.cluster_centers_)

    def _columns_of_medoids(self, X: Any) -> FloatArray:
        """The columns of the medoids out of dissimilarities (n_query, N) to all training points, in any form."""
        N, who = self.n_features_in_, type(self).__name__
        if isinstance(X, str | PathLike):
            X = open_npy(Path(X))
        if not isinstance(X, Source) and n_dims(X) == 1 and condensed_size(len(X)) == N:
            X = as_dissimilarity(X)  # the training data themselves
        if isinstance(X, Source):
            if X.shape[1] != N:
                raise ValueError(f"X is a source of {X.shape[1]} points, but {who} was fitted on {N}.")
            G = points_to(X, self.medoid_indices_)
            refuse_bad_entries(G)
            return np.ascontiguousarray(G, dtype=np.float64)
        names = column_ids(X)
        if names is not None and len(names) == N and hasattr(self, "prototype_ids_"):
            for j, i in enumerate(self.medoid_indices_):
                if names[i] != self.prototype_ids_[j]:
                    raise ValueError(
                        f"Column {i} is named {names[i]!r}, but was {self.prototype_ids_[j]!r} in training; "
                        "put the columns in the order of the training points."
                    )
        D = check_queries(ids_and_array(X)[1] if hasattr(X, "condensed_form") else X, N, "training point", who)
        if hasattr(X, "columns"):
            validate_data(self, X, reset=False, skip_check_array=True)
        return np.ascontiguousarray(D[:, self.medoid_indices_], dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed
        return tags


class BatchMap(BaseMap):
    """Prototypes are mean vectors; X (N, M) are vectors, compared by the squared Euclidean distance."""

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
        return given

    def _prototype_attributes(self, given: Space, m: FloatArray, prototypes: FloatArray) -> dict[str, Any]:
        return {"cluster_centers_": prototypes}

    def _to_prototypes(self, X: Any) -> FloatArray:
        queries = np.asarray(check_vectors(X), dtype=np.float64, order="C")
        validate_data(self, X, reset=False, skip_check_array=True)
        return squared_distances(queries, self.cluster_centers_, self.n_jobs)


def as_records(history: tuple[Epoch, ...]) -> NDArray[Any]:
    """One record an epoch."""
    names = HISTORY.names or ()
    return np.array([tuple(getattr(epoch, name) for name in names) for epoch in history], HISTORY)


def as_generator(random_state: Any) -> np.random.Generator:
    """One generator from what scikit-learn calls a random_state: None, a seed, a RandomState, or a Generator itself."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    seeds = check_random_state(random_state).randint(2**31 - 1, size=4)
    return np.random.default_rng(seeds)


@contextmanager
def reporting(verbose: int) -> Iterator[None]:
    """Let the log be seen when verbose asks for it and nobody has set up logging."""
    if not verbose or logger.hasHandlers():
        yield
        return
    handler = logging.StreamHandler()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
