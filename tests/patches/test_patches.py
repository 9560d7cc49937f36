"""Patch clustering: every point seen once, exact multiplicities, only the needed dissimilarities, all kinds of data."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from support.extras import optional
from support.maps import BATCH, MEDIAN, METHODS, blob_distances, blobs, estimator

from medianmap import (
    BatchKMeans,
    BatchNeuralGas,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
    RelationalKMeans,
    as_dissimilarity,
    load,
    save,
)
from medianmap.datasets import load_breast_cancer
from medianmap.estimators.fit import as_generator
from medianmap.estimators.labelings import LABELINGS
from medianmap.explore.stability import restart_stability
from medianmap.patches.one_patch import Patch, seed_of
from medianmap.patches.plan import PatchPlan, cost_of_sequence, cost_of_tree, patch_sizes, plan_patches, tree_sizes
from medianmap.patches.tree import _represented

CHECKED = [
    PatchClusterer(),
    PatchClusterer(MedianKMeans(3, random_state=0), patch_size=20),
    PatchClusterer(BatchNeuralGas(3, n_epochs=10, random_state=0), patch_size=20),
    PatchClusterer(MedianKMeans(3, metric="precomputed", random_state=0), patch_size=1000),
    PatchClusterer(MedianNeuralGas(3)),  # nothing but its defaults: the checks set random_state
]


def expected_failures(clusterer):
    if get_tags(clusterer).input_tags.pairwise:
        not_square = "the check fits vectors (50, 2) as they are, but a precomputed matrix is square"
        return {
            "check_clustering": not_square,
            "check_clustering(readonly_memmap=True)": not_square,
            "check_clusterer_compute_labels_predict": not_square,
            "check_n_features_in_after_fitting": "a block for partial_fit may have any size",
            "check_fit_score_takes_y": "a block for partial_fit begins with the points carried",
        }
    return {"check_sample_weight_equivalence_on_dense_data": "repeated points fall into other patches"}


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_without_a_map_patches_are_those_of_median_neural_gas(rng, tmp_path):
    X = blobs(rng, n=200)
    default = PatchClusterer(patch_size=100, random_state=0).fit(X)
    given = PatchClusterer(MedianNeuralGas(), patch_size=100, random_state=0).fit(X)
    assert len(default.multiplicities_) == 8
    np.testing.assert_array_equal(default.medoid_indices_, given.medoid_indices_)
    save(default, tmp_path / "patches.mmap")
    np.testing.assert_array_equal(load(tmp_path / "patches.mmap").predict(X), default.labels_)
    runs = [restart_stability(each, X, n_restarts=3, random_state=0) for each in (default, given)]
    np.testing.assert_array_equal(runs[0].prototypes, runs[1].prototypes)
    default.partial_fit(X[:50])
    assert default.n_samples_seen_ == 250


# --- sizes and cost ---------------------------------------------------------------------------------------------------


@given(N=st.integers(1, 10**6), n=st.integers(1, 1000))
def test_leftover_points_go_one_each_to_the_first_patches(N, n):
    sizes = patch_sizes(N, n)
    assert sizes.sum() == N
    assert set(sizes) <= {N // n, N // n + 1}
    assert (np.diff(sizes) <= 0).all()


@given(
    N=st.integers(1, 10**5),
    K=st.integers(1, 50),
    n=st.integers(1, 500),
    budget=st.integers(1, 10**8),
    rule=st.sampled_from([cost_of_sequence, cost_of_tree]),
)
def test_a_plan_keeps_to_its_budget(N, K, n, budget, rule):
    def price(sizes):
        shape = K if rule is cost_of_sequence else tree_sizes(max(K, int(sizes[0])), K, medoids=True)
        return rule(sizes, shape, lambda n, k: n * n + 2 * k * n)

    n = min(n, N)
    plan = plan_patches(N, K, n, budget, price)
    assert plan.n_patches >= n
    assert price(plan.sizes) <= budget or plan.n_seen == 1
    if plan.stops_early:
        assert price(patch_sizes(N, plan.n_patches)[: plan.n_seen + 1]) > budget
    if price(patch_sizes(N, n)) <= budget:
        assert plan == PatchPlan(N, n, n)


@pytest.mark.parametrize("n", [1, 999, 1000, 1001, 2500])
def test_every_point_is_seen_once(n, rng):
    X = rng.normal(size=(n, 2))
    fitted = PatchClusterer(MedianKMeans(1, random_state=0), patch_size=1000).fit(X)
    assert fitted.n_samples_seen_ == n
    assert fitted.n_patches_ == max(1, -(-n // 1000))
    assert fitted.multiplicities_.sum() == n


# --- what is computed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
def test_one_patch_is_the_map_itself(method, family, rng):
    X = blobs(rng)
    patches = PatchClusterer(estimator(method, 6, family, init=np.arange(6)), patch_size=100).fit(X)
    alone = estimator(method, 6, family, init=np.arange(6)).fit(X)
    np.testing.assert_array_equal(patches.cluster_centers_, alone.cluster_centers_)
    np.testing.assert_array_equal(patches.labels_, alone.labels_)
    np.testing.assert_array_equal(patches.multiplicities_, alone.hits_)
    assert patches.quantization_error_ == pytest.approx(alone.quantization_error_)


@pytest.mark.parametrize("merge", ["sequential", "tree"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
def test_multiplicities_are_exact_for_every_map(method, family, merge, rng):
    X, m = blobs(rng, n=230), rng.integers(0, 4, 230).astype(float)
    patches = PatchClusterer(estimator(method, 6, family, random_state=0), patch_size=50, merge=merge)
    patches.fit(X, sample_weight=m)
    assert patches.multiplicities_.sum() == m.sum()
    assert patches.n_samples_seen_ == 230
    assert len(patches.labels_) == 230
    if family is MEDIAN:
        np.testing.assert_array_equal(patches.cluster_centers_, X[patches.medoid_indices_])
        assert len(set(patches.medoid_indices_)) == 6
        assert (m[patches.medoid_indices_] > 0).all()
    np.testing.assert_array_equal(patches.predict(X), patches.labels_)


def test_two_patches_by_hand():
    # First 0 1 2 | 10 11 12, then 1 1 and 30 31 32 31: the second patch sees 1 and 11 as three points each.
    x = np.array([0.0, 1, 2, 10, 11, 12, 1, 1, 30, 31, 32, 31])[:, None]
    patches = PatchClusterer(MedianKMeans(2, init=[1, 4]), n_patches=2).fit(x)
    # At 11 the second prototype costs 19 + 20 + 21 + 20 = 80, at 31 it costs 3 x 20 + 1 + 0 + 1 + 0 = 62.
    assert patches.cluster_centers_[:, 0].tolist() == [1.0, 31.0]
    assert patches.multiplicities_.tolist() == [8.0, 4.0]  # the three behind 11 are nearer to 1 than to 31


def test_sources_read_only_the_blocks_they_need(rng):
    D = blob_distances(rng, n=100)
    asked = np.zeros((100, 100), bool)

    class Spy:
        shape, dtype, symmetric, ids = (100, 100), D.dtype, True, None

        def block(self, rows, cols):
            i, l = np.arange(100)[rows], np.arange(100)[cols]
            asked[np.ix_(i, l)] = True
            return D[np.ix_(i, l)]

    km = MedianKMeans(3, metric="precomputed", random_state=0)
    # In sequence with three prototypes; or 6 medoids of each patch, and the pairs between these.
    for merge, between in (("sequential", 4 * 20 * 3), ("tree", (30 * 30 - 5 * 6 * 6) // 2)):
        asked[:] = False
        patches = PatchClusterer(km, 20, merge=merge, compute_labels=False).fit(Spy())
        assert patches.n_evaluations_ == 5 * 20 * 20 + between
        assert asked.sum() <= patches.n_evaluations_
        whole_matrix = PatchClusterer(km, 20, merge=merge).fit(D)
        np.testing.assert_array_equal(patches.medoid_indices_, whole_matrix.medoid_indices_)


@pytest.mark.parametrize("symmetric", [True, False])
def test_evaluations_are_counted(symmetric, rng):
    calls = [0]

    def metric(a, b):
        calls[0] += 1
        return abs(a - b)

    x = rng.normal(size=60).tolist()
    source = as_dissimilarity(x, metric, symmetric=symmetric)
    km = MedianKMeans(2, metric="precomputed", random_state=0)
    # Two prototypes against a patch, twice; four medoids of each patch against those of the others.
    for merge, between in (("sequential", 2 * 2 * 20), ("tree", 3 * 4 * 4)):
        calls[0] = 0
        patches = PatchClusterer(km, 20, merge=merge, compute_labels=False).fit(source)
        assert patches.n_evaluations_ == calls[0] == 3 * 400 + between * (1 if symmetric else 2)
        calls[0] = 0
        of_objects = MedianKMeans(2, metric=metric, random_state=0)
        objects = PatchClusterer(of_objects, 20, merge=merge, compute_labels=False).fit(x)
        assert objects.n_evaluations_ == calls[0] == 3 * 400 + between * 2


@pytest.mark.parametrize("kind", ["matrix", "condensed", "vectors", "strings", "stream", "partial"])
def test_all_kinds_of_data_give_the_same_map(kind, rng):
    X = np.round(rng.normal(size=(90, 1)) * 10)
    D = np.abs(X - X.T)
    km = MedianKMeans(4, metric="cityblock", random_state=3)
    expected = PatchClusterer(km, patch_size=30).fit(X)
    if kind in ("matrix", "condensed"):
        data = D if kind == "matrix" else D[np.triu_indices(90, 1)]
        found = PatchClusterer(MedianKMeans(4, metric="precomputed", random_state=3), patch_size=30).fit(data)
    elif kind == "vectors":
        found = PatchClusterer(km, patch_size=30).fit(X.tolist())
    elif kind == "strings":
        strings = ["a" * int(x + 100) for x in X[:, 0]]
        found = PatchClusterer(MedianKMeans(4, metric="edit", random_state=3), patch_size=30).fit(strings)
        assert [len(s) - 100 for s in found.cluster_centers_] == X[found.medoid_indices_, 0].tolist()
    elif kind == "stream":
        found = PatchClusterer(km, patch_size=30).fit(row for row in X)
        assert not hasattr(found, "labels_")
    else:
        found = PatchClusterer(km, patch_size=30)
        for start in (0, 30, 60):
            found.partial_fit(X[start : start + 30])
    np.testing.assert_array_equal(found.medoid_indices_, expected.medoid_indices_)
    np.testing.assert_array_equal(found.multiplicities_, expected.multiplicities_)
    assert found.n_samples_seen_ == 90


@pytest.mark.parametrize("merge", ["sequential", "tree"])
def test_partial_fit_takes_extended_blocks_of_a_matrix(merge, rng):
    D = blob_distances(rng, n=90)
    km = MedianKMeans(4, metric="precomputed", random_state=3)
    expected = PatchClusterer(km, patch_size=30, merge=merge).fit(D)
    found = PatchClusterer(km, patch_size=30, merge=merge).partial_fit(D[:30, :30])

    def carried():
        return found.medoid_indices_ if merge == "sequential" else found.summary_["indices"]

    for start in (30, 60):
        at = np.append(carried(), np.arange(start, start + 30))
        found.partial_fit(D[np.ix_(at, at)])
    np.testing.assert_array_equal(found.medoid_indices_, expected.medoid_indices_)
    assert found.n_evaluations_ >= expected.n_evaluations_
    n = len(carried())
    with pytest.raises(ValueError, match=f"{n} rows, the first {n} of them"):
        found.partial_fit(D[:n, :n])


def test_patches_come_near_the_full_fit(rng):
    X = blobs(rng, n=3000, centers=12, features=4)
    full = min(MedianNeuralGas(20, random_state=s).fit(X).quantization_error_ for s in range(3))
    patches = PatchClusterer(MedianNeuralGas(20, random_state=0), patch_size=500, shuffle=True).fit(X)
    tree = PatchClusterer(MedianNeuralGas(20, random_state=0), patch_size=500, merge="tree").fit(X)
    assert patches.quantization_error_ < 1.15 * full
    assert tree.quantization_error_ < 1.3 * full


def test_a_som_keeps_its_orientation_from_patch_to_patch(rng):
    X = rng.random((2000, 2))
    seen = []
    som = PatchClusterer(MedianSOM((5, 5), random_state=0), patch_size=400, merge="sequential")
    for start in range(0, 2000, 400):
        som.partial_fit(X[start : start + 400])
        seen.append(som.cluster_centers_.copy())
    for before, after in itertools.pairwise(seen):
        moved = np.linalg.norm(after - before, axis=1).mean()
        assert moved < 0.2  # a mirrored or turned map would move by 0.5 on average
    from medianmap.core.quality import topographic_error

    assert topographic_error(som.transform(X), som.lattice_) < 0.3


def test_shuffling_takes_another_order_and_keeps_places(rng):
    X = np.sort(rng.normal(size=(400, 1)), axis=0)
    sorted_ = PatchClusterer(MedianKMeans(5, random_state=0), 50, merge="sequential").fit(X)
    shuffled = PatchClusterer(MedianKMeans(5, random_state=0), 50, merge="sequential", shuffle=True).fit(X)
    np.testing.assert_array_equal(shuffled.cluster_centers_, X[shuffled.medoid_indices_])
    assert shuffled.quantization_error_ < sorted_.quantization_error_


def test_a_budget_makes_patches_smaller_and_then_stops(rng):
    X = rng.normal(size=(1000, 2))
    km = MedianKMeans(5, random_state=0)
    free = PatchClusterer(km, 500, compute_labels=False).fit(X)
    tight = PatchClusterer(km, 500, compute_labels=False, max_evaluations=60_000).fit(X)
    short = PatchClusterer(km, 500, compute_labels=False, max_evaluations=2_000).fit(X)
    assert tight.n_samples_seen_ == 1000
    assert tight.n_evaluations_ < free.n_evaluations_ / 2
    assert not tight.stopped_early_
    assert short.stopped_early_
    assert short.n_samples_seen_ < 1000
    stream = PatchClusterer(km, 50, max_evaluations=10_000).fit(iter(X))
    assert stream.stopped_early_
    assert stream.n_evaluations_ < 10_000 * 1.3


# --- labels, files, mistakes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labeling", LABELINGS)
@pytest.mark.parametrize("merge", ["sequential", "tree"])
def test_labels_guide_patches(labeling, merge):
    data = load_breast_cancer()
    y = np.where(np.arange(569) % 2, data.y, -1)
    map_ = MedianNeuralGas(20, metric="cosine", n_epochs=30, random_state=0)
    clf = PrototypeClassifier(
        PatchClusterer(map_, n_patches=5, merge=merge), 0.3, labeling=labeling, label_scale="mean", unlabeled=-1
    )
    assert clf.fit(data.X, y).score(data.X, data.y) > 0.85
    assert clf.prototype_labels_.shape == (20, 2)
    np.testing.assert_allclose(clf.prototype_labels_.sum(axis=1), 1)


def test_a_patch_without_labels_is_unsupervised(rng):
    X, y = blobs(rng, n=80), np.full(80, -1)
    y[:20] = rng.integers(2, size=20)
    clf = PrototypeClassifier(PatchClusterer(BatchKMeans(4, random_state=0), patch_size=20), unlabeled=-1).fit(X, y)
    assert not np.isnan(clf.prototype_labels_).any()


def test_saved_and_loaded(rng, tmp_path):
    words = ["heron", "herons", "hero", "quark", "quarks", "quart"] * 20
    patches = PatchClusterer(MedianKMeans(2, metric="edit", random_state=0), 40).fit(words)
    save(patches, tmp_path / "patches.mmap")
    again = load(tmp_path / "patches.mmap")
    assert again.predict(["quarts"]).tolist() == patches.predict(["quarts"]).tolist()
    np.testing.assert_array_equal(again.multiplicities_, patches.multiplicities_)
    again.partial_fit(words[:10])  # continues from the prototypes
    assert again.n_samples_seen_ == 130
    assert again.multiplicities_.sum() == 130


BAD = {
    "patch_size 0": ({"patch_size": 0}, "patch_size is 0"),
    "patches smaller than K": ({"patch_size": 3}, "Patches would have 3 points, fewer than the 5 prototypes"),
    "too many patches": ({"n_patches": 30}, "Patches would have 2 points, fewer than the 5 prototypes"),
    "unknown merge": ({"merge": "star"}, "merge is 'star'"),
    "checkpoint of workers": ({"merge": "tree", "checkpoint": "x", "n_jobs": 2}, "checkpoint needs .* one process"),
    "client without tree": ({"client": "tcp://nowhere:1"}, "client .*merge='tree'"),
    "flag": ({"shuffle": "yes"}, "shuffle is 'yes'"),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_said(case, rng):
    params, sentence = BAD[case]
    with pytest.raises(ValueError, match=sentence):
        PatchClusterer(MedianKMeans(5), **params).fit(rng.normal(size=(60, 2)))


def test_mistakes_with_streams(rng):
    km = MedianKMeans(3)
    with pytest.raises(ValueError, match="X is empty"):
        PatchClusterer(km).fit(iter([]))
    with pytest.raises(ValueError, match="exceeds n_samples = 2"):
        PatchClusterer(km).fit(iter([[1.0], [2.0]]))
    with pytest.raises(ValueError, match=r"shuffle.*stream"):
        PatchClusterer(km, shuffle=True).fit(iter([[1.0]]))
    with pytest.raises(ValueError, match="no weights and no labels"):
        PatchClusterer(km).fit(iter([[1.0]]), sample_weight=[1.0])
    with pytest.raises(ValueError, match="stream of rows of a precomputed matrix"):
        PatchClusterer(MedianKMeans(3, metric="precomputed")).fit(iter([[0.0]]))
    with pytest.raises(TypeError, match="pass one of medianmap's maps"):
        PatchClusterer(3).fit(rng.normal(size=(60, 2)))


def test_progress_is_told(rng, caplog):
    seen = []
    clusterer = PatchClusterer(MedianKMeans(2, random_state=0), 50, on_patch=seen.append, verbose=1)
    with caplog.at_level("INFO", logger="medianmap"):
        clusterer.fit(rng.normal(size=(200, 2)))
    assert [record.n_samples_seen for record in seen] == [50, 100, 150, 200]
    # The map is trained after the last patch, on 4 medoids of each.
    assert seen[-1].n_evaluations + 4 * 4 * 6 == clusterer.n_evaluations_
    assert seen[0].seconds_left > 0 == seen[-1].seconds_left
    assert any("patch 4 of 4" in record.message for record in caplog.records)


def test_an_estimate_counts_what_the_pass_will_take(rng):
    X = rng.normal(size=(600, 3))
    patches = PatchClusterer(MedianKMeans(5, random_state=0), 100, compute_labels=False)
    estimated = patches.estimate(X)
    patches.fit(X)
    assert estimated.n_patches == patches.n_patches_ == 6
    assert abs(estimated.n_evaluations - patches.n_evaluations_) < 0.4 * patches.n_evaluations_
    assert estimated.seconds > 0
    assert estimated.bytes == 3 * 8 * 100**2  # of a patch; its summaries are smaller
    more = patches.estimate(X[:200], n_points=60_000)
    assert more.n_patches == 600
    assert 80 < more.n_evaluations / estimated.n_evaluations < 120
    assert "600 patches" in str(more)
    assert PatchClusterer(BatchKMeans(5, random_state=0), 100).estimate(X).n_evaluations == 0
    with pytest.raises(ValueError, match="stream"):
        patches.estimate(iter(X))


def test_a_scheduler_that_does_not_answer_is_said(rng):
    dask = optional("dask")
    optional("distributed")
    clusterer = PatchClusterer(MedianKMeans(2), 20, merge="tree", client="tcp://127.0.0.1:9")
    quickly = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with quickly, pytest.raises(ValueError, match="No Dask scheduler"):
        clusterer.fit(rng.normal(size=(60, 2)))


def test_every_parameter_and_fitted_attribute_is_documented(rng):
    X = blobs(rng, n=40)
    maps = MedianSOM((2, 2), n_epochs=3), RelationalKMeans(3), BatchKMeans(3)
    fitted = [PatchClusterer(each, 20).fit(X) for each in maps]
    attributes = {name for each in fitted for name in vars(each) if name.endswith("_")}
    assert {"medoid_indices_", "carried_indices_", "lattice_", "labels_"} <= attributes
    heads = [line.split(" : ")[0] for line in PatchClusterer.__doc__.split("\n") if " : " in line]
    entries = {name.strip() for head in heads for name in head.split(",")}
    assert (attributes | set(fitted[0].get_params(deep=False))) - entries == set()


# --- summaries of a tree ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("map_", [MedianKMeans(8), MedianNeuralGas(8), MedianSOM((2, 4))])
@pytest.mark.parametrize("order", ["random", "sorted"])
def test_exemplars_come_from_all_patches(map_, order, rng):
    X = blobs(rng, n=1440, centers=16, features=3)
    X = X[rng.permutation(1440)] if order == "random" else X[np.lexsort(np.round(X).T)]
    map_ = clone(map_).set_params(metric="euclidean", random_state=0)
    full = map_.fit(X).quantization_error_
    tree = PatchClusterer(map_, 48).fit(X)
    assert tree.quantization_error_ < 1.07 * full
    # 30 patches of 48; the exemplars of patches in sequence stay in the first few.
    assert np.mean(tree.medoid_indices_ < 10 * 48) < 0.8
    assert len(set(tree.medoid_indices_ // 48)) >= 4
    if order == "random":
        sequence = PatchClusterer(map_, 48, merge="sequential").fit(X)
        assert tree.quantization_error_ < sequence.quantization_error_


def test_a_tree_is_the_same_on_workers_in_a_stream_and_in_parts(rng):
    X, y = blobs(rng, n=700), rng.integers(3, size=700)
    m = rng.integers(0, 3, 700).astype(float)
    km = MedianKMeans(4, random_state=0)
    stream = PatchClusterer(km, 24).fit(iter(X))
    assert stream.summary_["sets"][:, 1].max() == 2  # three levels
    parts = PatchClusterer(km, 24)
    for start in range(0, 700, 24):
        parts.partial_fit(X[start : start + 24])
    np.testing.assert_array_equal(parts.medoid_indices_, stream.medoid_indices_)
    np.testing.assert_array_equal(parts.summary_["indices"], stream.summary_["indices"])
    alone, workers = (
        PrototypeClassifier(PatchClusterer(km, 24, merge=merge, n_jobs=n_jobs)).fit(X, y, sample_weight=m)
        for merge, n_jobs in (("auto", None), ("tree", 2))
    )
    np.testing.assert_array_equal(workers.prototype_labels_, alone.prototype_labels_)
    alone, workers = alone.estimator_, workers.estimator_
    np.testing.assert_array_equal(workers.medoid_indices_, alone.medoid_indices_)
    assert workers.n_evaluations_ == alone.n_evaluations_
    for name, expected in alone.summary_.items():
        np.testing.assert_array_equal(workers.summary_[name], expected)


@given(
    n_patches=st.integers(1, 60), per_prototype=st.integers(1, 9), K=st.integers(1, 4), symmetric=st.booleans()
)  # fmt: skip
@example(n_patches=12, per_prototype=6, K=2, symmetric=True)
def test_a_tree_takes_no_more_evaluations_than_foreseen(n_patches, per_prototype, K, symmetric):
    p = K * per_prototype
    x = np.random.default_rng(n_patches).normal(size=n_patches * p)
    D = np.abs(x[:, None] - x) * (1 if symmetric else np.where(x[:, None] < x, 2.0, 1.0))
    clusterer = PatchClusterer(MedianKMeans(K, metric="precomputed", annealing="none"), p, compute_labels=False)
    shape = tree_sizes(p, K, medoids=True)
    foreseen = cost_of_tree(np.full(n_patches, p), shape, lambda n, k: n * n + n * k * (1 if symmetric else 2))
    fitted = clusterer.fit(D)
    assert fitted.n_evaluations_ == foreseen
    assert fitted.multiplicities_.sum() == fitted.summary_["multiplicities"].sum() == n_patches * p
    assert len(fitted.summary_["indices"]) <= shape.most * len(fitted.summary_["counts"])


def test_a_single_patch_is_the_map_itself(rng):
    X = blobs(rng)
    gas = MedianNeuralGas(5, random_state=4)
    seed = seed_of(int(as_generator(4).integers(2**63)), 2, 0)
    np.testing.assert_array_equal(
        PatchClusterer(gas, 1000).fit(X).medoid_indices_,
        clone(gas).set_params(random_state=seed).fit(X).medoid_indices_,
    )


def test_labels_of_a_summary_are_means_of_those_it_stands_for():
    D = np.abs(np.subtract.outer([0.0, 0, 1, 9, 9, 5], [0.0, 0, 1, 9, 9, 5]))
    Y = np.array([[1, 0], [np.nan, np.nan], [0, 1], [0, 1], [0, 1], [np.nan, np.nan]])
    points = Patch(np.arange(6), np.arange(6), np.array([1.0, 5, 3, 1, 1, 2]), Y)
    found = _represented(points, D, D, np.array([1, 4, 5, 0]))  # 0 and 1 coincide: each stands for itself
    assert found.m.tolist() == [8.0, 2.0, 2.0, 1.0]
    np.testing.assert_array_equal(found.Y, [[0, 1], [0, 1], [np.nan, np.nan], [1, 0]])
    np.testing.assert_array_equal(found.D, D[np.ix_([1, 4, 5, 0], [1, 4, 5, 0])])
