"""Accuracy against beta: the picture that tells how much the labels should count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..beta_path import BETAS, BetaPath, beta_path, standard_error
from ..classifier import PrototypeClassifier
from ..extras import require
from ..palette import LINES

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
