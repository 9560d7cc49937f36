"""What the displays share: axes, colour bars, legends of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...sources.base import FloatArray
from ...utils.extras import require
from ...utils.palette import FILLS

EMPTY, LINE, TEXT = "#EFEFEF", "#FFFFFF", "#222222"
GREY, PALE = "#999999", "#CFCFCF"
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


@dataclass(frozen=True)
class Slices:
    """What pies are cut into: shares (K, n), and the names and colours of the n columns."""

    shares: FloatArray
    names: list[str]
    colors: list[str]


def slices(shares: FloatArray, hits: FloatArray, classes: Sequence[Any]) -> Slices:
    """Class shares (K, C) as pies can show them: the seven classes of most weight and one slice for all others.

    Prototypes of weight hits (K,) > 0 without labelled points, whose rows are zero, become pies of "not labelled".
    """
    names, colors = [str(name) for name in classes], list(NAMED[: len(classes)])
    if len(names) > len(NAMED):
        weight = (shares * hits[:, None]).sum(axis=0)
        keep = np.sort(np.argsort(-weight, kind="stable")[: len(NAMED)])
        rest = np.setdiff1d(np.arange(len(names)), keep)
        shares = np.column_stack([shares[:, keep], shares[:, rest].sum(axis=1)])
        names, colors = [*(names[k] for k in keep), f"{len(rest)} other classes"], [*NAMED, GREY]
    unlabelled = (shares.sum(axis=1) == 0) & (hits > 0)
    if unlabelled.any():
        shares = np.column_stack([shares, unlabelled])
        names, colors = [*names, "not labelled"], [*colors, PALE]
    return Slices(shares, names, colors)


def legend(ax: Any, names: Sequence[str], colors: Sequence[str], title: str | None = None) -> None:
    """A legend of filled squares below `ax`."""
    patches = require("matplotlib.patches", "plot", "Drawing")
    handles = [patches.Patch(facecolor=color, label=name) for name, color in zip(names, colors, strict=True)]
    widest = max(map(len, names), default=1)
    columns = max(1, min(len(names), 60 // (widest + 5)))
    ax.legend(handles=handles, title=title, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns,
              frameon=False, fontsize="small", handlelength=1, handleheight=1)  # fmt: skip
