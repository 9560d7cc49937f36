"""The pictures: iris under batch and median NG, accuracy against beta, the speed tables as bars."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from medianmap.datasets import load_iris
from medianmap.explore.refits import standard_error
from medianmap.utils.files import atomic
from medianmap.utils.loading import require
from medianmap.utils.palette import FILLS, LINES

from . import proteins, speed
from .maps import batch_gas, median_gas
from .runs import Runs

Draw = Callable[[Any, Runs], Any]


def iris_picture(plt: Any, runs: Runs) -> Any:
    """The chapter's projection to the third and fourth dimension, with the prototypes of both maps."""
    data = load_iris()
    maps = {
        "batch NG": batch_gas(6, 100, random_state=0).fit(data.X),
        "median NG, best of 30 starts": median_gas(6, 100, metric="sqeuclidean", n_init=30, random_state=0).fit(data.X),
    }
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharex=True, sharey=True, layout="constrained")
    for axis, (name, map_) in zip(axes, maps.items(), strict=True):
        for c, of_class in enumerate(data.class_names):
            X = data.X[data.y == c]
            axis.scatter(X[:, 2], X[:, 3], s=14, color=FILLS[c], label=of_class)
        W = map_.cluster_centers_
        axis.scatter(W[:, 2], W[:, 3], s=70, marker="D", color=LINES[0], edgecolor="black", label="prototypes")
        axis.set_title(f"{name}: error {map_.quantization_error_:.2f}", fontsize="medium")
        axis.set_xlabel("petal length, z-score")
    axes[0].set_ylabel("petal width, z-score")
    axes[0].legend(fontsize="small", frameon=False)
    return figure


def beta_picture(plt: Any, runs: Runs) -> Any:
    """Accuracy against beta with a band of one standard error, learned labels and, with a +, posterior ones as in the
    chapter; dotted the unsupervised maps."""
    grid = proteins.grid_of(runs)
    maps = list(
        dict.fromkeys(name.removesuffix(proteins.RAW).removesuffix(proteins.SCALED) for name in proteins.CURVES)
    )
    scales = [s for s in (proteins.RAW, proteins.SCALED) if any(name.endswith(s) for name in runs.records)]
    figure, axes = plt.subplots(1, len(scales), figsize=(4.8 * len(scales), 4), sharey=True, layout="constrained")
    for axis, scale in zip(np.atleast_1d(axes), scales, strict=True):
        names = [name for name in proteins.CURVES if name in runs.records and name.endswith(scale)]
        for name in names:
            color = LINES[maps.index(name.removesuffix(scale))]
            for labeling, line in (("learned", "-o"), ("posterior", "--+")):
                values = runs.values(name, labeling)
                mean, error = values.mean(axis=0), standard_error(values.T)
                label = name.removesuffix(scale) if labeling == "learned" else None
                axis.plot(grid, mean, line, color=color, markersize=4, linewidth=1.2, label=label)
                axis.fill_between(grid, mean - error, mean + error, color=color, alpha=0.12, linewidth=0)
            axis.axhline(float(runs.values(name, "posterior")[:, 0].mean()), linestyle=":", color=color)
        axis.plot([], [], "--+", color="black", markersize=4, label="the same, posterior labels")
        axis.set_title(scale.removeprefix(", "), fontsize="medium")
        axis.set_xlabel("beta: 1 is the data alone, towards 0 the labels")
        axis.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("accuracy on held-out points")
    np.atleast_1d(axes)[0].legend(fontsize="x-small", frameon=False)
    return figure


def speed_picture(plt: Any, runs: Runs) -> Any:
    """How many times as fast as `standard`, ours beside the chapter's, on a scale of powers of ten."""
    maps = speed.maps_of(runs)
    figure, axes = plt.subplots(1, len(maps), figsize=(3.2 * len(maps), 3.8), sharey=True, layout="constrained")
    for axis, (name, K) in zip(np.atleast_1d(axes), maps, strict=True):
        searches = [s for s in speed.searches(name) if s not in ("standard", "certified")]
        searches = [*searches[1:], "auto"]
        at = np.arange(len(searches))
        axis.bar(
            at - 0.2, [speed.value(runs, name, K, s, "ratio") for s in searches], 0.4, color=LINES[0], label="ours"
        )
        there = [speed.CHAPTER.get((name, K), {}).get(s, np.nan) for s in searches]
        axis.bar(at + 0.2, there, 0.4, color=FILLS[1], label="chapter")
        axis.set_yscale("log")
        axis.set_xticks(at, searches, rotation=60, ha="right", fontsize="small")
        axis.set_title(f"median {name}, K={K}", fontsize="medium")
        axis.axhline(1, color="black", linewidth=0.8)
    np.atleast_1d(axes)[0].set_ylabel("times as fast as standard")
    np.atleast_1d(axes)[-1].legend(fontsize="small", frameon=False)
    return figure


PICTURES: dict[str, tuple[Draw, str]] = {
    "iris": (iris_picture, "Iris in its third and fourth dimension, with the prototypes of batch NG and of median NG"),
    "proteins": (beta_picture, "Proteins: accuracy on held-out points against beta, ± one standard error"),
    "globins": (beta_picture, "Globins: accuracy on held-out points against beta, ± one standard error"),
    "speed": (speed_picture, "Ratios to the standard search, ours and the chapter's"),
}


def picture_name(part: str) -> str:
    """The file of a part's picture."""
    return f"reproduction-{part}.svg"


def draw(part: str, runs: Runs, folder: Path) -> Path | None:
    """Draw a part's picture, if it has one and there is something to draw; the same runs are the same file."""
    if part not in PICTURES or not runs.records:
        return None
    mpl = require("matplotlib", "plot", "Drawing")
    mpl.use("agg")
    plt = require("matplotlib.pyplot", "plot", "Drawing")
    target = folder / picture_name(part)
    with mpl.rc_context({"svg.hashsalt": "medianmap"}), atomic(target) as file:
        figure = PICTURES[part][0](plt, runs)
        figure.savefig(file, format="svg", metadata={"Date": None})
        plt.close(figure)
    return target
