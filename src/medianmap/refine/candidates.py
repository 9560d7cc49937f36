"""Input and result of all swaps: the candidates' rows of D in the order in which they are tried, and `Swapped`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources import as_dissimilarity, base, check_entries
from ..sources.base import FloatArray, IntArray, rows_fit, rows_per_panel
from ..sources.tensors import TensorSource
from ..utils.checks import check_count, check_weights

EPS = float(np.finfo(np.float64).eps)
UNDERFLOW = 5e-324  # the smallest number above 0: what a product may lose beyond its relative error

# Candidates per block where all rows are in memory.
LARGEST_BLOCK = 1024
# Neighbouring points that are tried in a row, so that files are read in runs. Which order they are in is random.
RUN = 64


def turns(n: int, rng: np.random.Generator) -> IntArray:
    """(n,) the order in which candidates are tried: runs of RUN points in random order, at random within each.

    With one order for all starts, as that of the data would be, many starts end in the same optimum.
    """
    within, runs = rng.random(n), rng.random(-(-n // RUN))
    place = np.empty(len(runs), np.int16 if len(runs) < 2**15 else np.intp)  # short integers are sorted by their digits
    place[runs.argsort()] = np.arange(len(runs))
    points = within.argsort()
    return points[place[points // RUN].argsort(kind="stable")]


@dataclass(frozen=True)
class Swapped:
    """Exemplars (K,) after `n_swaps` accepted exchanges, their loss, and whether no exchange can lower it further.

    medoids : (K,) the data points that are the exemplars.
    n_swaps : accepted exchanges.
    loss : what was lowered, at the end.
    converged : whether no exchange lowers it further.
    """

    medoids: IntArray
    n_swaps: int
    loss: float
    converged: bool


@dataclass(frozen=True)
class Block:
    """Candidates that are tried one after another: the point points[t] has the dissimilarities C[at[t]]."""

    points: IntArray
    C: NDArray[Any]
    at: IntArray

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, part: slice) -> Block:
        return Block(self.points[part], self.C, self.at[part])


@dataclass(frozen=True)
class Candidates:
    """C[l, i] = D[i, l]: one row per candidate, so that its dissimilarities from all points are contiguous.

    whole : (N, N) if it is in memory or fits there; else None, and rows are read block by block.
    """

    source: base.Source
    whole: NDArray[Any] | None

    @property
    def n(self) -> int:
        return self.source.shape[0]

    @property
    def on_device(self) -> bool:
        """Whether the dissimilarities are tensors."""
        return isinstance(self.source, TensorSource)

    @property
    def block_size(self) -> int:
        """How many rows are read at a time."""
        return LARGEST_BLOCK if self.whole is not None else min(LARGEST_BLOCK, rows_per_panel(self.n))

    def rows(self, points: IntArray) -> NDArray[Any]:
        """C[points], C-contiguous, float32 or float64."""
        if self.whole is not None:
            return np.ascontiguousarray(self.whole[points])
        dtype = np.float32 if self.source.dtype == np.float32 else np.float64
        return base.columns(self.source, points).astype(dtype, copy=False)

    def block(self, points: IntArray) -> Block:
        """The candidates `points` in this order; what is not in memory is read in that of the data."""
        if self.whole is not None:
            return Block(points, self.whole, points)
        ascending = np.sort(points)
        return Block(points, self.rows(ascending), np.searchsorted(ascending, points))


def prepared(D: Any, medoids: Any, m: Any, max_swaps: Any) -> tuple[Candidates, IntArray, FloatArray, int]:
    """Candidates, exemplars (K,), weights (N,) and the most swaps, checked, as the kernels read them.

    An array is checked entry by entry; a Source has been checked by the estimators that pass it.
    """
    source = as_dissimilarity(D)
    n = source.shape[0]
    weights = check_weights(m, n)
    if not weights.all():
        raise ValueError(f"m[{int(np.argmin(weights))}] is 0; leave out points without weight.")
    w = np.array(medoids)
    if w.ndim != 1 or not len(w) or w.dtype.kind not in "iu":
        raise ValueError("The exemplars must be a list of one or more indices of data points.")
    outside = w[(w < 0) | (w >= n)]
    if len(outside):
        raise ValueError(f"The exemplars hold the index {outside[0]}, but the data points are numbered 0 to {n - 1}.")
    most = np.iinfo(np.int64).max if max_swaps is None else check_count(max_swaps, "max_swaps", at_least=0)
    source = base.kept_if_expensive(source)
    if source is not D:
        check_entries(source, len(w) * float(weights.sum()))
    whole = base.candidate_rows(source) if rows_fit(source) and not isinstance(source, TensorSource) else None
    return Candidates(source, whole), w.astype(np.intp), weights, most
