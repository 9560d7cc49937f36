"""Every number that the displays draw, read back from what they drew; and one image each that can be written."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from support.extras import optional
from support.maps import blob_distances, blobs

from medianmap import (
    BatchNeuralGas,
    BatchSOM,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
)
from medianmap import explore as structure
from medianmap.core.neighborhood import make_lattice
from medianmap.core.quality import torn_links
from medianmap.datasets import load_iris
from medianmap.report.plots import MapDisplay, TopologyDisplay, TrainingDisplay, UMatrixDisplay
from medianmap.report.plots.shapes import (
    cell_polygons,
    pie_polygons,
    pie_radii,
    slices,
    text_color,
    u_matrix_cells,
)
from medianmap.utils.palette import RAMPS


@pytest.fixture
def plt():
    optional("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def iris_map():
    iris = load_iris()
    return MedianSOM((4, 5), n_epochs=15, random_state=0).fit(iris.X), iris.X, iris.y


def area(polygon):
    x, y = np.asarray(polygon).T
    return abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2


def written(display, path):
    display.figure_.savefig(path)
    assert path.stat().st_size > 3000
    width, _ = display.figure_.get_size_inches()
    assert width == 6


# --- polygons --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "size"), [("hexagonal", np.sqrt(3) / 2), ("rectangular", 1.0)])
def test_cells_tile_the_plane(kind, size):
    lattice = make_lattice((3, 4), kind)
    cells = cell_polygons(lattice.positions, kind)
    np.testing.assert_allclose([area(cell) for cell in cells], size)
    np.testing.assert_allclose(cells.mean(axis=1), lattice.positions, atol=1e-12)
    corners = np.round(cells, 6)
    for a, b in np.argwhere(lattice.neighbors):
        shared = {tuple(p) for p in corners[a].tolist()} & {tuple(p) for p in corners[b].tolist()}
        assert len(shared) == 2  # cells that touch have a side in common


@pytest.mark.parametrize("kind", ["hexagonal", "rectangular"])
@pytest.mark.parametrize("periodic", [False, True])
def test_cells_of_a_u_matrix_lie_between_their_neurons(kind, periodic, rng):
    lattice = make_lattice((4, 5), kind, periodic)
    u = structure.u_matrix(lattice, rng.random((20, 20)))
    centers, values = u_matrix_cells(lattice, u)
    np.testing.assert_array_equal(centers[:20], lattice.positions)
    np.testing.assert_array_equal(values[:20], u.means)
    assert len(np.unique(np.round(centers, 6), axis=0)) == len(centers)  # no cell covers another
    for k, (a, b, d) in enumerate(u.edges.tolist(), start=20):
        assert values[k] == d
        assert np.hypot(*(centers[k] - lattice.positions[a])) == pytest.approx(0.5)
        if not periodic:
            np.testing.assert_allclose(centers[k], (lattice.positions[a] + lattice.positions[b]) / 2)
    if kind == "rectangular":
        assert len(centers) == (9 * 7 if not periodic else 9 * 7 + 2 * (4 + 5))
        edge = {(a, b): d for a, b, d in u.edges.tolist()}
        middle = np.flatnonzero((centers == [1.5, 2.5]).all(axis=1))
        around = edge[11, 12], edge[16, 17], edge[11, 16], edge[12, 17]
        assert values[middle] == pytest.approx(np.mean(around))


def test_slices_of_pies_have_the_areas_of_their_shares():
    shares = np.array([[0.5, 0.3, 0.2], [0, 1, 0], [0, 0, 0]])
    wedges, number = pie_polygons(np.array([[0.0, 0], [3, 0], [6, 0]]), np.array([1.0, 0.5, 1.0]), shares)
    assert number.tolist() == [0, 1, 2, 1]
    np.testing.assert_allclose([area(w) for w in wedges], np.pi * np.array([0.5, 0.3, 0.2, 0.25]), rtol=0.01)
    assert (wedges[0][:, 0] >= -1e-9).all()  # the first half runs from the top to the right
    assert pie_polygons(np.zeros((1, 2)), np.zeros(1), np.ones((1, 1)))[0] == []


def test_twenty_one_classes_have_styles_and_the_rest_one(rng):
    shares, hits = rng.dirichlet(np.ones(24), size=6), rng.integers(1, 9, size=6).astype(float)
    shares[2] = 0
    cut = slices(shares, hits, [f"c{k}" for k in range(24)])
    weight = hits @ shares
    rest = sorted(np.argsort(weight)[:3])
    kept = [k for k in range(24) if k not in rest]
    assert cut.names == [*(f"c{k}" for k in kept), "3 other classes", "not labelled"]
    np.testing.assert_allclose(cut.shares[:, :21], shares[:, kept])
    np.testing.assert_allclose(cut.shares[:, 21], shares[:, rest].sum(axis=1))
    np.testing.assert_allclose(cut.shares.sum(axis=1), 1)
    assert len(set(cut.styles)) == 23
    few = slices(shares[[0]], hits[[0]], range(24)).names
    assert "not labelled" not in few


def test_one_large_neuron_leaves_the_others_legible():
    radii = pie_radii(np.array([1000.0, 10, 1, 0]))
    np.testing.assert_allclose(radii[:3] ** 4 * 1000, [1000, 10, 1])  # areas go with the root of the points
    assert radii[2] > 0.15
    assert radii[3] == 0


def test_numbers_are_readable_on_their_cells():
    assert text_color((0, 0, 0.3, 1)) == "white"
    assert text_color((1, 0.9, 0.2, 1)) == "black"


# --- displays --------------------------------------------------------------------------------------------------------


def test_map_display_draws_each_colouring(plt, iris_map, tmp_path):
    som, X, _ = iris_map
    points = structure.two_best(som, X)
    P = structure.prototype_dissimilarities(som)
    expected = {
        "hits": som.hits_,
        "quality": structure.mean_dissimilarity(points, 20),
        "u-matrix": structure.u_matrix(som.lattice_, P).means,
        "component": som.cluster_centers_[:, 2],
    }
    for color, values in expected.items():
        display = MapDisplay.from_estimator(som, X, color=color, component=2)
        drawn = display.cells_.get_array()
        np.testing.assert_array_equal(drawn.filled(np.nan), values)
        assert len(display.cells_.get_paths()) == 20
        assert len(display.ax_.collections) == 1  # all cells are one collection
        written(display, tmp_path / f"{color}.png")
    words = [text.get_text() for text in MapDisplay.from_estimator(som).ax_.texts]
    assert words == [*(f"{h:g}" if h else "" for h in som.hits_), *"0123", *"01234"]  # rows and columns from 0


def test_plots_have_the_colours_of_the_page_by_day(plt, iris_map):
    som, X, _ = iris_map
    for display in (MapDisplay.from_estimator(som, X, color="quality"), UMatrixDisplay.from_estimator(som)):
        cells = display.cells_
        values = np.asarray(cells.get_array())
        drawn = cells.to_rgba([values.min(), values.max()])[:, :3]
        ends = [
            [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)] for color in (RAMPS["light"][0], RAMPS["light"][-1])
        ]
        np.testing.assert_allclose(drawn, ends, atol=0.01)  # the most is the darkest


def test_stripes_and_dots_are_drawn_on_classes_that_share_a_colour(plt, iris_map):
    som, X, _ = iris_map
    names = [f"{k % 16:02d}" for k in range(len(X))]
    display = MapDisplay.from_estimator(som, X, names, color="labels")
    legend = display.ax_.get_legend()
    hatches = [handle.get_hatch() for handle in legend.legend_handles]
    assert [bool(hatch) for hatch in hatches] == [False] * 7 + [True] * 9
    assert hatches[7] != hatches[14]
    assert {each.get_hatch() for each in display.ax_.collections if each.get_hatch()} == set(hatches[7:])


def test_labels_that_are_many_numbers_are_a_scale_of_means(plt, iris_map, tmp_path):
    som, X, _ = iris_map
    years = [None if k % 10 == 3 else "unknown" if k % 10 == 4 else 1950 + k % 50 for k in range(150)]
    display = MapDisplay.from_estimator(som, X, years, color="labels")
    known = [(j, year) for j, year in zip(som.labels_, years, strict=True) if isinstance(year, int)]
    expected = [np.mean([year for j, year in known if j == neuron]) for neuron in range(20)]
    np.testing.assert_allclose(display.cells_.get_array(), expected)
    assert "mean label of the points" in [ax.get_ylabel() for ax in display.figure_.axes]
    written(display, tmp_path / "years.png")

    graph = TopologyDisplay.from_estimator(som, X, years)
    np.testing.assert_allclose(graph.means, expected)
    drawn = {tuple(color) for color in graph.nodes_.get_facecolors()}
    assert len(drawn) == len(np.unique(expected))  # by quantity, not by class
    few = MapDisplay.from_estimator(som, X, [k % 20 for k in range(150)], color="labels")
    assert few.values.shape == (20, 20)  # as many as can have a look of their own may be names of classes
    alone = MapDisplay.from_estimator(som, X[:1], [1990], color="labels")
    assert alone.values.shape == (20, 1)


def test_a_long_legend_does_not_shrink_the_map(plt, iris_map):
    som, X, y = iris_map
    short = MapDisplay.from_estimator(som, X, y, color="labels")
    long = MapDisplay.from_estimator(
        som, X, [f"a species of quite a long name {k % 12}" for k in range(150)], color="labels"
    )
    heights = []
    for display in (short, long):
        display.figure_.draw_without_rendering()
        heights.append(display.ax_.get_window_extent().height)
    assert heights[1] > 0.9 * heights[0]
    assert long.figure_.get_figheight() > short.figure_.get_figheight()
    ax = plt.subplots()[1]
    before = ax.figure.get_figheight()
    MapDisplay.from_estimator(som, X, y, color="labels", ax=ax)
    assert ax.figure.get_figheight() == before  # another's figure is left as it is


def test_map_display_draws_groups_and_pies(plt, iris_map, tmp_path):
    som, X, y = iris_map
    display = MapDisplay.from_estimator(som, color="superclusters", n_groups=4)
    groups = structure.superclusters(structure.prototype_dissimilarities(som), 4, hits=som.hits_).groups
    assert [text.get_text() for text in display.ax_.texts[:20]] == [str(g + 1) for g in groups]
    colors = [tuple(c) for c in display.cells_.get_facecolors()]
    assert len(set(colors)) == 4
    assert all((colors[a] == colors[b]) == (groups[a] == groups[b]) for a in range(20) for b in range(20))
    written(display, tmp_path / "groups.png")

    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pies = MapDisplay.from_estimator(som, X, names, color="labels")
    shares, classes = structure.class_shares(som.labels_, names, 20)
    np.testing.assert_array_equal(pies.values, shares)
    assert [text.get_text() for text in pies.ax_.get_legend().get_texts()] == classes.tolist()
    drawn = sum(area(path.vertices[:-1]) for path in pies.pies_.get_paths())
    assert drawn == pytest.approx(np.pi * 0.46**2 * np.sqrt(som.hits_ / som.hits_.max()).sum(), rel=0.01)
    written(pies, tmp_path / "pies.png")


def test_empty_neurons_have_no_quality(plt):
    X = np.array([[0.0], [0], [0], [9], [9], [9]])
    som = BatchSOM((1, 4), n_epochs=5, random_state=0).fit(X)
    display = MapDisplay.from_estimator(som, X, color="quality")
    assert (som.hits_ == 0).any()
    np.testing.assert_array_equal(display.cells_.get_array().mask, som.hits_ == 0)


@pytest.mark.parametrize("kind", ["hexagonal", "rectangular"])
def test_u_matrix_display(plt, kind, rng, tmp_path):
    D = blob_distances(rng)
    som = MedianSOM((3, 4), lattice=kind, metric="precomputed", n_epochs=8, random_state=0).fit(D)
    display = UMatrixDisplay.from_estimator(som, D)
    w = som.medoid_indices_
    drawn = np.asarray(display.cells_.get_array())
    for k, (a, b, _) in enumerate(display.u.edges.tolist(), start=12):
        assert drawn[k] == pytest.approx(D[w[a], w[b]])
    np.testing.assert_array_equal(drawn[:12], display.u.means)
    written(display, tmp_path / "u.png")
    own = plt.subplots()[1]
    assert UMatrixDisplay(som.lattice_, display.u).plot(ax=own).ax_ is own


def test_topology_display(plt, rng, tmp_path):
    X = blobs(rng, 150)
    y = np.where(X[:, 0] > 0, "right", "left")
    for gas in (MedianNeuralGas(9, n_epochs=8, random_state=0), BatchNeuralGas(9, n_epochs=8, random_state=0)):
        gas.fit(X)
        display = TopologyDisplay.from_estimator(gas, X, y, names=np.arange(9))
        edges = structure.topology_graph(structure.two_best(gas, X))
        np.testing.assert_array_equal(display.edges, edges)
        z = display.layout.positions
        for line, (a, b, _) in zip(display.edges_.get_segments(), edges.tolist(), strict=True):
            np.testing.assert_allclose(line, z[[a, b]])
        widths = np.asarray(display.edges_.get_linewidths())
        assert (np.diff(widths[np.argsort(edges["count"], kind="stable")]) >= 0).all()
        euclidean = np.sqrt(((gas.cluster_centers_[:, None] - gas.cluster_centers_[None]) ** 2).sum(axis=2))
        np.testing.assert_allclose(z, structure.layout(euclidean).positions, atol=1e-6)
        assert [text.get_text() for text in display.ax_.texts] == [str(k) for k in range(9)]
        radii = display.radii()
        top, low = gas.hits_.argmax(), gas.hits_.argmin()
        assert (radii[low] / radii[top]) ** 4 == pytest.approx(gas.hits_[low] / gas.hits_[top])
    written(display, tmp_path / "topology.png")
    plain = TopologyDisplay.from_estimator(gas, X)
    assert len(plain.nodes_.get_paths()) == 9
    one = TopologyDisplay.from_estimator(MedianKMeans(1, random_state=0).fit(X), X)
    assert len(one.edges_.get_segments()) == 0
    written(one, tmp_path / "one.png")


def test_training_display(plt, iris_map, tmp_path):
    som, X, _ = iris_map
    display = TrainingDisplay.from_estimator(som)
    cost, error = display.ax_.get_lines()
    np.testing.assert_array_equal(cost.get_xdata(), np.arange(1, som.n_iter_ + 1))
    np.testing.assert_array_equal(cost.get_ydata(), som.history_["cost"] / 2)
    np.testing.assert_array_equal(error.get_ydata(), som.history_["quantization_error"])
    np.testing.assert_array_equal(display.sigma_ax_.get_lines()[0].get_ydata(), som.history_["sigma"])
    written(display, tmp_path / "training.png")
    means = TrainingDisplay.from_estimator(MedianKMeans(3, random_state=0).fit(X))
    assert means.sigma_ax_ is None


def test_a_pass_over_patches_is_drawn(plt, rng):
    X = blobs(rng, 150)
    model = PatchClusterer(MedianSOM((3, 3), n_epochs=8, random_state=0), patch_size=60).fit(X)
    np.testing.assert_array_equal(MapDisplay.from_estimator(model).cells_.get_array(), model.map_.hits_)
    UMatrixDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="A pass over patches keeps no history"):
        TrainingDisplay.from_estimator(model)


def test_mistakes_are_named(iris_map):
    som, X, _ = iris_map
    gas = MedianNeuralGas(3, n_epochs=5, random_state=0).fit(X)
    for display in (MapDisplay, UMatrixDisplay):
        with pytest.raises(ValueError, match="MedianNeuralGas has no lattice, so there is no grid to draw"):
            display.from_estimator(gas)
    with pytest.raises(ValueError, match="color is 'depth'; choose one of"):
        MapDisplay.from_estimator(som, color="depth")
    with pytest.raises(ValueError, match=r"color='quality' needs .*pass X"):
        MapDisplay.from_estimator(som, color="quality")
    with pytest.raises(ValueError, match=r"color='labels' needs .*pass X and y"):
        MapDisplay.from_estimator(som, X, color="labels")
    for component in (4, -1, "petal", True):
        with pytest.raises(ValueError, match=r"component is .*; give a number below 4 or one of the names"):
            MapDisplay.from_estimator(som, color="component", component=component)
    with pytest.raises(ValueError, match="2 names for 3 neurons"):
        TopologyDisplay.from_estimator(gas, X, names=["a", "b"])


@pytest.mark.parametrize("what", ["hits", "u-matrix", "labels"])
def test_torn_links_are_drawn_where_they_are_asked_for(what, iris_map, plt):
    _, X, y = iris_map
    narrow = {"neighborhood": "exponential", "sigma_end": 0.01, "annealing": "median", "init": "random"}
    som = MedianSOM((4, 5), n_epochs=15, random_state=0, **narrow).fit(X)
    y = y if what == "labels" else None
    points = structure.two_best(som, X)
    links = torn_links(points["prototype"], points["second"], som.lattice_)
    assert len(links) > 1
    display = som.plot(what, X, y, torn=True)
    np.testing.assert_allclose(display.torn_.get_segments(), som.lattice_.positions[links[:, :2]])
    assert np.all(np.diff(display.torn_.get_linewidths()) <= 0)
    assert not hasattr(som.plot(what, X, y), "torn_")
    with pytest.raises(ValueError, match="torn=True needs the data; pass X"):
        som.plot("hits", torn=True)


def test_without_matplotlib_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None; sys.modules['matplotlib.pyplot'] = None\n"
        "import numpy as np\n"
        "from medianmap import BatchSOM\n"
        "from medianmap.report.plots import MapDisplay\n"
        "MapDisplay.from_estimator(BatchSOM((1, 2), n_epochs=2).fit(np.eye(3)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    sentence = "ModuleNotFoundError: Drawing needs matplotlib; install it with: pip install 'medianmap[plot]'"
    assert done.stderr.strip().splitlines()[-1] == sentence


def test_a_fitted_model_draws_itself(iris_map, plt):
    som, X, _ = iris_map
    gas = MedianNeuralGas(5, n_epochs=2, random_state=0).fit(X)
    species = ["a", "b", None] * 50
    np.testing.assert_array_equal(som.plot().cells_.get_array(), som.hits_)  # hits of a SOM by default
    assert isinstance(gas.plot(X=X), TopologyDisplay)
    assert isinstance(som.plot("u-matrix"), UMatrixDisplay)
    assert som.plot("labels", X, species).classes.tolist() == ["a", "b"]
    assert isinstance(gas.plot("training"), TrainingDisplay)
    _, axes = plt.subplots()
    assert som.plot("superclusters", ax=axes, n_groups=2).ax_ is axes
    classifier = PrototypeClassifier(MedianSOM((1, 2), n_epochs=2, random_state=0)).fit(X, species)
    patches = PatchClusterer(MedianSOM((1, 2), n_epochs=2, random_state=0), patch_size=50).fit(X)
    assert isinstance(classifier.plot(), MapDisplay)
    assert isinstance(patches.plot("topology", X), TopologyDisplay)
    for model, what, sentence in (
        (som, "map", "'map'"),
        (gas, "hits", "MedianNeuralGas has no grid.*topology or training"),
        (patches, "training", "PatchClusterer.*no history"),
        (som, "quality", "'quality' needs the data"),
        (som, "labels", "'labels' needs .*pass X and y"),
    ):
        with pytest.raises(ValueError, match=sentence):
            model.plot(what)
    with pytest.raises(TypeError, match="n_groups"):
        gas.plot("training", n_groups=2)
    with pytest.raises(NotFittedError, match="MedianSOM"):
        MedianSOM((1, 2)).plot()
