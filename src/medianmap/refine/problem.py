"""What every refinement takes and gives: candidates as rows, exemplars and weights, the record of the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources import Source, as_dissimilarity, check_entries
from ..sources.base import FloatArray, IntArray, candidate_rows, columns, panels, rows_fit, rows_per_panel
from ..sources.memory import kept_if_dear
from ..utils.checks import check_count, check_weights
from ..utils.threads import run_chunks

EPS = float(np.finfo(np.float64).eps)
UNDERFLOW = 5e-324  # the smallest number above 0: what a product may lose beyond its relative error

# Candidates looked at in one go where all their rows lie in memory.
LARGEST_BLOCK = 1024


@dataclass(frozen=True)
class Swapped:
    """Exemplars (K,) after `n_swaps` accepted exchanges, their loss, and whether no exchange can lower it further."""

    medoids: IntArray
    n_swaps: int
    loss: float
    converged: bool


@dataclass(frozen=True)
class Candidates:
    """C[l, i] = D[i, l]: a candidate a row, so that its dissimilarities from all points lie side by side.

    whole : (N, N) where it lies in memory or fits there; else None, and rows are had block by block.
    """

    source: Source
    whole: NDArray[Any] | None

    @property
    def n(self) -> int:
        return self.source.shape[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.source.dtype == np.float32 else np.float64)

    @property
    def block_size(self) -> int:
        """How many rows are asked for at a time."""
        return LARGEST_BLOCK if self.whole is not None else min(LARGEST_BLOCK, rows_per_panel(self.n))

    def rows(self, candidates: slice | IntArray) -> NDArray[Any]:
        """C[candidates], C-contiguous, float32 or float64."""
        if self.whole is not None:
            return np.ascontiguousarray(self.whole[candidates])
        return columns(self.source, candidates).astype(self.dtype, copy=False)

    def picked(self, candidates: IntArray) -> tuple[NDArray[Any], IntArray]:
        """(C, rows): C[rows] are the candidates' rows; copied only where the whole does not lie in memory."""
        if self.whole is not None:
            return self.whole, candidates
        return self.rows(candidates), np.arange(len(candidates))


def prepared(D: Any, medoids: Any, m: Any, max_swaps: Any) -> tuple[Candidates, IntArray, FloatArray, int]:
    """Candidates, exemplars (K,), weights (N,) and the most swaps as the kernels read them; ValueError if they cannot.

    An array is checked entry by entry; a Source is taken as the estimators hand it over, checked already.
    """
    source = as_dissimilarity(D)
    n = source.shape[0]
    weights = check_weights(m, n)
    if not weights.all():
        raise ValueError(f"m[{int(np.argmin(weights))}] is 0; leave points without weight out, they count for nothing.")
    w = np.array(medoids)
    if w.ndim != 1 or not len(w) or w.dtype.kind not in "iu":
        raise ValueError("The exemplars must be a list of one or more indices of data points.")
    outside = w[(w < 0) | (w >= n)]
    if len(outside):
        raise ValueError(f"The exemplars hold the index {outside[0]}, but the data points are numbered 0 to {n - 1}.")
    most = np.iinfo(np.int64).max if max_swaps is None else check_count(max_swaps, "max_swaps", at_least=0)
    source = kept_if_dear(source)
    if source is not D:
        check_entries(source, len(w) * float(weights.sum()))
    whole = candidate_rows(source) if rows_fit(source) else None
    return Candidates(source, whole), w.astype(np.intp), weights, most


def first_find(look: Callable[[slice], int], n: int, ahead: int, n_jobs: int | None) -> int:
    """The first of n candidates that improves, n if none does; look(chunk) gives the first within a chunk, or -1.

    Chunks of `ahead` are looked at by several threads against one state, and the earliest find counts: the candidate
    that a single thread would have come to first.
    """
    found = np.full(-(-n // ahead), n)

    def look_at(chunk: slice) -> None:
        which = chunk.start // ahead
        if (found[:which] < n).any():
            return  # what this chunk holds would be forgotten
        r = look(chunk)
        if r >= 0:
            found[which] = chunk.start + r

    run_chunks(look_at, list(panels(n, ahead)), n_jobs)
    return int(found.min(initial=n))
