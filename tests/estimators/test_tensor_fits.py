"""Fits on tensors against fits here: the same exemplars where none are exchanged, optima of swaps where they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.extras import optional
from support.strategies import cases
from support.tensors import one_thread  # noqa: F401

from medianmap import (
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PrototypeClassifier,
    RelationalKMeans,
    RelationalNeuralGas,
    RelationalSOM,
    as_dissimilarity,
)
from medianmap.core.label_term import LabelTerm
from medianmap.core.labels import training_labels
from medianmap.core.tensor_spaces import TensorMedianSpace
from medianmap.refine import refine_som, swap_medoids
from medianmap.refine.labelled import labelled_source
from medianmap.sources.base import DenseSource

torch = optional("torch")
DEVICE = "torch:cpu"
PRECOMPUTED = {"metric": "precomputed", "random_state": 3}
PLAIN = {"kmeans": MedianKMeans, "gas": MedianNeuralGas}
RELATIONAL = {"kmeans": RelationalKMeans, "gas": RelationalNeuralGas}


def both(make, D, **given):
    """The map that `make(device)` gives, fitted here and on tensors."""
    return make(None).fit(D, **given), make(DEVICE).fit(D, **given)


def clusters(rng, n=140, dtype=np.float64, symmetric=True):
    X = rng.normal(size=(8, 3))[rng.integers(0, 8, n)] * 3 + rng.normal(size=(n, 3))
    D = ((X[:, None] - X) ** 2).sum(axis=2)
    if not symmetric:
        D = D * rng.uniform(0.9, 1.1, D.shape)
    return D.astype(dtype)


# --- where nothing is exchanged, the exemplars are those of the CPU


@settings(max_examples=60)
@given(
    cases(), st.sampled_from(["kmeans", "gas", "som"]), st.sampled_from([np.float64, np.float32]),
    st.sampled_from(["distinct", "allow", "noise"]),
)  # fmt: skip
def test_data_points_annealed_as_such_are_those_of_the_cpu(case, kind, dtype, collisions):
    if case.kind == "subnormal":
        dtype = np.float64  # in float32 there are none
    given = {**PRECOMPUTED, "annealing": "median", "collisions": collisions, "init": case.start}
    if kind == "som":
        given |= {"grid": (1, case.K), "order": 0.12, "arrange": False}
    else:
        given |= {"n_clusters": case.K}
    if kind != "kmeans":
        given |= {"n_epochs": 12, "sigma_start": 2.0}
    make = {**PLAIN, "som": MedianSOM}[kind]
    here, there = both(lambda device: make(**given, device=device), case.D.astype(dtype), sample_weight=case.m)
    np.testing.assert_array_equal(there.medoid_indices_, here.medoid_indices_)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    assert there.inertia_ == here.inertia_
    np.testing.assert_allclose(there.history_["cost"], here.history_["cost"], rtol=1e-9, atol=1e-320)
    np.testing.assert_array_equal(there.history_["moved"], here.history_["moved"])


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("neighborhood", "truncate"), [("exponential", None), ("gaussian", 2)])
@pytest.mark.parametrize("kind", ["kmeans", "gas", "som"])
def test_combinations_are_those_of_the_cpu(rng, symmetric, neighborhood, truncate, kind):
    D, m = clusters(rng, symmetric=symmetric), rng.integers(0, 3, 140).astype(float)
    shape = {"neighborhood": neighborhood, "truncate": truncate}

    def make(device):
        given = {**PRECOMPUTED, "device": device}
        if kind == "som":
            return RelationalSOM((2, 4), **given, **shape, winner="nearest" if truncate else "neighborhood")
        return RelationalKMeans(8, **given) if kind == "kmeans" else RelationalNeuralGas(8, **given, **shape)

    for weights in (None, m):
        here, there = both(make, D, sample_weight=weights)
        np.testing.assert_array_equal(there.exemplar_indices_, here.exemplar_indices_)
        np.testing.assert_array_equal(there.labels_, here.labels_)
        np.testing.assert_array_equal(there.support_, here.support_)
        np.testing.assert_allclose(there.coefficients_.toarray(), here.coefficients_.toarray(), atol=1e-9)
        np.testing.assert_allclose(there.inertia_, here.inertia_, rtol=1e-9)
        np.testing.assert_array_equal(there.predict(D), there.labels_)


def test_cooled_k_means_is_that_of_the_cpu(rng):
    D = clusters(rng)
    here, there = both(lambda device: RelationalKMeans(6, temperature="auto", device=device, **PRECOMPUTED), D)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.history_["cost"], here.history_["cost"], rtol=1e-9)
    np.testing.assert_allclose(there.history_["sigma"], here.history_["sigma"], rtol=1e-12)


def test_a_prototype_without_points_stays_a_combination(rng):
    D = np.zeros((30, 30))  # all points win the first prototype
    D[0, 1:], D[1:, 0] = 5.0, 5.0
    here, there = both(lambda device: RelationalKMeans(4, init=[1, 2, 3, 4], device=device, **PRECOMPUTED), D)
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(there.coefficients_.toarray(), here.coefficients_.toarray(), atol=1e-12)


@pytest.mark.parametrize("init", ["k-medoids++", "embedding"])
def test_starts_are_those_of_the_cpu(rng, init):
    D = clusters(rng)
    here, there = both(lambda device: RelationalSOM((3, 3), init=init, n_init=2, device=device, **PRECOMPUTED), D)
    np.testing.assert_array_equal(there.labels_, here.labels_)


def test_compressed_annealing_is_that_of_the_cpu(rng):
    D = clusters(rng, n=600)
    here, there = both(lambda device: RelationalNeuralGas(12, compression=24, device=device, **PRECOMPUTED), D)
    assert there.history_["compression"][0] == here.history_["compression"][0] == 5  # squares of 3 coordinates
    np.testing.assert_allclose(there.history_["cost"][:15], here.history_["cost"][:15], rtol=1e-5)  # of float32
    np.testing.assert_allclose(there.inertia_, here.inertia_, rtol=0.01)
    warm = RelationalNeuralGas(12, compression=24, device=DEVICE, warm_start=True, **PRECOMPUTED).fit(D)
    np.testing.assert_array_equal(warm.labels_, there.labels_)
    assert warm.fit(D).inertia_ <= there.inertia_ * 1.01


def test_a_matrix_that_is_too_coarsely_compressed_is_taken_whole(rng, caplog):
    D = clusters(rng, n=600) + rng.uniform(0, 20, (600, 600))
    D = D + D.T
    np.fill_diagonal(D, 0)
    with caplog.at_level("INFO", "medianmap"):
        fitted = MedianNeuralGas(10, n_epochs=3, compression=8, device=DEVICE, **PRECOMPUTED).fit(D)
    assert "Annealing takes all of D" in caplog.text
    assert not fitted.history_["compression"].any()


# --- where exemplars are exchanged, they end in optima of single swaps


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("refine", [None, "swap"])
@pytest.mark.parametrize("kind", ["kmeans", "gas"])
def test_exemplars_end_in_an_optimum_of_the_cpus_rule(rng, dtype, refine, kind):
    D, m = clusters(rng, dtype=dtype), rng.uniform(0.5, 3, 140)
    here, there = both(lambda d: PLAIN[kind](9, refine=refine, device=d, **PRECOMPUTED), D, sample_weight=m)
    assert there.converged_
    assert swap_medoids(D, there.medoid_indices_, m).n_swaps == 0
    np.testing.assert_allclose(there.inertia_, (m * D[:, there.medoid_indices_].min(axis=1)).sum(), rtol=1e-12)
    assert there.inertia_ <= here.inertia_ * 1.05
    np.testing.assert_array_equal(there.predict(D), there.labels_)


def test_a_refined_som_ends_in_an_optimum_of_the_cpus_rule(rng):
    D = clusters(rng)
    fitted = MedianSOM((2, 4), refine="swap", device=DEVICE, **PRECOMPUTED).fit(D)
    assert fitted.converged_
    assert refine_som(D, fitted.medoid_indices_, fitted.lattice_, order=fitted.order, keep=True).n_swaps == 0
    np.testing.assert_array_equal(fitted.predict(D), fitted.labels_)


@pytest.mark.parametrize("make", [MedianKMeans, MedianNeuralGas, RelationalNeuralGas])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_the_same_again_for_the_same_seed(rng, make, dtype):
    D = clusters(rng)
    one, other = (make(7, **PRECOMPUTED).fit(as_dissimilarity(D, device=DEVICE, dtype=dtype)) for _ in range(2))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.inertia_ == other.inertia_
    if dtype != "float32" and make is not RelationalNeuralGas:  # the exact matrix decides in the end
        assert swap_medoids(D, one.medoid_indices_).n_swaps == 0


def test_exemplars_of_a_rounded_matrix_settle_on_the_exact_one(rng):
    """So coarse that some points coincide; annealed as data points, all of the fit sees the exact matrix."""
    D = clusters(rng) * 1e-3 + 10.0
    np.fill_diagonal(D, 0.0)
    coarse = as_dissimilarity(D, device=DEVICE, dtype="bfloat16")
    for annealing in ("auto", "median"):
        fitted = MedianNeuralGas(7, annealing=annealing, **PRECOMPUTED).fit(coarse)
        exact = MedianNeuralGas(7, annealing="median", init=fitted.medoid_indices_, n_epochs=1, sigma_start=0.01,
                                metric="precomputed").fit(D)  # fmt: skip
        np.testing.assert_array_equal(exact.medoid_indices_, fitted.medoid_indices_)
    here = MedianNeuralGas(7, annealing="median", **PRECOMPUTED).fit(D)
    np.testing.assert_array_equal(fitted.medoid_indices_, here.medoid_indices_)


@pytest.mark.parametrize("make", [MedianKMeans, MedianNeuralGas, RelationalKMeans])
def test_a_streamed_matrix_gives_the_same_fit(rng, make):
    for D in (clusters(rng), clusters(rng, symmetric=False)):
        resident, streamed = (
            make(7, **PRECOMPUTED).fit(as_dissimilarity(D, device=DEVICE, stream=stream)) for stream in (False, True)
        )
        np.testing.assert_array_equal(streamed.labels_, resident.labels_)
        np.testing.assert_allclose(streamed.inertia_, resident.inertia_, rtol=1e-12)


def test_points_without_weight_are_no_exemplars_but_have_labels(rng):
    D, m = clusters(rng), rng.integers(0, 2, 140).astype(float)
    for make in (MedianKMeans(6, device=DEVICE, **PRECOMPUTED), MedianSOM((2, 3), device=DEVICE, **PRECOMPUTED)):
        fitted = make.fit(D, sample_weight=m)
        assert (m[fitted.medoid_indices_] > 0).all()
        np.testing.assert_array_equal(fitted.labels_, D[:, fitted.medoid_indices_].argmin(axis=1))


# --- labels


@pytest.mark.parametrize("known", [1.0, 0.5])
@pytest.mark.parametrize("kind", ["kmeans", "gas", "som"])
def test_labels_count_as_on_the_cpu(rng, known, kind):
    D = clusters(rng)
    y = np.where(rng.random(140) < known, (D[:, 0] > np.median(D[:, 0])).astype(int), -1)

    def make(device):
        given = {**PRECOMPUTED, "device": device}
        inner = RelationalSOM((2, 4), **given) if kind == "som" else RELATIONAL[kind](8, **given)
        return PrototypeClassifier(inner, beta=0.4)

    here, there = make(None).fit(D, y), make(DEVICE).fit(D, y)
    np.testing.assert_array_equal(there.estimator_.labels_, here.estimator_.labels_)
    np.testing.assert_allclose(there.prototype_labels_, here.prototype_labels_, atol=1e-9)
    np.testing.assert_array_equal(there.predict(D), here.predict(D))


@pytest.mark.parametrize("known", [1.0, 0.5])
@pytest.mark.parametrize("symmetric", [True, False])
def test_labelled_dissimilarities_are_those_of_the_cpu(rng, known, symmetric):
    D = clusters(rng, 60, symmetric=symmetric)
    y = ["abc"[c] if rng.random() < known else None for c in rng.integers(0, 3, 60)]
    term = LabelTerm(training_labels(y, np.ones(60), stacklevel=1), 0.3, 2.5)
    here = labelled_source(DenseSource(D, symmetric), term)
    there = labelled_source(as_dissimilarity(D, device=DEVICE), term)
    every, points = slice(None), np.array([3, 40, 7])
    whole = here.block(every, every)
    np.testing.assert_array_equal(np.concatenate([panel for _, panel in there.panels(7)]), whole)
    np.testing.assert_array_equal(there.rows(points), whole[points])
    np.testing.assert_array_equal(there.columns(points), whole[:, points].T)
    assert there.symmetric == here.symmetric
    assert there.largest >= whole.max()
    start = np.arange(5)
    found = swap_medoids(there, start)
    assert found.converged
    assert swap_medoids(whole, found.medoids).n_swaps == 0
    np.testing.assert_array_equal(there.labels_of(found.medoids), here.labels_of(found.medoids))


def test_the_mean_that_scales_labels_is_that_of_the_cpu(rng):
    D, m = clusters(rng), rng.uniform(0.5, 2, 140)
    p = m / m.sum()
    space = TensorMedianSpace(as_dissimilarity(D, device=DEVICE), "auto")
    np.testing.assert_allclose(space.mean(m), p @ D @ p, rtol=1e-12)
