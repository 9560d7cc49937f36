"""How long the comparison of long strings or series will take, said before it is begun.

Two of n and m letters fill a table of n m cells; N of them, each with each, ((sum of n)^2 - sum of n^2) / 2. How many
cells a second the machine fills is measured on beginnings of the longest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from time import perf_counter
from typing import Any

from .settings import said_yes

# Metrics that fill such tables; the others take time in proportion to the lengths.
QUADRATIC = ("alignment", "edit", "edit-chromosome", "dtw", "erp", "msm")
FREE_CELLS = 1e11  # minutes at most, under any metric
HOURS = 1.0  # a work that takes longer is begun if that is meant
PAIR_MINUTES = 5.0  # one pair cannot be interrupted
REHEARSED = 2000  # letters


def refuse_long_work(
    name: str, objects: Any, metric: str, params: Mapping[str, Any], n_threads: int, pairs: float | None = None,
    instead: str = "",
) -> None:  # fmt: skip
    """ValueError for comparisons that will take hours, unless --yes was said.

    pairs : how many pairs are compared, by default all N^2 / 2. instead : what else could be done, in words.
    """
    if metric not in QUADRATIC or params.get("mode") == "aligned" or len(objects) < 2 or said_yes():
        return
    lengths = sorted((float(len(each)) for each in objects), reverse=True)
    n, every = len(lengths), len(lengths) ** 2 / 2
    share = 1.0 if pairs is None else min(1.0, pairs / every)
    cells = share * (sum(lengths) ** 2 - sum(length**2 for length in lengths)) / 2
    pair = lengths[0] * lengths[1]
    if max(cells, pair) < FREE_CELLS:
        return
    rate = measured_rate(objects, metric, params)
    hours, minutes = max(cells / n_threads, pair) / rate / 3600, pair / rate / 60
    if hours <= HOURS and minutes <= PAIR_MINUTES:
        return
    long = (
        f", {told(minutes / 60)} for one pair of {lengths[0]:.0f} and {lengths[1]:.0f}"
        if minutes > PAIR_MINUTES
        else ""
    )
    raise ValueError(
        f"{name}: to compare its {n} objects by {metric} is to fill 10^{log10(max(cells, pair)):.1f} cells, about "
        f"{told(hours)} on this machine{long}; pass --yes to begin, or give shorter or fewer objects{instead}."
    )


def measured_rate(objects: Any, metric: str, params: Mapping[str, Any]) -> float:
    """Cells a second of one thread, by the beginnings of the two longest objects."""
    from ..metrics import bind

    longest: Sequence[Any] = sorted(objects, key=len)[-2:]
    a, b = ([each[:REHEARSED]] for each in longest)
    bound = bind(metric, params)
    bound.between(a, b)  # compiled, if that is needed
    began = perf_counter()
    bound.between(a, b)
    return len(a[0]) * len(b[0]) / max(perf_counter() - began, 1e-7)


def told(hours: float) -> str:
    """'40 minutes', '3 hours', '12 days'."""
    for unit, size in (("years", 8760.0), ("days", 24.0), ("hours", 1.0)):
        if hours >= 1.5 * size:
            return f"{hours / size:.0f} {unit}"
    return f"{60 * hours:.0f} minutes"
