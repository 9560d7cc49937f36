"""`as_dissimilarity`: whatever a user has, a matrix, a file, a database or objects and a metric, becomes a source."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.registry import bind
from ..utils.arrays import is_tensor
from ..utils.checks import check_choice, check_ids, refuse_duplicate_ids
from ..utils.device import asked, check_device, chosen, in_memory, on_card
from ..utils.resumable import journal_path
from . import base, tensors
from .base import ALL, CondensedSource, DenseSource, Source, SubsetSource, panels, points_to, rows_per_panel
from .checks import as_numbers, as_objects, check_entries, check_queries, is_symmetric, refuse_bad_entries
from .computed import ComparedSource, ComputedSource
from .duckdb import PairSource
from .postgres import PostgresSource
from .similarity import RULES, SimilarityRule, by_function, from_similarities
from .stored import is_pair_store, open_matrix, open_npy, open_store, sidecar_path, write_store

__all__ = [
    "ALL", "ComparedSource", "ComputedSource", "CondensedSource", "DenseSource", "PairSource", "PostgresSource",
    "Source", "SubsetSource", "as_dissimilarity", "check_entries", "check_queries", "column_ids", "computed",
    "ids_and_array", "in_order", "is_store", "open_npy", "open_store", "panels", "points_to", "precomputed", "row_ids",
    "rows_per_panel", "write_store",
]  # fmt: skip


def as_dissimilarity(
    X: Any, metric: str | Callable[[Any, Any], float] = "precomputed", *,
    metric_params: Mapping[str, Any] | None = None, ids: Sequence[str] | None = None, symmetric: bool | None = None,
    n_jobs: int | None = None, matrix: Any = None, similarity: SimilarityRule | None = None, device: str | None = None,
    dtype: str | None = None, stream: bool = False,
) -> Source:  # fmt: skip
    """Turn what you have into a source of dissimilarities that every median map accepts.

    Parameters
    ----------
    X : with metric="precomputed": a square array (N, N), a memory map, the path of a .npy file (opened as a memory
        map; ids and symmetry come from the sidecar that `all_pairs` and `write_store` write), a SciPy condensed
        vector, a pandas DataFrame or a scikit-bio DistanceMatrix (their ids are kept), the path of a Parquet file or
        DuckDB database that holds a table of pairs (see `PairSource`), or a source.
        With any other metric: the objects themselves, (N, M) vectors or a sequence of N strings or other objects.
    metric : "precomputed", a registered name, a SciPy or scikit-learn metric name, a function of two objects, or a
        numba-compiled function.
    metric_params : keyword arguments of the metric.
    ids : N names; by default those that X carries.
    symmetric : None finds out (one pass over a matrix); True or False is believed. Columns of a symmetric matrix are
        read as rows, so a wrong True gives wrong results.
    n_jobs : threads for metrics that can use them.
    matrix : the dissimilarities of the objects X by this metric, computed before, in any form that metric="precomputed"
        takes. They are read and nothing is computed; a map fitted with this metric still has exemplar objects and
        compares new ones.
    similarity : X holds similarities, and this is how they become dissimilarities: "kernel" (s_aa + s_bb - 2 s_ab),
        "kernel-clip", "kernel-flip" or "kernel-shift" (the same without negative eigenvalues), "1-s", "1-s/100",
        "max-s", "-log", "normalized" (1 - s_ab / sqrt(s_aa s_bb)) or a function of an array. A memory map stays on
        disk. A warning tells of a kernel's negative eigenvalues.
    device : where the matrix is to be: None or "cpu" for main memory, "cuda" or "cuda:1" for a card (the extra `gpu`),
        "auto" for a card where that gains, "torch:cpu" for tensors in main memory. Maps of it are fitted there. A
        matrix is copied panel by panel; Euclidean, squared Euclidean, cosine, correlation, cityblock and Hamming
        distances of vectors are computed there, all others here. A tensor of torch or CuPy that lies on a card is used
        where it lies, without `device` and without a copy.
    dtype : with a device, the type of the entries there: "float64", "float32", "float16" or "bfloat16"; None keeps
        that of a matrix, and takes float32 for what is computed there.
    stream : with a device, leave the matrix where it is, in main memory or on disk, and copy panels whenever they are
        needed: for one that the card cannot hold.

    Nothing else is copied: a float32 array stays float32, and a memory map stays on disk.
    """
    if device is None and dtype is None and not stream and metric == "precomputed" and on_card(X):
        return tensors.of_tensor(X, symmetric, None if ids is None else check_ids(ids, len(X)))
    if check_device(device) is not None or dtype is not None or stream:
        others = {"metric_params": metric_params, "n_jobs": n_jobs, "matrix": matrix, "similarity": similarity}
        return _on_device(X, metric, others, ids, symmetric, device, dtype, stream)
    if similarity is not None:
        if metric != "precomputed" or matrix is not None:
            raise ValueError(
                f"similarity={similarity!r} converts a matrix of similarities, and metric={metric!r} compares objects; "
                "drop one of them."
            )
        return _of_similarities(X, similarity, ids, symmetric)
    if base.is_source(X):
        if ids is not None or symmetric is not None or metric != "precomputed":
            raise ValueError("X is a source already, with its ids and symmetry; drop metric, ids and symmetric.")
        return X
    if metric == "precomputed":
        if metric_params or matrix is not None:
            given = "metric_params were" if metric_params else "matrix was"
            raise ValueError(f"{given} given, but metric='precomputed' compares no objects; drop it or name a metric.")
        if isinstance(X, str | PathLike) and is_pair_store(Path(X)):
            return PairSource(X, ids=ids, symmetric=symmetric)
        return with_ids(precomputed(X, symmetric=symmetric), ids)
    try:
        source = computed(X, metric, metric_params=metric_params, n_jobs=n_jobs)
    except ValueError as error:
        raise ValueError(_naming(str(error), ids)) from None
    bound = source.metric.resolved(source.objects, np.ones(len(source.objects)))
    if matrix is not None:
        stored = as_dissimilarity(matrix, symmetric=symmetric)
        names = stored.ids if ids is None else check_ids(ids, stored.shape[0])
        return ComparedSource(source.objects, bound, names, columns=column_ids(X), matrix=stored)
    if symmetric is not None:
        bound = replace(bound, metric=replace(bound.metric, symmetric=symmetric))
    return with_ids(replace(source, metric=bound), ids)


def _on_device(
    X: Any, metric: Any, others: dict[str, Any], ids: Sequence[str] | None, symmetric: bool | None, device: str | None,
    dtype: str | None, stream: bool,
) -> Source:  # fmt: skip
    """What `as_dissimilarity` makes of X with a device, or of a tensor."""
    if not asked(device) and (dtype is not None or stream):
        what = f"dtype={dtype!r}" if dtype is not None else "stream=True"
        raise ValueError(f"{what} says how a matrix is kept on a device, and none is named; pass device='cuda'.")
    named = asked(device) and device != "auto"
    if metric == "precomputed" and ((on_card(X) and device != "cpu") or (is_tensor(X) and named)):
        source: Source = tensors.of_tensor(X, symmetric, None if ids is None else check_ids(ids, len(X)))
    else:
        # Whether D[i, l] = D[l, i] is found on the device much sooner.
        later = named and not stream and metric == "precomputed" and isinstance(X, np.ndarray) and X.ndim == 2
        believed = False if later and symmetric is None else symmetric
        source = as_dissimilarity(in_memory(X), metric, ids=ids, symmetric=believed, **others)
    place = chosen(device, source.shape[0], source.shape[0] ** 2 * 4)
    if place is None:
        return source
    held = base.with_objects(source)
    matrix = source.matrix if isinstance(source, ComparedSource) else source
    there = tensors.tensor_source(matrix, place, dtype=dtype, symmetric=symmetric, stream=stream)
    if held is None:
        return there
    return ComparedSource(held.objects, held.metric, held.ids, columns=held.columns, matrix=there)


def _of_similarities(X: Any, rule: SimilarityRule, ids: Sequence[str] | None, symmetric: bool | None) -> Source:
    """The matrix of similarities X as dissimilarities, in memory unless X is on disk or too large."""
    if isinstance(X, str | PathLike) and is_pair_store(Path(X)):
        raise ValueError(f"{X} is a table of pairs, whose values are read as they are; convert them there.")
    given: Any = X if base.is_source(X) else precomputed(X, symmetric=symmetric)
    if isinstance(given, CondensedSource):
        raise ValueError(
            "A condensed vector holds no similarity of a point with itself; pass the square matrix of similarities."
        )
    given = with_ids(given, ids)
    S = getattr(given, "D", None)
    if callable(rule):
        by_rule = by_function(rule, given.block(ALL, ALL).astype(np.float64), given.ids)
        return DenseSource(by_rule, is_symmetric(by_rule), given.ids)
    check_choice(rule, "similarity", [*RULES])
    whole = base.fits(given.shape[0]) and not isinstance(S, np.memmap)
    source, D, said = from_similarities(given, rule, whole=whole)
    if said:
        warnings.warn(f"{said}.", UserWarning, stacklevel=3)
    return source if D is None else DenseSource(D, source.symmetric, source.ids)


def _naming(sentence: str, ids: Sequence[str] | None) -> str:
    """'X[3] is ...' -> "X[3] ('its id') is ...": users know the records of a file by their ids."""
    at = re.match(r"X\[(\d+)\]", sentence)
    if at is None or ids is None or int(at[1]) >= len(ids):
        return sentence
    return f"{at[0]} ({ids[int(at[1])]!r}){sentence[at.end() :]}"


def is_store(path: Path) -> bool:
    """Whether the path holds dissimilarities with ids: a matrix with a sidecar, or still being computed, or pairs."""
    return is_pair_store(path) or sidecar_path(path).exists() or journal_path(path).exists()


def with_ids(source: Any, ids: Sequence[str] | None) -> Any:
    """The source with the ids given; without, with its own."""
    return source if ids is None else replace(source, ids=check_ids(ids, source.shape[0]))


def computed(
    X: Any, metric: Any, *, metric_params: Mapping[str, Any] | None = None, n_jobs: int | None = None
) -> ComputedSource:
    """Objects and a metric as a source; parameters that the data determine are not filled in yet."""
    bound = bind(metric, metric_params)
    return ComputedSource(as_objects(X, bound), bound, row_ids(X), n_jobs)


def precomputed(X: Any, *, symmetric: bool | None = None) -> DenseSource | CondensedSource:
    """A matrix in any of its forms as a Source; shape and type are checked here, entries by `check_entries`."""
    path = Path(X) if isinstance(X, str | PathLike) else None
    if path is not None:
        X = open_matrix(path)
        if isinstance(X, DenseSource):
            return X if symmetric is None else replace(X, symmetric=symmetric)
    ids, D = ids_and_array(X)
    if D.size == 0:
        empty = "feature" if D.ndim == 2 and D.shape[0] else "sample"
        raise ValueError(f"Found array with 0 {empty}(s) (shape={D.shape}) while a minimum of 1 is required.")
    if D.ndim == 1:
        n = base.condensed_size(len(D))
        if n is None:
            raise ValueError(
                f"A 1-D array of {len(D)} entries is neither a square matrix nor a condensed vector, whose length is "
                "N (N - 1) / 2. Pass a square matrix, or reshape your data to (n_samples, n_features) with a metric."
            )
        if symmetric is False:
            raise ValueError("A condensed vector holds one entry per pair; pass the square matrix instead.")
        return CondensedSource(D, n, ids)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        refuse_bad_entries(D)
        raise ValueError(
            f"A precomputed dissimilarity must be a square matrix; this array has shape {D.shape}. "
            "For vectors choose a metric, for example metric='euclidean'."
        )
    promised = is_symmetric(D) if symmetric is None else symmetric
    return DenseSource(D, promised, ids, None if path is None else path.resolve())


def ids_and_array(X: Any) -> tuple[list[str] | None, NDArray[Any]]:
    """The ids that X carries (pandas, scikit-bio) and its numbers, without a copy where the container allows."""
    if hasattr(X, "condensed_form") and hasattr(X, "ids"):  # scikit-bio
        return [str(i) for i in X.ids], as_numbers(X.data)
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        return frame_ids(X), as_numbers(X.to_numpy())
    return None, as_numbers(X)


def frame_ids(frame: Any) -> list[str] | None:
    """Ids of a square DataFrame: its row names, or its column names; None if both are just 0, 1, 2, ..."""
    rows, cols = column_ids(frame.T), column_ids(frame)
    if rows is not None and cols is not None and len(rows) == len(cols) and rows != cols:
        k = next(k for k in range(len(rows)) if rows[k] != cols[k])
        raise ValueError(
            f"Row {k} of the frame is named {rows[k]!r} but column {k} is named {cols[k]!r}; "
            "put rows and columns in the same order, for example frame.loc[ids, ids]."
        )
    ids = cols if rows is None else rows
    if ids is not None:
        refuse_duplicate_ids(ids, "The frame", "row")
    return ids


def row_ids(X: Any) -> list[str] | None:
    """Names of the objects in a frame or Series, its index, as text; None if there are none, or twice the same."""
    if not (hasattr(X, "iloc") and hasattr(X, "index")):
        return None
    names = [str(name) for name in X.index]
    numbered = names == [str(k) for k in range(len(names))]
    return None if numbered or len(set(names)) < len(names) else names


def in_order(values: Any, ids: Sequence[str] | None, what: str) -> Any:
    """A frame or Series with the ids as its index in the order of the ids; everything else as it is."""
    names = row_ids(values)
    if names is None or ids is None or list(ids) == names:
        return values
    place = {name: k for k, name in enumerate(names)}
    if not place.keys() & set(ids):
        return values  # an index of something else, such as places in a larger table
    missing = [each for each in ids if each not in place]
    if missing:
        raise ValueError(
            f"The index of {what} lacks {len(missing)} of {len(ids)} points, first {missing[0]!r}; add them."
        )
    return values.iloc[[place[each] for each in ids]]


def column_ids(X: Any) -> list[str] | None:
    """Names of the columns of a frame or a scikit-bio matrix as text; None if there are none, or just 0, 1, 2, ..."""
    if hasattr(X, "condensed_form") and hasattr(X, "ids"):
        return [str(i) for i in X.ids]
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return None
    names = [str(name) for name in X.columns]
    return None if names == [str(k) for k in range(len(names))] else names
