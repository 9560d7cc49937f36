"""A dissimilarity matrix that lies in memory or in a memory-mapped .npy file; never copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Index, IntArray, Source, plain


@dataclass(frozen=True)
class DenseSource:
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
class SubsetSource:
    """The rows and columns `keep` (n,) of another source, renumbered 0 .. n-1."""

    base: Source
    keep: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.keep), len(self.keep)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.base.dtype

    @property
    def symmetric(self) -> bool:
        return self.base.symmetric

    @property
    def ids(self) -> Sequence[str] | None:
        return None if self.base.ids is None else [self.base.ids[i] for i in self.keep]

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        return self.base.block(self.keep[rows], self.keep[cols])
