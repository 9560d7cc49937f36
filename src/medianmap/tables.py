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


def as_tsv(rows: NDArray[Any]) -> str:
    """A structured array (n,) as lines by tabs under its names; numbers read back exact, True and False are 1 and 0."""
    lines = [rows.dtype.names or (), *rows.tolist()]
    return "".join("\t".join(str(int(x) if isinstance(x, bool) else x) for x in line) + "\n" for line in lines)
