"""Every index against a hand-worked example or another library."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.manifold import trustworthiness
from support.maps import blob_distances, blobs

from medianmap import BatchSOM, MedianSOM, as_dissimilarity
from medianmap.core import quality
from medianmap.core.neighborhood import make_lattice
from medianmap.report.summary import summarize
from medianmap.sources import points_to


def test_quantization_error_is_half_the_weighted_sum():
    G = np.array([[1.0, 4], [3, 2], [5, 5]])
    assert quality.inertia(G) == 8
    assert quality.quantization_error(G) == 4
    assert quality.quantization_error(G, np.array([2.0, 1, 0])) == 2


def test_purity_and_counts_by_hand():
    labels, y = [0, 0, 0, 2, 2], ["a", "a", "b", "b", "b"]
    assert quality.purity(labels, y) == 0.8
    counts, classes = quality.class_counts(labels, y)
    assert classes.tolist() == ["a", "b"]
    assert counts.tolist() == [[2, 1], [0, 0], [0, 2]]
    assert quality.purity(labels, y, np.array([1, 1, 8, 0, 0.0])) == 0.8


def test_topographic_error_by_hand():
    chain = make_lattice((1, 3), "rectangular")
    G = np.array([[0.0, 1, 2], [0, 2, 1], [2, 1, 0], [1, 1, 1]])
    # Nearest two: (0, 1) touch; (0, 2) do not; (2, 1) touch; ties take 0 and 1, which touch.
    assert quality.topographic_error(G, chain) == 0.25
    assert quality.topographic_error(G, chain, np.array([0, 3.0, 1, 0])) == 0.75
    assert quality.topographic_error(G[:, :1], make_lattice((1, 1))) == 0


def test_neighborhood_preservation_equals_scikit_learn_where_nothing_ties(rng):
    X, Y = rng.normal(size=(40, 5)), rng.normal(size=(40, 2))
    data, on_map = metrics.pairwise_distances(X), metrics.pairwise_distances(Y)
    trust, continuity = quality.neighborhood_preservation(as_dissimilarity(data), np.arange(40), on_map, n_neighbors=7)
    assert trust == pytest.approx(trustworthiness(X, Y, n_neighbors=7))
    assert continuity == pytest.approx(trustworthiness(Y, X, n_neighbors=7))
    assert 0 < trust < 1


def test_ties_on_the_map_count_with_their_expectation(rng):
    """Average over random orders of the tied neighbours, which is what the closed form claims to be."""
    D = blob_distances(rng, n=14)
    labels = rng.integers(0, 4, 14)
    lattice = make_lattice((2, 2))
    trust, continuity = quality.neighborhood_preservation(as_dissimilarity(D), labels, lattice.distances, n_neighbors=4)
    draws = []
    for _ in range(3000):
        on_map = lattice.distances[np.ix_(labels, labels)] + 1e-6 * rng.random((14, 14))
        draws.append(quality.neighborhood_preservation(as_dissimilarity(D), np.arange(14), on_map, n_neighbors=4))
    expected = np.mean(draws, axis=0)
    error = 5 * np.std(draws, axis=0) / np.sqrt(len(draws))
    assert abs(trust - expected[0]) < error[0]
    assert abs(continuity - expected[1]) < error[1]


def test_a_map_of_its_own_order_is_perfect():
    D = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))) + 0.01 * np.arange(12)[None, :]
    np.fill_diagonal(D, 0)
    assert quality.neighborhood_preservation(as_dissimilarity(D), np.arange(12), D, 3) == (1.0, 1.0)


def test_all_indices_by_name(rng):
    X = blobs(rng)
    y = rng.integers(0, 3, len(X))
    som = MedianSOM((2, 3), n_epochs=10, random_state=0).fit(X)
    source = as_dissimilarity(X, "euclidean")
    found = quality.indices(source, som.labels_, points_to(source, som.medoid_indices_), lattice=som.lattice_, y=y)
    D = metrics.pairwise_distances(X)
    assert found["inertia"] == pytest.approx(som.inertia_)
    assert found["silhouette"] == pytest.approx(metrics.silhouette_score(D, som.labels_, metric="precomputed"))
    assert found["adjusted_rand"] == pytest.approx(metrics.adjusted_rand_score(y, som.labels_))
    assert found["normalized_mutual_information"] == pytest.approx(metrics.normalized_mutual_info_score(y, som.labels_))
    assert set(found) == {
        "quantization_error", "inertia", "topographic_error", "trustworthiness", "continuity", "silhouette", "purity",
        "adjusted_rand", "normalized_mutual_information",
    }  # fmt: skip


def test_a_trained_som_is_more_ordered_than_a_shuffled_one(rng):
    x = rng.random((300, 2))
    som = BatchSOM((5, 5), n_epochs=40, random_state=0).fit(x)
    G = som.transform(x)
    assert quality.topographic_error(G, som.lattice_) < 0.15
    assert quality.topographic_error(G[:, rng.permutation(25)], som.lattice_) > 0.5


def test_a_summary_tells_majority_and_purity_of_every_neuron(rng):
    D = np.abs(np.subtract.outer([0.0, 1, 2, 50, 51, 90], [0.0, 1, 2, 50, 51, 90]))
    y = ["x", "x", "y", "y", "y", "x"]
    fitted = MedianSOM((1, 3), metric="precomputed", init=[1, 3, 5], sigma_start=0.01, n_epochs=2).fit(D)
    found = summarize(fitted, as_dissimilarity(D, ids=list("abcdef")), y=y)
    assert [(n["majority"], n["hits"]) for n in found["neurons"]] == [("x", 3), ("y", 2), ("x", 1)]
    assert [round(n["purity"], 3) for n in found["neurons"]] == [0.667, 1.0, 1.0]
    assert [n["exemplar_id"] for n in found["neurons"]] == ["b", "d", "f"]
    assert found["quality"]["inertia"] == fitted.inertia_ == 3
    assert found["quality"]["purity"] == pytest.approx(5 / 6)


def test_weights_count_in_the_errors(rng):
    X = blobs(rng, n=30)
    m = rng.random(30) + 0.1
    som = MedianSOM((2, 2), n_epochs=5, random_state=0).fit(X, sample_weight=m)
    source = as_dissimilarity(X, "euclidean")
    found = quality.indices(source, som.labels_, points_to(source, som.medoid_indices_), sample_weight=m)
    assert found["inertia"] == pytest.approx(som.inertia_)
