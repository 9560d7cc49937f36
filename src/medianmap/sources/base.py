"""The protocol of all sources of dissimilarities, `block(rows, cols)`, and those in memory or memory-mapped."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import BoundMetric

logger = logging.getLogger(__name__)

Index: TypeAlias = "slice | NDArray[np.intp]"
FloatArray: TypeAlias = "NDArray[np.float64]"
IntArray: TypeAlias = "NDArray[np.intp]"

ALL = slice(None)

# Panels of this size fit in the last-level cache of a laptop and are large enough for BLAS.
PANEL_BYTES = 32 * 2**20

# Dissimilarities below 2^LARGE need no scaling (see checks.py).
LARGE = 50

# A matrix up to this size may be computed or copied whole; a larger one is worked on block by block.
KEEP_BYTES = 2 * 2**30


@runtime_checkable
class Source(Protocol):
    """A square table of dissimilarities D (N, N): row = data point, column = candidate.

    `symmetric` promises D[i, l] == D[l, i] to the last bit, so rows may be read in place of columns.
    """

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def symmetric(self) -> bool: ...

    @property
    def ids(self) -> Sequence[str] | None: ...

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        """D[rows][:, cols]; rows and cols are slices or index arrays. May be a view: never write into it."""
        ...


class OwnSource:
    """The sources of this library; asking whether something has the protocol takes as long as a small fit."""

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64)


class HoldsObjects(Source, Protocol):
    """A source that has, besides D, what a map needs to compare new objects later (see computed.py)."""

    objects: Any
    metric: BoundMetric
    columns: Sequence[str] | None

    @property
    def evaluations(self) -> int:
        """How often the metric was evaluated."""
        ...

    def resolved(self, m: FloatArray) -> Source:
        """The source with the parameters of the metric that the data, weighted by m (N,), determine."""
        ...


def with_objects(source: Source) -> HoldsObjects | None:
    """The source, if it holds the objects and their metric; None if it holds dissimilarities alone."""
    return source if hasattr(source, "objects") else None  # type: ignore[return-value]


def is_source(X: Any) -> TypeGuard[Source]:
    """isinstance(X, Source), answered at once for arrays and for the sources of this library."""
    if type(X) is np.ndarray:
        return False
    return isinstance(X, OwnSource | Source)


def plain(block: NDArray[Any]) -> NDArray[Any]:
    """The block as compiled code can read it: native float32, float64, integers or bool; others become float64."""
    if block.dtype.isnative and block.dtype.kind in "fiub" and block.dtype not in (np.float16, np.longdouble):
        return block
    return block.astype(np.float64)


def rows_per_panel(n_columns: int, itemsize: int = 8) -> int:
    """How many rows of `n_columns` entries make one panel, at least 1."""
    return max(1, PANEL_BYTES // max(1, n_columns * itemsize))


def panels(n: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size` that cover range(n)."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def columns(source: Source, cols: Index) -> NDArray[Any]:
    """D[:, cols] as rows, (len(cols), N) and C-contiguous, so that the terms of a candidate are adjacent in memory."""
    if source.symmetric:
        return np.ascontiguousarray(source.block(cols, ALL))
    return np.ascontiguousarray(source.block(ALL, cols).T)


def rows_fit(source: Source) -> bool:
    """Whether `candidate_rows` is possible: it needs no copy, or one of at most KEEP_BYTES."""
    n = source.shape[0]
    return _is_rows_already(source) or n * n * (4 if source.dtype == np.float32 else 8) <= KEEP_BYTES


def _is_rows_already(source: Source) -> bool:
    return source.symmetric and point_rows(source) is not None


def point_rows(source: Source) -> NDArray[Any] | None:
    """The matrix itself (N, N), one row per data point, if it is in memory or on disk in a form that kernels read."""
    D = getattr(source, "D", None)
    if D is None or D.dtype not in (np.float32, np.float64) or not D.flags.c_contiguous:
        return None
    return np.asarray(D)


def candidate_rows(source: Source) -> NDArray[Any]:
    """All of `columns`, (N, N), one row per candidate: a symmetric matrix in memory or on disk as it is, else a copy.

    For searches that jump between candidates. ValueError if a copy would take more than KEEP_BYTES.
    """
    if _is_rows_already(source):
        return np.asarray(source.D)  # type: ignore[attr-defined]
    if not rows_fit(source):
        n = source.shape[0]
        raise ValueError(f"This search needs the {n} x {n} matrix in memory, which is too large; choose search='auto'.")
    return columns(source, ALL).astype(np.float32 if source.dtype == np.float32 else np.float64, copy=False)


def points_to(source: Source, w: IntArray) -> FloatArray:
    """G = D[:, w] (N, K), from every point to the prototypes w (K,); float32 stays float32, all else is float64.

    The dissimilarities of a prototype are adjacent in memory: G.T is C-contiguous.
    """
    C = columns(source, w)
    return (C if C.dtype in (np.float32, np.float64) else C.astype(np.float64)).T


@dataclass(frozen=True)
class ToPoints:
    """D[:, w] (N, K), from every point to the points w (K,), read as its rows are asked for."""

    source: Source
    w: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        return self.source.shape[0], len(self.w)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        # Whole runs of a symmetric matrix are read rather than single entries of every row.
        source, w = self.source, self.w
        return source.block(w, rows).T if source.symmetric else source.block(rows, w)


def mean_of_pairs(source: Source, m: FloatArray) -> float:
    """Mean dissimilarity of all N^2 pairs, a pair (i, l) counting m_i m_l."""
    n, p = source.shape[0], m / m.sum()  # shares: products of extreme weights leave the range of floats
    # Plain sums, no BLAS: the same bits at any number of threads.
    every = panels(n, rows_per_panel(n))
    return sum(float((p[rows] * (source.block(rows, ALL) * p).sum(axis=1)).sum()) for rows in every)


# --- matrices in memory or memory-mapped: whole, a part, condensed, or as many rows of a source as fit ---------------


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
    symmetric = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.v.dtype

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        every = np.arange(self.n, dtype=np.intp)
        i, l = every[rows][:, None], every[cols][None, :]
        low, high = np.minimum(i, l), np.maximum(i, l)
        on_diagonal = low == high
        # The formula has no place for the diagonal; position 0 is read instead and overwritten by zero.
        at = np.where(on_diagonal, 0, self.n * low - low * (low + 1) // 2 + high - low - 1)
        if self.v.size == 0:
            return np.zeros(at.shape, self.v.dtype)
        values = plain(np.asarray(self.v[at]))
        values[on_diagonal] = 0
        return values


@runtime_checkable
class ExpensiveSource(Source, Protocol):
    """A source whose blocks are computed or queried: a fit asks once, and every value is checked as it is read."""

    def kept(self) -> Source:
        """The whole matrix in memory if it fits; else a source that holds as many rows as fit."""
        ...


def fits(n: int) -> bool:
    """Whether n x n dissimilarities may be held in memory whole."""
    return n * n * 8 <= KEEP_BYTES


def partly_kept(source: Source) -> PartlyKeptSource:
    """A source that keeps the rows it is asked for first, as many as fit in KEEP_BYTES."""
    n = source.shape[0]
    room = KEEP_BYTES // (8 * n)
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
            if had.size and had.max() >= 2.0**LARGE:
                raise ValueError(
                    f"A dissimilarity is {had.max():g}, and the matrix does not fit in memory: it is used as it is, "
                    f"and must be below {2.0**LARGE:.0e}. Divide the dissimilarities by a constant."
                )
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
