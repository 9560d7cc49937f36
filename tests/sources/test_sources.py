"""Every form of the same dissimilarities gives the same map; nothing is copied behind the user's back."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numba import njit
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from support.extras import optional
from support.maps import blobs

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, as_dissimilarity
from medianmap.sources import CondensedSource, DenseSource, Source, SubsetSource, base
from medianmap.sources.base import ALL, columns, condensed_size, points_to


def python_euclidean(a, b):
    return float(np.sqrt(((a - b) ** 2).sum()))


@njit
def numba_euclidean(a, b):
    total = 0.0
    for k in range(a.shape[0]):
        total += (a[k] - b[k]) ** 2
    return np.sqrt(total)


def forms(X, tmp_path):
    """name -> (what to fit, metric)."""
    D = squareform(pdist(X))
    np.save(tmp_path / "D.npy", D)
    ids = [f"p{i}" for i in range(len(D))]
    skbio = optional("skbio")
    return {
        "array": (D, "precomputed"),
        "list": (D.tolist(), "precomputed"),
        "fortran": (np.asfortranarray(D), "precomputed"),
        "memory map": (np.load(tmp_path / "D.npy", mmap_mode="r"), "precomputed"),
        "path": (tmp_path / "D.npy", "precomputed"),
        "condensed": (pdist(X), "precomputed"),
        "condensed source": (as_dissimilarity(pdist(X)), "precomputed"),
        "frame": (pd.DataFrame(D, index=ids, columns=ids), "precomputed"),
        "scikit-bio": (skbio.DistanceMatrix(D, ids), "precomputed"),
        "name": (X, "euclidean"),
        "scikit-learn name": (X, "l2"),
        "callable": (X, python_euclidean),
        "numba": (X, numba_euclidean),
        "computed source": (as_dissimilarity(X, "euclidean"), "precomputed"),
    }


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_all_forms_give_the_same_map(tmp_path, rng):
    X = blobs(rng)
    fits = {
        name: MedianNeuralGas(6, metric=metric, n_epochs=20, random_state=0).fit(given)
        for name, (given, metric) in forms(X, tmp_path).items()
    }
    for name, fit in fits.items():
        assert fit.medoid_indices_.tolist() == fits["array"].medoid_indices_.tolist(), name
        assert fit.inertia_ == pytest.approx(fits["array"].inertia_), name
    for name in ("frame", "scikit-bio"):
        assert fits[name].prototype_ids_ == [f"p{i}" for i in fits[name].medoid_indices_]


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_predicting_the_training_data_gives_the_labels_for_every_form(tmp_path, rng):
    for name, (given, metric) in forms(blobs(rng), tmp_path).items():
        fitted = MedianKMeans(5, metric=metric, random_state=0).fit(given)
        np.testing.assert_array_equal(fitted.predict(given), fitted.labels_, err_msg=name)


@pytest.mark.parametrize("n", [2, 3, 17])
def test_condensed_blocks_equal_the_square_matrix(n, rng):
    v = rng.random(n * (n - 1) // 2)
    square = squareform(v)
    source = as_dissimilarity(v)
    assert isinstance(source, CondensedSource)
    np.testing.assert_array_equal(source.block(ALL, ALL), square)
    rows, cols = rng.integers(0, n, 4), rng.integers(0, n, 5)
    np.testing.assert_array_equal(source.block(rows, cols), square[np.ix_(rows, cols)])
    np.testing.assert_array_equal(source.block(slice(0, 2), cols), square[:2][:, cols])


def test_condensed_sizes():
    assert [condensed_size(length) for length in (0, 1, 2, 3, 6, 7, 10)] == [1, 2, None, 3, 4, None, 5]


@pytest.mark.parametrize("symmetric", [True, False])
def test_blocks_of_every_source(symmetric, rng):
    X = rng.random((12, 2))
    D = squareform(pdist(X, "sqeuclidean")) if symmetric else rng.random((12, 12))
    i, l = rng.integers(0, 12, 3), rng.integers(0, 12, 4)
    sources = [DenseSource(D, symmetric)]
    if symmetric:
        sources += [as_dissimilarity(X, "sqeuclidean"), CondensedSource(squareform(D), 12)]
    for source in sources:
        assert isinstance(source, Source)
        assert source.shape == (12, 12)
        np.testing.assert_allclose(source.block(i, l), D[np.ix_(i, l)])
        np.testing.assert_allclose(source.block(slice(2, 5), l), D[2:5][:, l])
        np.testing.assert_allclose(columns(source, l), D[:, l].T)
        np.testing.assert_allclose(points_to(source, l), D[:, l])
        subset = SubsetSource(source, np.array([1, 4, 9]))
        np.testing.assert_allclose(subset.block(ALL, slice(1, 3)), D[np.ix_([1, 4, 9], [4, 9])])


def test_symmetry_is_found_to_the_last_bit(rng):
    D = squareform(rng.random(45))
    assert as_dissimilarity(D).symmetric
    D[2, 7] = np.nextafter(D[2, 7], 1)
    assert not as_dissimilarity(D).symmetric
    assert as_dissimilarity(D, symmetric=True).symmetric


def test_asymmetric_dissimilarities_are_read_from_point_to_prototype():
    # Everybody is close to point 2 (column of zeros); point 2 itself is far from everybody (row of nines).
    D = np.array([[0.0, 5, 0, 5], [5, 0, 0, 5], [9, 9, 0, 9], [5, 5, 0, 0]])
    assert MedianKMeans(1, metric="precomputed", init=[0]).fit(D).medoid_indices_.tolist() == [2]
    assert MedianKMeans(1, metric="precomputed", init=[0]).fit(D.T).medoid_indices_.tolist() != [2]


def test_a_float32_matrix_is_neither_converted_nor_copied(rng):
    D = rng.random((3000, 3000), dtype=np.float32)
    D = D + D.T
    np.fill_diagonal(D, 0)
    assert as_dissimilarity(D).block(ALL, ALL).base is D
    MedianKMeans(5, metric="precomputed", max_iter=2, random_state=0).fit(D)  # compiles outside the measurement
    tracemalloc.start()
    try:
        MedianKMeans(20, metric="precomputed", max_iter=3, random_state=0).fit(D)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Room for one float64 panel and its copy; the matrix has 36 MB, its float64 twin would have 72 MB.
    assert peak < 70e6
    assert D.dtype == np.float32


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_matrix_too_large_to_keep_is_computed_on_the_fly(symmetric, monkeypatch, rng):
    X = blobs(rng)
    metric = "euclidean" if symmetric else python_euclidean
    kept = MedianNeuralGas(5, n_epochs=10, metric=metric, random_state=0).fit(X)
    monkeypatch.setattr(base, "KEEP_BYTES", 20 * 60 * 8)  # room for 20 of 60 rows
    flying = MedianNeuralGas(5, n_epochs=10, metric=metric, random_state=0).fit(X)
    np.testing.assert_array_equal(kept.medoid_indices_, flying.medoid_indices_)
    assert flying.n_evaluations_ > kept.n_evaluations_


@pytest.mark.parametrize(
    "estimator",
    [MedianSOM((3, 4), n_epochs=20, annealing="median"), MedianKMeans(12, annealing="median")],
    ids=["som", "kmeans"],
)
def test_maps_with_fields_ask_a_metric_for_little_of_a_matrix_that_cannot_be_kept(estimator, monkeypatch, rng):
    X = blobs(rng, n=300)
    kept = clone(estimator).set_params(random_state=0).fit(X)
    monkeypatch.setattr(base, "KEEP_BYTES", 0)
    flying = clone(estimator).set_params(random_state=0).fit(X)
    np.testing.assert_array_equal(kept.medoid_indices_, flying.medoid_indices_)
    whole = clone(estimator).set_params(random_state=0, search="gemm").fit(X)
    assert flying.n_evaluations_ < 0.5 * whole.n_evaluations_
    assert whole.n_evaluations_ >= 300 * 300 * whole.n_iter_


def test_evaluations_are_counted_and_rows_are_kept_within_the_budget(monkeypatch, rng):
    X = rng.random((30, 2))
    D = squareform(pdist(X))
    source = as_dissimilarity(X, "euclidean")
    np.testing.assert_allclose(source.kept().block(ALL, ALL), D)
    assert source.evaluations == 30 * 30  # one panel; larger ones are computed for one triangle alone
    monkeypatch.setattr(base, "KEEP_BYTES", 10 * 30 * 8)
    source = as_dissimilarity(X, "euclidean")
    partly = source.kept()
    for _ in range(3):
        np.testing.assert_allclose(partly.block(slice(0, 15), ALL), D[:15])
    assert source.evaluations == 15 * 30 + 2 * 5 * 30  # ten rows are kept, five computed anew
    np.testing.assert_allclose(partly.block(np.array([3, 20, 3]), np.array([1, 2])), D[np.ix_([3, 20, 3], [1, 2])])
    assert partly.symmetric
    assert partly.shape == (30, 30)


def test_a_symmetric_metric_is_evaluated_for_one_triangle(rng):
    X = rng.random((400, 2))
    source = as_dissimilarity(X, "euclidean")
    D = source.kept().block(ALL, ALL)
    np.testing.assert_array_equal(D, source.block(ALL, ALL))
    source = as_dissimilarity(X, "euclidean")
    source.kept()
    assert source.evaluations < 0.65 * 400 * 400


def test_a_query_costs_k_evaluations(rng):
    calls = []

    def counting(a, b):
        calls.append(1)
        return abs(len(a) - len(b))

    words = ["a" * int(k) for k in rng.integers(1, 30, 40)]
    fitted = MedianKMeans(4, metric=counting, random_state=0).fit(words)
    calls.clear()
    fitted.predict(["xyz"] * 7)
    assert len(calls) == 7 * 4


def test_frames_with_counted_rows_have_no_ids(rng):
    D = pd.DataFrame(squareform(rng.random(10)))
    assert as_dissimilarity(D).ids is None


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", ">f8", ">f4", ">i4", "i4", "u1"])
def test_matrices_of_any_real_type(dtype, rng):
    D = np.round(squareform(rng.random(190)) * 100)
    expected = MedianNeuralGas(4, metric="precomputed", n_epochs=10, random_state=0).fit(D)
    fitted = MedianNeuralGas(4, metric="precomputed", n_epochs=10, random_state=0).fit(D.astype(dtype))
    np.testing.assert_array_equal(fitted.medoid_indices_, expected.medoid_indices_)
    fitted = MedianNeuralGas(4, metric="precomputed", n_epochs=10, random_state=0).fit(squareform(D).astype(dtype))
    np.testing.assert_array_equal(fitted.medoid_indices_, expected.medoid_indices_)


@pytest.mark.parametrize(
    ("objects", "metric"),
    [
        ([1, 2, 3, 10], lambda a, b: abs(a - b)),
        (pd.Series([1, 2, 3, 10]), lambda a, b: abs(a - b)),
        ([(1, 2), (1, 2, 3), (4,), (4, 5)], lambda a, b: float(a != b)),
        ([(1, 2), (1, 3), (4, 5), (4, 6)], lambda a, b: len({*a} ^ {*b})),
        ([np.eye(2), np.ones((2, 2)), np.zeros((2, 2)), np.eye(2)], lambda a, b: np.abs(a - b).sum()),
        (pd.DataFrame({"x": [1, 2, 3], "kind": ["a", "b", "a"]}), lambda a, b: abs(a[0] - b[0]) + (a[1] != b[1])),
        (np.array([[1.0, np.nan], [2, 3], [4, 5]]), lambda a, b: np.nansum(np.abs(a - b))),
    ],
    ids=["numbers", "series", "ragged tuples", "tuples", "arrays", "mixed frame", "missing values"],
)
def test_a_function_of_two_objects_sees_the_objects_in_fit_and_predict(objects, metric):
    fitted = MedianKMeans(2, metric=metric, random_state=0).fit(objects)
    np.testing.assert_array_equal(fitted.predict(objects), fitted.labels_)


def test_numeric_ids_that_became_text_on_the_way_through_a_file(tmp_path, rng):
    D = squareform(rng.random(45))
    ids = range(100, 110)
    pd.DataFrame(D, index=ids, columns=ids).to_csv(tmp_path / "D.csv")
    fitted = MedianKMeans(2, metric="precomputed", random_state=0).fit(pd.read_csv(tmp_path / "D.csv", index_col=0))
    assert fitted.prototype_ids_ == [str(100 + i) for i in fitted.medoid_indices_]


def test_a_promise_of_symmetry_is_taken():
    source = as_dissimilarity(["a", "bb"], lambda a, b: abs(len(a) - len(b)), symmetric=True)
    assert source.symmetric
