"""Supervised maps equal reference.py, prototype by prototype and label by label; beta = 1 is the unsupervised map."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import BATCH, METHODS, blob_distances, blobs, estimator, reference_of, unarranged
from support.strategies import KINDS, cases

from medianmap import PrototypeClassifier, reference
from medianmap.core.vectors import VectorSpace
from medianmap.estimators.fit import as_generator

# The search does not see the labels; one of each kind suffices beside the unsupervised comparisons.
SEARCHES = ("auto", "standard", "gemm")


@st.composite
def label_vectors(draw, n):
    """(n, C) shares with rows of NaN where a point has no label; at least one has."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    C = draw(st.integers(2, 4))
    kind = draw(st.sampled_from(["hard", "fuzzy", "coarse"]))
    # Shares are multiples of a power of two, so that rows sum to 1 exactly and are the same after dividing by the sum.
    parts = {"hard": 1, "coarse": 4, "fuzzy": 2**20}[kind]
    y = rng.multinomial(parts, np.full(C, 1 / C), size=n) / parts
    y[rng.random(n) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = np.nan
    if np.isnan(y).all():
        y[0] = np.eye(C)[0]
    return y


def supervised_reference(method, K, start, **data):
    weights, sigmas = reference_of(method, K)
    return reference.fit(weights, sigmas, start, settle=299 if method == "kmeans" else 300, **data)


@pytest.mark.filterwarnings("ignore:All labelled points have one class")
@pytest.mark.parametrize("collisions", ["distinct", "allow", "noise"])
@pytest.mark.parametrize("method", METHODS)
@given(
    # Labels as they are beside dissimilarities of 1e-310 are refused.
    case=cases(kinds=[kind for kind in KINDS if kind != "subnormal"]),
    data=st.data(),
    dtype=st.sampled_from([np.float64, np.float32]),
    beta=st.sampled_from([1.0, 0.5, 0.03]),
)
@settings(max_examples=25)
def test_supervised_median_maps_equal_the_reference(method, collisions, case, data, dtype, beta):
    D, y = case.D.astype(dtype), data.draw(label_vectors(len(case.D)))
    expected, labels, costs = supervised_reference(
        method, case.K, case.start, D=D, m=case.m, y=y, beta=beta, collisions=collisions, rng=as_generator(7)
    )
    given = {"metric": "precomputed", "init": case.start, "collisions": collisions, "random_state": 7}
    for search in SEARCHES:
        map_ = estimator(method, case.K, search=search, **given)
        clf = PrototypeClassifier(map_, beta, "learned", None).fit(D, y, sample_weight=case.m)
        np.testing.assert_array_equal(clf.estimator_.medoid_indices_, expected, search)
        np.testing.assert_array_equal(clf.prototype_labels_, labels, search)
        np.testing.assert_allclose(clf.estimator_.history_["cost"], costs, rtol=1e-12, atol=1e-300, err_msg=search)


@pytest.mark.filterwarnings("ignore:All labelled points have one class")
@pytest.mark.parametrize("method", METHODS)
@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), weighted=st.booleans(), scaled=st.booleans(), data=st.data()
)
@settings(max_examples=100)
def test_supervised_batch_maps_equal_the_reference(method, seed, n, weighted, scaled, data):
    rng = np.random.default_rng(seed)
    X, y = blobs(rng, n=n), data.draw(label_vectors(n))
    K = int(rng.integers(1, min(n, 9) + 1))
    m = rng.integers(1, 5, n).astype(float) if weighted else np.ones(n)
    start = X[rng.permutation(n)[:K]]
    map_ = estimator(method, K, BATCH, init=start, **unarranged(method))
    clf = PrototypeClassifier(map_, 0.4, "learned", "mean" if scaled else None)
    clf.fit(X, y, sample_weight=m)
    scale = VectorSpace(X).mean(m) or 1.0 if scaled else 1.0
    expected, labels, _ = supervised_reference(method, K, start, X=X, m=m, y=y, beta=0.4, scale=scale)
    np.testing.assert_array_equal(clf.estimator_.cluster_centers_, expected)
    np.testing.assert_array_equal(clf.prototype_labels_, labels)


def test_the_mean_of_vectors_is_that_of_all_pairs(rng):
    X, m = rng.normal(size=(30, 3)), rng.integers(1, 5, 30).astype(float)
    pairs = np.average(reference.squared_distances(X, X), weights=np.outer(m, m))
    assert VectorSpace(X).mean(m) == pytest.approx(pairs, rel=1e-12)


@pytest.mark.parametrize("collisions", ["distinct", "allow", "noise"])
@pytest.mark.parametrize("method", METHODS)
def test_beta_one_gives_the_unsupervised_median_map_bit_for_bit(method, collisions, rng):
    D, y = blob_distances(rng), rng.integers(3, size=60)
    plain = estimator(method, 6, metric="precomputed", collisions=collisions, n_init=3, random_state=1)
    clf = PrototypeClassifier(plain, beta=1.0).fit(D, y)
    plain.fit(D)
    np.testing.assert_array_equal(clf.estimator_.medoid_indices_, plain.medoid_indices_)
    np.testing.assert_array_equal(clf.estimator_.history_, plain.history_)


@pytest.mark.parametrize("method", METHODS)
def test_beta_one_gives_the_unsupervised_batch_map_bit_for_bit(method, rng):
    X, y = blobs(rng), rng.integers(3, size=60)
    plain = estimator(method, 6, BATCH, n_init=3, random_state=1)
    clf = PrototypeClassifier(plain, beta=1.0).fit(X, y)
    plain.fit(X)
    np.testing.assert_array_equal(clf.estimator_.cluster_centers_, plain.cluster_centers_)
    np.testing.assert_array_equal(clf.estimator_.history_, plain.history_)


@pytest.mark.parametrize("family", ["median", "batch"])
@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32 - 1), beta=st.sampled_from([0.9, 0.5, 0.05]))
@settings(max_examples=40)
def test_at_fixed_sigma_the_supervised_cost_never_rises(method, family, seed, beta):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 0, 1, 2], size=40)
    y[:2] = 0, 1
    fixed = {} if method == "kmeans" else {"sigma_start": 0.8, "sigma_end": 0.8}
    if family == "median":
        map_, X = estimator(method, 6, metric="precomputed", random_state=seed, **fixed), blob_distances(rng, n=40)
    else:
        map_, X = estimator(method, 6, BATCH, random_state=seed, **fixed), blobs(rng, n=40)
    history = PrototypeClassifier(map_, beta).fit(X, y).estimator_.history_
    assert (np.diff(history["cost"]) <= 1e-9 * history["cost"][0]).all()


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing(method, rng):
    D, y = blob_distances(rng, n=300), rng.integers(4, size=300)
    one, four = (
        PrototypeClassifier(estimator(method, 20, metric="precomputed", random_state=0, n_jobs=n)).fit(D, y)
        for n in (1, 4)
    )
    np.testing.assert_array_equal(one.estimator_.medoid_indices_, four.estimator_.medoid_indices_)
    np.testing.assert_array_equal(one.prototype_labels_, four.prototype_labels_)
