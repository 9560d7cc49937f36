"""Dissimilarities computed from objects by a metric: kept as a matrix while that is small, on the fly beyond."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.registry import BoundMetric
from ..threads import outer_threads, run_chunks
from . import base
from .base import ALL, Index, panels
from .dense import DenseSource

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ComputedSource:
    """D[i, l] = metric(objects[i], objects[l]), evaluated on demand."""

    objects: Any
    metric: BoundMetric
    ids: Sequence[str] | None = None
    n_jobs: int | None = None
    count: Counter[str] = field(default_factory=Counter, compare=False, repr=False)

    @property
    def evaluations(self) -> int:
        """How often the metric was evaluated so far."""
        return self.count["evaluations"]

    @property
    def symmetric(self) -> bool:
        return self.metric.symmetric

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.objects), len(self.objects)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        """The block, computed in row chunks on `n_jobs` threads; errors name a pair by its place in the data."""
        n = len(self.objects)
        i, l = np.arange(n)[rows], np.arange(n)[cols]
        right = take(self.objects, cols)
        self.count["evaluations"] += len(i) * len(l)
        if self.metric.own_threads:
            return self.metric.between(take(self.objects, rows), right, i, l, outer_threads(self.n_jobs))
        out = np.empty((len(i), len(l)))

        def fill(part: slice) -> None:
            out[part] = self.metric.between(take(self.objects, i[part]), right, i[part], l)

        size = max(1, -(-len(i) // 16))
        run_chunks(fill, list(panels(len(i), size)), self.n_jobs if self.metric.threaded else 1)
        return out

    def kept(self) -> DenseSource | PartlyKeptSource:
        """The whole matrix if it fits in base.KEEP_BYTES, computed once (half of it where the metric is symmetric);
        else a source that keeps as many rows as fit and computes the others every time."""
        n = len(self.objects)
        if n * n * 8 > base.KEEP_BYTES:
            room = base.KEEP_BYTES // (8 * n)
            logger.info("%d x %d dissimilarities: %d rows are kept in memory, the others computed anew in every epoch.",
                        n, n, room)  # fmt: skip
            return PartlyKeptSource(self, np.empty((room, n)), np.full(n, -1, np.intp))
        if not self.symmetric:
            return DenseSource(self.block(ALL, ALL), False, self.ids)
        D = np.empty((n, n))
        for rows in panels(n, max(64, -(-n // 16))):
            D[rows, rows.start :] = self.block(rows, slice(rows.start, n))
            D[rows.start :, rows] = D[rows, rows.start :].T
        return DenseSource(D, True, self.ids)


@dataclass(frozen=True)
class PartlyKeptSource:
    """A computed source that keeps the first rows asked for whole, `rows` (room, N); place[i] says where, -1 if not."""

    base: ComputedSource
    rows: NDArray[np.float64]
    place: NDArray[np.intp]

    @property
    def symmetric(self) -> bool:
        return self.base.symmetric

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.base.dtype

    @property
    def ids(self) -> Sequence[str] | None:
        return self.base.ids

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        n = self.shape[0]
        i = np.arange(n)[rows]
        missing = i[self.place[i] < 0]
        whole = isinstance(cols, slice) and len(np.arange(n)[cols]) == n
        out = np.empty((len(i), n if whole else len(np.arange(n)[cols])))
        if len(missing):
            computed = self.base.block(missing, cols)
            out[self.place[i] < 0] = computed
            if whole:
                self._keep(missing, computed)
        held = np.isin(i, missing, invert=True)
        out[held] = self.rows[self.place[i[held]]][:, cols]
        return out

    def _keep(self, i: NDArray[np.intp], computed: NDArray[np.float64]) -> None:
        used = int(np.count_nonzero(self.place >= 0))
        fits = min(len(i), len(self.rows) - used)
        if fits > 0 and len(np.unique(i)) == len(i):
            self.rows[used : used + fits] = computed[:fits]
            self.place[i[:fits]] = np.arange(used, used + fits)


def take(objects: Any, index: Index) -> Any:
    """objects[index] for an array or a list; index is a slice or an index array."""
    if isinstance(objects, np.ndarray) or isinstance(index, slice):
        return objects[index]
    return [objects[i] for i in index]
