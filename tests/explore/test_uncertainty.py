"""How sure a point's prototype is: shares over resamples by their definition, and probabilities that come true."""

from itertools import permutations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from medianmap import (
    BatchNeuralGas,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    RelationalKMeans,
    uncertainty,
)
from medianmap.estimators.fit import as_generator
from medianmap.explore import two_best
from medianmap.explore.stability import counterparts, shrunk


def overlapping(rng, n=240):
    """Six groups in the plane that run into each other."""
    centers = np.array([[x, y] for x in (0, 3) for y in (0, 3, 6)], float)
    return centers[np.arange(n) % 6] + rng.normal(size=(n, 2))


def matched_by_trying(labels, own, m, K):
    """The counterparts of greatest shared weight, all of them tried."""
    shared = [sum(m[i] for i in range(len(own)) if p[labels[i]] == own[i]) for p in permutations(range(K))]
    return np.array(list(permutations(range(K)))[int(np.argmax(shared))])


def test_stability_by_its_definition(rng):
    X = overlapping(rng, 40)
    D = cdist(X, X)
    m = rng.integers(0, 3, 40) * rng.uniform(0.9, 1.1, 40)  # no two ways to match are equally good
    km = MedianKMeans(4, metric="precomputed", random_state=3).fit(D, sample_weight=m)
    told = uncertainty(km, D, n_resamples=6, sample_weight=m, random_state=11)

    draws, keep = as_generator(11), np.flatnonzero(m)
    kept = []
    for _ in range(6):
        drawn = np.zeros(40)
        np.add.at(drawn, keep[draws.integers(len(keep), size=len(keep))], 1)
        again = MedianKMeans(4, metric="precomputed", random_state=int(draws.integers(2**31 - 1)))
        labels = again.fit(D, sample_weight=m * drawn).labels_
        kept.append(matched_by_trying(labels, km.labels_, m, 4)[labels] == km.labels_)
    np.testing.assert_array_equal(told.points["stability"], np.mean(kept, axis=0))
    best = two_best(km, D)
    for name in ("point", "prototype", "second", "ratio"):
        np.testing.assert_array_equal(told.points[name], best[name])


def test_counterparts_share_most_weight(rng):
    for _ in range(20):
        K = int(rng.integers(1, 6))
        labels, own, m = rng.integers(0, K, 30), rng.integers(0, K, 30), rng.random(30)
        found, tried = counterparts(labels, own, m, K), matched_by_trying(labels, own, m, K)
        assert sorted(found) == list(range(K))
        assert m[found[labels] == own].sum() == pytest.approx(m[tried[labels] == own].sum())


def test_memberships_share_what_is_not_sure(rng):
    X = overlapping(rng)
    told = uncertainty(MedianNeuralGas(6, random_state=0).fit(X), X)
    U, i = told.memberships, np.arange(len(X))
    np.testing.assert_allclose(U.sum(axis=1), 1)
    np.testing.assert_allclose(U[i, told.points["prototype"]], told.points["confidence"])
    moved = np.flatnonzero(told.points["stability"] < 1)
    assert len(moved) > 10
    for k in moved:
        elsewhere = np.array([np.sum(told.runs[:, k] == j) for j in range(6)], float)
        elsewhere[told.points["prototype"][k]] = 0
        np.testing.assert_allclose(
            np.delete(U[k], told.points["prototype"][k]),
            np.delete((1 - told.points["confidence"][k]) * elsewhere / elsewhere.sum(), told.points["prototype"][k]),
        )
    firm = np.flatnonzero(told.points["stability"] == 1)
    np.testing.assert_allclose(U[firm, told.points["second"][firm]], 1 - told.points["confidence"][firm])


def errors_in_bins(p, observed):
    """Mean over points of |mean p - mean observed| of the tenth of [0, 1] that p is in."""
    tenth = np.minimum((10 * p).astype(int), 9)
    return sum(abs((p - observed)[tenth == k].sum()) for k in range(10)) / len(p)


def test_confidences_come_true_on_further_resamples(rng):
    X = overlapping(rng, 300)
    D = cdist(X, X)
    gas = MedianNeuralGas(12, metric="precomputed", random_state=0).fit(D)
    told, further = uncertainty(gas, D, random_state=0), uncertainty(gas, D, n_resamples=40, random_state=1)
    observed = further.points["stability"]
    error = errors_in_bins(told.points["confidence"], observed)
    assert error < 0.035
    assert error < 0.7 * errors_in_bins(told.points["stability"], observed)


def test_new_objects_keep_their_prototype_as_often_as_told(rng):
    X, new = overlapping(rng, 300), overlapping(np.random.default_rng(5), 300)
    gas = MedianNeuralGas(6, random_state=0).fit(X)
    told = uncertainty(gas, X).confidence_of(gas.transform(new))
    draws, own, kept = as_generator(1), gas.predict(new), np.zeros(300)
    for _ in range(30):
        m = np.bincount(draws.integers(300, size=300), minlength=300).astype(float)
        again = MedianNeuralGas(6, random_state=int(draws.integers(1000))).fit(X, sample_weight=m)
        kept += counterparts(again.labels_, gas.labels_, np.ones(300), 6)[again.predict(new)] == own
    assert errors_in_bins(told, kept / 30) < 0.06
    assert np.corrcoef(told, kept)[0, 1] > 0.6


def test_confidence_of_new_objects_is_the_likeliest_logistic_curve(rng):
    X = overlapping(rng, 150)
    gas = MedianNeuralGas(6, random_state=0).fit(X)
    told = uncertainty(gas, X)
    p = np.clip(told.prototype_stability[told.points["prototype"]], 0.01, 0.99)
    features = np.column_stack([np.ones(150), np.log(p / (1 - p)), told.points["ratio"]])
    kept = told.points["stability"]
    by_sklearn = LogisticRegression(C=1e3, fit_intercept=False, tol=1e-10, max_iter=1000).fit(
        np.vstack([features, features]), np.repeat([1, 0], 150), np.concatenate([kept, 1 - kept])
    )
    np.testing.assert_allclose(
        told.confidence_of(gas.transform(X)), by_sklearn.predict_proba(features)[:, 1], atol=2e-4
    )


def test_shrunk_shares_are_posterior_means(rng):
    """Shares of 20 draws whose probabilities are Beta(3, 1): E[p | k] = (k + 3) / 24."""
    p = rng.beta(3, 1, 20_000)
    share = rng.binomial(20, p) / 20
    np.testing.assert_allclose(shrunk(share, 20)(np.arange(21) / 20), (np.arange(21) + 3) / 24, atol=0.01)


def test_shares_that_differ_by_chance_alone_become_their_mean(rng):
    share = rng.binomial(20, 0.7, 5000) / 20
    assert np.ptp(shrunk(share, 20)(np.array([0.4, 1.0]))) < 0.12


def test_far_groups_are_sure_and_structureless_points_are_not(rng):
    X = np.vstack([rng.normal(size=(30, 2)) + 50 * k for k in range(3)])
    far = uncertainty(MedianKMeans(3, init="k-medoids++", n_init=5, random_state=0).fit(X), X)
    assert far.points["stability"].min() == 1
    assert far.points["confidence"].min() > 0.99
    flat = rng.random((90, 5))
    assert uncertainty(MedianKMeans(12, random_state=0).fit(flat), flat).points["confidence"].mean() < 0.7


@pytest.mark.parametrize(
    "map_",
    [
        MedianSOM((2, 3), random_state=0),
        RelationalKMeans(4, metric="sqeuclidean", random_state=0),
        BatchNeuralGas(4, random_state=0),
        MedianKMeans(4, init=[0, 5, 9, 11]),
        MedianKMeans(1),
    ],
    ids=lambda map_: type(map_).__name__,
)
def test_every_map_can_be_asked(map_, rng):
    X = overlapping(rng, 60)
    told = uncertainty(map_.fit(X), X, n_resamples=4)
    assert told.points["stability"].shape == (60,)
    assert set(np.unique(told.runs)) <= set(range(len(map_.hits_)))
    np.testing.assert_allclose(told.memberships.sum(axis=1), 1)
    assert ((told.confidence_of(map_.transform(X)) > 0) & (told.points["confidence"] > 0)).all()


def test_threads_change_nothing_and_seeds_do(rng):
    X = overlapping(rng, 80)
    runs = [
        uncertainty(MedianNeuralGas(5, random_state=0, n_jobs=n).fit(X), X, n_resamples=5, random_state=seed).runs
        for n, seed in ((1, 0), (2, 0), (1, 1))
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()


def test_what_cannot_be_asked(rng):
    X = overlapping(rng, 30)
    km = MedianKMeans(3, random_state=0).fit(X)
    for model, data, kind, words in [
        (PatchClusterer(km, 20), X, TypeError, "PatchClusterer; pass one of medianmap's maps"),
        (MedianKMeans(3), X, NotFittedError, "not fitted"),
        (km, X[:20], ValueError, "fitted on 30 points, X has 20"),
        (MedianKMeans(20, random_state=0).fit(X), X, ValueError, "20 prototypes for 30 points"),
    ]:
        with pytest.raises(kind, match=words):
            uncertainty(model, data)
    with pytest.raises(ValueError, match="n_resamples"):
        uncertainty(km, X, n_resamples=1)
