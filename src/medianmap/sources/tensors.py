"""A matrix on a device or streamed to it: copied from a source, computed there from vectors, or the user's tensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import BoundMetric
from ..metrics.tensors import Vectors, on_tensors
from ..utils import device as devices
from ..utils.checks import check_choice
from ..utils.device import as_numpy, as_tensor, torch_module
from ..utils.threads import step
from .base import (
    ALL,
    LARGE,
    CondensedSource,
    DenseSource,
    FloatArray,
    Index,
    IntArray,
    OwnSource,
    Source,
    SubsetSource,
    panels,
    rows_per_panel,
)
from .checks import exponent_of, refuse_bad_entries, warn_of_diagonal
from .checks import is_symmetric as symmetric_array
from .computed import ComputedSource, panel_height

STORAGES = ("float64", "float32", "float16", "bfloat16")
# float16 ends at 65504: the largest dissimilarity is brought between these powers of two, so that few digits are lost.
HALF_LOW, HALF_HIGH = 5, 15
# Rows and columns that are compared with their mirror image at a time.
TILE = 4096


@dataclass(frozen=True, eq=False, repr=False)
class TensorSource(OwnSource):
    """D (N, N) / 2^exponent on a device, row = point; or, streamed, only as much of it as is worked on.

    tensor : (N, N) on the device; None if panels are streamed from `host`.
    device, storage : torch's device and type of entries.
    largest : of `tensor`.
    host : where D comes from, unscaled and not rounded; None if the tensor is all there is.
    exponent : 0 but for numbers of extreme size (see checks.py) and float16.
    rounded : whether `tensor` has fewer digits than `host`.
    scaled : whether `block` answers in the numbers of `tensor`, as all else does, and not in the user's.
    """

    n: int
    tensor: Any
    device: Any
    storage: Any
    symmetric: bool
    largest: float
    host: Source | None = None
    ids: Sequence[str] | None = None
    exponent: int = 0
    rounded: bool = False
    scaled: bool = False

    def __repr__(self) -> str:
        how = "streamed to" if self.tensor is None else "on"
        kind = str(self.storage).removeprefix("torch.")
        return f"<{type(self).__name__} of {self.n} points, {kind} {how} {self.device}>"

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.n

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if str(self.storage) == "torch.float64" else np.float32)

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        if self.tensor is None:
            assert self.host is not None
            block, e = self.host.block(rows, cols), -self.exponent if self.scaled else 0
            return np.ldexp(block.astype(self.dtype, copy=False), e)
        r, c = self._at(rows), self._at(cols)
        both = not isinstance(r, slice) and not isinstance(c, slice)
        block = as_numpy(self.tensor[r[:, None], c] if both else self.tensor[r, c])
        return block if self.scaled or not self.exponent else np.ldexp(block.astype(np.float64), self.exponent)

    def panels(self, size: int | None = None) -> Iterator[tuple[slice, Any]]:
        """All rows in turn: (rows, D[rows] (n, N) on the device), `size` rows at a time; a view where D is there."""
        every = panels(self.n, size or max(1, devices.PANEL_ENTRIES // self.n))
        if self.tensor is None:
            yield from self._streamed(list(every))
        else:
            for rows in every:
                yield rows, self.tensor[rows]

    def rows(self, points: IntArray) -> Any:
        """D[points] (k, N) on the device."""
        return self._read(points) if self.tensor is None else self.tensor.index_select(0, self._at(points))

    def columns(self, points: IntArray) -> Any:
        """D[:, points] transposed (k, N), contiguous, on the device."""
        if self.symmetric:
            return self.rows(points)
        if self.tensor is None:
            assert self.host is not None
            return self._brought(self.host.block(ALL, points).T)
        return self.tensor.index_select(1, self._at(points)).T.contiguous()

    def subset(self, keep: IntArray) -> TensorSource:
        """D[keep][:, keep] (n, n): a copy on the device."""
        n, host = len(keep), None if self.host is None else SubsetSource(self.host, keep)
        ids = None if self.ids is None else [self.ids[i] for i in keep]
        if self.tensor is None:
            return replace(self, n=n, host=host, ids=ids)
        devices.refuse_too_large(self.device, n, self.storage.itemsize)
        part, cols = self.tensor.new_empty((n, n)), self._at(keep)
        for rows in panels(n, max(1, devices.PANEL_ENTRIES // self.n)):
            part[rows] = self.tensor[cols[rows]].index_select(1, cols)
        return replace(self, n=n, tensor=part, host=host, ids=ids)

    def unscaled(self) -> Source:
        """The user's D as it is."""
        return replace(self, scaled=False) if self.host is None else self.host

    def exact(self) -> TensorSource:
        """The same in all digits that `host` has, streamed from it; itself, where nothing was rounded."""
        if not self.rounded or self.host is None:
            return self
        return replace(self, tensor=None, storage=_torch_type(_exact(self.host.dtype)), rounded=False)

    def nearest_others(self, k: int) -> tuple[FloatArray, IntArray]:
        """Of every point the dissimilarities (N, k) to the k nearest others, ascending, and which these are."""
        values, who = np.empty((self.n, k)), np.empty((self.n, k), np.intp)
        for rows, panel in self.panels():
            step("neighbours", rows.start, self.n)
            others = panel.double() if panel.dtype.itemsize == 8 else panel.float()
            others = others.clone() if others is panel else others
            others[:, rows].fill_diagonal_(np.inf)
            found = others.topk(k, largest=False)
            values[rows], who[rows] = as_numpy(found.values), as_numpy(found.indices)
        return np.ldexp(values, self.exponent), who

    def _at(self, index: Index) -> Any:
        if isinstance(index, slice):
            return index
        return torch_module().as_tensor(np.ascontiguousarray(index, np.int64), device=self.device)

    # --- streamed

    def _read(self, rows: Index) -> Any:
        assert self.host is not None
        return self._brought(self.host.block(rows, ALL))

    def _brought(self, block: NDArray[Any]) -> Any:
        """A block of `host` as the device has it, copied through memory that the card reads by itself."""
        torch, on_card = torch_module(), self.device.type == "cuda"
        fresh = torch.empty(block.shape, dtype=_torch_type(self.dtype), pin_memory=on_card)
        fresh.numpy()[...] = np.ldexp(block, -self.exponent) if self.exponent else block
        return fresh.to(self.device, non_blocking=True).to(self.storage)

    def _streamed(self, every: list[slice]) -> Iterator[tuple[slice, Any]]:
        """Each panel is read and copied by another thread, on a stream of its own, while the one before is used."""
        torch = torch_module()
        side = torch.cuda.Stream(self.device) if self.device.type == "cuda" else None

        def fetch(rows: slice) -> tuple[Any, Any]:
            if side is None:
                return self._read(rows), None
            with torch.cuda.stream(side):
                panel, copied = self._read(rows), torch.cuda.Event()
                copied.record(side)
            return panel, copied

        with ThreadPoolExecutor(1, thread_name_prefix="medianmap-panels") as reader:
            ahead = reader.submit(fetch, every[0])
            for rows, following in zip(every, [*every[1:], None], strict=True):
                panel, copied = ahead.result()
                if following is not None:
                    ahead = reader.submit(fetch, following)
                if copied is not None:
                    here = torch.cuda.current_stream(self.device)
                    here.wait_event(copied)
                    panel.record_stream(here)  # its memory is not given to the other stream before this one is done
                yield rows, panel


def of_tensor(X: Any, symmetric: bool | None = None, ids: Sequence[str] | None = None) -> TensorSource:
    """The user's tensor (N, N) where it lies, checked there and not copied, unless its numbers are of extreme size."""
    T = as_tensor(X)
    if T.dtype.is_complex:
        raise ValueError("Complex data not supported: dissimilarities are real numbers. Pass absolute values.")
    if T.ndim != 2 or T.shape[0] != T.shape[1] or T.shape[0] == 0:
        raise ValueError(
            f"A precomputed dissimilarity must be a square matrix; this tensor has shape {tuple(T.shape)}. "
            "For vectors choose a metric, for example metric='euclidean'."
        )
    if not T.dtype.is_floating_point:
        T = T.to(_torch_type(_exact(T.dtype)))
    T = T.contiguous()
    n, largest = len(T), 0.0
    for rows in panels(n, max(1, devices.PANEL_ENTRIES // n)):
        largest = max(largest, _largest(T[rows], rows, slice(0, n)))
    warn_of_diagonal(as_numpy(T.diagonal()), largest)
    symmetric = is_symmetric(T) if symmetric is None else symmetric
    source = TensorSource(n, T, T.device, T.dtype, symmetric, largest, ids=ids)
    e = exponent_of(largest, LARGE)
    return _rescaled(source, e) if e else source


def _rescaled(source: TensorSource, e: int) -> TensorSource:
    devices.refuse_too_large(source.device, source.n, source.storage.itemsize)
    largest = float(np.ldexp(source.largest, -e))
    return replace(source, tensor=_times_power(source.tensor, -e), largest=largest, host=source, exponent=e)


def _times_power(T: Any, e: int) -> Any:
    """2^e T, in steps that every type of entries has."""
    while e:
        part = max(-100, min(100, e))
        T, e = T * 2.0**part, e - part
    return T


def _exact(dtype: Any) -> np.dtype[Any]:
    """The narrower of float32 and float64 that holds every number of the type."""
    return np.dtype(np.float32 if dtype.itemsize <= 2 or dtype == np.float32 else np.float64)


def _torch_type(dtype: np.dtype[Any]) -> Any:
    return getattr(torch_module(), dtype.name)


def is_symmetric(T: Any) -> bool:
    """T[i, l] == T[l, i] for all pairs, to the last bit."""
    n = len(T)
    for rows in panels(n, TILE):
        for cols in panels(n, TILE):
            if cols.start >= rows.start and not bool((T[rows, cols] == T[cols, rows].T).all()):
                return False
    return True


def _largest(part: Any, rows: slice, cols: slice, metric: BoundMetric | None = None) -> float:
    """The largest entry of a block on a device; ValueError names the first that is NaN, infinite or negative."""
    low, high = (float(value) for value in part.aminmax())
    if not (low >= 0 and high < np.inf):
        at, to = np.arange(rows.start, rows.stop), np.arange(cols.start, cols.stop)
        if metric is not None:
            metric.refuse_bad(as_numpy(part), at, to)
        refuse_bad_entries(as_numpy(part), places=(at, to))
    return high


# --- copied to the device, or computed there


def tensor_source(
    source: Source, device: Any, *, dtype: str | None = None, symmetric: bool | None = None, stream: bool = False,
    beside: int = 0,
) -> TensorSource:  # fmt: skip
    """Any source of dissimilarities on a torch.device, its entries checked on the way.

    dtype : one of STORAGES; None keeps the type of a matrix, and takes float32 for what is computed there.
    symmetric : None looks at what is not promised to be.
    stream : leave D where it is, and copy panels to the device whenever they are needed.
    beside : bytes that are needed on the device besides.
    """
    torch, n = torch_module(), source.shape[0]
    if dtype is not None:
        check_choice(dtype, "dtype", STORAGES)
    metric = _metric_there(source)
    own = torch.float32 if bytes_of_entry(source) == 4 else torch.float64
    storage = own if dtype is None else getattr(torch, dtype)
    if isinstance(source, SubsetSource) and source.cols is None and isinstance(source.base, TensorSource):
        source = source.base.subset(source.rows)
    if isinstance(source, TensorSource):
        if source.device == device and (dtype is None or storage == source.storage):
            return source
        storage = source.storage if dtype is None else storage
    # What is computed there in float32 is the matrix; of a matrix that is copied, and of half precision, more is known.
    rounded = storage.itemsize < (4 if metric is not None else source.dtype.itemsize)
    if stream:
        return _to_stream(source, device, storage, symmetric, rounded)
    vectors = 2 * source.objects.size * 8 if metric is not None else 0  # type: ignore[attr-defined]
    devices.refuse_too_large(device, n, storage.itemsize, beside + vectors)
    matrix = _Matrix(n, device, storage)
    if isinstance(source, ComputedSource) and metric is not None:
        matrix.compute(source, metric)
    elif source.symmetric and isinstance(source, ComputedSource | CondensedSource):
        matrix.copy_upper_part(source)
    else:
        matrix.copy(source)
    warn_of_diagonal(np.ldexp(as_numpy(matrix.tensor.diagonal(), np.float64), matrix.exponent), matrix.largest)
    found = source.symmetric or bool(_seen(source, matrix.tensor, rounded) if symmetric is None else symmetric)
    return TensorSource(n, matrix.tensor, device, storage, found, float(np.ldexp(matrix.largest, -matrix.exponent)),
                        _with_symmetry(source, found), source.ids, matrix.exponent, rounded)  # fmt: skip


def _metric_there(source: Source) -> str | None:
    """The metric by which a device computes the source; None if it is read, or computed on the CPU."""
    return on_tensors(source.metric) if isinstance(source, ComputedSource) else None


def computed_there(source: Source) -> bool:
    """Whether a device computes the source itself."""
    return _metric_there(source) is not None


def bytes_of_entry(source: Source) -> int:
    """Of a matrix on a device, unless another type is asked for: what it has, and 4 if it is computed there."""
    return 4 if computed_there(source) or _exact(source.dtype) == np.float32 else 8


def _seen(source: Source, tensor: Any, rounded: bool) -> bool:
    """Whether a source that nobody has looked at is symmetric; what is rounded may only seem to be."""
    if not rounded:
        return is_symmetric(tensor)
    return isinstance(source, DenseSource) and symmetric_array(source.D)


def _with_symmetry(source: Source, found: bool) -> Source:
    """The source with what was found on the device, where nobody had looked."""
    if isinstance(source, DenseSource) and source.symmetric != found:
        return replace(source, symmetric=found)
    return source


def _to_stream(source: Source, device: Any, storage: Any, symmetric: bool | None, rounded: bool) -> TensorSource:
    """The same with D left where it is: one pass checks it."""
    n, largest, diagonal = source.shape[0], 0.0, np.empty(source.shape[0])
    for rows in panels(n, rows_per_panel(n)):
        step("dissimilarities", rows.start * n, n * n)
        panel = source.block(rows, ALL)
        largest = max(largest, refuse_bad_entries(panel, rows.start))
        diagonal[rows] = panel[np.arange(len(panel)), np.arange(rows.start, rows.stop)]
    step("dissimilarities", n * n, n * n)
    warn_of_diagonal(diagonal, largest)
    e = _exponent(largest, 0, storage)
    found = source.symmetric if symmetric is None else symmetric
    return TensorSource(n, None, device, storage, found, float(np.ldexp(largest, -e)), source, source.ids, e, rounded)


def _exponent(largest: float, now: int, storage: Any) -> int:
    """The e of the 2^e that divides dissimilarities, of which this is the largest so far; `now` if that will do."""
    if str(storage) != "torch.float16":
        return exponent_of(largest, LARGE)
    of_largest = int(np.frexp(largest)[1])
    return now if HALF_LOW < of_largest - now <= HALF_HIGH or largest == 0 else of_largest - HALF_HIGH + 1


class _Matrix:
    """A matrix on a device that is filled block by block; `largest` is that of the user's numbers."""

    def __init__(self, n: int, device: Any, storage: Any) -> None:
        self.n, self.device, self.storage = n, device, storage
        self.tensor = torch_module().empty((n, n), dtype=storage, device=device)
        self.exponent, self.largest, self.done = 0, 0.0, 0

    def copy(self, source: Source) -> None:
        """All rows, panel by panel."""
        for rows in panels(self.n, rows_per_panel(self.n, source.dtype.itemsize)):
            self._put(rows, slice(0, self.n), self._on_device(source.block(rows, ALL)))

    def copy_upper_part(self, source: ComputedSource | CondensedSource) -> None:
        """What a symmetric source would compute or look up twice is mirrored instead."""
        for rows in panels(self.n, panel_height(self.n)):
            cols = slice(rows.start, self.n)
            part = upper_part(source, rows) if isinstance(source, CondensedSource) else source.block(rows, cols)
            self._put(rows, cols, self._on_device(part), mirrored=True)

    def compute(self, source: ComputedSource, metric: str) -> None:
        """Dissimilarities of vectors, tile by tile above the diagonal, and mirrored."""
        vectors = Vectors(source.objects, metric, self.device)
        for rows in panels(self.n, vectors.tile):
            for cols in panels(self.n, vectors.tile):
                if cols.start >= rows.start:
                    part = vectors.block(rows, cols)
                    source.count["evaluations"] += part.numel()
                    self._put(rows, cols, part, mirrored=True, metric=source.metric)

    def _on_device(self, block: NDArray[Any]) -> Any:
        fresh = torch_module().empty(block.shape, dtype=_torch_type(_exact(block.dtype)))
        fresh.numpy()[...] = block  # torch warns of arrays that it may not write into
        return fresh.to(self.device)

    def _put(
        self, rows: slice, cols: slice, part: Any, mirrored: bool = False, metric: BoundMetric | None = None
    ) -> None:
        """D[rows, cols] = part, in the storage's type and brought into its range; mirrored: D[cols, rows] as well."""
        self.largest = max(self.largest, _largest(part, rows, cols, metric))
        e = _exponent(self.largest, self.exponent, self.storage)
        if e != self.exponent:  # what is there already follows
            for before in panels(rows.stop, max(1, devices.PANEL_ENTRIES // self.n)):
                self.tensor[before] = _times_power(self.tensor[before], self.exponent - e)
            self.exponent = e
        part = _times_power(part, -e)
        if mirrored and cols.start == rows.start:
            corner = part[:, : part.shape[0]]
            corner.copy_(corner.triu() + corner.triu(1).T)  # an entry and its mirror image to the same bits
        self.tensor[rows, cols] = part.to(self.storage)
        if mirrored:
            beyond = slice(max(rows.stop, cols.start), cols.stop)
            self.tensor[beyond, rows] = self.tensor[rows, beyond].T
        self.done += part.numel() * (2 if mirrored and cols.start > rows.start else 1)
        step("dissimilarities", min(self.done, self.n**2), self.n**2)


def upper_part(source: CondensedSource, rows: slice) -> NDArray[Any]:
    """D[rows, rows.start:] of a condensed vector, with zeros below the diagonal; each row is adjacent in memory."""
    n, first = source.n, rows.start
    part = np.zeros((rows.stop - first, n - first), source.v.dtype)
    for k, i in enumerate(range(first, rows.stop)):
        at = n * i - i * (i + 1) // 2
        part[k, k + 1 :] = source.v[at : at + n - 1 - i]
    return part
