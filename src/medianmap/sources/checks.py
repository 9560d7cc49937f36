"""Where a bad matrix is refused, and bad objects: vectors, strings, other objects and matrices as the user passes them;
and where numbers of extreme size are brought to about 1.

Matrices are read panel by panel, so that a memory map is never loaded whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.base import BoundMetric
from ..utils.device import in_memory
from .base import ALL, LARGE, FloatArray, Index, OwnSource, Source, is_source, panels, rows_per_panel

# Rows and columns that are compared at a time: a tile and its mirror image fit in the second-level cache.
TILE = 256


def check_entries(source: Source, total_weight: float = 1.0) -> float:
    """The largest entry; ValueError that names the first NaN, infinite or negative one, one warning for a non-zero
    diagonal.

    total_weight : weight of all points times the number of prototypes; sums of so many entries must not overflow.
    """
    n = source.shape[0]
    diagonal = np.empty(n)
    largest = 0.0
    for rows in panels(n, rows_per_panel(n)):
        panel = source.block(rows, ALL)
        largest = max(largest, refuse_bad_entries(panel, rows.start))
        diagonal[rows] = panel[np.arange(panel.shape[0]), np.arange(rows.start, rows.stop)]
    warn_of_diagonal(diagonal, largest)
    refuse_overflow_of_costs(largest, n, total_weight)
    return largest


def refuse_overflow_of_costs(largest: float, n: int, total_weight: float) -> None:
    """ValueError if the costs of n points, whose largest dissimilarity this is, are beyond the range of floats."""
    if largest > np.finfo(np.float64).max / max(total_weight, n):
        raise ValueError(
            f"The largest dissimilarity is {largest:g} and the weights sum to {total_weight:g}: costs overflow. "
            "Divide the matrix or the weights by a constant."
        )


def refuse_bad_entries(panel: NDArray[Any], first_row: int = 0, places: Sequence[NDArray[np.intp]] = ()) -> float:
    """The largest entry; ValueError for the first, in row order, that is NaN, infinite or negative.

    places : what messages call the rows and columns of the panel; their numbers by default.
    """
    # Two reductions and no temporary in the usual case: NaN fails any comparison, infinity is the maximum.
    largest = panel.max(initial=0)
    if panel.size == 0 or (panel.min() >= 0 and largest < np.inf):
        return float(largest)
    at = tuple(np.argwhere(~((panel >= 0) & (panel < np.inf)))[0])
    value = panel[at]
    names = [place[k] for place, k in zip(places, at, strict=True)] if places else (first_row + at[0], *at[1:])
    where = f"D[{', '.join(map(str, names))}]"
    if np.isnan(value):
        raise ValueError(f"{where} is NaN; every pair needs a dissimilarity. Fill in missing entries or drop points.")
    if value > 0:
        raise ValueError(f"{where} is inf; dissimilarities must be finite. Replace it by a large number.")
    raise ValueError(
        f"{where} is {value:g}; dissimilarities must be >= 0. "
        "Negative values in data: subtract the minimum or pass a distance."
    )


def warn_of_diagonal(diagonal: NDArray[Any], largest: float) -> None:
    """One warning if a point differs from itself by more than rounding; such matrices are allowed."""
    off = np.flatnonzero(diagonal > 1e-12 * largest)
    if len(off):
        i = off[0]
        warnings.warn(
            f"The diagonal is not zero at {len(off)} of {len(diagonal)} points (first D[{i}, {i}] = {diagonal[i]:g}); "
            "it is used as given. If these are similarities, convert them to dissimilarities first.",
            UserWarning,
            stacklevel=2,
        )


def is_symmetric(D: NDArray[Any]) -> bool:
    """D[i, l] == D[l, i] for all pairs, to the last bit, compared tile by tile (a transposed copy is never made)."""
    n = D.shape[0]
    for rows in panels(n, TILE):
        for cols in panels(n, TILE):
            if cols.start >= rows.start and not np.array_equal(D[rows, cols], D[cols, rows].T):
                return False
    return True


def check_queries(D: Any, n_columns: int, what: str, who: str, signed: bool = False) -> NDArray[Any]:
    """(n_query, n_columns) dissimilarities from queries to training points or prototypes; negative ones if signed."""
    D = as_numbers(D.to_numpy() if hasattr(D, "iloc") else D)
    if D.ndim != 2:
        raise ValueError(f"Expected a 2-D array (n_query, {n_columns}), got a {D.ndim}-D array. Reshape your data.")
    for rows in panels(D.shape[0], rows_per_panel(max(1, D.shape[1]))):
        refuse_bad_entries(np.abs(D[rows]) if signed else D[rows], rows.start)
    if D.shape[1] != n_columns:
        raise ValueError(
            f"X has {D.shape[1]} features, but {who} is expecting {n_columns} features as input: one for each {what}."
        )
    return D


def check_vectors(X: Any, metric_name: str = "euclidean", *, allow_nan: bool = False) -> NDArray[Any]:
    """(N, M) finite numbers; ValueError names strings and missing values by their place."""
    if is_source(X):
        raise ValueError("X is a source of dissimilarities, where vectors are needed; pass an array (N, M) of numbers.")
    from sklearn.utils.validation import check_array  # a second of imports, which reading a file does not wait for

    X = in_memory(X)
    refuse_text(X, metric_name)
    X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
    good = ~np.isinf(X) if allow_nan else np.isfinite(X)
    if not good.all():
        i, k = np.argwhere(~good)[0]
        found = "NaN" if np.isnan(X[i, k]) else "inf"
        raise ValueError(f"X[{i}, {k}] is {found}; vectors must be finite numbers. Fill in or drop that value.")
    return X


def n_dims(X: Any) -> int:
    """Dimensions of an array, a frame or nested lists (judged by first elements); 0 for anything else."""
    if hasattr(X, "shape"):
        return len(X.shape)
    return 1 + (n_dims(X[0]) if X else 0) if isinstance(X, list | tuple) else 0


def columns_of(X: Any) -> dict[str, Any]:
    """n_features_in_ and feature_names_in_, as scikit-learn finds them, where X has columns."""
    if type(X) is np.ndarray and X.ndim == 2:
        return {"n_features_in_": X.shape[1]}
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data

    scratch = BaseEstimator()
    validate_data(scratch, X, skip_check_array=True)
    return vars(scratch)


def columns_of_objects(X: Any, objects: Any) -> dict[str, Any]:
    """The same of objects, as X has or holds them; strings and other objects have no columns."""
    if not isinstance(objects, np.ndarray):
        return {}
    if not is_source(X):
        return columns_of(X if n_dims(X) == 2 else objects)
    names = getattr(X, "columns", None)
    return columns_of(objects) | ({} if names is None else {"feature_names_in_": np.array(names, object)})


def refuse_text(X: Any, metric_name: str) -> None:
    """ValueError for strings given to a metric of vectors; it names metrics that take strings."""
    first = X.to_numpy() if hasattr(X, "iloc") else X
    for _ in range(n_dims(first)):
        if not isinstance(first, list | tuple | np.ndarray) or not len(first):
            return
        first = first[0]
    if isinstance(first, str | bytes):
        raise ValueError(
            f"X holds strings, but the metric {metric_name!r} compares vectors; "
            "choose a metric of strings, for example 'edit' or 'hamming-strings', or pass a function of two strings."
        )


def as_objects(X: Any, metric: BoundMetric, *, vectors: bool | None = None) -> Any:
    """What the metric compares: an array (N, M) of vectors, or a list of N strings or other objects.

    vectors : for a metric of any objects, whether the rows of X are vectors; None decides by X (a numeric table or
        nested lists of numbers are vectors), prediction follows the training data.
    """
    accepts = metric.metric.accepts
    if accepts == "vectors":
        return check_vectors(X, metric.name, allow_nan=metric.metric.allow_nan)
    if accepts == "objects" and (_is_numeric_table(X) if vectors is None else vectors):
        return check_vectors(X, metric.name, allow_nan=True)
    is_frame = hasattr(X, "iloc") and hasattr(X, "columns")
    if is_frame and accepts in ("objects", "mixed tables"):
        return metric.prepared(list(X.itertuples(index=False, name=None)))
    if is_frame or isinstance(X, str | bytes | Mapping | Set) or not hasattr(X, "__len__"):
        what = "one column of the frame, for example frame['sequence']" if is_frame else "a list of objects"
        raise ValueError(f"X is a {type(X).__name__}; pass a sequence of objects, one per data point: {what}.")
    if accepts.startswith("strings") and isinstance(X, np.ndarray) and X.ndim != 1:
        raise ValueError(
            f"The metric {metric.name!r} compares strings; this array has shape {X.shape}. Pass a list of strings."
        )
    objects = list(X)
    if not objects:
        raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")
    if accepts == "strings":
        odd = next((i for i, s in enumerate(objects) if not isinstance(s, str)), None)
        if odd is not None:
            raise ValueError(f"X[{odd}] is a {type(objects[odd]).__name__}; for {metric.name!r} pass strings.")
        objects = [str(s) for s in objects]
    return metric.prepared(objects)


def _is_numeric_table(X: Any) -> bool:
    """A 2-D array of numbers, a frame of numbers, or nested lists of numbers; tuples and other things are objects."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return X.to_numpy().dtype.kind in "fiub"
    if isinstance(X, np.ndarray):
        return X.ndim == 2 and X.dtype.kind in "fiub"
    if not (isinstance(X, list) and X and all(isinstance(row, list) for row in X)):
        return False
    return len({len(row) for row in X}) == 1 and all(isinstance(x, Real) for row in X for x in row)


def as_numbers(X: Any) -> NDArray[Any]:
    """X as an array of real numbers, without a copy if it is one already; a memory map stays a memory map."""
    if hasattr(X, "toarray"):
        raise TypeError("Sparse data was passed, but zeros of dissimilarities mean 'identical'; use X.toarray().")
    X = in_memory(X)
    if np.ma.is_masked(X):
        raise ValueError("Some entries of the matrix are masked; every pair needs a dissimilarity. Fill them in.")
    try:
        D = X if isinstance(X, np.ndarray) else np.asarray(X)
    except ValueError:
        raise ValueError("The rows of the matrix have different lengths; give each as many entries.") from None
    if D.ndim == 0:
        raise ValueError(f"X is a {type(X).__name__}; pass a matrix of dissimilarities.")
    if D.dtype.kind == "c":
        raise ValueError("Complex data not supported: dissimilarities are real numbers. Pass absolute values.")
    if D.dtype.kind == "O":
        try:
            D = D.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"The matrix has an entry that is not a number: {error}. Correct or drop it.") from None
    if D.dtype.kind not in "fiub":
        raise ValueError(f"The matrix has entries of type {D.dtype}; convert them to real numbers.")
    return D


def n_different(X: Any) -> int:
    """How many of the objects or vectors X are not the same as an earlier one."""
    try:
        return len({_same(each) for each in X})
    except TypeError:  # what has no hash may have a text
        return len({repr(each) for each in X})


def _same(each: Any) -> Any:
    """Equal for equal objects, with a hash; of arrays the bytes."""
    if isinstance(each, np.ndarray):
        return tuple(each.tolist()) if each.dtype.kind == "O" else each.tobytes()
    return each


def n_apart(D: Any) -> int:
    """How many points of a matrix D (N, N), an array, have no earlier point at dissimilarity 0."""
    return sum(not (D[i, :i] == 0).any() for i in range(len(D)))


# --- numbers of extreme size ------------------------------------------------------------------------------------------
#
# Dissimilarities and weights are brought to about 1, each by a power of two. Multiplied by a power of two a float keeps
# all its bits, so whatever is compared afterwards compares as before, and sums stay inside the range of floats, of
# float32 where a search screens with it. What is between 2^LARGE and its inverse is left as it is: it would come to the
# same bits. What a power of two cannot bring into the range is refused.

# The exponent up to which the largest weight is left as it is, as LARGE is that of the largest dissimilarity: sums of
# products of both over 2^30 points are inside the range of float32.
HEAVY = 30
# What is smaller than the largest by this power of two would lose bits beside it.
SPAN = 1021


@dataclass(frozen=True)
class ScaledSource(OwnSource):
    """D / 2^exponent of another source, scaled block by block as it is read; in float64, which holds any float32."""

    base: Source
    exponent: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @property
    def symmetric(self) -> bool:
        return self.base.symmetric

    @property
    def ids(self) -> Sequence[str] | None:
        return self.base.ids

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        return np.ldexp(self.base.block(rows, cols).astype(np.float64, copy=False), -self.exponent)


def exponent_of(largest: float, at_most: int) -> int:
    """e with largest / 2^e in [0.5, 1); 0 where largest is 0 or its own exponent no larger in size than at_most."""
    e = int(np.frexp(largest)[1])
    return e if largest > 0 and abs(e) > at_most else 0


def scaled(source: Source, largest: float) -> Source:
    """The source, or one of the same dissimilarities brought to about 1; ValueError if that would lose some."""
    e = exponent_of(largest, LARGE)
    if e == 0:
        return source
    if e > 0 and source.dtype != np.float32:  # only what is scaled down can be lost, and float32 has nothing so small
        least, n = np.ldexp(1.0, e - SPAN), source.shape[0]
        for rows in panels(n, rows_per_panel(n)):
            panel = source.block(rows, ALL)
            lost = (panel > 0) & (panel < least)
            if lost.any():
                i, l = np.argwhere(lost)[0]
                raise ValueError(
                    f"D[{rows.start + i}, {l}] is {panel[i, l]:g} and the largest dissimilarity {largest:g}: they are "
                    "too far apart for sums of both. Set what is so small to 0."
                )
    return ScaledSource(source, e)


def scaled_weights(m: FloatArray) -> tuple[FloatArray, int]:
    """Weights m (N,) brought to about 1, and the exponent e of the 2^e by which they were divided."""
    heaviest = float(m.max())
    e = exponent_of(heaviest, HEAVY)
    lost = np.flatnonzero((m > 0) & (m < np.ldexp(1.0, e - SPAN)))
    if e > 0 and len(lost):
        raise ValueError(
            f"sample_weight[{lost[0]}] is {m[lost[0]]:g} and the largest weight {heaviest:g}: they are too far apart "
            "for sums of both. Set what is so small to 0."
        )
    return (np.ldexp(m, -e) if e else m), e
