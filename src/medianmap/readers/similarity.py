"""d = rule(s): how similarities become dissimilarities, how missing pairs are filled, how a matrix is symmetrized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.pair_table import by_row_maxima, check_missing
from ..utils.checks import check_choice
from .records import Matrix

FloatArray = NDArray[np.float64]
Rule = str | Callable[[FloatArray], Any] | None

RULE_OPTIONS = ("similarity", "missing", "symmetrize")  # of `read`, for every format that holds a matrix
# What each rule is, and its function of an array; that of "normalized" needs the whole table.
RULES: dict[str, tuple[str, Callable[[FloatArray], Any] | None]] = {
    "1-s": ("1 - s, for similarities in [0, 1]", lambda s: 1 - s),
    "1-s/100": ("1 - s / 100, for percentages", lambda s: 1 - s / 100),
    "max-s": ("the largest similarity of the table - s", lambda s: s.max() - s),
    "-log": ("-log s, for similarities in (0, 1]", lambda s: -np.log(s)),
    "normalized": ("1 - s_ab / sqrt(s_aa s_bb), for scores that include every object against itself", None),
}
SYMMETRIZE: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "min": np.minimum, "max": np.maximum, "mean": lambda a, b: 0.5 * (a + b),
}  # fmt: skip

# Rounding may bring a similarity slightly above its maximum; its dissimilarity is zero.
ROUNDING = 1e-12


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
    D = D if D.dtype.kind == "f" and similarity is None else D.astype(np.float64)
    if similarity is not None:
        D = _converted(D, similarity, ids, name)
    D = _filled(D, missing, symmetric, ids, name)
    if symmetrize is not None:
        D = SYMMETRIZE[symmetrize](D, D.T)
    return Matrix(ids, D, labels, note)


def pair(i: int, l: int, ids: Sequence[str] | None) -> str:
    """How a message names an entry: by ids where there are any, else by row and column counted from 0."""
    return f"D[{i}, {l}]" if ids is None else f"the pair ({ids[i]!r}, {ids[l]!r})"


def _converted(S: FloatArray, similarity: Rule, ids: Sequence[str] | None, name: str) -> FloatArray:
    """D (N, N) from S (N, N); NaN, a missing pair, stays NaN."""
    known = ~np.isnan(S)
    if not known.any():
        raise ValueError(f"{name} holds no similarity at all; check that this is the right file.")
    D = np.full(S.shape, np.nan)
    if similarity == "normalized":
        D[known] = (1 - S / _self_scores(S, ids, name))[known]
    else:
        rule = similarity if callable(similarity) else RULES[str(similarity)][1]
        assert rule is not None
        with np.errstate(divide="ignore", invalid="ignore"):  # a bad value is reported with its pair
            D[known] = _applied(rule, S[known])
    D[(D < 0) & (D > -ROUNDING)] = 0.0
    bad = np.argwhere(known & ~((D >= 0) & (D < np.inf)))
    if len(bad):
        i, l = (int(k) for k in bad[0])
        title = "your function" if callable(similarity) else f"'{similarity}' ({RULES[str(similarity)][0]})"
        raise ValueError(
            f"{name}: {pair(i, l, ids)} has the similarity {S[i, l]:g}, which {title} turns into {D[i, l]:g}; "
            "dissimilarities are finite and >= 0. Choose another rule, for example similarity='max-s'."
        )
    return D


def _applied(rule: Callable[[FloatArray], Any], s: FloatArray) -> FloatArray:
    d = np.asarray(rule(s), np.float64)
    if d.shape != s.shape:
        raise ValueError(
            f"The function given as similarity turned {s.size} values into an array of shape {d.shape}; "
            "it gets an array of similarities and must return as many dissimilarities."
        )
    return d


def _self_scores(S: FloatArray, ids: Sequence[str] | None, name: str) -> FloatArray:
    """sqrt(s_aa s_bb) (N, N)."""
    own = np.diagonal(S)
    bad = np.flatnonzero(~(own > 0))
    if len(bad):
        i = int(bad[0])
        who = f"row {i}" if ids is None else repr(ids[i])
        found = "is missing" if np.isnan(own[i]) else f"is {own[i]:g}"
        raise ValueError(f"{name}: the score of {who} against itself {found}; 'normalized' needs one > 0. Add it.")
    return np.sqrt(np.multiply.outer(own, own))


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
