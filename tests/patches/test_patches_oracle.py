"""Patches against the plain method: every extended patch, put together by hand, is what the reference clusters."""

import numpy as np
import pytest
from support.maps import METHODS, blobs, estimator, reference_fit

from medianmap import BatchKMeans, MedianKMeans, PatchClusterer, PrototypeClassifier, reference
from medianmap.core.engine import spread
from medianmap.core.spaces import MedianSpace
from medianmap.estimators.fit import as_generator
from medianmap.patches.fields import NEIGHBOURS, PENALTY
from medianmap.patches.one_patch import seed_of
from medianmap.refine import swap_medoids
from medianmap.sources.base import DenseSource

K, P = 4, 30


def asymmetric(rng, n):
    """Dissimilarities whose two directions differ a lot; a block read the wrong way round gives other prototypes."""
    X = blobs(rng, n=n)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    D = D * rng.uniform(0.3, 3, size=(n, n))
    np.fill_diagonal(D, 0)
    return D


def expected_patches(D, m, method, seed):
    """Prototypes and multiplicities after every patch: [prototypes; patch] with weights, started at random points."""
    places, hits, steps = np.empty(0, int), np.empty(0), []
    for number, start in enumerate(range(0, len(D), P)):
        new = np.arange(start, min(start + P, len(D)))
        new = new[m[new] > 0]
        at = np.concatenate([places[hits > 0], new])
        weight = np.concatenate([hits[hits > 0], m[new]])
        block = D[np.ix_(at, at)]
        begin = as_generator(seed_of(seed, 0, number)).choice(len(at), K, replace=False)
        w, _ = reference_fit(method, K, begin, D=block, m=weight)
        places = at[w]
        hits = np.bincount(block[:, w].argmin(axis=1), weights=weight, minlength=K)
        steps.append((places, hits))
    return steps


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_every_patch_is_the_reference_on_the_extended_patch(method, symmetric, rng):
    D = asymmetric(rng, 5 * P)
    if symmetric:
        D = (D + D.T) / 2
    m = rng.integers(0, 4, len(D)) * 0.75
    map_ = estimator(method, K, metric="precomputed", init="random", random_state=11)
    seed = int(as_generator(11).integers(2**63))
    steps = expected_patches(D, m, method, seed)
    # n patches of the data are the first n of all.
    for n, (places, hits) in enumerate(steps, 1):
        part = slice(0, n * P)
        patches = PatchClusterer(map_, P, merge="sequential", warm_start=False).fit(
            D[part, part], sample_weight=m[part]
        )
        np.testing.assert_array_equal(patches.medoid_indices_, places)
        np.testing.assert_array_equal(patches.multiplicities_, hits)
        assert patches.multiplicities_.sum() == m[part].sum()
    nearest = D[:, patches.medoid_indices_].argmin(axis=1)
    np.testing.assert_array_equal(patches.labels_, nearest)


@pytest.mark.parametrize("symmetric", [True, False])
def test_objects_under_a_metric_are_asked_in_the_same_direction(symmetric, rng):
    D = asymmetric(rng, 5 * P)
    if symmetric:
        D = (D + D.T) / 2
    asked = np.zeros((len(D), len(D)), int)

    def metric(i, l):
        asked[i, l] += 1
        return D[i, l]

    km = MedianKMeans(K, metric=metric, random_state=0)
    objects = PatchClusterer(km, P, compute_labels=False).fit(range(len(D)))
    matrix = PatchClusterer(MedianKMeans(K, metric="precomputed", random_state=0), P).fit(D)
    np.testing.assert_array_equal(objects.medoid_indices_, matrix.medoid_indices_)
    assert asked.max() == 1  # no pair twice
    assert asked.sum() == objects.n_evaluations_
    if not symmetric:
        assert objects.n_evaluations_ == matrix.n_evaluations_


def test_labels_of_a_patch_are_the_reference_on_the_extended_patch(rng):
    D, y = asymmetric(rng, 2 * P), rng.integers(3, size=2 * P)
    known = rng.random(2 * P) < 0.7
    vectors = np.where(known[:, None], np.eye(3)[y], np.nan)
    map_ = estimator("gas", K, metric="precomputed", init="random", random_state=5)
    clusterer = PatchClusterer(map_, P, merge="sequential", warm_start=False)
    clf = PrototypeClassifier(clusterer, 0.6, "learned", None, unlabeled=-1).fit(D, np.where(known, y, -1))

    seed = int(as_generator(5).integers(2**63))
    sigmas = reference.schedule(K / 2, 0.01, 8)
    places, m, Y = np.empty(0, int), np.empty(0), np.empty((0, 3))
    for number in range(2):
        at = np.append(places, np.arange(number * P, (number + 1) * P))
        weight, labels = np.append(m, np.ones(P)), np.vstack([Y, vectors[number * P : (number + 1) * P]])
        block = D[np.ix_(at, at)]
        begin = as_generator(seed_of(seed, 0, number)).choice(len(at), K, replace=False)
        w, Y, _ = reference.fit(reference.neural_gas, sigmas, begin, D=block, m=weight, y=labels, beta=0.6)
        places, m = at[w], np.bincount(block[:, w].argmin(axis=1), weights=weight, minlength=K)
        assert (m > 0).all()
    np.testing.assert_array_equal(clf.estimator_.medoid_indices_, places)
    np.testing.assert_allclose(clf.prototype_labels_, Y, rtol=1e-12)


def test_a_warm_patch_goes_on_from_prototypes_and_their_labels(rng):
    D, y = asymmetric(rng, 2 * P), rng.integers(3, size=2 * P)
    vectors = np.eye(3)[y]

    def fitted(n):
        km = MedianKMeans(K, metric="precomputed", random_state=2)
        patches = PatchClusterer(km, P, merge="sequential")
        return PrototypeClassifier(patches, 0.3, "learned", None).fit(D[:n, :n], y[:n])

    first, both = fitted(P), fitted(2 * P)
    m, Y = first.estimator_.multiplicities_, first.prototype_labels_
    assert (m > 0).all()
    at = np.append(first.estimator_.medoid_indices_, np.arange(P, 2 * P))
    block, weight, labels = D[np.ix_(at, at)], np.append(m, np.ones(P)), np.vstack([Y, vectors[P:]])
    w, old = np.arange(K), None
    while old is None or not (np.array_equal(w, old[0]) and np.array_equal(Y, old[1])):
        old = w, Y
        A, _ = reference.kmeans(reference.with_labels(block[:, w], labels, Y, 0.3), 0.0, weight)
        w, Y = reference.median_step(A, block, w), reference.label_step(A, labels, Y)
    np.testing.assert_array_equal(both.estimator_.medoid_indices_, at[w])
    np.testing.assert_allclose(both.prototype_labels_, Y, rtol=1e-12)


@pytest.mark.parametrize("family", ["median", "batch"])
def test_prototypes_without_labelled_points_take_the_labels_of_the_nearest_that_have_some(family, rng):
    centers = np.array([[0.0], [1.0], [50.0], [53.0]])
    x = centers[rng.integers(4, size=120)] + rng.normal(scale=0.01, size=(120, 1))
    y = np.select([x[:, 0] < 0.5, x[:, 0] > 52], [7, 8], -1)
    map_ = MedianKMeans(4, random_state=0) if family == "median" else BatchKMeans(4, random_state=0)
    classifier = PrototypeClassifier(PatchClusterer(map_, 40), 1.0, unlabeled=-1).fit(x, y)
    assert np.round(np.sort(classifier.estimator_.cluster_centers_[:, 0])).tolist() == [0, 1, 50, 53]
    assert classifier.predict(centers).tolist() == [7, 7, 8, 8]


def rule_by_hand(d, e, m, s, near):
    """(a, b) of e[s] ~ d[s] + a + sum_q b_q (d[near_q] - d[s]), by least squares on rows; the penalty is more rows."""
    share = m / m.sum()
    X, y = (d[near] - d[s]).T, e[s] - d[s]
    centred = X - share @ X
    penalty = np.sqrt(PENALTY * share @ centred**2)
    rows = np.vstack([np.sqrt(share)[:, None] * centred, np.diag(penalty)])
    b = np.linalg.lstsq(rows, np.append(np.sqrt(share) * (y - share @ y), 0 * penalty))[0]
    return share @ y - share @ X @ b, b


def costs_by_hand(D, sets):
    """(n, n) what all points of the sets (rows) cost at each of them: exact within a set, by its rules beyond it."""
    at, row = np.concatenate([places for places, *_ in sets]), 0
    costs = D[np.ix_(at, at)].copy()
    for places, _, means, rules in sets:
        for s, (near, a, b) in enumerate(rules):
            own, others = D[places[s], at], D[np.ix_(places[near], at)]
            costs[row + s] = np.maximum(own + a + b @ (others - own), 0)
        own = slice(row, row + len(places))
        costs[own, own], row = means, own.stop
    return costs


def points_by_hand(D, m, at):
    """A patch, each point of which stands for itself."""
    return at, m[at], D[np.ix_(at, at)], []


def summary_by_hand(D, sets, k, seed):
    """k medoids of the points of all sets, the weights of their fields, and what these cost."""
    at, weight = (np.concatenate(parts) for parts in zip(*(each[:2] for each in sets), strict=True))
    block, costs, w = D[np.ix_(at, at)], costs_by_hand(D, sets), np.arange(len(at))
    if len(at) > k:
        rng = np.random.default_rng(seed)
        source = DenseSource(costs, bool((costs == costs.T).all()))
        start = spread(MedianSpace(source, "standard"), k, weight, rng)
        w = swap_medoids(source, start, weight, random_state=rng).medoids
    field = costs[:, w].argmin(axis=1)
    e = np.array([np.average(costs[field == j], axis=0, weights=weight[field == j]) for j in range(len(w))])
    rules = []
    for s in range(len(w)):
        order = np.argsort(block[w[s], w], kind="stable")
        near = order[order != s][:NEIGHBOURS]
        rules.append((near, *rule_by_hand(block[w], e, weight, s, near)))
    return at[w], np.array([weight[field == j].sum() for j in range(len(w))]), e[:, w], rules


def tree_by_hand(D, m, method, seed):
    """2 K medoids of each patch; 6 K of as many summaries as have 12 K points, level by level; then the map."""
    held, joins, most = {}, {}, 12 * K
    for made, start in enumerate(range(0, len(D), P)):
        at = np.arange(start, min(start + P, len(D)))
        patch = points_by_hand(D, m, at[m[at] > 0])
        new, level = summary_by_hand(D, [patch], 2 * K, seed_of(seed, 0, made)), 0
        while sum(len(each[0]) for each in held.get(level, [])) + len(new[0]) > most:
            group, held[level] = held[level], [new]
            number = joins[level] = joins.get(level, -1) + 1
            new, level = summary_by_hand(D, group, most // 2, seed_of(seed, level + 1, number)), level + 1
        held.setdefault(level, []).append(new)
    sets = [each for level in sorted(held) for each in held[level]]
    while sum(len(each[0]) for each in sets) > most:
        n = max(2, int(np.searchsorted(np.cumsum([len(each[0]) for each in sets]), most, side="right")))
        number = joins["last"] = joins.get("last", -1) + 1
        sets = [summary_by_hand(D, sets[:n], most // 2, seed_of(seed, len(held) + 1, number)), *sets[n:]]
    at, weight = (np.concatenate(parts) for parts in zip(*(each[:2] for each in sets), strict=True))
    begin = as_generator(seed_of(seed, len(held) + 2, 0)).choice(len(at), K, replace=False)
    costs = costs_by_hand(D, sets)
    w, _ = reference_fit(method, K, begin, D=costs, m=weight)
    return at[w], np.bincount(costs[:, w].argmin(axis=1), weights=weight, minlength=K)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_a_tree_is_the_reference_on_summaries_of_summaries(method, symmetric, rng):
    D = asymmetric(rng, 28 * P)
    D[~np.eye(len(D), dtype=bool)] += 20  # so no rule falls below zero, where rounding would decide between candidates
    if symmetric:
        D = (D + D.T) / 2
    m = rng.integers(0, 4, len(D)) * 0.75
    map_ = estimator(method, K, metric="precomputed", init="random", random_state=11)
    seed = int(as_generator(11).integers(2**63))
    for n in (2, 7, 28):  # without a join; with one; on three levels, of which the newest are summarised at the end
        part = slice(0, n * P)
        places, hits = tree_by_hand(D[part, part], m[part], method, seed)
        tree = PatchClusterer(map_, P).fit(D[part, part], sample_weight=m[part])
        np.testing.assert_array_equal(tree.medoid_indices_, places)
        np.testing.assert_array_equal(tree.multiplicities_, hits)
        assert tree.multiplicities_.sum() == tree.summary_["multiplicities"].sum() == m[part].sum()
    assert tree.summary_["sets"][:, 1].max() == 2
