"""Tables without a dependency: structured arrays, which `pandas.DataFrame` takes as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def table(**columns: NDArray[Any]) -> NDArray[Any]:
    """Columns (n,) by name as one structured array (n,)."""
    n = len(next(iter(columns.values())))
    rows = np.empty(n, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        rows[name] = column
    return rows
