"""What the folders above the estimators ask a map, so that none of them needs to know its kind; and what it asks them:
to draw it, and to sum it up in a notebook.

The answers here are those of a map of vectors; median.py and relational.py have their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import clone

from ..metrics.base import BoundMetric
from ..sources.base import FloatArray, IntArray
from ..utils.loading import provided


class MapAnswers:
    """Questions of paths, patches, plots and predictions to a map."""

    cluster_centers_: Any

    _init_takes_prototypes = True  # whether `init` takes the prototypes of another fit

    def _for_refit(self, params: dict[str, Any]) -> Self:
        """An unfitted copy with other parameters, for X as `Space.training_data` gives it."""
        return clone(self).set_params(**params)

    def _reads_matrix(self) -> bool:
        """Whether X is read as dissimilarities rather than as objects or vectors."""
        return False

    @property
    def _starting_map(self) -> Self:
        """The map whose `init` draws the start of a fit."""
        return self

    def _n_at_start(self, n: int) -> int:
        """How many of n points the start is drawn among."""
        return n

    def _reseeded(self, seed: int) -> Self:
        """An unfitted copy that starts from this seed and will have labels_."""
        return clone(self).set_params(random_state=seed)

    @property
    def _squared(self) -> bool:
        """Whether dissimilarities are squared distances."""
        return False

    @property
    def _needs_matrix(self) -> bool:
        """Whether the map knows its prototypes only by their places in a matrix."""
        return False

    def _between_prototypes(self) -> FloatArray:
        """(K, K) dissimilarities between the prototypes of a map that does not need a matrix for it."""
        raise NotImplementedError

    def _object_metric(self, fitted: bool) -> BoundMetric | None:
        """The metric that compares objects, with its parameters as passed or as fixed by the fit; None for vectors."""
        return None

    def _usual_merge(self) -> str:
        """How `PatchClusterer` brings patches together unless it is told: its parameter `merge`."""
        return "sequential"

    def _points_each(self, most: int) -> int:
        """By how many data points, `most` or fewer, a prototype is approximated; 0 where it is a point or a mean."""
        return 0

    def _carriers(self, G: FloatArray, places: IntArray, each: int) -> IntArray | None:
        """(K, q) points of the fit that can replace the prototypes, in equal parts, nearest first; None for means.

        G (N, K) are the dissimilarities to the prototypes; places (N,) tell which points are the same; each is what
        `_points_each` says.
        """
        return None

    def _prototypes_at(self, points: IntArray, n: int) -> NDArray[Any]:
        """Prototypes, as training holds them, that are the points (K, q) of n in equal parts."""
        raise NotImplementedError

    def _carried_attributes(
        self, places: IntArray, objects: Any, D: NDArray[Any] | None, each: int, ids: Sequence[str] | None
    ) -> dict[str, Any]:
        """The fitted attributes of prototypes known by the points that carry them.

        places, objects (P,), dissimilarities D (P, P) of these points, `each` as `_points_each` says, ids of all data.
        """
        return {"cluster_centers_": objects}


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
