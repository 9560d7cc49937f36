"""Matrices in memory or memory-mapped: whole, condensed, a part of one, or as many rows of a source as fit."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from . import base
from .base import Index, IntArray, OwnSource, Source, plain

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class DenseSource(OwnSource):
    """D (N, N), any real type, as it is: a float32 matrix stays float32 and a memory map stays on disk.

    path : the .npy file that D maps, if it does: a copy for another process opens that file instead of carrying it.
    """

    D: NDArray[Any]
    symmetric: bool
    ids: Sequence[str] | None = None
    path: Path | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.D.shape[0], self.D.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.D.dtype

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        if isinstance(rows, slice) or isinstance(cols, slice):
            # One slice: basic indexing of the other axis suffices, without the cost of an open mesh.
            return plain(np.asarray(self.D[rows, cols]))
        return plain(np.asarray(self.D[np.ix_(rows, cols)]))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) if self.path is None else {**vars(self), "D": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["path"] is not None:
            state = {**state, "D": np.load(state["path"], mmap_mode="r", allow_pickle=False)}
        vars(self).update(state)


@dataclass(frozen=True)
class SubsetSource(OwnSource):
    """D[rows, cols] of another source, renumbered from 0: rows (n,) and cols (k,), the same points if cols is None."""

    base: Source
    rows: IntArray
    cols: IntArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows if self.cols is None else self.cols)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.base.dtype

    @property
    def symmetric(self) -> bool:
        return self.cols is None and self.base.symmetric

    @property
    def ids(self) -> Sequence[str] | None:
        return None if self.cols is not None or self.base.ids is None else [self.base.ids[i] for i in self.rows]

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        return self.base.block(self.rows[rows], (self.rows if self.cols is None else self.cols)[cols])


def condensed_size(length: int) -> int | None:
    """N with N (N - 1) / 2 == length, or None. A length of 0 is one point."""
    n = (1 + isqrt(1 + 8 * length)) // 2
    return n if n * (n - 1) // 2 == length else None


@dataclass(frozen=True)
class CondensedSource(OwnSource):
    """SciPy's condensed form, half the memory: D[i, l] = D[l, i] = v[N i - i (i + 1) / 2 + l - i - 1] for i < l."""

    v: NDArray[Any]
    n: int
    ids: Sequence[str] | None = None

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.v.dtype

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        i, l = self._positions(rows)[:, None], self._positions(cols)[None, :]
        low, high = np.minimum(i, l), np.maximum(i, l)
        on_diagonal = low == high
        # The formula has no place for the diagonal; position 0 is read instead and overwritten by zero.
        at = np.where(on_diagonal, 0, self.n * low - low * (low + 1) // 2 + high - low - 1)
        if self.v.size == 0:
            return np.zeros(at.shape, self.v.dtype)
        values = plain(np.asarray(self.v[at]))
        values[on_diagonal] = 0
        return values

    def _positions(self, index: Index) -> IntArray:
        return np.arange(self.n, dtype=np.intp)[index]


@runtime_checkable
class ExpensiveSource(Source, Protocol):
    """A source whose blocks are computed or queried: a fit asks once, and every value is checked as it is read."""

    def kept(self) -> Source:
        """The whole matrix in memory if it fits; else a source that holds as many rows as fit."""
        ...


def fits(n: int) -> bool:
    """Whether n x n dissimilarities may be held in memory whole."""
    return n * n * 8 <= base.KEEP_BYTES


def partly_kept(source: Source) -> PartlyKeptSource:
    """A source that keeps the rows it is asked for first, as many as fit in base.KEEP_BYTES."""
    n = source.shape[0]
    room = base.KEEP_BYTES // (8 * n)
    logger.info("%d x %d dissimilarities: %d rows are kept in memory, the others read or computed again.", n, n, room)
    return PartlyKeptSource(source, np.empty((room, n)), np.full(n, -1, np.intp))


@dataclass(frozen=True)
class PartlyKeptSource(OwnSource):
    """An expensive source and the first whole rows it was asked for, `rows` (room, N); place[i] of row i, or -1."""

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


def kept_if_expensive(source: Source) -> Source:
    """The source, or, if asking twice is expensive, what it keeps of its dissimilarities."""
    if type(source) is DenseSource:  # asking whether it has the protocol takes longer than a small fit
        return source
    return source.kept() if isinstance(source, ExpensiveSource) else source
