"""The two families: median maps, whose prototypes are data points, and batch maps, whose prototypes are means."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .base import BaseMap
from .metrics.registry import bind
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
from .sources.computed import take
from .sources.condensed import condensed_size
from .sources.kept import DearSource, PartlyKeptSource
from .sources.pairs import is_pair_store
from .spaces import COLLISIONS, MedianSpace, Space, VectorSpace, squared_distances
from .validation import as_objects, check_choice, check_vectors, n_dims


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
        if isinstance(source, DearSource):
            source = source.kept()
        if not isinstance(source, PartlyKeptSource):  # every value is checked as it comes, and a pass is dear
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
            X = as_dissimilarity(X) if is_pair_store(Path(X)) else open_npy(Path(X))
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
