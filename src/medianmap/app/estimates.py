"""How long the comparison of long strings or series will take, said before it is begun.

Two of n and m letters fill a table of n m cells; N of them, each with each, ((sum of n)^2 - sum of n^2) / 2. How many
cells a second the machine fills is measured on beginnings of the longest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
LONG = 100_000  # letters of an object in a stream that is worth a look


def refuse_long_work(
    name: str, objects: Any, metric: str, params: Mapping[str, Any], n_threads: int, pairs: float | None = None,
    instead: str = "",
) -> None:  # fmt: skip
    """ValueError for comparisons that will take hours, unless --yes was said.

    pairs : how many pairs are compared, by default all N^2 / 2. instead : what else could be done, in words.
    """
    if not _fills_tables(metric, params) or len(objects) < 2 or said_yes():
        return
    lengths = sorted((float(len(each)) for each in objects), reverse=True)
    n, every = len(lengths), len(lengths) ** 2 / 2
    share = 1.0 if pairs is None else min(1.0, pairs / every)
    cells = share * (sum(lengths) ** 2 - sum(length**2 for length in lengths)) / 2
    longest = sorted(objects, key=len)[-2:]
    _refuse(name, f"its {n} objects", cells, longest, metric, params, n_threads, instead)


def refuse_long_queries(
    name: str, objects: Any, model: Any, n_threads: int, n_all: Callable[[], int] | None = None
) -> None:
    """The same for objects that a model places, each of which is compared with all that the model holds.

    objects : those that are there, or the first of a stream. n_all : tells how many there are in all.
    """
    from ..predict.queries import map_of

    map_: Any = map_of(model)
    own: Sequence[Any] = getattr(map_, "support_objects_", getattr(map_, "cluster_centers_", ()))
    metric, params = getattr(map_, "metric", ""), getattr(map_, "metric_params_", {})
    if not _fills_tables(metric, params) or not len(objects) or said_yes():
        return
    n = len(objects) if n_all is None else n_all()
    cells = float(n / len(objects) * sum(map(len, objects)) * sum(map(len, own)))
    longest = [max(objects, key=len), max(own, key=len)]
    what = f"its {n} objects with {len(own)} of the model"
    _refuse(name, what, cells, longest, metric, params, n_threads)


def none_too_long(name: str, records: Iterable[Any], model: Any) -> Iterator[Any]:
    """The records of a stream; ValueError for one that alone will take longer than it may."""
    for record in records:
        if len(record.object) > LONG:
            refuse_long_queries(name, [record.object], model, 1)
        yield record


def _fills_tables(metric: Any, params: Mapping[str, Any]) -> bool:
    return metric in QUADRATIC and params.get("mode") != "aligned"


def _refuse(
    name: str, what: str, cells: float, longest: Sequence[Any], metric: str, params: Mapping[str, Any],
    n_threads: int, instead: str = "",
) -> None:  # fmt: skip
    """ValueError where so many cells, or those of the two longest objects, take too long."""
    lengths = sorted(map(len, longest), reverse=True)
    pair = float(lengths[0]) * lengths[1]
    if max(cells, pair) < FREE_CELLS:
        return
    rate = measured_rate(longest, metric, params)
    hours, minutes = max(cells / n_threads, pair) / rate / 3600, pair / rate / 60
    if hours <= HOURS and minutes <= PAIR_MINUTES:
        return
    long = f", {told(minutes / 60)} for one pair of {lengths[0]} and {lengths[1]}" if minutes > PAIR_MINUTES else ""
    raise ValueError(
        f"{name}: comparing {what} by {metric} means filling 10^{log10(max(cells, pair)):.1f} cells, about "
        f"{told(hours)} on this machine{long}; pass --yes to begin, or give shorter or fewer objects{instead}."
    )


def measured_rate(longest: Sequence[Any], metric: str, params: Mapping[str, Any]) -> float:
    """Cells a second of one thread, by the beginnings of the two longest objects."""
    from ..metrics import bind

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
