"""PatchClusterer: any map, trained patch by patch in one pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    MetaEstimatorMixin,
    TransformerMixin,
)
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.engine import State
from ..core.labels import LabelVectors
from ..core.quality import inertia
from ..estimators.base import BaseMap, Supervision, as_generator, replace_fitted, reporting
from ..estimators.views import ShownInNotebooks
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_choice, check_count, check_flag, check_n_jobs, check_n_prototypes, check_weights
from ..utils.extras import require
from ..utils.threads import limited
from .checkpoint import Progress, seed_of_checkpoint
from .estimate import Estimate, estimated
from .fitted_map import answering_map, carried_again
from .one_pass import PatchRecord, PatchTrained, advanced, as_tree, learned_labels, reporting_patches, sequential
from .patch import Recipe, check_estimator, n_carried, names_points
from .plan import Cost, Plan, Price, planned, price_of_sequence, price_of_tree
from .points import Ground, Intake, Prototypes, SourceGround, intake, is_stream
from .stream import Data, Stream, arrived, distance_blocks
from .tree import Runner, on_dask, on_this_machine

MERGES = ("sequential", "tree")
OF_THE_MAP = (
    "cluster_centers_",
    "medoid_indices_",
    "exemplar_indices_",
    "prototype_ids_",
    "lattice_",
    "n_features_in_",
    "feature_names_in_",
)


class PatchClusterer(
    ShownInNotebooks,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    MetaEstimatorMixin,
    BaseEstimator,
):
    """One pass over huge data: patch after patch is clustered together with the prototypes so far.

    Each prototype stands for the points seen so far that it is nearest to: it enters the next patch as a point of that
    multiplicity. Of N points only the dissimilarities within a patch of p and to the K prototypes are ever evaluated,
    N (p + K) in all, and memory is that of one patch, whatever N.

    Parameters
    ----------
    estimator : any map. If its init names data points, they start the first patch and must lie in it.
    patch_size : most points of a patch, p.
    n_patches : number of patches instead of their size.
    merge : "sequential", patch after patch; or "tree": all patches by themselves, in parallel, then their weighted
        prototypes, p at a time, level by level.
    warm_start : a patch starts from the prototypes before it, warmed up a little (neural gas: sigma = K/15, SOM: 0.5),
        and cools in a tenth of the epochs; a SOM's lattice so keeps its orientation. False anneals every patch from a
        start of its own. Sequential only.
    shuffle : take points in random order rather than as they come; for data whose length is known.
    compute_labels : after the pass, find every point's nearest prototype (N K more evaluations), where the data are
        still there; not for streams.
    points_per_prototype : a relational prototype, a combination of a whole patch, enters the next patch as so many
        points nearest to it in equal parts, q, at most p / K. Read q K for K above; other maps take no heed.
    max_evaluations : budget of the pass. Patches are made smaller until it suffices; where it cannot, the pass stops
        early.
    checkpoint : file that holds the state after every patch. A run that was killed goes on from it, and ends exactly as
        if it had not been. Sequential only.
    n_jobs : "tree": number of processes; otherwise threads, as for the map.
    client : "tree": a `distributed.Client`, or a scheduler's address, to run on.
    verbose : 1 logs every patch.
    on_patch : called after each patch with a `PatchRecord`.

    Attributes
    ----------
    map_ : the fitted map: its `predict`, `transform` and `assign` answer.
    cluster_centers_, medoid_indices_, prototype_ids_, lattice_ : as the map has them; medoid_indices_ (K,) counts
        points in the order in which they were passed.
    exemplar_indices_, carried_indices_ : of relational maps, (K,) the points nearest to the prototypes, and
        (q K,) those that carry them, prototype by prototype, the nearest first.
    multiplicities_ : (K,) weight of the points that each prototype stands for; they add up to the weight of all points.
        Of relational maps they may be fractions: the q points of one may end at several.
    n_samples_seen_, n_patches_, n_evaluations_ : of the pass.
    stopped_early_ : whether the budget ended the pass before the data did.
    labels_, inertia_, quantization_error_ : of all points, with compute_labels.

    Examples
    --------
    >>> import numpy as np
    >>> from medianmap import MedianKMeans, PatchClusterer
    >>> X = np.random.default_rng(0).normal(size=(5000, 2)) + np.repeat([[0, 0], [9, 9]], 2500, axis=0)
    >>> patches = PatchClusterer(MedianKMeans(2, random_state=0), patch_size=500, shuffle=True).fit(X)
    >>> patches.multiplicities_.sum() == 5000
    True
    >>> patches.n_evaluations_ < 5000 * (500 + 2)
    True
    """

    map_: BaseMap
    labels_: IntArray
    multiplicities_: FloatArray
    n_samples_seen_: int
    n_evaluations_: int
    n_patches_: int
    n_iter_: int
    _progress: Progress

    def __init__(
        self,
        estimator: BaseMap,
        patch_size: int = 1000,
        *,
        n_patches: int | None = None,
        merge: str = "sequential",
        warm_start: bool = True,
        shuffle: bool = False,
        compute_labels: bool = True,
        points_per_prototype: int = 4,
        max_evaluations: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        client: Any = None,
        verbose: int = 0,
        on_patch: Callable[[PatchRecord], Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.patch_size = patch_size
        self.n_patches = n_patches
        self.merge = merge
        self.warm_start = warm_start
        self.shuffle = shuffle
        self.compute_labels = compute_labels
        self.points_per_prototype = points_per_prototype
        self.max_evaluations = max_evaluations
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.client = client
        self.verbose = verbose
        self.on_patch = on_patch

    # --- fitting ------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """One pass over X.

        X : what the map takes, or an iterator of objects (a stream), which is read once and never held whole.
        y : ignored.
        sample_weight : (N,) multiplicities; not for streams.
        """
        self._train(X, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take in one more patch, after those of `fit` or of earlier calls.

        X : the patch, as the map takes it. With metric="precomputed" the extended block: dissimilarities (K + n, K + n)
            of the K prototypes so far, in their order (of a relational map the q K points `carried_indices_`), and of n
            new points; (n, n) for the first patch.
        y : ignored.
        sample_weight : (n,) weights of the new points.
        """
        with self._session():
            fitted = getattr(self, "map_", None)
            found, patch, progress = arrived(self.estimator, X, sample_weight, self._so_far(), fitted, self.n_jobs)
            if fitted is not None and found.features and not isinstance(found.ground, SourceGround):
                validate_data(self, X, reset=False, skip_check_array=True)
            self._finish(found, advanced(self._recipe(None), found.ground, progress, patch))
        return self

    def _train(
        self, X: Any, sample_weight: Any, supervision: Supervision | None = None, go_on_from: State | None = None
    ) -> PatchTrained:
        """A pass, with labels where there are any."""
        with self._session():
            seed = _seed(self.estimator)
            if self.checkpoint is not None:
                seed = seed_of_checkpoint(self.checkpoint, seed)
            data = self._data(X, sample_weight, supervision, seed)
            recipe = self._recipe(data.found.N, data.labels, supervision)
            report = reporting_patches(data.plan, self.verbose, self.on_patch)
            if self.merge == "tree":
                with self._runner(recipe) as runner:
                    passed = as_tree(recipe, data, seed, runner, self.max_evaluations, report)
            else:
                passed = sequential(recipe, data, seed, self.checkpoint, self.max_evaluations, report)
            prototypes = passed.progress.prototypes
            if prototypes is None or prototypes.n < recipe.n_prototypes:
                n = 0 if prototypes is None else prototypes.n
                check_n_prototypes(recipe.n_prototypes, n, "the number of prototypes")
            assert prototypes is not None
            self._finish(
                passed.data.found, passed.progress, passed.stopped, self._of_all_points(passed.data, prototypes)
            )
        Y = np.empty((0, 0)) if data.labels is None else learned_labels(passed.data.found.ground, prototypes)
        return PatchTrained(passed.data, prototypes, State(prototypes.places, Y))

    def estimate(self, X: Any, n_points: int | None = None) -> Estimate:
        """What a sequential pass over data like X will take: patches, dissimilarities, seconds, memory.

        X : the data, or a part of them, a few patches; up to four are clustered, twice, to take the time.
        n_points : how many points the pass will have, by default those of X.
        """
        with self._session():
            if is_stream(X):
                raise ValueError(
                    "A stream is used up by looking at it; pass a list of some of its objects, and n_points."
                )
            found = intake(self.estimator, X, np.ones, self.n_jobs)
            assert found.N is not None
            N = found.N if n_points is None else check_count(n_points, "n_points")
            price = self._price(N, found.ground, price_of_sequence)
            plan = self._plan(N, price)
            if found.N < plan.patch_size:
                raise ValueError(
                    f"X holds {found.N} points, but a patch has {plan.patch_size}; pass one or, better, four."
                )
            data = Data(found, np.ones(found.N), None, np.arange(found.N), plan)
            return estimated(self._recipe(N), data, price(plan.sizes))

    # --- asking -------------------------------------------------------------------------------------------------------

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> IntArray:
        """`labels_` of a pass over X, (N,)."""
        if is_stream(X):
            raise ValueError(
                "A stream is used up by the pass; call fit, then predict on a stream of its own or in parts."
            )
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if self.compute_labels else self.predict(X)

    def predict(self, X: Any) -> IntArray:
        """Nearest prototype of each query, (n_query,); see the map's `predict`."""
        check_is_fitted(self)
        return self.map_.predict(X)

    def transform(self, X: Any) -> FloatArray:
        """Dissimilarities from the queries to the prototypes, (n_query, K)."""
        check_is_fitted(self)
        return self.map_._dissimilarities(X)  # not the map's transform(): that may return a frame

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Negative quantization error of X."""
        check_is_fitted(self)
        return self.map_.score(X, sample_weight=sample_weight)

    def assign(self, D: Any) -> IntArray:
        """Nearest prototype (n_query,) from dissimilarities D (n_query, K) to the K prototypes."""
        check_is_fitted(self)
        return self.map_.assign(D)

    # --- inside -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _session(self) -> Iterator[None]:
        """Parameters checked, threads limited, the log shown if asked for."""
        check_estimator(self.estimator)
        check_count(self.patch_size, "patch_size")
        check_count(self.points_per_prototype, "points_per_prototype")
        check_choice(self.merge, "merge", MERGES)
        check_n_jobs(self.n_jobs)
        for name in ("n_patches", "max_evaluations"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name)
        for name in ("warm_start", "shuffle", "compute_labels"):
            check_flag(getattr(self, name), name)
        if self.merge == "tree" and self.checkpoint is not None:
            raise ValueError("checkpoint works with merge='sequential'; a tree of patches is made anew.")
        if names_points(self.estimator.init) and (self.shuffle or self.merge == "tree" or not self.warm_start):
            raise ValueError(
                "init names data points, which start the first patch alone: that goes with merge='sequential', "
                "warm_start=True and shuffle=False."
            )
        if self.merge == "sequential" and self.client is not None:
            raise ValueError("client works with merge='tree'; patch after patch there is nothing to share out.")
        # Where processes share the work, each has one thread.
        threads = 1 if self.merge == "tree" else self.n_jobs
        with reporting(self.verbose), limited(threads):
            yield

    def _so_far(self) -> Progress:
        """Where earlier patches left off; of a loaded model what its attributes tell."""
        if hasattr(self, "_progress"):
            return self._progress
        if not hasattr(self, "map_"):
            return Progress(_seed(self.estimator))
        prototypes = carried_again(self.map_, getattr(self, "carried_indices_", None))
        counts = self.n_patches_, self.n_samples_seen_, self.n_evaluations_, self.n_iter_
        return Progress(_seed(self.estimator), prototypes, *counts)

    def _data(self, X: Any, sample_weight: Any, supervision: Supervision | None, seed: int) -> Data | Stream:
        """What goes into a pass, checked."""
        K, _ = self.estimator._size()
        if is_stream(X):
            if sample_weight is not None or supervision is not None:
                raise ValueError("A stream carries no weights and no labels; pass a list, or patches to partial_fit.")
            if self.n_patches is not None or self.shuffle:
                name = "n_patches" if self.n_patches is not None else "shuffle"
                raise ValueError(f"{name} needs data whose length is known; a stream is taken as it comes.")
            check_patch_size(K, self.patch_size)
            return Stream(intake(self.estimator, X, np.ones, self.n_jobs), self.patch_size)
        found = intake(self.estimator, X, lambda N: check_weights(sample_weight, N), self.n_jobs)
        assert found.N is not None
        m = check_weights(sample_weight, found.N)
        check_n_prototypes(K, int(np.count_nonzero(m)), "the number of prototypes")
        labels = None if supervision is None else supervision.checked(m)
        rule = price_of_tree if self.merge == "tree" else price_of_sequence
        plan = self._plan(found.N, self._price(found.N, found.ground, rule))
        order = np.random.default_rng([seed, 1]).permutation(found.N) if self.shuffle else np.arange(found.N)
        return Data(found, m, labels, order, plan)

    def _price(self, N: int, ground: Ground, rule: Callable[[IntArray, int, Cost], int]) -> Price:
        """What a pass over patches of given sizes takes on this ground."""
        carried = n_carried(self.estimator, self._per_prototype(N))
        return lambda sizes: rule(sizes, carried, ground.cost)

    def _per_prototype(self, N: int | None) -> int:
        """How many points carry a relational prototype: no more than make up a patch, or patches would grow."""
        size = self.patch_size if self.n_patches is None or N is None else -(-N // self.n_patches)
        return max(1, min(self.points_per_prototype, size // self.estimator._size()[0]))

    def _plan(self, N: int, price: Price) -> Plan:
        K, _ = self.estimator._size()
        n_patches = -(-N // self.patch_size) if self.n_patches is None else min(self.n_patches, N)
        check_patch_size(K, N // n_patches if self.n_patches else min(N, self.patch_size))
        # Smaller patches than twice what is carried would cost more.
        least = n_carried(self.estimator, self._per_prototype(N))
        return planned(N, least, n_patches, self.max_evaluations, price)

    def _recipe(
        self, N: int | None, labels: LabelVectors | None = None, supervision: Supervision | None = None
    ) -> Recipe:
        warm, per = self.warm_start and self.merge == "sequential", self._per_prototype(N)
        if labels is None or supervision is None:
            return Recipe(self.estimator, np.empty(0), 1.0, False, warm, per)
        return Recipe(self.estimator, labels.classes, supervision.beta, supervision.scaled, warm, per)

    @contextmanager
    def _runner(self, recipe: Recipe) -> Iterator[Callable[[Ground], Runner]]:
        """What runs the tasks of a tree; a connection made for it is closed after it."""
        if self.client is None:
            yield lambda ground: on_this_machine(recipe, ground, self.n_jobs)
        elif isinstance(self.client, str):
            distributed = require("distributed", "dask", "A Dask cluster")
            try:
                client = distributed.Client(self.client)
            except (OSError, ValueError) as error:
                raise ValueError(f"No Dask scheduler answers at {self.client} ({error}).") from None
            with client:
                yield lambda ground: on_dask(recipe, ground, client)
        else:
            yield lambda ground: on_dask(recipe, ground, self.client)

    def _of_all_points(self, data: Data | Stream, prototypes: Prototypes) -> dict[str, Any]:
        """labels_ and what follows from them, where they are asked for and the points are still there."""
        if not self.compute_labels or isinstance(data, Stream):
            return {}
        nearest, total = np.empty(len(data.m), np.intp), 0.0
        for at, G in distance_blocks(data.found, prototypes):
            nearest[at] = G.argmin(axis=1)
            total += inertia(G, data.m[at])
        return {"labels_": nearest, "inertia_": total, "quantization_error_": total / 2}

    def _finish(
        self, found: Intake, progress: Progress, stopped: bool = False, of_all_points: dict[str, Any] | None = None
    ) -> None:
        """Replace the fitted attributes, all at once."""
        prototypes = progress.prototypes
        assert prototypes is not None
        fitted = answering_map(self.estimator, found, prototypes, progress.epochs)
        attributes: dict[str, Any] = {
            "map_": fitted,
            "multiplicities_": fitted.hits_,
            "n_samples_seen_": progress.n_seen,
            "n_patches_": progress.n_patches,
            "n_evaluations_": progress.evaluations,
            "n_iter_": progress.epochs,
            "stopped_early_": stopped,
            **(of_all_points or {}),
        }
        attributes |= {name: getattr(fitted, name) for name in OF_THE_MAP if hasattr(fitted, name)}
        if prototypes.per:  # of combinations
            attributes["carried_indices_"] = prototypes.places
        replace_fitted(self, attributes)
        self._progress = progress

    @property
    def metric(self) -> Any:
        """The map's metric."""
        return self.estimator.metric

    @property
    def _n_features_out(self) -> int:
        return len(self.multiplicities_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    # --- what the folders above ask

    @property
    def _answering_map(self) -> BaseMap:
        """The fitted map that answers for this model."""
        return self.map_


def _seed(estimator: BaseMap) -> int:
    """The seed of all patches, drawn once from the map's random_state."""
    return int(as_generator(estimator.random_state).integers(2**63))


def check_patch_size(K: int, n: int) -> None:
    """A patch holds a point for every prototype."""
    if n < K:
        raise ValueError(
            f"Patches would have {n} points, fewer than the {K} prototypes; choose larger patches, several times "
            "the number of prototypes."
        )
