"""Screens promise a lower bound for every pair: checked here against exact sums, on hard matrices too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import matrix

from medianmap import MedianNeuralGas, MedianSOM, reference
from medianmap.core.assignment import nearest, smoothed_winners
from medianmap.core.neighborhood import h
from medianmap.search import lowrank
from medianmap.search.certified import FieldScreen
from medianmap.search.field_sums import FieldSums
from medianmap.search.frame import FieldWeights, RankWeights
from medianmap.search.lowrank import LowRank
from medianmap.search.rank_screen import RankScreen
from medianmap.search.screens import Choice, as_float32, dense_product, heavy_entries, sparse_product
from medianmap.sources import DenseSource


def hard_matrices(rng, n):
    """Name -> D (n, n): low rank, none at all, ties, an outlier, tiny and large numbers, one dominant column."""
    x = rng.random((n, 3))
    low = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    spike = low.copy()
    spike[:, n // 2] *= 1e6
    return {
        "low rank": low,
        "random": matrix("asymmetric", n, rng),
        "ties": matrix("ties", n, rng),
        "outlier": matrix("outlier", n, rng),
        "zero": np.zeros((n, n)),
        "constant": np.ones((n, n)),
        "tiny": low * 1e-30,
        "large": low * 1e28,
        "one column": spike,
        "wide range": 10.0 ** rng.uniform(-12, 12, (n, n)),
    }


def assert_lower(bounds, A, D):
    """Every bound against the canonical cost."""
    cost = reference.product(A, D.astype(float))
    low = bounds.L.astype(float) * (1 - bounds.relative) - bounds.absolute[:, None]
    assert np.all(low <= cost)
    return low, cost


def rank_weights(rng, K, n, sigma):
    rank = np.argsort(np.argsort(rng.random((n, K)), axis=1), axis=1).T.astype(np.int32)
    return RankWeights(rank, h(np.arange(K), sigma), rng.integers(1, 4, n).astype(float))


def rank_screen(D):
    return RankScreen(D, FieldSums(len(D), D, D.__getitem__, 1), 1)


@pytest.mark.parametrize("sigma", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_screen_of_ranks_bounds_every_cost(dtype, sigma, rng):
    n, K = 150, 8
    for name, D in hard_matrices(rng, n).items():
        D = D.astype(dtype)
        weights = rank_weights(rng, K, n, sigma)
        screen = rank_screen(D)
        screen.options(weights)
        for kind in ("product", "ranks", "low rank", "fields"):
            low, cost = assert_lower(screen.bounds(kind, weights)[0], weights.A, D)
            if kind == "product" and name not in ("tiny", "zero"):
                assert np.all(low >= 0.999 * cost), name  # tight, not only valid


def bounded(picture, A):
    """The bounds of A @ D for A with its columns in natural order."""
    return picture(np.ascontiguousarray(as_float32(A)[:, picture.order]))


def test_low_rank_bounds_are_tight_where_the_rank_is_low_and_the_weights_are_broad(rng):
    D = hard_matrices(rng, 300)["low rank"]
    weights = rank_weights(rng, 6, 300, 1e9)
    D = D.astype(np.float32)
    low, cost = assert_lower(bounded(LowRank(D, 1), weights.A), weights.A, D)
    assert np.all(low > 0.99 * cost)


def test_low_rank_bounds_hold_for_a_bad_picture_too(rng, monkeypatch):
    """The proof needs no orthonormal V and no good Z: with rank 1 the bound is weak, but still a bound."""
    monkeypatch.setattr(lowrank.LowRank, "RANK", 1)
    for D in hard_matrices(rng, 120).values():
        weights = rank_weights(rng, 5, 120, 3.0)
        D32 = D.astype(np.float32)
        assert_lower(bounded(LowRank(D32, 1), weights.A), weights.A, D32)


def test_low_rank_bounds_hold_for_the_worst_weights(rng, monkeypatch):
    """Weights that point against the residual of a column make the true error nearly as large as the bound allows."""
    monkeypatch.setattr(lowrank.LowRank, "RANK", 4)
    D = matrix("asymmetric", 150, rng).astype(np.float32)
    picture = LowRank(D, 1)
    V = picture.V[np.argsort(picture.order)]
    R = D - V @ picture.Z
    A = np.maximum(-R.T[:40], 0)  # row l is the worst for column l among non-negative weights
    A /= A.max(axis=1, keepdims=True)
    low, cost = assert_lower(bounded(picture, A), A.astype(np.float32).astype(float), D)
    slack = (cost - low)[np.arange(40), np.arange(40)]
    groups = np.split(picture.order, picture.starts[1:-1])
    allowed = sum(np.linalg.norm(A[:, B], axis=1) * np.linalg.norm(R[B, :40], axis=0) for B in groups)
    assert np.median(slack) < 0.6 * np.median(allowed)  # the case is as hard as it is meant to be


def test_low_rank_bounds_hold_for_weights_of_any_sign_on_top_of_a_base(rng):
    """What is left of the weights when a part is known otherwise may be negative; the whole is not."""
    for name, D in hard_matrices(rng, 150).items():
        D = D.astype(np.float32)
        picture = LowRank(D, 1)
        A = as_float32(rng.random((9, 150)) ** 8)
        known = as_float32(A * rng.uniform(0, 3, A.shape))
        base = dense_product(known, D, 1)
        left = np.ascontiguousarray((A - known)[:, picture.order])
        total = known.astype(float)
        total[:, picture.order] += left
        assert (left < 0).any()
        assert_lower(picture(left, base), total, D)
        assert np.all(picture(left, base).L >= 0), name


@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([np.float32, np.float64]))
@settings(max_examples=30)
def test_fields_and_what_they_leave_bound_every_cost(seed, dtype):
    """Block sums follow the ranks from epoch to epoch, as prototypes move and sigma falls."""
    rng = np.random.default_rng(seed)
    n, K = 90, 12
    names = list(hard_matrices(rng, n))
    D = hard_matrices(rng, n)[names[seed % len(names)]].astype(dtype)
    screen, m = rank_screen(D), rng.integers(1, 4, n).astype(float)
    w = rng.permutation(n)[:K]
    for sigma in (20.0, 6.0, 2.0, 0.7, 0.05):
        w[rng.integers(K, size=3)] = rng.integers(n)
        rank = np.argsort(np.argsort(D[:, w], axis=1, kind="stable"), axis=1).T.astype(np.int16)
        weights = RankWeights(rank, h(np.arange(K), sigma), m)
        screen.options(weights)
        assert_lower(screen.bounds("fields", weights)[0], weights.A, D)


@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([np.float32, np.float64]))
@settings(max_examples=25)
def test_block_sums_follow_the_points_within_their_error(seed, dtype):
    rng = np.random.default_rng(seed)
    n, K = 60, 6
    names = list(hard_matrices(rng, n))
    D = hard_matrices(rng, n)[names[seed % len(names)]].astype(dtype)
    m = rng.integers(1, 4, n).astype(float)
    screen = FieldScreen(DenseSource(D, symmetric=False), 1)
    winner = rng.integers(0, K, n)
    for step in range(12):
        H = h(np.abs(np.subtract.outer(np.arange(K), np.arange(K))), 10.0 ** (1 - step / 4))
        weights = FieldWeights(H, winner, m)
        screen.options(weights)
        exact = np.array([(m[winner == k, None] * D[winner == k].astype(float)).sum(axis=0) for k in range(K)])
        assert np.all(np.abs(screen.sums.S - exact) <= screen.sums.error[:, None] + 1e-13 * exact)
        for kind in ("dense", "sparse"):
            assert_lower(screen.bounds(kind, weights)[0], weights.A, D)
        moves = rng.random(n) < rng.choice([0.02, 0.3, 1.0])
        winner = np.where(moves, rng.integers(0, K - step % 2, n), winner)


def test_products_by_heavy_entries_leave_the_light_ones_out(rng):
    W, M = as_float32(rng.random((5, 40)) ** 4), rng.random((40, 30), dtype=np.float32)
    dense, sparse = dense_product(W, M, 1), sparse_product(heavy_entries(W, np.float32(0.1)), M, 1)
    np.testing.assert_allclose(dense.L, W @ M, rtol=1e-5)
    np.testing.assert_allclose(sparse.L, np.where(W >= 0.1, W, 0) @ M, rtol=1e-5)
    assert np.all(sparse.L <= dense.L * (1 + 1e-5))


@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from([np.float32, np.float64]), sigma=st.floats(0.02, 20))
@settings(max_examples=60)
def test_winners_equal_the_canonical_argmin(seed, dtype, sigma):
    rng = np.random.default_rng(seed)
    K, n = int(rng.integers(1, 30)), 70
    kind = seed % 4
    G = [rng.random((n, K)), rng.integers(0, 3, (n, K)) / 2, np.zeros((n, K)), 10.0 ** rng.uniform(-30, 37, (n, K))][
        kind
    ]
    G = G.astype(dtype)
    H = h(np.abs(np.subtract.outer(np.arange(K), np.arange(K))), sigma)
    winner, cost = smoothed_winners(np.ascontiguousarray(G.T), H, 1)
    expected = reference.product(G.astype(float), H)
    np.testing.assert_array_equal(winner, expected.argmin(axis=1))
    np.testing.assert_array_equal(cost, expected.min(axis=1))


@given(
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from([np.float32, np.float64, np.int64]),
    order=st.sampled_from("CF"),
)
@settings(max_examples=60)
def test_nearest_is_the_lowest_argmin(seed, dtype, order):
    rng = np.random.default_rng(seed)
    N, K = int(rng.integers(1, 400)), int(rng.integers(1, 30))
    G = np.asarray(rng.integers(-3, 4, (N, K)), dtype=dtype, order=order)
    winner, least = nearest(G)
    assert winner.dtype == np.intp
    np.testing.assert_array_equal(winner, G.argmin(axis=1))
    np.testing.assert_array_equal(least, G.min(axis=1))


def test_a_choice_avoids_what_left_too_much_over_and_tries_it_again_later():
    choice = Choice({"fast": 0.5})
    work = {"fast": 1.0, "safe": 100.0}
    assert choice.best(work, terms=1) == "fast"
    choice.left["fast"] = 1000.0
    assert choice.best(work, terms=1) == "safe"
    for _ in range(12):
        choice.next_epoch()
    assert choice.best(work, terms=1) == "fast"


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric", "ties"])
def test_certified_equals_standard_on_problems_large_enough_for_every_screen(kind, rng):
    n = 1200  # above the size from which the low-rank picture is used
    D = matrix(kind, n, rng).astype(np.float32)
    start = rng.permutation(n)[:24]
    params = {"n_epochs": 12, "metric": "precomputed", "init": start, "random_state": 0, "annealing": "median"}
    for make in (lambda s: MedianNeuralGas(24, search=s, **params),
                 lambda s: MedianSOM((4, 6), search=s, **params)):  # fmt: skip
        fast, slow = make("certified").fit(D), make("gemm").fit(D)
        np.testing.assert_array_equal(fast.medoid_indices_, slow.medoid_indices_)
        np.testing.assert_array_equal(fast.history_["cost"], slow.history_["cost"])
        assert fast.history_["terms"].sum() < slow.history_["terms"].sum()


@pytest.mark.parametrize(
    ("dissimilarities", "weights"),
    [(1e60, 1), (1e60, 1e-60), (1e45, 1e-40), (1e-30, 1e40), (1e-39, 1), (1e-60, 1e60), (1, 1e-50), (1e-200, 1e200)],
)
def test_numbers_outside_the_range_of_float32_are_left_to_float64(dissimilarities, weights, rng, monkeypatch):
    monkeypatch.setattr("medianmap.search.rank_screen.SMALLEST_LOW_RANK", (1, 1))
    D, m = matrix("symmetric", 80, rng) * dissimilarities, rng.uniform(0.5, 2, 80) * weights
    params = {"metric": "precomputed", "random_state": 0, "n_epochs": 8, "annealing": "median"}
    fast, slow = (MedianNeuralGas(20, search=s, **params).fit(D, sample_weight=m) for s in ("certified", "standard"))
    np.testing.assert_array_equal(fast.medoid_indices_, slow.medoid_indices_)


def test_bounds_of_the_nearest_points_are_kept_while_ranks_are(rng):
    weights = rank_weights(rng, 8, 60, 0.05)
    screen = rank_screen(rng.random((60, 60)))
    screen.options(weights)
    assert screen.heavy_ranks(weights) is screen.heavy_ranks(weights)
    assert screen.options(weights)["ranks"] == 0.0
