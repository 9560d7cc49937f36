"""What a metric is: a named function on blocks of objects (`Metric`), and one with its parameters (`BoundMetric`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

IntArray: TypeAlias = "NDArray[np.intp]"
Accepts: TypeAlias = Literal[
    "vectors", "strings", "strings or tokens", "series", "peak lists", "sets", "mixed tables", "objects"
]


@dataclass(frozen=True)
class Parameter:
    """One keyword of a metric: what it is if not given, and one line about it.

    name : the keyword.
    default : its value if it is not given.
    meaning : one line about it.
    """

    name: str
    default: Any
    meaning: str


@dataclass(frozen=True)
class Metric:
    """A dissimilarity on blocks: block(a, b, **params) -> (len(a), len(b)), entry [i, l] from a[i] to b[l].

    An entry depends on its two objects and the parameters alone, never on the rest of the block. So a point
    has exactly the same dissimilarities in training and at prediction.

    name : what it is asked for by.
    block : the function; from objects as `prepare` leaves them.
    symmetric : whether d(x, y) = d(y, x); a function of the parameters where it depends on them.
    accepts : the kind of the objects.
    summary : one line for people.
    extra : the extra of medianmap that it needs.
    threaded : whether it releases the interpreter, so that threads help.
    allow_nan : whether vectors may have missing coordinates.
    from_data : (objects, their weights, parameters given) -> parameters that the training data determine.
    parameters : the keywords of `block`; if any are listed, others are refused.
    prepare : prepare(list of objects, **params) -> the objects as `block` takes them; ValueError for what it cannot
        compare.
    own_threads : whether block(a, b, n_jobs=..., **params) uses threads of its own.
    """

    name: str
    block: Callable[..., NDArray[Any]]
    symmetric: bool | Callable[[Mapping[str, Any]], bool]
    accepts: Accepts
    summary: str = ""
    extra: str | None = None
    threaded: bool = False
    allow_nan: bool = False
    from_data: Callable[[Any, NDArray[np.float64], Mapping[str, Any]], dict[str, Any]] | None = None
    parameters: tuple[Parameter, ...] = ()
    prepare: Callable[..., Any] | None = None
    own_threads: bool = False


_REGISTRY: dict[str, Metric] = {}


def register(metric: Metric) -> Metric:
    """Make a metric available under its name; ValueError if the name is taken.

    metric : the metric; `metric.name` is how it is asked for from now on.
    """
    if metric.name in _REGISTRY or metric.name == "precomputed":
        raise ValueError(f"A metric named {metric.name!r} exists already; choose another name.")
    _REGISTRY[metric.name] = metric
    return metric


@dataclass(frozen=True)
class BoundMetric:
    """A metric with its parameters, as sources and predictions call it."""

    metric: Metric
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def symmetric(self) -> bool:
        symmetric = self.metric.symmetric
        return symmetric(self.params) if callable(symmetric) else symmetric

    def prepared(self, objects: list[Any]) -> Any:
        """The objects as the metric takes them; ValueError names the first that it cannot compare."""
        return objects if self.metric.prepare is None else self.metric.prepare(objects, **self.params)

    def resolved(self, objects: Any, m: NDArray[np.float64]) -> BoundMetric:
        """The same with the parameters that the training data, weighted by m, determine (such as a covariance)."""
        if self.metric.from_data is None:
            return self
        return replace(self, params={**self.params, **self.metric.from_data(objects, m, self.params)})

    def between(
        self, a: Any, b: Any, a_index: IntArray | None = None, b_index: IntArray | None = None, n_jobs: int = 1
    ) -> NDArray[np.float64]:
        """(len(a), len(b)) dissimilarities; ValueError names the pair (by the given indices) of a bad value.

        n_jobs : threads for a metric that uses its own; others are called chunk by chunk from outside.
        """
        threads = {"n_jobs": n_jobs} if self.metric.own_threads else {}
        try:
            block = np.asarray(self.metric.block(a, b, **self.params, **threads), dtype=np.float64)
        except TypeError as error:
            if not self.params:
                raise
            reason = str(error).splitlines()[0]
            raise ValueError(
                f"The metric {self.name!r} does not work with metric_params {sorted(self.params)}: {reason}"
            ) from error
        self.refuse_bad(block, a_index, b_index)
        return block

    def refuse_bad(
        self, block: NDArray[np.float64], a_index: IntArray | None = None, b_index: IntArray | None = None
    ) -> None:
        """ValueError names the first pair (by the given indices) of a block (n, k) that has no finite value >= 0."""
        if block.min(initial=0.0) >= 0 and block.max(initial=0.0) < np.inf:
            return
        i, l = np.argwhere(~((block >= 0) & (block < np.inf)))[0]
        value = block[i, l]
        i, l = (i if a_index is None else a_index[i]), (l if b_index is None else b_index[l])
        hint = "; a vector of zeros has no direction" if self.name in ("cosine", "correlation") else ""
        raise ValueError(
            f"The metric {self.name!r} returned {'NaN' if np.isnan(value) else format(value, 'g')} for the pair "
            f"({i}, {l}){hint}. A dissimilarity must be a finite number >= 0: check these two objects."
        )
