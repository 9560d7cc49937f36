"""What is done with a matrix that was read: similarities converted, missing pairs filled, both directions combined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import DenseSource
from ..sources.pair_table import by_row_maxima, check_missing
from ..sources.similarity import RULES, SimilarityRule, by_function, from_similarities, pair
from ..utils.checks import check_choice
from .records import Matrix

FloatArray = NDArray[np.float64]
Rule = SimilarityRule | None

RULE_OPTIONS = ("similarity", "missing", "symmetrize")  # of `read`, for every format that holds a matrix
SYMMETRIZE: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "min": np.minimum, "max": np.maximum, "mean": lambda a, b: 0.5 * (a + b),
}  # fmt: skip


def finish(
    name: str, D: NDArray[Any], ids: list[str] | None, *, labels: list[str] | None = None, note: str = "",
    similarity: Rule = None, missing: str | float = "error", symmetrize: str | None = None,
    symmetric: bool | None = None,
) -> Matrix:  # fmt: skip
    """Apply, in this order, the rule for similarities, the policy for missing pairs (NaN) and the symmetrisation.

    Without any of them an array is passed on as it is, and a memory map is not read.
    symmetric : whether 'max' fills both directions of a pair alike; None does where the rest of D is symmetric.
    """
    if similarity is not None and not callable(similarity):
        check_choice(similarity, "similarity", [*RULES])
    check_missing(missing)
    check_choice(symmetrize, "symmetrize", [None, *SYMMETRIZE])
    untouched = similarity is None and missing == "error" and symmetrize is None
    if untouched and isinstance(D, np.memmap):
        return Matrix(ids, D, labels, note)
    # A float32 matrix stays as it is unless a rule computes new values.
    if similarity is not None:
        D, said = _converted(D, similarity, ids, name)
        note = "; ".join(filter(None, [note, said]))
    D = D if D.dtype.kind == "f" else D.astype(np.float64)
    if symmetric is None and (lower := _one_triangle(D)) is not None:
        D, note = lower, "; ".join(filter(None, [note, "one triangle is empty; the other is mirrored"]))
    D = _filled(D, missing, symmetric, ids, name)
    if symmetrize is not None:
        D = SYMMETRIZE[symmetrize](D, D.T)
    return Matrix(ids, D, labels, note)


def _converted(
    S: NDArray[Any], similarity: SimilarityRule, ids: Sequence[str] | None, name: str
) -> tuple[FloatArray, str]:
    """D (N, N) from S (N, N), and what to tell; NaN, a missing pair, stays NaN."""
    known = ~np.isnan(S)
    if not known.any():
        raise ValueError(f"{name} holds no similarity at all; check that this is the right file.")
    if not callable(similarity):
        _, D, said = from_similarities(DenseSource(S, False, ids), similarity, name=name, missing=True)
        assert D is not None
        return D, said
    return by_function(similarity, S.astype(np.float64), ids, name=name), ""


def _one_triangle(D: NDArray[Any]) -> NDArray[Any] | None:
    """D whole again, where one triangle of three points or more holds nothing and the other everything."""
    gaps = np.isnan(D)
    upper = np.triu(np.ones(D.shape, bool), 1)
    for empty in (upper, upper.T):
        if len(D) > 2 and gaps[empty].all() and not gaps[empty.T].any():
            return np.where(empty, D.T, D)
    return None


def _filled(
    D: NDArray[Any], missing: str | float, symmetric: bool | None, ids: Sequence[str] | None, name: str
) -> NDArray[Any]:
    """D without NaN: a missing diagonal is 0, other missing entries follow the policy."""
    gaps = np.isnan(D)
    if not gaps.any():
        return D
    D = np.array(D)
    diagonal = np.diagonal(gaps).copy()
    np.fill_diagonal(gaps, False)
    at = np.flatnonzero(diagonal)
    D[at, at] = 0.0
    if missing == "error":
        if gaps.any():
            i, l = (int(k) for k in np.argwhere(gaps)[0])
            raise ValueError(
                f"{name}: {np.count_nonzero(gaps)} of {gaps.size - len(D)} pairs have no value, first "
                f"{pair(i, l, ids)}. Add them, or say what they are: "
                "missing='max' (the row's maximum) or missing=NUMBER."
            )
    elif missing == "max":
        if symmetric is None:
            symmetric = np.array_equal(D, D.T, equal_nan=True)
        largest = np.where(gaps | np.eye(len(D), dtype=bool), -np.inf, D).max(axis=1)
        most = by_row_maxima(largest, largest, symmetric)
        empty = np.argwhere(gaps & np.isneginf(most))
        if len(empty):
            i = int(empty[0, 0])
            who = f"Row {i}" if ids is None else repr(ids[i])
            raise ValueError(
                f"{name}: {who} has no value to any other, so there is no row maximum; pass missing=NUMBER, or drop it."
            )
        D[gaps] = most[gaps]
    else:
        D[gaps] = float(missing)
    return D
