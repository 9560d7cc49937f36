"""Metrics of time series of any lengths: dynamic time warping, move-split-merge, edit distance with real penalty."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_count, check_nonnegative
from ..utils.kernels import kernel
from .base import Metric, Parameter, register
from .letters import starts_of

DTW, MSM, ERP = range(3)
ANY_WINDOW = 2**40


@kernel
def _dtw(x, y, window, penalty, row):  # type: ignore[no-untyped-def]
    """c[i, l] = (x_i - y_l)^2 + min(c[i-1, l-1], c[i-1, l] + penalty^2, c[i, l-1] + penalty^2); sqrt of the last.

    Cells further than `window` from the band between the two ends are left out (window 1: the band alone).
    """
    n, m = x.shape[0], y.shape[0]
    square = penalty * penalty
    row[: m + 1] = np.inf
    row[0] = 0.0
    for i in range(n):
        first = max(0, i - max(0, n - m) - window + 1)
        last = min(m, i + max(0, m - n) + window)
        diagonal = row[first]
        row[first] = np.inf
        for l in range(first, last):
            above = row[l + 1]
            difference = x[i] - y[l]
            row[l + 1] = difference * difference + min(diagonal, min(above, row[l]) + square)
            diagonal = above
    return np.sqrt(row[m])


@kernel
def _between_cost(value, before, other, cost):  # type: ignore[no-untyped-def]
    """cost if `value` lies between the two others, else cost + its distance to the nearer one."""
    if before <= value <= other or other <= value <= before:
        return cost
    return cost + min(abs(value - before), abs(value - other))


@kernel
def _msm(x, y, cost, row):  # type: ignore[no-untyped-def]
    """c[i, l] = min(c[i-1, l-1] + |x_i - y_l|, c[i-1, l] + C(x_i; x_{i-1}, y_l), c[i, l-1] + C(y_l; y_{l-1}, x_i)),
    C as in _between_cost: moving a value, splitting or merging (Stefan, Athitsos and Das 2013)."""
    n, m = x.shape[0], y.shape[0]
    row[0] = abs(x[0] - y[0])
    for l in range(1, m):
        row[l] = row[l - 1] + _between_cost(y[l], y[l - 1], x[0], cost)
    for i in range(1, n):
        diagonal = row[0]
        row[0] = row[0] + _between_cost(x[i], x[i - 1], y[0], cost)
        for l in range(1, m):
            above = row[l]
            along = min(above + _between_cost(x[i], x[i - 1], y[l], cost),
                        row[l - 1] + _between_cost(y[l], y[l - 1], x[i], cost))  # fmt: skip
            row[l] = min(diagonal + abs(x[i] - y[l]), along)
            diagonal = above
    return row[m - 1]


@kernel
def _erp(x, y, gap, row):  # type: ignore[no-untyped-def]
    """c[i, l] = min(c[i-1, l-1] + |x_i - y_l|, c[i-1, l] + |x_i - gap|, c[i, l-1] + |y_l - gap|) (Chen and Ng 2004)."""
    n, m = x.shape[0], y.shape[0]
    row[0] = 0.0
    for l in range(m):
        row[l + 1] = row[l] + abs(y[l] - gap)
    for i in range(n):
        diagonal = row[0]
        drop = abs(x[i] - gap)
        row[0] = row[0] + drop
        for l in range(m):
            above = row[l + 1]
            row[l + 1] = min(diagonal + abs(x[i] - y[l]), min(above + drop, row[l] + abs(y[l] - gap)))
            diagonal = above
    return row[m]


@kernel
def _series_block(measure, values_a, starts_a, values_b, starts_b, p, window, out):  # type: ignore[no-untyped-def]
    """out[i, l] of two packed lists of series by the measure DTW, MSM or ERP with its number p.

    Measures have numbers because a function passed as an argument would be compiled again in every process.
    """
    longest = 0
    for l in range(out.shape[1]):
        longest = max(longest, starts_b[l + 1] - starts_b[l])
    row = np.empty(longest + 1)
    for i in range(out.shape[0]):
        x = values_a[starts_a[i] : starts_a[i + 1]]
        for l in range(out.shape[1]):
            y = values_b[starts_b[l] : starts_b[l + 1]]
            if measure == DTW:
                out[i, l] = _dtw(x, y, window, p, row)
            elif measure == MSM:
                out[i, l] = _msm(x, y, p, row)
            else:
                out[i, l] = _erp(x, y, p, row)


def _block(measure: int, a: Any, b: Any, p: float, window: int = ANY_WINDOW) -> NDArray[np.float64]:
    out = np.empty((len(a), len(b)))
    _series_block(measure, np.concatenate(a), starts_of(a), np.concatenate(b), starts_of(b), float(p), window, out)
    return out


def dtw_block(a: Any, b: Any, *, window: int | None = None, penalty: float = 0.0) -> NDArray[np.float64]:
    """(len(a), len(b)) dynamic time warping distances of series."""
    return _block(DTW, a, b, penalty, ANY_WINDOW if window is None else int(window))


def msm_block(a: Any, b: Any, *, cost: float = 1.0) -> NDArray[np.float64]:
    """(len(a), len(b)) move-split-merge distances of series."""
    return _block(MSM, a, b, cost)


def erp_block(a: Any, b: Any, *, gap: float = 0.0) -> NDArray[np.float64]:
    """(len(a), len(b)) edit distances with real penalty of series."""
    return _block(ERP, a, b, gap)


def _prepare(objects: list[Any], *, name: str, **params: Any) -> list[NDArray[np.float64]]:
    """Every series as a 1-D array of finite numbers, at least one."""
    for key, value in params.items():
        if key != "window":
            check_nonnegative(abs(value) if key == "gap" and isinstance(value, Real) else value, key)
        elif value is not None:
            check_count(value, key)
    return [_series(thing, i, name) for i, thing in enumerate(objects)]


def _series(thing: Any, i: int, name: str) -> NDArray[np.float64]:
    try:
        series = np.ascontiguousarray(thing, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"X[{i}] is not a series of numbers; for {name!r} pass 1-D arrays.") from None
    if np.ndim(thing) != 1 or not len(series):
        raise ValueError(f"X[{i}] has shape {np.shape(thing)}; for {name!r} pass 1-D series of numbers.")
    bad = np.flatnonzero(~np.isfinite(series))
    if len(bad):
        found = "NaN" if np.isnan(series[bad[0]]) else "inf"
        raise ValueError(f"X[{i}][{bad[0]}] is {found}; a series must be finite numbers. Fill in or drop that value.")
    return series


for _name, _function, _summary, _parameters in (
    ("dtw", dtw_block, "dynamic time warping, sqrt of the least sum of squares",
     (Parameter("window", None, "how far the two times may differ, beyond the difference of lengths; None: any"),
      Parameter("penalty", 0.0, "cost of warping by one step, in units of the series"))),
    ("msm", msm_block, "move-split-merge, a metric", (Parameter("cost", 1.0, "cost of splitting or merging a value"),)),
    ("erp", erp_block, "edit distance with real penalty, a metric",
     (Parameter("gap", 0.0, "value that a missing one is compared as"),)),
):  # fmt: skip
    register(Metric(_name, _function, True, "series", _summary, threaded=True, parameters=_parameters,
                    prepare=partial(_prepare, name=_name)))  # fmt: skip
