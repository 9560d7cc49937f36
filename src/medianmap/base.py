"""What the six maps share: parameters -> Problem -> engine -> attributes_. The maps themselves are in estimators.py."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
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
from .sources import ComputedSource, Source, as_dissimilarity, check_entries, points_to
from .sources.base import FloatArray, IntArray
from .sources.computed import take
from .spaces import COLLISIONS, MedianSpace, Space, VectorSpace, squared_distances
from .threads import limited
from .validation import (
    as_objects,
    check_choice,
    check_count,
    check_n_jobs,
    check_n_prototypes,
    check_queries,
    check_vectors,
    check_weights,
)

logger = logging.getLogger("medianmap")

HISTORY = np.dtype([("sigma", "f8"), ("cost", "f8"), ("quantization_error", "f8"), ("terms", "i8"), ("moved", "i8")])


@dataclass(frozen=True)
class Rule:
    """The half of a map that does not depend on the kind of prototype: how many, assigned how, annealed how."""

    n_prototypes: int
    called: str  # the parameter that sets the number, for messages
    assignment: Assignment
    sigmas: FloatArray
    max_settling: int
    lattice: Lattice | None = None


class BaseMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """fit, predict, transform, score and assign for every map.

    A concrete map says how points are assigned (`_rule`) and what a prototype is (`_given_space`, `_ready`,
    `_remember`, `_to_prototypes`).
    """

    init: Any
    n_init: int
    random_state: Any
    n_jobs: int | None
    verbose: int
    on_epoch: OnEpoch | None

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _given_space(self, X: Any) -> Space:
        """What X is, with its shape and type checked."""
        raise NotImplementedError

    def _ready(self, given: Space, total_weight: float) -> Space:
        """The space to train in, with its entries computed and checked."""
        raise NotImplementedError

    def _remember(self, X: Any, given: Space, prototypes: NDArray[Any]) -> None:
        """Set the fitted attributes that depend on the kind of prototype."""
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
        rule = self._rule()
        self._check_parameters(rule)
        with reporting(self.verbose), limited(self.n_jobs):
            given = self._given_space(X)
            m = check_weights(sample_weight, given.n_points)
            keep = np.flatnonzero(m)
            check_n_prototypes(rule.n_prototypes, len(keep), rule.called)
            start = self._explicit_start(given, rule.n_prototypes, keep)
            space = self._ready(given, float(m.sum()))
            problem = Problem(space if m.all() else space.subset(keep), rule.assignment, m[keep])
            best = self._best_run(problem, rule, start)
            prototypes = space.lifted(best.prototypes, keep)
            G = space.distances(prototypes)

            self._forget()
            self._remember(X, given, prototypes)
            self.labels_ = G.argmin(axis=1)
            self.hits_ = np.bincount(self.labels_, weights=m, minlength=rule.n_prototypes)
            self.inertia_ = inertia(G, m)
            self.quantization_error_ = quantization_error(G, m)
            self.n_iter_ = len(best.history)
            self.converged_ = best.converged
            self.history_ = np.array(
                [tuple(getattr(e, name) for name in HISTORY.names or ()) for e in best.history], HISTORY
            )
            if rule.lattice is not None:
                self.lattice_ = rule.lattice
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

    def _check_parameters(self, rule: Rule) -> None:
        check_count(self.n_init, "n_init")
        check_n_jobs(self.n_jobs)
        if isinstance(self.init, str):
            check_choice(self.init, "init", INITS)

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

    def _best_run(self, problem: Problem, rule: Rule, start: NDArray[Any] | None) -> State:
        """The run of least quantization error out of n_init, the first on ties; an explicit start is run once."""
        rng = as_generator(self.random_state)
        space, runs = problem.space, []
        for run in range(self.n_init if start is None else 1):
            places = start_points(self.init, space, rule.n_prototypes, problem.m, rng) if start is None else start
            prototypes = space.at(places) if places.ndim == 1 else places
            state = anneal(problem, prototypes, rule.sigmas, rule.max_settling, rng, self._watch, run)
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

    def _forget(self) -> None:
        """Drop what an earlier fit left; called only once the new one has succeeded."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

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

    def _check_parameters(self, rule: Rule) -> None:
        super()._check_parameters(rule)
        check_choice(self.collisions, "collisions", COLLISIONS)
        check_choice(self.search, "search", CHOICES)
        check_search_fits(self.search, rule.assignment.gives, type(self).__name__)
        check_choice(self.refine, "refine", (None,))

    def _distinct_start(self) -> bool:
        return self.collisions == "distinct"

    def _given_space(self, X: Any) -> MedianSpace:
        if isinstance(X, Source) and self.metric != "precomputed":
            raise ValueError(
                f"X is a source of dissimilarities, but metric is {self.metric!r}; set metric='precomputed'."
            )
        source = as_dissimilarity(X, self.metric, metric_params=self.metric_params, n_jobs=self.n_jobs)
        return MedianSpace(source, self.search, self.collisions, self.n_jobs)

    def _ready(self, given: Space, total_weight: float) -> MedianSpace:
        assert isinstance(given, MedianSpace)
        source = given.source.kept() if isinstance(given.source, ComputedSource) else given.source
        check_entries(source, total_weight)
        return replace(given, source=source)

    def _remember(self, X: Any, given: Space, prototypes: IntArray) -> None:
        assert isinstance(given, MedianSpace)
        source = given.source
        self.medoid_indices_ = prototypes
        self.cluster_centers_ = None
        if isinstance(source, ComputedSource):
            self.cluster_centers_ = take(source.objects, prototypes)
            self.metric_params_ = dict(source.metric.params)
        if source.ids is not None:
            self.prototype_ids_ = [source.ids[i] for i in prototypes]
        if isinstance(source, ComputedSource) and not isinstance(source.objects, np.ndarray):
            return  # strings and other objects have no features
        if hasattr(X, "shape") and len(X.shape) == 2 and not isinstance(X, Source):
            validate_data(self, X, skip_check_array=True)
        else:
            self.n_features_in_ = source.objects.shape[1] if isinstance(source, ComputedSource) else source.shape[1]

    def _to_prototypes(self, X: Any) -> FloatArray:
        if self.metric == "precomputed":
            if isinstance(X, Source | str | PathLike) or hasattr(X, "condensed_form"):
                return points_to(as_dissimilarity(X), self.medoid_indices_)
            D = check_queries(X, self.n_features_in_, "training point", type(self).__name__)
            validate_data(self, X, reset=False, skip_check_array=True)  # names of the columns
            return np.ascontiguousarray(D[:, self.medoid_indices_], dtype=np.float64)
        metric = bind(self.metric, self.metric_params_)
        queries = as_objects(X, metric)
        if hasattr(self, "n_features_in_"):
            validate_data(self, X, reset=False, skip_check_array=True)
        return metric.between(queries, self.cluster_centers_)

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

    def _ready(self, given: Space, total_weight: float) -> Space:
        return given

    def _remember(self, X: Any, given: Space, prototypes: FloatArray) -> None:
        self.cluster_centers_ = prototypes
        validate_data(self, X, skip_check_array=True)

    def _to_prototypes(self, X: Any) -> FloatArray:
        queries = np.asarray(check_vectors(X), dtype=np.float64, order="C")
        validate_data(self, X, reset=False, skip_check_array=True)
        return squared_distances(queries, self.cluster_centers_, self.n_jobs)


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
