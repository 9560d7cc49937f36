"""Swaps on tensors end in optima of single swaps: by brute force, and in the eyes of the CPU's own loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.extras import optional
from support.strategies import KINDS, cases, matrix
from support.tensors import one_thread  # noqa: F401

from medianmap import as_dissimilarity
from medianmap.core.neighborhood import checked_lattice
from medianmap.refine import refine_som, swap_medoids
from medianmap.refine.descent import LookCount
from medianmap.refine.map_cost import MapState
from medianmap.refine.tensor_map_swaps import SINGLY, DeviceMapState
from medianmap.refine.tensor_swaps import DeviceMedoids, some_of

torch = optional("torch")
ORDINARY = tuple(kind for kind in KINDS if kind != "subnormal")
DTYPES = st.sampled_from([np.float64, np.float32])
GRIDS = ((1, 2), (1, 3), (2, 2), (2, 3), (3, 3))


def there(D, **how):
    return as_dissimilarity(D, device="torch:cpu", **how)


def loss(D, w, m):
    return float((m * D[:, w].astype(np.float64).min(axis=1)).sum())


def map_cost(D, w, m, lattice, order):
    return MapState.of(np.array(D[:, w], order="C"), np.asarray(w), m, lattice, order)


def exchanges(w, n):
    """Every set of exemplars that one exchange makes."""
    for j in range(len(w)):
        for c in np.setdiff1d(np.arange(n), w):
            yield j, c, np.where(np.arange(len(w)) == j, c, w)


@given(cases(kinds=ORDINARY), DTYPES, st.booleans())
def test_no_single_swap_lowers_the_loss(case, dtype, plateau):
    D = case.D.astype(dtype)
    found = swap_medoids(there(D), case.start, case.m, plateau=plateau, kicks=1)
    assert found.converged
    assert len(set(found.medoids.tolist())) == case.K
    np.testing.assert_allclose(found.loss, loss(D, found.medoids, case.m), rtol=1e-12)
    assert found.loss <= loss(D, case.start, case.m) * (1 + 1e-12)
    for _, _, w in exchanges(found.medoids, len(D)):
        assert loss(D, w, case.m) >= found.loss * (1 - 1e-12)
    again = swap_medoids(D, found.medoids, case.m)  # by the CPU's rule, rounding included
    assert again.n_swaps == 0
    assert again.loss == found.loss


@given(cases(kinds=ORDINARY), st.integers(0, 4))
def test_no_more_swaps_than_asked_for(case, most):
    found = swap_medoids(there(case.D), case.start, case.m, max_swaps=most)
    assert found.n_swaps <= most
    np.testing.assert_allclose(found.loss, loss(case.D, found.medoids, case.m), rtol=1e-12)
    if found.converged:
        assert swap_medoids(case.D, found.medoids, case.m).n_swaps == 0
    else:
        assert found.n_swaps == most


@given(cases(kinds=ORDINARY), DTYPES)
def test_changes_are_differences_of_losses(case, dtype):
    D = case.D.astype(dtype)
    state = DeviceMedoids.of(there(D), case.start, case.m)
    change, before = state.changes(torch.float64).numpy(), loss(D, case.start, case.m)
    assert np.isinf(change[:, case.start]).all()
    for j, c, w in exchanges(case.start, len(D)):
        np.testing.assert_allclose(change[j, c], loss(D, w, case.m) - before, rtol=1e-9, atol=1e-10 * (1 + D.max()))


def test_a_plateau_is_left_for_a_lower_optimum(rng):
    better = 0
    for _ in range(30):
        D, start = matrix("ties", 16, rng), rng.permutation(16)[:4]
        plain, walked = (swap_medoids(there(D), start, plateau=plateau) for plateau in (False, True))
        assert walked.loss <= plain.loss
        better += walked.loss < plain.loss
    assert better


def test_the_best_are_exchanged_first_and_fewer_where_many_do_not_help():
    tried = []

    def exchanged(js, points):
        tried.append((js.tolist(), points.tolist()))
        return len(js) == 1

    change, points = np.array([-1.0, 2.0, -3.0, -2.0, -5.0, -0.5]), np.array([7, 1, 7, 3, 4, 5])
    assert some_of(change, points, 256, exchanged) == 1
    assert tried == [([4, 2, 3, 5], [4, 7, 3, 5]), ([4], [4])]  # point 7 is taken once
    assert some_of(np.array([1.0, 0.0]), points[:2], 256, exchanged) == 0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_matrix_of_fewer_digits_ends_in_an_optimum_of_the_given_one(rng, dtype):
    X = rng.normal(size=(120, 3)) * 1e4
    D = np.abs(X[:, None] - X).sum(axis=2)
    source = there(D, dtype=dtype)
    assert source.rounded
    found = swap_medoids(source, np.arange(10))
    assert found.converged
    np.testing.assert_allclose(np.ldexp(found.loss, source.exponent), loss(D, found.medoids, np.ones(120)), rtol=1e-12)
    assert swap_medoids(D, found.medoids).n_swaps == 0
    lattice = checked_lattice((3, 3), "hexagonal", False)
    arranged = refine_som(source, np.arange(9), lattice)
    assert arranged.converged
    assert refine_som(D, arranged.medoids, lattice, keep=True).n_swaps == 0
    few = swap_medoids(source, np.arange(10), max_swaps=1)
    np.testing.assert_allclose(np.ldexp(few.loss, source.exponent), loss(D, few.medoids, np.ones(120)), rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_tensor_of_few_digits_is_what_it_is(rng, dtype):
    X = rng.normal(size=(50, 2))
    D = torch.from_numpy(np.abs(X[:, None] - X).sum(axis=2)).to(dtype)
    for most in (None, 1):
        found = swap_medoids(as_dissimilarity(D, device="torch:cpu"), np.arange(5), max_swaps=most)
        np.testing.assert_allclose(found.loss, loss(D.double().numpy(), found.medoids, np.ones(50)), rtol=1e-12)
    assert found.n_swaps == 1


def test_a_streamed_matrix_gives_the_same_swaps(rng):
    X = rng.normal(size=(90, 3))
    symmetric, lattice = np.abs(X[:, None] - X).sum(axis=2), checked_lattice((3, 3), "hexagonal", False)
    for D in (symmetric, symmetric * rng.uniform(0.9, 1.1, symmetric.shape)):
        for run in (swap_medoids, lambda *given: refine_som(*given, lattice)):
            resident, streamed = (run(there(D, stream=stream), np.arange(9)) for stream in (False, True))
            np.testing.assert_array_equal(resident.medoids, streamed.medoids)
            assert resident.loss == streamed.loss


# --- maps


@st.composite
def maps(draw):
    grid = draw(st.sampled_from(GRIDS))
    K = grid[0] * grid[1]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(K, 26))
    D = matrix(draw(st.sampled_from(ORDINARY)), n, rng).astype(draw(DTYPES))
    m = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else rng.uniform(0.2, 3, n)
    return D, m, rng.permutation(n)[:K], checked_lattice(grid, "hexagonal", False)


@given(maps())
def test_a_map_on_the_device_is_in_the_state_of_one_here(case):
    D, m, w, lattice = case
    ours, theirs = map_cost(D, w, m, lattice, 0.12), DeviceMapState.over(there(D), w, m, lattice, 0.12)
    np.testing.assert_array_equal(theirs.nearest, ours.nearest)
    np.testing.assert_array_equal(theirs.near, ours.near)
    assert theirs.cost == ours.cost
    p = np.roll(np.arange(len(w)), 1)
    ours.permute(p)
    theirs.permute(p)
    assert theirs.cost == ours.cost
    np.testing.assert_array_equal(theirs.C.T, D[:, theirs.w])


@settings(max_examples=40)
@given(maps(), st.sampled_from([0.0, 0.12, 1.0]))
def test_costs_of_a_map_after_every_exchange_with_the_far_order_of_now(case, order):
    D, m, w, lattice = case
    state = DeviceMapState.over(there(D), w, m, lattice, order)
    cost = state.costs(torch.float64, whole=True).numpy()
    for j, c, other in exchanges(w, len(D)):
        after = map_cost(D, other, m, lattice, order)
        expected = after.loss * (1 + order * max(after.torn / after.mass + 1 - state.r, 0.0))
        np.testing.assert_allclose(cost[j, c], expected, rtol=1e-9, atol=1e-9 * (1 + D.max()))


@settings(max_examples=60)
@given(maps(), st.sampled_from([0.0, 0.12]), st.sampled_from([{}, {"kicks": 1}, {"max_swaps": 2}]))
def test_the_cpu_finds_no_exchange_that_improves_a_refined_map(case, order, limits):
    D, m, w, lattice = case
    found = refine_som(there(D), w, lattice, m, order=order, **limits)
    end = map_cost(D, found.medoids, m, lattice, order)
    assert end.loss == found.loss
    assert end.cost <= map_cost(D, w, m, lattice, order).cost
    if found.converged:
        again = refine_som(D, found.medoids, lattice, m, order=order, keep=True)
        assert again.n_swaps == 0
    else:
        assert found.n_swaps >= limits["max_swaps"]


@settings(max_examples=40)
@given(maps())
def test_the_loop_of_the_cpu_finds_what_the_passes_do_not(case):
    """Without any exchange on the device, all come from the candidates that its last pass leaves."""
    D, m, w, lattice = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeviceMapState, "_many_at_once", lambda self, most, looks: 0)
        found = refine_som(there(D), w, lattice, m)
    assert found.converged
    again = refine_som(D, found.medoids, lattice, m, keep=True)
    assert again.n_swaps == 0


def test_the_passes_end_where_no_exchange_lowers_j_with_all_sums_as_they_are(rng):
    lattice = checked_lattice((3, 3), "hexagonal", False)
    for n in range(12, 24):
        X = rng.normal(size=(n, 2))
        w, D = rng.permutation(n)[:9], there(np.abs(X[:, None] - X).sum(axis=2))
        state = DeviceMapState.over(D, w, np.ones(n), lattice, 1.0)
        assert state._many_at_once(n**3, LookCount(n)) < n**3
        cost, at = state.costs(torch.float64, whole=True).min(1)
        assert some_of(cost.numpy() - state.cost, at.numpy(), 1, state.exchanged, SINGLY) == 0
