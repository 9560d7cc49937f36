"""Pairs without a dissimilarity: an error, a number, or the largest dissimilarity of the row, as the user says."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .base import FloatArray


def check_missing(missing: Any) -> float | str:
    """'error', 'max', or a number >= 0."""
    if isinstance(missing, str) and missing in ("error", "max"):
        return missing
    if isinstance(missing, bool) or not isinstance(missing, Real) or not 0 <= float(missing) < np.inf:
        raise ValueError(f"missing is {missing!r}; choose 'error', 'max' (the row's maximum) or a number >= 0.")
    return float(missing)


def by_row_maxima(of_rows: FloatArray, of_columns: FloatArray, symmetric: bool) -> FloatArray:
    """What stands for each pair (n, m) under 'max': the largest dissimilarity of its row, of_rows (n,).

    In a symmetric table the larger of its two rows', so that it stays symmetric: of_columns (m,) are the maxima of the
    rows that belong to the columns. -inf where there is none.
    """
    most = np.broadcast_to(of_rows[:, None], (len(of_rows), len(of_columns)))
    return np.maximum(most, of_columns[None, :]) if symmetric else most
