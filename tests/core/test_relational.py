"""Relational maps: the batch maps on squared distances; and exemplars reached by annealing among combinations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from support.maps import BATCH, EPOCHS, METHODS, blob_distances, blobs, estimator, grid_of, unarranged

from medianmap import (
    MedianNeuralGas,
    PatchClusterer,
    PrototypeClassifier,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
    load,
    save,
)
from medianmap.core.spaces import RelationalSpace, snapped
from medianmap.estimators.fit import as_generator
from medianmap.explore import prototype_dissimilarities, two_best
from medianmap.explore.beta_path import beta_path
from medianmap.refine import swap_medoids
from medianmap.search.frame import FieldWeights
from medianmap.sources import as_dissimilarity

RELATIONAL = {"kmeans": RelationalKMeans, "gas": RelationalNeuralGas, "som": RelationalSOM}


def squares(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weighted", [False, True])
def test_on_squared_distances_a_relational_map_is_the_batch_map_epoch_by_epoch(method, weighted, rng):
    X, K = blobs(rng, n=70), 6
    m = rng.integers(0, 4, size=70).astype(float) if weighted else np.ones(70)
    m[:K] = 1.0
    batch = estimator(method, K, BATCH, init=np.arange(K)).fit(X, sample_weight=m)
    relational = estimator(method, K, RELATIONAL, init=np.arange(K), metric="sqeuclidean").fit(X, sample_weight=m)
    assert relational.n_iter_ == batch.n_iter_ > (1 if method == "kmeans" else EPOCHS - 1)
    for name in ("sigma", "cost", "quantization_error"):
        np.testing.assert_allclose(relational.history_[name], batch.history_[name], rtol=1e-9)
    np.testing.assert_allclose(relational.coefficients_ @ X[relational.support_], batch.cluster_centers_, rtol=1e-9)
    np.testing.assert_allclose(relational.transform(X), batch.transform(X), atol=1e-9 * squares(X).max())
    np.testing.assert_array_equal(relational.labels_, batch.labels_)


@pytest.mark.parametrize("method", METHODS)
def test_labels_count_as_in_the_batch_maps(method):
    # Not any data: where two neurons without points coincide, rounding decides which of them gets points again.
    rng = np.random.default_rng(2)
    X, K = blobs(rng, n=60), 4
    y = rng.integers(0, 3, size=60)
    batch = PrototypeClassifier(estimator(method, K, BATCH, init=np.arange(K)), beta=0.3).fit(X, y)
    inner = estimator(method, K, RELATIONAL, init=np.arange(K), metric="sqeuclidean")
    relational = PrototypeClassifier(inner, beta=0.3).fit(X, y)
    np.testing.assert_allclose(relational.prototype_labels_, batch.prototype_labels_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(relational.predict(X), batch.predict(X))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metric", ["precomputed", "euclidean"])
def test_predict_on_the_training_data_gives_the_labels_to_the_last_bit(method, metric, rng):
    X = blobs(rng, n=150)
    data = np.sqrt(squares(X)) if metric == "precomputed" else X
    fitted = estimator(method, 6, RELATIONAL, metric=metric, random_state=0).fit(data)
    np.testing.assert_array_equal(fitted.predict(data), fitted.labels_)
    G = fitted.transform(data)
    np.testing.assert_array_equal(fitted.transform(data[37:41]), G[37:41])
    assert fitted.inertia_ == pytest.approx(G.min(axis=1).sum(), rel=1e-12)


def test_distances_follow_the_formula_by_both_ways_of_computing_them(rng):
    D = (blob_distances(rng, n=90) + rng.random((90, 90))) * (1 - np.eye(90))  # asymmetric
    P = rng.random((5, 90)) * (rng.random((5, 90)) < 0.5)
    P /= P.sum(axis=1, keepdims=True)
    expected = np.array([[D[i] @ a - a @ D @ a / 2 for a in P] for i in range(90)])
    space = RelationalSpace(as_dissimilarity(D))
    np.testing.assert_allclose(space.distances(P), expected, rtol=1e-12)
    np.testing.assert_allclose(space.rowwise(P)[0], expected, rtol=1e-12)
    few = RelationalSpace(as_dissimilarity(D.astype(np.float32)))
    np.testing.assert_allclose(few.distances(few.at(np.array([3, 7]))), D.astype(np.float32)[:, [3, 7]], rtol=1e-6)


def test_small_coefficients_are_dropped_and_the_rest_sum_to_one(rng):
    D = blob_distances(rng, n=20)
    H = np.array([[1.0, 1e-5], [1e-14, 1.0]])
    weights = FieldWeights(H, np.repeat([0, 1], 10), np.ones(20))
    space = RelationalSpace(as_dissimilarity(D))
    alpha = space.as_array(space.update(weights, np.zeros((2, 20)))[0])
    np.testing.assert_allclose(alpha.sum(axis=1), 1.0, rtol=1e-15)
    assert (alpha[0] > 0).all()
    assert (alpha[1, :10] == 0).all()


def test_a_prototype_without_weight_stays(rng):
    D = blob_distances(rng, n=12)
    space = RelationalSpace(as_dissimilarity(D))
    before = space.at(np.array([3, 5]))
    after, _ = space.update(FieldWeights(np.eye(2), np.zeros(12, np.intp), np.ones(12)), before)
    np.testing.assert_array_equal(after[1], before[1])
    np.testing.assert_allclose(after[0], 1 / 12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_no_bit(method, n_jobs, rng):
    D = blob_distances(rng, n=300, centers=9)
    one = estimator(method, 12, RELATIONAL, metric="precomputed", random_state=0, n_jobs=1).fit(D)
    more = estimator(method, 12, RELATIONAL, metric="precomputed", random_state=0, n_jobs=n_jobs).fit(D)
    np.testing.assert_array_equal(one.coefficients_.toarray(), more.coefficients_.toarray())
    np.testing.assert_array_equal(one.history_, more.history_)


@pytest.mark.parametrize("method", METHODS)
def test_a_dissimilarity_that_no_vectors_have_gives_negative_values_and_still_a_map(method, rng):
    D = rng.random((40, 40)) ** 4
    D = (D + D.T) * (1 - np.eye(40))
    fitted = estimator(method, 6, RELATIONAL, metric="precomputed", random_state=1).fit(D)
    G = fitted.transform(D)
    assert G.min() < 0
    np.testing.assert_array_equal(G.argmin(axis=1), fitted.labels_)
    assert fitted.hits_.sum() == 40
    assert np.isfinite(fitted.history_["cost"]).all()


@pytest.mark.parametrize("method", METHODS)
def test_model_file_holds_the_map(method, rng, tmp_path):
    X = blobs(rng)
    for data, metric in ((X, "euclidean"), (np.sqrt(squares(X)), "precomputed")):
        fitted = estimator(method, 4, RELATIONAL, metric=metric, random_state=0).fit(data)
        save(fitted, tmp_path / "m.mmap")
        np.testing.assert_array_equal(load(tmp_path / "m.mmap").transform(data), fitted.transform(data))


def test_dissimilarities_of_prototypes_are_squared_distances_of_means(rng):
    X = blobs(rng)
    gas = RelationalNeuralGas(5, metric="sqeuclidean", n_epochs=10, random_state=0).fit(X)
    W = gas.coefficients_ @ X[gas.support_]
    np.testing.assert_allclose(prototype_dissimilarities(gas), squares(W), atol=1e-9 * squares(X).max())
    np.testing.assert_array_equal(gas.exemplar_indices_, ((X[:, None] - W[None]) ** 2).sum(axis=2).argmin(axis=0))
    assert (two_best(gas, X)["prototype"] == gas.labels_).all()


def test_strings_are_kept_for_later_queries():
    words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    gas = RelationalNeuralGas(2, metric="edit", random_state=0).fit(words)
    assert gas.predict(["quarts"])[0] == gas.labels_[3]


def test_beta_path_runs_on_relational_maps(rng):
    X = blobs(rng)
    y = (X[:, 0] > 0).astype(int)
    classifier = PrototypeClassifier(RelationalNeuralGas(4, n_epochs=10, random_state=0))
    path = beta_path(classifier, X, y, betas=[0.2, 1.0], cv=2)
    assert set(path.as_records()["beta"].tolist()) == {0.2, 1.0}


# --- annealing="relational": the way there is relational, the result is exemplars ------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("collisions", ["distinct", "allow", "noise"])
def test_relational_annealing_ends_in_a_fixed_point_of_the_median_map(method, collisions, rng):
    D, K = blob_distances(rng, n=80), 9
    params = {"metric": "precomputed", "collisions": collisions, "random_state": 0, **unarranged(method)}
    fitted = estimator(method, K, **params | {"annealing": "relational"}).fit(D)
    assert fitted.medoid_indices_.shape == (K,)
    if collisions == "noise":
        return
    assert fitted.converged_
    sigma = {} if method == "kmeans" else {"sigma_start": fitted.sigma_end}
    again = estimator(method, K, **params | {"annealing": "median", "init": fitted.medoid_indices_} | sigma).fit(D)
    np.testing.assert_array_equal(again.medoid_indices_, fitted.medoid_indices_)
    if collisions == "distinct":
        assert len(set(fitted.medoid_indices_.tolist())) == K


@pytest.mark.parametrize("method", METHODS)
def test_history_goes_on_from_the_relational_epochs_into_the_median_ones(method, rng):
    D, K = blob_distances(rng, n=80), 9
    params = {"metric": "precomputed", "init": np.arange(K), "random_state": 0, **unarranged(method)}
    median = estimator(method, K, annealing="relational", **params).fit(D)
    relational = estimator(method, K, RELATIONAL, **params).fit(D)
    n = relational.n_iter_
    assert median.n_iter_ > n
    np.testing.assert_array_equal(median.history_[:n], relational.history_)
    np.testing.assert_array_equal(median.history_["moved"][-1], 0)
    start = snapped(relational.transform(D), distinct=True)
    if method != "som":  # exemplars that are needed more elsewhere go there
        start = swap_medoids(D, start, random_state=as_generator(0)).medoids
    assert median.history_["quantization_error"][n] == D[:, start].min(axis=1).sum() / 2


def test_relational_annealing_beats_the_frozen_median_one_on_iris():
    X = load_iris().data
    errors = {
        annealing: np.mean(
            [MedianNeuralGas(10, annealing=annealing, random_state=s).fit(X).quantization_error_ for s in range(5)]
        )
        for annealing in ("median", "relational")
    }
    assert errors["relational"] < errors["median"]


@pytest.mark.parametrize("method", METHODS)
def test_weights_labels_and_patches_work_with_relational_annealing(method, rng):
    X = blobs(rng, n=120)
    y = (X[:, 0] > 0).astype(int)
    params = {"annealing": "relational", "random_state": 0}
    m = np.r_[np.zeros(20), rng.integers(1, 5, 100)].astype(float)
    weighted = estimator(method, 4, **params).fit(X, sample_weight=m)
    assert (weighted.medoid_indices_ >= 20).all()
    assert weighted.hits_.sum() == m.sum()
    labelled = PrototypeClassifier(estimator(method, 4, **params), beta=0.5).fit(X, y)
    assert labelled.score(X, y) > 0.8
    patches = PatchClusterer(estimator(method, 4, **params), patch_size=30).fit(X)
    assert patches.multiplicities_.sum() == 120
    np.testing.assert_array_equal(patches.cluster_centers_, X[patches.medoid_indices_])


@given(st.integers(1, 6), st.booleans(), st.integers(0, 2**32 - 1))
def test_snapping_takes_the_nearest_free_point(K, distinct, seed):
    G = np.random.default_rng(seed).integers(0, 3, size=(6, K)).astype(float)
    places = snapped(G, distinct)
    for j in range(K):
        taken = set(places[:j].tolist()) if distinct else set()
        free = [i for i in range(6) if i not in taken]
        assert places[j] == min(free, key=lambda i: (G[i, j], i))


def test_a_grid_has_its_lattice(rng):
    som = RelationalSOM(grid_of(6), n_epochs=5, random_state=0).fit(blobs(rng))
    assert som.lattice_.shape == grid_of(6)
