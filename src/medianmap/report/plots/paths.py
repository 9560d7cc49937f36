"""Accuracy against beta: the picture that tells how much the labels should count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from ...estimators.classifier import PrototypeClassifier
from ...explore.beta_path import BETAS, BetaPath, beta_path
from ...explore.k_path import SUGGESTIONS, KPath, k_path
from ...explore.refits import standard_error
from ...explore.width_front import WIDTHS, WidthFront, width_front
from ...sources.base import FloatArray, IntArray
from ...utils.extras import require
from ...utils.palette import LINES
from .shapes import GREY, new_axes

STYLES = {"learned": ("-", "learned labels"), "majority": ("--", "posterior labels")}


class BetaPathDisplay:
    """Mean accuracy on held-out points against beta, with a band of one standard error.

    Per path, in one colour: learned labels (solid), posterior labels (dashed), the unsupervised map with posterior
    labels (dotted, a level).

    Parameters
    ----------
    paths : name -> BetaPath.

    Attributes
    ----------
    ax_, figure_ : the axes and figure drawn on.
    """

    def __init__(self, paths: Mapping[str, BetaPath]) -> None:
        self.paths = paths

    @classmethod
    def from_estimator(
        cls,
        classifier: PrototypeClassifier,
        X: Any,
        y: Any,
        betas: Sequence[float] = BETAS,
        *,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """Compute the path of one classifier and draw it; params go to `beta_path` (cv, warm_start, ...)."""
        return cls.from_estimators({type(classifier.estimator).__name__: classifier}, X, y, betas, ax=ax, **params)

    @classmethod
    def from_estimators(
        cls,
        classifiers: Mapping[str, PrototypeClassifier],
        X: Any,
        y: Any,
        betas: Sequence[float] = BETAS,
        *,
        ax: Any = None,
        **params: Any,
    ) -> Self:
        """The same for several classifiers by name, on the same splits if `cv` is deterministic."""
        if isinstance(params.get("cv"), Iterator):
            params["cv"] = list(params["cv"])  # the first classifier would use it up
        paths = {name: beta_path(classifier, X, y, betas, **params) for name, classifier in classifiers.items()}
        return cls(paths).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        plt = require("matplotlib.pyplot", "plot", "Drawing")
        if ax is None:
            _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
        for k, (name, path) in enumerate(self.paths.items()):
            color = LINES[k % len(LINES)]
            for labeling, (line, words) in STYLES.items():
                mean, error = path.accuracy[labeling].mean(axis=1), standard_error(path.accuracy[labeling])
                ax.plot(path.betas, mean, line, color=color, marker="o" if line == "-" else "+", markersize=4,
                        label=f"{name}, {words}")  # fmt: skip
                ax.fill_between(path.betas, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
            level = float(np.mean(path.unsupervised))
            ax.axhline(level, linestyle=":", color=color, label=f"{name}, unsupervised + posterior labels")
        ax.set_xlabel("beta: 1 is the data alone, towards 0 the labels")
        ax.set_ylabel("accuracy on held-out points")
        ax.legend(fontsize="small", frameon=False)
        ax.grid(alpha=0.3)
        self.ax_, self.figure_ = ax, ax.figure
        return self


# --- Error, silhouette and stability against K: the picture in which to look for the number of prototypes

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


# --- Topographic against quantization error for several end widths of a SOM: a front, not one answer

MARKERS = "osD^v"
# Words at points nearer than this share of the axes would lie on each other.
TOO_CLOSE = 0.06


class WidthFrontDisplay:
    """One point a width, the mean of its runs with bars of one standard error, labelled by the width.

    Points on the front are filled and joined by a line, the others hollow; neighbourhoods differ in colour and marker.

    Parameters
    ----------
    front : what `width_front` returned.

    Attributes
    ----------
    ax_, figure_ : the axes and figure drawn on.
    """

    def __init__(self, front: WidthFront) -> None:
        self.front = front

    @classmethod
    def from_front(cls, front: WidthFront, *, ax: Any = None) -> Self:
        """Draw a front."""
        return cls(front).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, widths: Sequence[float] = WIDTHS, *, ax: Any = None, **params: Any
    ) -> Self:
        """Compute the front of a SOM and draw it; params go to `width_front` (neighborhoods, warm, ...)."""
        return cls(width_front(estimator, X, widths, **params)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = new_axes(ax, (6, 4))
        front, rows = self.front, self.front.as_records()
        x, y = rows["quantization_error"], rows["topographic_error"]
        on = np.flatnonzero(front.on_front)
        on = on[np.lexsort((y[on], x[on]))]
        ax.plot(x[on], y[on], color=GREY, zorder=1, label="front")
        shapes = list(dict.fromkeys(front.neighborhood.tolist()))
        for k, shape in enumerate(shapes):
            color, own = LINES[k % len(LINES)], front.neighborhood == shape
            errors = rows["standard_error_quantization"][own], rows["standard_error_topographic"][own]
            ax.errorbar(x[own], y[own], errors[1], errors[0], "none", ecolor=color, alpha=0.5, elinewidth=1)
            for kind, filled in ((front.on_front, color), (~front.on_front, "white")):
                at = own & kind
                ax.plot(x[at], y[at], MARKERS[k % len(MARKERS)], color=color, markerfacecolor=filled, markersize=7,
                        label=shape if kind is front.on_front else f"{shape}, not on the front")  # fmt: skip
        ax.margins(0.1)
        for places, text in _labels(front.widths, x, y):
            right = x[places].max() > x.max() - 0.15 * np.ptp(x)  # words there would leave the axes
            at = places[np.argmax(y[places])]
            ax.annotate(text, (x[at], y[at]), xytext=(-6 if right else 6, 5), textcoords="offset points",
                        ha="right" if right else "left", fontsize="small")  # fmt: skip
        ax.set_xlabel("quantization error: how far points are from their exemplars")
        ax.set_ylabel("topographic error: order lost")
        ax.set_title("numbers are end widths; lower left is better", fontsize="small", loc="left")
        if len(shapes) > 1:
            ax.legend(frameon=False, fontsize="small")
        ax.grid(alpha=0.3)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _labels(widths: FloatArray, x: FloatArray, y: FloatArray) -> list[tuple[IntArray, str]]:
    """Points that lie too close for words of their own, and the widths to write there."""
    places = np.column_stack([values / (np.ptp(values) or 1.0) for values in (x, y)])
    labels, left = [], np.arange(len(widths))
    while len(left):
        close = np.abs(places[left] - places[left[0]]).max(axis=1) < TOO_CLOSE
        labels.append((left[close], ", ".join(f"{width:g}" for width in widths[left[close]])))
        left = left[~close]
    return labels
