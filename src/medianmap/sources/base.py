"""The protocol of all sources of dissimilarities, `block(rows, cols)`, and how to read one in panels and columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Index: TypeAlias = "slice | NDArray[np.intp]"
FloatArray: TypeAlias = "NDArray[np.float64]"
IntArray: TypeAlias = "NDArray[np.intp]"

ALL = slice(None)

# Panels of this size fit in the last-level cache of a laptop and are large enough for BLAS.
PANEL_BYTES = 32 * 2**20

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
        raise ValueError(
            f"This search needs the whole {n} x {n} matrix in memory, which is too large; choose search='auto'."
        )
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
    return sum(
        float((p[rows] * (source.block(rows, ALL) * p).sum(axis=1)).sum()) for rows in panels(n, rows_per_panel(n))
    )
