"""Dissimilarities computed from objects by a metric: kept as a matrix while that is small, on the fly beyond."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.registry import BoundMetric
from ..threads import run_chunks
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
        out = np.empty((len(i), len(l)))

        def fill(part: slice) -> None:
            out[part] = self.metric.between(take(self.objects, i[part]), right, i[part], l)

        size = max(1, -(-len(i) // 16))
        run_chunks(fill, list(panels(len(i), size)), self.n_jobs if self.metric.threaded else 1)
        return out

    def kept(self) -> DenseSource | ComputedSource:
        """The whole matrix as a DenseSource if it fits in base.KEEP_BYTES, else this source unchanged."""
        n = len(self.objects)
        if n * n * 8 > base.KEEP_BYTES:
            logger.info("%d x %d dissimilarities exceed the %d MiB kept in memory: computed on the fly.",
                        n, n, base.KEEP_BYTES >> 20)  # fmt: skip
            return self
        return DenseSource(self.block(ALL, ALL), self.symmetric, self.ids)


def take(objects: Any, index: Index) -> Any:
    """objects[index] for an array or a list; index is a slice or an index array."""
    if isinstance(objects, np.ndarray) or isinstance(index, slice):
        return objects[index]
    return [objects[i] for i in index]
