"""Patches where things are scarce or odd: few points, duplicates, weights of zero, budgets, starts, names, mistakes."""

import copy
import pickle
from dataclasses import replace
from itertools import cycle
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.extras import optional
from support.maps import BATCH, MEDIAN, METHODS, blob_distances, blobs, estimator

from medianmap import (
    BatchKMeans,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
    as_dissimilarity,
    load,
    save,
)
from medianmap.patches import input, one_pass
from medianmap.patches.checkpoint import PassProgress
from medianmap.patches.input import read_input
from medianmap.patches.one_pass import advanced
from medianmap.patches.one_patch import Patch, _class_shares, _start, seed_of
from medianmap.patches.plan import TreeSizes, tree_sizes
from medianmap.patches.points import Prototypes, prototypes_of_map
from medianmap.sources import DenseSource
from medianmap.utils.threads import followed


def km(K=5, **params):
    return MedianKMeans(K, random_state=0, **params)


# --- fewer points than prototypes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("merge", ["sequential", "tree"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
def test_duplicates_leave_prototypes_that_stand_for_nothing(method, family, merge):
    x = np.repeat([[0.0], [7.0]], 101, axis=0)
    x = np.concatenate([x, x])[np.random.default_rng(0).permutation(404)]
    end = {"sigma_end": 0.01} if method == "som" else {}  # wider, means are drawn to their neighbours'
    patches = PatchClusterer(estimator(method, 6, family, random_state=0, **end), 50, merge=merge).fit(x)
    assert patches.multiplicities_.sum() == 404
    assert patches.quantization_error_ < 1e-100
    assert len(patches.multiplicities_) == 6


@pytest.mark.parametrize("merge", ["sequential", "tree"])
@pytest.mark.parametrize("n", [40, 41, 51, 79, 99, 101])
def test_a_last_patch_may_be_smaller_than_the_number_of_prototypes(n, merge, rng):
    X = rng.normal(size=(n, 2))
    for data in (X, iter(X)):
        patches = PatchClusterer(km(40), 50, merge=merge).fit(data)
        assert patches.multiplicities_.sum() == n
        assert len(set(patches.medoid_indices_)) == 40


def test_a_stream_that_ends_with_one_more_of_the_same():
    patches = PatchClusterer(km(5, metric="edit"), 50).fit(iter(["a"] * 101))
    assert sorted(patches.multiplicities_) == [0, 0, 0, 0, 101]
    assert len(set(patches.medoid_indices_)) == 5


@pytest.mark.parametrize("merge", ["sequential", "tree"])
@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
def test_patches_of_which_few_points_count(merge, family, rng):
    X, m = rng.normal(size=(300, 2)), np.zeros(300)
    m[[0, 120, 130, 140, 150, 160, 299]] = [1, 2, 3, 4, 5, 6, 0.5]
    patches = PatchClusterer(estimator("som", 6, family, random_state=0), 50, merge=merge).fit(X, sample_weight=m)
    assert patches.multiplicities_.sum() == m.sum()
    assert (patches.n_samples_seen_, patches.n_patches_) == (300, 6)
    if family is MEDIAN:
        assert (m[patches.medoid_indices_] > 0).all()
        assert patches.n_evaluations_ <= 2 * 7**2  # those among the seven, not those of all others
    m[299] = m[0] = 0
    with pytest.raises(ValueError, match="the number of prototypes = 6 exceeds n_samples = 5"):
        PatchClusterer(estimator("som", 6, family), 50, merge=merge).fit(X, sample_weight=m)


def test_a_tree_counts_points_without_weight_as_seen(rng):
    m = np.zeros(300)
    m[:20] = 1
    tree = PatchClusterer(km(), 50, merge="tree").fit(rng.normal(size=(300, 2)), sample_weight=m)
    assert (tree.n_samples_seen_, tree.n_patches_, tree.multiplicities_.sum()) == (300, 6, 20)


# --- budgets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("merge", ["sequential", "tree"])
@pytest.mark.parametrize("kind", ["metric", "function", "source", "stream"])
@pytest.mark.parametrize("budget", [4_000, 20_000, 60_000])
def test_a_budget_is_never_exceeded(merge, kind, budget, rng):
    X = rng.normal(size=(400, 1))
    metric = {"function": lambda a, b: abs(a[0] - b[0]), "source": "precomputed"}.get(kind, "cityblock")
    data = {"source": np.abs(X - X.T), "stream": iter(X)}.get(kind, X)
    clusterer = PatchClusterer(
        km(20, metric=metric),
        60 if kind == "stream" else 110,
        merge=merge,
        max_evaluations=budget,
        compute_labels=False,
    ).fit(data)
    first = 60**2 if kind == "stream" else 0
    assert clusterer.n_evaluations_ <= max(budget, first)
    assert clusterer.stopped_early_ == (clusterer.n_samples_seen_ < 400)
    assert budget > 4_000 or clusterer.stopped_early_


def test_means_cost_no_dissimilarities_so_no_budget_binds(rng):
    X = rng.normal(size=(400, 2))
    assert PatchClusterer(BatchKMeans(5, random_state=0), 100, max_evaluations=10).fit(X).n_patches_ == 4


def test_after_an_early_stop_all_points_can_be_asked_for(rng):
    D = blob_distances(rng, n=200)
    patches = PatchClusterer(km(metric="precomputed"), 50, max_evaluations=600, shuffle=True).fit(D)
    assert patches.stopped_early_
    np.testing.assert_array_equal(patches.predict(D), patches.labels_)
    y = np.full(200, -1)
    y[-2:] = 0, 1
    with pytest.raises(ValueError, match="before any labelled point"):
        PrototypeClassifier(PatchClusterer(km(metric="precomputed"), 50, max_evaluations=600), unlabeled=-1).fit(D, y)


def test_an_estimate_is_of_whole_patches(rng):
    X = rng.normal(size=(300, 2))
    clusterer = PatchClusterer(km(), 100, compute_labels=False)
    assert clusterer.estimate(X[:150], n_points=10_000).n_patches == 100
    with pytest.raises(ValueError, match="X holds 50 points, but a patch has 100"):
        clusterer.estimate(X[:50], n_points=10_000)
    assert clusterer.estimate(X).n_evaluations == clusterer.fit(X).n_evaluations_


# --- starts -----------------------------------------------------------------------------------------------------------


def test_an_explicit_start_names_points_of_the_first_patch(rng):
    X, m = blobs(rng, n=130), np.ones(130)
    m[[0, 3]] = 0
    init, started = [1, 2, 4, 40, 20], []

    def watch(epoch):
        started.append(epoch)

    PatchClusterer(km(init=init, on_epoch=watch), 50).fit(X, sample_weight=m)
    cost = ((X[:44, None] - X[init]) ** 2).sum(axis=2) ** 0.5  # of the first 44 points, before any prototype moved
    assert started[0].cost == pytest.approx((m[:44] * cost.min(axis=1)).sum())
    for point in (0, 60):
        with pytest.raises(ValueError, match=f"init names point {point}, .* first patch"):
            PatchClusterer(km(init=[1, 2, 4, 20, point]), 50).fit(X, sample_weight=m)
    for params in ({"shuffle": True}, {"merge": "tree"}, {"warm_start": False}):
        with pytest.raises(ValueError, match="init names data points"):
            PatchClusterer(km(init=init), 50, **params).fit(X)
    # The start of the first patch is no start of a last one that has fewer points.
    assert PatchClusterer(km(init=[45, 46, 47, 48, 49]), 50).fit(iter(X[:52])).multiplicities_.sum() == 52


def test_start_vectors_of_means_go_with_everything(rng):
    X = blobs(rng, n=120)
    for params in ({"shuffle": True}, {"merge": "tree"}, {"warm_start": False}):
        found = PatchClusterer(BatchKMeans(3, init=X[:3]), 30, **params).fit(X)
        assert found.multiplicities_.sum() == 120


# --- names, kinds, copies ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("map_", [km(), BatchKMeans(5, random_state=0)], ids=["median", "batch"])
def test_frames_keep_the_names_of_their_columns(map_, rng):
    pd = optional("pandas")
    frame = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    patches = PatchClusterer(map_, 50).fit(frame)
    assert patches.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(patches.predict(frame), patches.labels_)  # and no warning
    patches.partial_fit(frame[:30])
    assert patches.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        patches.partial_fit(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="feature names"):
        patches.predict(frame.rename(columns={"a": "z"}))
    table = PatchClusterer(map_, 50).set_output(transform="pandas").fit(frame).transform(frame)
    assert table.columns.tolist() == [f"patchclusterer{j}" for j in range(5)]


def test_ids_of_a_frame_of_dissimilarities(rng):
    pd = optional("pandas")
    names = [f"p{i}" for i in range(90)]
    frame = pd.DataFrame(blob_distances(rng, n=90), names, names)
    patches = PatchClusterer(km(metric="precomputed"), 30).fit(frame)
    assert patches.prototype_ids_ == [names[i] for i in patches.medoid_indices_]
    np.testing.assert_array_equal(patches.predict(frame), patches.labels_)


def test_labels_of_a_fit_without_labels(rng):
    X = rng.normal(size=(120, 2))
    patches = PatchClusterer(km(), 50, compute_labels=False)
    np.testing.assert_array_equal(patches.fit_predict(X), PatchClusterer(km(), 50).fit(X).labels_)
    with pytest.raises(ValueError, match="stream"):
        patches.fit_predict(iter(X))


def test_grid_search_pipelines_and_copies(rng):
    X = blobs(rng, n=150)
    pipe = make_pipeline(StandardScaler(), PatchClusterer(km(), 50))
    assert len(pipe.fit_predict(X)) == 150
    params = {"patch_size": [20, 40], "estimator__n_clusters": [2, 5]}
    search = GridSearchCV(PatchClusterer(km(), 50), params, cv=2).fit(X)
    assert search.best_params_["estimator__n_clusters"] == 5
    D = blob_distances(rng, n=90)
    GridSearchCV(PatchClusterer(km(metric="precomputed"), 50), {"patch_size": [20, 40]}, cv=2).fit(D)
    fitted = PatchClusterer(km(), 50).fit(X)
    more = [fitted, copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))]
    for model in more:
        model.partial_fit(X[:40])
        np.testing.assert_array_equal(model.medoid_indices_, fitted.medoid_indices_)
    assert not hasattr(clone(fitted), "_progress")


@pytest.mark.parametrize("kind", ["objects", "means", "block"])
def test_a_loaded_model_goes_on_as_the_one_that_was_saved(kind, rng, tmp_path):
    x = rng.integers(0, 4, size=(120, 1)).astype(float)  # duplicates: some prototypes represent no point
    D = np.abs(x - x.T)
    map_ = {"objects": km(6), "means": BatchKMeans(6, random_state=0), "block": km(6, metric="precomputed")}[kind]
    fitted = PatchClusterer(map_, 40).fit(D[:80, :80] if kind == "block" else x[:80])
    save(fitted, tmp_path / "m")
    at = np.append(fitted.summary_["indices"], np.arange(80, 120)) if kind == "block" else np.arange(80, 120)
    new = D[np.ix_(at, at)] if kind == "block" else x[at]
    again = load(tmp_path / "m").partial_fit(new)
    fitted.partial_fit(new)
    for name in ("multiplicities_", "n_samples_seen_", *([] if kind == "means" else ["medoid_indices_"])):
        np.testing.assert_array_equal(getattr(again, name), getattr(fitted, name))
    if kind != "block":
        np.testing.assert_array_equal(again.cluster_centers_, fitted.cluster_centers_)


def test_extended_blocks_after_a_shuffled_pass_that_stopped_early(rng):
    D = blob_distances(rng, n=150)
    patches = PatchClusterer(km(metric="precomputed"), 50, shuffle=True, max_evaluations=1_000).fit(D[:100, :100])
    assert patches.medoid_indices_.max() >= patches.n_samples_seen_  # a number that a new point will have, too
    assert patches.medoid_indices_.max() < patches.n_samples_seen_ + 50
    at = np.append(patches.summary_["indices"], np.arange(100, 150))
    block = D[np.ix_(at, at)]
    asked = copy.deepcopy(patches).partial_fit(block)
    # The same with numbers that do not meet.
    apart = copy.deepcopy(patches)
    held = apart._progress.with_held(lambda each: replace(each, places=-1 - np.arange(len(each.m))))
    apart._progress = replace(held, n_seen=1000)
    apart.partial_fit(block)
    np.testing.assert_array_equal(asked.multiplicities_, apart.multiplicities_)


def test_partial_fit_with_another_number_of_prototypes_starts_anew(rng):
    X = rng.normal(size=(150, 2))
    changes = {7: (km(), {"estimator__n_clusters": 7}), 6: (MedianSOM((2, 2)), {"estimator__grid": (2, 3)})}
    for K, (map_, params) in changes.items():
        patches = PatchClusterer(map_, 50).fit(X).set_params(**params).partial_fit(X[:50])
        assert patches.multiplicities_.sum() == 200
        assert len(patches.multiplicities_) == K


def test_partial_fit_after_labels_goes_on_without_them(rng):
    X = rng.normal(size=(150, 2))
    classifier = PrototypeClassifier(PatchClusterer(km(), 50)).fit(X, rng.integers(2, size=150))
    assert classifier.estimator_.partial_fit(X[:20]).multiplicities_.sum() == 170


def test_later_points_of_a_stream_are_of_the_kind_of_the_first():
    total = lambda a, b: float(abs(sum(a) - sum(b)))  # noqa: E731
    rows = [[1.0, 2.0], [3.0]] * 10 + [[1.0, 2.0]] * 20
    patches = PatchClusterer(km(2, metric=total), 20).fit(iter(rows))
    assert all(isinstance(center, list) for center in patches.cluster_centers_)
    by_parts = PatchClusterer(km(2, metric=total)).partial_fit(rows[:20]).partial_fit(rows[20:])
    assert all(isinstance(center, list) for center in by_parts.cluster_centers_)
    with pytest.raises(ValueError, match="Among points 20 to 39 of the stream"):
        PatchClusterer(km(2, metric=total), 20).fit(iter(rows[::-1]))
    with pytest.raises(ValueError, match=r"X has 1 features, but PatchClusterer is expecting 2 .*points 20 to 39"):
        PatchClusterer(km(2), 20).fit(iter([[1.0, 2.0]] * 20 + [[1.0]] * 20))
    cells = [(1.0, "a"), (2.0, "b")] * 10 + [("x", "a")] * 5
    with pytest.raises(ValueError, match=r"X\[0\] has 'x' in column 0, which holds numbers.*points 20 to 24"):
        PatchClusterer(km(2, metric="gower"), 20).fit(iter(cells))


# --- mistakes are named by their place in the data --------------------------------------------------------------------


@pytest.mark.parametrize("merge", ["sequential", "tree"])
def test_bad_dissimilarities_are_named_by_their_place(merge, rng):
    def metric(a, b):
        return np.nan if (a, b) == (81, 93) else abs(a - b)

    with pytest.raises(ValueError, match=r"NaN for the pair \(81, 93\)"):
        PatchClusterer(km(metric=metric), 20, merge=merge).fit(range(100))
    with pytest.raises(ValueError, match=r"NaN for the pair \(81, 93\)"):
        PatchClusterer(km(metric=metric), 20, merge=merge).fit(iter(range(100)))
    D = blob_distances(rng, n=100)
    D[81, 93] = -1
    with pytest.raises(ValueError, match=r"D\[81, 93\] is -1"):
        PatchClusterer(km(metric="precomputed"), 20, merge=merge).fit(D)


def test_bad_entries_beyond_the_patches_are_found_when_labels_are_asked_for(rng):
    D = blob_distances(rng, n=100)
    source = as_dissimilarity(D, symmetric=True)
    D[3, 20:] = np.nan
    PatchClusterer(km(metric="precomputed"), 20, compute_labels=False).fit(source)
    with pytest.raises(ValueError, match=r"D\[3, \d+\] is NaN"):
        PatchClusterer(km(metric="precomputed"), 20).fit(source)


def test_an_exception_of_on_patch_leaves_an_earlier_fit(rng):
    X = rng.normal(size=(150, 2))

    def stop(record):
        raise KeyboardInterrupt

    for params in ({}, {"merge": "tree"}):
        patches = PatchClusterer(MedianNeuralGas(4, random_state=0), 50, **params).fit(X[:100])
        before = patches.medoid_indices_.copy()
        with pytest.raises(KeyboardInterrupt):
            patches.set_params(on_patch=stop).fit(X)
        np.testing.assert_array_equal(patches.medoid_indices_, before)
        assert patches.n_samples_seen_ == 100


def test_progress_of_a_tree_counts_patches(rng):
    seen = []
    PatchClusterer(km(), 20, merge="tree", on_patch=seen.append).fit(rng.normal(size=(200, 2)))
    assert [record.n_patches for record in seen] == list(range(1, 11))
    assert [record.n_samples_seen for record in seen] == list(range(20, 220, 20))


def test_a_budget_that_ends_before_any_point_that_counts(rng):
    m = np.r_[np.zeros(200), np.ones(100)]
    for merge, n_jobs in (("auto", None), ("tree", 2)):
        patches = PatchClusterer(km(), 50, merge=merge, n_jobs=n_jobs, max_evaluations=1)
        with pytest.raises(ValueError, match="the number of prototypes = 5 exceeds n_samples = 0"):
            patches.fit(rng.normal(size=(300, 2)), sample_weight=m)


def test_a_new_point_near_a_dead_prototype_takes_its_place():
    """It starts from the new point nearest to the standing prototype that the dead one is nearest to."""
    places, new = np.array([0.0, 9.5, 10.0]), np.array([0.4, 10.3, 5.0])
    before = Prototypes(
        np.arange(3), np.arange(3), np.array([1.0, 0.0, 2.0]), np.abs(np.subtract.outer(places, places)),
        np.empty((3, 0)),
    )  # fmt: skip
    x = np.concatenate([places[[0, 2]], new])
    data = DenseSource(np.abs(np.subtract.outer(x, x)), symmetric=True)
    assert _start(before, data, MedianKMeans(3)).prototypes.tolist() == [0, 3, 1]


def test_every_task_of_a_tree_has_a_seed_of_its_own():
    seeds = {seed_of(seed, level, number) for seed in range(3) for level in range(4) for number in range(40)}
    assert len(seeds) == 3 * 4 * 40


def test_an_empty_patch_is_none_and_costs_nothing():
    progress = advanced(None, None, PassProgress(0), Patch.unlabelled(np.empty((0, 2)), 0, np.empty(0)))
    assert (progress.n_patches, progress.n_seen, progress.evaluations, progress.epochs) == (0, 0, 0, 0)
    assert progress.prototypes is None


def test_means_are_at_no_place_of_the_data(rng):
    assert prototypes_of_map(BatchKMeans(2, random_state=0).fit(blobs(rng)), None).places.tolist() == [-1, -1]


def test_the_sizes_of_a_tree_by_hand():
    """2 K, 6 K of 12 K; less where a patch has fewer than 6 K points; of means K, as many at a time as a patch has."""
    assert tree_sizes(100, 5, medoids=True) == TreeSizes(10, 30, 60)
    assert tree_sizes(20, 5, medoids=True) == TreeSizes(8, 20, 40)
    assert tree_sizes(5, 5, medoids=True) == TreeSizes(5, 5, 10)
    assert tree_sizes(104, 5, medoids=False) == TreeSizes(5, 5, 100)
    assert tree_sizes(7, 5, medoids=False) == TreeSizes(5, 5, 10)


def test_shares_of_classes_where_labels_are_missing():
    def shares(m, Y):
        n = len(m)
        return _class_shares(Prototypes(np.arange(n), np.arange(n), np.array(m), None, np.array(Y))).tolist()

    nan = [np.nan, np.nan]
    assert shares([1.0, 3.0, 9.0], [[1.0, 0.0], [0.0, 1.0], nan]) == [0.25, 0.75]
    assert shares([1.0, 2.0], [nan, nan]) == [0.5, 0.5]
    assert shares([0.0, 0.0], np.empty((2, 0))) == []  # no weight yet, and no classes


@pytest.mark.parametrize("metric", ["edit", lambda a, b: abs(len(a) - 2 * len(b))])
def test_an_extended_patch_takes_the_dissimilarities_that_were_foreseen(metric):
    words = [10 * "ab"[k % 2] + k * "c" for k in range(14)]
    compared = read_input(MedianKMeans(2, metric=metric), words, np.ones, None).compared
    four = np.arange(4)
    before = Prototypes(words[:4], four, np.ones(4), compared.within(words[:4], four)[0], np.empty((4, 0)))
    for n_before, prototypes in ((0, None), (4, before)):
        _, taken = compared.extended(prototypes, words[4:], np.arange(4, 14))
        assert taken == compared.cost(10, n_before)


def test_the_bar_of_labels_tells_of_every_block(monkeypatch, rng):
    monkeypatch.setattr(input, "BLOCK", 40)
    told = []
    with followed(lambda stage, done, total: told.append((stage, done, total))):
        PatchClusterer(BatchKMeans(3, random_state=0), 50).fit(rng.normal(size=(100, 2)))
    assert [each for each in told if each[0] == "assignment"] == [("assignment", n, 100) for n in (40, 80, 100)]


@pytest.mark.parametrize(
    ("merge", "patches", "seconds"), [("sequential", [5, 2, 2, 2], 5 + 9 * 2), ("tree", [2], 10 * 2 + 1)]
)
def test_the_time_of_a_pass_is_that_of_its_patches(monkeypatch, rng, merge, patches, seconds):
    """By a clock on which patches take so long and a map takes a second."""
    now, took = [0.0], cycle(patches)

    def work(seconds, progress):
        now[0] += seconds
        return progress

    monkeypatch.setattr(one_pass, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(one_pass, "advanced", lambda settings, compared, progress, patch: work(next(took), progress))
    monkeypatch.setattr(one_pass, "mapped", lambda settings, compared, progress: work(1, progress))
    assert PatchClusterer(km(), 50, merge=merge).estimate(rng.normal(size=(500, 2))).seconds == seconds


def test_dead_prototypes_of_a_sequence_are_not_in_the_tree_that_goes_on(rng):
    X = rng.normal(size=(3, 2))[np.arange(60) % 3]
    clusterer = PatchClusterer(km(), 60, merge="sequential").fit(X)
    assert (clusterer.multiplicities_ == 0).sum() == 2
    clusterer.set_params(merge="tree").partial_fit(rng.normal(size=(60, 2)))
    assert (clusterer.summary_["multiplicities"] > 0).all()
