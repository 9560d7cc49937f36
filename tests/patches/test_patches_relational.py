"""Patches of relational maps: prototypes are carried by the points nearest to them."""

import numpy as np
import pytest
from support.maps import blob_distances, blobs

from medianmap import (
    BatchNeuralGas,
    BatchSOM,
    PatchClusterer,
    PrototypeClassifier,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
    as_dissimilarity,
    load,
    save,
)
from medianmap.metrics.registry import bind

KINDS = (RelationalKMeans, RelationalNeuralGas, RelationalSOM)


def made(kind, **params):
    size = (2, 3) if kind is RelationalSOM else 6
    return kind(size, **{"metric": "sqeuclidean", "random_state": 0, **params})


def squared(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def by_formula(D, carried):
    """(N, K) mean dissimilarity to the points that carry a prototype, less half their mean among themselves."""
    return np.stack([D[:, at].mean(axis=1) - 0.5 * D[np.ix_(at, at)].mean() for at in carried], axis=1)


@pytest.fixture
def X(rng):
    points = blobs(rng, n=500, centers=5)
    return points[rng.permutation(len(points))]


@pytest.mark.parametrize("kind", KINDS)
def test_one_patch_is_the_map_carried_by_its_nearest_points(X, kind):
    D, start = squared(X), np.arange(6)
    whole = made(kind, metric="precomputed", init=start).fit(D)
    passed = PatchClusterer(made(kind, metric="precomputed", init=start), len(X), points_per_prototype=5).fit(D)
    nearest = np.argsort(whole.transform(D), axis=0, kind="stable")[:5].T
    assert np.array_equal(passed.carried_indices_.reshape(6, 5), nearest)
    assert np.array_equal(passed.exemplar_indices_, whole.exemplar_indices_)
    assert np.array_equal(passed.multiplicities_, whole.hits_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"merge": "tree"}, {"warm_start": False}, {"points_per_prototype": 1}])
def test_nothing_is_lost_and_all_answers_agree(X, kind, options):
    D = squared(X)
    passed = PatchClusterer(made(kind), 60, **options).fit(X)
    assert passed.multiplicities_.sum() == pytest.approx(len(X), abs=1e-9)
    carried = passed.carried_indices_.reshape(6, -1)
    assert carried.shape[1] == options.get("points_per_prototype", 4)
    G = by_formula(D, carried)
    np.testing.assert_allclose(passed.transform(X), G, atol=1e-9 * D.max())
    assert np.array_equal(passed.predict(X), passed.labels_)
    assert passed.quantization_error_ == pytest.approx(0.5 * G.min(axis=1).sum(), rel=1e-9)
    assert np.array_equal(passed.exemplar_indices_, carried[:, 0])
    among = by_formula(D, carried).T[:, carried].mean(axis=2)
    among = among.T - np.diag(among)[:, None]
    np.testing.assert_allclose(passed.map_.prototype_dissimilarities_, among, atol=1e-9 * D.max())


@pytest.mark.parametrize(("kind", "means"), [(RelationalNeuralGas, BatchNeuralGas), (RelationalSOM, BatchSOM)])
def test_patches_lose_little_more_than_those_of_mean_vectors(X, kind, means):
    size = (4, 5) if kind is RelationalSOM else 20
    errors = [
        (
            PatchClusterer(kind(size, metric="sqeuclidean", random_state=seed), 100).fit(X).quantization_error_,
            PatchClusterer(means(size, random_state=seed), 100).fit(X).quantization_error_,
        )
        for seed in range(3)
    ]
    ours, theirs = np.mean(errors, axis=0)
    assert ours < 1.25 * theirs


@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_and_the_objects_behind_it_give_the_same(X, kind):
    a = PatchClusterer(made(kind), 80).fit(X)
    b = PatchClusterer(made(kind, metric="precomputed"), 80).fit(bind("sqeuclidean").between(X, X))
    assert np.array_equal(a.carried_indices_, b.carried_indices_)
    assert np.array_equal(a.labels_, b.labels_)


def test_blocks_of_a_matrix_one_by_one(X):
    D = bind("sqeuclidean").between(X, X)
    objects = PatchClusterer(made(RelationalKMeans), 100)
    blocks = PatchClusterer(made(RelationalKMeans, metric="precomputed"), 100)
    for start in range(0, 300, 100):
        new = np.arange(start, start + 100)
        before = blocks.carried_indices_ if start else np.empty(0, int)
        at = np.concatenate([before, new])
        objects.partial_fit(X[new])
        blocks.partial_fit(D[np.ix_(at, at)])
    assert np.array_equal(objects.carried_indices_, blocks.carried_indices_)
    assert blocks.multiplicities_.sum() == 300


def test_a_saved_pass_goes_on_as_if_it_had_not_been_saved(X, tmp_path):
    passed = PatchClusterer(made(RelationalNeuralGas), 100).fit(X[:300])
    save(passed, tmp_path / "m.mmap")
    loaded = load(tmp_path / "m.mmap")
    assert np.array_equal(loaded.transform(X), passed.transform(X))
    for each in (passed, loaded):
        each.partial_fit(X[300:400])
    assert np.array_equal(loaded.carried_indices_, passed.carried_indices_)
    assert np.array_equal(loaded.transform(X), passed.transform(X))


def test_a_checkpoint_ends_the_same_and_knows_its_settings(X, tmp_path):
    def stop_after_three(record):
        if record.n_patches == 3:
            raise InterruptedError

    straight = PatchClusterer(made(RelationalNeuralGas), 60).fit(X)
    cut = PatchClusterer(made(RelationalNeuralGas), 60, checkpoint=tmp_path / "c", on_patch=stop_after_three)
    with pytest.raises(InterruptedError):
        cut.fit(X)
    cut.set_params(on_patch=None).fit(X)
    assert np.array_equal(cut.carried_indices_, straight.carried_indices_)
    with pytest.raises(ValueError, match="was begun with other data, another map"):
        cut.set_params(points_per_prototype=5).fit(X)


def test_words_labels_and_streams(rng):
    words = ["".join(rng.choice(list("AC" if k % 2 else "GT"), 6)) for k in range(240)]
    y = np.arange(240) % 2
    gas = RelationalNeuralGas(4, metric="edit", random_state=0)
    labelled = PrototypeClassifier(PatchClusterer(gas, 60), beta=0.5).fit(words, y)
    assert labelled.score(words, y) == 1.0
    whole, stream = PatchClusterer(gas, 60).fit(words), PatchClusterer(gas, 60).fit(iter(words))
    assert np.array_equal(whole.carried_indices_, stream.carried_indices_)
    assert np.array_equal(stream.predict(words), whole.labels_)


def test_weights_count_as_copies_do(X):
    D, m = squared(X[:120]), np.ones(120)
    m[:40] = 2
    twice = np.repeat(np.arange(120), m.astype(int))
    start = np.array([50, 60, 70, 80, 90, 100])
    a = PatchClusterer(made(RelationalKMeans, metric="precomputed", init=start), 120).fit(D, sample_weight=m)
    copies = np.flatnonzero(np.diff(twice, prepend=-1))[start]
    b = PatchClusterer(made(RelationalKMeans, metric="precomputed", init=copies), 160).fit(D[np.ix_(twice, twice)])
    np.testing.assert_allclose(a.multiplicities_, b.multiplicities_)
    assert np.array_equal(a.exemplar_indices_, twice[b.exemplar_indices_])


def test_an_estimate_and_a_budget_count_the_points_that_carry(X):
    gas = made(RelationalNeuralGas)
    few, many = (PatchClusterer(gas, 100, points_per_prototype=q).estimate(X).n_evaluations for q in (1, 20))
    # What the four patches after the first are compared with, besides themselves.
    assert many - few == 4 * 100 * 6 * 15  # 20 would be more than a patch has
    short = PatchClusterer(gas, 100, points_per_prototype=20, max_evaluations=few).fit(X)
    assert short.n_evaluations_ <= few


def test_the_result_does_not_depend_on_workers(X):
    one, two = (PatchClusterer(made(RelationalKMeans), 60, merge="tree", n_jobs=n).fit(X) for n in (1, 2))
    assert np.array_equal(one.carried_indices_, two.carried_indices_)


def test_data_no_larger_than_the_map():
    X = np.arange(6.0)[:, None]
    passed = PatchClusterer(made(RelationalKMeans), 6).fit(X)
    assert sorted(passed.exemplar_indices_.tolist()) == list(range(6))


def test_few_new_points_after_prototypes_that_stand_for_nothing():
    two_places = np.repeat([[0.0, 0.0], [1.0, 1.0]], 15, axis=0)
    km = RelationalKMeans(8, metric="sqeuclidean", random_state=0)
    passed = PatchClusterer(km, 30).partial_fit(two_places)
    passed.partial_fit(np.array([[5.0, 5.0], [6.0, 6.0]]))
    assert passed.multiplicities_.sum() == 32
    stream = iter([[0.0, 0.0]] * 30 + [[1.0, 1.0]] * 30 + [[2.0, 3.0]])
    assert PatchClusterer(km, 30).fit(stream).multiplicities_.sum() == 61


def test_a_saved_pass_over_blocks_goes_on_with_the_same_rows(X, tmp_path):
    D = squared(X[:200])
    passed = PatchClusterer(made(RelationalKMeans, metric="precomputed"), 100).fit(D[:100, :100])
    save(passed, tmp_path / "m.mmap")
    loaded = load(tmp_path / "m.mmap")
    at = np.r_[passed.carried_indices_, 100:200]
    for each in (passed, loaded):
        each.partial_fit(D[np.ix_(at, at)])
        G = by_formula(D, each.carried_indices_.reshape(6, -1))
        np.testing.assert_allclose(each.transform(D), G, atol=1e-9 * D.max())
    assert np.array_equal(loaded.carried_indices_, passed.carried_indices_)


def test_a_block_of_other_rows_is_refused(X):
    D = squared(X[:200])
    passed = PatchClusterer(made(RelationalKMeans, metric="precomputed"), 100).fit(D[:100, :100])
    at = np.r_[passed.exemplar_indices_, 100:200]
    with pytest.raises(ValueError, match="are not the points that carry the prototypes so far"):
        passed.partial_fit(D[np.ix_(at, at)])


def test_no_more_is_carried_than_a_patch_has(X):
    passed = PatchClusterer(made(RelationalKMeans), 60, points_per_prototype=1000).fit(X)
    assert len(passed.carried_indices_) == 60
    parts = PatchClusterer(made(RelationalKMeans), n_patches=10, points_per_prototype=1000).fit(X)
    assert len(parts.carried_indices_) == 48  # 8 each, of patches of 50


def test_a_tree_uses_its_budget(rng):
    X = blobs(rng, n=600, centers=5)
    gas = RelationalNeuralGas(10, metric="sqeuclidean", random_state=0, n_epochs=5)
    passed = PatchClusterer(gas, 300, merge="tree", max_evaluations=100_000).fit(X)
    assert not passed.stopped_early_
    assert passed.n_evaluations_ <= 100_000


def test_points_that_are_too_few_carry_themselves():
    passed = PatchClusterer(made(RelationalKMeans, metric="precomputed"), 60)
    passed.fit(np.zeros((60, 60))).partial_fit(np.zeros((len(passed.carried_indices_) + 1,) * 2))
    assert passed.multiplicities_.sum() == 61
    assert len(passed.carried_indices_) >= 6


def test_the_points_that_carry_have_their_ids(rng):
    D = blob_distances(rng)
    source = as_dissimilarity(D, ids=[f"p{k}" for k in range(len(D))])
    patches = PatchClusterer(RelationalKMeans(3, metric="precomputed", random_state=0), 20, points_per_prototype=4)
    fitted = patches.fit(source).map_
    assert len(fitted.support_) >= 4
    assert fitted.support_ids_ == [f"p{k}" for k in fitted.support_]
