"""The three families: prototypes are data points (median), combinations of the data (relational) or means (batch)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import validate_data

from ..core.assignment import OnLattice, Winner
from ..core.engine import OnEpoch, Problem, State, looked_at
from ..core.relational import RelationalSpace, between_prototypes, in_equal_parts, products, snapped
from ..core.spaces import COLLISIONS, MedianSpace, Space, VectorSpace, squared_distances
from ..metrics.base import BoundMetric
from ..metrics.registry import bind
from ..refine import refine_som, swap_medoids
from ..refine.labelled import LabelledSource, labelled_source, settled_labels
from ..search import CHOICES, check_search_fits
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
from ..sources.base import FloatArray, IntArray, is_source
from ..sources.checks import refuse_bad_entries
from ..sources.computed import checked_objects, take, with_objects
from ..sources.duckdb import is_pair_store
from ..sources.memory import PartlyKeptSource, condensed_size, kept_if_dear
from ..sources.objects import as_objects, check_vectors, n_dims
from ..utils.checks import check_choice, check_count
from .base import BaseMap, Rule
from .rules import AnnealedRule

ANNEALINGS = ("auto", "median", "relational")

# Kicks out of the optimum that swaps reach from the exemplars of an annealed map.
KICKS = 8


class DissimilarityMap(BaseMap):
    """X is anything that `as_dissimilarity` accepts: a matrix, a source, or objects and a metric."""

    metric: Any
    metric_params: Any

    def _source(self, X: Any) -> Source:
        if self.metric == "precomputed":
            return as_dissimilarity(X, metric_params=self.metric_params)
        if is_source(X):
            return checked_objects(X, bind(self.metric, self.metric_params))
        return computed(X, self.metric, metric_params=self.metric_params, n_jobs=self.n_jobs)

    def _features(self, X: Any, given: Space) -> dict[str, Any]:
        if self.metric != "precomputed":
            held = with_objects(source_of(given))
            if held is None or not isinstance(held.objects, np.ndarray):
                return {}  # strings and other objects have no columns
            if n_dims(X) == 2 and not is_source(X):
                return super()._features(X, given)
            names = {} if held.columns is None else {"feature_names_in_": np.array(held.columns, object)}
            return super()._features(held.objects, given) | names
        if n_dims(X) == 2 and not is_source(X):
            return super()._features(X, given)
        return {"n_features_in_": given.n_points}  # a source, a path, a condensed vector

    def _checked(self, source: Source, m: FloatArray, K: int) -> Source:
        """The source to train on: parameters fixed, dear dissimilarities kept, entries looked through."""
        source = self._resolved(source, m)
        source = kept_if_dear(source)
        if not isinstance(source, PartlyKeptSource):  # every value is checked as it comes, and a pass is dear
            check_entries(source, K * float(m.sum()))
        return source

    def _resolved(self, source: Source, m: FloatArray) -> Source:
        """The source with metric parameters that the weighted data fix."""
        held = with_objects(source)
        return source if held is None else held.resolved(m)

    def _from_objects(self, X: Any, objects: Any) -> FloatArray:
        """(n_query, n) dissimilarities from the queries X to objects of the training data."""
        metric = bind(self.metric, self.metric_params_)
        if is_source(X):
            return metric.between(checked_objects(X, metric).objects, objects)
        vectors = hasattr(self, "n_features_in_")
        queries = as_objects(X, metric, vectors=vectors)
        if vectors:
            validate_data(self, X, reset=False, skip_check_array=True)
        return metric.between(queries, objects)

    def _from_training_points(self, X: Any, at: IntArray, ids: Sequence[str] | None) -> NDArray[Any]:
        """The columns `at` out of dissimilarities (n_query, N) to all training points, in any form.

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

    def _reads_matrix(self, X: Any = None) -> bool:
        return bool(isinstance(self.metric, str) and self.metric == "precomputed") or is_source(X)

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
            f"warm_start goes on from prototypes that need point {lost[0]} of the fit before, but {why}; pass the same "
            "points, or set warm_start=False."
        )
    return np.searchsorted(keep, places)


class MedianMap(DissimilarityMap):
    """Prototypes are data points."""

    annealing: str
    collisions: str
    search: str
    refine: str | None
    max_swaps: int | None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.annealing, "annealing", ANNEALINGS)
        check_choice(self.collisions, "collisions", COLLISIONS)
        check_choice(self.search, "search", CHOICES)
        check_search_fits(self.search, self._gives, type(self).__name__)
        check_choice(self.refine, "refine", (None, "swap"))
        if self.max_swaps is not None:
            check_count(self.max_swaps, "max_swaps", at_least=0)

    def _check_beta(self, beta: float) -> None:
        if self.refine is not None and beta < 1 and self._on_lattice:
            raise ValueError("refine='swap' of a SOM knows no labels; set refine=None, or beta=1.")

    def _distinct_start(self) -> bool:
        return self.collisions == "distinct"

    def _earlier(self, space: Space, keep: IntArray) -> IntArray:
        if self._distinct_start() and len(np.unique(self.medoid_indices_)) < len(self.medoid_indices_):
            raise ValueError(
                "warm_start goes on from prototypes two of which are the same point; collisions='distinct' needs "
                "different ones. Set warm_start=False."
            )
        return among(self.medoid_indices_, keep, space.n_points)

    def _space(self, source: Source) -> MedianSpace:
        return MedianSpace(source, self.search, self.collisions, self.n_jobs)

    def _given_space(self, X: Any) -> MedianSpace:
        return self._space(self._source(X))

    def _ready(self, given: Space, m: FloatArray, K: int) -> MedianSpace:
        return self._space(self._checked(source_of(given), m, K))

    @property
    def _only_swaps(self) -> bool:
        """Whether training has no epochs: swaps end where none of K-means could move a prototype, and get there sooner
        by themselves, unless they are to be few."""
        free = self.refine is not None and self.max_swaps is None
        return self.annealing == "auto" and free and not isinstance(self, AnnealedRule)

    def _annealed_from(
        self,
        problem: Problem,
        start: NDArray[Any] | State,
        sigmas: FloatArray,
        rule: Rule,
        rng: np.random.Generator,
        on_epoch: OnEpoch,
        run: int = 0,
    ) -> State:
        """Unless annealing="median": through `sigmas` with combinations of the data as prototypes, then from the data
        points nearest to them with data points alone."""
        if self._only_swaps:
            state = looked_at(problem, start, rule.sigma_end)
            on_epoch(replace(state.history[-1], run=run))
            return self._refined(problem, state, rule)
        going_on = isinstance(start, State) and len(sigmas) == 1
        if self.annealing != "median" and not going_on:  # exemplars that only have to settle have come so far already
            space = RelationalSpace(source_of(problem.space), self.n_jobs)
            start = State(space.at(start.prototypes), start.labels) if isinstance(start, State) else space.at(start)
            state = super()._annealed_from(replace(problem, space=space), start, sigmas, rule, rng, on_epoch, run)
            places = self._exemplars(problem, space.distances(state.prototypes))
            start, sigmas = State(places, state.labels, state.history), np.array([rule.sigma_end])
        state = super()._annealed_from(problem, start, sigmas, rule, rng, on_epoch, run)
        return state if self.refine is None else self._refined(problem, state, rule)

    def _exemplars(self, problem: Problem, G: FloatArray) -> IntArray:
        """(K,) data points in the place of relational prototypes at the dissimilarities G (N, K).

        Each takes the nearest free point. Where a point stands for few, or for points that a neighbour serves nearly as
        well, it had better be elsewhere: at most K exchanges that lower the quantization error. Not on a lattice, whose
        order they would tear, nor beside labels, which they do not know.
        """
        places = snapped(G, self.collisions == "distinct")
        supervised = problem.label_term is not None and problem.label_term.beta < 1
        if supervised or isinstance(problem.assignment, OnLattice):
            return places
        source, K = source_of(problem.space), len(places)
        return swap_medoids(source, places, problem.m, max_swaps=K, n_jobs=self.n_jobs).medoids

    def _refined(self, problem: Problem, state: State, rule: Rule) -> State:
        """The exemplars after swaps that lower the quantization error, in d_beta beside labels, or on a lattice the
        map's own cost."""
        source, w, m = source_of(problem.space), state.prototypes, problem.m
        term = problem.label_term
        if term is not None and term.beta < 1:
            source = labelled_source(source, term)
        if isinstance(problem.assignment, OnLattice):
            lattice, shape = problem.assignment.lattice, problem.assignment.neighborhood
            swapped = refine_som(
                source, w, lattice, rule.sigma_end, m, weights=partial(lattice.weights, neighborhood=shape),
                max_swaps=self.max_swaps, n_jobs=self.n_jobs,
            )  # fmt: skip
        else:
            # Beside annealing a descent takes little time, and the best of a few is a better optimum.
            annealed = not isinstance(problem.assignment, Winner)
            swapped = swap_medoids(
                source, w, m, max_swaps=self.max_swaps, plateau=not annealed, kicks=KICKS if annealed else 0,
                n_jobs=self.n_jobs,
            )  # fmt: skip
        labels = state.labels
        if term is not None:
            G = problem.space.distances(swapped.medoids)
            start = source.labels_of(swapped.medoids) if isinstance(source, LabelledSource) else labels
            labels = settled_labels(term, problem.assignment, G, rule.sigma_end, m, start)
        converged = state.converged and swapped.converged
        return replace(state, prototypes=swapped.medoids, labels=labels, swaps=swapped.n_swaps, converged=converged)

    def _run_attributes(self, state: State) -> dict[str, Any]:
        return {} if self.refine is None else {"n_swaps_": state.swaps}

    def _prototype_attributes(self, given: Space, space: Space, m: FloatArray, prototypes: IntArray) -> dict[str, Any]:
        source = self._resolved(source_of(given), m)
        fitted: dict[str, Any] = {"medoid_indices_": prototypes, "cluster_centers_": None}
        held = with_objects(source)
        if held is not None:
            fitted["cluster_centers_"] = take(held.objects, prototypes)
            fitted["metric_params_"] = dict(held.metric.params)
            fitted["n_evaluations_"] = held.evaluations
        if source.ids is not None:
            fitted["prototype_ids_"] = [source.ids[i] for i in prototypes]
        return fitted

    def _to_prototypes(self, X: Any) -> FloatArray:
        if self.metric != "precomputed":
            return self._from_objects(X, self.cluster_centers_)
        D = self._from_training_points(X, self.medoid_indices_, getattr(self, "prototype_ids_", None))
        return np.ascontiguousarray(D, dtype=np.float64)

    # --- what the folders above ask

    def _carriers(self, G: FloatArray, places: IntArray, each: int) -> IntArray:
        return self.medoid_indices_[:, None]

    def _prototypes_at(self, points: IntArray, n: int) -> IntArray:
        return points[:, 0]

    def _carried_attributes(
        self, places: IntArray, objects: Any, D: NDArray[Any] | None, each: int, ids: Sequence[str] | None
    ) -> dict[str, Any]:
        return {"medoid_indices_": places, "cluster_centers_": objects}


class RelationalMap(DissimilarityMap):
    """Prototypes are convex combinations of the data, known by their coefficients."""

    _signed = True

    def _earlier(self, space: Space, keep: IntArray) -> FloatArray:
        P = np.zeros((len(self.hits_), len(keep)))
        P[:, among(self.support_, keep, space.n_points)] = self.coefficients_.toarray()
        return P

    def _given_space(self, X: Any) -> RelationalSpace:
        return RelationalSpace(self._source(X), self.n_jobs)

    def _ready(self, given: Space, m: FloatArray, K: int) -> RelationalSpace:
        return RelationalSpace(self._checked(source_of(given), m, K), self.n_jobs)

    def _final_distances(self, space: Space, prototypes: FloatArray) -> FloatArray:
        assert isinstance(space, RelationalSpace)
        return space.rowwise(prototypes)[0]

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
        held = with_objects(source)
        if held is not None:
            fitted["support_objects_"] = take(held.objects, support)
            fitted["metric_params_"] = dict(held.metric.params)
            fitted["n_evaluations_"] = held.evaluations
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


class BatchMap(BaseMap):
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
        return given

    def _prototype_attributes(
        self, given: Space, space: Space, m: FloatArray, prototypes: FloatArray
    ) -> dict[str, Any]:
        return {"cluster_centers_": prototypes}

    def _to_prototypes(self, X: Any) -> FloatArray:
        queries = np.asarray(check_vectors(X), dtype=np.float64, order="C")
        validate_data(self, X, reset=False, skip_check_array=True)
        return squared_distances(queries, self.cluster_centers_, self.n_jobs)
