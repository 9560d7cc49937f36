"""Sources whose blocks are dear, computed or queried: held in memory for a fit as far as they fit there."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from . import base
from .base import Index, Source
from .dense import DenseSource

logger = logging.getLogger(__name__)


@runtime_checkable
class DearSource(Source, Protocol):
    """A source that a fit should not ask twice, and that checks every value as it comes."""

    def kept(self) -> Source:
        """The whole matrix in memory where it fits; else a source that holds as many rows as fit."""
        ...


def fits(n: int) -> bool:
    """Whether n x n dissimilarities may be held in memory whole."""
    return n * n * 8 <= base.KEEP_BYTES


def partly_kept(source: Source) -> PartlyKeptSource:
    """A source that holds the rows it is asked for first, as many as fit in base.KEEP_BYTES."""
    n = source.shape[0]
    room = base.KEEP_BYTES // (8 * n)
    logger.info("%d x %d dissimilarities: %d rows are kept in memory, the others had anew in every epoch.", n, n, room)
    return PartlyKeptSource(source, np.empty((room, n)), np.full(n, -1, np.intp))


@dataclass(frozen=True)
class PartlyKeptSource:
    """A dear source that keeps the first rows asked for whole, `rows` (room, N); place[i] says where, -1 if not."""

    base: Source
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
        return self.rows.dtype

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
            had = self.base.block(missing, cols)
            out[self.place[i] < 0] = had
            if whole:
                self._keep(missing, had)
        held = np.isin(i, missing, invert=True)
        out[held] = self.rows[self.place[i[held]]][:, cols]
        return out

    def _keep(self, i: NDArray[np.intp], had: NDArray[np.float64]) -> None:
        used = int(np.count_nonzero(self.place >= 0))
        count = min(len(i), len(self.rows) - used)
        if count > 0 and len(np.unique(i)) == len(i):
            self.rows[used : used + count] = had[:count]
            self.place[i[:count]] = np.arange(used, used + count)


def kept_if_dear(source: Source) -> Source:
    """The source, or what it keeps of its dissimilarities where asking twice is dear."""
    if type(source) is DenseSource:  # asking whether it has the protocol takes longer than a small fit
        return source
    return source.kept() if isinstance(source, DearSource) else source
