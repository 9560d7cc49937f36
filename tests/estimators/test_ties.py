"""ties="random": training in an order of the points that is drawn from random_state."""

import numpy as np
import pytest
from support.maps import METHODS, estimator

from medianmap import MedianKMeans, PatchClusterer, PrototypeClassifier, k_path
from medianmap.estimators.fit import as_generator
from medianmap.search import strategies_for

N, K = 60, 6


def whole_numbers(rng, n=N):
    """Dissimilarities with many ties."""
    D = rng.integers(1, 5, (n, n)).astype(float)
    D = D + D.T
    np.fill_diagonal(D, 0.0)
    return D


@pytest.mark.parametrize("annealing", ["median", "relational"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("refine", [None, "swap"])
def test_it_is_the_map_of_shuffled_rows(method, annealing, refine, rng):
    D, init = whole_numbers(rng), rng.permutation(N)[:K]
    m = rng.integers(0, 3, N).astype(float)
    m[init] += 1.0
    params = {"metric": "precomputed", "annealing": annealing, "refine": refine}
    drawn = as_generator(7)
    keep = np.flatnonzero(m)
    order = keep[drawn.permutation(len(keep))]
    init_there = [int(np.flatnonzero(order == i)[0]) for i in init]
    shuffled = estimator(method, K, init=init_there, random_state=drawn, **params)
    expected = shuffled.fit(D[np.ix_(order, order)], sample_weight=m[order])
    tied = estimator(method, K, init=init, ties="random", random_state=7, **params).fit(D, sample_weight=m)
    np.testing.assert_array_equal(tied.medoid_indices_, order[expected.medoid_indices_])
    np.testing.assert_array_equal(tied.hits_, expected.hits_)
    np.testing.assert_array_equal(tied.labels_, D[:, tied.medoid_indices_].argmin(axis=1))
    assert tied.inertia_ == pytest.approx(expected.inertia_, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_without_ties_nothing_changes(method, rng):
    X = rng.normal(size=(N, 3))
    fits = [estimator(method, K, init=np.arange(K), ties=ties, random_state=0).fit(X) for ties in ("first", "random")]
    np.testing.assert_array_equal(fits[0].medoid_indices_, fits[1].medoid_indices_)


def test_the_first_is_preferred_only_by_default():
    # Four points at equal distances: each is as good a medoid as the others.
    D = 1.0 - np.eye(4)
    one = [MedianKMeans(1, metric="precomputed", annealing="median", random_state=seed) for seed in range(40)]
    assert {int(each.fit(D).medoid_indices_[0]) for each in one} == {0}
    drawn = [int(each.set_params(ties="random").fit(D).medoid_indices_[0]) for each in one]
    assert set(drawn) == {0, 1, 2, 3}
    again = [int(each.fit(D).medoid_indices_[0]) for each in one]
    assert again == drawn


@pytest.mark.parametrize("method", METHODS)
def test_all_searches_and_threads_break_ties_alike(method, rng):
    D = whole_numbers(rng)
    params = {"metric": "precomputed", "ties": "random", "random_state": 3}
    names = ["auto", *strategies_for(estimator(method, K)._gives)]
    found = [
        estimator(method, K, search=name, n_jobs=n_jobs, **params).fit(D).medoid_indices_
        for name in names
        for n_jobs in (1, 2)
    ]
    assert len({tuple(each) for each in found}) == 1


def test_it_continues_from_the_same_points(rng):
    D = whole_numbers(rng)
    km = MedianKMeans(K, metric="precomputed", ties="random", warm_start=True, annealing="median", random_state=1)
    before = km.fit(D).medoid_indices_.copy()
    assert km.fit(D).n_iter_ == 1
    np.testing.assert_array_equal(km.medoid_indices_, before)


def test_in_patches_with_labels_and_along_a_path(rng):
    D, y = whole_numbers(rng), rng.integers(0, 2, N)
    km = MedianKMeans(4, metric="precomputed", ties="random", random_state=1)
    assert PatchClusterer(km, patch_size=20).fit(D).multiplicities_.sum() == N
    clf = PrototypeClassifier(km, 0.5).fit(D, y)
    np.testing.assert_array_equal(clf.predict(D[:3]), clf.predict(D)[:3])
    path = k_path(km, D, [2, 3, 5])
    for found, error in zip(path.prototypes, path.quantization_error, strict=True):
        assert error == pytest.approx(0.5 * D[:, found].min(axis=1).sum())


def test_a_wrong_word_is_refused(rng):
    with pytest.raises(ValueError, match="ties is 'last'; choose one of 'first', 'random'"):
        MedianKMeans(2, ties="last").fit(rng.normal(size=(5, 2)))
