"""What a square of numbers is: dissimilarities, similarities, or in doubt; one verdict for reading and checking.

Numbers with as many rows as columns are never taken for vectors because they look unlike dissimilarities: a matrix that
was rounded, or that holds similarities, would be mapped as points that nobody measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

# Of more points the entries between so many are looked at, and the whole diagonal: a matrix on disk is not read.
LOOKED_AT = 300
# A diagonal of at most this share of the mean entry is zero but for rounding; so are differences of mirrored entries
# that are no larger than twice the diagonal, or than this share of the largest entry.
SMALL_DIAGONAL = 0.01
ROUNDING = 1e-6

# How similarities show themselves, the rule of `read` that makes them dissimilarities, and its formula.
SIMILARITIES = {
    "correlation": ("correlations (1 on the diagonal, entries in [-1, 1])", "1-s", "D = 1 - S"),
    "unit": ("similarities (1 on the diagonal, entries in [0, 1])", "1-s", "D = 1 - S"),
    "scores": ("similarities (every point is most like itself: the diagonal is the row's maximum)", "normalized",
               "D = 1 - S / sqrt(outer(diag(S), diag(S)))"),
    "kernel": ("inner products (larger on the diagonal than elsewhere, on average)", "kernel",
               "D = diag(S)[:, None] + diag(S) - 2 S"),
    "negated": ("negated dissimilarities (0 on the diagonal, no positive entry)", "max-s", "D = max(S) - S"),
}  # fmt: skip


class SquareInDoubt(ValueError):
    """A square that does not show that it holds dissimilarities; the sentence names the choices."""


@dataclass(frozen=True)
class SquareVerdict:
    """What (N, N) numbers are.

    similarity : a key of SIMILARITIES, where they are that.
    symmetric : D[i, l] = D[l, i] within rounding.
    diagonal : the largest |D[i, i]|, which is rounding where these are dissimilarities.
    doubt : what speaks against dissimilarities.
    """

    kind: Literal["dissimilarities", "similarities", "in doubt"]
    symmetric: bool
    diagonal: float
    similarity: str | None = None
    doubt: str = ""

    def refuse(self, name: str, n: int) -> None:
        """SquareInDoubt unless these are dissimilarities."""
        if self.similarity is not None:
            looks, _, formula = SIMILARITIES[self.similarity]
            raise SquareInDoubt(
                f"{name}: its {n} x {n} numbers look like {looks}, not like dissimilarities. Pass kind='similarity' to "
                f"convert them by {formula}, kind='matrix' if they are dissimilarities, or kind='vectors'."
            )
        if self.kind == "in doubt":
            raise SquareInDoubt(
                f"{name}: its {n} x {n} numbers may be dissimilarities or vectors: {self.doubt}. Pass kind='matrix' if "
                "they are dissimilarities, kind='similarity' if similarities, or kind='vectors'."
            )


def judge_square(X: NDArray[Any]) -> SquareVerdict:
    """The verdict about X (N, N), from its diagonal and the entries between at most LOOKED_AT points.

    Zeros on the diagonal show dissimilarities, which need not be symmetric then; a diagonal that is small besides the
    other entries does if these are symmetric and not negative. NaN, a missing pair, is left out.
    """
    n = len(X)
    places = np.arange(n)
    if n > LOOKED_AT:
        places = np.sort(np.random.default_rng(0).choice(n, LOOKED_AT, replace=False))
    A = np.asarray(X[np.ix_(places, places)], np.float64)
    diagonal = np.nan_to_num(np.asarray(np.diagonal(X), np.float64), nan=0.0)
    largest = float(np.abs(diagonal).max())
    off = np.where(np.eye(len(A), dtype=bool) | ~np.isfinite(A), np.nan, A)
    known = off[~np.isnan(off)]
    if not len(known):
        kind: Any = "dissimilarities" if largest == 0 else "in doubt"
        return SquareVerdict(kind, True, largest, doubt="" if largest == 0 else "there is nothing but a diagonal")
    gap = np.abs(off - off.T)
    rounding = max(ROUNDING * float(np.abs(known).max()), 2 * largest)
    symmetric = bool(np.all(gap[~np.isnan(gap)] <= min(rounding, SMALL_DIAGONAL * float(np.abs(known).mean()))))
    row_maxima = np.where(np.isnan(off), -np.inf, off).max(axis=1)
    similarity = similarity_kind(diagonal[places], row_maxima, float(known.min()), float(known.max()),
                                 float(known.mean()))  # fmt: skip
    if similarity is not None and (similarity != "kernel" or symmetric):
        return SquareVerdict("similarities", symmetric, largest, similarity)
    small = largest <= SMALL_DIAGONAL * float(known.mean())
    if largest == 0 or (small and symmetric and known.min() >= -rounding):
        return SquareVerdict("dissimilarities", symmetric, largest)
    doubts = [] if small else [f"the diagonal is not zero (up to {largest:g})"]
    doubts += [] if symmetric else ["they are not symmetric"]
    return SquareVerdict("in doubt", symmetric, largest, doubt=" and ".join(doubts or ["some are negative"]))


def similarity_kind(
    diagonal: NDArray[np.float64], row_maxima: NDArray[np.float64], low: float, high: float, mean: float
) -> str | None:
    """The key of SIMILARITIES: dissimilarities are 0 on the diagonal and positive elsewhere, similarities each differ.

    diagonal, row_maxima (N,) : the largest entry of each row but that of the diagonal. low, high, mean : of all these.
    """
    if len(diagonal) < 2 or not np.isfinite(diagonal).all() or not np.isfinite(row_maxima).all():
        return None
    if (diagonal == 0).all():
        return "negated" if high <= 0 and low < 0 else None
    if (low == high and high >= diagonal.max()) or not (diagonal > 0).all():
        return None
    if not (diagonal >= row_maxima).all():
        return "kernel" if diagonal.mean() > mean else None
    near_one = bool(np.all(np.abs(diagonal - 1) <= 1e-6))
    if near_one and high <= 1 + 1e-6 and low >= -1 - 1e-6:
        return "unit" if low >= 0 else "correlation"
    return "scores"


def without_diagonal(X: NDArray[Any]) -> NDArray[Any]:
    """X with zeros on its diagonal: a copy, but of a memory map, of which only those pages are copied."""
    X = np.load(X.filename, mmap_mode="c") if isinstance(X, np.memmap) and X.filename else X.copy()
    np.fill_diagonal(X, 0)
    return X
