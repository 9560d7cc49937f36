"""How a fitted model shows itself: `plot`, and its summary below scikit-learn's diagram in a notebook."""

from __future__ import annotations

from typing import Any

from ..utils.loading import provided


class ModelViews:
    """Before scikit-learn's BaseEstimator: what a fitted map, classifier or pass over patches can draw of itself."""

    def plot(self, what: str | None = None, X: Any = None, y: Any = None, *, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the fitted map with matplotlib.

        Parameters
        ----------
        what : the picture; by default "hits" of a SOM and "topology" of other maps.
            On the grid of a SOM: "hits", the number of points per neuron; "quality", the mean dissimilarity of its
            points to its exemplar; "u-matrix", dissimilarities of neighbouring exemplars; "labels", pies of classes;
            "superclusters", groups of neurons (n_groups=...); "component", a coordinate of the prototypes
            (component=..., by number or name).
            Of every map: "topology", prototypes in the plane, joined where points lie between them; "training", cost
            and error over the epochs.
        X : the data, for "quality", "labels" and "topology"; a map of metric="precomputed" needs its matrix for all
            but "hits" and "training".
        y : (N,) labels of X, for "labels" and, where given, "topology".
        ax : matplotlib axes to draw on; None makes a new figure.
        kwargs : passed on to `from_estimator` of the display in `medianmap.report.plots`.

        Returns
        -------
        The display, with `.ax_` and `.figure_`.
        """
        return provided("plot_model")(self, what, X, y, ax=ax, **kwargs)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner() + provided("summary_html")(self))  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += provided("summary_html")(self)
        return bundle
