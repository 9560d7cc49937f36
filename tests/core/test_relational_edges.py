"""Relational maps at the edges: negative values, the ends of float32, order of memory, ids; structure of such maps."""

from math import fsum

import numpy as np
import pytest
from scipy.sparse import csr_array
from support.extras import optional
from support.maps import METHODS, blob_distances, blobs, estimator
from test_relational import RELATIONAL

from medianmap import RelationalKMeans, RelationalNeuralGas, RelationalSOM, k_path, load, save, width_front
from medianmap.core.field_combinations import _self_terms
from medianmap.core.quality import medoid_silhouette
from medianmap.core.ranks import rank_points
from medianmap.core.spaces import RelationalSpace, self_terms
from medianmap.explore import prototype_dissimilarities, superclusters, two_best
from medianmap.sources import as_dissimilarity


def no_distances(rng, n=40):
    """A dissimilarity that no vectors have."""
    D = rng.random((n, n)) ** 4
    return (D + D.T) * (1 - np.eye(n))


def coefficients(rng, K, n, share):
    P = rng.random((K, n)) * (rng.random((K, n)) < share)
    P[:, 0] = 1.0
    return P / P.sum(axis=1, keepdims=True)


def test_assign_takes_the_negative_values_that_transform_gives(rng):
    D = no_distances(rng)
    fitted = RelationalKMeans(6, metric="precomputed", random_state=1).fit(D)
    G = fitted.transform(D)
    assert G.min() < 0
    np.testing.assert_array_equal(fitted.assign(G), fitted.labels_)
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"D\[0, 2\] is"):
            fitted.assign(np.where(np.arange(6) == 2, wrong, G[:1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_of_negative_values_are_exact(dtype, rng):
    GT = rng.integers(-3, 3, size=(50, 40)).astype(dtype)
    GT[0] = -(2.0**24 if dtype == np.float32 else 2.0**53)  # counted from here small differences are lost
    GT += (rng.random(GT.shape) / 4).astype(dtype)
    m = rng.random(40)
    found = rank_points(GT, m)
    rank, sums = found.rank, found.sums
    order = np.argsort(GT, axis=0, kind="stable")
    np.testing.assert_array_equal(np.take_along_axis(rank, order, axis=0), np.tile(np.arange(50)[:, None], 40))
    expected = (np.take_along_axis(GT, order, axis=0).astype(np.float64) * m).sum(axis=1)
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-9)


def test_a_diagonal_above_zero_does_not_stop_the_spread(rng):
    D = blob_distances(rng, n=60) + 5 * np.eye(60)
    with pytest.warns(UserWarning, match="diagonal"):
        fitted = RelationalKMeans(6, metric="precomputed", init="k-medoids++", random_state=0).fit(D)
    assert fitted.hits_.sum() == 60


@pytest.mark.parametrize("largest", [np.finfo(np.float32).max, 1e-40])
def test_a_float32_matrix_at_the_ends_of_its_range_is_multiplied_in_float64(largest, rng):
    D = blob_distances(rng, n=50)
    D = np.minimum(D / D.max() * largest, largest).astype(np.float32)
    P = coefficients(rng, 8, 50, 0.5)
    P[0] = 1 / 50
    G = RelationalSpace(as_dissimilarity(D)).distances(P)
    expected = RelationalSpace(as_dissimilarity(D.astype(np.float64))).distances(P)
    np.testing.assert_allclose(G, expected, rtol=1e-5)
    for method in METHODS:
        single = estimator(method, 4, RELATIONAL, metric="precomputed", random_state=0).fit(D)
        double = estimator(method, 4, RELATIONAL, metric="precomputed", random_state=0).fit(D.astype(np.float64))
        np.testing.assert_array_equal(single.labels_, double.labels_)


def test_all_entries_at_the_largest_float32_do_not_become_infinite():
    D = np.full((300, 300), np.finfo(np.float32).max)
    np.fill_diagonal(D, 0.0)
    for method in METHODS:
        fitted = estimator(method, 4, RELATIONAL, metric="precomputed", random_state=0).fit(D.astype(np.float32))
        assert np.isfinite(fitted.transform(D)).all()
        assert np.isfinite(fitted.history_["cost"]).all()


@pytest.mark.parametrize("share", [0.01, 0.5])
def test_neither_the_order_in_memory_nor_the_way_of_summing_changes_a_bit(share, rng):
    D = blob_distances(rng, n=300)
    P = coefficients(rng, 20, 300, share)
    G = RelationalSpace(as_dissimilarity(D)).distances(P)
    for same in (np.asfortranarray(D), np.asfortranarray(np.pad(D, (0, 5)))[:300, :300]):
        np.testing.assert_array_equal(RelationalSpace(as_dissimilarity(same)).distances(P), G)
    if share == 0.01:
        np.testing.assert_array_equal(RelationalSpace(as_dissimilarity(D)).rowwise(P)[0], G)


def test_columns_in_another_order_than_in_training_are_refused(rng):
    pd = optional("pandas")
    names = [f"p{i}" for i in range(60)]
    D = pd.DataFrame(blob_distances(rng), index=names, columns=names)
    fitted = RelationalNeuralGas(3, metric="precomputed", n_epochs=5, random_state=0).fit(D)
    assert fitted.support_ids_ == [names[i] for i in fitted.support_]
    np.testing.assert_array_equal(fitted.predict(D), fitted.labels_)
    with pytest.raises(ValueError, match="Column 0 is named 'p59', but was 'p0' in training"):
        fitted.predict(D[names[::-1]])
    matrix = optional("skbio").DistanceMatrix(D.to_numpy(), names[::-1])
    with pytest.raises(ValueError, match="Column 0 is named 'p59', but was 'p0' in training"):
        fitted.predict(matrix)


def test_structure_of_maps_with_negative_dissimilarities():
    D = no_distances(np.random.default_rng(0), 60)
    som = RelationalSOM((3, 3), metric="precomputed", random_state=1, n_epochs=20).fit(D)
    P = prototype_dissimilarities(som)
    assert P.min() < 0
    assert (superclusters(P).linkage[:, 2] >= 0).all()
    ratio = two_best(som, D)["ratio"]
    assert ratio.min() == 0
    assert ratio.max() <= 1
    assert 0 <= medoid_silhouette(som.transform(D)) <= 1


def test_paths_name_the_maps_that_they_take(rng):
    X = blobs(rng)
    with pytest.raises(TypeError, match="RelationalKMeans; pass one of medianmap's median or batch maps"):
        k_path(RelationalKMeans(2), X, [2, 3])
    with pytest.raises(TypeError, match="RelationalSOM; pass one of medianmap's median or batch maps"):
        width_front(RelationalSOM((2, 2)), X)


def test_a_model_file_whose_coefficients_point_nowhere_is_damaged(rng, tmp_path):
    X = blobs(rng)
    fitted = RelationalKMeans(3, random_state=0).fit(X)
    whole = fitted.coefficients_
    wrong = whole.copy()
    wrong.indices[-1] = 10**6
    fitted.coefficients_ = wrong
    save(fitted, tmp_path / "m.mmap")
    with pytest.raises(ValueError, match="damaged medianmap model"):
        load(tmp_path / "m.mmap")
    fitted.coefficients_ = csr_array((whole.data, whole.indices, whole.indptr), shape=(3, whole.shape[1] + 5))
    with pytest.raises(ValueError, match="do not fit coefficients"):
        fitted.predict(X)


def test_self_terms_are_summed_in_float64():
    """In float32 a sum over many points is off from the fourth or fifth digit on, and all distances with it."""
    n = 20_000
    Q = np.random.default_rng(0).random((2, n)).astype(np.float32)
    P = np.full((2, n), 1.0 / n)
    expected = [0.5 * fsum(row.astype(float) / n) for row in Q]
    np.testing.assert_allclose(self_terms(P, Q), expected, rtol=1e-13)
    own = np.empty(2)
    _self_terms(np.full((2, 1), 1.0 / n), np.zeros(n, np.intp), np.ones(n), Q, own)
    np.testing.assert_allclose(own, expected, rtol=1e-11)


def test_fields_of_next_to_no_weight_are_no_matter_for_float32(rng):
    """A combination of such a field has coefficients beyond float32."""
    D, m = rng.random((27, 27)).astype(np.float32), 10 ** rng.uniform(-189, -41, 27)
    np.fill_diagonal(D, 0)
    with np.errstate(over="raise", invalid="raise"):
        single, double = (
            RelationalKMeans(7, metric="precomputed", random_state=35).fit(M, sample_weight=m)
            for M in (D, D.astype(np.float64))
        )
    np.testing.assert_array_equal(single.labels_, double.labels_)
