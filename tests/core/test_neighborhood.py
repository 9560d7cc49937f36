"""Lattices, weights and schedules, against figures worked by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from medianmap.core.neighborhood import checked_lattice, geometric, given_lattice, h, make_lattice, touching


def test_hexagonal_lattice_by_hand():
    lattice = make_lattice((3, 3))
    np.testing.assert_allclose(lattice.positions[4], [1.5, np.sqrt(3) / 2])
    # The middle neuron touches six: left, right, and two above and below, shifted to the right in its odd row.
    assert np.flatnonzero(lattice.neighbors[4]).tolist() == [1, 2, 3, 5, 7, 8]
    assert lattice.distances[0, 3] == 1
    assert lattice.distances[0, 6] == pytest.approx(np.sqrt(3))
    assert lattice.distances[0, 2] == 2


@pytest.mark.parametrize("periodic", [False, True])
def test_equal_distances_are_equal_numbers(periodic):
    """Or rounding would decide between neurons that are equally far."""
    lattice = make_lattice((12, 12), periodic=periodic)
    quarters = 4 * lattice.distances**2  # whole numbers on a hexagonal lattice
    assert len(np.unique(lattice.distances)) == len(np.unique(np.rint(quarters)))
    np.testing.assert_allclose(quarters, np.rint(quarters), atol=1e-9)


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
    for end in np.random.default_rng(0).uniform(0.001, 2, 50):
        assert geometric(50.0, end, 7)[-1] == end  # to the last bit: from there on epochs are compared by their sigma
    np.testing.assert_allclose(sigmas[1:] / sigmas[:-1], (0.01 / 50) ** (1 / 99))
    assert geometric(3.0, 0.01, 1).tolist() == [3.0]


# --- layers and given distances


@pytest.mark.parametrize(("kind", "beside"), [("hexagonal", 6), ("rectangular", 4)])
def test_layers_lie_one_step_above_each_other(kind, beside):
    layers, plane = make_lattice((3, 4, 5), kind), make_lattice((4, 5), kind)
    z, j = np.divmod(np.arange(60), 20)
    expected = np.hypot(plane.distances[j][:, j], z[:, None] - z)
    np.testing.assert_allclose(layers.distances, expected, atol=1e-12)
    middle = 20 + 7  # not on the border of the middle layer
    assert layers.neighbors[middle].sum() == beside + 2
    assert layers.neighbors[middle, [7, 47]].all()


@pytest.mark.parametrize("kind", ["hexagonal", "rectangular"])
def test_layers_are_drawn_apart_each_like_a_plane(kind):
    for n_layers in (1, 2, 3, 5):
        layers, plane = make_lattice((n_layers, 4, 5), kind), make_lattice((4, 5), kind)
        z = layers.positions.reshape(n_layers, 20, 2)
        np.testing.assert_allclose(z - z[:, :1], np.broadcast_to(plane.positions, z.shape), atol=1e-12)
        apart = np.linalg.norm(z.reshape(-1, 1, 2) - z.reshape(1, -1, 2), axis=2).reshape(n_layers, 20, n_layers, 20)
        for a in range(n_layers):
            for b in range(a):
                assert apart[a, :, b].min() > 1.4


def test_layers_joined_to_a_torus_are_all_alike():
    lattice = make_lattice((4, 4, 5), "rectangular", periodic=True)
    assert set(lattice.neighbors.sum(axis=1)) == {6}
    assert lattice.diameter == pytest.approx(np.sqrt(4 + 4 + 4))


def random_tree(K, rng):
    """(distances, edges) of a tree with edges of any length."""
    lengths = np.full((K, K), np.inf)
    np.fill_diagonal(lengths, 0)
    edges = np.zeros((K, K), bool)
    for j in range(1, K):
        l = rng.integers(j)
        lengths[j, l] = lengths[l, j] = rng.uniform(0.1, 5)
        edges[j, l] = edges[l, j] = True
    return shortest_path(lengths), edges


@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 12))
def test_neurons_touch_along_the_edges_of_a_tree(seed, K):
    distances, edges = random_tree(K, np.random.default_rng(seed))
    lattice = given_lattice(distances)
    np.testing.assert_array_equal(lattice.neighbors, edges)
    # In steps: edges are one long on average, and proportions stay.
    assert lattice.distances[edges].mean() == pytest.approx(1)
    np.testing.assert_allclose(lattice.distances * distances.max(), distances * lattice.distances.max())


@given(seed=st.integers(0, 2**32 - 1), K=st.integers(2, 10), share=st.floats(0, 1))
def test_neurons_touch_along_the_edges_of_any_graph_of_unit_steps(seed, K, share):
    rng = np.random.default_rng(seed)
    edges = random_tree(K, rng)[1] | (rng.random((K, K)) < share)
    edges = (edges | edges.T) & ~np.eye(K, dtype=bool)
    lattice = given_lattice(shortest_path(edges.astype(float)))
    np.testing.assert_array_equal(lattice.neighbors, edges)
    np.testing.assert_array_equal(lattice.distances == 1, edges)


@pytest.mark.parametrize("kind", ["hexagonal", "rectangular"])
@pytest.mark.parametrize("periodic", [False, True])
def test_the_distances_of_a_grid_give_the_neighbours_of_the_grid(kind, periodic):
    grid = make_lattice((4, 5), kind, periodic)
    noise = 1 + 1e-13 * np.random.default_rng(0).normal(size=(20, 20))
    lattice = given_lattice(7 * grid.distances * (noise + noise.T))
    np.testing.assert_array_equal(lattice.neighbors, grid.neighbors)
    np.testing.assert_allclose(lattice.distances, grid.distances, rtol=1e-9)


def test_touching_by_its_definition(rng):
    d = rng.random((9, 9))
    d = d + d.T
    np.fill_diagonal(d, 0)
    for j in range(9):
        for l in range(9):
            third = [k for k in range(9) if k not in (j, l) and max(d[j, k], d[l, k]) < d[j, l]]
            assert touching(d)[j, l] == (j != l and not third)


def test_a_picture_of_given_distances_keeps_them_where_the_plane_can(rng):
    grid = make_lattice((3, 4), "rectangular")
    z = given_lattice(grid.distances).positions
    drawn = np.linalg.norm(z[:, None] - z, axis=2)
    np.testing.assert_allclose(drawn, grid.distances, atol=1e-6)
    # Leaves of a star are alike; none is drawn on another.
    star = np.full((8, 8), 2.0)
    star[0], star[:, 0] = 1, 1
    np.fill_diagonal(star, 0)
    z = given_lattice(star).positions
    drawn = np.linalg.norm(z[:, None] - z, axis=2)
    assert drawn[~np.eye(8, dtype=bool)].min() > 0.3


def test_one_neuron_is_a_lattice():
    lattice = given_lattice([[0]])
    assert lattice.positions.tolist() == [[0, 0]]
    assert not lattice.neighbors.any()


def test_lattices_are_equal_if_they_say_the_same():
    assert make_lattice((2, 3)) == make_lattice((2, 3)) != make_lattice((3, 2))
    line, star = [[0, 1, 2], [1, 0, 1], [2, 1, 0]], [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert given_lattice(line) == given_lattice(line) != given_lattice(star)


@pytest.mark.parametrize(("lattice", "said"), [
    (None, "lattice must be"), ("square", "lattice is 'square'"), ([[0, 1]], "square array"), ([], "square array"),
    ([[0, 1], [1]], "square array"), ([["a"]], "square array"), (np.zeros((2, 2, 2)), "square array"),
    ([[0, np.inf], [np.inf, 0]], r"lattice\[0, 1\] is inf; .* not connected"), ([[0, np.nan], [1, 0]], "be finite"),
    ([[0, 1], [2, 0]], r"lattice\[0, 1\] is 1, but lattice\[1, 0\] is 2"),
    ([[0, -1], [-1, 0]], r"lattice\[0, 1\] is -1; it must be above 0"), ([[0, 0], [0, 0]], "must be above 0"),
    ([[0, 1], [1, 3]], r"lattice\[1, 1\] is 3; it must be 0"),
])  # fmt: skip
def test_lattices_that_are_none_are_refused(lattice, said):
    with pytest.raises(ValueError, match=said):
        checked_lattice((2, 1), lattice, False)


def test_what_does_not_go_with_given_distances_is_refused():
    with pytest.raises(ValueError, match="periodic=True joins the edges of a grid"):
        checked_lattice((2, 1), [[0, 1], [1, 0]], True)


@pytest.mark.parametrize("grid", [(3,), (1, 2, 3, 4), 5, "2x3", (2, 0), (2, 2.5), None])
def test_grids_that_are_none_are_refused(grid):
    with pytest.raises(ValueError, match="grid"):
        checked_lattice(grid, "hexagonal", False)


def test_a_truncated_weight_is_the_same_up_to_its_end_and_zero_beyond():
    t = np.array([0.0, 1.0, 2.0, 2.5])
    for shape in ("exponential", "gaussian"):
        assert h(t, 0.7, shape, most=2.0).tolist() == [*h(t, 0.7, shape)[:3], 0.0]
