"""New objects in any form that `predict` takes, or as a stream -> blocks with ids -> dissimilarities to prototypes."""

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
from sklearn.utils.validation import check_is_fitted

from ..core.plane import MOST_GROUPS, grouped, symmetrized
from ..estimators.base import BaseMap
from ..readers.records import Matrix, Record, Records
from ..sources import Source, as_dissimilarity, check_queries
from ..sources.base import ALL, FloatArray, Index, IntArray, condensed_size, is_source, panels, with_objects
from ..sources.checks import n_dims
from ..sources.stored import is_pair_store, open_matrix
from ..utils.resumable import digest
from ..utils.threads import limited, n_threads, run_chunks

# Rows that one thread takes at a time; fewer than the chunk of `squared_distances`, which then starts no threads.
PART = 512


def map_of(model: Any) -> BaseMap:
    """The fitted map that answers for a model: a map itself, or the one inside a PatchClusterer or classifier."""
    check_is_fitted(model)
    fitted: BaseMap | None = getattr(model, "_answering_map", None)
    if fitted is None:
        raise TypeError(f"model is a {type(model).__name__}; pass a fitted map, PatchClusterer or classifier.")
    return fitted


def exemplar_places(fitted: Any) -> IntArray | None:
    """(K,) places in the training data of the prototypes, or of the points nearest to combinations; None for means."""
    places: IntArray | None = getattr(fitted, "medoid_indices_", getattr(fitted, "exemplar_indices_", None))
    return places


def prototype_dissimilarities(model: Any, X: Any = None) -> FloatArray:
    """P[j, l] = d(w_j, w_l) (K, K), row: as a data point, column: as a prototype; squared distances for batch maps.

    X : the training data of a map of metric="precomputed", in any form that it takes; other maps hold their prototypes.
    model : a fitted map, classifier or pass over patches.
    """
    fitted: Any = map_of(model)
    with limited(fitted.n_jobs):
        if not fitted._needs_matrix:
            return fitted._between_prototypes()
        if X is None:
            raise ValueError("The map holds no prototypes but their places in a matrix; pass the matrix as X.")
        queries, w, n = as_queries(fitted, X, None), fitted.medoid_indices_, fitted.n_features_in_
        if queries.n != n:
            raise ValueError(f"X holds {queries.n} rows, but the map was fitted on {n}; pass those.")
        if isinstance(queries.objects, SourceRows):
            return np.asarray(queries.objects.source.block(w, w), np.float64)
        return dissimilarities(fitted, next(queries.blocks(n)), fitted.n_jobs)[w]


def as_lengths(fitted: BaseMap, P: FloatArray) -> FloatArray:
    """P (K, K) as lengths to be laid out: the roots of squared distances, those of batch maps and "sqeuclidean"."""
    return np.sqrt(np.maximum(P, 0.0)) if fitted._squared else P  # between combinations rounding may leave less than 0


def groups_of(model: Any, X: Any = None) -> IntArray:
    """(K,) the group of each prototype: its supercluster; each is its own on a map of 8 prototypes or fewer.

    X : the matrix of a map that holds no prototypes. Without it, and without groups that are kept with the map, each
        prototype is its own group.
    """
    fitted: Any = map_of(model)
    K = len(fitted.hits_)
    kept: IntArray | None = getattr(fitted, "usual_", {}).get("groups")
    if kept is not None:
        return kept
    if fitted._needs_matrix and getattr(X, "shape", ()) != (fitted.n_features_in_,) * 2:
        return np.arange(K)
    if K <= MOST_GROUPS:
        return np.arange(K)
    return groups_among(fitted, prototype_dissimilarities(fitted, X), fitted.hits_)


def groups_among(estimator: BaseMap, P: FloatArray, hits: FloatArray) -> IntArray:
    """The same from the dissimilarities P (K, K) of the prototypes and the weights of their points."""
    K = len(P)
    found = np.arange(K) if K <= MOST_GROUPS else grouped(symmetrized(as_lengths(estimator, P)), hits)
    return found if found.any() else np.arange(K)


@dataclass(frozen=True)
class Block:
    """Consecutive objects: the number of the first, their ids, and the objects, which can be sliced."""

    start: int
    ids: list[str]
    objects: Any

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, rows: slice) -> Block:
        """The objects `rows` of the block."""
        return Block(self.start + rows.start, self.ids[rows], _cut(self.objects, rows))

    def signature(self) -> str:
        """Tells the block from others: by ids and objects, but by ids alone where a source may be slow to read."""
        objects = self.objects
        if isinstance(objects, SourceRows):
            objects = None
        elif isinstance(objects, ToPrototypes):
            objects = objects.D
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
    """Some rows (n, N) of a source as queries; a slice of them holds fewer rows."""

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
    condensed_form = None  # scikit-bio's matrices are recognised by this attribute

    @property
    def shape(self) -> tuple[int, int]:
        return self.data.shape[0], self.data.shape[1]

    def __getitem__(self, part: slice) -> NamedRows:
        return NamedRows(self.data[part], self.ids)


@dataclass(frozen=True)
class ToPrototypes:
    """Dissimilarities D (n, K) to the prototypes alone, as queries."""

    D: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int]:
        return self.D.shape[0], self.D.shape[1]

    def __getitem__(self, rows: slice) -> ToPrototypes:
        return ToPrototypes(self.D[rows])


@dataclass(frozen=True)
class Queries:
    """All objects: n of them in a form that can be sliced, or a stream of unknown length, n None."""

    fitted: BaseMap
    objects: Any
    names: Iterable[Any] | None  # None: those that records of a stream carry, or numbers
    n: int | None

    def blocks(self, size: int) -> Iterator[Block]:
        """Blocks of `size` objects, at least one; a stream can be read only once."""
        if self.n is None:
            blocks = _of_stream(self.fitted, self.objects, self.names, size)
        else:
            names = iter(range(self.n) if self.names is None else self.names)
            blocks = _of_sequence(self.objects, self.n, names, size)
        block = None
        for block in blocks:
            yield block
        if block is None:
            raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")

    def sample(self) -> str:
        """Tells a source from others by a few of its dissimilarities; other objects have one signature per block."""
        if not isinstance(self.objects, SourceRows):
            return "objects"
        return digest(self.fitted._to_prototypes(self.objects[:64]))


def as_queries(fitted: BaseMap, X: Any, ids: Iterable[Any] | None) -> Queries:
    """The objects in X for this map; ids : their names, by default those that X carries."""
    if isinstance(X, Matrix | Records):
        ids = X.ids if ids is None else ids
        columns = getattr(X, "columns", None) or ()
        X = X.D if isinstance(X, Matrix) else X.objects
        if fitted._needs_matrix:
            X = _by_prototype(fitted, X, columns)
    if fitted._reads_matrix() and not isinstance(X, ToPrototypes):
        X = _as_rows(fitted, X)
    elif is_source(X) and with_objects(X) is not None:
        ids, X = X.ids if ids is None else ids, X.objects  # type: ignore[attr-defined]
    _refuse_no_sequence(X)
    if hasattr(X, "__next__") or not hasattr(X, "__getitem__"):
        return Queries(fitted, iter(X), ids, None)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    names = _ids_of(X) if ids is None else ids
    given = getattr(names, "__len__", lambda: n)()
    if given != n:
        raise ValueError(f"There are {given} ids for {n} objects; give one id per object.")
    return Queries(fitted, X, names, n)


def dissimilarities(fitted: BaseMap, block: Block, n_jobs: int | None) -> FloatArray:
    """(n, K) from the objects of the block to the prototypes, as `transform` gives them.

    n_jobs : threads; processes where more than one is asked for and the metric holds Python's lock.
    """
    K = len(fitted.hits_)
    if isinstance(block.objects, ToPrototypes):
        return np.asarray(check_queries(block.objects.D, K, "prototype", type(fitted).__name__), np.float64)
    if isinstance(block.objects, SourceRows):  # a source uses threads itself, or waits for a disk
        return _to_prototypes(fitted, block)
    G = np.empty((len(block), K))
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
    """Whether the map's metric can run in one thread at a time only; means of vectors have no metric."""
    bound = None if fitted._reads_matrix() else fitted._object_metric(fitted=True)
    return bound is not None and not (bound.metric.threaded or bound.metric.own_threads)


def _light(fitted: BaseMap) -> BaseMap:
    """The map without what it does not need to answer, to be sent to other processes."""
    light = copy(fitted).set_params(init="random", on_epoch=None)
    for name in ("labels_", "history_"):
        vars(light).pop(name, None)
    return light


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


def _by_prototype(fitted: Any, X: Any, columns: Sequence[str]) -> Any:
    """Dissimilarities whose columns are the prototypes alone, or name them; other contents of a file unchanged."""
    if np.ndim(X) != 2:
        return X
    D, K, N = np.asarray(X), len(fitted.hits_), fitted.n_features_in_
    place = {name: k for k, name in enumerate(columns)}
    wanted = getattr(fitted, "prototype_ids_", ())
    if wanted and all(name in place for name in wanted):
        return ToPrototypes(D[:, [place[name] for name in wanted]])
    if D.shape[1] == K != N:
        return ToPrototypes(D)
    if D.shape[1] != N:
        raise ValueError(f"X has {D.shape[1]} columns; give one for each of {N} training points or of {K} prototypes.")
    return X


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
        raise ValueError(f"X is the name {str(X)!r}; pass the objects, for example readers.iter_records({str(X)!r}).")
    if isinstance(X, bytes | Mapping | Set) or not (hasattr(X, "__iter__") or hasattr(X, "__getitem__")):
        raise ValueError(f"X is a {type(X).__name__}; pass a sequence or an iterator of objects.")
    if getattr(X, "shape", None) == ():
        raise ValueError("X is one number; pass a sequence of objects.")


def _of_sequence(X: Any, n: int, names: Iterator[Any], size: int) -> Iterator[Block]:
    for rows in panels(n, size):
        yield Block(rows.start, _named(names, rows.start, rows.stop - rows.start, str(n)), _cut(X, rows))


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
        taken = names if ids is not None or own is None else iter(own)
        yield Block(start, _named(taken, start, len(items), "more"), objects)
        start += len(items)


def _is_pair(fitted: BaseMap, item: Any) -> bool:
    """Whether a stream that begins with this item yields (id, object) pairs: not where tuples may be objects."""
    centers = getattr(fitted, "cluster_centers_", None)
    never_tuples = centers is None or isinstance(centers[0], str | np.ndarray)
    return never_tuples and isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)


def _unpaired(items: list[Any], start: int) -> tuple[list[str], list[Any]]:
    for k, item in enumerate(items):
        if not (isinstance(item, tuple) and len(item) == 2):
            raise ValueError(f"Object {start + k} is a {type(item).__name__}; those before it came as (id, object).")
    return [item[0] for item in items], [item[1] for item in items]


def _named(names: Iterator[Any], start: int, n: int, total: str) -> list[str]:
    """The next n names as text, without the characters that separate columns and lines."""
    ids = [str(name) for name in islice(names, n)]
    if len(ids) < n:
        raise ValueError(f"There are {start + len(ids)} ids for {total} objects; give one id per object.")
    joined = "".join(ids)
    if any(sign in joined for sign in "\t\n\r"):
        k = next(k for k, name in enumerate(ids) if any(sign in name for sign in "\t\n\r"))
        raise ValueError(f"The id {ids[k]!r} of object {start + k} contains a tab or line break; rename it.")
    return ids
