"""Maps on their lattice: cells coloured by a number or a group, or carrying pies of classes; and the U-matrix."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ...core.neighborhood import Lattice
from ...explore import prototypes as views
from ...predict.nearest import two_best
from ...predict.queries import map_of
from ...sources.base import FloatArray
from ...utils.checks import check_choice
from ...utils.loading import require
from . import shapes
from .shapes import EMPTY, LINE, NAMED, NUMBERS, TEXT, cell_polygons, color_bar

COLORS = ("hits", "quality", "u-matrix", "superclusters", "component", "labels")
# With more columns on a figure of six inches, numbers in cells cannot be read.
MOST_COLUMNS = 16


class LatticeDisplay(shapes.Display):
    """A picture on the lattice of a SOM, row 0 on top."""

    def __init__(self, lattice: Lattice) -> None:
        rows, cols = lattice.shape
        self.lattice, self._size = lattice, (6, float(np.clip(6 * rows / (cols + 1), 2.5, 8)))


class MapDisplay(LatticeDisplay):
    """A SOM, one cell per neuron, row 0 on top.

    Parameters
    ----------
    lattice : of the map.
    values : (K,) one number per neuron, NaN where there is none; or group numbers (K,) of an integer type; or class
        shares (K, C), rows that sum to 1 or to 0, drawn as pies.
    hits : (K,) weight at each neuron: areas of the pies, and the numbers in cells coloured by hits.
    label : what the values are.
    classes : (C,) names of the classes.

    Attributes
    ----------
    cells_ : the cells, one collection of polygons.
    ax_, figure_ : the axes and figure drawn on.
    """

    def __init__(self, lattice: Lattice, values: Any, hits: FloatArray, label: str, classes: Any = None) -> None:
        super().__init__(lattice)
        self.values, self.hits = np.asarray(values), np.asarray(hits, np.float64)
        self.label, self.classes = label, classes

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, color: str = "hits", component: int | str = 0,
        n_groups: int | None = None, points: Any = None, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Compute what `color` asks for and draw it.

        model : a fitted SOM, or a PatchClusterer or PrototypeClassifier of one.
        X : the data; needed for "quality" and "labels", and by maps of metric="precomputed" for all but "hits".
        y : (N,) labels of X for "labels".
        color : "hits"; "quality", the mean dissimilarity of its points to an exemplar; "u-matrix", the mean
            dissimilarity to the neighbouring exemplars; "superclusters"; "component", a coordinate of the prototypes;
            "labels", pies of classes.
        component : number or name of the coordinate.
        n_groups : number of superclusters; None finds one.
        points : the table of `two_best`, where it is computed already.
        """
        check_choice(color, "color", COLORS)
        lattice, hits = views.lattice_of(model), np.asarray(map_of(model).hits_, np.float64)
        values: Any
        label, classes = color, None
        if color == "hits":
            values, label = hits, "points at the neuron"
        elif color == "component":
            planes, names = views.component_planes(model)
            k = _component(component, names)
            values, label = planes[:, k], names[k]
        elif color in ("quality", "labels"):
            points = two_best(model, _given(X, "X", color)) if points is None else points
            if color == "quality":
                values, label = views.mean_dissimilarity(points, len(hits)), "mean dissimilarity to the exemplar"
            else:
                values, classes = views.class_shares(points["prototype"], _given(y, "y", color), len(hits))
        else:
            P = views.prototype_dissimilarities(model, X)
            if color == "u-matrix":
                values, label = views.u_matrix(lattice, P).means, "mean dissimilarity to the neighbours"
            else:
                values, label = views.superclusters(P, n_groups).groups, "supercluster"
        return cls(lattice, values, hits, label, classes).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        cells = cell_polygons(self.lattice.positions, self.lattice.kind)
        if self.values.ndim == 2:
            self.cells_ = _cells(ax, cells, facecolors=EMPTY)
            radii = 0.46 * np.sqrt(self.hits / max(self.hits.max(), 1e-300))
            cut = shapes.slices(self.values, self.hits, self.classes)
            self.pies_ = shapes.pies(ax, self.lattice.positions, radii, cut, edgecolors="white", linewidths=0.3)
        elif self.values.dtype.kind in "iu":
            n = int(self.values.max()) + 1
            self.cells_ = _cells(ax, cells, facecolors=[NAMED[g % len(NAMED)] for g in self.values])
            self._write(ax, [str(g + 1) for g in self.values])  # colours repeat beyond seven groups, numbers do not
            if n <= len(NAMED):
                shapes.legend(ax, [f"{self.label} {g + 1}" for g in range(n)], NAMED[:n])
        else:
            self.cells_ = _cells(ax, cells, values=self.values)
            color_bar(ax, self.cells_, self.label)
            if np.array_equal(self.values, self.hits):
                self._write(ax, [f"{hits:g}" if hits else "" for hits in self.hits])
        _frame(ax, cells)

    def _write(self, ax: Any, words: list[str]) -> None:
        if self.lattice.shape[1] > MOST_COLUMNS:
            return
        cells = self.cells_
        colors = cells.to_rgba(self.values) if cells.get_array() is not None else cells.get_facecolors()
        size = float(np.clip(90 / self.lattice.shape[1], 5, 10))
        for (x, y), word, color in zip(self.lattice.positions, words, colors, strict=True):
            ax.text(x, y, word, ha="center", va="center", fontsize=size, color=shapes.text_color(color))


class UMatrixDisplay(LatticeDisplay):
    """Dissimilarities of neighbouring exemplars: a cell per neuron (dotted, its mean) and a cell between every two.

    Valleys of similar neurons are dark, ridges between groups bright.

    Parameters
    ----------
    lattice : of the map.
    u : its U-matrix.

    Attributes
    ----------
    cells_ : all cells, one collection; those of the K neurons first.
    ax_, figure_ : the axes and figure drawn on.
    """

    def __init__(self, lattice: Lattice, u: views.UMatrix) -> None:
        super().__init__(lattice)
        self.u = u

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, *, ax: Any = None) -> Self:
        """Compute and draw; X, the training data, is needed only by maps of metric="precomputed"."""
        lattice = views.lattice_of(model)
        return cls(lattice, views.u_matrix(lattice, views.prototype_dissimilarities(model, X))).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        cols = self.lattice.shape[1]
        centers, values = shapes.u_matrix_cells(self.lattice, self.u)
        cells = cell_polygons(centers, self.lattice.kind, 0.5)
        self.cells_ = _cells(ax, cells, values=values)
        color_bar(ax, self.cells_, "dissimilarity of neighbouring exemplars")
        if cols <= MOST_COLUMNS:
            ax.scatter(*self.lattice.positions.T, s=60 / cols, c="white", edgecolors=TEXT, linewidths=0.4, zorder=3)
        _frame(ax, cells)


def _cells(ax: Any, polygons: FloatArray, *, values: Any = None, facecolors: Any = None) -> Any:
    """All cells as one collection, coloured by values (n,), NaN in light grey, or by facecolors."""
    collections = require("matplotlib.collections", "plot", "Drawing")
    width = min(0.6, 8 / len(polygons) ** 0.5)  # lines between cells stay thinner than the cells of a large map
    cells = collections.PolyCollection(polygons, facecolors=facecolors, edgecolors=LINE, linewidths=width)
    if values is not None:
        color_map = require("matplotlib", "plot", "Drawing").colormaps[NUMBERS].with_extremes(bad=EMPTY)
        cells.set(array=np.ma.masked_invalid(np.asarray(values, np.float64)), cmap=color_map)
        cells.autoscale_None()
    ax.add_collection(cells)
    return cells


def _frame(ax: Any, polygons: FloatArray) -> None:
    """The plane of the map: as wide as high, rows downwards, no axes."""
    low, high = polygons.min(axis=(0, 1)), polygons.max(axis=(0, 1))
    ax.set(xlim=(low[0] - 0.05, high[0] + 0.05), ylim=(high[1] + 0.05, low[1] - 0.05), aspect="equal")
    ax.set_axis_off()


def _component(component: int | str, names: list[str]) -> int:
    if isinstance(component, str) and component in names:
        return names.index(component)
    if isinstance(component, int | np.integer) and not isinstance(component, bool) and 0 <= component < len(names):
        return int(component)
    raise ValueError(f"component is {component!r}; give a number below {len(names)} or one of the names {names[:10]}.")


def _given(value: Any, name: str, color: str) -> Any:
    if value is None:
        raise ValueError(f"color={color!r} needs {name}; pass the data{' and their labels' if name == 'y' else ''}.")
    return value
