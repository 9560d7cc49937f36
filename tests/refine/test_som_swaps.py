"""Refinement of a SOM: its cost against the definition, local optima of both kinds of moves, order for its price."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import blob_distances, grid_of
from support.strategies import cases, matrix

from medianmap.core.neighborhood import make_lattice
from medianmap.core.quality import topographic_error
from medianmap.refine import candidates, descent, refine_som, som_swaps, swap_medoids
from medianmap.refine.arrangement import best_arrangement
from medianmap.refine.candidates import Block
from medianmap.refine.map_cost import MapState
from medianmap.refine.som_swaps import _SwapMoves


def parts(D, w, lattice, m):
    """(Q, t, r) by their definitions: sums over points and over pairs of points."""
    D, N, K = D.astype(np.float64), len(D), len(w)
    nearest = [sorted(range(K), key=lambda j: (D[i, w[j]], w[j]))[:2] for i in range(N)]
    Q = sum(m[i] * D[i, w[nearest[i][0]]] for i in range(N))
    torn = [not lattice.neighbors[f, s] for f, s in nearest] if K > 1 else np.zeros(N)
    field = np.array([near[0] for near in nearest])
    i, k = np.nonzero(field[:, None] != field[None])
    if not len(i):
        return Q, np.average(torn, weights=m), 0.0
    weight = m[i] * m[k]
    e = (D[w[field[i]], w[field[k]]] + D[w[field[k]], w[field[i]]]) / 2
    e = e - np.average(e, weights=weight)
    s_e = np.sqrt(np.average(e**2, weights=weight))
    s_nd = lattice.distances[~np.eye(K, dtype=bool)].std()
    r = np.average(e * lattice.distances[field[i], field[k]], weights=weight)
    return Q, np.average(torn, weights=m), r / (s_e * s_nd) if s_e > 1e-6 * D.max() and s_nd > 1e-9 else 0.0


def cost(D, w, lattice, m, order, r=None):
    """J; with r, that of another map in the place of its own."""
    Q, t, own = parts(D, w, lattice, m)
    return Q * (1 + order * max(t + 1 - (own if r is None else r), 0.0))


def state_of(D, w, lattice, m, order):
    return MapState.of(np.array(D[:, w]), w, m, lattice, order)


KINDS = ["symmetric", "asymmetric", "ties", "duplicates"]
GRIDS = [(1, 2), (1, 3), (2, 3), (3, 4)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("lattice", ["hexagonal", "rectangular"])
def test_the_cost_is_that_of_the_definition_after_any_move(kind, grid, lattice, rng):
    D, m, K = matrix(kind, 30, rng), rng.uniform(0.5, 2, 30), grid[0] * grid[1]
    lattice = make_lattice(grid, lattice)
    state = state_of(D, rng.permutation(30)[:K], lattice, m, 0.3)
    for _ in range(12):
        j, c = rng.integers(K), rng.choice(np.setdiff1d(np.arange(30), state.w))
        state.exchange(j, c, D[:, c])
        state.permute(rng.permutation(K))
        assert state.cost == pytest.approx(cost(D, state.w, lattice, m, 0.3), rel=1e-9, abs=1e-12)
        Q, t, r = parts(D, state.w, lattice, m)
        assert (state.loss, state.torn / m.sum(), state.r) == pytest.approx((Q, t, r), rel=1e-7, abs=1e-9)


def test_rounding_hides_no_swap_where_magnitudes_are_mixed(rng):
    """What most neurons could lose is larger than the loss by hundreds of decades."""
    lattice, m = make_lattice((1, 7)), np.ones(8)
    for seed in range(40):
        D = 10 ** rng.uniform(-250, 0, (8, 8))
        D = (D + D.T) / 2
        np.fill_diagonal(D, 0)
        start = rng.permutation(8)[[0, 0, 1, 2, 3, 4, 5]]  # a neuron to spare
        result = refine_som(D, start, lattice, m, order=0.0, random_state=seed)
        for j, c in product(range(7), np.setdiff1d(np.arange(8), result.medoids)):
            other = np.where(np.arange(7) == j, c, result.medoids)
            assert D[:, other].min(axis=1).sum() >= result.loss * (1 - 1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("grid", GRIDS)
def test_each_candidate_finds_its_best_neuron(kind, grid, rng):
    """One look gives the least J over all neurons, of those where Q (1 + order (t + 1 - r)) falls with the r of now."""
    D, m, K = matrix(kind, 24, rng), rng.uniform(0.5, 2, 24), grid[0] * grid[1]
    lattice, found = make_lattice(grid), 0
    for order, w in product((0.0, 0.3), (rng.permutation(24)[:K] for _ in range(3))):
        state = state_of(D, w, lattice, m, order)
        now, r = cost(D, w, lattice, m, order), parts(D, w, lattice, m)[2]
        moves = _SwapMoves(state, np.isin(np.arange(24), w))
        for c in np.setdiff1d(np.arange(24), w):
            costs = np.full(K, np.inf)
            for j in range(K):
                other = np.array([*w[:j], c, *w[j + 1 :]])
                if cost(D, other, lattice, m, order, r) < now * (1 - 1e-9):
                    costs[j] = cost(D, other, lattice, m, order)
            row, j = moves._look(Block(np.array([c]), np.ascontiguousarray(D.T), np.array([c])))
            if costs.min() < now * (1 - 1e-9):
                assert row == 0
                assert costs[j] == pytest.approx(costs.min(), rel=1e-9)
                found += 1
            else:
                assert row == -1
    assert found > 3


@given(cases(max_points=12), st.sampled_from([np.float32, np.float64]), st.sampled_from([0.0, 0.1, 0.5]))
@settings(max_examples=60)
def test_no_move_is_left(case, dtype, order):
    D, m = case.D.astype(dtype), case.m
    lattice = make_lattice(grid_of(case.K))
    result = refine_som(D, case.start, lattice, m, order=order)
    w, now = result.medoids, cost(D, result.medoids, lattice, m, order)
    Q, t, r = parts(D, w, lattice, m)
    assert result.loss == pytest.approx(Q, rel=1e-9, abs=1e-320)
    assert result.converged
    assert len(set(w)) == case.K
    assert now <= cost(D, case.start, lattice, m, order) * (1 + 1e-9)
    for j, c in product(range(case.K), np.setdiff1d(np.arange(len(D)), w)):
        other = np.array([*w[:j], c, *w[j + 1 :]])
        better = cost(D, other, lattice, m, order) < now * (1 - 1e-9)
        assert not (better and cost(D, other, lattice, m, order, r) < now * (1 - 1e-9)) or case.K == 1
    for j, k in combinations(range(case.K), 2):
        other = w.copy()
        other[[j, k]] = w[[k, j]]
        _, t_other, r_other = parts(D, other, lattice, m)
        assert t_other - r_other >= t - r - 1e-6


def test_neither_kind_of_move_is_left_on_a_larger_map(rng):
    for seed in range(3):
        D, lattice = blob_distances(rng, 200, 20), make_lattice((4, 6))
        w = refine_som(D, np.random.default_rng(seed).permutation(200)[:24], lattice, order=0.3).medoids
        state = state_of(D, w, lattice, np.ones(200), 0.3)
        moves = _SwapMoves(state, np.isin(np.arange(200), w))
        assert moves._look(Block(np.arange(200), np.ascontiguousarray(D.T), np.arange(200))) == (-1, -1)
        now = state.disorder
        for j, k in combinations(range(24), 2):
            p = np.arange(24)
            p[[j, k]] = k, j
            state.permute(p)
            assert state.disorder > now - 1e-9
            state.permute(p)


def test_a_swap_that_does_not_lower_the_cost_is_taken_back(rng):
    D, lattice = blob_distances(rng, 60, 6), make_lattice((2, 3))
    w = refine_som(D, np.arange(6), lattice).medoids
    state = state_of(D, w, lattice, np.ones(60), 0.12)
    moves, before, c = _SwapMoves(state, np.isin(np.arange(60), w)), state.cost, int(np.setdiff1d(np.arange(60), w)[0])
    assert not moves._swapped(2, c, D[:, c])
    np.testing.assert_array_equal(state.w, w)
    np.testing.assert_array_equal(state.G, D[:, w])
    assert state.cost == before
    assert moves.taken[w].all()
    assert not moves.taken[c]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_blocks_change_nothing(rng, dtype, monkeypatch):
    D = (blob_distances(rng, 300, 9) * rng.uniform(0.9, 1.1, (300, 300))).astype(dtype)
    m, lattice, start = rng.uniform(0.5, 2.0, 300), make_lattice((4, 5)), rng.permutation(300)[:20]
    monkeypatch.setattr(descent, "WORTH_THREADS", 0)
    monkeypatch.setattr(descent, "PATIENCE", 8)
    one, two, four = (refine_som(D, start, lattice, m, kicks=1, n_jobs=n) for n in (1, 2, 4))
    assert one.n_swaps == two.n_swaps == four.n_swaps > 20
    monkeypatch.setattr(candidates, "rows_fit", lambda source: False)
    monkeypatch.setattr(candidates, "rows_per_panel", lambda n: 37)
    blocks = refine_som(D, start, lattice, m, kicks=1, n_jobs=2)
    for other in (two, four, blocks):
        np.testing.assert_array_equal(one.medoids, other.medoids)
        assert one.loss == other.loss


def test_what_is_arranged_only_goes_down_from_then_on(rng, monkeypatch):
    kept = []

    def watched(state, rng, keep):
        kept.append(keep)
        return best_arrangement(state, rng, keep=keep)

    monkeypatch.setattr("medianmap.refine.som_swaps.best_arrangement", watched)
    D, lattice = blob_distances(rng, 200, 20), make_lattice((4, 6))
    refine_som(D, rng.permutation(200)[:24], lattice, order=0.3)
    assert kept == [False, *[True] * (len(kept) - 1)]
    assert len(kept) > 1


def test_max_swaps_stops_on_the_way(rng):
    D, lattice, start = blob_distances(rng, 100, 8), make_lattice((3, 4)), rng.permutation(100)[:12]
    full = refine_som(D, start, lattice)
    some = [refine_som(D, start, lattice, max_swaps=k, kicks=9) for k in range(6)]
    assert [each.n_swaps for each in some] == list(range(6))
    costs = [cost(D, each.medoids, lattice, np.ones(100), 0.12) for each in (*some, full)]
    assert np.argmin(costs) == 6
    assert not some[0].converged
    assert sorted(some[0].medoids) == sorted(start)  # arranged and nothing else


def test_without_a_price_quantization_is_that_of_plain_swaps(rng):
    D, start = rng.random((120, 120)) * (1 - np.eye(120)), rng.permutation(120)[:12]
    plain, arranged = swap_medoids(D, start), refine_som(D, start, make_lattice((3, 4)), order=0.0)
    np.testing.assert_array_equal(np.sort(arranged.medoids), np.sort(plain.medoids))
    assert arranged.n_swaps == plain.n_swaps


def test_order_is_had_for_its_price(rng):
    """The dearer order may be, the better it is; quantization pays at most the share that was allowed."""
    D, lattice = blob_distances(rng, 400, 40), make_lattice((5, 6))
    start, ones = rng.permutation(400)[:30], np.ones(400)
    free, dear = (refine_som(D, start, lattice, order=order, kicks=4) for order in (0.0, 0.3))
    best = swap_medoids(D, start, kicks=4)
    torn = [topographic_error(D[:, each.medoids], lattice) for each in (best, free, dear)]
    assert torn[2] < torn[1] < torn[0]
    disorder = [t + 1 - r for _, t, r in (parts(D, each.medoids, lattice, ones) for each in (free, dear))]
    assert disorder[1] < disorder[0]
    assert dear.loss <= free.loss * (1 + 0.3 * disorder[0])


def test_kicks_are_never_worse(rng):
    D, lattice, start = rng.random((90, 90)) * (1 - np.eye(90)), make_lattice((2, 4)), np.arange(8)
    costs = [
        cost(D, refine_som(D, start, lattice, kicks=kicks).medoids, lattice, np.ones(90), 0.12) for kicks in (0, 2, 6)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_the_swaps_of_kicks_that_paid_are_counted(rng, monkeypatch):
    D, ended, own = rng.random((90, 90)) * (1 - np.eye(90)), [], som_swaps._moved

    def moved(state, *more):
        swaps, converged = own(state, *more)
        ended.append((state.cost, swaps))
        return swaps, converged

    monkeypatch.setattr(som_swaps, "_moved", moved)
    result = refine_som(D, np.arange(8), make_lattice((2, 4)), kicks=6)
    (least, total), *kicked = ended
    for reached, swaps in kicked:
        if reached < least:
            least, total = reached, total + swaps
    assert result.n_swaps == total > ended[0][1]


@pytest.mark.parametrize("periodic", [False, True])
def test_all_points_one_neuron_two_neurons(rng, periodic):
    D = blob_distances(rng, 12, 3)
    whole = refine_som(D, rng.permutation(12), make_lattice((4, 3), periodic=periodic), kicks=2)
    assert sorted(whole.medoids) == list(range(12))
    assert (whole.loss, whole.n_swaps) == (0.0, 0)
    one = refine_som(D, [4], make_lattice((1, 1)))
    assert one.medoids.tolist() == [int(D.sum(axis=0).argmin())]
    two = refine_som(D, [4, 5], make_lattice((1, 2)))
    np.testing.assert_array_equal(two.medoids, swap_medoids(D, [4, 5]).medoids)


def test_exemplars_that_coincide_part(rng):
    D = blob_distances(rng, 60, 6)
    result = refine_som(D, np.zeros(6, int), make_lattice((2, 3)))
    assert len(set(result.medoids)) == 6


def test_the_last_point_is_looked_at_whatever_their_number():
    """Points are gone through eight at a time."""
    for n in range(8, 18):
        x = np.array([*np.linspace(0, 0.1, n - 1), 10.0])
        D, w = np.abs(np.subtract.outer(x, x)), np.array([0, 1])
        moves = _SwapMoves(state_of(D, w, make_lattice((1, 2)), np.ones(n), 0.0), np.isin(np.arange(n), w))
        assert moves._look(Block(np.array([n - 1]), D[[n - 1]], np.array([0])))[0] == 0


@pytest.mark.parametrize("far", [1.3e16, 1.6e16, 2.2e16, 1e18])
def test_a_far_group_takes_its_middle_though_rounding_hides_what_it_gains(far):
    """The loss falls from 7.8 to 6.8; beside 3 far, eight is what is next to it, which is more than 7.8, or nothing."""
    x, m = np.array([0.0, 1, 2, 0, 1, 2]), np.repeat([1.0, 2.4], 3)
    D = np.abs(np.subtract.outer(x, x))
    D[:3, 3:] = D[3:, :3] = far
    state = state_of(D, np.array([0, 4]), make_lattice((1, 2)), m, 0.0)
    moves = _SwapMoves(state, np.isin(np.arange(6), state.w))
    assert moves._look(Block(np.array([1]), D[[1]], np.array([0]))) == (0, 0)
