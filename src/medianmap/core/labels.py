"""Labels as users write them -> label vectors: one row of class shares per point, and which points have a label."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..sources.base import FloatArray, Index, IntArray
from ..sources.checks import n_dims

UNLABELLED, UNSEEN = -1, -2

# What a label may be; within one y all of one kind, so that classes have an order.
KINDS: dict[str, Any] = {"strings": str, "bytes": bytes, "dates": np.datetime64,
                         "numbers": (np.bool_, Integral, float, np.floating)}  # fmt: skip
LABELS_ARE = "labels are strings, bytes, dates (datetime64) or numbers of at most 64 bits"

# How NumPy writes a missing label when it turns a list into an array of text.
MISSING_AS_TEXT = ("nan", "None", "<NA>")


@dataclass(frozen=True)
class LabelVectors:
    """y (N, C): class shares, rows sum to 1, zeros where `known` (N,) is False; classes (C,) name the columns."""

    classes: NDArray[Any]
    y: FloatArray
    known: NDArray[np.bool_]

    @property
    def numbers(self) -> IntArray:
        """(N,) number of each point's class, the largest share of a fuzzy one, the first on ties; or UNLABELLED."""
        if not len(self.classes):
            return np.full(len(self.known), UNLABELLED, np.intp)
        return np.where(self.known, self.y.argmax(axis=1), UNLABELLED)

    def subset(self, keep: Index) -> LabelVectors:
        """The labels of the points `keep` alone."""
        return LabelVectors(self.classes, self.y[keep], self.known[keep])


def class_numbers(y: Any, n: int, classes: NDArray[Any], *, stacklevel: int = 3) -> tuple[IntArray, LabelVectors]:
    """(n,) number of each label among `classes` (C,), UNLABELLED or UNSEEN; and the labels with their own classes.

    Classes that `classes` lacks are warned about; stacklevel is that of `warnings.warn`, counted from here.
    """
    labels = as_label_vectors(y, n, columns=classes)
    same = labels.classes[:, None] == classes[None, :]
    number = np.where(same.any(axis=1), same.argmax(axis=1), UNSEEN)
    numbers = np.full(n, UNLABELLED, np.intp)
    numbers[labels.known] = number[labels.numbers[labels.known]]
    unseen = np.flatnonzero(numbers == UNSEEN)
    if len(unseen):
        name = labels.classes[labels.numbers[unseen[0]]]
        said = f"y[{unseen[0]}] is {name}, a class that no training point had, so it cannot be predicted there"
        warnings.warn(f"{said} ({len(unseen)} such points).", stacklevel=stacklevel)
    return numbers, labels


def why_none_counts(known: NDArray[np.bool_], m: FloatArray) -> str | None:
    """Why no point of weights m (n,) has a label that counts; None if one has."""
    if (known & (m > 0)).any():
        return None
    return "those that y labels have weight 0" if known.any() else "y holds only None or NaN"


def training_labels(y: Any, m: FloatArray, *, stacklevel: int) -> LabelVectors:
    """Labels of N points of weights m (N,) to train with: some point must have one and a positive weight.

    stacklevel : that of `warnings.warn`, counted from here.
    """
    labels = as_label_vectors(y, len(m))
    reason = why_none_counts(labels.known, m)
    if reason is not None:
        raise ValueError(f"No data point is labelled: {reason}. Label some of them, or fit the map without labels.")
    shares = labels.y[labels.known & (m > 0)].sum(axis=0)
    if np.count_nonzero(shares) == 1:
        warnings.warn(
            f"All labelled points have one class, {labels.classes[shares.argmax()]}: it will be predicted everywhere.",
            stacklevel=stacklevel,
        )
    text = next((name for name in labels.classes.tolist() if isinstance(name, str) and name in MISSING_AS_TEXT), None)
    if text is not None and getattr(getattr(y, "dtype", None), "kind", "") == "U":
        warnings.warn(
            f"{text!r} is taken as the name of a class. If it stands for a missing label, pass y as a list or with "
            "dtype=object: NumPy has turned it into text.",
            stacklevel=stacklevel,
        )
    return labels


def as_label_vectors(y: Any, n: int, columns: NDArray[Any] | None = None) -> LabelVectors:
    """Labels of n points, in any form, checked.

    y : (n,) hard labels, strings, bytes, dates or numbers, where None, NaN and masked entries mean "not labelled"; or
        (n, C) fuzzy labels, rows of non-negative shares, where a row of NaN, a masked one, or None in its place means
        the same. Fuzzy rows are divided by their sums.
    columns : (C,) classes of the columns of a fuzzy y that does not name them itself; 0, 1, ... by default.
    """
    if y is None:
        raise ValueError("y is None: a classifier requires y to be passed, but the target y is None.")
    if hasattr(y, "toarray"):
        raise ValueError("y is sparse; pass labels as a list or a dense array.")
    if not hasattr(y, "shape") and isinstance(y, Sequence) and not isinstance(y, str | bytes):
        y = _rows_of_one_length(list(y))
    elif n_dims(y) == 0 and hasattr(y, "__array__"):
        y = np.asarray(y)
    if n_dims(y) == 0:
        raise ValueError(f"y is a {type(y).__name__}; pass one label per data point.")
    if getattr(getattr(y, "dtype", None), "kind", None) == "c":
        raise ValueError("y is complex; labels and shares of classes are not.")
    labels = _fuzzy(y, columns) if n_dims(y) == 2 and np.shape(y)[1] > 1 else _hard(y)
    if len(labels.y) != n:
        raise ValueError(f"y holds {len(labels.y)} labels, but X holds {n} data points; pass one label per point.")
    return labels


def _hard(y: Any) -> LabelVectors:
    """One class per point; classes are sorted."""
    values = column_or_1d(_as_array(y), warn=True)
    dates = values.dtype.kind in "Mm"
    known = ~(np.isnat(values) if dates else np.array([is_unlabelled(label) for label in values.tolist()], bool))
    named = _of_one_kind(values[known], np.flatnonzero(known))
    classes, codes = np.unique(named, return_inverse=True)
    vectors = np.zeros((len(known), len(classes)))
    vectors[np.flatnonzero(known), codes] = 1.0
    return LabelVectors(classes, vectors, known)


def _as_array(y: Any) -> NDArray[Any]:
    """Hard labels as an array; of objects where another type would lose what is missing or turn it into a value."""
    if np.ma.isMaskedArray(y):
        return unmasked(y, None)
    if not isinstance(getattr(y, "dtype", np.dtype(object)), np.dtype) and hasattr(y, "tolist"):
        y = y.tolist()  # pandas' own types: an array of whole numbers with gaps would be one of floats
    values = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    return values.astype(object) if values.dtype.kind == "T" else values


def _of_one_kind(labels: NDArray[Any], places: IntArray) -> NDArray[Any]:
    """Labels (n,) as an array that can be sorted; `places` (n,) is where they stand in y."""
    if not len(labels):
        return np.empty(0)
    if labels.dtype.kind == "O":
        kinds = [next((kind for kind in KINDS if isinstance(label, KINDS[kind])), None) for label in labels]
        if None in kinds:
            k = kinds.index(None)
            raise ValueError(f"y[{places[k]}] is a {type(labels[k]).__name__}; {LABELS_ARE}.")
        other = next((k for k, kind in enumerate(kinds) if kind != kinds[0]), None)
        if other is not None:
            raise ValueError(
                f"y mixes {kinds[0]} (y[{places[0]}]) with {kinds[other]} (y[{places[other]}]), which have no common "
                "order; give labels of one type."
            )
        labels = np.asarray(labels.tolist())
    if labels.dtype.kind not in "biufUSM":
        raise ValueError(f"y holds values of type {labels.dtype}; {LABELS_ARE}.")
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError(f"y[{places[np.isinf(labels)][0]}] is infinite; labels are names or whole numbers.")
    if labels.dtype.kind not in "SM":  # scikit-learn supports neither bytes nor dates
        check_classification_targets(labels)
    return labels


def _rows_of_one_length(y: list[Any]) -> list[Any]:
    """A list of hard labels as it is; one of rows with None or NaN instead of a row become a row of NaN."""
    is_row = [n_dims(row) > 0 for row in y]
    if not any(is_row):
        return y
    first = is_row.index(True)
    width = len(y[first])
    for i, row in enumerate(y):
        if is_row[i] and len(row) != width:
            raise ValueError(f"y[{first}] has {width} shares, but y[{i}] has {len(row)}; pass one share per class.")
        if not is_row[i] and not is_unlabelled(row):
            raise ValueError(
                f"y[{first}] is a row of shares, but y[{i}] is a {type(row).__name__}; "
                "give every point a row, or None if it has no label."
            )
    return [list(row) if is_row[i] else [np.nan] * width for i, row in enumerate(y)]


def _fuzzy(y: Any, columns: NDArray[Any] | None) -> LabelVectors:
    """One row of shares per point; classes are the column names of a frame, else `columns`, else 0, 1, ..."""
    shares = _as_numbers(y)
    if shares.ndim != 2:
        raise ValueError(f"y has {shares.ndim} dimensions; pass (N,) labels or (N, n_classes) shares.")
    if hasattr(y, "columns"):
        columns = np.asarray(y.columns)
        twice = next((name for k, name in enumerate(columns.tolist()) if name in columns[:k].tolist()), None)
        if twice is not None:
            raise ValueError(f"Two columns of y are named {twice!r}; give every class one column.")
    elif columns is None:
        columns = np.arange(shares.shape[1])
    elif shares.shape[1] != len(columns):
        raise ValueError(f"y has {shares.shape[1]} columns for {len(columns)} classes; pass one column per class.")
    known = np.asarray(~np.isnan(shares).all(axis=1))
    bad = np.argwhere(known[:, None] & ~(np.isfinite(shares) & (shares >= 0)))
    if len(bad):
        i, c = bad[0]
        raise ValueError(
            f"y[{i}, {c}] is {shares[i, c]:g}; shares of classes must be finite and >= 0 "
            "(a row of NaN alone means 'not labelled')."
        )
    shares[~known] = 0.0
    empty = np.flatnonzero(known & ~shares.any(axis=1))
    if len(empty):
        raise ValueError(f"y[{empty[0]}] sums to 0; give that point a class, or a row of NaN if it has no label.")
    # Sums of huge shares overflow; a power of two taken out first changes no bit of the quotients.
    shares = np.ldexp(shares, -np.frexp(shares.max(axis=1, keepdims=True))[1])
    shares[known] /= shares[known].sum(axis=1, keepdims=True)
    return LabelVectors(columns, shares, known)


def _as_numbers(y: Any) -> FloatArray:
    """A copy of a table of shares, NaN where it has gaps."""
    if np.ma.isMaskedArray(y):
        y = unmasked(y, np.nan)
    elif hasattr(y, "iloc"):
        y = y.to_numpy(dtype=object, copy=True, na_value=np.nan)
    try:
        return np.array(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("A 2-D y holds shares of classes, but an entry is not a number.") from None


def unmasked(y: Any, gap: Any) -> NDArray[Any]:
    """A masked array as one of objects, `gap` where it is masked."""
    values = np.array(np.ma.getdata(y), dtype=object)
    values[np.ma.getmaskarray(y)] = gap
    return values


def is_unlabelled(label: Any) -> bool:
    """Whether a label is None, NaN, masked, or one of pandas' missing values."""
    if label is None or label is np.ma.masked or type(label).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(label, np.datetime64):
        return bool(np.isnat(label))
    return isinstance(label, Real) and bool(label != label)


def without_marks(y: Any, mark: Any) -> Any:
    """y with None in the place of labels, and of rows of shares, that are `mark`; y itself where there is none."""
    labelled = n_dims(y) > 0 or (isinstance(y, Sequence) and not isinstance(y, str | bytes))
    if mark is None or not labelled or getattr(getattr(y, "dtype", None), "kind", "") in ("M", "m"):
        return y
    if hasattr(y, "iloc") and y.ndim == 2:  # the names of its columns are kept
        gaps = y.astype(object)
        gaps.iloc[[i for i, row in enumerate(y.to_numpy(dtype=object)) if _is_mark(row, mark)]] = np.nan
        return gaps
    labels = list(unmasked(y, None) if np.ma.isMaskedArray(y) else y)
    is_marked = [_is_mark(label, mark) for label in labels]
    return [None if marked else label for label, marked in zip(labels, is_marked, strict=True)] if any(is_marked) else y


def _is_mark(label: Any, mark: Any) -> bool:
    """Whether the label, or all entries of a row, are the mark."""
    if n_dims(label) > 0:
        return len(label) > 0 and all(_is_mark(each, mark) for each in label)
    return not is_unlabelled(label) and bool(label == mark)
