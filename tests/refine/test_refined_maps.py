"""refine="swap" on the maps: never worse, a local optimum, the lattice's order kept; annealing="auto"."""

import threading
from itertools import product

import numpy as np
import pytest
from support.maps import METHODS, blob_distances, blobs, estimator, grid_of

from medianmap import (
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
    RelationalSOM,
    arrange,
    load,
    reference,
    save,
)
from medianmap.core.spaces import snapped
from medianmap.estimators.fit import as_generator
from medianmap.refine import refine_som, swap_medoids


def loss(D, m, medoids):
    return (m * D[:, medoids].min(axis=1)).sum()


@pytest.mark.parametrize("method", ["kmeans", "gas"])
@pytest.mark.parametrize("annealing", ["auto", "median", "relational"])
def test_the_result_is_a_local_optimum_over_all_single_swaps(method, annealing, rng):
    D = rng.random((12, 12))
    D[np.arange(12), np.arange(12)] = 0
    m = rng.integers(1, 4, 12).astype(float)
    fitted = estimator(method, 4, metric="precomputed", refine="swap", annealing=annealing, random_state=0)
    w = fitted.fit(D, sample_weight=m).medoid_indices_
    for j, c in product(range(4), range(12)):
        other = w.copy()
        other[j] = c
        assert loss(D, m, other) >= loss(D, m, w) * (1 - 1e-9)
    assert fitted.inertia_ == pytest.approx(loss(D, m, w))


@pytest.mark.parametrize("method", METHODS)
def test_swaps_go_on_where_training_ended(method, rng):
    D = blob_distances(rng, n=150, centers=9)
    params = {"metric": "precomputed", "annealing": "median", "random_state": 0}
    plain = estimator(method, 12, **params).fit(D)
    refined = estimator(method, 12, refine="swap", **params).fit(D)
    np.testing.assert_array_equal(refined.history_, plain.history_)
    assert refined.n_swaps_ > 0
    assert not hasattr(plain, "n_swaps_")
    if method != "som":
        assert refined.inertia_ < plain.inertia_
    none = estimator(method, 12, refine="swap", max_swaps=0, **params).fit(D)
    np.testing.assert_array_equal(np.sort(none.medoid_indices_), np.sort(plain.medoid_indices_))
    if method != "som":  # which arranges them
        np.testing.assert_array_equal(none.medoid_indices_, plain.medoid_indices_)
    assert estimator(method, 12, refine="swap", max_swaps=1, **params).fit(D).n_swaps_ == 1


@pytest.mark.parametrize("annealing", ["auto", "median"])
def test_a_refined_som_quantizes_better_and_is_ordered_better(annealing, rng):
    D = blob_distances(rng, n=300, centers=9)
    params = {"metric": "precomputed", "annealing": annealing, "random_state": 0}
    plain = MedianSOM((5, 6), **params).fit(D)
    refined = MedianSOM((5, 6), refine="swap", **params).fit(D)

    def cost(som, order=0.12):
        Q, t, r = reference.map_parts(D, som.medoid_indices_, som.lattice_.distances, np.ones(300))
        return Q * (1 + order * (t + 1 - r))

    assert cost(refined) <= cost(plain)  # whose exchanges may have found as much
    if annealing == "median":  # which neither exchanges nor arranges
        assert cost(refined) < cost(plain)
        assert refined.inertia_ < plain.inertia_
    assert len(set(refined.medoid_indices_.tolist())) == 30
    free, strict = (MedianSOM((5, 6), refine="swap", order=order, **params).fit(D) for order in (0.0, 0.5))
    assert free.inertia_ < strict.inertia_


def test_exemplars_of_an_annealed_som_are_exchanged_and_arranged(rng, monkeypatch):
    """At most 8 K swaps and the arrangement, in the cost that `order` weighs; no epoch at sigma_end comes before."""
    D = blob_distances(rng, n=200, centers=30)
    params = {"metric": "precomputed", "init": np.arange(20), "random_state": 3}
    som = MedianSOM((4, 5), **params).fit(D)
    assert len(som.history_) == som.n_epochs + 1
    monkeypatch.setattr("medianmap.estimators.base.MAX_SETTLING", 0)
    anneal = RelationalSOM((4, 5), arrange=False, **params).fit(D)
    places = snapped(anneal.transform(D), distinct=True)
    expected = refine_som(D, places, som.lattice_, max_swaps=160, random_state=as_generator(3))
    np.testing.assert_array_equal(som.medoid_indices_, expected.medoids)
    np.testing.assert_array_equal(som.history_[:-1], anneal.history_)
    assert som.history_["quantization_error"][-1] == som.quantization_error_
    assert som.converged_ == expected.converged
    assert not hasattr(som, "n_swaps_")
    monkeypatch.setattr("medianmap.estimators.fit.EXCHANGES", 1)
    assert not MedianSOM((4, 5), **params).fit(D).converged_


@pytest.mark.parametrize("method", METHODS)
def test_without_annealing_the_start_is_the_map(method, rng):
    D, start = blob_distances(rng, n=80, centers=9), [3, 70, 41, 5, 22, 60]
    params = {"metric": "precomputed", "init": start, "annealing": "none"}
    given = estimator(method, 6, **params).fit(D)
    np.testing.assert_array_equal(given.medoid_indices_, start)
    assert (given.n_iter_, given.converged_) == (1, True)
    refined = estimator(method, 6, refine="swap", **params).fit(D)
    assert refined.inertia_ < given.inertia_
    laid_out = estimator(method, 6, refine="swap", max_swaps=0, **params).fit(D)
    if method == "som":
        np.testing.assert_array_equal(laid_out.medoid_indices_, arrange(D, start, laid_out.grid).medoid_indices)
    assert sorted(laid_out.medoid_indices_) == sorted(start)


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_weights_of_zero(method, rng):
    D = blob_distances(rng, n=90, centers=9)
    m = np.r_[np.zeros(10), rng.integers(1, 4, 80)].astype(float)
    params = {"metric": "precomputed", "refine": "swap", "random_state": 1, "n_init": 3}
    one, two = (estimator(method, 6, n_jobs=n, **params).fit(D, sample_weight=m) for n in (1, 2))
    np.testing.assert_array_equal(one.medoid_indices_, two.medoid_indices_)
    assert (one.medoid_indices_ >= 10).all()


def test_auto_is_relational_and_leaves_k_means_to_the_swaps(rng):
    D = blob_distances(rng, n=120, centers=9)

    def same(auto, other):
        return np.array_equal(auto.fit(D).history_, other.fit(D).history_)

    fixed = {"metric": "precomputed", "random_state": 0}
    assert same(MedianKMeans(9, **fixed), MedianKMeans(9, annealing="relational", **fixed))
    start = np.random.default_rng(3).choice(120, 9, replace=False)
    swapped = MedianKMeans(9, metric="precomputed", refine="swap", init=start, random_state=0).fit(D)
    expected = swap_medoids(D, start, random_state=as_generator(0))
    np.testing.assert_array_equal(swapped.medoid_indices_, expected.medoids)
    assert (swapped.n_iter_, swapped.converged_) == (1, True)
    assert swapped.history_["cost"][0] == D[:, start].min(axis=1).sum()
    # No epoch of K-means moves a prototype of a local optimum.
    alternated = MedianKMeans(9, metric="precomputed", annealing="median", init=swapped.medoid_indices_).fit(D)
    np.testing.assert_array_equal(alternated.medoid_indices_, swapped.medoid_indices_)
    for refine in (None, "swap"):
        assert same(
            MedianNeuralGas(9, refine=refine, **fixed),
            MedianNeuralGas(9, annealing="relational", refine=refine, **fixed),
        )
        assert same(
            MedianSOM(grid_of(9), refine=refine, **fixed),
            MedianSOM(grid_of(9), annealing="relational", refine=refine, **fixed),
        )


@pytest.mark.parametrize("method", METHODS)
def test_patches_and_model_files(method, rng, tmp_path):
    X = blobs(rng, n=90)
    patches = PatchClusterer(estimator(method, 4, refine="swap", random_state=0), patch_size=30).fit(X)
    assert patches.multiplicities_.sum() == 90
    fitted = estimator(method, 4, refine="swap", random_state=0).fit(X)
    save(fitted, tmp_path / "m.mmap")
    again = load(tmp_path / "m.mmap")
    assert (again.refine, again.n_swaps_) == ("swap", fitted.n_swaps_)


def test_what_cannot_be_is_said(rng):
    X = blobs(rng)
    with pytest.raises(ValueError, match="refine"):
        MedianKMeans(3, refine="swop").fit(X)
    with pytest.raises(ValueError, match="max_swaps"):
        MedianKMeans(3, refine="swap", max_swaps=-1).fit(X)
    with pytest.raises(ValueError, match="annealing"):
        MedianKMeans(3, annealing="slow").fit(X)
    with pytest.raises(ValueError, match=r"order is 1\.5.*\[0, 1\]"):
        MedianSOM((1, 3), order=1.5).fit(X)


@pytest.mark.parametrize("method", METHODS)
def test_learned_labels_are_those_of_the_refined_exemplars(method, rng):
    D = blob_distances(rng, n=150, centers=9)
    y = rng.integers(0, 3, 150)
    params = {"metric": "precomputed", "refine": "swap", "annealing": "median", "random_state": 0}
    if method == "som":
        params["sigma_end"] = 0.01  # where neighbours count, a neuron learns their labels, too
    fitted = PrototypeClassifier(estimator(method, 12, **params), 1.0, "learned").fit(D, y)
    assert fitted.estimator_.n_swaps_ > 0
    winner = fitted.estimator_.labels_
    for j in np.flatnonzero(fitted.estimator_.hits_):
        share = [np.mean(y[winner == j] == c) for c in range(3)]
        np.testing.assert_allclose(fitted.prototype_labels_[j], share, atol=1e-12)


@pytest.mark.parametrize("method", ["gas", "som"])
def test_a_single_epoch_of_annealing_comes_before_the_swaps(method, rng):
    D = blob_distances(rng, n=80, centers=9)
    params = {"metric": "precomputed", "sigma_start": 2.0, "init": np.arange(9), "annealing": "auto"}
    plain, refined = (
        estimator(method, 9, refine=refine, **params).set_params(n_epochs=1).fit(D) for refine in (None, "swap")
    )
    annealed = slice(None if method == "gas" else -1)  # a SOM's last record is of the exemplars as they ended
    np.testing.assert_array_equal(refined.history_[annealed], plain.history_[annealed])
    assert refined.history_["sigma"][0] == 2.0


def test_a_users_function_sees_the_start_of_swapped_k_means(rng):
    seen = []
    km = MedianKMeans(3, refine="swap", n_init=2, random_state=0, on_epoch=seen.append).fit(blobs(rng))
    assert [(epoch.run, epoch.number) for epoch in seen] == [(0, 0), (1, 0)]
    assert km.n_iter_ == 1


@pytest.mark.parametrize("method", METHODS)
def test_what_does_not_fit_in_memory_is_refined_by_one_thread_to_the_same_end(method, rng, monkeypatch):
    X, threads = blobs(rng, n=40), set()

    def difference(a, b):
        threads.add(threading.get_ident())
        return float(np.abs(a - b).sum())

    params = {"refine": "swap", "n_jobs": 2, "random_state": 0}
    whole = estimator(method, 6, metric="cityblock", **params).fit(X)
    monkeypatch.setattr("medianmap.sources.base.KEEP_BYTES", 40 * 8 * 7)  # seven rows
    monkeypatch.setattr("medianmap.refine.descent.AHEAD", 4)
    for metric in ("cityblock", difference):
        partly = estimator(method, 6, metric=metric, **params).fit(X)
        np.testing.assert_array_equal(partly.medoid_indices_, whole.medoid_indices_)
    assert threads == {threading.get_ident()}


def test_few_swaps_come_after_training_not_instead_of_it(rng):
    X, params = blobs(rng, n=200, centers=8), {"metric": "sqeuclidean", "random_state": 0}
    trained = MedianKMeans(12, max_swaps=0, **params).fit(X)
    errors = [MedianKMeans(12, refine="swap", max_swaps=n, **params).fit(X).inertia_ for n in (0, 2, 5)]
    assert errors[0] == trained.inertia_
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] >= MedianKMeans(12, **params).fit(X).inertia_  # which exchanges until none gains
