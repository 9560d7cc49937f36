"""K-means at a temperature: weights and free energy by their definition, the reference, and where prototypes part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from support.maps import blob_distances, blobs
from support.strategies import KINDS, cases

from medianmap import BatchKMeans, MedianKMeans, PatchClusterer, PrototypeClassifier, RelationalKMeans, reference
from medianmap.core.assignment import Gibbs, Winner
from medianmap.core.engine import Problem, State, epoch, first_transition
from medianmap.core.spaces import MedianSpace, RelationalSpace
from medianmap.core.vectors import VectorSpace
from medianmap.estimators.fit import COLDEST, COOLING
from medianmap.search import strategies_for
from medianmap.search.frame import FieldWeights, SoftWeights
from medianmap.sources import as_dissimilarity

SEARCHES = ["auto", *strategies_for(SoftWeights)]


def temperatures(T):
    """What the schedule is said to be: 40 temperatures to a hundredth, then 0."""
    assert (COOLING, COLDEST) == (40, 1e-2)
    return [*(T * 0.01 ** (t / 39) for t in range(40)), 0.0]


@pytest.mark.parametrize("T", [1e-3, 0.7, 50.0])
def test_weights_and_free_energy_by_their_definition(T, rng):
    G, m = np.asfortranarray(rng.exponential(size=(50, 6))), rng.uniform(0.5, 3, 50)
    weights, cost = Gibbs()(G, T, m)
    A = softmax(-G / T, axis=1).T * m
    heavy = A.max(axis=1) > 1e-250  # softmax loses what is farther away; the weights must not
    np.testing.assert_allclose((weights.A / weights.A.sum(axis=1)[:, None])[heavy],
                               (A / A.sum(axis=1)[:, None])[heavy], rtol=1e-9, atol=1e-280)  # fmt: skip
    assert (weights.P.max(axis=1) == 1).all()
    assert cost == pytest.approx(-T * (m * logsumexp(-G / T, axis=1)).sum(), rel=1e-12)
    np.testing.assert_array_equal(weights.row(2), weights.A[2])
    levels, values = weights.levels
    np.testing.assert_array_equal(values[:, levels[0]] * m, weights.A)


def test_at_zero_it_is_the_nearest_prototype(rng):
    G, m = rng.integers(0, 4, (40, 5)).astype(float), rng.uniform(0.5, 3, 40)
    cold, hard = Gibbs()(G, 0.0, m), Winner()(G, 0.0, m)
    np.testing.assert_array_equal(cold[0].A, hard[0].A)
    assert cold[1] == hard[1]
    distinct = rng.permutation(200).reshape(40, 5).astype(float)
    near = Gibbs()(distinct, 1e-3, m)
    np.testing.assert_array_equal(near[0].A, Winner()(distinct, 0.0, m)[0].A)
    assert near[1] == pytest.approx((m * distinct.min(axis=1)).sum())


@given(seed=st.integers(0, 2**32 - 1), T=st.floats(0.01, 30))
@settings(max_examples=40)
def test_the_free_energy_never_rises_at_one_temperature(seed, T):
    rng = np.random.default_rng(seed)
    X, m = blobs(rng, 40), rng.uniform(0.5, 3, 40)
    D = rng.random((40, 40)) * 10  # for data points anything will do
    squares = cdist(X, X, "sqeuclidean")
    relational = RelationalSpace(as_dissimilarity(squares, symmetric=False))
    for space, start in [
        (VectorSpace(X), X[:5]),
        (relational, np.arange(5)),
        (MedianSpace(as_dissimilarity(D), "auto"), np.arange(5)),
        (MedianSpace(as_dissimilarity(D), "auto", "allow"), np.arange(5)),
    ]:
        state = State(start)
        for _ in range(8):
            state = epoch(Problem(space, Gibbs(), m), state, T, rng)
        F = state.records()["cost"]
        assert (np.diff(F) <= 1e-9 * np.abs(F).max()).all()


@pytest.mark.parametrize("collisions", ["distinct", "allow"])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_median_maps_equal_the_reference(search, collisions, dtype, rng):
    for _ in range(4):
        D, start = blob_distances(rng, 50).astype(dtype), rng.permutation(50)[:7]
        D[rng.random(D.shape) < 0.2] *= 1.5  # asymmetric
        m, T = rng.uniform(0.5, 3, 50), float(rng.uniform(0.5, 5))
        expected, _, costs = reference.fit(
            reference.gibbs, temperatures(T), start, D=D, m=m, collisions=collisions, settle=299
        )
        fitted = MedianKMeans(
            7, metric="precomputed", annealing="median", init=start, temperature=T, search=search, collisions=collisions
        ).fit(D, sample_weight=m)
        np.testing.assert_array_equal(fitted.medoid_indices_, expected)
        np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-9)
        np.testing.assert_allclose(fitted.history_["sigma"][:41], temperatures(T))
        assert fitted.converged_


# Beside subnormal dissimilarities a temperature of 2 is refused.
@given(
    case=cases(kinds=[kind for kind in KINDS if kind != "subnormal"]), dtype=st.sampled_from([np.float64, np.float32])
)
@settings(max_examples=25)
def test_every_search_breaks_ties_alike(case, dtype):
    fits = [
        MedianKMeans(
            case.K, metric="precomputed", annealing="median", init=case.start, temperature=2.0, search=search, n_jobs=n
        ).fit(case.D.astype(dtype), sample_weight=case.m)
        for search, n in [("standard", 1), ("gemm", 1), ("auto", 1), ("auto", 2)]
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.medoid_indices_, fits[0].medoid_indices_)
        np.testing.assert_array_equal(other.history_["cost"], fits[0].history_["cost"])


def test_batch_and_relational_maps_equal_the_reference(rng):
    X = blobs(rng, 60)
    m, start = rng.uniform(0.5, 3, 60), rng.permutation(60)[:5]
    W, _, costs = reference.fit(reference.gibbs, temperatures(9.0), X[start], X=X, m=m)
    batch = BatchKMeans(5, init=start, temperature=9.0).fit(X, sample_weight=m)
    np.testing.assert_allclose(batch.cluster_centers_, W, atol=1e-8)
    np.testing.assert_allclose(batch.history_["cost"], costs, rtol=1e-8)
    relational = RelationalKMeans(5, metric="sqeuclidean", init=start, temperature=9.0).fit(X, sample_weight=m)
    np.testing.assert_allclose(relational.coefficients_ @ X[relational.support_], W, atol=1e-6)


def test_prototypes_part_below_twice_the_largest_variance(rng):
    X, m = rng.normal(size=(150, 3)) * [3, 1, 1], rng.uniform(0.5, 3, 150)
    T = 2 * np.linalg.eigvalsh(np.cov(X.T, aweights=m, bias=True))[-1]
    squares = as_dissimilarity(X, "sqeuclidean")
    for space in (VectorSpace(X), RelationalSpace(squares), MedianSpace(squares, "auto")):
        assert first_transition(space, m) == pytest.approx(T)
    assert BatchKMeans(4, temperature="auto", random_state=0).fit(X, sample_weight=m).history_["sigma"][0] == (
        pytest.approx(T)
    )
    for factor, apart in ((1.1, False), (0.8, True)):
        state = State(X[:4])
        for _ in range(400):
            state = epoch(Problem(VectorSpace(X), Gibbs(), m), state, factor * T, rng)
        assert (np.ptp(state.prototypes, axis=0).max() > 0.1) == apart


def test_many_landmarks_say_nearly_the_same(rng):
    X = rng.normal(size=(3000, 3)) * [3, 1, 1]
    T = 2 * np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    assert first_transition(VectorSpace(X), np.ones(3000)) == pytest.approx(T, rel=0.3)


def test_annealed_means_depend_less_on_the_start(rng):
    X = blobs(rng, 300, centers=12)
    hard, soft = (
        [BatchKMeans(12, temperature=T, random_state=seed).fit(X).inertia_ for seed in range(8)] for T in (None, "auto")
    )
    assert np.mean(soft) < np.mean(hard)
    assert np.std(soft) < np.std(hard)


def test_labels_guide_soft_maps(rng):
    X = blobs(rng, 80, centers=3)
    y = np.where(rng.random(80) < 0.5, (X[:, 0] > X[:, 0].mean()).astype(int), -1)
    for map_ in (
        MedianKMeans(6, annealing="median", temperature="auto", random_state=0),
        RelationalKMeans(6, temperature="auto", random_state=0),
        BatchKMeans(6, temperature="auto", random_state=0),
    ):
        fitted = PrototypeClassifier(map_, 0.3, unlabeled=-1).fit(X, y)
        assert fitted.score(X, y) > 0.75
        np.testing.assert_allclose(fitted.prototype_labels_.sum(axis=1), 1)


def test_soft_maps_where_there_is_nothing_to_part(rng):
    same = np.zeros((6, 6))
    assert MedianKMeans(2, metric="precomputed", temperature="auto", random_state=0).fit(same).inertia_ == 0
    one = BatchKMeans(1, temperature="auto").fit([[3.0, 1.0]])
    assert one.cluster_centers_.tolist() == [[3.0, 1.0]]
    words = ["heron", "herons", "hero", "quark", "quarks", "quart"] * 5
    passes = PatchClusterer(MedianKMeans(2, metric="edit", temperature="auto", random_state=0), 15).fit(words)
    assert {word[0] for word in passes.cluster_centers_} == {"h", "q"}  # summaries may have left heron out


def test_going_on_from_a_fit_is_hard(rng):
    X = blobs(rng, 60)
    km = BatchKMeans(4, temperature="auto", warm_start=True, random_state=0).fit(X)
    before = km.cluster_centers_
    assert km.fit(X).n_iter_ == 1
    np.testing.assert_array_equal(km.cluster_centers_, before)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"temperature": -1}, "temperature is -1; it must be None, 'auto' or a number > 0"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"temperature": "auto", "annealing": "none"}, "annealing='none' does not; drop one"),
        ({"temperature": 2.0, "search": "blocksum"}, "search='blocksum' does not fit .*'certified'"),
    ],
)
def test_what_cannot_be(params, words, rng):
    with pytest.raises(ValueError, match=words):
        MedianKMeans(2, **params).fit(blobs(rng, 10))


def test_hard_maps_take_all_searches_of_fields():
    assert MedianKMeans(2)._gives is FieldWeights
    assert set(SEARCHES) < {"auto", *strategies_for(FieldWeights)}


def test_labels_that_do_not_count_leave_the_temperature_alone(rng):
    """Where beta is 1 dissimilarities are seen as they are, not divided by their mean."""
    D = blob_distances(rng, 30) * 20
    plain = MedianKMeans(4, metric="precomputed", temperature="auto", random_state=0)
    guided = PrototypeClassifier(plain, beta=1.0).fit(D, np.arange(30) % 2).estimator_
    np.testing.assert_array_equal(guided.history_, clone(plain).fit(D).history_)


def test_points_that_are_all_equally_far_have_a_first_temperature():
    """All eigenvalues but one are the same, which LAPACK's search for a single one may not stand."""
    D = np.full((72, 72), 1e30)
    np.fill_diagonal(D, 0)
    fitted = RelationalKMeans(4, metric="precomputed", temperature="auto", init="k-medoids++", random_state=94).fit(D)
    assert fitted.history_["sigma"][0] > 0
