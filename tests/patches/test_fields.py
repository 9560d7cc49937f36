"""Mean dissimilarities of fields against those of their points: exact within a summary, and fitted beyond it."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from support.maps import blobs

from medianmap.patches.fields import NEIGHBOURS, Fields, fields_of, mean_costs


def summary(D, m, k):
    """Every (n / k)-th point, the fields of these points, and the field of each point."""
    w = np.arange(0, len(D), len(D) // k)[:k]
    field = D[:, w].argmin(axis=1)
    return w, field, fields_of(D, D, m, w, field)


def by_hand(D, m, field, k):
    """(k, n) mean dissimilarity of the points of each field to every point."""
    return np.array([np.average(D[field == j], axis=0, weights=m[field == j]) for j in range(k)])


@pytest.mark.parametrize("symmetric", [True, False])
def test_within_a_summary_means_are_those_of_the_points(symmetric, rng):
    X, m = blobs(rng, n=60), rng.integers(1, 4, 60).astype(float)
    D = cdist(X, X) if symmetric else cdist(X, X) * rng.uniform(0.3, 3, size=(60, 60))
    w, field, fields = summary(D, m, 12)
    np.testing.assert_allclose(fields.means, by_hand(D, m, field, 12)[:, w], rtol=1e-12)
    # And after a join of two summaries, over all points behind each.
    other = cdist(X + 1, X + 1)
    _, beside, others = summary(other, m, 12)
    whole = np.full((24, 24), 5.0)
    costs = mean_costs(whole, [(12, fields), (12, others)])
    np.testing.assert_array_equal(costs[:12, :12], fields.means)
    np.testing.assert_array_equal(costs[12:, 12:], others.means)
    weight = np.append(np.bincount(field, m), np.bincount(beside, m))
    joined = fields_of(whole, costs, weight, np.array([0, 20]), np.array([0] * 12 + [1] * 12))
    expected = np.average(by_hand(D, m, field, 12)[:, w[0]], weights=weight[:12])
    np.testing.assert_allclose(joined.means[0, 0], expected, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
def test_beyond_a_summary_the_rule_is_nearer_to_the_truth_than_the_medoid_alone(metric, rng):
    centers = rng.normal(scale=2, size=(6, 4)) + 5
    X = centers[rng.integers(6, size=600)] + rng.normal(size=(600, 4))
    patch, other, m = X[:300], X[300:], np.ones(300)
    w, field, fields = summary(cdist(patch, patch, metric), m, 60)
    truth = by_hand(cdist(patch, other, metric), m, field, 60)
    alone = cdist(patch[w], other, metric)
    assert np.abs(fields.beyond(alone) - truth).mean() < 0.6 * np.abs(alone - truth).mean()


def test_squared_distances_are_nearly_exact(rng):
    """Means over a field are then affine in the dissimilarities from a few points; the penalty bends them a little."""
    X = rng.normal(size=(200, 3))
    D = cdist(X, X, "sqeuclidean")
    _, field, fields = summary(D, np.ones(200), 40)
    truth = by_hand(D, np.ones(200), field, 40)
    at = np.arange(0, 200, 5)
    assert np.abs(fields.beyond(D[at]) - truth).mean() < 0.05 * np.abs(D[at] - truth).mean()


def test_points_that_stand_for_themselves_cost_their_dissimilarities(rng):
    D = cdist(*[rng.normal(size=(9, 2))] * 2)
    assert mean_costs(D, [(5, None), (4, None)]) is D
    for first in (None, Fields.of_points(D[:5, :5])):  # or a model that knows of no fields
        own = [(5, first), (4, Fields.of_points(D[5:, 5:]))]
        np.testing.assert_allclose(mean_costs(D, own), D, rtol=1e-15)
    alone = fields_of(D, D, np.ones(9), np.arange(9), np.arange(9))
    np.testing.assert_array_equal(alone.means, D)
    np.testing.assert_allclose(alone.beyond(D), D, atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e150])
def test_points_that_coincide_few_points_and_extreme_units(scale):
    x = np.array([0.0, 0, 0, 1, 1, 4]) * scale
    D = np.abs(x[:, None] - x)
    fields = fields_of(D, D, np.array([1.0, 2, 1, 5, 1, 1]), np.array([0, 1, 3]), np.array([0, 1, 1, 2, 2, 2]))
    assert fields.near.shape == (3, NEIGHBOURS)
    assert np.isfinite(fields.beyond(D[[0, 1, 3]])).all()
    np.testing.assert_allclose(fields.means[2], np.array([10, 10, 3]) / 7 * scale)
    single = fields_of(D, D, np.ones(6), np.array([3]), np.zeros(6, int))
    assert np.isfinite(single.beyond(D[[3]])).all()
    assert single.means[0, 0] == pytest.approx(scale)  # (1 + 1 + 1 + 0 + 0 + 3) / 6
