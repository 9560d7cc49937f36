"""To which two prototypes a point belongs, and how much."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from medianmap.core.memberships import Memberships


def test_by_hand():
    G = np.array([[0.0, 4, 4, 9], [3, 1, 9, 5], [2, 7, 2, 8], [5, 3, 4, 1]])
    points = Memberships.of(G)
    assert points.first.tolist() == [0, 1, 0, 3]
    assert points.second.tolist() == [1, 0, 2, 1]
    # d3 - d2 over the sum of d3 - d1 and d3 - d2
    np.testing.assert_allclose(points.t, [0, 2 / (4 + 2), 1 / 2, 1 / (3 + 1)])
    S = np.array([[1.0, 0], [0, 1], [0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_allclose(points.mean_of(S), [[1, 0], [1 / 3, 2 / 3], [0.75, 0.25], [0.1875, 0.8125]])
    np.testing.assert_allclose(points.matrix(4).toarray() @ S, points.mean_of(S))


def test_of_fewer_than_three_prototypes():
    one = Memberships.of(np.array([[3.0], [0.0]]))
    assert one.first.tolist() == one.second.tolist() == one.t.tolist() == [0, 0]
    two = Memberships.of(np.array([[0.0, 2], [1, 3], [2, 2], [6, 2], [0, 0], [-1, 1], [-2, -1], [1e308, 1.5e308]]))
    assert two.first.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    np.testing.assert_allclose(two.t, [0, 1 / 4, 1 / 2, 1 / 4, 1 / 2, 0, 0, 0.4])


@given(arrays(float, st.tuples(st.integers(1, 8), st.integers(3, 6)), elements=st.integers(-9, 9)),
       st.integers(-50, 50), st.sampled_from([0.5, 2.0, 1024.0]))  # fmt: skip
def test_what_a_membership_is(G, shift, factor):
    """Parts of two different prototypes, the larger of the nearer; neither unit nor origin of G count."""
    points = Memberships.of(G)
    assert ((points.t >= 0) & (points.t <= 0.5)).all()
    assert (points.first != points.second).all()
    ranked = np.argsort(G, axis=1, kind="stable")
    np.testing.assert_array_equal(ranked[:, :2], np.stack(points[:2], axis=1))
    d = np.sort(G, axis=1)
    np.testing.assert_array_equal(points.t == 0.5, d[:, 0] == d[:, 1])
    np.testing.assert_array_equal(points.t == 0, (d[:, 1] == d[:, 2]) & (d[:, 0] < d[:, 1]))
    for part, other in zip(points, Memberships.of(factor * (G + shift)), strict=True):
        np.testing.assert_array_equal(part, other)
    np.testing.assert_allclose(points.matrix(G.shape[1]).sum(axis=1), 1)


def test_a_membership_grows_steadily_from_one_prototype_to_the_next():
    """Of points on a line between two prototypes of three: no jump where the nearest changes."""
    x, w = np.linspace(0, 10, 401), np.array([0.0, 10, 25])
    S = np.array([[1.0, 0], [0, 1], [0, 1]])
    share = Memberships.of((x[:, None] - w) ** 2).mean_of(S)[:, 1]
    assert (np.diff(share) > 0).all()
    assert np.diff(share).max() < 0.01
