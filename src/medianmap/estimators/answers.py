"""What the folders above the estimators ask a map, so that none of them needs to know its kind.

The answers here are those of a map of vectors; median.py and relational.py have their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import clone

from ..metrics.base import BoundMetric
from ..sources.base import FloatArray, IntArray


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
