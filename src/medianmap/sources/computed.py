"""Objects and their metric as a source: dissimilarities computed on demand, or read from a matrix computed before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import BoundMetric
from ..metrics.letters import row_chunks
from ..utils.resumable import digest
from ..utils.threads import in_steps, outer_threads, run_chunks
from .base import ALL, DenseSource, HoldsObjects, Index, OwnSource, Source, fits, panels, partly_kept, with_objects

# Objects of a sample that are compared with all others between two steps of a progress bar.
ROWS_PER_STEP = 32


@dataclass(frozen=True, repr=False)
class ObjectSource(OwnSource):
    """N objects and the metric that compares them: what a map needs besides D to compare new objects later.

    columns : names of the columns of objects that are vectors.
    """

    objects: Any
    metric: BoundMetric
    ids: Sequence[str] | None = None
    columns: Sequence[str] | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.objects)} objects compared by {self.metric.name!r}>"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.objects), len(self.objects)


@dataclass(frozen=True, repr=False)
class ComparedSource(ObjectSource):
    """D[i, l] = metric(objects[i], objects[l]), computed before: `matrix` has them."""

    matrix: Source = field(kw_only=True)

    def __post_init__(self) -> None:
        if self.matrix.shape != self.shape:
            n, m = self.shape[0], self.matrix.shape[0]
            raise ValueError(f"There are {n} objects, but the matrix is {m} x {m}; pass the matrix of these objects.")
        if self.ids is not None and self.matrix.ids is not None:
            for i, (own, other) in enumerate(zip(self.ids, self.matrix.ids, strict=True)):
                if own != other:
                    raise ValueError(
                        f"Object {i} has the id {own!r}, but row {i} of the matrix has {other!r}; "
                        "put both in the same order."
                    )

    @property
    def evaluations(self) -> int:
        """How often the metric is evaluated for such a matrix."""
        n = len(self.objects)
        return n * (n + 1) // 2 if self.symmetric else n * n

    @property
    def symmetric(self) -> bool:
        return self.matrix.symmetric

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.matrix.dtype

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        return self.matrix.block(rows, cols)

    def resolved(self, m: NDArray[np.float64]) -> ComparedSource:
        """The source itself: the matrix was computed with parameters that are fixed."""
        return self

    def kept(self) -> Source:
        """The matrix."""
        return self.matrix


@dataclass(frozen=True, repr=False)
class ComputedSource(ObjectSource):
    """D[i, l] = metric(objects[i], objects[l]), evaluated on demand."""

    n_jobs: int | None = None
    count: Counter[str] = field(default_factory=Counter, compare=False, repr=False)
    places: NDArray[np.intp] | None = None  # (N,) what errors call the objects; their numbers by default

    @property
    def evaluations(self) -> int:
        """How often the metric was evaluated so far."""
        return self.count["evaluations"]

    @property
    def symmetric(self) -> bool:
        return self.metric.symmetric

    def resolved(self, m: NDArray[np.float64]) -> ComputedSource:
        """The source with the parameters that the data, weighted by m (N,), determine."""
        return replace(self, metric=self.metric.resolved(self.objects, m))

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        """The block, computed in row chunks on `n_jobs` threads; errors name a pair by its place in the data."""
        n = len(self.objects)
        at, to = np.arange(n)[rows], np.arange(n)[cols]
        if self.places is not None:
            at, to = self.places[at], self.places[to]
        self.count["evaluations"] += len(at) * len(to)
        return evaluated(self.metric, take(self.objects, rows), take(self.objects, cols), at, to, self.n_jobs)

    def fill(self, D: NDArray[Any], rows: slice, cols: slice) -> None:
        """D[rows, cols] = the block, in the type of D; of a symmetric metric only i <= l is computed, and mirrored.

        rows and cols are ranges. If the metric is symmetric, cols must not start before rows, and rows beyond the last
        of cols are left to the block that is mirrored onto them.
        """
        if self.symmetric:
            rows = slice(rows.start, min(rows.stop, cols.stop))
        part = self.block(rows, cols)
        refuse_overflow(part, D.dtype, rows, cols)
        if not self.symmetric:
            D[rows, cols] = part
            return
        corner = part[cols.start - rows.start :, : max(0, rows.stop - cols.start)]
        below = np.tril_indices(corner.shape[1], -1)
        corner[below] = corner.T[below]
        D[rows, cols] = part
        D[cols, rows] = part.T

    def kept(self) -> Source:
        """The whole matrix if it fits in base.KEEP_BYTES, computed once (half of it if the metric is symmetric); else a
        source that keeps as many rows as fit and computes the others every time."""
        n = len(self.objects)
        if not fits(n):
            return partly_kept(self)
        D = np.empty((n, n))
        for rows, cols in parts_to_compute(n, self.symmetric):
            self.fill(D, rows, cols)
        return DenseSource(D, self.symmetric, self.ids)


def evaluated(
    metric: BoundMetric, left: Any, right: Any, at: NDArray[np.intp], to: NDArray[np.intp], n_jobs: int | None
) -> NDArray[np.float64]:
    """(n, k) dissimilarities of n objects to k others, in row chunks on threads where the metric can use them.

    at (n,), to (k,) : what errors call the objects.
    """
    if metric.metric.own_threads:
        return metric.between(left, right, at, to, outer_threads(n_jobs))
    out = np.empty((len(at), len(to)))

    def fill(part: slice) -> None:
        out[part] = metric.between(take(left, part), right, at[part], to)

    run_chunks(fill, row_chunks(len(at)), n_jobs if metric.metric.threaded else 1)
    return out


def checked_objects(source: Source, metric: BoundMetric) -> HoldsObjects:
    """The source, if it holds objects that this metric, with the parameters given, compares; else ValueError."""
    held = with_objects(source)
    if held is None:
        raise ValueError(
            f"X is a source of dissimilarities alone, so the metric {metric.name!r} has nothing to compare; "
            "set metric='precomputed', or pass as_dissimilarity(objects, metric, matrix=X)."
        )
    own = {name: held.metric.params.get(name) for name in metric.params}
    if held.metric.name != metric.name or digest(own) != digest(dict(metric.params)):
        raise ValueError(
            f"X holds objects compared by {held.metric.name!r} with {dict(held.metric.params)}, but the map has the "
            f"metric {metric.name!r} with {dict(metric.params)}; give both the same."
        )
    return held


def block_in_steps(source: Source) -> NDArray[np.float64]:
    """All N x N dissimilarities of a sample of objects, both directions computed, with progress."""
    n = source.shape[0]
    D = np.empty((n, n))
    for rows in in_steps("sample", n, ROWS_PER_STEP):
        D[rows] = source.block(rows, ALL)
    return D


def refuse_overflow(part: NDArray[np.float64], dtype: np.dtype[Any], rows: slice, cols: slice) -> None:
    """ValueError if a value of the block at (rows, cols) is finite, but too large for the type."""
    if part.size and part.max() > np.finfo(dtype).max:
        i, l = np.unravel_index(int(part.argmax()), part.shape)
        raise ValueError(
            f"The dissimilarity of the pair ({rows.start + i}, {cols.start + l}) is {part.max():g}, too large for "
            f"{dtype}; choose dtype='float64' or divide the data by a constant."
        )


def parts_to_compute(n: int, symmetric: bool) -> Iterator[tuple[slice, slice]]:
    """The blocks (rows, cols) of an n x n matrix to be computed; the rest of a symmetric one is mirrored."""
    for rows in panels(n, panel_height(n) if symmetric else n):
        yield rows, slice(rows.start if symmetric else 0, n)


def panel_height(n: int) -> int:
    """Rows of a panel of a symmetric matrix: few, since half of its corner on the diagonal is computed for nothing, but
    enough that mirrored into a file of a large matrix they are runs of 2 KB."""
    return min(512, max(64, -(-n // 16)))


def take(objects: Any, index: Index) -> Any:
    """objects[index] for an array or a list; index is a slice or an index array."""
    if isinstance(objects, np.ndarray) or isinstance(index, slice):
        return objects[index]
    return [objects[i] for i in index]
