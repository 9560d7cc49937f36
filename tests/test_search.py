"""The canonical cost and the frame: bounds hold for every pair, ties go to the lowest index."""

from dataclasses import dataclass
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KINDS, matrix

from medianmap import reference
from medianmap.search import STRATEGIES
from medianmap.search.canonical import LANES, canonical_costs
from medianmap.sources import CondensedSource, DenseSource


@dataclass(frozen=True)
class PlainWeights:
    """Any matrix A as weights, for strategies that ask for no factors."""

    A: np.ndarray

    def row(self, j):
        return self.A[j]


def finder_for(search, A, source):
    return STRATEGIES[search].make(source, None)(PlainWeights(A))


@given(n=st.integers(0, 300), seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1.0, 1e12, 1e-300, 5e-324]))
@settings(max_examples=150)
def test_canonical_costs_are_the_reference_product_to_the_last_bit(n, seed, scale):
    rng = np.random.default_rng(seed)
    A, D = rng.random((2, n)), rng.random((n, 3)) * scale
    ours = np.array([canonical_costs(a, np.ascontiguousarray(D.T)) for a in A])
    np.testing.assert_array_equal(ours, reference.product(A, D))
    exact = np.array([[fsum(a * d) for d in D.T] for a in A])
    np.testing.assert_allclose(ours, exact, rtol=1e-13, atol=1e-320)


def test_reference_and_kernel_state_the_same_constants():
    from medianmap import neighborhood, spaces

    assert reference.LANES == LANES
    assert reference.NOISE == spaces.NOISE
    t = np.linspace(0, 800, 5000)
    np.testing.assert_array_equal(reference.h(t, 1.0), neighborhood.h(t, 1.0))


@pytest.mark.parametrize("search", STRATEGIES)
@pytest.mark.parametrize("scale", [1.0, 1e12, 1e-290, 1e-310])
@pytest.mark.parametrize("kind", KINDS)
def test_the_screen_keeps_its_promise_for_every_pair(kind, scale, search, rng):
    """|C - canonical cost| <= slack C + tiny for all (j, l): on this rests the proof in frame.Screened."""
    n, K = 150, 6
    D = matrix(kind, n, rng) * scale
    A = np.exp(-rng.integers(0, 600, (K, n)) / rng.choice([0.5, 3.0, 50.0]))
    source = DenseSource(D, symmetric=bool((D == D.T).all()))
    screened = finder_for(search, A, source)
    canonical = reference.product(A, D)
    assert np.all(np.abs(screened.C - canonical) <= screened.slack * screened.C + screened.tiny)
    for j in range(K):
        assert screened.best(j, None) == canonical[j].argmin()
    np.testing.assert_array_equal(screened.best_of_all(), canonical.argmin(axis=1))


@pytest.mark.parametrize("search", STRATEGIES)
def test_the_lowest_index_wins_and_taken_candidates_are_passed_over(search):
    D = np.array([[0.0, 2, 2, 9], [2, 0, 2, 9], [2, 2, 0, 9], [9, 9, 9, 0]])
    finder = finder_for(search, np.array([[1.0, 1, 1, 0]]), DenseSource(D, symmetric=True))
    order = []
    taken = np.zeros(4, bool)
    for _ in range(4):
        order.append(finder.best(0, taken))
        taken[order[-1]] = True
    assert order == [0, 1, 2, 3]


@pytest.mark.parametrize("search", STRATEGIES)
def test_near_ties_inside_the_rounding_error_are_told_apart_canonically(search):
    """Terms that cancel no two ways: 0.1 + 0.2 + 0.3 depends on the order, so the screens alone would disagree."""
    rng = np.random.default_rng(0)
    column = rng.choice([0.1, 0.2, 0.3], 200)
    D = np.array([rng.permutation(column) for _ in range(40)]).T  # 40 candidates, the same terms in other orders
    square = np.zeros((200, 200))
    square[:, :40] = D
    square[:, 40:] = 1e3
    A = np.ones((1, 200))
    finder = finder_for(search, A, DenseSource(square, symmetric=False))
    assert finder.best(0, None) == reference.product(A, square)[0].argmin()


def test_terms_are_counted():
    D = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    source = CondensedSource(D[np.triu_indices(10, 1)], 10)
    for search in STRATEGIES:
        finder = finder_for(search, np.ones((3, 10)), source)
        assert finder.terms == 300
        finder.best(0, None)
        # 4 and 5 tie: one evaluation of the favourite, then of both.
        assert finder.terms == 330
