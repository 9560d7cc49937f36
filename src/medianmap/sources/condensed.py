"""SciPy's condensed form: the upper triangle of a symmetric matrix as one vector, half the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Index, IntArray, plain


def condensed_size(length: int) -> int | None:
    """N with N (N - 1) / 2 == length, or None. A length of 0 is one point."""
    n = (1 + isqrt(1 + 8 * length)) // 2
    return n if n * (n - 1) // 2 == length else None


@dataclass(frozen=True)
class CondensedSource:
    """D[i, l] = v[N i - i (i + 1) / 2 + l - i - 1] for i < l, D[l, i] the same, zero diagonal."""

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
        # The formula has no place for the diagonal; position 0 stands in and is overwritten by zero.
        at = np.where(on_diagonal, 0, self.n * low - low * (low + 1) // 2 + high - low - 1)
        if self.v.size == 0:
            return np.zeros(at.shape, self.v.dtype)
        values = plain(np.asarray(self.v[at]))
        values[on_diagonal] = 0
        return values

    def _positions(self, index: Index) -> IntArray:
        return np.arange(self.n, dtype=np.intp)[index]
