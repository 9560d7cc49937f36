"""The metric `gower`: tables of numbers and categories, with missing values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import Metric, Parameter, register


def gower_block(
    a: Sequence[tuple[Any, ...]], b: Sequence[tuple[Any, ...]], *, ranges: Sequence[float | None],
    categorical: Sequence[int] = (), weights: Sequence[float] | None = None,
) -> NDArray[np.float64]:  # fmt: skip
    """(len(a), len(b)): sum_k w_k d_k / sum_k w_k over the columns k that neither row lacks.

    d_k = min(1, |x - y| / range_k) of numbers, range_k that of the training data; of categories 0 if equal, else 1.
    NaN if no column is left: nothing is known about that pair.
    """
    total, known = np.zeros((2, len(a), len(b)))
    for k, spread in enumerate(ranges):
        w = 1.0 if weights is None else float(weights[k])
        present = np.array([row[k] is not None for row in a])[:, None] & np.array([row[k] is not None for row in b])
        x, y = ([row[k] for row in side] for side in (a, b))
        d = _different(x, y) if spread is None else _apart(x, y, float(spread))
        total += np.where(present, w * d, 0.0)
        known += w * present
    return np.divide(total, known, out=np.full(total.shape, np.nan), where=known > 0)


def _apart(x: list[Any], y: list[Any], spread: float) -> NDArray[np.float64]:
    left, right = (np.array([0.0 if value is None else value for value in side], np.float64) for side in (x, y))
    gap = np.abs(left[:, None] - right[None, :])
    # A column that is constant in training tells only whether a new value is the same.
    return np.minimum(1.0, gap / spread) if spread > 0 else (gap > 0).astype(np.float64)


def _different(x: list[Any], y: list[Any]) -> NDArray[np.float64]:
    number = {value: k for k, value in enumerate(dict.fromkeys((*x, *y)))}
    left, right = (np.array([number[value] for value in side], np.int64) for side in (x, y))
    return (left[:, None] != right[None, :]).astype(np.float64)


def _ranges(
    objects: Sequence[tuple[Any, ...]], m: NDArray[np.float64], params: Mapping[str, Any]
) -> dict[str, list[float | None]]:
    """Range of each column of numbers over the rows that count; None for a column of categories."""
    if params.get("ranges") is not None:
        return {}
    used = [row for row, weight in zip(objects, m, strict=True) if weight > 0]
    out: list[float | None] = []
    for k in range(len(objects[0])):
        values = [row[k] for row in used if row[k] is not None]
        numeric = k not in params.get("categorical", ()) and all(isinstance(value, float) for value in values)
        out.append((max(values) - min(values) if values else 0.0) if numeric else None)
    return {"ranges": out}


def _prepare(
    objects: list[Any], *, categorical: Sequence[int] = (), weights: Any = None, ranges: Any = None
) -> list[tuple[Any, ...]]:
    """Rows as tuples: numbers as float, categories as they are, None where a value is missing."""
    rows = [_row(thing, i, categorical) for i, thing in enumerate(objects)]
    width = len(rows[0]) if ranges is None else len(ranges)
    odd = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if odd is not None:
        raise ValueError(f"X[{odd}] has {len(rows[odd])} columns; give it {width}, as the other rows have.")
    outside = [k for k in categorical if k not in range(width)]
    if outside:
        raise ValueError(f"categorical names the column {outside[0]!r}; choose from 0 to {width - 1}.")
    if weights is not None and (np.shape(weights) != (width,) or not np.all(np.asarray(weights, float) >= 0)):
        raise ValueError(f"weights must be {width} numbers >= 0, one per column.")
    for k in range(width):
        first = next((row[k] for row in rows if row[k] is not None), 0.0)
        numeric = isinstance(first, float) if ranges is None else ranges[k] is not None
        known = ((i, row[k]) for i, row in enumerate(rows) if row[k] is not None)
        odd = next((i for i, value in known if isinstance(value, float) != numeric), None)
        if odd is not None:
            raise ValueError(
                f"X[{odd}] has {rows[odd][k]!r} in column {k}, which holds {'numbers' if numeric else 'categories'}; "
                f"correct it, or pass categorical=[{k}] to compare that column by equality."
            )
    return rows


def _row(thing: Any, i: int, categorical: Sequence[int]) -> tuple[Any, ...]:
    if isinstance(thing, str | bytes | Mapping) or not hasattr(thing, "__len__"):
        raise ValueError(f"X[{i}] is a {type(thing).__name__}; for 'gower' pass a frame or rows of a table.")
    return tuple(_cell(value, k in categorical) for k, value in enumerate(thing))


def _cell(value: Any, as_category: bool) -> Any:
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, Real) and value != value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, Real):
        # As text a number is a category; 1 and 1.0 are the same, since a column with missing values becomes float.
        return repr(float(value)) if as_category else float(value)
    return value


_PARAMETERS = (
    Parameter("categorical", (), "numbers of columns to compare by equality though they hold numbers"),
    Parameter("weights", None, "what each column counts; None: 1 each"),
    Parameter("ranges", None, "range of each column, None for categories; taken from the training data"),
)
register(Metric("gower", gower_block, True, "mixed tables",
                "mean over columns of |difference| / range or inequality; missing values are left out",
                threaded=True, from_data=_ranges, parameters=_PARAMETERS, prepare=_prepare))  # fmt: skip
