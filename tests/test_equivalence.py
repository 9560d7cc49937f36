"""Every map, with every search and collision policy, equals reference.py prototype by prototype."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import BATCH, METHODS, SOMS, blob_distances, blobs, estimator, reference_fit, unarranged
from support.strategies import cases

from medianmap import MedianSOM
from medianmap.estimators.fit import as_generator
from medianmap.search import strategies_for

# Every map with every search that fits it.
MAPS = list(dict.fromkeys([*METHODS, *SOMS]))
PAIRS = [(m, s) for m in MAPS for s in ["auto", *strategies_for(estimator(m, 2)._gives)]]


@pytest.mark.parametrize("collisions", ["distinct", "allow", "noise"])
@pytest.mark.parametrize("method", MAPS)
@given(case=cases(), dtype=st.sampled_from([np.float64, np.float32]), n_jobs=st.sampled_from([1, 2]))
@settings(max_examples=40)
def test_median_maps_equal_the_reference(method, collisions, case, dtype, n_jobs):
    """The reference, which takes longest, is asked once for all searches."""
    D = case.D.astype(dtype)
    expected, costs = reference_fit(
        method, case.K, case.start, D=D, m=case.m, collisions=collisions, rng=as_generator(7)
    )
    given = {"metric": "precomputed", "init": case.start, "random_state": 7, "n_jobs": n_jobs}
    for search in (search for name, search in PAIRS if name == method):
        fitted = estimator(method, case.K, collisions=collisions, search=search, **given).fit(D, sample_weight=case.m)
        np.testing.assert_array_equal(fitted.medoid_indices_, expected, search)
        np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-12, atol=1e-300, err_msg=search)
        assert fitted.n_iter_ == len(costs), search


@pytest.mark.parametrize("method", MAPS)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), features=st.integers(1, 4), weighted=st.booleans())
@settings(max_examples=200)
def test_batch_maps_equal_the_reference(method, seed, n, features, weighted):
    rng = np.random.default_rng(seed)
    X = blobs(rng, n=n, features=features)
    K = int(rng.integers(1, min(n, 9) + 1))
    m = rng.uniform(0.5, 3, n) if weighted else np.ones(n)
    start = X[rng.permutation(n)[:K]]
    expected, costs = reference_fit(method, K, start, X=X, m=m)
    fitted = estimator(method, K, BATCH, init=start, **unarranged(method)).fit(X, sample_weight=m)
    np.testing.assert_array_equal(fitted.cluster_centers_, expected)
    np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("n", [63, 64, 65, 130, 300])
@pytest.mark.parametrize("method", MAPS)
def test_problems_longer_than_the_lanes_of_the_canonical_sum(method, n, rng):
    D = rng.integers(0, 6, (n, n)).astype(float)
    start = rng.permutation(n)[:7]
    expected, _ = reference_fit(method, 7, start, D=D)
    for search in (search for name, search in PAIRS if name == method):
        fitted = estimator(method, 7, metric="precomputed", init=start, search=search)
        with pytest.warns(UserWarning, match="diagonal"):
            fitted.fit(D)
        np.testing.assert_array_equal(fitted.medoid_indices_, expected, search)


@pytest.mark.parametrize("method", SOMS)
@pytest.mark.parametrize("neighborhood", ["exponential", "gaussian"])
@pytest.mark.parametrize(("lattice", "periodic"), [("hexagonal", True), ("rectangular", False), ("rectangular", True)])
@given(case=cases(max_points=30))
@settings(max_examples=20)
def test_soms_on_every_lattice_equal_the_reference(lattice, periodic, neighborhood, method, case):
    K = 2 * max(1, case.K // 2)
    if len(case.D) < K:
        return
    params = {"grid": (2, K // 2), "lattice": lattice, "periodic": periodic, "neighborhood": neighborhood}
    expected, _ = reference_fit(method, K, np.arange(K), params, D=case.D, m=case.m)
    fitted = estimator(method, K, metric="precomputed", init=np.arange(K), **params)
    np.testing.assert_array_equal(fitted.fit(case.D, sample_weight=case.m).medoid_indices_, expected)


# What a map can be told beside its lattice; `cases` has at most 9 prototypes.
ALTERNATIVES = [
    ("gas", {"truncate": 0}), ("gas", {"truncate": 2}), ("gas", {"truncate": 1, "neighborhood": "gaussian"}),
    ("som", {"winner": "nearest"}), ("narrow", {"winner": "nearest"}), ("som", {"truncate": 0}),
    ("som", {"truncate": 1}), ("chapter", {"truncate": 1.5, "winner": "nearest"}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "params"), ALTERNATIVES)
@pytest.mark.parametrize("collisions", ["distinct", "allow"])
@given(case=cases(), dtype=st.sampled_from([np.float64, np.float32]), data=st.data())
@settings(max_examples=25)
def test_alternatives_equal_the_reference_with_every_search(method, params, collisions, case, dtype, data):
    D = case.D.astype(dtype)
    search = data.draw(st.sampled_from(["auto", *strategies_for(estimator(method, 2)._gives)]))
    expected, costs = reference_fit(method, case.K, case.start, params, D=D, m=case.m, collisions=collisions)
    told = {"metric": "precomputed", "init": case.start, "collisions": collisions, "search": search, **params}
    fitted = estimator(method, case.K, **told).fit(D, sample_weight=case.m)
    np.testing.assert_array_equal(fitted.medoid_indices_, expected)
    np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(("method", "params"), ALTERNATIVES)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_alternatives_of_batch_maps_equal_the_reference(method, params, seed):
    rng = np.random.default_rng(seed)
    X, m = blobs(rng, n=30), rng.uniform(0.5, 3, 30)
    start = X[rng.permutation(30)[: int(rng.integers(1, 10))]]
    expected, costs = reference_fit(method, len(start), start, params, X=X, m=m)
    fitted = estimator(method, len(start), BATCH, init=start, **unarranged(method), **params).fit(X, sample_weight=m)
    np.testing.assert_array_equal(fitted.cluster_centers_, expected)
    np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-12, atol=1e-300)


TREE = np.array([[0, 1, 1, 2], [1, 0, 2, 3], [1, 2, 0, 3], [2, 3, 3, 0]])


@pytest.mark.parametrize("method", SOMS)
@pytest.mark.parametrize("params", [
    {"grid": (1, 4)}, {"grid": (4, 1)}, {"grid": (2, 1, 2)}, {"grid": (1, 2, 2), "lattice": "rectangular"},
    {"grid": (2, 2, 1), "periodic": True}, {"lattice": TREE}, {"lattice": 3.3 * TREE},
])  # fmt: skip
@given(case=cases(max_points=20), winner=st.sampled_from(["neighborhood", "nearest"]))
@settings(max_examples=10)
def test_chains_layers_and_given_distances_equal_the_reference(params, method, case, winner):
    if len(case.D) < 4:
        return
    params = params | {"winner": winner}
    expected, _ = reference_fit(method, 4, np.arange(4), params, D=case.D, m=case.m)
    fitted = estimator(method, 4, metric="precomputed", init=np.arange(4), **params)
    np.testing.assert_array_equal(fitted.fit(case.D, sample_weight=case.m).medoid_indices_, expected)


@pytest.mark.parametrize("lattice", ["hexagonal", "rectangular"])
def test_on_a_torus_normalised_weights_are_the_chapters(lattice, rng):
    D = blob_distances(rng, 50)
    fits = [
        MedianSOM((4, 5), lattice=lattice, periodic=True, normalized=normalized, metric="precomputed",
                  annealing="median", random_state=0).fit(D)
        for normalized in (True, False)
    ]  # fmt: skip
    np.testing.assert_array_equal(fits[0].medoid_indices_, fits[1].medoid_indices_)
    Z = fits[0].history_["cost"] / fits[1].history_["cost"]  # the costs differ by the sum of a row of h alone
    h = fits[0].lattice_.weights(fits[0].sigma_end, fits[0].neighborhood)
    assert Z[-1] * h[0].sum() == pytest.approx(1)
