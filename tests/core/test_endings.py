"""Training that goes round: combinations of data that are not squared distances end at the least cost, and say so."""

import logging

import numpy as np
import pytest
from support.maps import BATCH, estimator, reference_of

from medianmap import (
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PrototypeClassifier,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
    reference,
)
from medianmap.core.engine import PATIENCE

RELATIONAL = {"kmeans": RelationalKMeans, "gas": RelationalNeuralGas, "som": RelationalSOM}


def small_numbers(seed, symmetric, dtype=np.float64):
    """Whole numbers from 0 to 2, or their sums: no squared distances, and full of ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 13))
    D = rng.integers(0, 3, (n, n))
    D = D + D.T if symmetric else D
    np.fill_diagonal(D, 0)
    return D.astype(dtype)


def relational(method, D, K, **params):
    if method == "som":
        params = {"arrange": False, "grid": (1, K)} | params
    return estimator(method, K, RELATIONAL, metric="precomputed", init=np.arange(K), **params).fit(D)


def going_round(method, symmetric, dtype=np.float64):
    """The first of such matrices, with its K, on which training comes back to states that it was in."""
    for seed in range(200):
        D = small_numbers(seed, symmetric, dtype)
        for K in (2, 3, 4):
            if relational(method, D, K).history_["went_back"][-1]:
                return D, K
    raise AssertionError("no such matrix")


def epochs_that_repeat(method, D, K):
    """The costs at sigma_end as the plain definition has them, without any end but a fixed point."""
    weights, sigmas = reference_of(method, K, grid=(1, K)) if method == "som" else reference_of(method, K)
    P, costs = np.eye(len(D))[:K], []
    for t in range(len(sigmas) + 60):
        A, cost = weights(
            reference.combination_distances(D.astype(float), P), sigmas[min(t, len(sigmas) - 1)], np.ones(len(D))
        )
        before, P = P, reference.combination_step(A, P)
        costs.append(cost)
        assert t < len(sigmas) or not np.array_equal(before, P)
    return np.array(costs[len(sigmas) - 1 :])


@pytest.mark.parametrize("method", RELATIONAL)
@pytest.mark.parametrize("symmetric", [True, False])
def test_states_that_come_back_end_training_at_the_least_cost(method, symmetric):
    D, K = going_round(method, symmetric)
    fitted = relational(method, D, K)
    history = fitted.history_
    costs = epochs_that_repeat(method, D, K)
    assert costs[-30:].max() > costs.min() + 1e-9  # it does not settle by itself, and not where cost is least
    assert not fitted.converged_
    n = 1 if method == "kmeans" else fitted.n_epochs
    settling = history["cost"][n - 1 : -1]
    assert len(settling) < 100
    np.testing.assert_allclose(settling, costs[: len(settling)], rtol=1e-9)
    # The last record is that of the prototypes that were taken again.
    assert history["cost"][-1] == settling.min()
    assert history["went_back"][-1] == PATIENCE + 1 == len(settling) - settling.argmin()
    assert not history["went_back"][:-1].any()
    assert history["quantization_error"][-1] == pytest.approx(fitted.quantization_error_)


@pytest.mark.parametrize("method", RELATIONAL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_end_is_that_of_the_reference(method, dtype):
    D, K = going_round(method, symmetric=True, dtype=dtype)
    weights, sigmas = reference_of(method, K, grid=(1, K)) if method == "som" else reference_of(method, K)
    P, _, costs = reference.fit(weights, sigmas, np.eye(len(D))[:K], D=D.astype(float))
    fitted = relational(method, D, K)
    rtol = 1e-5 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=rtol)
    np.testing.assert_allclose(fitted.coefficients_.toarray(), P[:, fitted.support_], atol=rtol)


@pytest.mark.parametrize("kind", [MedianKMeans, MedianNeuralGas])
def test_exemplars_settle_after_an_annealing_that_went_round(kind, caplog):
    """The default: what comes out is a fixed point, what annealing did is in the history, and in the log."""
    method = "kmeans" if kind is MedianKMeans else "gas"
    D, K = going_round(method, symmetric=True)
    map_ = estimator(method, K, metric="precomputed", init=np.arange(K), annealing="auto", random_state=0, verbose=1)
    with caplog.at_level(logging.INFO, "medianmap"):
        map_.fit(D)
    assert map_.n_iter_ < 100
    assert map_.converged_
    assert np.count_nonzero(map_.history_["went_back"]) == 1
    assert "no longer fell" in caplog.text
    assert f"{PATIENCE + 1} epochs back" in caplog.text


def test_the_log_says_how_a_relational_map_ended(caplog):
    D, K = going_round("kmeans", symmetric=True)
    with caplog.at_level(logging.INFO, "medianmap"):
        relational("kmeans", D, K, verbose=1)
    assert "the cost no longer fell" in caplog.records[-1].getMessage()
    assert "converged" not in caplog.records[-1].getMessage()


def test_a_function_of_ones_own_sees_the_step_back_too():
    D, K = going_round("gas", symmetric=True)
    seen = []
    fitted = relational("gas", D, K, on_epoch=seen.append)
    assert [epoch.number for epoch in seen] == list(range(fitted.n_iter_))
    assert seen[-1].went_back == PATIENCE + 1


def test_with_labels(rng):
    """Labels go back with the prototypes: they are the means of the fields at the least cost, or were before it."""
    ended = 0
    for _ in range(30):
        D = rng.random((12, 12)) * (1 - np.eye(12))  # asymmetric, and without ties, so that rounding decides nothing
        y = rng.integers(0, 2, 12)
        map_ = estimator("gas", 3, RELATIONAL, metric="precomputed", init=np.arange(3))
        model = PrototypeClassifier(map_, 0.8, "learned", None).fit(D, y)
        history = model.estimator_.history_
        if history["went_back"][-1]:
            ended += 1
            weights, sigmas = reference_of("gas", 3)
            start = np.eye(len(D))[:3]
            _, Y, costs = reference.fit(weights, sigmas, start, D=D, y=np.eye(2)[y], beta=0.8)
            np.testing.assert_allclose(history["cost"], costs, rtol=1e-9)
            np.testing.assert_allclose(model.prototype_labels_, Y, atol=1e-9)
    assert ended > 0


def test_noise_has_no_least_cost(rng):
    """Every epoch sees other dissimilarities: costs that do not fall say nothing, and training goes on."""
    D = small_numbers(0, symmetric=True)
    map_ = estimator("gas", 4, metric="precomputed", collisions="noise", init=[0, 1, 2, 3], random_state=0).fit(D)
    assert not map_.history_["went_back"].any()


def test_the_nearest_prototype_as_winner_may_raise_the_cost_and_still_ends():
    """It minimises no cost: most maps settle, and where the cost no longer falls those of least cost are taken."""
    rose, went_back = 0, 0
    params = {"init": np.arange(16), "sigma_start": 1.5, "sigma_end": 1.5, "arrange": False}
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(20, 2))
        kohonen, heskes = (
            estimator("som", 16, BATCH, winner=winner, **params).fit(X) for winner in ("nearest", "neighborhood")
        )
        assert heskes.converged_
        assert (np.diff(heskes.history_["cost"]) <= 1e-12 * heskes.history_["cost"][:-1]).all()
        history = kohonen.history_
        assert kohonen.n_iter_ < 100
        assert kohonen.converged_ == (history["went_back"][-1] == 0)
        rose += (np.diff(history["cost"]) > 1e-9).any()
        went_back += not kohonen.converged_
        if not kohonen.converged_:
            assert history["cost"][-1] == history["cost"][7:].min()
    assert rose > 10
    assert went_back > 0


@pytest.mark.parametrize("method", ["kmeans", "gas", "som"])
def test_prototypes_that_stay_where_they_start_have_the_cost_of_their_own_map(method, rng):
    D = rng.random((30, 30))
    np.fill_diagonal(D, 0)
    w = np.arange(6) * 5
    kinds = {"kmeans": MedianKMeans, "gas": MedianNeuralGas, "som": MedianSOM}
    params = {"grid": (2, 3)} if method == "som" else {}
    fitted = estimator(method, 6, kinds, metric="precomputed", init=w, annealing="none", **params).fit(D)
    np.testing.assert_array_equal(fitted.medoid_indices_, w)
    nd = fitted.lattice_.distances if method == "som" else None
    weights = {"kmeans": reference.kmeans, "gas": reference.neural_gas}.get(method) or reference.som(nd, "gaussian")
    sigma = fitted.history_["sigma"][0]
    assert fitted.history_["cost"] == pytest.approx([weights(D[:, w], sigma, np.ones(30))[1]])
    assert fitted.converged_
