"""Curves: the training of a map, and what `k_path`, `width_front` and `beta_path` found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...explore.beta_path import BETAS, BetaPath, beta_path
from ...explore.k_path import SUGGESTIONS, KPath, k_path
from ...explore.refits import standard_error
from ...explore.width_front import WIDTHS, WidthFront, width_front
from ...predict.queries import map_of
from ...sources.base import FloatArray, IntArray
from ...utils.loading import require
from ...utils.palette import LINES
from .shapes import GREY, Display

# Training curves that fall by more than this factor, and K that grow by more, are drawn on a logarithmic axis.
WIDE_FALL, WIDE_K = 20.0, 10.0
STABILITY = {"restarts": "stability\nover starts", "halves": "stability\nover halves"}
LABELINGS = {
    "spread": ("-", "o", "spread labels"),
    "majority": ("--", "+", "posterior labels"),
    "learned": ("-.", "x", "learned labels"),
}
MARKERS = "osD^v"
# Words at points closer than this share of the axes would overlap.
TOO_CLOSE = 0.06


def _finish(ax: Any, x: str, y: str, **legend: Any) -> None:
    """Names of the axes, a faint grid, and a legend where there are options for one."""
    ax.set(xlabel=x, ylabel=y)
    if legend:
        ax.legend(frameon=False, fontsize="small", **legend)
    ax.grid(alpha=0.3)


class TrainingDisplay(Display):
    """Half the cost and the quantization error (which meet as sigma goes to 0), and sigma on an axis of its own.

    Parameters
    ----------
    history : `history_` of a fitted map, records with sigma, cost and quantization_error.

    Attributes
    ----------
    sigma_ax_ : the axis of sigma; None for K-means without a temperature.
    ax_, figure_ : the axes and figure drawn on.
    """

    _size = 6, 3.6

    def __init__(self, history: NDArray[Any]) -> None:
        self.history = history

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the history of a fitted map; a pass over patches keeps none.

        model : a fitted map.
        ax : matplotlib axes to draw on; None makes a new figure.
        """
        history = getattr(map_of(model), "history_", None)
        if history is None:
            raise ValueError("A pass over patches keeps no history; draw a map that was fitted at once.")
        return cls(history).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        epochs = np.arange(1, len(self.history) + 1)
        cost, error, sigma = self.history["cost"] / 2, self.history["quantization_error"], self.history["sigma"]
        lines = ax.plot(epochs, cost, color=LINES[0], label="half the cost")
        lines += ax.plot(epochs, error, "--", color=LINES[1], label="quantization error")
        least = min(cost.min(), error.min())
        if least > 0 and max(cost.max(), error.max()) > WIDE_FALL * least:
            ax.set_yscale("log")
        ax.xaxis.get_major_locator().set_params(integer=True)
        self.sigma_ax_ = None
        if (sigma > 0).any():
            self.sigma_ax_ = ax.twinx()
            above, words = np.where(sigma > 0, sigma, np.nan), "sigma, the neighbourhood's range, or temperature"
            lines += self.sigma_ax_.plot(epochs, above, ":", color=LINES[6], label=words)
            self.sigma_ax_.set(yscale="log", ylabel="sigma")
        _finish(ax, "epoch", "cost and error", handles=lines, loc="upper right")


class BetaPathDisplay(Display):
    """Mean accuracy on held-out points against beta, with a band of one standard error.

    Per path, in one colour: spread labels (solid), posterior labels (dashed), learned labels (dash-dotted), the
    unsupervised map with posterior labels (dotted, a level).

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
        cls, classifier: Any, X: Any, y: Any, betas: Sequence[float] = BETAS, *, ax: Any = None, **params: Any
    ) -> Self:
        """Compute the path of a classifier, or of several by name, and draw; params go to `beta_path` (cv, ...).

        Several are compared on the same splits if `cv` is deterministic.

        classifier : a PrototypeClassifier, or a dictionary of several by name.
        X : the data.
        y : (N,) labels.
        betas : the beta to compare.
        ax : matplotlib axes to draw on; None makes a new figure.
        params : keyword arguments of `beta_path`.
        """
        if not isinstance(classifier, Mapping):
            named = classifier if getattr(classifier, "estimator", None) is None else classifier.estimator
            classifier = {type(named).__name__: classifier}
        if isinstance(params.get("cv"), Iterator):
            params["cv"] = list(params["cv"])  # the first classifier would use it up
        return cls({name: beta_path(each, X, y, betas, **params) for name, each in classifier.items()}).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        for k, (name, path) in enumerate(self.paths.items()):
            color = LINES[k % len(LINES)]
            for labeling, (line, marker, words) in LABELINGS.items():
                mean, error = path.accuracy[labeling].mean(axis=1), standard_error(path.accuracy[labeling])
                ax.plot(path.betas, mean, line, color=color, marker=marker, markersize=4, label=f"{name}, {words}")
                ax.fill_between(path.betas, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
            level = float(np.mean(path.unsupervised))
            ax.axhline(level, linestyle=":", color=color, label=f"{name}, unsupervised + posterior labels")
        _finish(ax, "beta: 1 is the data alone, towards 0 the labels", "accuracy on held-out points", loc="best")


class KPathDisplay(Display):
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
    def from_estimator(
        cls, estimator: Any, X: Any, n_clusters: Sequence[int], *, ax: Any = None, **params: Any
    ) -> Self:
        """Compute the path of a map and draw it; params go to `k_path` (n_restarts, stability, ...).

        estimator : the map.
        X : the data.
        n_clusters : the K to compare.
        ax : a list of matplotlib axes, one for each panel; None makes a new figure.
        params : keyword arguments of `k_path`.
        """
        return cls(k_path(estimator, X, n_clusters, **params)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on `ax`, a list of axes, one for each panel; or on a new figure.

        ax : the axes; None makes a figure.
        """
        panels = self._panels()
        if ax is None:
            plt = require("matplotlib.pyplot", "plot", "Drawing")
            size = 6, 0.8 + 1.5 * len(panels)
            _, ax = plt.subplots(len(panels), figsize=size, sharex=True, squeeze=False, layout="constrained")
        axes = list(np.ravel(ax))
        if len(axes) != len(panels):
            raise ValueError(f"ax holds {len(axes)} axes, but this path has {len(panels)} panels; pass one for each.")
        for one, color, (name, (label, values)) in zip(axes, LINES, panels.items(), strict=False):
            one.plot(self.path.n_clusters, values, color=color, marker="o", markersize=4, label=name)
            if name in SUGGESTIONS:  # a ring and a word at the suggested K, with room for both above the line
                K = self.path.best(name)
                value = float(values[self.path.n_clusters == K][0])
                one.plot([K], [value], "o", markersize=11, mfc="none", mec="black", label="suggested")
                one.margins(y=0.25)
                one.annotate(f"K = {K}", (K, value), xytext=(9, 3), textcoords="offset points", fontsize="small")
            _finish(one, "", label)
            one.yaxis.label.set_fontsize("small")
        self._mark_K(axes[-1])
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        return self

    def _panels(self) -> dict[str, tuple[str, FloatArray]]:
        """Name -> label and values (P,)."""
        path = self.path
        panels = {"quantization error": ("quantization\nerror", path.quantization_error)}
        measured = ("medoid\nsilhouette", path.silhouette), (STABILITY[path.stability_of], path.stability)
        for name, (label, values) in zip(SUGGESTIONS, measured, strict=True):
            if not np.isnan(values[path.n_clusters >= 2]).all():
                panels[name] = label, values
        return panels

    def _mark_K(self, ax: Any) -> None:
        """The axis of K, with those numbers that have room under an axis of five inches, from the first on."""
        n_clusters = self.path.n_clusters
        places = np.asarray(n_clusters, np.float64)
        if n_clusters[-1] > WIDE_K * n_clusters[0]:
            ax.set_xscale("log")
            places = np.log(places)
        ticks, last = [], -np.inf
        for K, place in zip(n_clusters.tolist(), places, strict=True):
            if place - last >= (places[-1] - places[0]) / 16:
                ticks.append(K)
                last = place
        ax.set_xticks(ticks, minor=False)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.set_xlabel("number of neurons K")


class WidthFrontDisplay(Display):
    """One point per width, the mean of its runs with bars of one standard error, labelled by the width.

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
    def from_estimator(
        cls, estimator: Any, X: Any, widths: Sequence[float] = WIDTHS, *, ax: Any = None, **params: Any
    ) -> Self:
        """Compute the front of a SOM and draw it; params go to `width_front` (neighborhoods, warm, ...).

        estimator : a SOM.
        X : the data.
        widths : the end widths to compare.
        ax : matplotlib axes to draw on; None makes a new figure.
        params : keyword arguments of `width_front`.
        """
        return cls(width_front(estimator, X, widths, **params)).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
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
        ax.set_title("numbers are end widths; lower left is better", fontsize="small", loc="left")
        words = "quantization error: how far points are from their exemplars", "topographic error: order lost"
        _finish(ax, *words, **({"loc": "best"} if len(shapes) > 1 else {}))


def _labels(widths: FloatArray, x: FloatArray, y: FloatArray) -> list[tuple[IntArray, str]]:
    """Points that are too close for words of their own, and the widths to write there."""
    places = np.column_stack([values / (np.ptp(values) or 1.0) for values in (x, y)])
    labels, left = [], np.arange(len(widths))
    while len(left):
        close = np.abs(places[left] - places[left[0]]).max(axis=1) < TOO_CLOSE
        labels.append((left[close], ", ".join(f"{width:g}" for width in widths[left[close]])))
        left = left[~close]
    return labels
