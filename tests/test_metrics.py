"""Metrics by name and by function, against independent computations."""

import numpy as np
import pytest
from numba import njit
from scipy.special import rel_entr
from sklearn.metrics import pairwise_distances

from medianmap import MedianKMeans, as_dissimilarity
from medianmap.metrics import Metric, bind, register, registered
from medianmap.sources.base import ALL


@pytest.mark.parametrize("name", sorted(n for n, metric in registered().items() if metric.accepts == "vectors"))
def test_vector_metrics_equal_scikit_learns(name, rng):
    X = rng.random((15, 2 if name == "haversine" else 4))
    if "presence and absence" in registered()[name].summary:
        X = X > 0.5
        X[:, 0] = True
    ours = as_dissimilarity(X.astype(float), name).block(ALL, ALL)
    if name == "jensenshannon":  # SciPy's alone; here by its definition
        P = X / X.sum(axis=1, keepdims=True)
        M = (P[:, None] + P[None]) / 2
        expected = np.sqrt((rel_entr(P[:, None], M).sum(axis=2) + rel_entr(P[None], M).sum(axis=2)) / 2)
    else:
        expected = pairwise_distances(X, X.copy(), metric=name, **as_dissimilarity(X.astype(float), name).metric.params)
    np.testing.assert_allclose(ours, expected, atol=1e-7)


def test_missing_coordinates_are_passed_over_by_nan_euclidean(rng):
    X = np.where(rng.random((12, 4)) < 0.2, np.nan, rng.random((12, 4)))
    X[:, 0] = rng.random(12)
    np.testing.assert_allclose(
        as_dissimilarity(X, "nan_euclidean").block(ALL, ALL),
        pairwise_distances(X, X.copy(), metric="nan_euclidean"),
        atol=1e-7,
    )
    fitted = MedianKMeans(3, metric="nan_euclidean", random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)


def some_objects(accepts, rng):
    """Fifteen or more objects of a kind, several of them equal or nearly so."""
    if accepts.startswith("strings"):
        return ["".join(rng.choice(list("ACE"), 4 + n)) for n in rng.integers(0, 6, 15)]
    X = rng.integers(0, 4, (25, 3)) + (rng.random((25, 3)) < 0.3) * 0.1
    X[:, 0] = rng.integers(1, 4, 25)
    X[:, 1:] += rng.random((25, 2))  # no constant row: it has no correlation
    return X


@pytest.mark.parametrize("name", sorted(name for name in registered() if bind(name).symmetric))
def test_metrics_that_promise_symmetry_keep_it_to_the_last_bit(name, rng):
    for _ in range(20):
        D = as_dissimilarity(some_objects(registered()[name].accepts, rng), name).block(ALL, ALL)
        np.testing.assert_array_equal(D, D.T)


@pytest.mark.parametrize("name", ["seuclidean", "mahalanobis", "euclidean", "cosine", "correlation", "minkowski"])
def test_prediction_of_training_points_is_exact(name, rng):
    """Parameters taken from the data stay those of the training data, whatever is predicted."""
    X = rng.random((60, 5))
    fitted = MedianKMeans(6, metric=name, random_state=0).fit(X)
    one_by_one = np.concatenate([fitted.predict(x[None]) for x in X])
    np.testing.assert_array_equal(one_by_one, fitted.labels_)
    G = fitted.transform(X)
    np.testing.assert_array_equal(np.vstack([fitted.transform(x[None]) for x in X]), G)


def test_threads_do_not_change_a_computed_matrix(rng):
    X = rng.random((200, 3))
    one, two = (as_dissimilarity(X, "euclidean", n_jobs=n).block(ALL, ALL) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_parameters_reach_functions_and_names(rng):
    X = rng.random((10, 3))
    by_name = as_dissimilarity(X, "minkowski", metric_params={"p": 3}).block(ALL, ALL)
    by_function = as_dissimilarity(
        X, lambda a, b, p: (np.abs(a - b) ** p).sum() ** (1 / p), metric_params={"p": 3}
    ).block(ALL, ALL)
    np.testing.assert_allclose(by_name, by_function)


def test_a_callable_is_asked_both_ways():
    D = as_dissimilarity(["a", "bb"], lambda a, b: max(0, len(b) - len(a)))
    assert not D.symmetric
    assert D.block(ALL, ALL).tolist() == [[0, 1], [0, 0]]


def test_a_numba_function_of_strings_runs_pair_by_pair():
    @njit
    def length_gap(a, b):
        return abs(len(a) - len(b))

    assert as_dissimilarity(["a", "bbb"], length_gap).block(ALL, ALL).tolist() == [[0, 2], [2, 0]]


def test_objects_of_any_kind_can_be_mapped():
    series = [np.sin(np.linspace(0, k, 5 + k)) for k in range(1, 9)]
    fitted = MedianKMeans(2, metric=lambda a, b: abs(len(a) - len(b)), random_state=0).fit(series)
    assert [len(c) for c in fitted.cluster_centers_] == [len(series[i]) for i in fitted.medoid_indices_]
    assert fitted.predict([np.zeros(12)]).shape == (1,)


def test_registering_a_metric():
    from medianmap.metrics import registry

    metric = Metric("test-length", lambda a, b: np.array([[abs(len(s) - len(t)) for t in b] for s in a], float),
                    symmetric=True, accepts="strings")  # fmt: skip
    register(metric)
    try:
        assert MedianKMeans(1, metric="test-length").fit(["a", "bb", "ccc"]).cluster_centers_ == ["bb"]
        with pytest.raises(ValueError, match="exists already"):
            register(metric)
    finally:
        del registry._REGISTRY["test-length"]
