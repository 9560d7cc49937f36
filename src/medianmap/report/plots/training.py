"""The training curve: cost, quantization error and neighbourhood range over the epochs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...predict.queries import map_of
from ...utils.palette import LINES
from .shapes import new_axes

# A curve that falls further than this is read on a logarithmic axis.
WIDE = 20.0


class TrainingDisplay:
    """Half the cost and the quantization error (which meet as sigma goes to 0), and sigma on an axis of its own.

    Parameters
    ----------
    history : `history_` of a fitted map, records with sigma, cost and quantization_error.

    Attributes
    ----------
    sigma_ax_ : the axis of sigma; None for K-means, which has none.
    ax_, figure_ : the axes and figure drawn on.
    """

    def __init__(self, history: NDArray[Any]) -> None:
        self.history = history

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the history of a fitted map; a pass over patches keeps none."""
        history = getattr(map_of(model), "history_", None)
        if history is None:
            raise ValueError("A pass over patches keeps no history; draw a map that was fitted at once.")
        return cls(history).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        ax = new_axes(ax, (6, 3.6))
        epochs = np.arange(1, len(self.history) + 1)
        cost, error, sigma = self.history["cost"] / 2, self.history["quantization_error"], self.history["sigma"]
        lines = ax.plot(epochs, cost, color=LINES[0], label="half the cost")
        lines += ax.plot(epochs, error, "--", color=LINES[1], label="quantization error")
        least = min(cost.min(), error.min())
        if least > 0 and max(cost.max(), error.max()) > WIDE * least:
            ax.set_yscale("log")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("epoch")
        ax.set_ylabel("cost and error")
        ax.grid(alpha=0.3)
        self.sigma_ax_ = None
        if (sigma > 0).any():
            self.sigma_ax_ = ax.twinx()
            lines += self.sigma_ax_.plot(
                epochs,
                np.where(sigma > 0, sigma, np.nan),
                ":",
                color=LINES[6],
                label="sigma, the neighbourhood's range",
            )
            self.sigma_ax_.set_yscale("log")
            self.sigma_ax_.set_ylabel("sigma")
        ax.legend(handles=lines, frameon=False, fontsize="small", loc="upper right")
        self.ax_, self.figure_ = ax, ax.figure
        return self
