"""Objects to be assigned, in any form that `predict` takes or as a stream -> blocks of them with their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from dataclasses import dataclass
from itertools import chain, count, islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from ..estimators.base import BaseMap
from ..estimators.families import DissimilarityMap
from ..metrics.registry import bind
from ..readers.records import Matrix, Record, Records
from ..sources import Source, as_dissimilarity
from ..sources.base import ALL, FloatArray, Index, is_source, panels
from ..sources.duckdb import is_pair_store
from ..sources.memory import condensed_size
from ..sources.objects import n_dims
from ..sources.stored import open_matrix
from ..utils.fingerprint import digest
from ..utils.threads import n_threads, run_chunks

# Rows that one thread takes at a time; below the chunk of spaces.squared_distances, which shares out no more then.
PART = 512


@dataclass(frozen=True)
class Block:
    """Consecutive objects: the number of the first, their ids, and the objects, which a slice cuts."""

    start: int
    ids: list[str]
    objects: Any

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, rows: slice) -> Block:
        """Some of them."""
        return Block(self.start + rows.start, self.ids[rows], _cut(self.objects, rows))

    def signature(self) -> str:
        """Tells the block from others; of a source of dissimilarities, which may be dear to read, the ids alone."""
        objects = self.objects
        if isinstance(objects, SourceRows):
            objects = None
        elif hasattr(objects, "iloc"):
            objects = objects.to_numpy()
        elif isinstance(objects, list) and all(isinstance(each, str) for each in objects):
            objects = "\0".join(objects)  # one long text is digested faster than many short ones
        try:
            return digest([self.start, "\0".join(self.ids), objects])[:32]
        except ValueError:  # objects that pickle cannot write are taken on trust
            return digest([self.start, "\0".join(self.ids)])[:32]


@dataclass(frozen=True)
class SourceRows:
    """Some rows (n, N) of a source, as queries; a slice of them is the same of fewer rows."""

    source: Source
    rows: slice
    symmetric = False  # a strip of a matrix has no mirror
    ids = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.stop - self.rows.start, self.source.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.source.dtype

    def __getitem__(self, part: slice) -> SourceRows:
        start, stop, _ = part.indices(self.shape[0])
        return SourceRows(self.source, slice(self.rows.start + start, self.rows.start + stop))

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        # Whole runs of a symmetric matrix are read rather than single entries of every row.
        strip = self.source.block(cols, self.rows).T if self.source.symmetric else self.source.block(self.rows, cols)
        return strip if rows is ALL else strip[rows]


@dataclass(frozen=True)
class NamedRows:
    """Some rows of a scikit-bio DistanceMatrix, with the names of all its columns, which `transform` compares."""

    data: NDArray[Any]
    ids: Sequence[str]
    condensed_form = None  # by this scikit-bio's matrices are known

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.shape[0], self.data.shape[1]

    def __getitem__(self, part: slice) -> NamedRows:
        return NamedRows(self.data[part], self.ids)


@dataclass(frozen=True)
class Queries:
    """All objects: n of them in a form that a slice cuts; or a stream of an unknown number, n None."""

    fitted: BaseMap
    objects: Any
    names: Iterable[Any] | None  # None: those that records of a stream carry, or numbers
    n: int | None

    def blocks(self, size: int) -> Iterator[Block]:
        """They, `size` at a time; a stream can be gone through once."""
        if self.n is None:
            return _of_stream(self.fitted, self.objects, self.names, size)
        return _of_sequence(self.objects, self.n, iter(range(self.n) if self.names is None else self.names), size)

    def sample(self) -> str:
        """Tells a source from others by a few of its dissimilarities; other objects have a signature a block."""
        if not isinstance(self.objects, SourceRows):
            return "objects"
        return digest(self.fitted._to_prototypes(self.objects[:64]))


def as_queries(fitted: BaseMap, X: Any, ids: Iterable[Any] | None) -> Queries:
    """What X holds for this map; ids are names for it, by default those that X carries."""
    if isinstance(X, Records):
        X, ids = X.objects, X.ids if ids is None else ids
    elif isinstance(X, Matrix):
        X, ids = X.D, X.ids if ids is None else ids
    if fitted_on_dissimilarities(fitted):
        X = _as_rows(fitted, X)
    _refuse_no_sequence(X)
    if hasattr(X, "__next__") or not hasattr(X, "__getitem__"):
        return Queries(fitted, iter(X), ids, None)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    names = _ids_of(X) if ids is None else ids
    given = getattr(names, "__len__", lambda: n)()
    if given != n:
        raise ValueError(f"There are {given} ids for {n} objects; give one id an object.")
    return Queries(fitted, X, names, n)


def dissimilarities(fitted: BaseMap, block: Block, n_jobs: int | None) -> FloatArray:
    """(n, K) from the objects of the block to the prototypes, as `transform` gives them.

    n_jobs : threads; where more than one is asked for and the metric holds Python's lock, processes.
    """
    if isinstance(block.objects, SourceRows):  # a source spreads its work itself, or waits for a disk
        return _to_prototypes(fitted, block)
    G = np.empty((len(block), len(fitted.hits_)))
    if n_jobs is not None and n_jobs != 1 and _holds_lock(fitted):
        parts = list(panels(len(block), -(-len(block) // (4 * n_threads(n_jobs)))))
        light = _light(fitted)
        tasks = (delayed(_to_prototypes)(light, block.part(rows)) for rows in parts)
        for rows, values in zip(parts, Parallel(n_jobs=n_jobs, return_as="generator")(tasks), strict=True):
            G[rows] = values
        return G

    def fill(rows: slice) -> None:
        G[rows] = _to_prototypes(fitted, block.part(rows))

    run_chunks(fill, list(panels(len(block), PART)), n_jobs)
    return G


def _holds_lock(fitted: BaseMap) -> bool:
    if not isinstance(fitted, DissimilarityMap) or fitted_on_dissimilarities(fitted):
        return False
    metric = bind(fitted.metric, fitted.metric_params_)
    return not (metric.threaded or metric.own_threads)


def _light(fitted: BaseMap) -> BaseMap:
    """The map with what it answers with alone, to be sent to other processes."""
    light = copy(fitted).set_params(init="random", on_epoch=None)
    for name in ("labels_", "history_"):
        vars(light).pop(name, None)
    return light


def fitted_on_dissimilarities(fitted: BaseMap) -> bool:
    metric = getattr(fitted, "metric", None)
    return isinstance(metric, str) and metric == "precomputed"


def _to_prototypes(fitted: BaseMap, block: Block) -> FloatArray:
    """(n, K); an object that the map refuses is named by its number and id."""
    try:
        return fitted._to_prototypes(block.objects)
    except ValueError as error:
        for i in range(len(block)):
            try:
                fitted._to_prototypes(_cut(block.objects, slice(i, i + 1)))
            except ValueError as alone:
                raise ValueError(f"Object {block.start + i} ({block.ids[i]!r}), here X[0]: {alone}") from None
        raise ValueError(f"Objects {block.start} to {block.start + len(block) - 1}: {error}") from None


def _cut(objects: Any, rows: slice) -> Any:
    return objects.iloc[rows] if hasattr(objects, "iloc") else objects[rows]


def _as_rows(fitted: BaseMap, X: Any) -> Any:
    """Dissimilarities to all training points in a form whose rows can be sliced."""
    if isinstance(X, str | PathLike):
        X = as_dissimilarity(X) if is_pair_store(Path(X)) else open_matrix(Path(X))
    if is_source(X):
        return SourceRows(X, slice(0, X.shape[0]))
    if hasattr(X, "condensed_form"):
        return NamedRows(X.data, [str(i) for i in X.ids])
    if n_dims(X) == 1 and condensed_size(len(X)) == fitted.n_features_in_:
        return _as_rows(fitted, as_dissimilarity(X))
    return X


def _ids_of(X: Any) -> Iterable[Any] | None:
    if hasattr(X, "iloc"):
        return X.index
    return X.source.ids if isinstance(X, SourceRows) else getattr(X, "ids", None)


def _refuse_no_sequence(X: Any) -> None:
    if isinstance(X, str | PathLike):
        raise ValueError(
            f"X is the name {str(X)!r}; pass the objects, for example medianmap.readers.iter_records({str(X)!r})."
        )
    if isinstance(X, bytes | Mapping | Set) or not (hasattr(X, "__iter__") or hasattr(X, "__getitem__")):
        raise ValueError(f"X is a {type(X).__name__}; pass a sequence or an iterator of objects.")
    if getattr(X, "shape", None) == ():
        raise ValueError("X is one number; pass a sequence of objects.")


def _of_sequence(X: Any, n: int, names: Iterator[Any], size: int) -> Iterator[Block]:
    for rows in panels(n, size):
        ids = _named(islice(names, rows.stop - rows.start), rows.start)
        if len(ids) < rows.stop - rows.start:
            raise ValueError(f"There are {rows.start + len(ids)} ids for {n} objects; give one id an object.")
        yield Block(rows.start, ids, _cut(X, rows))


def _of_stream(fitted: BaseMap, stream: Iterator[Any], ids: Iterable[Any] | None, size: int) -> Iterator[Block]:
    """Blocks of a stream of records, of (id, object) pairs or of objects."""
    first = next(stream, None)
    if first is None:
        return
    stream = chain([first], stream)
    names = iter(count() if ids is None else ids)
    paired = _is_pair(fitted, first)
    start = 0
    while items := list(islice(stream, size)):
        if isinstance(first, Record):
            own, objects = [record.id for record in items], [record.object for record in items]
        elif paired:
            own, objects = _unpaired(items, start)
        else:
            own, objects = None, items
        taken = own if ids is None and own is not None else list(islice(names, len(items)))
        if len(taken) < len(items):
            raise ValueError(f"There are {start + len(taken)} ids for more objects; give one id an object.")
        yield Block(start, _named(taken, start), objects)
        start += len(items)


def _is_pair(fitted: BaseMap, item: Any) -> bool:
    """Whether a stream that begins with this item is one of (id, object): not where tuples may be objects."""
    centers = getattr(fitted, "cluster_centers_", None)
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], str)
        and (centers is None or isinstance(centers[0], str | np.ndarray))
    )


def _unpaired(items: list[Any], start: int) -> tuple[list[str], list[Any]]:
    for k, item in enumerate(items):
        if not (isinstance(item, tuple) and len(item) == 2):
            raise ValueError(f"Object {start + k} is a {type(item).__name__}; those before it came as (id, object).")
    return [item[0] for item in items], [item[1] for item in items]


def _named(names: Iterable[Any], start: int) -> list[str]:
    """Names as text without the signs that part columns and lines."""
    ids = [str(name) for name in names]
    joined = "".join(ids)
    if any(sign in joined for sign in "\t\n\r"):
        k = next(k for k, name in enumerate(ids) if any(sign in name for sign in "\t\n\r"))
        raise ValueError(f"The id {ids[k]!r} of object {start + k} has a tab or a line's end in it; rename it.")
    return ids
