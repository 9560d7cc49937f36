"""The protocol of everything that can answer "how different are these from those": `block(rows, cols)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Index: TypeAlias = "slice | NDArray[np.intp]"
FloatArray: TypeAlias = "NDArray[np.float64]"
IntArray: TypeAlias = "NDArray[np.intp]"

ALL = slice(None)

# Panels of this size stay inside the last-level cache of a laptop and make a BLAS call worth its overhead.
PANEL_BYTES = 32 * 2**20


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


def rows_per_panel(n_columns: int, itemsize: int = 8) -> int:
    """How many rows of `n_columns` entries make one panel, at least 1."""
    return max(1, PANEL_BYTES // max(1, n_columns * itemsize))


def panels(n: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size` that cover range(n)."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def columns(source: Source, cols: Index) -> NDArray[Any]:
    """D[:, cols] as rows, (len(cols), N) and C-contiguous, so that a candidate's terms lie side by side."""
    if source.symmetric:
        return np.ascontiguousarray(source.block(cols, ALL))
    return np.ascontiguousarray(source.block(ALL, cols).T)


def points_to(source: Source, w: IntArray) -> FloatArray:
    """G = D[:, w] (N, K) as float64: from every point to the prototypes w (K,)."""
    return np.ascontiguousarray(columns(source, w).T, dtype=np.float64)
