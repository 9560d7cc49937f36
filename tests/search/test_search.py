"""The canonical cost and the frame: bounds hold for every pair, ties go to the lowest index."""

from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import KINDS, matrix

from medianmap import MedianNeuralGas, MedianSOM, reference
from medianmap.core.neighborhood import h
from medianmap.search import STRATEGIES, make_search
from medianmap.search.canonical import LANES, canonical_costs
from medianmap.search.frame import FieldWeights, RankWeights, Screened
from medianmap.sources import CondensedSource, DenseSource, base

SCALES = (1.0, 1e12, 1e-290, 1e-310)


def fields(rng, K, n, sigma):
    """Weights as a SOM on a chain has them, with empty fields and multiplicities."""
    winner = rng.integers(0, max(1, K // 2), n)
    H = h(np.abs(np.subtract.outer(np.arange(K), np.arange(K))), sigma)
    return FieldWeights(H, winner, rng.integers(1, 4, n).astype(float))


def ranks(rng, K, n, sigma):
    """Weights as neural gas has them; the last prototype is never the nearest."""
    rank = np.argsort(np.argsort(rng.random((n, K)) + (np.arange(K) == K - 1), axis=1), axis=1).T.astype(np.int32)
    return RankWeights(rank, h(np.arange(K), sigma), rng.integers(1, 4, n).astype(float))


def weights_for(search, rng, K, n, sigma):
    return (fields if FieldWeights in STRATEGIES[search].takes else ranks)(rng, K, n, sigma)


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
    from medianmap.core import neighborhood, spaces

    assert reference.LANES == LANES
    assert reference.NOISE == spaces.NOISE
    t = np.linspace(0, 800, 5000)
    np.testing.assert_array_equal(reference.h(t, 1.0), neighborhood.h(t, 1.0))


@pytest.mark.parametrize("sigma", [0.02, 0.6, 20.0])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("search", STRATEGIES)
def test_every_cost_keeps_the_promise_on_which_the_proof_rests(search, kind, scale, sigma, rng):
    """c (1 - slack) - tiny <= canonical for each finite c, and no candidate of infinite c is the best."""
    n, K = 90, 7
    D = matrix(kind, n, rng) * scale
    source = DenseSource(D, symmetric=bool((D == D.T).all()))
    weights = weights_for(search, rng, K, n, sigma)
    finder = make_search(search, source)(weights, rng.permutation(n)[:K])
    canonical = reference.product(weights.A, D)
    taken = rng.random(n) < 0.3
    for j in weights.alive:
        for mask in (np.zeros(n, bool), taken):
            row, free = finder.costs(j, mask), ~mask
            finite = np.isfinite(row)
            assert not finite[~free].any()
            assert np.all(row[finite] * (1 - finder.slack) - finder.tiny <= canonical[j, finite])
            least = canonical[j, free].min()
            assert finite[free & (canonical[j] == least)].all()
            best = np.flatnonzero(free & (canonical[j] == least))[0]
            assert finder.best(j, mask) == best


@pytest.mark.parametrize("search", STRATEGIES)
def test_near_ties_inside_the_rounding_error_are_told_apart_canonically(search, rng):
    """0.1 + 0.2 + 0.3 depends on the order, so that costs in other orders would disagree with each other."""
    n, K = 200, 3
    D = np.full((n, n), 1e3)
    terms = rng.choice([0.1, 0.2, 0.3], n)
    D[:, :40] = np.array([rng.permutation(terms) for _ in range(40)]).T  # 40 candidates, the same terms in other orders
    if FieldWeights in STRATEGIES[search].takes:
        weights = FieldWeights(np.ones((K, K)), rng.integers(0, K, n), np.ones(n))
    else:
        weights = RankWeights(np.tile(np.arange(K, dtype=np.int32)[:, None], n), np.ones(K), np.ones(n))
    finder = make_search(search, DenseSource(D, symmetric=False))(weights, np.arange(K))
    assert finder.best(0) == reference.product(weights.A, D)[0].argmin()


@pytest.mark.parametrize("search", [name for name, each in STRATEGIES.items() if FieldWeights in each.takes])
def test_a_field_is_not_passed_over_for_what_rounding_adds_to_its_bound(search, rng):
    """Every point is a field: its bound is the cost of the one candidate in it, summed in another order."""
    n = 60
    weights = FieldWeights(np.ones((n, n)), np.arange(n), np.ones(n))
    for _ in range(10):
        terms = rng.choice([0.1, 0.2, 0.3], n)
        D = np.array([rng.permutation(terms) for _ in range(n)]).T
        finder = make_search(search, DenseSource(D, symmetric=False))(weights, np.arange(n))
        assert finder.best(0) == reference.product(weights.A[:1], D)[0].argmin()


def test_near_ties_are_told_apart_for_all_prototypes_at_once(rng):
    terms = rng.choice([0.1, 0.2, 0.3], 200)
    D = np.array([rng.permutation(terms) for _ in range(40)])
    A = rng.choice([1.0, 2.0], (5, 1)) * np.ones(200)
    C = A[:, ::-1].copy() @ D[:, ::-1].T.copy()  # the same terms in another order than the canonical one
    found = Screened(A.__getitem__, DenseSource(np.ascontiguousarray(D.T), symmetric=False), C, 0).best_of_all()
    np.testing.assert_array_equal(found, reference.product(A, D.T).argmin(axis=1))


def test_the_lowest_index_wins_and_taken_candidates_are_passed_over():
    D = np.array([[0.0, 2, 2, 9], [2, 0, 2, 9], [2, 2, 0, 9], [9, 9, 9, 0]])
    for search, strategy in STRATEGIES.items():
        if FieldWeights not in strategy.takes:
            continue
        weights = FieldWeights(np.eye(2), np.array([0, 0, 0, 1]), np.ones(4))
        finder = make_search(search, DenseSource(D, symmetric=True))(weights, np.array([0, 3]))
        order, taken = [], np.zeros(4, bool)
        for _ in range(4):
            order.append(finder.best(0, taken))
            taken[order[-1]] = True
        assert order == [0, 1, 2, 3], search


def test_terms_are_counted():
    """Ten points on a line, one field: blocks need N^2 terms and a term a cost, loops N^2 for each prototype."""
    n, K = 10, 3
    D = np.abs(np.subtract.outer(np.arange(10.0), np.arange(10.0)))
    source = CondensedSource(D[np.triu_indices(n, 1)], n)
    weights = FieldWeights(np.ones((K, K)), np.zeros(n, int), np.ones(n))
    start = np.arange(K)
    assert make_search("standard", source)(weights, start).terms == K * n * n
    assert make_search("gemm", source)(weights, start).terms == K * n * n
    finder = make_search("blocksum", source)(weights, start)
    assert finder.terms == n * n + K * n
    finder.best(0)
    # 4 and 5 tie: one canonical evaluation of the favourite, then of both.
    assert finder.terms == n * n + K * n + 3 * n


def test_terms_of_minima_are_counted():
    n, K = 10, 3
    source = CondensedSource(np.ones(n * (n - 1) // 2), n)
    weights = FieldWeights(np.ones((K, K)), np.arange(n) // 4, np.ones(n))
    assert make_search("bound-self", source)(weights, np.arange(K)).terms == n * n + n * K


def test_the_chapters_ideas_save_terms(rng):
    """Ordered data: the refinements of the chapter evaluate fewer and fewer terms."""
    x = np.sort(rng.random(300))
    D = np.abs(np.subtract.outer(x, x))

    params = {"metric": "precomputed", "n_epochs": 20, "random_state": 0, "annealing": "median"}

    def terms(estimator):
        return estimator.fit(D).history_["terms"].sum()

    som = {s: terms(MedianSOM((1, 20), search=s, **params))
           for s in ("standard", "blocksum", "bound-self", "bound-all", "bound-all-stop")}  # fmt: skip
    assert som["standard"] > 5 * som["blocksum"]
    assert som["blocksum"] > som["bound-all"] > 0.5 * som["bound-all-stop"]
    gas = {s: terms(MedianNeuralGas(20, search=s, **params))
           for s in ("standard", "stop", "stop-candidates", "stop-fine", "stop-coarse")}  # fmt: skip
    assert gas["standard"] > gas["stop"] > gas["stop-candidates"] > gas["stop-fine"]
    assert gas["stop-coarse"] < 0.5 * gas["standard"]


@pytest.mark.parametrize(("estimator", "search"), [(MedianSOM, "stop"), (MedianNeuralGas, "blocksum")])
def test_a_search_that_does_not_fit_names_those_that_do(estimator, search, rng):
    with pytest.raises(
        ValueError, match=rf"search='{search}' does not fit {estimator.__name__}; choose one of 'auto', "
    ):
        estimator((2, 2) if estimator is MedianSOM else 4, search=search).fit(rng.random((20, 2)))


def test_searches_that_hop_between_candidates_refuse_matrices_too_large_to_copy(rng, monkeypatch):
    monkeypatch.setattr(base, "KEEP_BYTES", 1000)
    v = rng.random(190)
    with pytest.raises(ValueError, match=r"20 x 20 matrix in memory.*choose search='auto'"):
        MedianNeuralGas(3, metric="precomputed", search="stop-fine").fit(v)
    assert MedianNeuralGas(3, metric="precomputed").fit(v).labels_.shape == (20,)
