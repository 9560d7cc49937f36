"""refine="swap" beside labels: exemplars are exchanged as d_beta says."""

from itertools import combinations, product

import numpy as np
import pytest
from support.maps import blob_distances, blobs

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, PatchClusterer, PrototypeClassifier
from medianmap.core.label_term import LabelTerm
from medianmap.core.labels import training_labels
from medianmap.refine.candidates import Block
from medianmap.refine.labelled import labelled_source
from medianmap.refine.map_cost import MapState
from medianmap.refine.som_swaps import _SwapMoves
from medianmap.sources import ALL, as_dissimilarity

KINDS = (MedianKMeans, MedianNeuralGas)


def d_beta(D, y, beta, scale=1.0):
    """By hand, for classes as numbers, all known."""
    return beta / scale * D + (1 - beta) * 2.0 * (y[:, None] != y[None])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("symmetric", [True, False])
def test_the_matrix_is_that_of_the_formula(rng, dtype, symmetric):
    D = rng.random((40, 40)).astype(dtype)
    D = D + D.T if symmetric else D
    np.fill_diagonal(D, 0)
    y = rng.integers(3, size=40)
    source = labelled_source(as_dissimilarity(D), LabelTerm(training_labels(y, np.ones(40), stacklevel=1), 0.3, 2.0))
    assert source.symmetric == symmetric
    assert source.block(ALL, ALL).dtype == dtype
    np.testing.assert_allclose(source.block(ALL, ALL), d_beta(D, y, 0.3, 2.0), rtol=1e-6)
    rows, cols = np.array([3, 1, 30]), slice(5, 9)
    assert np.array_equal(source.block(rows, cols), source.block(ALL, ALL)[rows][:, cols])


def test_points_without_label(rng):
    D, y = blob_distances(rng, n=30), rng.integers(3, size=30)
    known = np.arange(30) % 3 > 0
    given = [int(c) if k else None for c, k in zip(y, known, strict=True)]
    source = labelled_source(as_dissimilarity(D), LabelTerm(training_labels(given, np.ones(30), stacklevel=1), 0.4))
    brought = np.array([y[i] if known[i] else y[np.flatnonzero(known)[D[known, i].argmin()]] for i in range(30)])
    expected = 0.4 * D + 0.6 * 2.0 * (y[:, None] != brought[None]) * known[:, None]
    np.testing.assert_allclose(source.block(ALL, ALL), expected, atol=1e-12)
    assert not source.symmetric


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beta", [0.05, 0.3, 0.9])
def test_no_single_swap_is_better(rng, kind, beta):
    D, y = blob_distances(rng, n=12), np.arange(12) % 3
    for seed in range(5):
        map_ = kind(4, metric="precomputed", refine="swap", random_state=seed)
        fitted = PrototypeClassifier(map_, beta=beta, label_scale=None).fit(D, y)
        B = d_beta(D, y, beta)
        w = fitted.estimator_.medoid_indices_
        loss = B[:, w].min(axis=1).sum()
        for j, c in product(range(4), range(12)):
            other = w.copy()
            other[j] = c
            assert B[:, other].min(axis=1).sum() >= loss - 1e-9 * loss


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_the_means_of_the_fields_that_they_make(rng, kind):
    X, y = blobs(rng, n=90, centers=5), np.arange(90) % 4
    clf = PrototypeClassifier(kind(7, refine="swap", random_state=0), 0.5, "learned", None).fit(X, y)
    Y, one_hot = clf.prototype_labels_, np.eye(4)[y]
    G = clf.estimator_.transform(X)
    field = (0.5 * G + 0.5 * ((one_hot[:, None] - Y[None]) ** 2).sum(axis=2)).argmin(axis=1)
    for j in np.unique(field):
        np.testing.assert_allclose(Y[j], one_hot[field == j].mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_swaps_lower_the_error_and_threads_do_not_matter(rng, kind):
    X, y = blobs(rng, n=200, centers=6), np.arange(200) % 6
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)

    def fitted(**params):
        map_ = kind(15, metric="precomputed", random_state=0, **params)
        return PrototypeClassifier(map_, beta=0.2).fit(D, y).estimator_

    plain, one, two = fitted(), fitted(refine="swap", n_jobs=1), fitted(refine="swap", n_jobs=2)
    B = d_beta(D, y, 0.2)
    assert np.array_equal(one.medoid_indices_, two.medoid_indices_)
    assert B[:, one.medoid_indices_].min(axis=1).sum() < B[:, plain.medoid_indices_].min(axis=1).sum()
    assert one.n_swaps_ > 0


def test_patches_and_weights(rng):
    X, y = blobs(rng, n=240, centers=4), rng.integers(2, size=240)
    passes = PatchClusterer(MedianNeuralGas(8, refine="swap", random_state=0), 80)
    clf = PrototypeClassifier(passes, beta=0.5).fit(X, y, sample_weight=np.where(np.arange(240) % 2, 1.0, 2.0))
    assert clf.estimator_.multiplicities_.sum() == 360
    assert clf.score(X, y) > 0.5


@pytest.mark.parametrize("beta", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("refine", [None, "swap"])
def test_a_som_lowers_its_cost_in_d_beta(rng, beta, refine):
    """And the label vectors are those that the exemplars' fields make."""
    D, y = blob_distances(rng, n=80, centers=9), np.arange(80) % 3
    som = MedianSOM((3, 4), metric="precomputed", refine=refine, sigma_end=0.01, random_state=0)
    clf = PrototypeClassifier(som, beta, "learned", None).fit(D, y)
    w, lattice, B = clf.estimator_.medoid_indices_, clf.estimator_.lattice_, d_beta(D, y, beta)
    state = MapState.of(B[:, w].copy(), w, np.ones(80), lattice, 0.12)
    if refine is not None:
        moves = _SwapMoves(state, np.isin(np.arange(80), w))
        assert moves._look(Block(np.arange(80), np.ascontiguousarray(B.T), np.arange(80))) == (-1, -1)
    now = state.disorder
    for j, k in combinations(range(12), 2):
        p = np.arange(12)
        p[[j, k]] = k, j
        state.permute(p)
        assert state.disorder > now - 1e-9
        state.permute(p)
    Y, one_hot = clf.prototype_labels_, np.eye(3)[y]
    field = (beta * D[:, w] + (1 - beta) * ((one_hot[:, None] - Y[None]) ** 2).sum(axis=2)).argmin(axis=1)
    for j in np.unique(field):
        np.testing.assert_allclose(Y[j], one_hot[field == j].mean(axis=0), atol=1e-9)
