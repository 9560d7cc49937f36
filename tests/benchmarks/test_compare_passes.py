"""The full fit, simple sampling and patches, compared: each as by itself, all counted alike."""

import numpy as np
import pytest
from compare_passes import compare_passes, sampled
from scipy.spatial.distance import cdist
from support.maps import BATCH, MEDIAN, METHODS, blob_distances, blobs, estimator

from medianmap import BatchNeuralGas, MedianKMeans, MedianNeuralGas, PatchClusterer, RelationalKMeans, as_dissimilarity
from medianmap.datasets import load_breast_cancer
from medianmap.patches.input import read_input

ROWS = ["full", "sample", "patches", "patches, tree"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
def test_full_and_patches_are_what_they_are_by_themselves(method, family, rng):
    X = blobs(rng, n=200)
    map_ = estimator(method, 6, family)
    rows = compare_passes(map_, X, patch_size=50, random_state=3)
    assert rows["method"].tolist() == ROWS
    assert rows.dtype.names == ("method", "quantization_error", "evaluations", "seconds")
    alone = estimator(method, 6, family, random_state=3).fit(X)
    assert rows["quantization_error"][0] == pytest.approx(alone.quantization_error_)
    for row, merge in ((2, "sequential"), (3, "tree")):
        patches = PatchClusterer(estimator(method, 6, family, random_state=3), 50, merge=merge, shuffle=True).fit(X)
        assert rows["quantization_error"][row] == pytest.approx(patches.quantization_error_)
        assert rows["evaluations"][row] == patches.n_evaluations_
    assert (rows["seconds"] > 0).all()
    if family is BATCH:
        assert not rows["evaluations"].any()
    else:
        assert rows["evaluations"][0] == alone.n_evaluations_
        assert (rows["evaluations"][1:] < rows["evaluations"][0]).all()


@pytest.mark.parametrize("kind", ["vectors", "matrix", "asymmetric", "batch"])
def test_the_last_run_of_a_sample_takes_all_points(kind, rng):
    X = blobs(rng, n=120)
    m = rng.integers(0, 3, 120).astype(float)
    D = cdist(X, X, "sqeuclidean") + (rng.random((120, 120)) if kind == "asymmetric" else 0.0)
    np.fill_diagonal(D, 0)
    data = X if kind in ("vectors", "batch") else D
    map_ = MedianKMeans(5, metric="sqeuclidean" if kind == "vectors" else "precomputed", random_state=0)
    if kind == "batch":
        map_ = BatchNeuralGas(5, n_epochs=20, random_state=0)
    found = read_input(map_, data, lambda N: m, None)
    before, _ = sampled(map_, found, m, 30, 0, last_run=False)
    after, evaluations = sampled(map_, found, m, 30, 0)
    G = before.transform(data)
    field = [np.flatnonzero((G.argmin(axis=1) == j) & (m > 0)) for j in range(5)]
    for j, points in enumerate(field):
        if kind == "batch":
            mean = np.average(X[points], axis=0, weights=m[points])
            np.testing.assert_allclose(after.cluster_centers_[j], mean)
        else:
            cost = {l: sum(m[i] * D[i, l] for i in points) for l in points}
            assert cost[after.medoid_indices_[j]] == pytest.approx(min(cost.values()))
    after_G = after.transform(data)
    assert (m * after_G.min(axis=1)).sum() <= (m * G.min(axis=1)).sum() + 1e-9
    np.testing.assert_array_equal(after.hits_, np.bincount(G.argmin(axis=1), weights=m, minlength=5))
    if kind == "asymmetric":
        assert evaluations == 30**2 + 120 * 5 + sum(len(points) ** 2 for points in field)


CALLS = [0]


def counted_gap(a, b):
    CALLS[0] += 1
    return abs(a - b)


def test_evaluations_are_counted(rng):
    x = rng.normal(size=80).tolist()
    map_ = MedianKMeans(3, metric=counted_gap, random_state=0)
    found = read_input(map_, x, np.ones, None)
    CALLS[0] = 0
    _, evaluations = sampled(map_, found, np.ones(80), 20, 0)
    assert evaluations == CALLS[0]


def test_a_matrix_and_its_vectors_give_the_same(rng):
    X = blobs(rng, n=150)
    of_vectors = compare_passes(MedianNeuralGas(5, n_epochs=20), X, n_patches=4, sample_size=40)
    of_matrix = compare_passes(
        MedianNeuralGas(5, n_epochs=20, metric="precomputed"),
        as_dissimilarity(cdist(X, X)),
        n_patches=4,
        sample_size=40,
    )
    np.testing.assert_allclose(of_vectors["quantization_error"], of_matrix["quantization_error"])
    assert of_matrix["evaluations"][0] == 150**2


def test_judged_on_held_out_points_with_labels(rng):
    X, y = blobs(rng, n=200, centers=3), rng.integers(3, size=200).astype(object)
    y[::3] = None
    rows = compare_passes(MedianKMeans(6), X[:150], patch_size=50, held_out=X[150:], y=y[:150], held_out_y=y[150:])
    alone = MedianKMeans(6, random_state=0).fit(X[:150])
    G = alone.transform(X[150:])
    assert rows["quantization_error"][0] == pytest.approx(G.min(axis=1).sum() / 2)
    votes = np.zeros((6, 3))
    for j, label in zip(alone.labels_, y[:150], strict=True):
        if label is not None:
            votes[j, label] += 1
    assert (votes.sum(axis=1) > 0).all()
    right = [
        votes[j].argmax() == label for j, label in zip(G.argmin(axis=1), y[150:], strict=True) if label is not None
    ]
    assert rows["accuracy"][0] == pytest.approx(np.mean(right))


def test_breast_cancer_with_labels():
    data = load_breast_cancer()
    map_ = MedianNeuralGas(20, metric="cosine", n_epochs=30)
    rows = compare_passes(map_, data.X, n_patches=5, y=data.y)
    assert rows["method"].tolist() == ROWS
    assert (rows["accuracy"] > 0.88).all()
    assert (rows["quantization_error"] < 1.15 * rows["quantization_error"][0]).all()
    again = compare_passes(map_, data.X, n_patches=5, y=data.y)
    for name in ("quantization_error", "evaluations", "accuracy"):
        np.testing.assert_array_equal(rows[name], again[name])


def test_weights_count_like_repeated_points(rng):
    X, m = blobs(rng, n=60), rng.integers(1, 4, 60)
    rows = compare_passes(MedianKMeans(3), X, patch_size=60, sample_size=60, sample_weight=m)
    # One patch, a sample of all: each is the full fit, and the last run leaves its fixed point where it is.
    np.testing.assert_allclose(rows["quantization_error"], rows["quantization_error"][0], rtol=0.35)
    repeated = MedianKMeans(3, random_state=0).fit(X, sample_weight=m)
    G = repeated.transform(np.repeat(X, m, axis=0))
    assert rows["quantization_error"][0] == pytest.approx(G.min(axis=1).sum() / 2)


def test_mistakes_are_said(rng):
    X, D = blobs(rng), blob_distances(rng)
    for call, error, said in [
        (lambda: compare_passes(MedianKMeans(3), iter(X)), ValueError, "X is a stream"),
        (lambda: compare_passes("map", X), TypeError, "estimator is a str"),
        (lambda: compare_passes(MedianKMeans(3), X, patch_size=10, n_patches=3), ValueError, "both given"),
        (lambda: compare_passes(MedianKMeans(3), X, patch_size=0), ValueError, "patch_size is 0"),
        (lambda: compare_passes(MedianKMeans(3), X, sample_size=0), ValueError, "sample_size is 0"),
        (lambda: compare_passes(MedianKMeans(8), X, patch_size=4), ValueError, "exceeds n_samples = 4"),
        (lambda: compare_passes(MedianKMeans(8), X, patch_size=20, sample_size=4), ValueError, "exceeds n_samples = 4"),
        (lambda: compare_passes(MedianKMeans(3), X, y=[0, 1] * 30, held_out=X), ValueError, "pass held_out_y"),
        (lambda: compare_passes(MedianKMeans(3), X, y=[0, 1]), ValueError, "y holds 2 labels"),
        (lambda: compare_passes(MedianKMeans(3, metric="precomputed"), D[:, :5]), ValueError, "square matrix"),
    ]:
        with pytest.raises(error, match=said):
            call()


def test_combinations_have_no_last_run(rng):
    with pytest.raises(TypeError, match="RelationalKMeans has no last run with all data"):
        compare_passes(RelationalKMeans(3), blobs(rng))
