"""Lattices, weights and schedules, against figures worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medianmap.core.neighborhood import geometric, h, make_lattice


def test_hexagonal_lattice_by_hand():
    lattice = make_lattice((3, 3))
    np.testing.assert_allclose(lattice.positions[4], [1.5, np.sqrt(3) / 2])
    # The middle neuron touches six: left, right, and two above and below, shifted to the right in its odd row.
    assert np.flatnonzero(lattice.neighbors[4]).tolist() == [1, 2, 3, 5, 7, 8]
    assert lattice.distances[0, 3] == 1
    assert lattice.distances[0, 6] == pytest.approx(np.sqrt(3))
    assert lattice.distances[0, 2] == 2


def test_rectangular_lattice_by_hand():
    lattice = make_lattice((2, 3), "rectangular")
    assert lattice.distances[0].tolist() == pytest.approx([0, 1, 2, 1, np.sqrt(2), np.sqrt(5)])
    assert np.flatnonzero(lattice.neighbors[0]).tolist() == [1, 3]
    assert lattice.diameter == pytest.approx(np.sqrt(5))


@pytest.mark.parametrize(("kind", "degree"), [("hexagonal", 6), ("rectangular", 4)])
def test_on_a_torus_all_neurons_are_alike(kind, degree):
    lattice = make_lattice((4, 5), kind, periodic=True)
    assert set(lattice.neighbors.sum(axis=1)) == {degree}
    rows = {tuple(np.sort(row)) for row in lattice.distances.round(9)}
    assert len(rows) == 1


@given(
    rows=st.integers(1, 7),
    cols=st.integers(1, 7),
    kind=st.sampled_from(["hexagonal", "rectangular"]),
    wrap=st.booleans(),
)
def test_lattice_distances_are_a_metric(rows, cols, kind, wrap):
    if kind == "hexagonal" and wrap and rows % 2:
        rows += 1
    nd = make_lattice((rows, cols), kind, wrap).distances
    assert nd.shape == (rows * cols, rows * cols)
    np.testing.assert_array_equal(nd, nd.T)
    assert not np.diag(nd).any()
    assert np.all(nd[:, None, :] <= nd[:, :, None] + nd[None, :, :] + 1e-9)


def test_weights_fall_from_one_and_are_never_subnormal():
    t = np.linspace(0, 1000, 10001)
    values = h(t, 1.0)
    assert values[0] == 1
    assert np.all(np.diff(values) <= 0)
    assert values[10] == pytest.approx(np.exp(-1))
    assert np.all((values == 0) | (values >= 1e-290))
    assert h(5.0, 1e-300) == 0


def test_the_schedule_is_geometric_and_meets_both_ends():
    sigmas = geometric(50.0, 0.01, 100)
    assert sigmas[0] == 50
    assert sigmas[-1] == pytest.approx(0.01)
    np.testing.assert_allclose(sigmas[1:] / sigmas[:-1], (0.01 / 50) ** (1 / 99))
    assert geometric(3.0, 0.01, 1).tolist() == [3.0]
