"""What a user calls labels -> label vectors: one row of class shares a point, and which points have one at all."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from .sources.base import FloatArray, IntArray
from .validation import n_dims


@dataclass(frozen=True)
class LabelVectors:
    """y (N, C): class shares, rows sum to 1, zeros where `known` (N,) is False; classes (C,) name the columns."""

    classes: NDArray[Any]
    y: FloatArray
    known: NDArray[np.bool_]

    def subset(self, keep: IntArray) -> LabelVectors:
        """The labels of the points `keep` alone."""
        return LabelVectors(self.classes, self.y[keep], self.known[keep])


UNLABELLED, UNSEEN = -1, -2


def class_numbers(y: Any, n: int, classes: NDArray[Any]) -> IntArray:
    """(n,) number of each label among `classes` (C,), the largest share of a fuzzy one; UNLABELLED; or UNSEEN.

    Classes that `classes` lacks are warned about.
    """
    labels = as_label_vectors(y, n, columns=classes)
    place = {label: c for c, label in enumerate(classes.tolist())}
    number = np.array([place.get(label, UNSEEN) for label in labels.classes.tolist()], np.intp)
    numbers = np.full(n, UNLABELLED, np.intp)
    if labels.known.any():
        numbers[labels.known] = number[labels.y[labels.known].argmax(axis=1)]
    unseen = np.flatnonzero(numbers == UNSEEN)
    if len(unseen):
        name = labels.classes[labels.y[unseen[0]].argmax()]
        warnings.warn(
            f"y[{unseen[0]}] is {name}, a class that no training point had, so it cannot be predicted there "
            f"({len(unseen)} such points).",
            UserWarning,
            stacklevel=3,
        )
    return numbers


def training_labels(y: Any, m: FloatArray) -> LabelVectors:
    """Labels of N points of weights m (N,) to train with: some point must have one and a positive weight."""
    labels = as_label_vectors(y, len(m))
    counted = labels.known & (m > 0)
    if not counted.any():
        reason = "those that y labels have weight 0" if labels.known.any() else "y holds only -1, None or NaN"
        raise ValueError(f"No data point is labelled: {reason}. Label some of them, or fit the map without labels.")
    shares = labels.y[counted].sum(axis=0)
    if np.count_nonzero(shares) == 1:
        warnings.warn(
            f"All labelled points have one class, {labels.classes[shares.argmax()]}: it will be predicted everywhere "
            "(-1 means 'not labelled'; if it is the name of a class, rename it).",
            UserWarning,
            stacklevel=4,
        )
    return labels


def as_label_vectors(y: Any, n: int, columns: NDArray[Any] | None = None) -> LabelVectors:
    """Labels of n points, in any form, checked.

    y : (n,) hard labels of any type, where -1, None and NaN mean "not labelled"; or (n, C) fuzzy labels, rows of
        non-negative shares, where a row of NaN or of -1 means the same. Fuzzy rows are divided by their sums.
    columns : (C,) classes of the columns of a fuzzy y that does not name them itself; 0, 1, ... by default.
    """
    if y is None:
        raise ValueError("y is None: a classifier requires y to be passed, but the target y is None.")
    if n_dims(y) == 0 and hasattr(y, "__array__"):
        y = np.asarray(y)
    if n_dims(y) == 0:
        raise ValueError(f"y is a {type(y).__name__}; pass one label a data point.")
    if hasattr(y, "toarray"):
        raise ValueError("y is sparse; pass labels as a list or a dense array.")
    two_dimensional = n_dims(y) == 2 and np.shape(y)[1] > 1
    labels = _fuzzy(y, columns) if two_dimensional else _hard(y)
    if len(labels.y) != n:
        raise ValueError(f"y holds {len(labels.y)} labels, but X holds {n} data points; pass one label a point.")
    return labels


def _hard(y: Any) -> LabelVectors:
    """One class a point; classes are sorted."""
    # A list goes through objects: NumPy would turn the NaN of ["a", nan] into the word "nan".
    values = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    values = column_or_1d(values, warn=True)
    known = ~np.fromiter((is_unlabelled(label) for label in values.tolist()), bool, len(values))
    named = np.asarray(values[known].tolist()) if values.dtype.kind == "O" else values[known]
    if named.dtype.kind == "f" and not np.isfinite(named).all():
        raise ValueError(
            f"y[{np.flatnonzero(known)[np.isinf(named)][0]}] is infinite; labels are names or whole numbers."
        )
    if not known.any():
        return LabelVectors(np.empty(0), np.zeros((len(known), 0)), known)
    if values.dtype.kind == "O" and len({isinstance(label, str) for label in values[known].tolist()}) > 1:
        raise ValueError("y mixes strings with other types, which have no common order; give labels of one type.")
    check_classification_targets(named)
    classes, codes = np.unique(named, return_inverse=True)
    vectors = np.zeros((len(known), len(classes)))
    vectors[np.flatnonzero(known), codes] = 1.0
    return LabelVectors(classes, vectors, known)


def _fuzzy(y: Any, columns: NDArray[Any] | None) -> LabelVectors:
    """A row of shares a point; classes are the column names of a frame, else `columns`, else 0, 1, ..."""
    try:
        shares = np.array(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("A 2-D y holds shares of classes, but an entry is not a number.") from None
    if shares.ndim != 2:
        raise ValueError(f"y has {shares.ndim} dimensions; pass (N,) labels or (N, n_classes) shares.")
    if hasattr(y, "columns"):
        columns = np.asarray(y.columns)
    elif columns is None:
        columns = np.arange(shares.shape[1])
    elif shares.shape[1] != len(columns):
        raise ValueError(
            f"y has {shares.shape[1]} columns, but there are {len(columns)} classes; pass one column each."
        )
    known = ~(np.isnan(shares) | (shares == -1)).all(axis=1)
    bad = known & ~(np.isfinite(shares) & (shares >= 0)).all(axis=1)
    if bad.any():
        i = int(np.flatnonzero(bad)[0])
        c = int(np.flatnonzero(~(np.isfinite(shares[i]) & (shares[i] >= 0)))[0])
        raise ValueError(
            f"y[{i}, {c}] is {shares[i, c]:g}; shares of classes must be finite and >= 0 "
            "(a row of NaN alone means 'not labelled')."
        )
    shares[~known] = 0.0
    sums = shares.sum(axis=1, keepdims=True)
    empty = np.flatnonzero(known & (sums[:, 0] == 0))
    if len(empty):
        raise ValueError(f"y[{empty[0]}] sums to 0; give that point a class, or a row of NaN if it has no label.")
    shares[known] /= sums[known]
    return LabelVectors(columns, shares, known)


def is_unlabelled(label: Any) -> bool:
    """Whether a label is -1, None, NaN or one of pandas' missing values."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, Real) and bool(label == -1 or label != label)
