"""What a table of dissimilarities must be, checked panel by panel so that a memory map is never loaded whole."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import ALL, Source, panels, rows_per_panel
from .objects import as_numbers

# Rows and columns that are compared in one go: a tile and its mirror image fit in the second-level cache.
TILE = 256


def check_entries(source: Source, total_weight: float = 1.0) -> None:
    """Refuse NaN, infinite and negative entries, naming the first; warn once of a non-zero diagonal.

    total_weight : what all points count for all prototypes together; sums of that many entries must not overflow.
    """
    n = source.shape[0]
    diagonal = np.empty(n)
    largest = 0.0
    for rows in panels(n, rows_per_panel(n)):
        panel = source.block(rows, ALL)
        refuse_bad_entries(panel, rows.start)
        largest = max(largest, float(panel.max()))
        diagonal[rows] = panel[np.arange(panel.shape[0]), np.arange(rows.start, rows.stop)]
    warn_of_diagonal(diagonal, largest)
    if largest > np.finfo(np.float64).max / max(total_weight, n):
        raise ValueError(
            f"The largest dissimilarity is {largest:g} and the weights sum to {total_weight:g}: costs overflow. "
            "Divide the matrix or the weights by a constant."
        )


def refuse_bad_entries(panel: NDArray[Any], first_row: int = 0, places: Sequence[NDArray[np.intp]] = ()) -> None:
    """Raise ValueError for the first entry, in row order, that is NaN, infinite or negative.

    places : what the rows and columns of the panel are called; their numbers by default.
    """
    # Two reductions and no temporary in the usual case: NaN fails any comparison, infinity is the maximum.
    if panel.size == 0 or (panel.min() >= 0 and panel.max() < np.inf):
        return
    at = tuple(np.argwhere(~((panel >= 0) & (panel < np.inf)))[0])
    value = panel[at]
    names = [place[k] for place, k in zip(places, at, strict=True)] if places else (first_row + at[0], *at[1:])
    where = f"D[{', '.join(map(str, names))}]"
    if np.isnan(value):
        raise ValueError(
            f"{where} is NaN; every pair needs a dissimilarity. Fill in the missing entries or drop the point."
        )
    if value > 0:
        raise ValueError(f"{where} is inf; dissimilarities must be finite. Replace it by a large number.")
    raise ValueError(
        f"{where} is {value:g}; dissimilarities must be >= 0. "
        "Negative values in data: subtract the minimum or pass a distance."
    )


def warn_of_diagonal(diagonal: NDArray[Any], largest: float) -> None:
    """One warning if a point differs from itself by more than rounding; such matrices are legal."""
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
            if cols.start < rows.start:
                continue
            if not np.array_equal(D[rows, cols], D[cols, rows].T):
                return False
    return True


def check_queries(D: Any, n_columns: int, what: str, who: str, signed: bool = False) -> NDArray[Any]:
    """(n_query, n_columns) dissimilarities from queries to training points or prototypes; negative ones if signed."""
    D = as_numbers(D.to_numpy() if hasattr(D, "iloc") else D)
    if D.ndim != 2:
        raise ValueError(
            f"Expected a 2-D array of dissimilarities (n_query, {n_columns}), got a {D.ndim}-D array. "
            "Reshape your data: one row a query."
        )
    for rows in panels(D.shape[0], rows_per_panel(max(1, D.shape[1]))):
        refuse_bad_entries(np.abs(D[rows]) if signed else D[rows], rows.start)
    if D.shape[1] != n_columns:
        raise ValueError(
            f"X has {D.shape[1]} features, but {who} is expecting {n_columns} features as input: one for each {what}."
        )
    return D
