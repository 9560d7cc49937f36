"""neighborhood="gaussian": the same maps as reference.py with every search; the exponential keeps its bits."""

import functools
import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import BATCH, EPOCHS, MEDIAN, blob_distances, blobs, estimator, grid_of, in_range, unarranged
from support.strategies import cases

from medianmap import MedianNeuralGas, MedianSOM, PatchClusterer, load, reference, save
from medianmap.core.assignment import OnLattice, Rank
from medianmap.core.neighborhood import h, make_lattice
from medianmap.estimators.parameters import NEIGHBORHOODS
from medianmap.search import STRATEGIES, strategies_for

ANNEALED = ("gas", "som")
PAIRS = [(m, s) for m in ANNEALED for s in ["auto", *strategies_for(estimator(m, 2)._gives)]]


def reference_weights(method, K, neighborhood):
    """(weights, default sigma_start) of reference.py."""
    if method == "gas":
        return functools.partial(reference.neural_gas, neighborhood=neighborhood), K / 2
    nd = make_lattice(grid_of(K)).distances
    return reference.som(nd, neighborhood), nd.max() / 2


def reference_fit(method, K, start, sigma_end, **data):
    weights, sigma = reference_weights(method, K, "gaussian")
    data, e = in_range(data)
    P, Y, costs = reference.fit(weights, reference.schedule(max(sigma, sigma_end), sigma_end, EPOCHS), start, **data)
    return P, Y, np.ldexp(costs, e)


# --- the function -----------------------------------------------------------------------------------------------------


def test_the_shapes_by_hand():
    assert h(2.0, 0.5) == np.exp(-4.0)
    assert h(2.0, 0.5, "gaussian") == pytest.approx(np.exp(-8.0))
    assert h(0.0, 0.01, "gaussian") == 1
    assert h(3.0, 2.0, "gaussian", least=1.0) == pytest.approx(np.exp(-9 / 8) / np.exp(-1 / 8))
    assert h(3.0, 2.0, least=1.0) == h(2.0, 2.0)


@pytest.mark.parametrize("neighborhood", NEIGHBORHOODS)
def test_a_ratio_is_a_number_where_both_parts_underflow(neighborhood):
    t = np.array([40.0, 41.0, 100.0])
    assert not h(t, 0.01, neighborhood).any()
    assert h(t, 0.01, neighborhood, least=40.0).tolist()[0] == 1
    for sigma in (1e-200, 1e-310):
        assert h(t, sigma, neighborhood, least=40.0).tolist() == [1, 0, 0]


@pytest.mark.parametrize("neighborhood", NEIGHBORHOODS)
def test_weights_fall_and_are_never_subnormal(neighborhood):
    values = h(np.linspace(0, 1000, 10001), 1.0, neighborhood)
    assert values[0] == 1
    assert np.all(np.diff(values) <= 0)
    assert np.all((values == 0) | (values >= 1e-290))


# --- the assignment ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighborhood", NEIGHBORHOODS)
@pytest.mark.parametrize("method", ANNEALED)
@given(case=cases(), sigma=st.sampled_from([0.01, 0.1, 0.3, 1.0, 4.0]))
@settings(max_examples=60)
def test_weights_and_cost_equal_the_reference_to_the_last_bit(method, neighborhood, case, sigma):
    K, G = case.K, np.asfortranarray(case.D[:, case.start])
    expected, cost = reference_weights(method, K, neighborhood)[0](G, sigma, case.m)
    assignment = Rank(neighborhood) if method == "gas" else OnLattice(make_lattice(grid_of(K)), neighborhood)
    weights, found = assignment(G, sigma, case.m)
    np.testing.assert_array_equal(weights.A, expected)
    for j in range(K):
        np.testing.assert_array_equal(weights.row(j), expected[j])
    levels, values = weights.levels
    np.testing.assert_array_equal(
        np.take_along_axis(values, np.broadcast_to(levels, (K, len(G))), 1) * case.m, expected
    )
    assert found == pytest.approx(cost, rel=1e-12, abs=1e-300)
    assert (expected > 0).any(axis=1).all()  # no row dies, whatever sigma is


# --- the maps ---------------------------------------------------------------------------------------------------------


def test_all_searches_are_covered():
    assert {s for _, s in PAIRS} == {"auto", *STRATEGIES}


@pytest.mark.parametrize(("method", "search"), PAIRS)
@given(
    case=cases(),
    sigma_end=st.sampled_from([0.01, 0.3, 1.0]),
    collisions=st.sampled_from(["distinct", "allow"]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
@settings(max_examples=30)
def test_median_maps_equal_the_reference(method, search, case, sigma_end, collisions, dtype):
    D = case.D.astype(dtype)
    expected, _, costs = reference_fit(
        method, case.K, case.start, sigma_end, D=D, m=case.m, collisions=collisions, settle=300
    )
    fitted = estimator(
        method,
        case.K,
        metric="precomputed",
        init=case.start,
        sigma_end=sigma_end,
        neighborhood="gaussian",
        collisions=collisions,
        search=search,
    ).fit(D, sample_weight=case.m)
    np.testing.assert_array_equal(fitted.medoid_indices_, expected)
    np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("method", ANNEALED)
@pytest.mark.parametrize("n", [130, 300])
def test_searches_agree_on_larger_problems_with_ties(method, n, rng):
    # 40 prototypes: at small sigma many are nobody's winner and have smallest ranks of all sizes.
    D = np.abs(np.subtract.outer(rng.integers(0, 60, n), rng.integers(0, 60, n))).astype(float)
    D += D.T
    np.fill_diagonal(D, 0)
    start = rng.permutation(n)[:40]
    params = {"metric": "precomputed", "init": start, "neighborhood": "gaussian", "sigma_end": 0.3}
    standard = estimator(method, 40, search="standard", **params).fit(D)
    expected, _, _ = reference_fit(method, 40, start, 0.3, D=D)
    np.testing.assert_array_equal(standard.medoid_indices_, expected)
    for name in ["auto", *strategies_for(standard._gives)]:
        other = estimator(method, 40, search=name, **params).fit(D)
        np.testing.assert_array_equal(other.medoid_indices_, standard.medoid_indices_, err_msg=name)
        np.testing.assert_array_equal(other.history_["cost"], standard.history_["cost"])


@pytest.mark.parametrize("method", ANNEALED)
@pytest.mark.parametrize("seed", range(8))
def test_batch_maps_equal_the_reference(method, seed):
    rng = np.random.default_rng(seed)
    X = blobs(rng, n=40, features=2)
    m, start = rng.uniform(0.5, 3, 40), X[rng.permutation(40)[:9]]
    expected, _, costs = reference_fit(method, 9, start, 0.3, X=X, m=m)
    params = {"init": start, "neighborhood": "gaussian", "sigma_end": 0.3, **unarranged(method)}
    fitted = estimator(method, 9, BATCH, **params)
    np.testing.assert_array_equal(fitted.fit(X, sample_weight=m).cluster_centers_, expected)
    np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
@pytest.mark.parametrize("method", ANNEALED)
def test_the_cost_never_rises_at_fixed_sigma(method, family, rng):
    fitted = estimator(method, 12, family, neighborhood="gaussian", sigma_start=0.7, sigma_end=0.7, random_state=0)
    cost = fitted.fit(blobs(rng, n=120)).history_["cost"]
    assert np.all(np.diff(cost) <= 1e-12 * cost[0])
    assert fitted.converged_


@pytest.mark.parametrize("method", ANNEALED)
def test_the_shape_makes_a_difference_and_another_word_is_refused(method, rng):
    X = blobs(rng, n=120)
    fits = [estimator(method, 12, neighborhood=name, sigma_end=1.0, random_state=0).fit(X) for name in NEIGHBORHOODS]
    assert fits[0].history_["cost"][-1] != fits[1].history_["cost"][-1]
    with pytest.raises(ValueError, match="neighborhood is 'bubble'; choose one of 'exponential', 'gaussian'"):
        estimator(method, 12, neighborhood="bubble").fit(X)


# --- around the maps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [MEDIAN, BATCH], ids=["median", "batch"])
@pytest.mark.parametrize("method", ANNEALED)
def test_the_shape_is_a_keyword(method, family):
    parameter = inspect.signature(family[method]).parameters["neighborhood"]
    default = {"gas": "exponential", "som": "gaussian"}[method]
    assert (parameter.default, parameter.kind) == (default, inspect.Parameter.KEYWORD_ONLY)


@pytest.mark.parametrize("method", ANNEALED)
@pytest.mark.parametrize("neighborhood", NEIGHBORHOODS)
def test_models_come_back_with_their_shape(method, neighborhood, tmp_path, rng):
    fitted = estimator(method, 6, neighborhood=neighborhood, random_state=0).fit(blobs(rng))
    save(fitted, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.neighborhood == neighborhood
    np.testing.assert_array_equal(loaded.medoid_indices_, fitted.medoid_indices_)


@pytest.mark.parametrize("map_", [MedianNeuralGas(4, n_epochs=10), MedianSOM((2, 3), n_epochs=10)])
def test_patches_are_fitted_with_the_shape(map_, rng):
    X = blobs(rng, n=200)
    for name in NEIGHBORHOODS:
        map_.set_params(neighborhood=name, random_state=0, sigma_end=0.5)
        passed = PatchClusterer(map_, patch_size=50).fit(X)
        assert passed.map_.neighborhood == name
        assert len(passed.labels_) == 200


def test_precomputed_patches_take_the_shape_too(rng):
    D = blob_distances(rng, n=120)
    gas = MedianNeuralGas(4, metric="precomputed", n_epochs=10, neighborhood="gaussian", random_state=0)
    assert PatchClusterer(gas, patch_size=40).fit(D).map_.neighborhood == "gaussian"
