"""Arrangement: the best of all permutations where they can be tried, and never worse than the start."""

from itertools import combinations, permutations

import numpy as np
import pytest
from support.maps import blob_distances

from medianmap import arrange, as_dissimilarity, reference
from medianmap.core.neighborhood import make_lattice
from medianmap.core.quality import topographic_error
from medianmap.refine import swap_medoids
from medianmap.refine.arrangement import LANES, _change, _columns_at, _padded, _settle, _touching, best_arrangement
from medianmap.refine.map_cost import MapState


def state_of(D, w, lattice, m=None):
    return MapState.of(np.array(D[:, w]), np.array(w), np.ones(len(D)) if m is None else m, lattice, 0.1)


@pytest.mark.parametrize("grid", [(1, 3), (2, 2), (1, 5), (2, 3), (1, 7)])
@pytest.mark.parametrize("kind", ["hexagonal", "rectangular"])
@pytest.mark.parametrize("seed", range(3))
def test_no_permutation_is_better(grid, kind, seed):
    rng = np.random.default_rng(seed)
    D, m = blob_distances(rng, 40, 5), rng.uniform(0.5, 2, 40)
    lattice, w = make_lattice(grid, kind), rng.permutation(40)[: grid[0] * grid[1]]
    least = np.inf
    for p in permutations(w):
        state = state_of(D, p, lattice, m)
        least = min(least, state.disorder)
    state = state_of(D, w, lattice, m)
    state.permute(best_arrangement(state, np.random.default_rng(0)))
    assert state.disorder == pytest.approx(least, abs=1e-9)


def no_exchange_is_left(state):
    now, K = state.disorder, len(state.w)
    for j, k in combinations(range(K), 2):
        p = np.arange(K)
        p[[j, k]] = k, j
        state.permute(p)
        better = state.disorder < now - 1e-9
        state.permute(p)
        if better:
            return False
    return True


@pytest.mark.parametrize("grid", [(3, 4), (5, 6)])
def test_never_worse_and_no_exchange_is_left(grid, rng, monkeypatch):
    lattice, K = make_lattice(grid), grid[0] * grid[1]
    for drawn in (2000, 0):  # without annealing, too
        monkeypatch.setattr("medianmap.refine.arrangement.DRAWN", drawn)
        D = rng.random((150, 150))
        state = state_of(D, rng.permutation(150)[:K], lattice)
        before = state.disorder
        state.permute(best_arrangement(state, rng))
        now = state.disorder
        assert now < before
        assert no_exchange_is_left(state)
        state.permute(best_arrangement(state, rng))
        assert state.disorder <= now


def test_a_good_start_that_annealing_does_not_reach_is_settled_itself(rng, monkeypatch):
    D, lattice = blob_distances(rng, 300, 30), make_lattice((5, 6))
    state = state_of(D, rng.permutation(300)[:30], lattice)
    state.permute(best_arrangement(state, rng))
    p = np.arange(30)
    p[[3, 20]] = 20, 3
    state.permute(p)
    before = state.disorder
    for name, value in {"DRAWN": 50, "HOT": 1e6, "COLD": 1e6}.items():
        monkeypatch.setattr(f"medianmap.refine.arrangement.{name}", value)
    state.permute(best_arrangement(state, rng))
    assert state.disorder < before
    assert no_exchange_is_left(state)


def test_the_assignment_problem_is_the_disorder(rng):
    D, m, lattice = rng.random((80, 80)), rng.uniform(0.5, 2, 80), make_lattice((3, 4))
    state = state_of(D, rng.permutation(80)[:12], lattice, m)
    C, F = state.assignment_problem()
    for _ in range(5):
        p = rng.permutation(12)
        f = (state.apart * C[np.ix_(p, p)]).sum() - (state.nd * F[np.ix_(p, p)]).sum()
        other = state_of(D, state.w[p], lattice, m)
        assert f + 1 == pytest.approx(other.disorder)


def test_exemplars_that_are_all_equally_far_from_each_other_have_no_far_order():
    D = 0.1 * (1 - np.eye(12))
    found = arrange(D, np.arange(6), (2, 3))
    assert (found.far_order, found.before[1]) == (0.0, 0.0)
    assert reference.map_parts(D, np.arange(6), found.lattice.distances, np.ones(12))[2] == 0.0


def test_a_path_is_laid_out_as_a_path(rng):
    x = np.sort(rng.uniform(size=200))
    D = np.abs(np.subtract.outer(x, x))
    w = rng.permutation(np.arange(10, 200, 20))
    found = arrange(D, w, (1, 10))
    order = found.medoid_indices.tolist()
    assert order in (sorted(order), sorted(order, reverse=True))
    assert (found.topographic_error, found.before[0] > 0.5) == (0.0, True)
    assert found.far_order > 0.9 > found.before[1]


def test_medoids_of_another_program(rng):
    D = blob_distances(rng, 300, 12)
    medoids = swap_medoids(D, rng.permutation(300)[:20]).medoids
    found = arrange(D, medoids, (4, 5), lattice="rectangular")
    assert sorted(found.medoid_indices) == sorted(medoids)
    np.testing.assert_array_equal(found.labels, D[:, found.medoid_indices].argmin(axis=1))
    lattice = make_lattice((4, 5), "rectangular")
    assert found.lattice == lattice
    assert found.topographic_error == topographic_error(D[:, found.medoid_indices], lattice) < found.before[0]
    assert found.before[0] == topographic_error(D[:, medoids], lattice)
    np.testing.assert_array_equal(
        arrange(D, medoids, (4, 5), lattice="rectangular").medoid_indices, found.medoid_indices
    )
    weighted = arrange(D, medoids, (4, 5), sample_weight=np.arange(300) % 2)
    assert sorted(weighted.medoid_indices) == sorted(medoids)


def test_exemplars_by_name(rng):
    D = blob_distances(rng, 30, 4)
    ids = [f"p{k}" for k in range(30)]
    named = arrange(as_dissimilarity(D, ids=ids), ["p3", "p9", "p20", "p14"], (2, 2))
    np.testing.assert_array_equal(named.medoid_indices, arrange(D, [3, 9, 20, 14], (2, 2)).medoid_indices)
    with pytest.raises(ValueError, match=r"'q1' is not among the ids.*2 of 4"):
        arrange(as_dissimilarity(D, ids=ids), ["p3", "q1", "p2", "q3"], (2, 2))
    with pytest.raises(ValueError, match="'p3' is an id, but the data have none"):
        arrange(D, ["p3", "p4"], (1, 2))


@pytest.mark.parametrize(
    ("exemplars", "grid", "message"),
    [
        ([1, 2, 3], (2, 2), "3 exemplars for the 4 neurons.*1x3"),
        (range(12), (3, 3), "12 exemplars for the 9 neurons.*3x4"),
        ([1, 1], (1, 2), "point 1 twice"),
        ([1, 20], (1, 2), "index 20.*0 to 19"),
        ([], (1, 2), "one or more"),
        ([0.5, 1.5], (1, 2), "indices of data points"),
    ],
)
def test_mistakes(exemplars, grid, message):
    with pytest.raises(ValueError, match=message):
        arrange(np.ones((20, 20)) - np.eye(20), list(exemplars), grid)


def test_the_change_of_an_exchange_is_that_of_the_cost(rng):
    K, lattice = 40, make_lattice((5, 8))  # more than one row of lanes
    state = state_of(rng.random((90, 90)), rng.permutation(90)[:K], lattice, rng.uniform(0.5, 2, 90))
    C, F = state.assignment_problem()

    def f(p):
        return (state.apart * C[np.ix_(p, p)]).sum() - (state.nd * F[np.ix_(p, p)]).sum()

    p, near, nd = rng.permutation(K), _touching(state.apart), _padded(state.nd)
    N = _columns_at(nd, p)
    for j, k in combinations(range(K), 2):
        other = p.copy()
        other[[j, k]] = p[[k, j]]
        found = _change(near, C, N, _padded(F), p, j, k, np.empty(LANES))
        assert found == pytest.approx(f(other) - f(p), abs=1e-12)
    before = f(p)
    change = _settle(near, state.apart, state.nd, C, N, _padded(F), p)
    assert change < -0.01
    assert f(p) - before == pytest.approx(change, abs=1e-12)
    np.testing.assert_array_equal(N, _columns_at(nd, p))
