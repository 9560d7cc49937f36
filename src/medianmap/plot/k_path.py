"""Error, silhouette and stability against K: the picture in which to look for the number of prototypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..extras import require
from ..kpath import SUGGESTIONS, KPath, k_path
from ..palette import LINES
from ..sources.base import FloatArray

# K that span a wider range than this are read on a logarithmic axis.
WIDE = 10.0
STABILITY = {"restarts": "stability\nover starts", "halves": "stability\nover halves"}


class KPathDisplay:
    """Panels one above the other over one axis of K: quantization error, medoid silhouette, stability.

    A ring marks the K that `KPath.best` suggests. A path without silhouette or stability has no panel for it.

    Parameters
    ----------
    path : what `k_path` returned.

    Attributes
    ----------
    axes_ : the axes of the panels, from above.
    ax_, figure_ : the uppermost axes and the figure drawn on.
    """

    def __init__(self, path: KPath) -> None:
        self.path = path

    @classmethod
    def from_path(cls, path: KPath, *, axes: Any = None) -> Self:
        """Draw a path."""
        return cls(path).plot(axes=axes)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, n_clusters: Sequence[int], *, axes: Any = None, **params: Any
    ) -> Self:
        """Compute the path of a map and draw it; params go to `k_path` (n_restarts, stability, ...)."""
        return cls(k_path(estimator, X, n_clusters, **params)).plot(axes=axes)

    def plot(self, *, axes: Any = None) -> Self:
        """Draw on `axes`, one for each panel, or on a new figure."""
        plt = require("matplotlib.pyplot", "plot", "Drawing")
        path, panels = self.path, self._panels()
        if axes is None:
            _, axes = plt.subplots(len(panels), figsize=(6, 0.8 + 1.5 * len(panels)), sharex=True, squeeze=False,
                                   layout="constrained")  # fmt: skip
        axes = list(np.ravel(axes))
        if len(axes) != len(panels):
            raise ValueError(f"axes holds {len(axes)} axes; this path has {len(panels)} panels.")
        for ax, color, (name, (label, values)) in zip(axes, LINES, panels.items(), strict=False):
            ax.plot(path.n_clusters, values, color=color, marker="o", markersize=4, label=name)
            if name in SUGGESTIONS:
                _ring(ax, path.best(name), path)
            ax.set_ylabel(label, fontsize="small")
            ax.grid(alpha=0.3)
        if path.n_clusters[-1] > WIDE * path.n_clusters[0]:
            axes[-1].set_xscale("log")
        axes[-1].set_xticks(_apart(path.n_clusters, axes[-1].get_xscale()), minor=False)
        axes[-1].xaxis.set_major_formatter("{x:g}")
        axes[-1].minorticks_off()
        axes[-1].set_xlabel("number of prototypes K")
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        return self

    def _panels(self) -> dict[str, tuple[str, FloatArray]]:
        """Name -> label and values (P,)."""
        path = self.path
        panels = {
            "quantization error": ("quantization\nerror", path.quantization_error),
            "silhouette": ("medoid\nsilhouette", path.silhouette),
            "stability": (STABILITY[path.stability_of], path.stability),
        }
        return {
            name: (label, values)
            for name, (label, values) in panels.items()
            if name not in SUGGESTIONS or not np.isnan(values[path.n_clusters >= 2]).all()
        }


def _ring(ax: Any, K: int, path: KPath) -> None:
    """A ring and a word at the suggested K, with room for both above the line."""
    value = getattr(path, ax.get_lines()[0].get_label())[path.n_clusters == K]
    ax.plot([K], value, "o", markersize=11, markerfacecolor="none", markeredgecolor="black", label="suggested")
    ax.margins(y=0.25)
    ax.annotate(f"K = {K}", (K, float(value[0])), xytext=(9, 3), textcoords="offset points", fontsize="small")


def _apart(n_clusters: Any, scale: str) -> list[int]:
    """Those K whose numbers have room under an axis of five inches, from the first on."""
    places = np.log(n_clusters) if scale == "log" else np.asarray(n_clusters, float)
    least = (places[-1] - places[0]) / 16
    ticks: list[int] = []
    last = -np.inf
    for K, place in zip(n_clusters.tolist(), places, strict=True):
        if place - last >= least:
            ticks.append(K)
            last = place
    return ticks
