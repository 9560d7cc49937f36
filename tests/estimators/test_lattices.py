"""Chains, layers and given distances through the front door: fit, report, pictures, files, patches, labels."""

import re

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from sklearn.base import clone
from support.maps import blobs

from medianmap import (
    BatchSOM,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
    RelationalSOM,
    arrange,
    as_dissimilarity,
    load,
    report,
    save,
)
from medianmap.core.quality import indices, topographic_error
from medianmap.explore import hit_map
from medianmap.report.summary import summarize
from medianmap.report.text import map_text
from medianmap.sources import ALL

RING = shortest_path(np.roll(np.eye(8), 1, axis=1), directed=False)
GRAPH = {"lattice": RING}
SHAPES = {
    "chain": ({"grid": (1, 8)}, (1, 8), 7),
    "upright chain": ({"grid": (8, 1)}, (8, 1), 7),
    "layers": ({"grid": (2, 2, 2), "lattice": "rectangular"}, (2, 2, 2), 12),
    "hexagonal layers": ({"grid": (2, 2, 2)}, (2, 2, 2), 14),
    "ring": (GRAPH, (8,), 8),
    "ring in other units": ({"lattice": (60 * RING).tolist()}, (8,), 8),
}
X = blobs(np.random.default_rng(4), n=50)
Y = np.array(["a", "b"])[(X[:, 0] > 0).astype(int)]
SOMS = {
    "median": lambda **params: MedianSOM(n_epochs=8, random_state=0, **params),
    "relational": lambda **params: RelationalSOM(n_epochs=8, random_state=0, **params),
    "batch": lambda **params: BatchSOM(n_epochs=8, random_state=0, **params),
}


@pytest.mark.parametrize("kind", SOMS)
@pytest.mark.parametrize("name", SHAPES)
def test_from_the_fit_to_the_loaded_model(name, kind, tmp_path):
    params, shape, n_touching = SHAPES[name]
    som = SOMS[kind](**params).fit(X)
    assert som.lattice_.shape == shape
    assert np.triu(som.lattice_.neighbors).sum() == n_touching
    assert hit_map(som).shape == shape
    assert hit_map(som).sum() == 50

    source = as_dissimilarity(X, "euclidean")
    found = indices(source, som.labels_, som.transform(X), lattice=som.lattice_)
    assert found["topographic_error"] == topographic_error(som.transform(X), som.lattice_)

    content = report(som, X, y=Y).content
    assert len(content["edges"]) == n_touching
    np.testing.assert_allclose([[n["x"], n["y"]] for n in content["neurons"]], som.lattice_.positions, atol=1e-5)
    graph = som.lattice_.places is None
    assert content["lattice"] == {
        "kind": "given" if graph else params.get("lattice", "hexagonal"), "grid": None if graph else list(shape),
        "periodic": False,
    }  # fmt: skip
    names = [name for name in ("layer", "row", "column") if name in content["neurons"][0]]
    places = [tuple(neuron[name] for name in names) for neuron in content["neurons"]]
    assert places == ([()] * 8 if graph else list(np.ndindex(*shape)))
    assert ("at given distances" if graph else " x ".join(map(str, shape))) in som._repr_html_()

    text = map_text(summarize(som, X, y=Y)).plain
    assert re.findall(r"layer \d", text) == (["layer 0", "layer 1"] if len(shape) == 3 else [])
    shown = [int(n) for n in re.findall(r"[ab] (\d+)", text)]
    assert shown == [int(n) for n in som.hits_ if n]  # all neurons, in their order

    save(som, tmp_path / "m.mmap")
    back = load(tmp_path / "m.mmap")
    assert back.lattice_ == som.lattice_
    np.testing.assert_array_equal(back.lattice_.positions, som.lattice_.positions)
    np.testing.assert_array_equal(back.predict(X), som.labels_)
    again = clone(back).fit(X)
    np.testing.assert_array_equal(again.labels_, som.labels_)


@pytest.mark.parametrize("name", SHAPES)
def test_pictures(name):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    from medianmap.report.plots import MapDisplay, UMatrixDisplay

    params, shape, n_touching = SHAPES[name]
    som = SOMS["median"](**params).fit(X)
    lattice = som.lattice_
    for color in ("hits", "u-matrix", "superclusters", "labels", "quality", "component"):
        display = MapDisplay.from_estimator(som, X, Y, color=color, torn=True)
        assert len(display.cells_.get_paths()) == 8
    display = UMatrixDisplay.from_estimator(som, X)
    centers = np.array([path.vertices[:-1].mean(axis=0) for path in display.cells_.get_paths()])
    np.testing.assert_allclose(centers[:8], lattice.positions, atol=1e-9)
    # Beside the neurons one cell for each two that touch, half way; none for two in different layers.
    pairs = np.argwhere(np.triu(lattice.neighbors))
    if len(shape) == 3:
        pairs = pairs[pairs[:, 0] // 4 == pairs[:, 1] // 4]
    np.testing.assert_allclose(centers[8 : 8 + len(pairs)], lattice.positions[pairs].mean(axis=1), atol=1e-9)
    crossings = 2 if name == "layers" else 0  # between four neurons of a rectangular layer
    assert len(centers) == 8 + len(pairs) + crossings
    lines = [c for c in display.ax_.collections if type(c).__name__ == "LineCollection"]
    assert [len(c.get_segments()) for c in lines] == ([n_touching] if lattice.places is None else [])
    plt.close("all")


@pytest.mark.parametrize("name", SHAPES)
def test_patches_labels_and_arrangement(name):
    params, shape, _ = SHAPES[name]
    passes = PatchClusterer(SOMS["median"](**params), patch_size=25).fit(X)
    assert passes.lattice_.shape == shape
    model = PrototypeClassifier(SOMS["median"](**params), beta=0.5).fit(X, Y)
    assert model.score(X, Y) > 0.5
    som = SOMS["median"](refine="swap", **params).fit(X)
    D = as_dissimilarity(X, "euclidean").block(ALL, ALL)
    found = arrange(D, np.random.default_rng(0).permutation(50)[:8], **params)
    assert found.lattice == som.lattice_
    assert found.topographic_error <= found.before[0]
    warm = SOMS["median"](warm_start=True, **params).fit(X)
    assert sorted(warm.fit(X).hits_) == sorted(np.bincount(warm.labels_, minlength=8))


def test_exemplars_that_do_not_fit_are_told_what_does():
    D = as_dissimilarity(X, "euclidean").block(ALL, ALL)
    with pytest.raises(ValueError, match="There are 6 exemplars for the 8 neurons of the lattice; give one for every"):
        arrange(D, range(6), **GRAPH)
    with pytest.raises(ValueError, match=r"6 exemplars for the 8 neurons of a 2x2x2 grid; .* a grid of 2x3"):
        arrange(D, range(6), (2, 2, 2))


def test_given_distances_take_the_place_of_the_grid():
    one, other = (MedianSOM(grid, lattice=RING, n_epochs=8, random_state=0).fit(X) for grid in ((10, 10), (1, 3)))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert len(one.hits_) == 8


def test_points_on_a_circle_are_in_order_round_a_ring():
    turns = np.sort(np.random.default_rng(0).random(200)) * 2 * np.pi
    circle = np.column_stack([np.cos(turns), np.sin(turns)])
    som = BatchSOM(lattice=RING, random_state=0).fit(circle)
    assert topographic_error(som.transform(circle), som.lattice_) == 0
    angle = np.unwrap(np.arctan2(*som.cluster_centers_.T[::-1]))
    assert abs(angle[-1] - angle[0]) == pytest.approx(2 * np.pi * 7 / 8, abs=0.5)
    assert len(set(np.sign(np.diff(angle)))) == 1


def test_a_solid_starts_and_ends_in_the_order_of_its_layers():
    """Points of a box on neurons of the same proportions: each side of the lattice is a side of the box."""
    box = np.random.default_rng(1).random((600, 3)) * [5, 4, 3]
    som = BatchSOM((3, 4, 5), lattice="rectangular", random_state=0).fit(box)
    assert topographic_error(som.transform(box), som.lattice_) < 0.15
    # Places are x, y and the layer: the longest side of the box runs along the longest of the lattice.
    for axis in range(3):
        rho = np.corrcoef(som.cluster_centers_[:, axis], som.lattice_.places[:, axis])[0, 1]
        assert abs(rho) > 0.95


@pytest.mark.parametrize("truncate", [-1, "far", np.inf, np.nan, True])
def test_truncation_that_is_none_is_refused(truncate):
    from medianmap import MedianNeuralGas

    for map_ in (MedianSOM((2, 2), truncate=truncate), MedianNeuralGas(2, truncate=truncate)):
        with pytest.raises(ValueError, match="truncate is"):
            map_.fit(X)


def test_another_winner_is_refused():
    with pytest.raises(ValueError, match="winner is 'heskes'; choose one of 'neighborhood', 'nearest'"):
        MedianSOM((2, 2), winner="heskes").fit(X)


@pytest.mark.parametrize("kind", SOMS)
@pytest.mark.parametrize("params", [{"winner": "nearest"}, {"truncate": 1}, {"truncate": 0}])
def test_choices_come_back_with_the_model_and_make_a_difference(params, kind, tmp_path):
    som = SOMS[kind](grid=(2, 4), **params).fit(X)
    save(som, tmp_path / "m.mmap")
    again = clone(load(tmp_path / "m.mmap")).fit(X)
    np.testing.assert_array_equal(again.labels_, som.labels_)
    assert again.get_params()["winner"] == som.winner
    plain = SOMS[kind](grid=(2, 4), arrange=False).fit(X).history_["cost"]
    assert not np.array_equal(SOMS[kind](grid=(2, 4), arrange=False, **params).fit(X).history_["cost"], plain)
