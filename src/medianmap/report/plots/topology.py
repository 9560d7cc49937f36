"""The topology graph: prototypes in the plane, joined where points lie between them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...explore import PlaneLayout, class_shares, layout, prototype_dissimilarities, topology_graph, two_best
from ...explore.prototypes import as_lengths
from ...predict.queries import map_of
from ...sources.base import FloatArray
from ...utils.loading import require
from .shapes import GREY, LINE, TEXT, Display, Slices, pies, slices

# Beside more nodes than this, names would overlap.
MOST_NAMES = 40
NODE = "#0072B2"


class TopologyDisplay(Display):
    """Neural gas, K-means or any map as a graph: nodes are prototypes, laid out by their dissimilarities.

    The area of a node is its weight; the more points have the two ends of an edge as their nearest, the wider it is.

    Parameters
    ----------
    layout : positions of the prototypes.
    edges : records (a, b, count).
    hits : (K,) weight at each prototype.
    shares, classes : (K, C) class shares and (C,) names; the nodes then are pies.
    names : (K,) written beside the nodes, up to 40 of them.

    Attributes
    ----------
    edges_, nodes_ : the drawn collections.
    ax_, figure_ : the axes and figure drawn on.
    """

    _size = 6, 5

    def __init__(
        self, layout: PlaneLayout, edges: NDArray[Any], hits: FloatArray, *, shares: FloatArray | None = None,
        classes: Any = None, names: Any = None,
    ) -> None:  # fmt: skip
        if names is not None and len(names) != len(hits):
            raise ValueError(f"There are {len(names)} names for {len(hits)} prototypes; give one per prototype.")
        self.layout, self.edges, self.hits = layout, edges, np.asarray(hits, np.float64)
        self.shares, self.classes, self.names = shares, classes, names

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any = None, *, names: Any = None, points: Any = None, ax: Any = None
    ) -> Self:
        """Compute the graph of a fitted map over its data X and draw it, with pies where labels y (N,) are given.

        Squared distances, those of batch maps and of metric="sqeuclidean", are laid out by their roots.
        points : the table of `two_best`, where it is computed already.
        """
        fitted: Any = map_of(model)
        points = two_best(model, X) if points is None else points
        P = prototype_dissimilarities(model, X)
        shares, classes = (None, None) if y is None else class_shares(points["prototype"], y, len(P))
        place = layout(as_lengths(fitted, P))
        display = cls(place, topology_graph(points), fitted.hits_, shares=shares, classes=classes, names=names)
        return display.plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        z = self.layout.positions
        extent = float(np.ptp(z, axis=0).max()) or 1.0  # one node has no extent
        radii = self.radii() * extent
        self._draw_edges(ax)
        self._draw_nodes(ax, radii)
        if self.names is not None and len(z) <= MOST_NAMES:
            effects = require("matplotlib.patheffects", "plot", "Drawing")
            halo = [effects.withStroke(linewidth=2, foreground=LINE)]  # names can be read on top of nodes
            for (x, y), radius, name in zip(z, radii, self.names, strict=True):
                ax.text(x, y + radius, str(name), ha="center", va="bottom", fontsize=7, color=TEXT, zorder=3,
                        path_effects=halo)  # fmt: skip
        margin = 0.02 * extent + float(radii.max())
        low, high = z.min(axis=0) - margin, z.max(axis=0) + margin
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        ax.set_title(f"stress of the layout {self.layout.stress:.2f}", fontsize="small", color=TEXT)
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

    def _draw_nodes(self, ax: Any, radii: FloatArray) -> None:
        z, cut = self.layout.positions, Slices(np.ones((len(self.hits), 1)), [], [NODE])
        if self.shares is not None:
            cut = slices(self.shares, self.hits, self.classes)
        ax.scatter(*z.T, s=3, c=GREY, zorder=1.5)  # visible where a prototype has no points and so no pie
        self.nodes_ = pies(ax, z, radii, cut, edgecolors=LINE, linewidths=0.5, zorder=2)

    def radii(self) -> FloatArray:
        """(K,) radius of each node as a share of the picture: its area is its weight; empty ones are dots."""
        largest = 0.5 / np.sqrt(len(self.hits) + 8)
        return np.maximum(0.35 * largest * np.sqrt(self.hits / max(self.hits.max(), 1e-300)), 0.004)
