"""Every index against a hand-worked example or another library."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import spearmanr
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


def test_as_many_neighbours_as_a_map_can_tell(rng):
    """k + 1 is what a neuron and those that touch it hold on average where points are spread evenly."""
    lattice = make_lattice((3, 3), "rectangular")
    # With itself a corner touches 3 cells, a side 4, the middle 5: 33 of 81 pairs.
    assert quality.resolution(90, lattice.distances) == round(10 * 33 / 9) - 1
    torus = make_lattice((4, 4), periodic=True)
    assert quality.resolution(160, torus.distances) == 7 * 10 - 1
    assert quality.resolution(2, lattice.distances) == 1
    D, labels = blob_distances(rng, n=90), rng.integers(0, 9, 90)
    source = as_dissimilarity(D)
    found = quality.neighborhood_preservation(source, labels, lattice.distances)
    assert found == quality.neighborhood_preservation(source, labels, lattice.distances, 36)
    assert found != quality.neighborhood_preservation(source, labels, lattice.distances, 10)


def test_rank_correlation_equals_scipy_over_all_pairs(rng):
    D, labels = blob_distances(rng, n=50) + 0.2 * rng.random((50, 50)), rng.integers(0, 12, 50)  # asymmetric, ties
    d = make_lattice((3, 4)).distances
    apart = ~np.eye(50, dtype=bool)
    expected = spearmanr(D[apart], d[labels][:, labels][apart]).statistic
    source = as_dissimilarity(D)
    assert quality.rank_correlation(source, labels, d) == pytest.approx(expected, abs=1e-12)
    sampled = quality.rank_correlation(source, labels, d, n_pairs=2000)
    assert sampled != pytest.approx(expected, abs=1e-12)
    assert sampled == pytest.approx(expected, abs=5 / np.sqrt(2000))
    assert sampled == quality.rank_correlation(source, labels, d, n_pairs=2000)
    assert sampled != quality.rank_correlation(source, labels, d, n_pairs=2000, seed=1)


def test_a_sample_of_pairs_reads_these_alone_and_never_a_point_with_itself(rng):
    X = rng.normal(size=(300, 3))
    source = as_dissimilarity(X, "euclidean")
    read = []
    watched = SimpleNamespace(
        shape=source.shape, block=lambda rows, cols: read.extend((i, l) for i in rows for l in cols) or
        source.block(rows, cols),
    )  # fmt: skip
    labels = rng.integers(0, 6, 300)
    quality.rank_correlation(watched, labels, make_lattice((2, 3)).distances, n_pairs=5000)
    assert len(read) == 5000
    assert all(i != l for i, l in read)
    assert len({i for i, _ in read}) == len({l for _, l in read}) == 300


def test_a_map_or_data_of_one_distance_have_no_rank_correlation():
    labels = np.array([0, 1, 0, 1])
    chain = make_lattice((1, 2)).distances
    line = as_dissimilarity(np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0))))
    assert np.isnan(quality.rank_correlation(line, np.zeros(4, int), chain))
    assert np.isnan(quality.rank_correlation(as_dissimilarity(1.0 - np.eye(4)), labels, chain))
    assert np.isnan(quality.rank_correlation(as_dissimilarity(np.zeros((1, 1))), labels[:1], chain))
    # Ranks of the six pairs: 2 2 2 4.5 4.5 6 in the data, 4.5 4.5 4.5 1.5 1.5 4.5 on the map.
    assert quality.rank_correlation(line, labels, chain) == pytest.approx(-6 / np.sqrt(15 * 12))


def test_the_border_by_hand():
    grid = make_lattice((3, 4), "rectangular")  # ten cells around two
    hits = np.ones(12)
    assert quality.border_share(hits, grid) == pytest.approx(1)
    hits[[5, 6]] = 0
    assert quality.border_share(hits, grid) == pytest.approx(12 / 10)
    hits[:] = 0
    assert np.isnan(quality.border_share(hits, grid))
    hits[[5, 0]] = 3, 1
    assert quality.border_share(hits, grid) == pytest.approx((1 / 4) / (10 / 12))
    assert np.isnan(quality.border_share(np.ones(16), make_lattice((4, 4), periodic=True)))
    assert np.isnan(quality.border_share(np.ones(4), make_lattice((2, 2), "rectangular")))


def test_torn_links_by_brute_force(rng):
    lattice = make_lattice((3, 4))
    first, second = np.argsort(rng.random((200, 12)), axis=1)[:, :2].T
    count = {}
    for a, b in zip(first, second, strict=True):
        if np.hypot(*(lattice.positions[a] - lattice.positions[b])) > 1.1:
            count[min(a, b), max(a, b)] = count.get((min(a, b), max(a, b)), 0) + 1
    assert sum(count.values()) / 200 == quality.torn_share(first, second, lattice)
    strongest = sorted(count.items(), key=lambda link: (-link[1], link[0]))[:12]
    assert len(count) > 30
    assert quality.torn_links(first, second, lattice).tolist() == [[a, b, n] for (a, b), n in strongest]
    few = quality.torn_links(np.array([0, 11, 0, 1]), np.array([11, 0, 10, 2]), lattice)
    assert few.tolist() == [[0, 11, 2]]  # one point between 0 and 10 says nothing, 1 and 2 touch
    assert quality.torn_links(first[:0], second[:0], lattice).shape == (0, 3)


@pytest.mark.parametrize("shape", [(4, 5), (2, 2), (1, 7)])
def test_a_random_order_is_torn_as_often_as_neurons_do_not_touch(shape, rng):
    lattice = make_lattice(shape)
    K = len(lattice.positions)
    G = rng.random((60, K))
    first, second = np.argsort(G, axis=1)[:, :2].T
    errors = quality.shuffled_errors(first, second, lattice, 4000)
    by_hand = [quality.topographic_error(G[:, rng.permutation(K)], lattice) for _ in range(4000)]
    for drawn in (errors, by_hand):
        assert abs(np.mean(drawn) - quality.torn_by_chance(lattice)) < 5 * np.std(drawn) / np.sqrt(4000)
    assert np.std(errors) == pytest.approx(np.std(by_hand), rel=0.15)
    pairs = [(a, b) for a in range(K) for b in range(K) if a != b]
    apart = [np.hypot(*(lattice.positions[a] - lattice.positions[b])) > 1.1 for a, b in pairs]
    assert quality.torn_by_chance(lattice) == pytest.approx(np.mean(apart))


def test_where_all_neurons_touch_nothing_can_tear():
    assert quality.torn_by_chance(make_lattice((1, 2))) == 0
    assert quality.torn_by_chance(make_lattice((1, 1))) == 0


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
    assert found["border_share"] == quality.border_share(som.hits_, som.lattice_)
    assert set(found) == {
        "quantization_error", "inertia", "topographic_error", "torn_by_chance", "border_share", "trustworthiness",
        "continuity", "rank_correlation", "silhouette", "purity", "adjusted_rand", "normalized_mutual_information",
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
    fitted = MedianSOM((1, 3), metric="precomputed", init=[1, 3, 5], annealing="none").fit(D)
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


def test_ninety_nine_orders_are_drawn():
    assert len(quality.shuffled_errors(np.array([0, 1]), np.array([1, 2]), make_lattice((1, 3)))) == 99
