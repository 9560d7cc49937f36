"""Topographic against quantization error for several end widths of a SOM: a front, not one answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..palette import LINES
from ..sources.base import FloatArray, IntArray
from ..widthfront import WIDTHS, WidthFront, width_front
from .colors import GREY, new_axes

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
