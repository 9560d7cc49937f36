"""Compiled placing equals the frame's own, prototype by prototype, whatever the bounds and whoever moves first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import KINDS, matrix

from medianmap.core.neighborhood import h
from medianmap.search import make_search
from medianmap.search.certified import CertifiedFinder
from medianmap.search.exhaustive import product_costs
from medianmap.search.frame import FieldWeights, RankWeights
from medianmap.search.screens import Bounded
from medianmap.sources import DenseSource


def of_ranks(D, w, sigma, m):
    """Weights of neural gas with prototypes on the points w."""
    order = np.argsort(D[:, w], axis=1, kind="stable")
    return RankWeights(np.argsort(order, axis=1).T.astype(np.int16), h(np.arange(len(w)), sigma), m)


@given(
    kind=st.sampled_from(KINDS),
    distinct=st.booleans(),
    crowded=st.booleans(),
    twice=st.booleans(),
    loose=st.sampled_from([0.0, 0.05, 1.0]),
    known=st.sampled_from([None, 0.0, 0.1]),
    threads=st.sampled_from([1, 2]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=200)
def test_places_are_those_of_the_exhaustive_search(kind, distinct, crowded, twice, loose, known, threads, seed):
    """Also where places are left and taken in the same epoch, or shared by two prototypes at the start."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    K = max(1, n - int(rng.integers(0, 4))) if crowded else int(rng.integers(1, min(n, 40) + 1))
    D, m, w = matrix(kind, n, rng), rng.integers(1, 4, n).astype(float), rng.permutation(n)[:K]
    if twice:
        w[-1] = w[0]
    weights = of_ranks(D, w, rng.uniform(0.1, 5), m)
    source, X = DenseSource(D, symmetric=False), np.ascontiguousarray(D.T)
    slow = product_costs(weights.A, source)
    low = slow.C * (1 - loose * rng.random(slow.C.shape)) * (1 - 1e-6)
    bounds = Bounded(low.astype(np.float32), 1e-6, np.full(K, 1e-37))
    upper = None
    if known is not None:  # at least the cost of where they are
        costs = np.array([slow.evaluate(j, w[j : j + 1])[0] for j in range(K)])
        upper = np.where(rng.random(K) < 0.8, costs * (1 + known * rng.random(K)), np.inf)
    fast = CertifiedFinder(weights, source, bounds, X, 0, threads, upper)
    expected = slow.place(weights.alive, w, distinct)
    np.testing.assert_array_equal(fast.place(weights.alive, w, distinct), expected)
    placed, cost = fast.placed
    np.testing.assert_array_equal(placed, expected)
    exact = np.array([slow.evaluate(j, placed[j : j + 1])[0] for j in range(K)])
    assert np.all(cost >= exact)
    if upper is None:
        np.testing.assert_array_equal(cost, exact)


@pytest.mark.parametrize(
    ("second", "upper", "expected"),
    [
        ([1, 4, 9, 9, 3, 9], np.inf, [3, 0, 1]),  # better than any free place is the one that the first has just left
        ([1, 4, 9, 9, 5, 9], 4.5, [3, 0, 1]),
        ([3.5, 3, 9, 9, 9, 9], 4.0, [3, 1, 2]),  # the upper bound is not what staying costs
        ([3, 3, 9, 9, 9, 9], 3.0, [3, 0, 1]),  # a tie goes to the lower index
    ],
)
def test_a_place_that_was_left_is_compared_with_the_best_of_the_others(second, upper, expected):
    """Costs of three prototypes are the first three rows of D; the first moves from 0 to 3, and so on."""
    D = np.zeros((6, 6))
    D[:3] = [5, 9, 9, 1, 9, 9], second, [9, 1, 5, 9, 9, 9]
    weights = FieldWeights(np.eye(3), np.array([0, 1, 2, 2, 2, 2]), np.ones(6))
    bounds = Bounded(D[:3].astype(np.float32), 1e-6, np.zeros(3))
    known = np.array([np.inf, upper, np.inf])
    finder = CertifiedFinder(weights, DenseSource(D, symmetric=False), bounds, D.T.copy(), 0, 1, known)
    np.testing.assert_array_equal(finder.place(weights.alive, np.arange(3), True), expected)
    slow = product_costs(weights.A, DenseSource(D, symmetric=False))
    np.testing.assert_array_equal(slow.place(weights.alive, np.arange(3), True), expected)


@pytest.mark.parametrize("kind", ["symmetric", "ties", "duplicates"])
@pytest.mark.parametrize("distinct", [True, False])
def test_costs_of_the_last_epoch_bound_those_of_the_next(kind, distinct, rng):
    """While ranks and places stay, sigma falls: places as by an exhaustive search, mostly without evaluation."""
    n, K = 120, 9
    D, m = matrix(kind, n, rng), np.ones(n)
    source, w = DenseSource(D, symmetric=False), rng.permutation(n)[:K]
    fast, slow = (make_search(s, source, 1) for s in ("certified", "standard"))
    known, evaluated = None, []
    for sigma in [1.0] * 15 + list(np.geomspace(1, 0.01, 40)):
        weights = of_ranks(D, w, sigma, m)
        if known is not None and np.array_equal(known.rank, weights.rank):
            weights = RankWeights(known.rank, weights.weight_of_rank, m)  # the very same ranks, as Rank keeps them
        known = weights
        finder = fast(weights, w)
        after = finder.place(weights.alive, w, distinct)
        np.testing.assert_array_equal(after, slow(weights, w).place(weights.alive, w, distinct))
        evaluated.append(finder.evaluated)
        w = after
    if kind == "symmetric":
        assert max(evaluated[-5:]) == 0  # nothing is left to prove


def test_costs_of_the_last_epoch_are_forgotten_when_anything_but_a_fall_of_weights_happened(rng):
    n, K = 40, 5
    D, m, w = matrix("symmetric", n, rng), np.ones(n), np.arange(5)
    source = DenseSource(D, symmetric=True)
    weights = of_ranks(D, w, 1.0, m)
    finder = make_search("certified", source, 1)(weights, w)
    w = finder.place(weights.alive, w, True)

    def again(sigma=0.5, ranks=weights.rank, m=m, w=w):
        return finder.still_at_most(RankWeights(ranks, h(np.arange(K), sigma), m), w)

    assert again() is not None
    assert again(sigma=2.0) is None
    assert again(ranks=weights.rank[::-1].copy()) is None
    assert again(m=np.ones(n)) is None
    assert again(w=w[::-1]) is None
    H, winner = np.eye(3) + 0.5, rng.integers(0, 3, n)
    fields = FieldWeights(H, winner, m)
    finder = make_search("certified", source, 1)(fields, np.arange(3))
    w = finder.place(fields.alive, np.arange(3), True)
    assert finder.still_at_most(FieldWeights(H - 0.1, winner.copy(), m), w) is not None
    assert finder.still_at_most(FieldWeights(H + 0.1, winner, m), w) is None
    assert finder.still_at_most(FieldWeights(H - 0.1, (winner + 1) % 3, m), w) is None
