"""Numbers of extreme size are brought to about 1: the same maps, costs in the user's size, or a sentence."""

import numpy as np
import pytest
from support.maps import BATCH, METHODS, blob_distances, blobs, estimator

from medianmap import BatchNeuralGas, MedianKMeans, MedianNeuralGas, PrototypeClassifier, RelationalKMeans, arrange
from medianmap.sources import DenseSource
from medianmap.sources.base import LARGE, PartlyKeptSource
from medianmap.sources.checks import HEAVY, ScaledSource, exponent_of, scaled, scaled_weights


def source(D):
    return DenseSource(D, symmetric=True)


def test_ordinary_numbers_are_left_alone(rng):
    for size in (1.0, 1e-14, 1e13):
        given = source(blob_distances(rng, 20) * size)
        assert scaled(given, float(given.D.max())) is given
    m = rng.uniform(1e-8, 1e8, 20)
    assert scaled_weights(m)[0] is m
    assert exponent_of(0.0, LARGE) == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_bit_is_lost(dtype, rng):
    D = (blob_distances(rng, 20) * 1e-300).astype(dtype) if dtype == np.float64 else rng.random((20, 20)).astype(dtype)
    D = D * dtype(1e-44) if dtype == np.float32 else D
    big = scaled(source(D), float(D.max()))
    assert 0.5 <= big.block(slice(None), slice(None)).max() < 1
    np.testing.assert_array_equal(np.ldexp(big.block(slice(2, 9), np.arange(5)), big.exponent), D[2:9, :5])


def test_blocks_are_scaled_as_they_are_read(tmp_path, rng):
    """No second matrix is made of one on disk."""
    np.save(tmp_path / "D.npy", blob_distances(rng, 20) * 1e200)
    D = np.load(tmp_path / "D.npy", mmap_mode="r")
    found = scaled(source(D), float(D.max()))
    assert isinstance(found, ScaledSource)
    assert found.base.D is D


@pytest.mark.parametrize("power", [-950, -300, 300, 950])
@pytest.mark.parametrize("method", METHODS)
def test_a_matrix_of_any_size_gives_the_same_map(method, power, rng):
    D = blob_distances(rng, 30)
    ours, huge = (
        estimator(method, 4, metric="precomputed", random_state=0, refine="swap").fit(M)
        for M in (D, np.ldexp(D, power))
    )
    np.testing.assert_array_equal(huge.medoid_indices_, ours.medoid_indices_)
    np.testing.assert_array_equal(huge.history_["cost"], np.ldexp(ours.history_["cost"], power))
    np.testing.assert_array_equal(huge.history_["sigma"], ours.history_["sigma"])
    assert huge.inertia_ == np.ldexp(ours.inertia_, power)
    np.testing.assert_array_equal(huge.predict(np.ldexp(D, power)), huge.labels_)


def test_weights_of_any_size_give_the_same_map(rng):
    D, m = blob_distances(rng, 30), rng.uniform(0.5, 2, 30)
    ours, light = (MedianNeuralGas(4, metric="precomputed", random_state=0).fit(D, sample_weight=w)
                   for w in (m, np.ldexp(m, -990)))  # fmt: skip
    np.testing.assert_array_equal(light.medoid_indices_, ours.medoid_indices_)
    np.testing.assert_array_equal(light.hits_, np.ldexp(ours.hits_, -990))
    np.testing.assert_array_equal(
        light.history_["quantization_error"], np.ldexp(ours.history_["quantization_error"], -990)
    )


@pytest.mark.parametrize("method", METHODS)
def test_vectors_of_any_size_give_the_same_map(method, rng):
    X = blobs(rng)
    for init in ("random", X[:4]):
        ours, huge = (
            estimator(method, 4, BATCH, random_state=0, init=start).fit(Y)
            for Y, start in ((X, init), (np.ldexp(X, 200), init if isinstance(init, str) else np.ldexp(init, 200)))
        )
        np.testing.assert_array_equal(huge.cluster_centers_, np.ldexp(ours.cluster_centers_, 200))
        np.testing.assert_array_equal(huge.history_["cost"], np.ldexp(ours.history_["cost"], 400))
        np.testing.assert_array_equal(huge.predict(np.ldexp(X, 200)), huge.labels_)


def test_what_is_watched_is_in_the_users_numbers(rng):
    D, seen = np.ldexp(blob_distances(rng, 30), 300), []
    fitted = MedianKMeans(3, metric="precomputed", random_state=0, on_epoch=seen.append, temperature="auto").fit(D)
    assert [epoch.cost for epoch in seen] == fitted.history_["cost"].tolist()
    assert [epoch.sigma for epoch in seen] == fitted.history_["sigma"].tolist()
    warm = fitted.history_["sigma"].max() / D.max()
    assert 0.01 < warm < 100


def test_a_temperature_has_the_size_of_the_dissimilarities(rng):
    D = blob_distances(rng, 30)
    ours, huge = (RelationalKMeans(3, metric="precomputed", random_state=0, temperature=np.ldexp(4.0, power)).fit(M)
                  for M, power in ((D, 0), (np.ldexp(D, 600), 600)))  # fmt: skip
    np.testing.assert_array_equal(huge.labels_, ours.labels_)
    np.testing.assert_array_equal(huge.history_["sigma"], np.ldexp(ours.history_["sigma"], 600))


def test_labels_count_as_much_beside_dissimilarities_of_any_size(rng):
    D, y = blob_distances(rng, 30), np.arange(30) % 3
    ours, huge = (PrototypeClassifier(MedianNeuralGas(4, metric="precomputed", random_state=0), beta=0.5).fit(M, y)
                  for M in (D, np.ldexp(D, 900)))  # fmt: skip
    np.testing.assert_array_equal(huge.estimator_.medoid_indices_, ours.estimator_.medoid_indices_)
    np.testing.assert_array_equal(huge.prototype_labels_, ours.prototype_labels_)
    np.testing.assert_array_equal(
        huge.estimator_.history_["cost"], ours.estimator_.history_["cost"]
    )  # in units of the mean
    with pytest.raises(ValueError, match=r"label_scale=None.*label_scale='mean'"):
        PrototypeClassifier(MedianNeuralGas(4, metric="precomputed"), beta=0.5, label_scale=None).fit(
            np.ldexp(D, 900), y
        )


def test_an_arrangement_does_not_depend_on_size(rng):
    D = blob_distances(rng, 40)
    ours, huge = (arrange(M, np.arange(12), (3, 4)) for M in (D, np.ldexp(D, 900)))
    np.testing.assert_array_equal(huge.medoid_indices, ours.medoid_indices)
    assert huge.far_order == ours.far_order != 0


def mixed(large, small):
    D = np.full((6, 6), large)
    np.fill_diagonal(D, 0)
    D[2, 4] = D[4, 2] = small
    return D


def plain(make=MedianKMeans, D=None, sample_weight=None, **params):
    return make(2, metric="precomputed", **params).fit(mixed(1, 2) if D is None else D, sample_weight=sample_weight)


REFUSED = {
    "entries": (lambda: plain(D=mixed(1e300, 1e-300)), r"D\[2, 4\] is 1e-300.*1e\+300"),
    "weights": (lambda: plain(sample_weight=[1e200, 1, 1, 1e-200, 1, 1]), r"sample_weight\[3\] is 1e-200.*1e\+200"),
    "wide": (lambda: plain(MedianNeuralGas, sigma_start=1e101), "sigma_start.*1e100"),
    "narrow": (lambda: plain(MedianNeuralGas, sigma_end=1e-101), "sigma_end.*1e-100"),
    "cold": (lambda: plain(temperature=1e-200), "temperature is 1e-200.*1e-100"),
    "hot": (lambda: plain(temperature=1e308), "temperature is 1e.308"),
    "hot for subnormal": (lambda: plain(D=mixed(1e-310, 0), temperature=2.0), "temperature is 2;.*above 2e-210"),
    "small vectors": (lambda: BatchNeuralGas(2).fit(np.full((6, 2), 1e-160)), "1e-160.*Multiply"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_power_of_two_brings_into_range_is_refused(case):
    fit, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence):
        fit()


def test_small_entries_beside_large_ones_are_used_while_no_bit_is_lost():
    fitted = MedianKMeans(2, metric="precomputed", random_state=0).fit(mixed(1e300, 1e-7))
    assert fitted.labels_[2] == fitted.labels_[4]


def test_what_is_not_kept_in_memory_is_not_scaled_but_refused():
    kept = PartlyKeptSource(source(mixed(1e20, 1.0)), np.empty((2, 6)), np.full(6, -1, np.intp))
    with pytest.raises(ValueError, match=r"1e\+20.*does not fit in memory"):
        kept.block(slice(0, 3), slice(None))


def test_the_limits_leave_room_in_float32():
    assert 2.0 ** (LARGE + HEAVY + 30) < np.finfo(np.float32).max / 1000
