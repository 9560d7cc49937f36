"""The path that every user of a median map takes by default, against reference.py: same exemplars, same labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.maps import METHODS, blob_distances, estimator, grid_of, reference_of

from medianmap import PrototypeClassifier, reference
from medianmap.core.neighborhood import make_lattice
from medianmap.estimators.fit import as_generator

SEED = 0  # of the estimators, whose starts are given: all that it draws is the order of the exchanges


def expected(method, K, start, D, **told):
    weights, sigmas = reference_of(method, K)
    settle = 299 if method == "kmeans" else 300
    lattice = make_lattice(grid_of(K)).distances if method == "som" else None
    rng = told.pop("rng", None) or as_generator(SEED)
    return reference.fit_by_combinations(weights, sigmas, start, D, rng, lattice=lattice, settle=settle, **told)


def same_map(fitted, w, D, m):
    """Whether the exemplars are w; of a SOM, whose lattice can be turned over, whether it is as well ordered."""
    if not hasattr(fitted, "lattice_"):
        return fitted.medoid_indices_.tolist() == w.tolist()
    parts = [reference.map_parts(D, each, fitted.lattice_.distances, m) for each in (fitted.medoid_indices_, w)]
    return sorted(fitted.medoid_indices_) == sorted(w) and np.allclose(*parts, rtol=1e-9, atol=1e-9)


def without_ties(seed, n=30):
    """Distances of clouds of vectors: no two sums are equal, so rounding decides nothing."""
    rng = np.random.default_rng(seed)
    return blob_distances(rng, n), rng


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 9))
@settings(max_examples=24)
def test_default_maps_end_where_the_reference_ends(method, seed, K):
    D, rng = without_ties(seed)
    if method == "som":  # the reference tries all arrangements; in 2 x 2 two neurons may be equal but for rounding
        K = (2, 3, 5)[K % 3]
    start = rng.permutation(len(D))[:K]
    # The mean of two points of equal weight is equally far from both, and rounding would choose the exemplar.
    m = rng.uniform(1, 3, len(D))
    params = {"metric": "precomputed", "init": start, "annealing": "auto", "random_state": SEED}
    fitted = estimator(method, K, **params).fit(D, sample_weight=m)
    w, _, costs = expected(method, K, start, D, m=m)
    assert same_map(fitted, w, D, m)
    assert len(fitted.history_) == len(costs)
    np.testing.assert_allclose(fitted.history_["cost"], costs, rtol=1e-9, atol=1e-12 * D.sum())
    assert fitted.labels_.tolist() == D[:, fitted.medoid_indices_].argmin(axis=1).tolist()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [1.0, 0.5], ids=["all labels", "half of them"])
@pytest.mark.parametrize("beta", [0.4, "auto"])
def test_labels_are_learned_as_in_the_reference(method, seed, share, beta):
    D, rng = without_ties(seed)
    n, K = len(D), 4
    known = rng.permutation(n) < share * n
    y = np.where(known, rng.integers(0, 2, n), -1)
    start, m = rng.permutation(n)[:K], rng.uniform(1, 3, n)
    map_ = estimator(method, K, metric="precomputed", init=start, annealing="auto", random_state=SEED)
    scaled = {} if beta == "auto" else {"label_scale": None}
    classifier = PrototypeClassifier(map_, beta, labeling="learned", unlabeled=-1, **scaled).fit(D, y, sample_weight=m)
    told = {"y": np.where(known[:, None], np.eye(2)[y], np.nan), "beta": beta, "scale": 1.0}
    if beta == "auto":
        told |= {"beta": 1 / (1 + 0.25 * (1 - K / m[known].sum())), "scale": np.average(D, weights=np.outer(m, m))}
        assert classifier.beta_ == pytest.approx(told["beta"])
    w, Y, _ = expected(method, K, start, D, m=m, **told)
    seen, _ = reference.between_points(D, told["y"], told["beta"], told["scale"])
    assert same_map(classifier.estimator_, w, seen, m)
    place = [w.tolist().index(each) for each in classifier.estimator_.medoid_indices_]
    np.testing.assert_allclose(classifier.prototype_labels_, Y[place], rtol=1e-9, atol=1e-12)


def test_a_random_start_is_drawn_once_from_the_seed():
    D, _ = without_ties(8)
    fitted = estimator("gas", 5, metric="precomputed", random_state=4, annealing="auto").fit(D)
    rng = as_generator(4)
    start = rng.choice(len(D), 5, replace=False)
    assert fitted.medoid_indices_.tolist() == expected("gas", 5, start, D, rng=rng)[0].tolist()


def test_an_exchange_leaves_a_start_that_epochs_cannot():
    """Two prototypes in one cloud and none in the other: only an exchange brings one there."""
    x = np.array([0.0, 1, 2.5, 4, 100, 101.5])
    D = np.abs(np.subtract.outer(x, x))
    swapped = reference.exchange(D, np.array([0, 2]), np.ones(6), np.arange(6), most=2)
    assert sorted(x[swapped] > 50) == [False, True]
    fitted = estimator("kmeans", 2, metric="precomputed", init=[0, 2], annealing="auto").fit(D)
    assert sorted(x[fitted.medoid_indices_] > 50) == [False, True]


def test_exchanges_go_on_until_none_gains():
    """From a start in one cloud more than K exchanges are needed; max_swaps stops them."""
    D = blob_distances(np.random.default_rng(40), 30)
    K, start = 3, np.sort(np.argsort(D[0])[:3])
    w, _, _ = expected("kmeans", K, start, D)
    params = {"metric": "precomputed", "init": start, "annealing": "auto", "random_state": SEED}
    fitted = estimator("kmeans", K, **params).fit(D)
    assert fitted.medoid_indices_.tolist() == w.tolist()
    few = estimator("kmeans", K, max_swaps=K, **params).fit(D)
    assert few.inertia_ > 1.05 * fitted.inertia_
