"""Maps drawn: cells of a lattice coloured or with pies of classes, the U-matrix, and the topology graph."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...core.neighborhood import Lattice
from ...core.plane import PlaneLayout, layout
from ...core.quality import torn_links
from ...explore import prototypes as views
from ...predict.assign_all import two_best
from ...predict.queries import map_of
from ...sources.base import FloatArray
from ...utils.checks import check_choice
from ...utils.loading import require
from ...utils.palette import STYLES
from ..members import many_numbers
from . import shapes
from .shapes import EMPTY, GREY, LINE, TEXT, cell_polygons, color_bar

COLORS = ("hits", "quality", "u-matrix", "superclusters", "component", "labels")
# With more columns on a figure of six inches, numbers in cells cannot be read.
MOST_COLUMNS = 16
# Beside more nodes than this, names would overlap.
MOST_NAMES = 40
NODE = "#0072B2"
# Labels that are numbers, more than there are styles: years, lengths.
MEANS = "mean label of the points"
LINKS = "#D55E00"


class LatticeDisplay(shapes.Display):
    """A picture on the lattice of a SOM, row 0 on top.

    torn : (T, 3) links between neurons that do not touch, as `core.quality.torn_links` finds them; None draws none.
    """

    def __init__(self, lattice: Lattice, torn: NDArray[np.intp] | None = None) -> None:
        wide, high = np.ptp(lattice.positions, axis=0) + 1
        self.lattice, self._size = lattice, (6, float(np.clip(6 * high / (wide + 1), 2.5, 8)))
        self._columns = int(wide)
        self.torn = torn

    def _draw_links(self, ax: Any) -> None:
        """Lines between neurons that touch where the cells do not show it."""
        if self.lattice.places is None:
            collections = require("matplotlib.collections", "plot", "Drawing")
            ends = self.lattice.positions[np.argwhere(np.triu(self.lattice.neighbors))]
            ax.add_collection(collections.LineCollection(ends, colors=GREY, linewidths=1.0, zorder=0.5))

    def _draw_torn(self, ax: Any) -> None:
        """Lines between neurons, wide where many points lie between them; torn_ is their collection."""
        if self.torn is not None:
            collections = require("matplotlib.collections", "plot", "Drawing")
            widths = 0.6 + 2.4 * np.sqrt(self.torn[:, 2] / self.torn[:, 2].max(initial=1))
            ends = self.lattice.positions[self.torn[:, :2]]
            self.torn_ = collections.LineCollection(ends, linewidths=widths, colors=LINKS, capstyle="round", zorder=2.5)
            ax.add_collection(self.torn_)


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
    torn : (T, 3) links between neurons that do not touch, as `core.quality.torn_links` finds them, drawn as lines.

    Attributes
    ----------
    cells_ : the cells, one collection of polygons.
    torn_ : the lines, where torn links were asked for.
    ax_, figure_ : the axes and figure drawn on.
    """

    def __init__(
        self, lattice: Lattice, values: Any, hits: FloatArray, label: str, classes: Any = None, torn: Any = None
    ) -> None:
        super().__init__(lattice, torn)
        self.values, self.hits = np.asarray(values), np.asarray(hits, np.float64)
        self.label, self.classes = label, classes

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, color: str = "hits", component: int | str = 0,
        n_groups: int | None = None, torn: bool = False, points: Any = None, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Compute what `color` asks for and draw it.

        model : a fitted SOM, or a PatchClusterer or PrototypeClassifier of one.
        X : the data; needed for "quality", "labels" and torn=True, and by maps of metric="precomputed" for all but
            "hits".
        y : (N,) labels of X for "labels". Numbers, more than 21 different ones, are shown by their means.
        color : "hits"; "quality", the mean dissimilarity of its points to an exemplar; "u-matrix", the mean
            dissimilarity to the neighbouring exemplars; "superclusters"; "component", a coordinate of the prototypes;
            "labels", pies of classes or means of numbers.
        component : number or name of the coordinate.
        n_groups : number of superclusters; None finds one.
        torn : whether to join neurons that do not touch but are the two nearest of some points: where the map is torn.
        points : the table of `two_best`, where it is computed already.
        ax : matplotlib axes to draw on; None makes a new figure.
        """
        check_choice(color, "color", COLORS)
        lattice, hits = views.lattice_of(model), np.asarray(map_of(model).hits_, np.float64)
        values: Any
        label, classes, means = color, None, None
        if color == "hits":
            values, label = hits, "points at the neuron (root scale)"
        elif color == "component":
            planes, names = views.component_planes(model)
            k = _component(component, names)
            values, label = planes[:, k], names[k]
        elif color in ("quality", "labels"):
            shapes.check_given(f"color={color!r}", X if points is None else points, y, of_labels=color == "labels")
            points = two_best(model, X) if points is None else points
            if color == "quality":
                values, label = views.mean_dissimilarity(points, len(hits)), "mean dissimilarity to the exemplar"
            elif (means := _means(points, y, len(hits))) is not None:
                values, label = means, MEANS
            else:
                values, classes = views.class_shares(points["prototype"], y, len(hits))
        else:
            P = views.prototype_dissimilarities(model, X)
            if color == "u-matrix":
                values, label = views.u_matrix(lattice, P).means, "mean dissimilarity to the neighbours"
            else:
                P = views.as_lengths(map_of(model), P)
                values, label = views.superclusters(P, n_groups, hits=hits).groups, "supercluster"
        links = _torn_links(model, X, points) if torn else None
        return cls(lattice, values, hits, label, classes, links).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        cells = cell_polygons(self.lattice.positions, self.lattice.kind)
        self._draw_links(ax)
        if self.values.ndim == 2:
            self.cells_ = _cells(ax, cells, facecolors=EMPTY)
            radii = 0.46 * shapes.pie_radii(self.hits)
            cut = shapes.slices(self.values, self.hits, self.classes)
            self.pies_ = shapes.pies(ax, self.lattice.positions, radii, cut, edgecolors="white", linewidths=0.3)
        elif self.values.dtype.kind in "iu":
            n = int(self.values.max()) + 1
            styles = [STYLES[g % len(STYLES)] for g in self.values]
            self.cells_ = _cells(ax, cells, facecolors=[color for color, _ in styles])
            shapes.patterned(ax, cells, styles, zorder=1.1)
            self._write(ax, [str(g + 1) for g in self.values])  # styles repeat beyond 21 groups, numbers do not
            if n <= len(STYLES):
                shapes.legend(ax, [f"{self.label} {g + 1}" for g in range(n)], STYLES[:n])
        else:
            of_hits = np.array_equal(self.values, self.hits)
            self.cells_ = _cells(ax, cells, values=self.values, root=of_hits)
            color_bar(ax, self.cells_, self.label)
            if of_hits:
                self._write(ax, [f"{hits:g}" if hits else "" for hits in self.hits])
        self._draw_torn(ax)
        shapes.rulers(ax, self.lattice)
        _frame(ax, cells)

    def _write(self, ax: Any, words: list[str]) -> None:
        if self._columns > MOST_COLUMNS:
            return
        cells = self.cells_
        colors = cells.to_rgba(self.values) if cells.get_array() is not None else cells.get_facecolors()
        size = float(np.clip(90 / self._columns, 5, 10))
        for (x, y), word, color in zip(self.lattice.positions, words, colors, strict=True):
            ax.text(x, y, word, ha="center", va="center", fontsize=size, color=shapes.text_color(color))


class UMatrixDisplay(LatticeDisplay):
    """Dissimilarities of neighbouring exemplars: a cell per neuron (dotted, its mean) and a cell between every two.

    Valleys of similar neurons are pale, ridges between groups dark.

    Parameters
    ----------
    lattice : of the map.
    u : its U-matrix.
    torn : as for `MapDisplay`.

    Attributes
    ----------
    cells_ : all cells, one collection; those of the K neurons first.
    torn_ : the lines, where torn links were asked for.
    ax_, figure_ : the axes and figure drawn on.
    """

    def __init__(self, lattice: Lattice, u: views.UMatrix, torn: Any = None) -> None:
        super().__init__(lattice, torn)
        self.u = u

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, *, torn: bool = False, points: Any = None, ax: Any = None
    ) -> Self:
        """Compute and draw; X, the training data, is needed only by maps of metric="precomputed" and for torn=True.

        torn, points : as for `MapDisplay`.
        model : a fitted SOM, or a PatchClusterer or PrototypeClassifier of one.
        X : the training data.
        ax : matplotlib axes to draw on; None makes a new figure.
        """
        lattice, links = views.lattice_of(model), _torn_links(model, X, points) if torn else None
        return cls(lattice, views.u_matrix(lattice, views.prototype_dissimilarities(model, X)), links).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        cols = self._columns
        self._draw_links(ax)
        centers, values = shapes.u_matrix_cells(self.lattice, self.u)
        cells = cell_polygons(centers, self.lattice.kind, 0.5)
        self.cells_ = _cells(ax, cells, values=values)
        color_bar(ax, self.cells_, "dissimilarity of neighbouring exemplars")
        shapes.rulers(ax, self.lattice)
        if cols <= MOST_COLUMNS:
            ax.scatter(*self.lattice.positions.T, s=60 / cols, c="white", edgecolors=TEXT, linewidths=0.4, zorder=3)
        self._draw_torn(ax)
        shapes.rulers(ax, self.lattice)
        _frame(ax, cells)


class TopologyDisplay(shapes.Display):
    """Neural gas, K-means or any map as a graph: nodes are prototypes, laid out by their dissimilarities.

    The area of a node grows with the root of its weight; the more points have the two ends of an edge as their
    nearest, the wider it is.

    Parameters
    ----------
    layout : positions of the prototypes.
    edges : records (a, b, count).
    hits : (K,) weight at each prototype.
    shares, classes : (K, C) class shares and (C,) names; the nodes then are pies.
    names : (K,) written beside the nodes, up to 40 of them.
    means : (K,) mean of the labels at each prototype, where these are numbers; the nodes then are coloured by them.

    Attributes
    ----------
    edges_, nodes_ : the drawn collections.
    ax_, figure_ : the axes and figure drawn on.
    """

    _size = 6, 5

    def __init__(
        self, layout: PlaneLayout, edges: NDArray[Any], hits: FloatArray, *, shares: FloatArray | None = None,
        classes: Any = None, names: Any = None, means: FloatArray | None = None,
    ) -> None:  # fmt: skip
        if names is not None and len(names) != len(hits):
            raise ValueError(f"There are {len(names)} names for {len(hits)} neurons; give one per neuron.")
        self.layout, self.edges, self.hits = layout, edges, np.asarray(hits, np.float64)
        self.shares, self.classes, self.names, self.means = shares, classes, names, means

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any = None, *, names: Any = None, points: Any = None, ax: Any = None
    ) -> Self:
        """Compute the graph of a fitted map over its data X and draw it, with pies where labels y (N,) are given.

        Squared distances, those of batch maps and of metric="sqeuclidean", are laid out by their roots.
        points : the table of `two_best`, where it is computed already.
        model : any fitted map.
        X : its data.
        y : (N,) labels of X: classes, or numbers, whose means are shown if there are more than 21 different ones.
        names : K texts beside the prototypes.
        ax : matplotlib axes to draw on; None makes a new figure.
        """
        fitted: Any = map_of(model)
        points = two_best(model, X) if points is None else points
        P = views.prototype_dissimilarities(model, X)
        means = None if y is None else _means(points, y, len(P))
        shares, classes = None, None
        if y is not None and means is None:
            shares, classes = views.class_shares(points["prototype"], y, len(P))
        place = layout(views.as_lengths(fitted, P))
        display = cls(
            place, views.topology_graph(points), fitted.hits_, shares=shares, classes=classes, names=names, means=means
        )
        return display.plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        z = self.layout.positions
        extent = float(np.ptp(z, axis=0).max()) or 1.0  # one node has no extent
        radii = self.radii() * extent
        self._draw_edges(ax)
        cut = shapes.Slices(np.ones((len(z), 1)), [], [(NODE, "plain")])
        if self.shares is not None:
            cut = shapes.slices(self.shares, self.hits, self.classes)
        elif self.means is not None:
            cut = shapes.on_scale(ax, self.means, MEANS)
        ax.scatter(*z.T, s=3, c=GREY, zorder=1.5)  # visible where a prototype has no points and so no pie
        self.nodes_ = shapes.pies(ax, z, radii, cut, edgecolors=LINE, linewidths=0.5, zorder=2)
        if self.names is not None and len(z) <= MOST_NAMES:
            effects = require("matplotlib.patheffects", "plot", "Drawing")
            halo = [effects.withStroke(linewidth=2, foreground=LINE)]  # names can be read on top of nodes
            for (x, y), radius, name in zip(z, radii, self.names, strict=True):
                ax.text(x, y + radius, str(name), ha="center", va="bottom", fontsize=7, color=TEXT, zorder=3,
                        path_effects=halo)  # fmt: skip
        margin = 0.02 * extent + float(radii.max())
        low, high = z.min(axis=0) - margin, z.max(axis=0) + margin
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        ax.set_title(
            f"stress of the layout {self.layout.stress:.2f}; areas grow with the root of the points",
            fontsize="small",
            color=TEXT,
        )
        ax.set_axis_off()

    def _draw_edges(self, ax: Any) -> None:
        """Wide and dark where many points lie between two prototypes."""
        collections = require("matplotlib.collections", "plot", "Drawing")
        to_rgb = require("matplotlib.colors", "plot", "Drawing").to_rgb
        z, count = self.layout.positions, self.edges["count"]
        strength = np.sqrt(count / count.max(initial=1e-300))
        widest = 5.0 * min(1.0, (50 / len(z)) ** 0.5)
        self.edges_ = collections.LineCollection(
            np.stack([z[self.edges["a"]], z[self.edges["b"]]], axis=1),
            linewidths=widest * (0.1 + 0.9 * strength), capstyle="round", zorder=1,
            colors=np.column_stack([np.full((len(count), 3), to_rgb(GREY)), 0.35 + 0.55 * strength]),
        )  # fmt: skip
        ax.add_collection(self.edges_)

    def radii(self) -> FloatArray:
        """(K,) radius of each node as a share of the picture: areas are roots of weights, empty nodes are dots."""
        largest = 0.5 / np.sqrt(len(self.hits) + 8)
        return np.maximum(0.35 * largest * shapes.pie_radii(self.hits), 0.004)


def _cells(ax: Any, polygons: FloatArray, *, values: Any = None, facecolors: Any = None, root: bool = False) -> Any:
    """All cells as one collection, coloured by values (n,), NaN in light grey, or by facecolors.

    root : colours go with the root of the values, from 0 on.
    """
    collections = require("matplotlib.collections", "plot", "Drawing")
    width = min(0.6, 8 / len(polygons) ** 0.5)  # lines between cells stay thinner than the cells of a large map
    cells = collections.PolyCollection(polygons, facecolors=facecolors, edgecolors=LINE, linewidths=width)
    if values is not None:
        cells.set(array=np.ma.masked_invalid(np.asarray(values, np.float64)), cmap=shapes.color_map())
        if root:
            cells.set_norm(require("matplotlib.colors", "plot", "Drawing").PowerNorm(0.5, vmin=0.0))
        cells.autoscale_None()
    ax.add_collection(cells)
    return cells


def _frame(ax: Any, polygons: FloatArray) -> None:
    """The plane of the map: as wide as high, rows downwards, no axes."""
    low, high = polygons.min(axis=(0, 1)), polygons.max(axis=(0, 1))
    ax.set(xlim=(low[0] - 0.35, high[0] + 0.05), ylim=(high[1] + 0.05, low[1] - 0.4), aspect="equal")
    ax.set_axis_off()


def _component(component: int | str, names: list[str]) -> int:
    if isinstance(component, str) and component in names:
        return names.index(component)
    if isinstance(component, int | np.integer) and not isinstance(component, bool) and 0 <= component < len(names):
        return int(component)
    raise ValueError(f"component is {component!r}; give a number below {len(names)} or one of the names {names[:10]}.")


def _means(points: Any, y: Any, K: int) -> FloatArray | None:
    """(K,) mean of the labels y (N,) at each prototype, NaN where there is none; None if y are names of classes."""
    x = many_numbers(y, len(points), len(STYLES))
    if x is None:
        return None
    known = ~np.isnan(x)
    at = points["prototype"][known]
    n = np.bincount(at, minlength=K)
    return np.divide(np.bincount(at, x[known], minlength=K), n, out=np.full(K, np.nan), where=n > 0)


def _torn_links(model: Any, X: Any, points: Any) -> NDArray[np.intp]:
    shapes.check_given("torn=True", X if points is None else points, None, of_labels=False)
    points = two_best(model, X) if points is None else points
    return torn_links(points["prototype"], points["second"], views.lattice_of(model))
