"""PatchClusterer: any map, trained patch by patch in one pass."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..base import BaseMap, Supervision, as_generator, reporting
from ..engine import State
from ..extras import require
from ..labels import LabelVectors
from ..metrics.registry import bind
from ..quality import inertia
from ..sources.base import FloatArray, IntArray
from ..sources.computed import take
from ..threads import limited
from ..validation import check_choice, check_count, check_flag, check_n_jobs, check_n_prototypes, check_weights
from .checkpoint import Progress, seed_of_checkpoint
from .estimate import Estimate, estimated
from .fitted import fitted_map
from .ground import Ground, ObjectGround, Prototypes, SourceGround
from .intake import Intake, block_intake, intake, is_stream, resolved_by
from .plan import Plan, StreamPlan, planned
from .running import Data, PatchRecord, PatchTrained, advanced, as_tree, distance_blocks, learned_labels, sequential
from .step import Patch, Recipe
from .tree import Runner, on_dask, on_this_machine

logger = logging.getLogger("medianmap")

MERGES = ("sequential", "tree")


class PatchClusterer(TransformerMixin, ClusterMixin, MetaEstimatorMixin, BaseEstimator):
    """One pass over huge data: patch after patch is clustered together with the prototypes so far.

    Each prototype stands for the points seen so far that it is nearest to: it enters the next patch as a point of that
    multiplicity. Of N points only the dissimilarities within a patch of p and to the K prototypes are ever evaluated,
    N (p + K) in all, and memory is that of one patch, whatever N.

    Parameters
    ----------
    estimator : any of the six maps.
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
    multiplicities_ : (K,) weight of the points that each prototype stands for; they add up to the weight of all points.
    n_samples_seen_, n_patches_, n_evaluations_ : of the pass.
    stopped_early_ : whether the budget ended the pass before the data did.
    labels_, inertia_, quantization_error_ : of all points, with compute_labels.
    patches_ : one record a patch: points, evaluations, epochs, quantization error of the extended patch.

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
            of the K prototypes so far, in their order, and of n new points; (n, n) for the first patch.
        y : ignored.
        sample_weight : (n,) weights of the new points.
        """
        with self._session():
            progress = self._so_far()
            if getattr(self.estimator, "metric", None) == "precomputed":
                found, points = block_intake(X, progress.prototypes, progress.n_seen)
            else:
                found = intake(self.estimator, iter(()), None, self.n_jobs)
                if progress.prototypes is not None and isinstance(found.ground, ObjectGround):
                    metric = bind(self.estimator.metric, self.map_.metric_params_)
                    found = replace(found, ground=replace(found.ground, metric=metric))
                points = found.prepared(X)
                self._check_features(points)
            m = check_weights(sample_weight, len(points))
            if progress.prototypes is None:
                check_n_prototypes(self.estimator._size()[0], int(np.count_nonzero(m)), "the number of prototypes")
                found = resolved_by(found, points, m)
            counting = np.flatnonzero(m)
            patch = Patch(
                take(points, counting),
                progress.n_seen + counting,
                m[counting],
                np.empty((len(counting), 0)),
                len(m),
            )
            after = advanced(self._recipe(None, None), found.ground, progress, patch)
            self._finish(Data(found, None, None, None), after, labels=False, stopped=False)
        return self

    def _train(
        self, X: Any, sample_weight: Any, supervision: Supervision | None = None, go_on_from: State | None = None
    ) -> PatchTrained:
        """A pass, with labels where there are any."""
        with self._session():
            if is_stream(X) and (sample_weight is not None or supervision is not None):
                raise ValueError("A stream carries no weights and no labels; pass a list, or patches to partial_fit.")
            found = intake(self.estimator, X, lambda N: check_weights(sample_weight, N), self.n_jobs)
            m = None if found.N is None else check_weights(sample_weight, found.N)
            labels = None if supervision is None or m is None else supervision.checked(m)
            plan = self._plan(found, m)
            seed = _seed(self.estimator)
            if self.checkpoint is not None:
                seed = seed_of_checkpoint(self.checkpoint, seed)
            data = Data(found, m, labels, self._order(found.N, seed))
            recipe = self._recipe(labels, supervision)
            report = self._reporter(plan)
            if self.merge == "tree":
                with self._runner(recipe) as runner:
                    data, progress, stopped = as_tree(data, plan, seed, runner, report)
            else:
                budget = self.max_evaluations
                data, progress, stopped = sequential(recipe, data, plan, seed, self.checkpoint, budget, report)
            self._finish(data, progress, self.compute_labels and m is not None, stopped)
        assert progress.prototypes is not None
        Y = learned_labels(data.found.ground, progress.prototypes)
        return PatchTrained(data, progress.prototypes, State(progress.prototypes.places, Y))

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
            found = intake(self.estimator, X, None, self.n_jobs)
            assert found.N is not None
            m = np.ones(found.N)
            plan = self._plan(found, m)
            assert isinstance(plan, Plan)
            data = Data(found, m, None, np.arange(found.N))
            n = found.N if n_points is None else check_count(n_points, "n_points")
            return estimated(self._recipe(None, None), data, plan, n, self.max_evaluations)

    # --- asking -------------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> IntArray:
        """Nearest prototype of each query, (n_query,); see the map's `predict`."""
        check_is_fitted(self)
        return self.map_.predict(X)

    def transform(self, X: Any) -> FloatArray:
        """Dissimilarities from the queries to the prototypes, (n_query, K)."""
        check_is_fitted(self)
        return self.map_.transform(X)

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
        given: Any = self.estimator
        if not isinstance(given, BaseMap):
            raise TypeError(f"estimator is a {type(given).__name__}; pass one of medianmap's maps.")
        check_count(self.patch_size, "patch_size")
        check_choice(self.merge, "merge", MERGES)
        check_n_jobs(self.n_jobs)
        for name in ("n_patches", "max_evaluations"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name)
        for name in ("warm_start", "shuffle", "compute_labels"):
            check_flag(getattr(self, name), name)
        if self.merge == "tree" and self.checkpoint is not None:
            raise ValueError("checkpoint works with merge='sequential'; a tree of patches is made anew.")
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
        K = len(self.multiplicities_)
        places = getattr(self, "medoid_indices_", np.full(K, -1))
        points = places if self.map_.cluster_centers_ is None else self.map_.cluster_centers_
        prototypes = Prototypes(points, places, self.multiplicities_, None, np.empty((K, 0)))
        counts = self.n_patches_, self.n_samples_seen_, self.n_evaluations_, self.n_iter_
        return Progress(_seed(self.estimator), prototypes, *counts)

    def _check_features(self, points: Any) -> None:
        known = getattr(self, "n_features_in_", None)
        if known is not None and isinstance(points, np.ndarray) and points.shape[1] != known:
            raise ValueError(
                f"X has {points.shape[1]} features, but {type(self).__name__} is expecting {known} features as input."
            )

    def _plan(self, found: Intake, m: FloatArray | None) -> Plan | StreamPlan:
        K, _ = self.estimator._size()
        symmetric = _symmetric(found.ground)
        if found.N is None or m is None:
            if self.n_patches is not None or self.shuffle:
                name = "n_patches" if self.n_patches is not None else "shuffle"
                raise ValueError(f"{name} needs data whose length is known; a stream is taken as it comes.")
            check_n_prototypes(K, self.patch_size, "the number of prototypes")
            return StreamPlan(K, symmetric, self.patch_size)
        n_patches = -(-found.N // self.patch_size) if self.n_patches is None else min(self.n_patches, found.N)
        plan = planned(found.N, K, symmetric, n_patches, self.max_evaluations)
        check_n_prototypes(K, min(int(np.count_nonzero(m)), int(plan.sizes.min())), "the number of prototypes")
        return plan

    def _order(self, N: int | None, seed: int) -> IntArray | None:
        if N is None:
            return None
        return np.random.default_rng([seed, 1]).permutation(N) if self.shuffle else np.arange(N)

    def _recipe(self, labels: LabelVectors | None, supervision: Supervision | None) -> Recipe:
        warm = self.warm_start and self.merge == "sequential"
        if labels is None or supervision is None:
            return Recipe(self.estimator, np.empty(0), warm_start=warm)
        return Recipe(self.estimator, labels.classes, supervision.beta, supervision.scaled, warm)

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

    def _reporter(self, plan: Plan | StreamPlan) -> Callable[[Progress, int], None]:
        began = time.perf_counter()

        def report(progress: Progress, fresh: int) -> None:
            seconds = time.perf_counter() - began
            rate = fresh / max(seconds, 1e-9)
            left = max(0, plan.N - progress.n_seen) / max(rate, 1e-9) if isinstance(plan, Plan) else None
            record = PatchRecord(
                n_patches=progress.n_patches,
                n_patches_planned=plan.n_seen if isinstance(plan, Plan) else None,
                n_samples_seen=progress.n_seen,
                n_evaluations=progress.evaluations,
                epochs=progress.epochs,
                seconds=seconds,
                points_per_second=rate,
                seconds_left=left,
            )
            if self.verbose:
                logger.info("patch %d of %s: %d points seen, %d dissimilarities, %.0f points/s%s", record.n_patches,
                            record.n_patches_planned or "a stream", record.n_samples_seen, record.n_evaluations, rate,
                            "" if left is None else f", {left:.0f} s left")  # fmt: skip
            if self.on_patch is not None:
                self.on_patch(record)

        return report

    def _finish(self, data: Data, progress: Progress, labels: bool, stopped: bool) -> None:
        """Replace the fitted attributes, all at once."""
        prototypes = progress.prototypes
        assert prototypes is not None
        fitted = fitted_map(self.estimator, data.found, prototypes, progress.n_seen, progress.epochs)
        attributes: dict[str, Any] = {
            "map_": fitted,
            "multiplicities_": prototypes.m,
            "n_samples_seen_": progress.n_seen,
            "n_patches_": progress.n_patches,
            "n_evaluations_": progress.evaluations,
            "n_iter_": progress.epochs,
            "stopped_early_": stopped,
        }
        for name in ("cluster_centers_", "medoid_indices_", "prototype_ids_", "lattice_", "n_features_in_"):
            if hasattr(fitted, name):
                attributes[name] = getattr(fitted, name)
        if labels and data.m is not None:
            nearest, total = np.empty(len(data.m), np.intp), 0.0
            for at, G in distance_blocks(data, prototypes):
                nearest[at] = G.argmin(axis=1)
                total += inertia(G, data.m[at])
            attributes |= {"labels_": nearest, "inertia_": total, "quantization_error_": total / 2}
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        for name, value in attributes.items():
            setattr(self, name, value)
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


def _seed(estimator: BaseMap) -> int:
    """The seed of all patches, drawn once from the map's random_state."""
    return int(as_generator(estimator.random_state).integers(2**63))


def _symmetric(ground: Ground) -> bool:
    if isinstance(ground, ObjectGround):
        return ground.metric.symmetric
    return isinstance(ground, SourceGround) and ground.source.symmetric
