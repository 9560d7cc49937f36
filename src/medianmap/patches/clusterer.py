"""PatchClusterer: the estimator that trains any map on huge data, patch by patch in one pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
from sklearn import base
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.engine import State
from ..estimators.answers import ModelViews
from ..estimators.base import BaseMap, check_map
from ..estimators.fit import Supervision, as_generator, replace_fitted, reporting, which_count
from ..estimators.median import MedianNeuralGas
from ..estimators.parameters import parameters
from ..predict.assign_all import table_of, two_nearest
from ..predict.queries import groups_among
from ..sources.base import FloatArray, IntArray, is_source
from ..utils.checks import check_choice, check_count, check_flag, check_n_jobs, check_n_prototypes, check_weights
from ..utils.threads import limited, step
from . import one_pass
from .checkpoint import PassProgress, read_checkpoint
from .input import DataInPatches, Input, StreamInPatches, distance_blocks, is_stream, one_more_patch, read_input
from .one_patch import PatchSettings, names_points
from .plan import PatchPlan, plan_patches, tree_sizes
from .points import Comparison, Prototypes, map_of_prototypes, prototypes_of_map

MERGES = ("auto", "sequential", "tree")
OF_THE_MAP = (
    "cluster_centers_", "medoid_indices_", "exemplar_indices_", "prototype_ids_", "lattice_", "n_features_in_",
    "feature_names_in_",
)  # fmt: skip


@parameters
class PatchClusterer(
    ModelViews, base.ClassNamePrefixFeaturesOutMixin, base.TransformerMixin, base.ClusterMixin,
    base.MetaEstimatorMixin, base.BaseEstimator,
):  # fmt: skip
    """Train any map on huge data in one pass over patches; points that represent many others have a multiplicity.

    Median maps: each patch of p points is summarised by 2 K medoids, the points w_j that minimise
    sum_i m_i min_j d(x_i, w_j), with weights M_j: the sum of m_i over the points nearest to them. Summaries are merged,
    up to 12 K points at a time, and summarised by 6 K points in the same way; the map is trained on the last ones. All
    patches count equally. A point that represents others has their mean dissimilarities: exact within a summary,
    estimated beyond. Other maps: each patch is clustered together with the K prototypes so far, which are points of
    multiplicity M_j.

    Only dissimilarities within patches and between the points carried over are evaluated: for symmetric D,
    N (p/2 + 16 K^2 / p) with summaries (p >= 6 K), N (p/2 + K) with prototypes. Memory is that of p or 12 K points and
    of the current summaries, up to 12 K points for each doubling of N.

    Parameters
    ----------
    estimator : map or None, default=None
        Any of the maps; it is cloned, not changed. None is `MedianNeuralGas()`, 8 prototypes of vectors. If its `init`
        names data points, they must be in the first patch, and patches are processed in sequence.
    patch_size : int, default=1000
        Maximum number of points in a patch, p.
    n_patches : int or None, default=None
        Number of patches, instead of their size.
    merge : {"auto", "sequential", "tree"}, default="auto"
        "sequential" is the chapter's method: one patch after another, each with the K prototypes of the previous one.
        "tree" summarises patches independently, on several workers if `n_jobs` or `client` ask for it, and trains one
        map at the end; batch maps merge the K means of each patch. "auto" is "tree" for median maps, whose exemplars
        would otherwise stay in the first patch, and "sequential" for others.
    warm_start : bool, default=True
        Only for `merge="sequential"`: whether a patch starts from the previous prototypes, slightly reheated (neural
        gas: sigma = K/15, SOM: 1.5 sigma_end), and cools in a tenth of the epochs, so that the lattice of a SOM keeps
        its orientation. False anneals every patch from a new start, as the chapter's algorithm does literally.
    shuffle : bool, default=False
        Whether to process points in random order. Not for streams.
    compute_labels : bool, default=True
        Whether to find the nearest prototype of every point after the pass, with N K more evaluations. Not for streams.
    points_per_prototype : int, default=4
        The prototype of a relational map, a combination of a whole patch, is represented in the next patch by the q
        points nearest to it, in equal parts; q is at most p / K. Then q K replaces K above. Ignored by other maps.
    max_evaluations : int or None, default=None
        Maximum number of dissimilarities to evaluate. Patches are made smaller to meet it; if that is not enough, the
        pass stops early.
    checkpoint : path or None, default=None
        File for the state after every patch. A run that was killed continues from it and gives the same bits. Not for
        trees shared by several workers.
    n_jobs : int or None, default=None
        Number of processes for `merge="tree"`; otherwise of threads, as for the map.
    client : distributed.Client, str or None, default=None
        Dask client, or the address of a scheduler, on which `merge="tree"` runs.
    verbose : int, default=0
        1 logs every patch.
    on_patch : callable or None, default=None
        Called after each patch with a `PatchRecord`.
    random_state : int, RandomState, Generator or None, default=None
        Passed on to the map; None keeps the seed of the map.

    Attributes
    ----------
    map_ : map
        The fitted map, whose `predict`, `transform` and `assign` this class calls.
    multiplicities_ : ndarray of shape (K,)
        Total weight of the points that each prototype represents; their sum is the weight of all points. In relational
        maps these may be fractions, because the q points of one prototype may end up at several.
    cluster_centers_ : ndarray of shape (K, M), list of K objects, or None
        The prototypes; None for relational maps and precomputed dissimilarities.
    medoid_indices_ : ndarray of shape (K,)
        Median maps: the indices of the prototypes, in the order in which points were passed.
    exemplar_indices_ : ndarray of shape (K,)
        Relational maps: the points nearest to the prototypes.
    carried_indices_ : ndarray of shape (q K,)
        Relational maps: the points that carry the prototypes, prototype by prototype, the nearest first.
    summary_ : dict
        Of a tree: what later patches are joined with. `points`, their `indices` (P,) and `multiplicities` (P,), whose
        sum is the weight of all points; `sets` (S, 2), the number of points and the level of each summary; `counts`
        (L, 2), how many summaries came to each level, and how many joins. Where points are known by dissimilarities,
        what they stand for: `means`, the mean dissimilarity of the field of each point to each point of its summary
        (P_s, P_s), flattened, summary after summary; `near` (P, 16) and `rules` (P, 17), which extend it to others.
    prototype_ids_ : list of K str
        Ids of the exemplars, where the source has ids.
    lattice_ : Lattice
        SOM: neurons with `positions` (K, 2) and `distances` (K, K).
    labels_ : ndarray of shape (N,)
        With `compute_labels`: the nearest prototype of each point.
    inertia_, quantization_error_ : float
        With `compute_labels`: sum_i m_i min_j d(x_i, w_j), and half of it.
    n_samples_seen_ : int
        Points read, those of weight 0 included.
    n_patches_ : int
        Patches read.
    n_evaluations_ : int
        Dissimilarities evaluated, or read from a source, in training.
    n_iter_ : int
        Epochs of all maps trained.
    stopped_early_ : bool
        Whether the budget ended the pass before the data did.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features_in_,)
        Columns of X, where it has columns.

    See Also
    --------
    MedianNeuralGas, MedianSOM, MedianKMeans : Maps of all pairs, for data whose dissimilarities fit into memory.
    PrototypeClassifier : Guides the pass by labels: `PrototypeClassifier(PatchClusterer(estimator))`.

    Examples
    --------
    >>> import numpy as np
    >>> from medianmap import MedianKMeans, PatchClusterer
    >>> X = np.random.default_rng(0).normal(size=(5000, 2)) + np.repeat([[0, 0], [9, 9]], 2500, axis=0)
    >>> patches = PatchClusterer(MedianKMeans(2, random_state=0), patch_size=500, shuffle=True).fit(X)
    >>> bool(patches.multiplicities_.sum() == 5000)
    True
    >>> patches.n_evaluations_ < 5000 * (500 + 2)
    True
    """

    estimator: BaseMap | None = field(default=None, kw_only=False)
    patch_size: int = field(default=1000, kw_only=False)
    n_patches: int | None = None
    merge: str = "auto"
    warm_start: bool = True
    shuffle: bool = False
    compute_labels: bool = True
    points_per_prototype: int = 4
    max_evaluations: int | None = None
    checkpoint: str | os.PathLike[str] | None = None
    n_jobs: int | None = None
    client: Any = None
    verbose: int = 0
    on_patch: Callable[[one_pass.PatchRecord], Any] | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go over X in one pass.

        Parameters
        ----------
        X : data as the map reads them, a source of objects included, with or without their matrix; or an iterator of
            objects (a stream), which is read once and never held whole.
        y : ignored.
        sample_weight : (N,) multiplicities, 1 by default; not for streams.
        """
        self._train(X, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add one more patch, after those of `fit` or of earlier calls, and train the map on all that it holds.

        A SOM of a tree is laid out anew each time; `merge="sequential"` keeps its orientation.

        Parameters
        ----------
        X : the n points of the patch, as the map reads them. With metric="precomputed" the extended block:
            dissimilarities (P + n, P + n) of the P points carried so far, in their order, and of n new points; (n, n)
            for the first patch. Carried are the points `summary_["indices"]` of a tree, the q K points
            `carried_indices_` of a relational map in sequence, and else the K prototypes.
        y : ignored.
        sample_weight : (n,) multiplicities of the new points, 1 by default.
        """
        with self._session():
            fitted = getattr(self, "map_", None)
            so_far = self._so_far() if self._as_tree else replace(self._so_far(), levels=(), alone=None)
            found, patch, before = one_more_patch(self._unfitted, X, sample_weight, so_far, fitted, self.n_jobs)
            if fitted is not None and found.features and not (self._unfitted._reads_matrix() or is_source(X)):
                validate_data(self, X, reset=False, skip_check_array=True)
            settings = self._settings(self.patch_size, found.compared)
            self._finish(found, one_pass.one_more(settings, found.compared, before, patch))
        return self

    def _train(
        self, X: Any, sample_weight: Any, supervision: Supervision | None = None, go_on_from: State | None = None
    ) -> one_pass.TrainedByPass:
        """A pass, with labels where there are any."""
        with self._session():
            progress, run = self._at_start(), self._run_options
            if run.checkpoint is not None:
                progress = read_checkpoint(run.checkpoint) or progress
            data = self._data(X, sample_weight, supervision, progress.seed)
            settings = self._settings(data.patch_size, data.found.compared)
            if supervision is not None and data.labels is not None and data.m is not None:
                beta = supervision.beta_for(data.labels, data.m, settings.n_prototypes)
                settings = replace(settings, classes=data.labels.classes, beta=beta, scaled=supervision.scaled)
            rest = self.max_evaluations, one_pass.patch_reporter(data.plan, self.verbose, run.on_patch)
            if self._on_workers:
                with one_pass.task_runner(settings, run.client, run.n_jobs) as runner:
                    data, progress, stopped = one_pass.pass_on_workers(settings, data, progress, runner, *rest)
            else:
                passed = one_pass.pass_in_sequence(settings, data, progress, run.checkpoint, *rest)
                data, progress, stopped = passed
            prototypes = progress.prototypes
            n = 0 if prototypes is None else prototypes.n
            check_n_prototypes(settings.n_prototypes, n, "the number of prototypes")
            assert prototypes is not None
            self._finish(data.found, progress, stopped, self._of_all_points(data, prototypes))
        Y = np.empty((0, 0)) if data.labels is None else one_pass.learned_labels(data.found.compared, prototypes)
        return one_pass.TrainedByPass(data, prototypes, State(prototypes.places, Y), data.labels, settings.beta)

    def estimate(self, X: Any, n_points: int | None = None) -> one_pass.PassEstimate:
        """Estimate what a pass over data like X takes in one process: patches, dissimilarities, seconds, memory.

        Parameters
        ----------
        X : all data, or a few patches of them; up to four patches (of a tree 24) are clustered, twice, to measure the
            time.
        n_points : number of points of the pass; by default those of X.
        """
        with self._session():
            refuse_stream(X, "pass a list of some of its objects, and n_points")
            found = read_input(self._unfitted, X, np.ones, self.n_jobs)
            n = len(found.points)
            N = n if n_points is None else check_count(n_points, "n_points")
            plan = self._patch_plan(N, found.compared)
            if n < plan.patch_size:
                raise ValueError(f"X holds {n} points, but a patch has {plan.patch_size}; pass one or, better, four.")
            data = DataInPatches(found, np.ones(n), None, np.arange(n), plan)
            settings = self._settings(plan.patch_size, found.compared)
            evaluations = settings.cost_of_pass(plan.sizes, found.compared.cost)
            return one_pass.estimate_pass(settings, data, evaluations)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> IntArray:
        """`labels_` of a pass over X, (N,).

        X : the data, as `fit` takes them, but no stream
        y : ignored
        sample_weight : (N,) weights of the points; None counts each once
        """
        refuse_stream(X, "call fit, then predict on a second stream or in parts")
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if self.compute_labels else self.predict(X)

    def predict(self, X: Any) -> IntArray:
        """Nearest prototype of each query, (n_query,); see the map's `predict`.

        X : queries, as the `predict` of the map takes them
        """
        return self._answering_map.predict(X)

    def transform(self, X: Any) -> FloatArray:
        """Dissimilarities from the queries to the prototypes, (n_query, K).

        X : queries, as the `predict` of the map takes them
        """
        return self._answering_map._dissimilarities(X)  # not the map's transform(): that may return a frame

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Negative quantization error of X.

        X : the data, as `predict` takes them
        y : ignored
        sample_weight : (n_query,) weights m_i; None counts every point once
        """
        return self._answering_map.score(X, sample_weight=sample_weight)

    def assign(self, D: Any) -> IntArray:
        """Nearest prototype (n_query,) from dissimilarities D (n_query, K) to the K prototypes.

        D : (n_query, K) dissimilarities from the queries to the prototypes, in their order
        """
        return self._answering_map.assign(D)

    @contextmanager
    def _session(self) -> Iterator[None]:
        """Check parameters; limit threads and show the log, if asked for, for as long as the block runs."""
        check_map(self._unfitted)
        check_count(self.patch_size, "patch_size")
        check_count(self.points_per_prototype, "points_per_prototype")
        check_choice(self.merge, "merge", MERGES)
        check_n_jobs(self.n_jobs)
        for name in ("n_patches", "max_evaluations"):
            if getattr(self, name) is not None:
                check_count(getattr(self, name), name)
        for name in ("warm_start", "shuffle", "compute_labels"):
            check_flag(getattr(self, name), name)
        if self._on_workers and self.checkpoint is not None:
            raise ValueError("checkpoint needs a pass in one process; leave out client, and n_jobs with merge='tree'.")
        if names_points(self._unfitted.init) and (self.shuffle or self.merge == "tree" or not self.warm_start):
            raise ValueError(
                "init names data points, which start the first patch only; this needs merge='sequential', "
                "warm_start=True and shuffle=False."
            )
        if self.merge != "tree" and self.client is not None:
            raise ValueError("client needs merge='tree', whose patches can be clustered at the same time.")
        # Where processes share the work, each has one thread.
        with reporting(self.verbose), limited(1 if self._on_workers else self._run_options.n_jobs):
            yield

    @property
    def _as_tree(self) -> bool:
        """Whether patches are summarised, or else clustered one after the other."""
        if self.merge != "auto":
            return self.merge == "tree"
        return self._unfitted._usual_merge() == "tree" and not names_points(self._unfitted.init)

    @property
    def _on_workers(self) -> bool:
        """Whether the tasks of a tree run on several processes."""
        run = self._run_options
        return self.merge == "tree" and (run.client is not None or run.n_jobs not in (None, 1))

    def _so_far(self) -> PassProgress:
        """The progress after earlier patches; of a loaded model, what its attributes tell."""
        if hasattr(self, "_progress"):
            return self._progress
        if not hasattr(self, "map_"):
            return self._at_start()
        prototypes = prototypes_of_map(self.map_, getattr(self, "carried_indices_", None))
        counts = self.n_patches_, self.n_samples_seen_, self.n_evaluations_, self.n_iter_
        progress = PassProgress(self._at_start().seed, prototypes, *counts)
        return progress.holding(self.summary_) if hasattr(self, "summary_") else progress

    def _at_start(self) -> PassProgress:
        """No progress yet; the seed of all patches is drawn once from the map's random_state."""
        return PassProgress(int(as_generator(self._seeded.random_state).integers(2**63)))

    @property
    def _unfitted(self) -> BaseMap:
        """The map to train, never fitted itself."""
        return MedianNeuralGas() if self.estimator is None else self.estimator

    @property
    def _seeded(self) -> BaseMap:
        """The map with this class's random_state in the place of its own, where that is given."""
        if self.random_state is None:
            return self._unfitted
        copy: BaseMap = base.clone(self._unfitted)
        return copy.set_params(random_state=self.random_state)

    def _data(
        self, X: Any, sample_weight: Any, supervision: Supervision | None, seed: int
    ) -> DataInPatches | StreamInPatches:
        """The data of a pass, checked."""
        K, _ = self._unfitted._size()
        if is_stream(X):
            if sample_weight is not None or supervision is not None:
                raise ValueError("A stream has no weights and no labels; pass a list, or patches to partial_fit.")
            if self.n_patches is not None or self.shuffle:
                name = "n_patches" if self.n_patches is not None else "shuffle"
                raise ValueError(f"{name} needs data of known length, and X is a stream; pass a list, or leave it out.")
            check_patch_size(K, self.patch_size)
            return StreamInPatches(read_input(self._unfitted, X, np.ones, self.n_jobs), X, self.patch_size)
        found = read_input(self._unfitted, X, lambda N: check_weights(sample_weight, N), self.n_jobs)
        N = len(found.points)
        m = check_weights(sample_weight, N)
        labels = None if supervision is None else supervision.checked(m)
        check_n_prototypes(K, int(np.count_nonzero(m)), "the number of prototypes", which_count(m, labels))
        plan = self._patch_plan(N, found.compared)
        order = np.random.default_rng([seed, 1]).permutation(N) if self.shuffle else np.arange(N)
        return DataInPatches(found, m, labels, order, plan)

    def _settings(self, size: int, compared: Comparison) -> PatchSettings:
        """How patches of this size are clustered, without labels."""
        K, _ = self._unfitted._size()
        # No more points per prototype than make up a patch, or patches would grow.
        most = (self.patch_size if self.n_patches is None else size) // K
        per = self._unfitted._points_each(max(1, min(self.points_per_prototype, most)))
        sizes = tree_sizes(size, K, compared.keeps_dissimilarities) if self._as_tree else None
        return PatchSettings(self._seeded, per, self.warm_start, sizes=sizes)

    def _patch_plan(self, N: int, compared: Comparison) -> PatchPlan:
        """How N points are cut into patches."""
        n_patches = -(-N // self.patch_size) if self.n_patches is None else min(self.n_patches, N)
        check_patch_size(self._unfitted._size()[0], N // n_patches if self.n_patches else min(N, self.patch_size))

        def cost(sizes: IntArray) -> int:
            return self._settings(int(sizes[0]), compared).cost_of_pass(sizes, compared.cost)

        # Smaller patches than twice what is carried would cost more.
        n_carried = self._settings(-(-N // n_patches), compared).n_carried
        return plan_patches(N, n_carried, n_patches, self.max_evaluations, cost)

    def _of_all_points(self, data: DataInPatches | StreamInPatches, prototypes: Prototypes) -> dict[str, Any]:
        """labels_ and what follows from them, where they are asked for and the points are still there."""
        if not self.compute_labels or data.m is None:
            return {}
        blocks, n, groups = [], len(data.m), None
        if self._run_options.on_points is not None:
            P = prototypes.among(data.found.compared)
            groups = groups_among(self._unfitted, P, prototypes.m.reshape(prototypes.n, -1).sum(axis=1))
        for at, G in distance_blocks(data.found, prototypes):
            blocks.append(two_nearest(G, groups))
            step("assignment", int(at[-1]) + 1, n)
        points = table_of(blocks)
        if self._run_options.on_points is not None:
            self._run_options.on_points(points)
        total = float((data.m * points["dissimilarity"]).sum())
        return {"labels_": points["prototype"].copy(), "inertia_": total, "quantization_error_": total / 2}

    def _finish(
        self, found: Input, progress: PassProgress, stopped: bool = False, of_all_points: dict[str, Any] | None = None
    ) -> None:
        """Replace the fitted attributes, all at once."""
        prototypes = progress.prototypes
        assert prototypes is not None
        others = {**found.features, "n_iter_": progress.epochs}
        fitted = map_of_prototypes(self._unfitted, prototypes, found.compared, found.ids, others)
        attributes: dict[str, Any] = {
            "map_": fitted, "multiplicities_": fitted.hits_, "n_samples_seen_": progress.n_seen,
            "n_patches_": progress.n_patches, "n_evaluations_": progress.evaluations, "n_iter_": progress.epochs,
            "stopped_early_": stopped, **(of_all_points or {}),
        }  # fmt: skip
        attributes |= {name: getattr(fitted, name) for name in OF_THE_MAP if hasattr(fitted, name)}
        if prototypes.per:  # of combinations
            attributes["carried_indices_"] = prototypes.places
        points = found.compared.objects(prototypes.points)
        if points is not None:  # later patches bring objects, whatever the places in X so far
            progress = replace(progress, prototypes=replace(prototypes, points=points))
            progress = progress.with_held(lambda held: replace(held, points=found.compared.objects(held.points)))
        if progress.held:
            attributes["summary_"] = progress.summary
        replace_fitted(self, attributes)
        self._progress = progress

    @property
    def metric(self) -> Any:
        """The map's metric."""
        return self._unfitted.metric

    @property
    def _n_features_out(self) -> int:
        return len(self.multiplicities_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._unfitted).input_tags
        return tags

    # --- what the folders above ask

    @property
    def _run_options(self) -> one_pass.RunOptions:
        """How a pass is run: as the parameters say, but where `run_with` says otherwise."""
        own = one_pass.RunOptions(self.checkpoint, self.n_jobs, self.client, self.on_patch)
        return one_pass.RUN_OPTIONS.get() or own

    @property
    def _answering_map(self) -> BaseMap:
        """The fitted map that answers for this model."""
        check_is_fitted(self)
        return self.map_

    @property
    def _starting_map(self) -> BaseMap:
        """The map whose `init` draws the start of a fit."""
        return self._unfitted

    def _n_at_start(self, n: int) -> int:
        """How many of n points the start is drawn among: those of the first patch."""
        return min(n, self.patch_size if self.n_patches is None else -(-n // self.n_patches))

    def _reseeded(self, seed: int) -> Self:
        """An unfitted copy that starts from this seed and will have labels_."""
        copy: Self = base.clone(self)
        return copy.set_params(random_state=seed, compute_labels=True, checkpoint=None)


def refuse_stream(X: Any, instead: str) -> None:
    """ValueError if X is a stream."""
    if is_stream(X):
        raise ValueError(f"X is a stream, which can be read only once; {instead}.")


def check_patch_size(K: int, n: int) -> None:
    """ValueError if patches of n points cannot hold K prototypes."""
    if n < K:
        raise ValueError(f"Patches would have {n} points, fewer than the {K} prototypes; make them several times K.")
