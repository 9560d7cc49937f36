"""Refinement of a SOM: its own cost falls, by the moves that the module names, and the lattice keeps its order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import blob_distances, grid_of
from support.strategies import cases, matrix

from medianmap.core.neighborhood import make_lattice
from medianmap.core.quality import topographic_error
from medianmap.refine import candidates, refine_som, swap_medoids, swap_som
from medianmap.refine.som_swaps import widths


def smoothed(D, w, H):
    """e (N, K) = sum_l H[j, l] D[i, w_l]."""
    return D[:, w].astype(np.float64) @ H.T


def cost_of(D, w, H, m):
    return float((m * smoothed(D, w, H).min(axis=1)).sum())


def neighbors_of(H):
    """Sets of neurons that count most for each, and itself."""
    K = len(H)
    found = []
    for l in range(K):
        others = [H[j, l] for j in range(K) if j != l]
        most = max(others, default=0.0)
        found.append({l} | {j for j in range(K) if j != l and H[j, l] == most and most > 0})
    return found


def moves_of(D, w, H, l):
    """What neuron l may do, in order: take a point that it or a neighbour has won, exchange with a neighbour."""
    near = neighbors_of(H)[l]
    winner = smoothed(D, w, H).argmin(axis=1)
    for c in range(len(D)):
        if winner[c] in near and c not in w:
            yield np.array([*w[:l], c, *w[l + 1 :]])
    for k in sorted(near):
        if k > l:
            other = w.copy()
            other[[k, l]] = w[[l, k]]
            yield other


def exact_weights(K):
    """H with few bits, so that sums of whole numbers are exact: 1, a quarter for neighbours, a 16th beyond."""
    nd = make_lattice(grid_of(K)).distances
    return np.where(nd == 0, 1.0, np.where(nd < 1.2, 0.25, 0.0625))


def plain(D, w, H, m):
    """The moves in the order that the module promises, every cost summed from scratch."""
    w, K, l, idle, n_moves = w.copy(), len(w), 0, 0, 0
    near = neighbors_of(H)
    while idle < K:
        before = n_moves
        winner = smoothed(D, w, H).argmin(axis=1)
        for c in [c for c in range(len(D)) if winner[c] in near[l] and c not in w]:
            other = np.array([*w[:l], c, *w[l + 1 :]])
            if cost_of(D, other, H, m) < cost_of(D, w, H, m):
                w, n_moves = other, n_moves + 1
        for k in [k for k in sorted(near[l]) if k > l]:
            other = w.copy()
            other[[k, l]] = w[[l, k]]
            if cost_of(D, other, H, m) < cost_of(D, w, H, m):
                w, n_moves = other, n_moves + 1
        idle = idle + 1 if n_moves == before else 0
        l = (l + 1) % K
    return w, n_moves


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("K", [1, 2, 6, 12, 24])
@pytest.mark.parametrize("kind", ["ties", "duplicates", "asymmetric"])
def test_same_moves_as_the_plain_definition(kind, K, seed):
    rng = np.random.default_rng(seed)
    D = np.round(matrix(kind, 24, rng) * 4)
    m = rng.integers(1, 3, 24).astype(float)
    H, start = exact_weights(K), rng.permutation(24)[:K]
    w, n_moves = plain(D, start, H, m)
    result = swap_som(D, start, H, m)
    np.testing.assert_array_equal(result.medoids, w)
    assert (result.n_swaps, result.loss, result.converged) == (n_moves, cost_of(D, w, H, m), True)


@given(cases(max_points=12), st.sampled_from([np.float32, np.float64]), st.sampled_from([0.01, 0.3, 1.0]))
@settings(max_examples=100)
def test_local_optimum_over_all_moves(case, dtype, sigma):
    D, m = case.D.astype(dtype), case.m
    H = make_lattice(grid_of(case.K)).weights(sigma)
    result = swap_som(D, case.start, H, m)
    cost = cost_of(D, result.medoids, H, m)
    assert result.loss == pytest.approx(cost, rel=1e-12, abs=1e-320)
    assert cost <= cost_of(D, case.start, H, m) * (1 + 1e-12)
    assert len(set(result.medoids)) == case.K
    if case.kind in ("symmetric", "asymmetric"):  # without ties of winners, which rounding may break either way
        rounding = 1e-12 * float((m * D.max(axis=1)).sum())
        for l in range(case.K):
            for other in moves_of(D, result.medoids, H, l):
                assert cost_of(D, other, H, m) >= cost - rounding


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_blocks_change_nothing(rng, dtype, monkeypatch):
    D = (blob_distances(rng, 300, 9) * rng.uniform(0.9, 1.1, (300, 300))).astype(dtype)
    m = rng.uniform(0.5, 2.0, 300)
    H, start = make_lattice((4, 5)).weights(0.4), rng.permutation(300)[:20]
    one, two, four = (swap_som(D, start, H, m, n_jobs=n) for n in (1, 2, 4))
    assert one.n_swaps == two.n_swaps == four.n_swaps > 20
    monkeypatch.setattr(candidates, "rows_fit", lambda source: False)
    blocks = swap_som(D, start, H, m, n_jobs=2)
    for other in (two, four, blocks):
        np.testing.assert_array_equal(one.medoids, other.medoids)
        assert one.loss == other.loss


def test_max_swaps_stops_on_the_way(rng):
    D = blob_distances(rng, 100, 8)
    H, start = make_lattice((3, 4)).weights(0.4), rng.permutation(100)[:12]
    full = swap_som(D, start, H)
    losses = [swap_som(D, start, H, max_swaps=k).loss for k in range(full.n_swaps + 1)]
    assert (np.diff(losses) < 0).all()
    assert losses[-1] == full.loss
    assert not swap_som(D, start, H, max_swaps=0).converged


def test_without_neighbours_a_neuron_looks_at_its_own_points(rng):
    """With H = 1 the cost is that of K-means, and an exemplar better than all of a field is found there."""
    D = blob_distances(rng, 80, 5)
    start = swap_medoids(D, rng.permutation(80)[:5]).medoids
    result = swap_som(D, start, np.eye(5))
    np.testing.assert_array_equal(result.medoids, start)  # a local optimum over all swaps is one over fewer


@pytest.mark.parametrize("H", [np.ones((2, 3)), np.full((3, 3), -1.0), np.full((3, 3), np.nan)])
def test_bad_neighbourhoods_are_refused(H):
    with pytest.raises(ValueError, match="H must be a 3 x 3 matrix"):
        swap_som(np.zeros((4, 4)), [0, 1, 2], H)


def trained(D, grid, sigma_end):
    from medianmap import MedianSOM

    return MedianSOM(grid, metric="precomputed", n_epochs=30, sigma_end=sigma_end, random_state=0).fit(D)


@pytest.mark.parametrize("sigma_end", [0.01, 0.5])
def test_refined_map_keeps_its_order(rng, sigma_end):
    D = blob_distances(rng, 300, 10)
    lattice, w = make_lattice((4, 5)), trained(D, (4, 5), sigma_end).medoid_indices_
    result = refine_som(D, w, lattice, sigma_end)
    H = lattice.weights(sigma_end)
    assert result.loss == pytest.approx(cost_of(D, result.medoids, H, np.ones(300)), rel=1e-12)
    assert result.loss < cost_of(D, w, H, np.ones(300))
    assert topographic_error(D[:, result.medoids], lattice) <= topographic_error(D[:, w], lattice) + 0.01


def test_globins_and_their_order():
    from medianmap.datasets import load_globins
    from medianmap.sources import ALL, as_dissimilarity

    sequences = load_globins().sequences[::3]
    D = as_dissimilarity(sequences, "edit").block(ALL, ALL)
    lattice, w = make_lattice((4, 6)), trained(D, (4, 6), 0.01).medoid_indices_
    result = refine_som(D, w, lattice, 0.01)
    assert topographic_error(D[:, result.medoids], lattice) <= topographic_error(D[:, w], lattice) + 0.01
    assert D[:, result.medoids].min(axis=1).sum() < 0.95 * D[:, w].min(axis=1).sum()


def test_moves_that_tear_are_taken_back(rng, monkeypatch):
    """At sigma_end the last moves are undone until the order is kept; if it never is, the prototypes stay."""
    from medianmap.refine import som_swaps

    D, lattice = blob_distances(rng, 100, 4), make_lattice((3, 4))
    start = rng.permutation(100)[:12]
    full = swap_som(D, start, lattice.weights(0.01))
    assert full.n_swaps > 3
    for good_after in (3, 10**9):
        asked = []
        monkeypatch.setattr(
            som_swaps,
            "topographic_error",
            lambda *args, asked=asked, good=good_after: asked.append(0) or float(1 < len(asked) <= 5 + good),
        )
        result = refine_som(D, start, lattice, 0.01)
        expected = swap_som(D, start, lattice.weights(0.01), max_swaps=max(full.n_swaps - good_after, 0))
        np.testing.assert_array_equal(result.medoids, expected.medoids)
        assert (result.n_swaps, result.converged) == (expected.n_swaps, False)
        assert result.loss == expected.loss


def test_widths():
    lattice = make_lattice((3, 4))
    sigmas = widths(lattice.weights, lattice, 0.01)
    np.testing.assert_allclose(np.exp(-1 / np.array(sigmas[:-1])), [0.04, 0.08, 0.02, 0.007], rtol=1e-4)
    assert sigmas[-1] == 0.01
    np.testing.assert_allclose(widths(lattice.weights, lattice, 0.35), [sigmas[1], 0.35], rtol=1e-4)
    assert widths(lattice.weights, lattice, 2.0) == [2.0]
    one = make_lattice((1, 1))
    assert widths(one.weights, one, 0.01) == [0.01]


def test_periodic_and_rectangular_lattices(rng):
    D = blob_distances(rng, 60, 5)
    for lattice in (make_lattice((4, 3), "rectangular"), make_lattice((4, 3), "hexagonal", True)):
        H = lattice.weights(0.3)
        for l, near in enumerate(neighbors_of(H)):
            assert near == {l, *np.flatnonzero(lattice.neighbors[l])}
        result = swap_som(D, np.arange(12), H)
        for l in range(12):
            for other in moves_of(D, result.medoids, H, l):
                assert cost_of(D, other, H, np.ones(60)) >= result.loss * (1 - 1e-12)
