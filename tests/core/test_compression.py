"""Annealing in a compressed space: against the definition, where it is not taken, and that training ends on D."""

import logging

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from support.maps import blobs

from medianmap import MedianNeuralGas, PrototypeClassifier, RelationalNeuralGas
from medianmap.core.assignment import Rank
from medianmap.core.compression import CompressedSpace, compressed_space
from medianmap.core.spaces import RelationalSpace
from medianmap.sources import DenseSource
from medianmap.sources.base import OwnSource


def squared(rng, n=400, dtype=np.float64):
    """Squared distances of clouds in the plane: a matrix of rank 4."""
    X = blobs(rng, n, 6)
    return cdist(X, X, "sqeuclidean").astype(dtype)


def structureless(n, seed=0):
    D = np.triu(np.random.default_rng(seed).random((n, n)), 1)
    return D + D.T


def spaces(D, rank=8, K=5):
    exact = RelationalSpace(DenseSource(D, True))
    return exact, compressed_space(exact, rank, K)


def test_low_rank_is_reproduced(rng):
    D = squared(rng)
    _, space = spaces(D)
    assert 4 <= space.compression <= 8
    np.testing.assert_allclose((space.U * space.w) @ space.U.T, D, atol=1e-4 * D.max())


@pytest.mark.parametrize("sigma", [0.01, 0.7, 20.0])
def test_an_epoch_is_that_of_the_exact_space(rng, sigma):
    """(D alpha_j)_i - alpha_j' D alpha_j / 2, written out, for data points and for the means of an epoch."""
    D, m = squared(rng), rng.uniform(0.5, 3, 400)
    exact, space = spaces(D)
    at = rng.choice(400, 5, replace=False)
    start = space.compressed(at)
    np.testing.assert_allclose(space.distances(start), D[:, at], atol=1e-4 * D.max())
    weights, _ = Rank()(space.distances(start), sigma, m)
    after, _ = space.update(weights, start)
    alpha = weights.A / weights.A.sum(axis=1, keepdims=True)
    G = D @ alpha.T - np.array([a @ D @ a for a in alpha]) / 2
    np.testing.assert_allclose(space.distances(after), G, atol=1e-4 * D.max())
    np.testing.assert_allclose(space.as_array(after), exact.as_array(exact.update(weights, alpha)[0]))
    np.testing.assert_allclose(space.distances(space.compressed(alpha)), G, atol=1e-4 * D.max())


def test_the_map_is_that_of_the_exact_annealing(rng):
    D = squared(rng)
    plain = RelationalNeuralGas(6, metric="precomputed", random_state=0).fit(D)
    small = RelationalNeuralGas(6, metric="precomputed", random_state=0, compression=8).fit(D)
    assert (small.labels_ == plain.labels_).all()
    np.testing.assert_allclose(small.inertia_, plain.inertia_, rtol=1e-9)
    assert (plain.history_["compression"] == 0).all()
    n = small.n_epochs
    assert (small.history_["compression"][:n] > 0).all()
    assert (small.history_["compression"][n:] == 0).all()
    assert len(small.history_) > n
    np.testing.assert_allclose(small.history_["cost"][:n], plain.history_["cost"][:n], rtol=1e-3)


def test_what_is_reported_is_computed_from_D(rng):
    """Numbers give the data up to some error; the dissimilarities to the prototypes are those of their coefficients."""
    X = rng.normal(size=(300, 6))
    D = cdist(X, X)
    gas = RelationalNeuralGas(5, metric="precomputed", random_state=0, compression=12).fit(D)
    assert gas.history_["compression"][0] == 12
    assert gas.history_["compression"][-1] == 0
    alpha = np.zeros((5, 300))
    alpha[:, gas.support_] = gas.coefficients_.toarray()
    G = D @ alpha.T - np.array([a @ D @ a for a in alpha]) / 2
    np.testing.assert_allclose(gas.inertia_, G.min(axis=1).sum())
    np.testing.assert_allclose(gas.history_["quantization_error"][-1], gas.quantization_error_)


def test_median_maps_compress_many_points_by_default():
    D = squared(np.random.default_rng(3), 1100, np.float32)
    gas = MedianNeuralGas(12, metric="precomputed", random_state=0).fit(D)
    exact = MedianNeuralGas(12, metric="precomputed", random_state=0, compression=None).fit(D)
    assert gas.history_["compression"][0] > 0
    assert gas.history_["compression"][-1] == 0
    assert (exact.history_["compression"] == 0).all()
    assert gas.inertia_ <= 1.01 * exact.inertia_
    assert gas.inertia_ == pytest.approx(D[:, gas.medoid_indices_].min(axis=1).sum(dtype=float))
    enough = MedianNeuralGas(12, metric="precomputed", random_state=0).fit(D[:500, :500])
    assert enough.history_["compression"][0] > 0
    few = MedianNeuralGas(12, metric="precomputed", random_state=0).fit(D[:499, :499])
    points = MedianNeuralGas(12, metric="precomputed", random_state=0, annealing="median", n_epochs=2).fit(D)
    for plain in (few, points):
        assert (plain.history_["compression"] == 0).all()


def asymmetric(n):
    D = squared(np.random.default_rng(1), n)
    return D + np.triu(D, 1)


@pytest.mark.parametrize("power", [-900, 900])
def test_numbers_of_any_size_are_compressed_alike(power):
    D = squared(np.random.default_rng(2), 500)
    fits = [RelationalNeuralGas(7, compression=16, metric="precomputed", random_state=0, n_epochs=5).fit(M)
            for M in (D, np.ldexp(D, power))]  # fmt: skip
    assert (fits[0].history_["compression"] > 0).any()
    np.testing.assert_array_equal(fits[0].history_["compression"], fits[1].history_["compression"])
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)


@pytest.mark.parametrize("make", [structureless, asymmetric])
def test_what_cannot_be_compressed_is_annealed_exactly(make):
    D = make(500)
    params = {"metric": "precomputed", "random_state": 0, "n_epochs": 5}
    asked = RelationalNeuralGas(7, compression=16, **params).fit(D)
    plain = RelationalNeuralGas(7, **params).fit(D)
    assert (asked.history_ == plain.history_).all()
    assert (asked.coefficients_ != plain.coefficients_).nnz == 0


def test_an_error_as_large_as_the_nearest_dissimilarities_is_too_coarse(monkeypatch):
    exact = RelationalSpace(DenseSource(structureless(400), True))
    assert compressed_space(exact, 16, 1) is None
    monkeypatch.setattr("medianmap.core.compression.COARSE", 1.0)
    assert compressed_space(exact, 16, 1) is not None


def test_the_log_says_that_it_is_too_coarse(caplog):
    with caplog.at_level(logging.INFO, "medianmap"):
        MedianNeuralGas(5, metric="precomputed", random_state=0, n_epochs=2).fit(structureless(1000))
    assert "compressed to rank 64" in caplog.text


def test_small_clusters_are_noticed():
    """Many pairs of twins far from each other: the factor says little about who is whose twin."""
    X = np.repeat(np.random.default_rng(0).normal(size=(300, 40)), 2, axis=0)
    D = cdist(X, X) + 0.01 * structureless(600)
    np.fill_diagonal(D, 0)
    exact = RelationalSpace(DenseSource(D, True))
    assert compressed_space(exact, 16, 5) is not None
    assert compressed_space(exact, 16, 500) is None


def test_threads_and_files_do_not_matter(tmp_path):
    D = squared(np.random.default_rng(5), 1300, np.float32)
    np.save(tmp_path / "D.npy", D)
    on_disk = np.load(tmp_path / "D.npy", mmap_mode="r")
    runs = ((1, D), (2, D), (2, on_disk))
    fits = [MedianNeuralGas(9, metric="precomputed", random_state=1, n_jobs=n).fit(X) for n, X in runs]
    first, *others = fits
    assert first.history_["compression"][0] > 0
    for other in others:
        assert (other.medoid_indices_ == first.medoid_indices_).all()
        assert (other.history_ == first.history_).all()


class Counting(OwnSource):
    """A source that counts how many entries are read."""

    symmetric, ids = True, None

    def __init__(self, D):
        self.D_, self.read = D, 0

    @property
    def shape(self):
        return self.D_.shape

    def block(self, rows, cols):
        found = self.D_[rows][:, cols]
        self.read += found.size
        return found


def test_annealing_reads_some_columns_and_nothing_else(rng):
    D = squared(rng)
    source = Counting(D)
    exact = RelationalSpace(source)
    space = compressed_space(exact, 8, 5)
    read = source.read
    assert read <= (4 * 8 + 5) * 400
    P = space.compressed(np.arange(5))
    for _ in range(3):
        P, _ = space.update(Rank()(space.distances(P), 1.0, np.ones(400))[0], P)
    assert source.read == read


def test_weights_that_float32_does_not_hold_leave_prototypes_where_they_are(rng):
    D, m = squared(rng), np.ones(400)
    m[:200] = 1e-60
    _, space = spaces(D)
    P = space.compressed(np.array([0, 1, 2, 300, 301]))
    for sigma in (1.0, 0.01):
        weights, _ = Rank()(space.distances(P), sigma, m)
        P, _ = space.update(weights, P)
        assert np.isfinite(P.p).all()
        assert np.isfinite(space.distances(P)).all()


def test_labels_take_part(rng):
    X = blobs(rng, 1200, 4)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    fitted = PrototypeClassifier(MedianNeuralGas(10, random_state=0), beta=0.5).fit(X, y)
    assert fitted.estimator_.history_["compression"][0] > 0
    whole = PrototypeClassifier(MedianNeuralGas(10, random_state=0, compression=None), beta=0.5).fit(X, y)
    assert fitted.score(X, y) == pytest.approx(whole.score(X, y), abs=0.02)


def test_a_map_that_is_continued_is_compressed_too(rng):
    D = squared(rng)
    gas = RelationalNeuralGas(6, metric="precomputed", random_state=0, compression=8, warm_start=True).fit(D)
    first = gas.inertia_
    gas.fit(D)
    assert gas.history_["compression"][0] > 0
    assert gas.inertia_ <= 1.001 * first


@pytest.mark.parametrize("wrong", ["none", 0, 2.5, True])
def test_a_wrong_compression_is_refused(wrong):
    with pytest.raises(ValueError, match="compression is"):
        MedianNeuralGas(2, compression=wrong).fit(np.arange(8.0)[:, None])


def test_space_has_rank_at_most_what_the_data_have():
    assert isinstance(spaces(squared(np.random.default_rng(1)), rank=50)[1], CompressedSpace)
    assert spaces(np.zeros((100, 100)))[1] is None
