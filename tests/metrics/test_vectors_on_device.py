"""Metrics computed on a device, on torch's CPU tensors, against SciPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from support.extras import optional

from medianmap.metrics import bind
from medianmap.metrics.tensors import BY_COORDINATE, PRODUCTS, Vectors, nearest, on_tensors

torch = optional("torch")
CPU = torch.device("cpu")
METRICS = PRODUCTS + BY_COORDINATE


def computed(X, name):
    n = len(X)
    return Vectors(X, name, CPU).block(slice(0, n), slice(0, n)).numpy()


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("m", [1, 3, 200])
def test_the_same_as_scipy_but_for_rounding(name, m, rng):
    if name == "correlation" and m == 1:
        return  # it has no variance
    X = 5 + rng.normal(size=(80, m))
    X = np.round(X) if name == "hamming" else X
    X[7] = X[11]
    D = cdist(X, X, name)
    # Of angles the cosine is what has digits: 1 - cos has 16 after the point.
    np.testing.assert_allclose(computed(X, name), D, rtol=1e-11, atol=4e-15 if name in PRODUCTS[2:] else 0)
    if name not in PRODUCTS[2:]:
        assert computed(X, name)[7, 11] == 0


@pytest.mark.parametrize("name", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("near", [1e-3, 1e-6, 1e-9])
def test_near_points_keep_their_digits_far_from_the_origin(name, near, rng):
    X = 1000 + rng.normal(size=(60, 5))
    X[30:] = X[:30] + near * rng.normal(size=(30, 5))
    d, D = computed(X, name), cdist(X, X, name)
    i = np.arange(30)
    # Where coordinates of 1000 differ by 1e-9, SciPy's difference itself is of four digits: the last bit of 1000.
    np.testing.assert_allclose(d[i, 30 + i], D[i, 30 + i], rtol=max(1e-9, 1e-12 / near))
    np.testing.assert_allclose(d, D, rtol=max(1e-9, 1e-12 / near))


@settings(max_examples=30)
@given(st.integers(2, 12), st.integers(2, 6), st.sampled_from(METRICS), st.integers(0, 2**32 - 1))
def test_small_whole_numbers_with_many_ties(n, m, name, seed):
    X = 1.0 + np.random.default_rng(seed).integers(0, 3, size=(n, m))
    X[:, 0] += 10 * np.arange(m)[0]
    if name == "correlation" and (X.std(axis=1) == 0).any():
        return  # no direction
    np.testing.assert_allclose(computed(X, name), cdist(X, X, name), rtol=1e-12, atol=1e-14)


def test_blocks_fit_together(rng):
    X = rng.normal(size=(50, 4))
    for name in METRICS:
        vectors, D = Vectors(X, name, CPU), cdist(X, X, name)
        part = vectors.block(slice(10, 30), slice(25, 50)).numpy()
        np.testing.assert_allclose(part, D[10:30, 25:], rtol=1e-11, atol=4e-15)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("n", [1, 7, 300])
def test_the_nearest_are_those_of_the_metric_also_where_they_tie(name, n, rng, monkeypatch):
    monkeypatch.setattr("medianmap.metrics.tensors.AT_A_TIME", 500)
    metric, asked = bind(name), []
    between = type(metric).between
    monkeypatch.setattr(type(metric), "between", lambda *given: (asked.append(len(given[1])), between(*given))[1])
    for W, X in ties_and_others(rng, n):
        found = nearest(X, W, metric, CPU)
        np.testing.assert_array_equal(found, cdist(X, W, name).argmin(axis=1))
    # What is far apart is told apart on the device.
    asked.clear()
    if name in PRODUCTS:
        nearest(rng.normal(size=(n, 6)), rng.normal(size=(9, 6)), metric, CPU)
        assert not asked
    assert nearest(X, W[:1], metric, CPU).tolist() == [0] * n


def ties_and_others(rng, n):
    """Prototypes and points: apart, on a grid where many distances are equal, nearly so, and far from the origin."""
    W, X = rng.normal(size=(9, 6)), rng.normal(size=(n, 6))
    yield W, X
    grid = rng.integers(1, 4, size=(n + 9, 6)) + np.array([0, 5, 0, 0, 0, 0])
    grid[:, 2] = 9  # a vector has a direction, and a variance
    yield grid[:9].astype(float), grid[9:].astype(float)
    halfway = (W[rng.integers(0, 9, n)] + W[rng.integers(0, 9, n)]) / 2
    yield W, halfway + 1e-15 * rng.normal(size=(n, 6))
    yield 1e6 + W, 1e6 + halfway


def test_vectors_without_direction_are_named_as_by_the_metric(rng):
    X = rng.normal(size=(20, 3))
    X[13] = 0
    with pytest.raises(ValueError, match=r"'cosine' returned NaN for the pair \(13, 0\)"):
        nearest(X, X[:4], bind("cosine"), CPU)


def test_which_metrics_a_device_computes():
    assert [on_tensors(bind(name)) for name in ("euclidean", "l2", "manhattan", "cosine")] == [
        "euclidean", "euclidean", "cityblock", "cosine"]  # fmt: skip
    assert [on_tensors(bind(name)) for name in ("edit", "braycurtis", "mahalanobis")] == [None] * 3
    assert on_tensors(bind("euclidean", {"w": [1.0, 2.0]})) is None
