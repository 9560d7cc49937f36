"""What the displays share: axes, colour bars, legends of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..extras import require
from ..palette import FILLS
from ..sources.base import FloatArray

EMPTY, LINE, TEXT = "#EFEFEF", "#FFFFFF", "#222222"
GREY = "#999999"
NAMED = tuple(color for color in FILLS if color != GREY)  # grey is for all other classes
NUMBERS = "cividis"


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """`ax`, or the axes of a new figure of this size in inches."""
    plt = require("matplotlib.pyplot", "plot", "Drawing")
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def color_bar(ax: Any, drawn: Any, label: str) -> Any:
    """A slim colour bar beside `ax` for what was drawn."""
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.75, pad=0.02, aspect=25)
    bar.set_label(label)
    bar.outline.set_visible(False)
    return bar


def text_color(rgba: Any) -> str:
    """Black or white, whichever is read better on a colour (its relative luminance decides)."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgba[:3]]
    return "black" if 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 else "white"


def most_frequent(
    shares: FloatArray, hits: FloatArray, names: Sequence[Any], most: int = len(NAMED)
) -> tuple[FloatArray, list[str]]:
    """Class shares (K, C) with at most `most` classes of their own, the largest by weight, and one column for the rest.

    Order and colours are those of the classes; returns the shares and the names of their columns.
    """
    labels = [str(name) for name in names]
    if shares.shape[1] <= most:
        return shares, labels
    weight = (shares * hits[:, None]).sum(axis=0)
    keep = np.sort(np.argsort(-weight, kind="stable")[:most])
    rest = np.setdiff1d(np.arange(len(labels)), keep)
    folded = np.column_stack([shares[:, keep], shares[:, rest].sum(axis=1)])
    return folded, [*(labels[k] for k in keep), f"{len(rest)} other classes"]


def class_colors(n: int) -> list[str]:
    """Colours of n columns of `most_frequent`."""
    return [*NAMED[:n], *[GREY] * (n - len(NAMED))]


def legend(ax: Any, names: Sequence[str], colors: Sequence[str], title: str | None = None) -> None:
    """A legend of filled squares below `ax`."""
    patches = require("matplotlib.patches", "plot", "Drawing")
    handles = [patches.Patch(facecolor=color, label=name) for name, color in zip(names, colors, strict=True)]
    widest = max(map(len, names), default=1)
    columns = max(1, min(len(names), 60 // (widest + 5)))
    ax.legend(handles=handles, title=title, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns,
              frameon=False, fontsize="small", handlelength=1, handleheight=1)  # fmt: skip
