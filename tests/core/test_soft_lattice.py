"""SOMs at a temperature: weights and free energy by their definition, the reference, and where prototypes part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax
from support.maps import blob_distances, blobs
from support.temperatures import temperatures

from medianmap import BatchSOM, MedianSOM, PrototypeClassifier, RelationalSOM, reference, width_front
from medianmap.core.assignment import OnLattice, SoftOnLattice
from medianmap.core.engine import Problem, State, epoch, first_transition
from medianmap.core.neighborhood import make_lattice
from medianmap.core.spaces import MedianSpace, RelationalSpace
from medianmap.core.vectors import VectorSpace
from medianmap.search import strategies_for
from medianmap.search.frame import SoftWeights
from medianmap.sources import as_dissimilarity

SHAPES = [("gaussian", True, None), ("exponential", True, None), ("gaussian", False, None), ("gaussian", True, 1.0)]


def soft(grid, neighborhood="gaussian", normalized=True, truncate=None, width=0.6):
    return SoftOnLattice(make_lattice(grid), neighborhood, normalized, False, truncate, width=width)


def smoothing(assignment):
    """H (K, K) by its definition."""
    t, sigma = assignment.lattice.distances, assignment.width
    H = np.exp(-(t**2) / (2 * sigma**2)) if assignment.neighborhood == "gaussian" else np.exp(-t / sigma)
    H = H if assignment.truncate is None else H * (t <= assignment.truncate)
    return H / H.sum(axis=1, keepdims=True) if assignment.normalized else H


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("T", [0.05, 0.7, 50.0])
def test_weights_and_free_energy_by_their_definition(T, shape, rng):
    G, m = np.asfortranarray(rng.exponential(size=(50, 12))), rng.uniform(0.5, 3, 50)
    assignment = soft((3, 4), *shape)
    weights, cost = assignment(G, T, m)
    H = smoothing(assignment)
    E = G @ H.T
    A = (softmax(-E / T, axis=1) @ H).T * m
    np.testing.assert_allclose(weights.A / weights.A.sum(axis=1)[:, None], A / A.sum(axis=1)[:, None], rtol=1e-9)
    assert (weights.P.max(axis=1) >= 1).all()
    assert (weights.P.max(axis=1) <= 12).all()
    assert cost == pytest.approx(-T * (m * logsumexp(-E / T, axis=1)).sum(), rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_at_zero_it_is_the_winner_of_heskes_at_the_width(shape, rng):
    G, m = rng.integers(0, 4, (40, 12)).astype(float), rng.uniform(0.5, 3, 40)
    cold, hard = soft((3, 4), *shape)(G, 0.0, m), OnLattice(make_lattice((3, 4)), shape[0], shape[1], False, shape[2])
    warm = hard(G, 0.6, m)
    np.testing.assert_array_equal(cold[0].A, warm[0].A)
    assert cold[1] == warm[1]


def test_no_neuron_loses_its_weight_however_far_and_cold(rng):
    X = np.concatenate([rng.normal(size=(20, 2)), [[300.0, 0.0]]])
    G = cdist(X, np.column_stack([np.linspace(0, 300, 60), np.zeros(60)]), "sqeuclidean")
    weights, cost = soft((1, 60), width=0.3)(G, 1e-3, np.ones(21))
    assert len(weights.alive) == 60
    assert np.isfinite(weights.A).all()
    assert np.isfinite(cost)


@given(seed=st.integers(0, 2**32 - 1), T=st.floats(0.01, 30), normalized=st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_free_energy_never_rises_at_one_temperature(seed, T, normalized):
    rng = np.random.default_rng(seed)
    X, m = blobs(rng, 40), rng.uniform(0.5, 3, 40)
    D = rng.random((40, 40)) * 10  # for data points anything will do
    squares = cdist(X, X, "sqeuclidean")
    for space, start in [
        (VectorSpace(X), X[:6]),
        (RelationalSpace(as_dissimilarity(squares, symmetric=False)), np.arange(6)),
        (MedianSpace(as_dissimilarity(D), "auto"), np.arange(6)),
    ]:
        state = State(start)
        for _ in range(8):
            state = epoch(Problem(space, soft((2, 3), normalized=normalized), m), state, T, rng)
        F = state.records()["cost"]
        assert (np.diff(F) <= 1e-9 * np.abs(F).max()).all()


@pytest.mark.parametrize("neighborhood", ["gaussian", "exponential"])
def test_maps_equal_the_reference(neighborhood, rng):
    X, m = blobs(rng, 60), rng.uniform(0.5, 3, 60)
    start, params = rng.permutation(60)[:6], {"neighborhood": neighborhood, "sigma_end": 0.8, "arrange": False}
    weights = reference.soft_som(make_lattice((2, 3)).distances, 0.8, neighborhood)
    W, _, costs = reference.fit(weights, temperatures(9.0), X[start], X=X, m=m)
    batch = BatchSOM((2, 3), init=start, temperature=9.0, **params).fit(X, sample_weight=m)
    np.testing.assert_allclose(batch.cluster_centers_, W, atol=1e-8)
    np.testing.assert_allclose(batch.history_["cost"], costs, rtol=1e-8)
    np.testing.assert_allclose(batch.history_["sigma"][:41], temperatures(9.0))
    relational = RelationalSOM((2, 3), metric="sqeuclidean", init=start, temperature=9.0, **params)
    relational.fit(X, sample_weight=m)
    np.testing.assert_allclose(relational.coefficients_ @ X[relational.support_], W, atol=1e-6)


@pytest.mark.parametrize("search", ["auto", *strategies_for(SoftWeights)])
def test_median_maps_equal_the_reference(search, rng):
    weights = reference.soft_som(make_lattice((2, 4)).distances, 0.6, "gaussian")
    for n_jobs in (1, 2):
        D, start = blob_distances(rng, 50), rng.permutation(50)[:8]
        D[rng.random(D.shape) < 0.2] *= 1.5  # asymmetric
        m, T = rng.uniform(0.5, 3, 50), float(rng.uniform(0.5, 5))
        expected, _, costs = reference.fit(weights, temperatures(T), start, D=D, m=m, settle=299)
        fitted = MedianSOM(
            (2, 4), metric="precomputed", annealing="median", init=start, temperature=T, search=search, n_jobs=n_jobs
        ).fit(D, sample_weight=m)
        np.testing.assert_array_equal(fitted.medoid_indices_, expected)
        np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES[:3])
def test_prototypes_part_where_auto_starts(shape, rng):
    X, m = rng.normal(size=(150, 3)) * [3, 1, 1], rng.uniform(0.5, 3, 150)
    assignment = soft((2, 4), *shape)
    T = assignment.parting * first_transition(VectorSpace(X), m)
    fitted = BatchSOM((2, 4), neighborhood=shape[0], normalized=shape[1], temperature="auto", random_state=0)
    assert fitted.fit(X, sample_weight=m).history_["sigma"][0] == pytest.approx(T)
    for factor, apart in ((1.1, False), (0.8, True)):
        state = State(X[:8])
        for _ in range(400):
            state = epoch(Problem(VectorSpace(X), assignment, m), state, factor * T, rng)
        assert (np.ptp(state.prototypes, axis=0).max() > 0.1) == apart


def test_any_start_ends_in_the_same_order(rng):
    """A band of points on a chain: annealed by temperature alone, at a width of one step, it is not folded."""
    X = np.column_stack([rng.uniform(0, 30, 300), rng.normal(size=300)])
    for seed in range(5):
        som = BatchSOM((1, 12), init="random", temperature="auto", sigma_end=1.0, arrange=False, random_state=seed)
        along = som.fit(X).cluster_centers_[:, 0]
        assert (np.diff(along) > 0).all() or (np.diff(along) < 0).all()


def test_default_maps_labels_and_continuing(rng):
    X = blobs(rng, 90, centers=3)
    y = np.where(rng.random(90) < 0.5, (X[:, 0] > X[:, 0].mean()).astype(int), -1)
    for kind in (MedianSOM, RelationalSOM, BatchSOM):
        som = kind((2, 3), temperature="auto", random_state=0)
        assert PrototypeClassifier(som, 0.3, unlabeled=-1).fit(X, y).score(X, y) > 0.75
        again = kind((2, 3), temperature="auto", warm_start=True, random_state=0).fit(X)
        before = again.inertia_
        assert again.fit(X).inertia_ == pytest.approx(before, rel=0.05)
        one = kind((1, 1), temperature="auto", random_state=0).fit(X)
        assert one.history_["sigma"][0] == 0  # a single prototype has nothing to part from


def test_what_cannot_be(rng):
    X = blobs(rng, 20)
    with pytest.raises(ValueError, match="temperature is 'hot'"):
        BatchSOM((2, 2), temperature="hot").fit(X)
    with pytest.raises(ValueError, match="winner='nearest' has others; drop one"):
        BatchSOM((2, 2), temperature="auto", winner="nearest").fit(X)
    with pytest.raises(ValueError, match="annealing='none' does not; drop one"):
        MedianSOM((2, 2), temperature="auto", annealing="none").fit(X)
    with pytest.raises(ValueError, match="search='blocksum' does not fit"):
        MedianSOM((2, 2), temperature="auto", search="blocksum").fit(X)
    with pytest.raises(ValueError, match="width_front compares widths; set temperature=None"):
        width_front(BatchSOM((2, 2), temperature="auto"), X, [1.0, 0.5])
