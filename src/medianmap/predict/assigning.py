"""Every object to its two nearest prototypes, block by block, and the rows that tell it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..app.watch import Watch
from ..estimators.classifier import PrototypeClassifier
from ..explore.points import points_table, ratios
from ..explore.prototypes import exemplar_places
from ..sources import check_queries
from ..sources.base import FloatArray, IntArray
from ..utils.threads import limited
from .assign_all import map_of, two_nearest
from .queries import Block, Queries, as_queries, dissimilarities

Nearest = tuple[IntArray, FloatArray, IntArray, FloatArray]  # as `two_nearest` gives them
BLOCK = 4096


@dataclass(frozen=True)
class AssignedBlocks:
    """Objects on their way to the prototypes of a model; they can be gone through once."""

    model: Any
    queries: Queries
    n_jobs: int | None
    watch: Watch
    length: int | None = None  # of a stream, where somebody counted

    def __iter__(self) -> Iterator[tuple[Block, Nearest]]:
        fitted = map_of(self.model)
        with limited(self.n_jobs), limited(1):  # our own threads do the work, not those of BLAS
            for block in self.queries.blocks(BLOCK):
                yield block, two_nearest(self._to_prototypes(fitted, block))
                self.watch.progress("assignment", block.start + len(block), self.queries.n or self.length)

    def _to_prototypes(self, fitted: Any, block: Block) -> FloatArray:
        if isinstance(self.queries.objects, ToPrototypes):
            return check_queries(block.objects.D, len(fitted.hits_), "prototype", type(fitted).__name__)
        return dissimilarities(fitted, block, self.n_jobs)

    def table(self) -> NDArray[Any]:
        """All of them as the table of `two_best`."""
        return points_table([nearest for _, nearest in self])

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """id, neuron, exemplar, dissimilarity, second, ratio, and of a classifier class and probability."""
        fitted = map_of(self.model)
        names = exemplar_names(fitted)
        classes = class_of_prototypes(self.model)
        for block, (first, d, second, e) in self:
            several = len(fitted.hits_) > 1
            for name, j, value, other, ratio in zip(
                block.ids, first.tolist(), d.tolist(), second.tolist(), ratios(d, e).tolist(), strict=True
            ):
                row = (name, j, names[j], value, other if several else None, ratio if several else None)
                yield row if classes is None else row + classes[j]

    @property
    def columns(self) -> list[str]:
        said = ["class", "probability"] if isinstance(self.model, PrototypeClassifier) else []
        return ["id", "neuron", "exemplar", "dissimilarity", "second", "ratio", *said]


@dataclass(frozen=True)
class ToPrototypes:
    """Dissimilarities D (n, K) to the prototypes alone, as queries."""

    D: NDArray[Any]
    ids: list[str]

    @property
    def shape(self) -> tuple[int, int]:
        return self.D.shape[0], self.D.shape[1]

    def __getitem__(self, rows: slice) -> ToPrototypes:
        return ToPrototypes(self.D[rows], self.ids[rows])


def assigned_blocks(
    model: Any,
    X: Any,
    ids: Any = None,
    n_jobs: int | None = None,
    watch: Watch | None = None,
    length: int | None = None,
) -> AssignedBlocks:
    """X, as `assign_all` takes it, on its way to the prototypes."""
    fitted = map_of(model)
    queries = Queries(fitted, X, X.ids, X.shape[0]) if isinstance(X, ToPrototypes) else as_queries(fitted, X, ids)
    return AssignedBlocks(model, queries, n_jobs, watch or Watch(), length)


def exemplar_names(fitted: Any) -> list[str]:
    """The ids of the prototypes, or their places in the training data where they have none; empty for means."""
    if hasattr(fitted, "prototype_ids_"):
        return list(map(str, fitted.prototype_ids_))
    places = exemplar_places(fitted)
    return [""] * len(fitted.hits_) if places is None else [str(i) for i in places]


def class_of_prototypes(model: Any) -> list[tuple[str, float]] | None:
    """(class, its share) of each prototype of a classifier."""
    if not isinstance(model, PrototypeClassifier):
        return None
    shares = model.prototype_labels_
    best = shares.argmax(axis=1)
    names = np.asarray(model.classes_)[best].tolist()
    return list(zip(map(str, names), shares[np.arange(len(best)), best].tolist(), strict=True))
