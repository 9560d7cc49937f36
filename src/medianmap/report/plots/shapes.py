"""What the displays share: a base class, colour bars, legends of classes, and the polygons of cells and pies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...core.neighborhood import Lattice
from ...explore.prototypes import UMatrix
from ...sources.base import FloatArray, IntArray
from ...utils.loading import require
from ...utils.palette import OTHERS, RAMPS, STYLES, UNLABELLED

EMPTY, LINE, TEXT = "#EFEFEF", "#FFFFFF", "#222222"
GREY, MUTED = OTHERS[0], "#55626A"
HATCHES = {"plain": None, "stripes": "/////", "dots": "....", "grid": "xxxxx"}
# Rows and columns are numbered so that about so many numbers stand on a side.
MOST_NUMBERED = 20
# Corners around a centre; the cell of a lattice of step 1 then touches its neighbours.
_TURNS = np.deg2rad(30 + 60 * np.arange(6))
_ROUND = np.deg2rad(15 * np.arange(24))
CORNERS = {
    "hexagonal": np.column_stack([np.cos(_TURNS), np.sin(_TURNS)]) / np.sqrt(3),
    "rectangular": np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]),
    "given": 0.42 * np.column_stack([np.cos(_ROUND), np.sin(_ROUND)]),
}
# Corners of a full circle; pies are small on the page.
ROUND = 60


class Display:
    """A picture on axes: `plot` draws it, `ax_` and `figure_` are what it was drawn on."""

    ax_: Any
    figure_: Any
    _size: tuple[float, float] = (6, 4)  # inches of a new figure, width and height

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure.

        ax : matplotlib axes to draw on; None makes a new figure.
        """
        plt = require("matplotlib.pyplot", "plot", "Drawing")
        own = ax is None
        ax = plt.subplots(figsize=self._size, layout="constrained")[1] if own else ax
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        if own and ax.get_legend() is not None:  # the map keeps its size above a long legend
            self.figure_.draw_without_rendering()
            self.figure_.set_figheight(self._size[1] + ax.get_legend().get_window_extent().height / self.figure_.dpi)
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def check_given(asked: str, X: Any, y: Any, *, of_labels: bool) -> None:
    """ValueError if the data are missing, or labels where the picture is of labels; asked: how the user chose it."""
    if X is None or (of_labels and y is None):
        needed = "data and their labels; pass X and y" if of_labels else "data; pass X"
        raise ValueError(f"{asked} needs the {needed}.")


def color_bar(ax: Any, drawn: Any, label: str) -> None:
    """A slim colour bar beside `ax` for what was drawn."""
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.75, pad=0.02, aspect=25)
    bar.set_label(label)
    bar.outline.set_visible(False)


def text_color(rgba: Any) -> str:
    """Black or white, whichever is easier to read on a colour (its relative luminance decides)."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgba[:3]]
    return "black" if 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 else "white"


@dataclass(frozen=True)
class Slices:
    """What pies are cut into: shares (K, n), and the names and styles (colour, pattern) of the n columns."""

    shares: FloatArray
    names: list[str]
    styles: list[tuple[str, str]]


def slices(shares: FloatArray, hits: FloatArray, classes: Sequence[Any] | None) -> Slices:
    """Class shares (K, C) as pies can show them: the 21 classes of most weight and one slice for all others.

    Prototypes of weight hits (K,) > 0 without labelled points, whose rows are zero, become pies of "not labelled".
    classes (C,) are their names; None numbers them.
    """
    classes = range(shares.shape[1]) if classes is None else classes
    names, styles = [str(name) for name in classes], list(STYLES[: len(classes)])
    if len(names) > len(STYLES):
        weight = (shares * hits[:, None]).sum(axis=0)
        keep = np.sort(np.argsort(-weight, kind="stable")[: len(STYLES)])
        rest = np.setdiff1d(np.arange(len(names)), keep)
        shares = np.column_stack([shares[:, keep], shares[:, rest].sum(axis=1)])
        names, styles = [*(names[k] for k in keep), f"{len(rest)} other classes"], [*STYLES, OTHERS]
    unlabelled = (shares.sum(axis=1) == 0) & (hits > 0)
    if unlabelled.any():
        shares = np.column_stack([shares, unlabelled])
        names, styles = [*names, "not labelled"], [*styles, UNLABELLED]
    return Slices(shares, names, styles)


def pie_radii(hits: FloatArray) -> FloatArray:
    """(K,) (hits / most hits)^(1/4): areas grow with the root of the points, so that one neuron with a third of all
    points leaves the others legible; the page draws the same."""
    return np.asarray((hits / max(hits.max(initial=0), 1e-300)) ** 0.25)


def pies(ax: Any, centers: FloatArray, radii: FloatArray, cut: Slices, **edges: Any) -> Any:
    """Draw pies at centers (K, 2), with a legend where the slices have names; returns the collection of wedges."""
    wedges, number = pie_polygons(centers, radii, cut.shares)
    collections = require("matplotlib.collections", "plot", "Drawing")
    drawn = collections.PolyCollection(wedges, facecolors=[cut.styles[c][0] for c in number], **edges)
    ax.add_collection(drawn)
    patterned(ax, wedges, [cut.styles[c] for c in number], zorder=drawn.get_zorder() + 0.1)
    if cut.names:
        legend(ax, cut.names, cut.styles, title="The area of a pie grows with the root of its points")
    return drawn


def patterned(ax: Any, polygons: Any, styles: Sequence[tuple[str, str]], zorder: float) -> None:
    """The patterns of polygons (n,) in their styles, one collection for each pattern that occurs."""
    collections = require("matplotlib.collections", "plot", "Drawing")
    for pattern in sorted({pattern for _, pattern in styles if HATCHES[pattern]}):
        own = [polygon for polygon, style in zip(polygons, styles, strict=True) if style[1] == pattern]
        ax.add_collection(collections.PolyCollection(
            own, facecolors="none", edgecolors=TEXT, linewidths=0, hatch=HATCHES[pattern], zorder=zorder,
        ))  # fmt: skip


def legend(ax: Any, names: Sequence[str], styles: Sequence[tuple[str, str]], title: str | None = None) -> None:
    """A legend of filled squares below `ax`."""
    patches = require("matplotlib.patches", "plot", "Drawing")
    handles = [
        patches.Patch(facecolor=color, hatch=HATCHES[pattern], edgecolor=TEXT, linewidth=0, label=name)
        for name, (color, pattern) in zip(names, styles, strict=True)
    ]
    columns = max(1, min(len(names), 60 // (max(map(len, names), default=1) + 5)))
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns, title=title,
              title_fontsize="small", frameon=False, fontsize="small", handlelength=1, handleheight=1)  # fmt: skip


def on_scale(ax: Any, values: FloatArray, label: str) -> Slices:
    """Whole pies (K, K) in the colours of values (K,), light grey for none, with a colour bar beside `ax`."""
    colors = require("matplotlib.colors", "plot", "Drawing")
    drawn = require("matplotlib.cm", "plot", "Drawing").ScalarMappable(cmap=color_map())
    drawn.set_array(np.ma.masked_invalid(values))
    drawn.autoscale_None()
    color_bar(ax, drawn, label)
    return Slices(
        np.eye(len(values)), [], [(colors.to_hex(color), "plain") for color in drawn.to_rgba(drawn.get_array())]
    )


def color_map() -> Any:
    """The colours of quantities, those of the page by day: the more, the darker; EMPTY where there are none."""
    colors = require("matplotlib.colors", "plot", "Drawing")
    return colors.LinearSegmentedColormap.from_list("medianmap", RAMPS["light"]).with_extremes(bad=EMPTY)


def rulers(ax: Any, lattice: Lattice) -> None:
    """Numbers of rows and columns beside a plane grid, from 0 as in tables; every 2nd, 5th or 10th of many."""
    if lattice.places is None or len(lattice.shape) != 2:
        return
    p, (rows, cols) = lattice.positions, lattice.shape
    how = {"fontsize": float(np.clip(90 / max(rows, cols), 5, 8)), "color": MUTED}
    for row in range(0, rows, _every(rows)):
        ax.text(p[row * cols, 0] - 0.62, p[row * cols, 1], str(row), ha="right", va="center", **how)
    for column in range(0, cols, _every(cols)):
        ax.text(p[column, 0], p[column, 1] - 0.68, str(column), ha="center", va="bottom", **how)


def _every(n: int) -> int:
    return next((step for step in (1, 2, 5, 10, 20, 50) if n <= MOST_NUMBERED * step), 100)


def cell_polygons(centers: FloatArray, kind: str, size: float = 1.0) -> FloatArray:
    """(n, corners, 2) hexagons, squares or discs around centers (n, 2), `size` steps of the lattice wide."""
    return centers[:, None, :] + size * CORNERS[kind]


def u_matrix_cells(lattice: Lattice, u: UMatrix) -> tuple[FloatArray, FloatArray]:
    """(centers (n, 2), values (n,)) of the cells, half a step wide, that show a U-matrix.

    First the K neurons with their means, then a cell between every two that touch, with their dissimilarity; an edge
    that goes round a torus is shown on both sides, one between layers is not. On a rectangular lattice the cell between
    four neurons has the mean of the four edges around it.
    """
    p, places = lattice.positions, lattice.places
    a, b, d = (u.edges[name] for name in ("a", "b", "dissimilarity"))
    if places is not None:
        beside = (places[a, 2:] == places[b, 2:]).all(axis=1)
        a, b, d = a[beside], b[beside], d[beside]
    step = p[b] - p[a]
    if lattice.periodic:
        rows, cols = lattice.shape[-2:]
        around = np.array([cols, rows * (np.sqrt(3) / 2 if lattice.kind == "hexagonal" else 1.0)])
        step = step - around * np.round(step / around)
    round_it = np.abs(p[b] - p[a] - step).max(axis=1, initial=0) > 1e-9
    centers = [p, p[a] + step / 2, (p[b] - step / 2)[round_it]]
    values = [u.means, d, d[round_it]]
    if lattice.kind == "rectangular":
        U = np.zeros((len(p), len(p)))
        U[a, b] = U[b, a] = d
        at = np.arange(len(p)).reshape(-1, *lattice.shape[-2:])
        corner, right = at[:, :-1, :-1].ravel(), at[:, :-1, 1:].ravel()
        below, across = at[:, 1:, :-1].ravel(), at[:, 1:, 1:].ravel()
        centers.append(p[corner] + 0.5)
        values.append((U[corner, right] + U[corner, below] + U[right, across] + U[below, across]) / 4)
    return np.concatenate(centers), np.concatenate(values)


def pie_polygons(centers: FloatArray, radii: FloatArray, shares: FloatArray) -> tuple[list[FloatArray], IntArray]:
    """(wedges, the class of each) of pies with shares (n, C) whose rows sum to 1 or 0; slices run from the top."""
    wedges, classes = [], []
    for center, radius, row in zip(centers, radii, shares, strict=True):
        ends = np.concatenate([[0.0], np.cumsum(row)])
        for c in np.flatnonzero(row > 0) if radius > 0 else ():
            turns = np.linspace(ends[c], ends[c + 1], max(2, round(ROUND * row[c]) + 1)) * 2 * np.pi
            arc = center + radius * np.column_stack([np.sin(turns), -np.cos(turns)])  # rows of a map run downwards
            wedges.append(arc if row[c] > 1 - 1e-12 else np.vstack([center, arc]))
            classes.append(c)
    return wedges, np.array(classes, np.intp)
