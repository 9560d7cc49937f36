"""Checks of parameters, weights and ids: each returns the checked value or raises ValueError in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def refuse_duplicate_ids(ids: Sequence[str], name: str, what: str) -> None:
    """ValueError that names the first id of two records, rows or columns, counted from 1."""
    if len(set(ids)) == len(ids):
        return
    seen: dict[str, int] = {}
    for k, each in enumerate(ids, 1):
        if each in seen:
            raise ValueError(
                f"{name}: {what}s {seen[each]} and {k} have the same id {each!r}; give every {what} an id of its own."
            )
        seen[each] = k


def check_ids(ids: Sequence[str], n: int, name: str = "ids") -> list[str]:
    """One id for each of n points, none of them twice."""
    if len(ids) != n:
        raise ValueError(f"{name}: there are {len(ids)} ids for {n} points; give one id per point.")
    refuse_duplicate_ids(ids, name, "place")
    return list(ids)


def check_weights(sample_weight: Any, n: int) -> NDArray[np.float64]:
    """m (N,): finite, non-negative, not all zero; ones by default."""
    if sample_weight is None:
        return np.ones(n)
    try:
        m = np.array(sample_weight, dtype=np.float64)  # a copy: the caller's weights stay as they are
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one per data point.") from None
    if m.ndim == 0 and isinstance(sample_weight, Real):
        m = np.full(n, m)
    if m.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(m) != n:
        raise ValueError(f"sample_weight.shape == {m.shape}, expected {(n,)}: one weight per data point.")
    bad = np.flatnonzero(~((m >= 0) & (m < np.inf)))
    if len(bad):
        raise ValueError(f"sample_weight[{bad[0]}] is {m[bad[0]]:g}; weights must be finite and >= 0.")
    with np.errstate(over="ignore"):
        total = m.sum()
    if not np.isfinite(total):
        raise ValueError("The sum of the sample weights overflows; divide them by a constant.")
    if not m.any():
        raise ValueError("All sample weights are zero; at least one sample must have a positive weight.")
    return m


def check_count(value: Any, name: str, *, at_least: int = 1) -> int:
    """A whole number >= at_least."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < at_least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number >= {at_least}.")
    return int(value)


def check_positive(value: Any, name: str) -> float:
    """A finite number > 0."""
    return _number(value, name, "a number > 0", lambda x: 0 < x < np.inf)


def check_width(value: Any, name: str) -> float:
    """A width of the neighbourhood, in ranks or steps: beyond these limits it is like one of them."""
    return _number(value, name, "a number > 0, between 1e-100 and 1e100", lambda x: 1e-100 <= x <= 1e100)


def check_temperature(value: Any, name: str) -> float | str | None:
    """None, "auto" or a finite number > 0."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return value
    return _number(value, name, "None, 'auto' or a number > 0", lambda x: 0 < x < np.inf)


def check_nonnegative(value: Any, name: str) -> float:
    """A finite number >= 0."""
    return _number(value, name, ">= 0 and finite", lambda x: 0 <= x < np.inf)


def check_share(value: Any, name: str) -> float:
    """A number in [0, 1]."""
    return _number(value, name, "in [0, 1]", lambda x: 0 <= x <= 1)


def check_beta(value: Any) -> float:
    """A number in (0, 1]."""
    return _number(value, "beta", "in (0, 1], where 1 leaves the labels out of training", lambda x: 0 < x <= 1)


def check_beta_or_auto(value: Any) -> float | str:
    """A number in (0, 1], or "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"beta is {value!r}; it must be 'auto' or a number in (0, 1].")
        return value
    return check_beta(value)


def _number(value: Any, name: str, what: str, is_good: Callable[[float], bool]) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not is_good(float(value)):
        raise ValueError(f"{name} is {value!r}; it must be {what}.")
    return float(value)


def check_choice(value: Any, name: str, choices: Sequence[Any]) -> None:
    """One of the choices."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise ValueError(f"{name} is {value!r}; choose one of {', '.join(map(repr, choices))}.")


def check_n_prototypes(K: int, n: int, name: str = "n_clusters", which: str = "") -> None:
    """1 <= K <= number of points that count. which : said after their number."""
    if K > n:
        raise ValueError(f"{name} = {K} exceeds n_samples = {n}{which}; ask for at most one prototype per data point.")


def check_flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} is {value!r}; it must be True or False.")
    return bool(value)


def check_n_jobs(n_jobs: Any) -> None:
    """None or a non-zero whole number."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs is {n_jobs!r}; it must be None, a positive number of threads, or -1 for all cores.")
