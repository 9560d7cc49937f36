"""Outliers, borders and new objects: against plain loops, and planted in four kinds of data."""

import csv

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score
from support.maps import blob_distances

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, PrototypeClassifier, as_dissimilarity, load, save
from medianmap.datasets import load_iris, simulate_chromosomes
from medianmap.estimators.parameters import usual_grid, usual_size
from medianmap.explore import border_points, judged, outliers, remember, two_best
from medianmap.predict.assign_all import assign_all
from medianmap.predict.queries import groups_of
from medianmap.sources import ALL, DenseSource
from medianmap.sources.checks import n_apart, n_different


def upper(v):
    """Upper standard deviations above the median, by sorting."""
    v = np.log(v)
    spread = (np.percentile(v, 90) - np.median(v)) / 1.2815515655446004
    return (v - np.median(v)) / spread


def test_scores_from_all_pairs_by_a_plain_loop(rng):
    D = rng.random((60, 60)) + 0.1  # not symmetric: rows are asked
    np.fill_diagonal(D, 0)
    near, last, neighbours = [], [], []
    for i in range(60):
        order = sorted((j for j in range(60) if j != i), key=lambda j: D[i, j])
        near.append(D[i, order[4]])
        last.append(D[i, order[14]])
        neighbours.append(order[:15])
    local = [last[i] / np.mean([last[j] for j in neighbours[i]]) for i in range(60)]
    expected = np.maximum(upper(near), upper(local) - 2)
    points = two_best(MedianKMeans(4, metric="precomputed", random_state=0).fit(D), D)
    told = judged(points, DenseSource(D, False))
    np.testing.assert_allclose(told["outlier_score"], expected)
    assert told["outlier"].tolist() == (told["outlier_score"] > 3.5).tolist()
    found = outliers(points, 1.0, DenseSource(D, False))
    assert found["point"].tolist() == sorted(np.flatnonzero(expected > 1), key=lambda i: -expected[i])


def test_scores_from_prototypes_by_a_plain_loop(rng):
    D = blob_distances(rng, 80)
    gas = MedianNeuralGas(14, metric="precomputed", n_epochs=8, random_state=0).fit(D)
    G = D[:, gas.medoid_indices_]
    hits = np.bincount(G.argmin(axis=1), minlength=14)
    assert (hits < 5).any()
    assert (hits >= 5).any()
    r, at = np.empty(80), np.empty(80, int)
    for i in range(80):
        first, second = np.argsort(G[i], kind="stable")[:2]
        at[i] = first if hits[first] >= 5 else second
        r[i] = G[i, at[i]]
    least = np.maximum(r, 0.1 * r.mean())
    around = [least[G.argmin(axis=1) == j].mean() for j in range(14)]
    floored = np.maximum(r, 1e-3 * r.mean())
    expected = np.maximum(upper(floored), upper(np.maximum(r / [around[j] for j in at], 1e-3)) - 2)
    np.testing.assert_allclose(judged(two_best(gas, D))["outlier_score"], expected)


def waves(rng, n):
    t = np.linspace(0, 1, 40)
    return [np.sin(2 * np.pi * (k % 3 + 1) * t + rng.normal() * 0.2) + rng.normal(size=40) * 0.2 for k in range(n)]


def strings(rng):
    """Chromosomes, and two long strings that are alike and one that is not."""
    odd = "".join(rng.choice(list("abcdef"), 260))
    return [*simulate_chromosomes(220, random_state=1).sequences, odd, odd[:-3] + "fab", odd[::-1]], "edit", 3


def vectors(rng):
    X = load_iris().X
    moved = X[[3, 70, 120]] + 4 * np.array([[1, -1, 1, -1], [-1, 1, 1, -1], [1, 1, -1, 1]])
    return np.vstack([X, moved]), "euclidean", 3


def densities(rng):
    """Beside a dense cloud, nearer than the points of a sparse one are to each other."""
    dense, sparse = rng.normal(size=(200, 2)) * 0.05, rng.normal(size=(200, 2)) + np.array([12, 0])
    return np.vstack([dense, sparse, [[0.9, 0], [0, -0.9]]]), "euclidean", 2


def series(rng):
    return [*waves(rng, 120), np.sign(np.sin(10 * np.pi * np.linspace(0, 1, 40))), 3 * np.linspace(0, 1, 40)], "dtw", 2


@pytest.mark.parametrize("kind", [strings, vectors, densities, series, "matrix"])
def test_what_is_planted_comes_first(rng, kind):
    if kind == "matrix":  # three points that hang near each other from one, farther than any is from its neighbours
        D, n = blob_distances(rng, 150), 3
        h = 3 * np.sort(D, axis=1)[:, 5].max()
        far = np.repeat(D[[7]] + h, 3, axis=0)
        D = np.block([[D, far.T], [far, 0.2 * (1 - np.eye(3))]])
    else:
        objects, metric, n = kind(rng)
        D = np.asarray(as_dissimilarity(objects, metric).block(ALL, ALL), float)
    N = len(D)
    som = MedianSOM(usual_grid(usual_size(N, N)), metric="precomputed", n_epochs=15, random_state=0).fit(D)
    points = two_best(som, D)
    told = judged(points, DenseSource(D, True))
    assert set(np.argsort(-told["outlier_score"])[:n]) == set(range(N - n, N))
    if kind is not densities:  # a neuron of their own does not hide them
        assert (points["dissimilarity"][-n:] == 0).any()
        assert set(np.argsort(-judged(points)["outlier_score"])[:n]) == set(range(N - n, N))


@pytest.mark.parametrize("d", [2, 10, 50])
def test_few_points_of_one_cloud_are_flagged(d):
    flagged = []
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(300, d))
        D = cdist(X, X)
        som = MedianSOM((7, 9), metric="precomputed", n_epochs=10, random_state=0).fit(D)
        flagged += [judged(two_best(som, D), pairs)["outlier"].mean() for pairs in (None, DenseSource(D, True))]
    assert np.mean(flagged) < 0.01


def test_equal_points_and_small_sets_have_scores():
    for n in (1, 2, 3, 5):
        D = np.ones((n, n)) - np.eye(n)
        points = two_best(MedianKMeans(1, metric="precomputed").fit(D), D)
        for pairs in (None, DenseSource(D, True)):
            told = judged(points, pairs)
            assert np.isfinite(told["outlier_score"]).all()
            assert not told["outlier"].any()
            assert not told["border"].any()
    zeros = np.zeros((30, 30))
    told = judged(
        two_best(MedianKMeans(2, metric="precomputed", init=[0, 1]).fit(zeros), zeros), DenseSource(zeros, True)
    )
    assert told["outlier_score"].tolist() == [0] * 30


def test_borders_lie_between_groups(rng):
    # Two clouds, and a later point in the middle: it is between them; others lie between neurons of one cloud.
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + np.array([14, 0])])
    D = cdist(X, X)
    som = MedianSOM((4, 5), metric="precomputed", random_state=0).fit(D)
    groups = groups_of(som, D)
    assert len(set(groups)) == 2
    assert len(set(groups[som.labels_[:60]])) == 1
    later = cdist(np.vstack([X, [[7.0, 0]]]), X)
    points = two_best(som, later, groups=groups)
    G = later[:, som.medoid_indices_]
    apart = np.array([G[i, groups != groups[G[i].argmin()]].min() for i in range(121)])
    told = judged(points)
    np.testing.assert_allclose(told["border_score"], G.min(axis=1) / apart)
    assert (points["ratio"] >= 0.8).sum() > 5
    assert np.flatnonzero(told["border_score"] > 0.6).tolist() == [120]
    assert border_points(points, 0.6)["point"].tolist() == [120]
    assert groups_of(som).tolist() == list(range(20))  # without the matrix each prototype is its own


def test_no_more_than_one_in_twenty_is_flagged(rng):
    X = rng.normal(size=(400, 20))
    D = cdist(X, X)
    points = two_best(MedianKMeans(6, metric="precomputed", random_state=0).fit(D), D)
    told = judged(points)
    assert (points["ratio"] >= 0.9).mean() > 0.3
    assert told["border"].sum() == 20
    assert told["border_score"][told["border"]].min() >= told["border_score"][~told["border"]].max()
    assert sorted(border_points(points)["point"]) == np.flatnonzero(told["border"]).tolist()


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_new_objects_are_compared_with_those_of_training(rng, tmp_path):
    X = np.vstack([rng.normal(size=(150, 3)), rng.normal(size=(150, 3)) + np.array([12, 0, 0])])
    y = np.repeat(["a", "b"], 150).astype(object)
    y[::3] = None
    som = MedianSOM((4, 5), metric="euclidean", random_state=0).fit(X)
    usual = np.vstack([rng.normal(size=(500, 3)), rng.normal(size=(500, 3)) + np.array([12, 0, 0])])
    strange = rng.normal(size=(200, 3)) + np.array([6, 9, 0])
    assign_all(som, strange, tmp_path / "before.tsv")
    assert "novelty" not in table(tmp_path / "before.tsv")[0]
    remember(som, X, y)
    save(som, tmp_path / "som.mmap")
    loaded = load(tmp_path / "som.mmap")
    assign_all(loaded, np.vstack([usual, strange]), tmp_path / "new.tsv", block=170)
    rows = table(tmp_path / "new.tsv")
    new = np.array([row["new"] == "1" for row in rows])
    assert new[:1000].mean() < 0.05
    assert new[1000:].mean() > 0.9
    score = np.array([float(row["novelty"]) for row in rows])
    assert roc_auc_score(np.arange(1200) >= 1000, score) > 0.99
    assert new.tolist() == (score > som.usual_["novelty"]).tolist()
    for row in rows[:1000]:
        at = int(row["neuron"])
        known = [name for name in y[som.labels_ == at] if name is not None]
        assert row["majority"] == (max("ab", key=known.count) if known else "")
        if known:
            assert float(row["majority_share"]) == max(map(known.count, "ab")) / len(known)
    again = MedianSOM((4, 5), metric="euclidean", random_state=0).fit(X)
    remember(again, points=two_best(again, X), groups=groups_of(again))
    np.testing.assert_array_equal(again.usual_["around"], som.usual_["around"])
    assert not hasattr(again.fit(X), "usual_")


def test_training_points_are_rarely_new(rng, tmp_path):
    X = rng.normal(size=(400, 5))
    gas = MedianNeuralGas(12, n_epochs=10, random_state=0).fit(X)
    remember(gas, X)
    assign_all(gas, X, tmp_path / "t.tsv")
    assert sum(row["new"] == "1" for row in table(tmp_path / "t.tsv")) <= 4


def test_a_class_comes_before_a_majority(rng, tmp_path):
    X, y = rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    model = PrototypeClassifier(MedianKMeans(4, random_state=0)).fit(X, y)
    remember(model, X, y)
    assign_all(model, X, tmp_path / "t.tsv")
    row = table(tmp_path / "t.tsv")[0]
    assert "class" in row
    assert "majority" not in row
    assert "new" in row


def test_usual_sizes():
    assert usual_size(33, 33) == 8
    assert usual_size(2000, 2000) == round(5 * np.sqrt(2000))
    assert usual_size(2000, 300) == 75
    assert usual_size(1, 1) == 1
    for K in range(1, 400):
        rows, columns = usual_grid(K)
        assert 1 <= rows <= columns <= 2 * rows
        assert rows * columns <= K
        assert rows * columns >= 0.8 * K or K < 8
    assert usual_grid(8) == (2, 4)
    assert usual_grid(224) == (13, 17)


def test_different_points_are_counted(rng):
    X = rng.normal(size=(40, 3))[rng.integers(9, size=60)]
    expected = len(np.unique(X, axis=0))
    assert n_different(X) == n_different([tuple(x) for x in X]) == n_different(list(X)) == expected
    assert n_apart(cdist(X, X)) == expected
    assert n_different(["a", "b", "a"]) == 2
    assert n_different([["a"], ["b"], ["a"]]) == 2
    assert n_different(np.array([["a", 1], ["b", 2], ["a", 1]], object)) == 2
