"""Ranks by sorted keys equal the stable sort of the dissimilarities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medianmap.core.ranks import FEW, changed_rows, rank_points, ranks_after

KINDS = {
    "floats": lambda rng, shape: rng.random(shape),
    "close": lambda rng, shape: 1 + 1e-12 * rng.random(shape),
    "ties": lambda rng, shape: rng.integers(0, 5, shape) / 2,
    "zero": lambda rng, shape: np.zeros(shape),
    "huge": lambda rng, shape: 10.0 ** rng.uniform(-320, 300, shape),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(kind=st.sampled_from(sorted(KINDS)), K=st.integers(1, 40), n=st.integers(1, 600), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=80)
def test_ranks_are_those_of_a_stable_sort(dtype, kind, K, n, seed):
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore", under="ignore"):
        GT = KINDS[kind](rng, (K, n)).astype(dtype)
    m = rng.random(n)
    ranks = rank_points(GT, m)
    order = np.argsort(GT.T, axis=1, kind="stable")
    np.testing.assert_array_equal(ranks.rank.T, np.argsort(order, axis=1, kind="stable"))
    expected = (m[:, None] * np.take_along_axis(GT.T.astype(float), order, axis=1)).sum(axis=0)
    np.testing.assert_allclose(ranks.sums, expected, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    kind=st.sampled_from(sorted(KINDS)), K=st.integers(1, 40), n=st.integers(1, 1500), seed=st.integers(0, 2**32 - 1)
)
@settings(max_examples=80)
def test_ranks_brought_up_to_date_are_those_of_a_sort(dtype, kind, K, n, seed):
    """Also where prototypes move onto each other, and where a row that was written anew is the same as before."""
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore", under="ignore"):
        GT = KINDS[kind](rng, (K + 5, n)).astype(dtype)
    m, w = rng.random(n), np.arange(K)
    ranks = rank_points(GT[w], m)
    for _ in range(3):
        w[rng.integers(K, size=rng.integers(0, FEW + 1))] = rng.integers(K + 5)
        ranks, anew = ranks_after(ranks, GT[w], m), rank_points(GT[w], m)
        np.testing.assert_array_equal(ranks.rank, anew.rank)
        np.testing.assert_array_equal(ranks.sums, anew.sums)


def test_rows_that_changed_are_found_by_their_last_entry_too(rng):
    before = rng.random((70, 200))
    after = before.copy()
    after[[3, 69], [199, 0]] += 1
    np.testing.assert_array_equal(changed_rows(before, after), [3, 69])


@pytest.mark.parametrize("K", [2, 3, 255, 256, 257, 1500])
def test_any_number_of_prototypes(K, rng):
    GT = rng.random((K, 5))
    rank = rank_points(GT, np.ones(5)).rank
    np.testing.assert_array_equal(rank, np.argsort(np.argsort(GT, axis=0, kind="stable"), axis=0, kind="stable"))


def test_threads_change_nothing(rng):
    GT, m = rng.random((30, 3000), dtype=np.float32), rng.random(3000)
    one, two = (rank_points(GT, m, n) for n in (1, 2))
    np.testing.assert_array_equal(one.rank, two.rank)
    np.testing.assert_array_equal(one.sums, two.sums)
