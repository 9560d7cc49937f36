"""The door: everything a user can get wrong is caught here, once, in one sentence. Below it nothing checks again."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from .metrics.registry import BoundMetric


def check_vectors(X: Any, metric_name: str = "euclidean") -> NDArray[Any]:
    """(N, M) finite numbers; strings and missing values are named by their place."""
    refuse_text(X, metric_name)
    X = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
    if not np.isfinite(X).all():
        i, k = np.argwhere(~np.isfinite(X))[0]
        found = "NaN" if np.isnan(X[i, k]) else "inf"
        raise ValueError(f"X[{i}, {k}] is {found}; vectors must be finite numbers. Fill in or drop that value.")
    return X


def refuse_text(X: Any, metric_name: str) -> None:
    """Strings given to a metric of vectors: say which metric would take them."""
    first = X[0] if isinstance(X, list | tuple) and len(X) else X
    is_text = isinstance(first, str | bytes) or (isinstance(X, np.ndarray) and X.dtype.kind in "US")
    if is_text:
        raise ValueError(
            f"X holds strings, but the metric {metric_name!r} compares vectors; "
            "choose a metric of strings, for example metric='edit', or pass a function of two strings."
        )


def as_objects(X: Any, metric: BoundMetric) -> Any:
    """What the metric compares: an array (N, M) of vectors, or a list of N strings or other objects."""
    if metric.accepts == "vectors":
        return check_vectors(X, metric.name)
    if metric.accepts == "objects" and _looks_like_vectors(X):
        return check_vectors(X, metric.name)
    if isinstance(X, str | bytes) or not hasattr(X, "__len__"):
        raise ValueError(f"X is a {type(X).__name__}; pass a sequence of objects, one a data point.")
    if isinstance(X, np.ndarray) and X.ndim != 1:
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
    return objects


def _looks_like_vectors(X: Any) -> bool:
    """Numbers in a table: an array, a frame or nested lists; a list of strings or ragged arrays does not."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return True
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "fiubc"
    try:
        return np.asarray(X).dtype.kind in "fiub"
    except ValueError:
        return False


def as_numbers(X: Any) -> NDArray[Any]:
    """X as an array of real numbers, without a copy where it is one already; a memory map stays a memory map."""
    if hasattr(X, "toarray"):
        raise TypeError(
            "Sparse data was passed, but the zeros of a dissimilarity matrix mean 'identical'; use X.toarray()."
        )
    D = X if isinstance(X, np.ndarray) else np.asarray(X)
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


def check_queries(D: Any, n_columns: int, what: str, who: str) -> NDArray[Any]:
    """(n_query, n_columns) dissimilarities from queries to training points or prototypes."""
    from .sources.checks import refuse_bad_entries

    D = as_numbers(D.to_numpy() if hasattr(D, "iloc") else D)
    if D.ndim != 2:
        raise ValueError(
            f"Expected a 2-D array of dissimilarities (n_query, {n_columns}), got a {D.ndim}-D array. "
            "Reshape your data: one row a query."
        )
    refuse_bad_entries(D)
    if D.shape[1] != n_columns:
        raise ValueError(
            f"X has {D.shape[1]} features, but {who} is expecting {n_columns} features as input: one for each {what}."
        )
    return D


def check_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """m (N,): finite, non-negative, not all zero; ones by default."""
    if sample_weight is None:
        return np.ones(n)
    try:
        m = np.array(sample_weight, dtype=np.float64)  # a copy: the caller's weights stay as they are
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one a data point.") from None
    if m.ndim == 0 and isinstance(sample_weight, Real):
        m = np.full(n, m)
    if m.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(m) != n:
        raise ValueError(f"sample_weight.shape == {m.shape}, expected {(n,)}: one weight a data point.")
    bad = np.flatnonzero(~((m >= 0) & (m < np.inf)))
    if len(bad):
        raise ValueError(f"sample_weight[{bad[0]}] is {m[bad[0]]:g}; weights must be finite and >= 0.")
    if not m.any():
        raise ValueError("All sample weights are zero; at least one sample must have a positive weight.")
    return m


def check_count(value: Any, name: str, *, at_least: int = 1) -> int:
    """A whole number >= at_least."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < at_least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number >= {at_least}.")
    return int(value)


def check_positive(value: Any, name: str) -> float:
    """A finite number > 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} is {value!r}; it must be a number > 0.")
    return float(value)


def check_choice(value: Any, name: str, choices: Sequence[Any]) -> None:
    """One of the choices."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(repr, choices))}.")


def check_n_prototypes(K: int, n: int, name: str = "n_clusters") -> None:
    """1 <= K <= number of points that count."""
    if K > n:
        raise ValueError(f"{name} = {K} exceeds n_samples = {n}; ask for at most one prototype a data point.")


def check_n_jobs(n_jobs: Any) -> None:
    """None or a non-zero whole number."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs is {n_jobs!r}; it must be None, a positive number of threads, or -1 for all cores.")
