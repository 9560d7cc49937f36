"""What must hold whatever the data: optimality bounds, monotone cost, symmetries, weights, threads."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from support.maps import BATCH, METHODS, blob_distances, blobs, estimator
from support.strategies import cases, matrix

from medianmap import BatchKMeans, MedianKMeans, MedianNeuralGas, MedianSOM


def cost_of_subsets(case):
    """{K points: their K-means cost}, for all K-subsets."""
    return {w: (case.m * case.D[:, list(w)].min(axis=1)).sum() for w in combinations(range(len(case.D)), case.K)}


@pytest.mark.parametrize("method", ["gas", "som"])
@given(case=cases(max_points=8))
@settings(max_examples=40)
def test_a_fit_that_starts_at_the_brute_force_optimum_ends_there(method, case):
    """Of all K-subsets the best cannot be improved, and without annealing the cost never rises."""
    cost = cost_of_subsets(case)
    best = min(cost, key=lambda w: cost[w])
    fitted = estimator(method, case.K, metric="precomputed", init=list(best), sigma_start=0.01, sigma_end=0.01)
    fitted.fit(case.D, sample_weight=case.m)
    assert fitted.inertia_ == pytest.approx(cost[best], rel=1e-9, abs=0)
    assert fitted.inertia_ == pytest.approx(cost[tuple(sorted(fitted.medoid_indices_.tolist()))], rel=1e-9, abs=0)


@given(case=cases(max_points=7))
@settings(max_examples=40)
def test_k_means_ends_where_no_prototype_can_move_from_every_start(case):
    """No free point has a smaller sum over a prototype's points, by brute force; the best end is the optimum."""
    cost, ends = cost_of_subsets(case), []
    for start, at_start in cost.items():
        fitted = estimator("kmeans", case.K, metric="precomputed", init=list(start)).fit(case.D, sample_weight=case.m)
        w = fitted.medoid_indices_
        winner = case.D[:, w].argmin(axis=1)
        for j in np.unique(winner):
            sums = (case.m[:, None] * case.D)[winner == j].sum(axis=0)
            assert sums[w[j]] <= np.delete(sums, np.delete(w, j)).min() * (1 + 1e-9)
        assert fitted.inertia_ == pytest.approx(cost[tuple(sorted(w.tolist()))], rel=1e-9, abs=0)
        assert fitted.inertia_ <= at_start * (1 + 1e-9)
        ends.append(fitted.inertia_)
    assert min(ends) == pytest.approx(min(cost.values()), rel=1e-9, abs=0)


def test_k_means_with_many_starts_finds_the_brute_force_optimum(rng):
    D = matrix("symmetric", 8, rng)
    optimum = min(D[:, list(w)].min(axis=1).sum() for w in combinations(range(8), 2))
    best = MedianKMeans(2, metric="precomputed", n_init=50, random_state=0).fit(D)
    assert best.inertia_ == pytest.approx(optimum)


@pytest.mark.parametrize("collisions", ["distinct", "allow"])
@pytest.mark.parametrize("method", METHODS)
@given(case=cases())
@settings(max_examples=60)
def test_cost_never_rises_at_fixed_sigma(method, collisions, case):
    params = {} if method == "kmeans" else {"sigma_start": 0.7, "sigma_end": 0.7}
    fitted = estimator(method, case.K, metric="precomputed", init=case.start, collisions=collisions, **params)
    cost = fitted.fit(case.D, sample_weight=case.m).history_["cost"]
    assert np.all(np.diff(cost) <= 1e-12 * np.abs(cost[:-1]))
    assert fitted.converged_


@pytest.mark.parametrize("method", METHODS)
def test_cost_of_batch_maps_never_rises_at_fixed_sigma(method, rng):
    params = {} if method == "kmeans" else {"sigma_start": 0.7, "sigma_end": 0.7}
    cost = estimator(method, 6, BATCH, random_state=0, **params).fit(blobs(rng)).history_["cost"]
    assert np.all(np.diff(cost) <= 1e-12 * cost[:-1])


def test_batch_k_means_is_lloyd_centre_by_centre(rng):
    for _ in range(20):
        X = blobs(rng, n=80)
        start = X[rng.permutation(80)[:5]]
        theirs = KMeans(5, init=start, n_init=1, tol=0, algorithm="lloyd", max_iter=300).fit(X)
        ours = BatchKMeans(5, init=start).fit(X)
        if (np.bincount(theirs.labels_, minlength=5) == 0).any() or (ours.hits_ == 0).any():
            continue  # scikit-learn moves empty clusters; we leave them
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        assert ours.inertia_ == pytest.approx(theirs.inertia_)


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric"])
@pytest.mark.parametrize("method", METHODS)
def test_permuting_the_data_permutes_the_result(method, kind, rng):
    D = matrix(kind, 50, rng)
    start, order = rng.permutation(50)[:6], rng.permutation(50)
    where = np.argsort(order)  # where[i]: the new place of point i
    plain = estimator(method, 6, metric="precomputed", init=start).fit(D)
    permuted = estimator(method, 6, metric="precomputed", init=where[start]).fit(D[np.ix_(order, order)])
    np.testing.assert_array_equal(permuted.medoid_indices_, where[plain.medoid_indices_])
    np.testing.assert_array_equal(permuted.labels_, plain.labels_[order])


@pytest.mark.parametrize("collisions", ["distinct", "noise", "allow"])
@pytest.mark.parametrize("method", METHODS)
def test_the_unit_of_the_dissimilarity_does_not_matter(method, collisions, rng):
    D = matrix("symmetric", 60, rng)
    params = {"metric": "precomputed", "random_state": 3, "collisions": collisions}
    once, times_7 = (estimator(method, 6, **params).fit(c * D) for c in (1, 7))
    np.testing.assert_array_equal(once.medoid_indices_, times_7.medoid_indices_)
    assert times_7.inertia_ == pytest.approx(7 * once.inertia_)


@pytest.mark.parametrize("method", METHODS)
def test_weight_2_equals_a_point_twice_and_weight_0_a_point_removed(method, rng):
    D = matrix("asymmetric", 30, rng)
    m = rng.integers(0, 3, 30)
    copies = np.repeat(np.arange(30), m)
    start = rng.permutation(np.flatnonzero(m))[:4]
    first_copy = np.searchsorted(copies, start)
    # Copies of a point are different candidates, so only 'allow' compares like with like.
    params = {"metric": "precomputed", "collisions": "allow"}
    weighted = estimator(method, 4, init=start, **params).fit(D, sample_weight=m)
    repeated = estimator(method, 4, init=first_copy, **params).fit(D[np.ix_(copies, copies)])
    np.testing.assert_array_equal(weighted.medoid_indices_, copies[repeated.medoid_indices_])
    np.testing.assert_array_equal(weighted.labels_[copies], repeated.labels_)
    np.testing.assert_array_equal(weighted.hits_, repeated.hits_)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_)


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_batch_maps(method, rng):
    X = blobs(rng, n=40)
    m = rng.integers(0, 3, 40)
    # Of a 2 x 2 lattice two arrangements are equally good, and rounding decides between them.
    params = {"init": X[:4], **({} if method in ("kmeans", "gas") else {"arrange": False})}
    weighted = estimator(method, 4, BATCH, **params).fit(X, sample_weight=m)
    repeated = estimator(method, 4, BATCH, **params).fit(np.repeat(X, m, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-9)


@pytest.mark.parametrize("search", ["auto", "standard", "gemm"])
@pytest.mark.parametrize("method", METHODS)
def test_median_maps_agree_bit_for_bit_at_any_number_of_threads(method, search, rng):
    D = matrix("ties", 700, rng).astype(np.float32)
    params = {"metric": "precomputed", "search": search, "random_state": 0}
    fits = [estimator(method, 20, **params, n_jobs=n).fit(D) for n in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].medoid_indices_, other.medoid_indices_)
        np.testing.assert_array_equal(fits[0].history_, other.history_)


@pytest.mark.parametrize("method", METHODS)
def test_batch_maps_agree_bit_for_bit_at_any_number_of_threads(method, rng):
    X = blobs(rng, n=9000, features=7)
    fits = [estimator(method, 20, BATCH, random_state=0, n_jobs=n).fit(X) for n in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].cluster_centers_, other.cluster_centers_)
        np.testing.assert_array_equal(fits[0].history_, other.history_)


@pytest.mark.parametrize("method", METHODS)
@given(case=cases())
@settings(max_examples=30)
def test_distinct_prototypes_are_distinct(method, case):
    fitted = estimator(method, case.K, metric="precomputed", random_state=0).fit(case.D)
    assert len(set(fitted.medoid_indices_.tolist())) == case.K


def test_allowing_collisions_collapses_where_distinct_does_not(rng):
    D = blob_distances(rng, n=80)
    gas = {
        c: MedianNeuralGas(12, metric="precomputed", annealing="median", collisions=c, random_state=0).fit(D)
        for c in ("allow", "distinct")
    }
    assert len(np.unique(gas["allow"].medoid_indices_)) < 12
    assert gas["distinct"].inertia_ < gas["allow"].inertia_


def test_noise_parts_prototypes_that_share_a_point(rng):
    D = blob_distances(rng, n=80)
    allow, noise = (
        MedianNeuralGas(12, metric="precomputed", annealing="median", collisions=c, random_state=0).fit(D)
        for c in ("allow", "noise")
    )
    assert len(np.unique(allow.medoid_indices_)) < len(np.unique(noise.medoid_indices_))
    assert noise.inertia_ < allow.inertia_


def test_an_empty_receptive_field_keeps_its_prototype():
    # Point 3 is far from everything, itself included: it wins no point, not even its own.
    D = np.array([[0.0, 1, 1, 9], [1, 0, 1, 9], [1, 1, 0, 9], [1, 1, 1, 9]])
    with pytest.warns(UserWarning, match="diagonal"):
        fitted = MedianKMeans(2, metric="precomputed", annealing="median", init=[0, 3]).fit(D)
    assert fitted.medoid_indices_.tolist() == [0, 3]
    assert fitted.hits_.tolist() == [4, 0]


def test_a_capped_run_says_that_it_did_not_converge(rng):
    D = blob_distances(rng, n=200)
    params = {"metric": "precomputed", "annealing": "median", "random_state": 0}
    capped = MedianKMeans(10, max_iter=1, **params).fit(D)
    free = MedianKMeans(10, **params).fit(D)
    assert (capped.n_iter_, capped.converged_) == (1, False)
    assert free.converged_
    assert free.n_iter_ > 1
    assert MedianKMeans(10, max_iter=1, **params).fit(D).n_iter_ == 1
    both = MedianKMeans(10, max_iter=1, max_swaps=0, **params | {"annealing": "relational"}).fit(D)
    assert (both.n_iter_, both.converged_) == (2, False)  # one of each kind of prototype


def test_more_starts_never_hurt(rng):
    D = blob_distances(rng, n=100)
    errors = [MedianKMeans(10, metric="precomputed", n_init=n, random_state=1).fit(D).inertia_ for n in (1, 5, 25)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1]


def test_spreading_starts_better_than_chance():
    # One cloud of 500 and nine single points far away: chance picks the cloud nearly every time.
    x = np.concatenate([np.linspace(0, 1, 500), 100.0 * np.arange(1, 10)])[:, None]

    def start_error(init, seed):
        return MedianKMeans(10, init=init, random_state=seed).fit(x).history_["quantization_error"][0]

    # The four nearest of the nine unchosen would alone cost 500.
    assert all(start_error("k-medoids++", s) < 200 for s in range(5))
    assert all(start_error("random", s) > 500 for s in range(5))


@given(seed=st.integers(0, 2**16), periodic=st.booleans())
@settings(max_examples=10)
def test_a_som_unfolds_a_line(seed, periodic):
    """One-dimensional data on a chain of neurons: neighbours in the data end up close on the chain."""
    x = np.linspace(0, 1, 60)[:, None]
    som = MedianSOM((1, 8), lattice="rectangular", periodic=periodic, metric="sqeuclidean", random_state=seed).fit(x)
    steps = som.lattice_.distances[som.labels_[:-1], som.labels_[1:]]
    assert steps.mean() < 0.6


@pytest.mark.parametrize("name", ["seuclidean", "mahalanobis"])
def test_metrics_that_learn_from_the_data_respect_its_weights(name, rng):
    X = blobs(rng, n=30)
    m = rng.integers(0, 3, 30)
    start = np.flatnonzero(m)[:4]
    copies = np.repeat(np.arange(30), m)
    params = {"metric": name, "collisions": "allow", "max_swaps": 0}  # the order of exchanges is one of N points
    weighted = MedianKMeans(4, init=start, **params).fit(X, sample_weight=m)
    repeated = MedianKMeans(4, init=np.searchsorted(copies, start), **params).fit(X[copies])
    assert weighted.inertia_ == pytest.approx(repeated.inertia_)


def test_spreading_respects_weights():
    # Two far clouds; nearly all weight is on one point of the first: it is drawn first nearly always.
    x = np.arange(20.0)[:, None]
    m = np.ones(20)
    m[7] = 1e6
    first = [
        MedianKMeans(1, init="k-medoids++", max_iter=1, random_state=s, metric=lambda a, b: 1.0 * (a[0] != b[0]))
        .fit(x, sample_weight=m)
        .history_["quantization_error"][0]
        for s in range(10)
    ]
    assert np.median(first) < 100  # from any other start point 7 alone costs 500000


def test_score_respects_weights(rng):
    X = blobs(rng)
    fitted = MedianKMeans(3, random_state=0).fit(X)
    m = rng.random(len(X))
    assert fitted.score(X, sample_weight=m) == pytest.approx(-0.5 * (m * fitted.transform(X).min(axis=1)).sum())
    assert fitted.score(X, sample_weight=2 * np.ones(len(X))) == pytest.approx(2 * fitted.score(X))


def test_one_epoch_of_annealing_still_ends_at_sigma_end(rng):
    gas = MedianNeuralGas(5, n_epochs=1, random_state=0).fit(blobs(rng))
    assert gas.history_["sigma"][0] == 2.5
    assert np.all(gas.history_["sigma"][1:] == 0.01)
    assert gas.n_iter_ > 1
