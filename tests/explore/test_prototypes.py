"""The numbers behind the pictures, each against a plain loop or another library."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import cophenet, cut_tree, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import adjusted_rand_score
from support.maps import BATCH, METHODS, blob_distances, blobs, estimator

from medianmap import (
    BatchSOM,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
    as_dissimilarity,
    explore,
)
from medianmap.core.neighborhood import make_lattice
from medianmap.core.plane import symmetrized
from medianmap.explore.stability import firmness, share_together

WORDS = ["heron", "herons", "hero", "quark", "quarks", "quart", "zero", "quartz", "ark", "arks"]


def asymmetric(rng, n=40):
    D = blob_distances(rng, n)
    return D * rng.uniform(0.8, 1.2, size=D.shape)


@pytest.mark.parametrize("method", METHODS)
def test_dissimilarities_of_prototypes(method, rng):
    X, D = blobs(rng), asymmetric(rng)
    fitted = estimator(method, 6, metric="precomputed", random_state=0).fit(D)
    w = fitted.medoid_indices_
    expected = D[np.ix_(w, w)]
    for form in (D, as_dissimilarity(D)):
        np.testing.assert_array_equal(explore.prototype_dissimilarities(fitted, form), expected)
    S = explore.symmetrized(expected)
    for a in range(6):
        for b in range(6):
            assert S[a, b] == pytest.approx((D[w[a], w[b]] + D[w[b], w[a]]) / 2 if a != b else 0)
    words = estimator(method, 4, metric="edit", random_state=0).fit(WORDS)
    np.testing.assert_array_equal(
        explore.prototype_dissimilarities(words), words.transform(WORDS)[words.medoid_indices_]
    )
    means = estimator(method, 4, BATCH, random_state=0).fit(X)
    np.testing.assert_allclose(
        explore.prototype_dissimilarities(means), squareform(pdist(means.cluster_centers_, "sqeuclidean"))
    )


def test_a_pass_and_a_classifier_are_looked_into(rng):
    X = blobs(rng, 200)
    y = X[:, 0] > 0
    inside = PatchClusterer(MedianSOM((3, 3), n_epochs=8, random_state=0), patch_size=60).fit(X)
    both = PrototypeClassifier(inside, 0.9).fit(X, y)
    for model, fitted in ((inside, inside.map_), (both, both.estimator_.map_)):
        points = explore.two_best(model, X)
        np.testing.assert_array_equal(points["prototype"], fitted.predict(X))
        assert explore.hit_map(model).shape == (3, 3)
        assert explore.component_planes(model)[0].shape == (9, 3)
        assert explore.prototype_dissimilarities(model).shape == (9, 9)


@pytest.mark.parametrize("kind", ["hexagonal", "rectangular"])
@pytest.mark.parametrize("periodic", [False, True])
def test_u_matrix_by_a_plain_loop(kind, periodic, rng):
    lattice = make_lattice((4, 5), kind, periodic)
    P = rng.random((20, 20))
    u = explore.u_matrix(lattice, P)
    expected, at = {}, [[] for _ in range(20)]
    for a in range(20):
        for b in range(20):
            if lattice.neighbors[a, b]:
                at[a].append((P[a, b] + P[b, a]) / 2)
                if a < b:
                    expected[a, b] = (P[a, b] + P[b, a]) / 2
    assert {(a, b): pytest.approx(d) for a, b, d in u.edges.tolist()} == expected
    np.testing.assert_allclose(u.means, [np.mean(values) for values in at])
    if periodic:
        assert len(u.edges) == 20 * (3 if kind == "hexagonal" else 2)


def test_a_map_of_one_neuron(rng):
    som = BatchSOM((1, 1), random_state=0).fit(blobs(rng))
    P = explore.prototype_dissimilarities(som)
    u = explore.u_matrix(som.lattice_, P)
    assert len(u.edges) == 0
    assert u.means.tolist() == [0]
    points = explore.two_best(som, blobs(rng))
    assert (points["ratio"] == 0).all()
    assert len(explore.topology_graph(points)) == 0
    assert explore.superclusters(P).groups.tolist() == [0]
    assert explore.layout(P).positions.tolist() == [[0, 0]]


def test_hits_are_in_their_places(rng):
    X = blobs(rng)
    som = MedianSOM((3, 4), n_epochs=8, random_state=0).fit(X)
    hits = explore.hit_map(som)
    for j in range(12):
        assert hits[j // 4, j % 4] == (som.labels_ == j).sum()
    assert explore.hit_map(MedianKMeans(5, random_state=0).fit(X)).shape == (5,)


def test_two_best_by_a_plain_loop(rng):
    D = asymmetric(rng)
    gas = MedianNeuralGas(5, metric="precomputed", n_epochs=8, random_state=0).fit(D)
    points = explore.two_best(gas, D)
    for i, row in enumerate(points):
        order = sorted(range(5), key=lambda j: (D[i, gas.medoid_indices_[j]], j))
        d, e, f = (D[i, gas.medoid_indices_[j]] for j in order[:3])
        share = pytest.approx((f - e) / (f - d + f - e))
        assert row.tolist() == (i, order[0], d, order[1], e, order[1], e, pytest.approx(d / e), share)
    assert (points["ratio"][gas.medoid_indices_] == 0).all()
    on_border = explore.border_points(points, 0.5)
    assert set(on_border["point"]) == {i for i in range(40) if points["ratio"][i] >= 0.5}
    assert (np.diff(on_border["score"]) <= 0).all()
    groups = np.array([0, 1, 0, 1, 1])
    for i, row in enumerate(explore.two_best(gas, D, groups=groups)):
        own = groups[gas.labels_[i]]
        others = D[i, gas.medoid_indices_[groups != own]]
        assert row["other_dissimilarity"] == others.min() == D[i, gas.medoid_indices_[row["other"]]]


def test_blocks_do_not_change_a_bit(rng, monkeypatch):
    X = blobs(rng, 100)
    gas = MedianNeuralGas(5, n_epochs=8, random_state=0).fit(X)
    whole = explore.two_best(gas, X)
    monkeypatch.setattr("medianmap.predict.assign_all.rows_per_panel", lambda n: 7)
    np.testing.assert_array_equal(explore.two_best(gas, X), whole)


def test_two_prototypes_on_one_place_tie_at_ratio_one():
    D = np.zeros((4, 4))
    fitted = MedianKMeans(2, metric="precomputed", init=[0, 1]).fit(D)
    assert explore.two_best(fitted, D)["ratio"].tolist() == [1, 1, 1, 1]


def test_shares_of_classes_by_counting(rng):
    at = rng.integers(4, size=50)
    at[at == 2] = 1
    y = rng.choice(["a", "b", "c"], size=50).astype(object)
    y[::7] = None
    m = rng.integers(1, 4, size=50).astype(float)
    shares, classes = explore.class_shares(at, y, 4, m)
    assert classes.tolist() == ["a", "b", "c"]
    for j in range(4):
        weight = {c: m[(at == j) & (y == c)].sum() for c in classes}
        total = sum(weight.values())
        np.testing.assert_allclose(shares[j], [weight[c] / total if total else 0 for c in classes])
    assert shares[2].tolist() == [0, 0, 0]


def test_mean_dissimilarity_and_empty_prototypes(rng):
    D = np.abs(np.subtract.outer([0.0, 1, 2, 10], [0.0, 1, 2, 10]))
    fitted = MedianKMeans(2, metric="precomputed", init=[1, 3]).fit(D)
    quality = explore.mean_dissimilarity(explore.two_best(fitted, D), 3)
    np.testing.assert_allclose(quality, [2 / 3, 0, np.nan])
    weighted = explore.mean_dissimilarity(explore.two_best(fitted, D), 3, [3, 1, 1, 1])
    np.testing.assert_allclose(weighted, [4 / 5, 0, np.nan])


def test_component_planes_are_the_prototypes(rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(blobs(rng), columns=["x", "y", "z"])
    som = BatchSOM((2, 3), n_epochs=5, random_state=0).fit(frame)
    planes, names = explore.component_planes(som)
    np.testing.assert_array_equal(planes, som.cluster_centers_)
    assert names == ["x", "y", "z"]
    with pytest.raises(ValueError, match="Component planes need vectors"):
        explore.component_planes(MedianKMeans(2, metric="edit", random_state=0).fit(WORDS))


def test_superclusters_are_scipys(rng):
    P = asymmetric(rng, 24)
    S = squareform((P + P.T) / 2 * (1 - np.eye(24)))
    for method in ("average", "complete", "single", "weighted"):
        found = explore.superclusters(P, 3, method)
        np.testing.assert_array_equal(found.linkage, linkage(S, method))
        # Two prototypes are in one group where they are joined below the height at which 3 groups become 2.
        joined = squareform(cophenet(found.linkage)) < found.linkage[-2, 2]
        np.testing.assert_array_equal(joined, found.groups[:, None] == found.groups[None, :])
        assert found.n_groups == 3
        first_seen = [int(np.flatnonzero(found.groups == g)[0]) for g in range(3)]
        assert first_seen == sorted(first_seen)
        assert first_seen[0] == 0


def test_ward_of_points_in_space_is_scipys(rng):
    X = rng.normal(size=(30, 3))
    found = explore.superclusters(squareform(pdist(X)), 4)
    expected = linkage(X, "ward")
    np.testing.assert_array_equal(found.linkage[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    np.testing.assert_allclose(found.linkage[:, 2], expected[:, 2])


def test_a_prototype_of_two_points_weighs_like_two(rng):
    # Ward's tree of weighted points is that of repeated points, whose zeros merge first.
    X, m = rng.normal(size=(12, 2)), rng.integers(1, 5, size=12)
    whole = linkage(np.repeat(X, m, axis=0), "ward")
    found = explore.superclusters(squareform(pdist(X)), 4, hits=m)
    np.testing.assert_allclose(found.linkage[:, 2], whole[-11:, 2])
    first = np.concatenate([[0], np.cumsum(m)[:-1]])
    assert adjusted_rand_score(cut_tree(whole, 4)[first, 0], found.groups) == 1


def test_any_dissimilarities_merge_greedily(rng):
    # Not Euclidean, weighted, some prototypes without points: the chain finds what the plain loop finds.
    S = symmetrized(asymmetric(rng, 15))
    h = rng.integers(0, 4, size=15).astype(float)
    h[:2] = 0, 3
    D, w = 2 * S**2, np.maximum(h, 1e-12 * h.sum())
    D *= w[:, None] * w / (w[:, None] + w)
    parts, heights = {i: {i} for i in range(15)}, []
    while len(parts) > 1:
        a, b = min(combinations(parts, 2), key=lambda pair: D[pair])
        heights.append(np.sqrt(D[a, b]))
        for k in set(parts) - {a, b}:
            joined = ((w[a] + w[k]) * D[a, k] + (w[b] + w[k]) * D[b, k] - w[k] * D[a, b]) / (w[a] + w[b] + w[k])
            D[a, k] = D[k, a] = joined
        w[a] += w[b]
        parts[a] |= parts.pop(b)
        if len(parts) == 5:
            five = [min(i for i, part in parts.items() if j in part) for j in range(15)]
    np.testing.assert_allclose(explore.superclusters(S, 5, hits=h).linkage[:, 2], heights, rtol=1e-9)
    assert adjusted_rand_score(five, explore.superclusters(S, 5, hits=h).groups) == 1


def test_a_lone_prototype_is_a_group_only_where_it_must_be():
    x = np.array([0.0, 1, 2, 3, 100, 101, 102, 400])
    P = np.abs(np.subtract.outer(x, x))
    few, many = np.array([9.0] * 7 + [1]), np.array([9.0] * 7 + [9])
    assert explore.superclusters(P, hits=few).groups.tolist() == [0] * 4 + [1] * 4
    assert explore.superclusters(P, hits=many).groups.tolist() == [0] * 4 + [1] * 3 + [2]
    assert explore.superclusters(P[5:, 5:], hits=[9, 9, 1]).groups.tolist() == [0, 0, 1]


def test_the_number_of_superclusters_is_found():
    centers = np.repeat([0.0, 100, 200, 350], 5) + np.tile(np.arange(5.0), 4)
    P = np.abs(np.subtract.outer(centers, centers))
    found = explore.superclusters(P)
    assert found.groups.tolist() == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5
    assert max(found.silhouettes, key=found.silhouettes.get) == 4
    assert explore.superclusters(P[:2, :2]).groups.tolist() == [0, 0]
    assert explore.superclusters(np.zeros((5, 5)), 5).groups.tolist() == [0, 1, 2, 3, 4]


def test_topology_graph_by_counting(rng):
    X = blobs(rng, 80)
    m = rng.integers(0, 3, size=80).astype(float)
    gas = MedianNeuralGas(6, n_epochs=8, random_state=0).fit(X)
    points = explore.two_best(gas, X)
    expected = {}
    for row, weight in zip(points, m, strict=True):
        edge = tuple(sorted((int(row["prototype"]), int(row["second"]))))
        if weight:
            expected[edge] = expected.get(edge, 0) + weight
    edges = explore.topology_graph(points, m)
    assert {(a, b): count for a, b, count in edges.tolist()} == expected
    assert explore.topology_graph(points)["count"].sum() == 80


@given(arrays(float, st.tuples(st.integers(1, 8), st.just(2)), elements=st.integers(-50, 50).map(float)))
def test_points_of_the_plane_are_laid_out_as_they_lie(z):
    P = squareform(pdist(z)) if len(z) > 1 else np.zeros((1, 1))
    found = explore.layout(P)
    assert found.stress < 0.02
    drawn = squareform(pdist(found.positions)) if len(z) > 1 else P
    np.testing.assert_allclose(drawn, P, atol=0.06 * max(1.0, P.max()))


def test_layout_is_the_same_again_and_lowers_stress(rng):
    P = asymmetric(rng, 30)
    found, again = explore.layout(P), explore.layout(P.copy())
    np.testing.assert_array_equal(found.positions, again.positions)
    S = explore.symmetrized(P)
    d = squareform(pdist(found.positions))
    assert found.stress == pytest.approx(np.sqrt(((S - d) ** 2).sum() / (S**2).sum()))
    assert found.stress < explore.layout(P, max_iter=1).stress
    np.testing.assert_allclose(found.positions.mean(axis=0), 0, atol=1e-9 * P.max())
    sklearn = pytest.importorskip("sklearn.manifold")
    _, raw = sklearn.smacof(S, n_components=2, n_init=8, random_state=0, normalized_stress=False)[:2]
    assert found.stress <= 1.1 * np.sqrt(raw / ((S**2).sum() / 2))
    assert explore.layout(np.zeros((4, 4))).positions.tolist() == [[0, 0]] * 4


def test_stability_by_a_plain_loop(rng):
    D = blob_distances(rng, 50)
    gas = MedianNeuralGas(4, metric="precomputed", n_epochs=5, random_state=5)
    found = explore.restart_stability(gas, D, n_restarts=4, n_points=20, random_state=1)
    assert found.points.shape == (20,)
    for i in range(20):
        for l in range(20):
            assert found.together[i, l] == np.mean([run[i] == run[l] for run in found.prototypes])
        others = np.delete(found.together[i], i)
        assert found.per_point[i] == pytest.approx((others**2).sum() / others.sum())
    pairs = [adjusted_rand_score(found.prototypes[r], found.prototypes[s]) for r in range(4) for s in range(r)]
    assert found.agreement == pytest.approx(np.mean(pairs))
    again = explore.restart_stability(gas, D, n_restarts=4, n_points=20, random_state=1)
    np.testing.assert_array_equal(found.prototypes, again.prototypes)
    patches = PatchClusterer(gas.set_params(metric="euclidean"), patch_size=30)
    assert explore.restart_stability(patches, blobs(rng), n_restarts=2).together.shape == (60, 60)


def test_separate_clouds_are_stable_and_loners_too(monkeypatch):
    X = np.repeat([[0.0], [100], [200]], 5, axis=0) + np.arange(15)[:, None] * 0.1
    found = explore.restart_stability(MedianNeuralGas(3), X, n_restarts=3)
    assert found.agreement == 1
    assert (found.per_point == 1).all()
    assert firmness(np.eye(3)).tolist() == [1, 1, 1]
    runs = np.array([[0, 0, 1], [1, 1, 1]])
    monkeypatch.setattr("medianmap.explore.stability.rows_per_panel", lambda n: 2)
    assert share_together(runs).tolist() == [[1, 1, 0.5], [1, 1, 0.5], [0.5, 0.5, 1]]


def test_mistakes_are_named(rng):
    D = blob_distances(rng, 20)
    gas = MedianNeuralGas(3, metric="precomputed", n_epochs=5, random_state=0).fit(D)
    with pytest.raises(ValueError, match="pass the matrix as X"):
        explore.prototype_dissimilarities(gas)
    with pytest.raises(ValueError, match="X holds 5 rows, but the map was fitted on 20"):
        explore.prototype_dissimilarities(gas, D[:5])
    with pytest.raises(ValueError, match="n_groups = 4 exceeds the 3 prototypes"):
        explore.superclusters(np.zeros((3, 3)), 4)
    with pytest.raises(ValueError, match="hits holds 2 weights for 3 prototypes"):
        explore.superclusters(np.zeros((3, 3)), 2, hits=[1, 1])
    with pytest.raises(ValueError, match="method is 'centroid'; choose one of"):
        explore.superclusters(np.zeros((3, 3)), 2, "centroid")
    with pytest.raises(ValueError, match="n_restarts is 1; it must be a whole number >= 2"):
        explore.restart_stability(gas, D, n_restarts=1)
    with pytest.raises(ValueError, match="init fixes the start"):
        explore.restart_stability(MedianKMeans(2, init=[0, 1]), D)
    for same in (som := MedianSOM((2, 2), init="embedding", n_epochs=2), PatchClusterer(som, patch_size=30)):
        with pytest.raises(ValueError, match="all runs start, and end, the same; set init='random'"):
            explore.restart_stability(same, blobs(rng, n=60), n_restarts=2)
    with pytest.raises(TypeError, match="estimator is a PrototypeClassifier"):
        explore.restart_stability(PrototypeClassifier(gas), D)
    with pytest.raises(ValueError, match="y holds 3 labels, but X holds 20"):
        explore.class_shares(gas.labels_, [0, 1, 0], 3)
