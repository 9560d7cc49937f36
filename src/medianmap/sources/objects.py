"""What a user passes as data, as the metrics want it: vectors, strings, other objects, or a matrix of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Set
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from ..metrics.base import BoundMetric


def check_vectors(X: Any, metric_name: str = "euclidean", *, allow_nan: bool = False) -> NDArray[Any]:
    """(N, M) finite numbers; strings and missing values are named by their place."""
    refuse_text(X, metric_name)
    X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
    good = ~np.isinf(X) if allow_nan else np.isfinite(X)
    if not good.all():
        i, k = np.argwhere(~good)[0]
        found = "NaN" if np.isnan(X[i, k]) else "inf"
        raise ValueError(f"X[{i}, {k}] is {found}; vectors must be finite numbers. Fill in or drop that value.")
    return X


def n_dims(X: Any) -> int:
    """Dimensions of an array, a frame or nested lists (as deep as first elements go); 0 for anything else."""
    if hasattr(X, "shape"):
        return len(X.shape)
    return 1 + (n_dims(X[0]) if X else 0) if isinstance(X, list | tuple) else 0


def refuse_text(X: Any, metric_name: str) -> None:
    """Strings given to a metric of vectors: say which metric would take them."""
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

    vectors : for a metric of anything, whether the rows of X are vectors; None looks at X (a numeric table or nested
        lists of numbers are), prediction follows the training data.
    """
    if metric.accepts == "vectors":
        return check_vectors(X, metric.name, allow_nan=metric.metric.allow_nan)
    if metric.accepts == "objects" and (_is_numeric_table(X) if vectors is None else vectors):
        return check_vectors(X, metric.name, allow_nan=True)
    is_frame = hasattr(X, "iloc") and hasattr(X, "columns")
    if is_frame and metric.accepts in ("objects", "mixed tables"):
        return metric.prepared(list(X.itertuples(index=False, name=None)))
    if is_frame or isinstance(X, str | bytes | Mapping | Set) or not hasattr(X, "__len__"):
        what = "one column of the frame, for example frame['sequence']" if is_frame else "a list of objects"
        raise ValueError(f"X is a {type(X).__name__}; pass a sequence of objects, one a data point: {what}.")
    if metric.accepts.startswith("strings") and isinstance(X, np.ndarray) and X.ndim != 1:
        raise ValueError(
            f"The metric {metric.name!r} compares strings; this array has shape {X.shape}. Pass a list of strings."
        )
    objects = list(X)
    if not objects:
        raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")
    if metric.accepts == "strings":
        odd = next((i for i, s in enumerate(objects) if not isinstance(s, str)), None)
        if odd is not None:
            raise ValueError(
                f"X[{odd}] is a {type(objects[odd]).__name__}; the metric {metric.name!r} compares strings."
            )
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
    """X as an array of real numbers, without a copy where it is one already; a memory map stays a memory map."""
    if hasattr(X, "toarray"):
        raise TypeError(
            "Sparse data was passed, but the zeros of a dissimilarity matrix mean 'identical'; use X.toarray()."
        )
    if np.ma.is_masked(X):
        raise ValueError("Some entries of the matrix are masked; every pair needs a dissimilarity. Fill them in.")
    try:
        D = X if isinstance(X, np.ndarray) else np.asarray(X)
    except ValueError:
        raise ValueError("The rows of the matrix have different lengths; a matrix is needed.") from None
    if D.ndim == 0:
        raise ValueError(f"X is a {type(X).__name__}; pass a matrix of dissimilarities.")
    if D.dtype.kind == "c":
        raise ValueError("Complex data not supported: dissimilarities are real numbers.")
    if D.dtype.kind == "O":
        try:
            D = D.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"The matrix has an entry that is not a number: {error}.") from None
    if D.dtype.kind not in "fiub":
        raise ValueError(f"The matrix has entries of type {D.dtype}; dissimilarities are real numbers.")
    return D
