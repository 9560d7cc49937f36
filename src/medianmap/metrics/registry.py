"""From a name or a user's function to the metric; a new metric is a module here that calls `register`.

The module is imported in `registered`; docs/metrics.md lists all metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import base
from .base import BoundMetric, Metric

OTHER_NAMES = {  # names from the literature that spelling alone does not lead to ours
    "levenshtein": ["edit"],
    "needleman-wunsch": ["alignment"],
    "smith-waterman": ["alignment"],
    "blosum62": ["alignment"],
    "bray-curtis": ["braycurtis"],
}


def registered() -> dict[str, Metric]:
    """All metrics that have a name, sorted by it."""
    from . import alignment, edit, mixed, series, spectra, strings, vector  # noqa: F401  (importing registers)

    return dict(sorted(base._REGISTRY.items()))


def bind(metric: Any, params: Mapping[str, Any] | None = None) -> BoundMetric:
    """A registered, SciPy or scikit-learn name, a callable or a numba function, with its parameters."""
    if callable(metric):
        return BoundMetric(from_callable(metric), dict(params or {}))
    if not isinstance(metric, str):
        raise ValueError(f"metric is {metric!r}; it must be a name or a function of two objects.")
    known = registered()
    if metric not in known:
        close = get_close_matches(metric.lower(), [*known, "precomputed", *OTHER_NAMES], n=3)
        close = list(dict.fromkeys(name for each in close for name in OTHER_NAMES.get(each, [each])))
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ValueError(f"There is no metric {metric!r}.{hint} `medianmap metrics` lists the names.")
    names = [parameter.name for parameter in known[metric].parameters]
    unknown = [name for name in params or {} if name not in names]
    if names and unknown:
        raise ValueError(
            f"The metric {metric!r} does not work with metric_params {unknown}; its parameters are {', '.join(names)}."
        )
    return BoundMetric(known[metric], dict(params or {}))


def from_callable(function: Callable[..., Any]) -> Metric:
    """A user's function of two objects as a metric; numba calls it in a compiled loop if numba compiled it.

    Symmetry is not assumed: function(a, b) and function(b, a) are both evaluated.
    """
    from numba.extending import is_jitted

    name = getattr(function, "__name__", type(function).__name__)
    jitted = is_jitted(function)

    def block(a: Any, b: Any, **params: Any) -> NDArray[np.float64]:
        if jitted and not params and _numeric_rows(a) and _numeric_rows(b):
            return _compiled_block()(function, a, b)
        return _python_block(function, name, a, b, params)

    return Metric(name, block, symmetric=False, accepts="objects", summary="your function", threaded=jitted)


def _python_block(
    function: Callable[..., Any], name: str, a: Any, b: Any, params: dict[str, Any]
) -> NDArray[np.float64]:
    out = np.empty((len(a), len(b)))
    for i in range(len(a)):
        for l in range(len(b)):
            value = function(a[i], b[l], **params)
            try:
                out[i, l] = value
            except (TypeError, ValueError):
                raise ValueError(
                    f"The metric {name!r} returned {value!r} for a pair of objects; it must return one number."
                ) from None
    return out


def _numeric_rows(objects: Any) -> bool:
    return isinstance(objects, np.ndarray) and objects.ndim == 2 and objects.dtype.kind in "fiub"


@cache
def _compiled_block() -> Any:
    """The loop below as compiled code; it is compiled once for each user function, so not cached on disk."""
    from numba import njit

    @njit(nogil=True)
    def block(function, a, b):  # type: ignore[no-untyped-def]
        """out[i, l] = function(a[i], b[l])."""
        out = np.empty((a.shape[0], b.shape[0]))
        for i in range(a.shape[0]):
            for l in range(b.shape[0]):
                out[i, l] = function(a[i], b[l])
        return out

    return block


def describe() -> list[dict[str, Any]]:
    """What `medianmap metrics` prints: one record per metric, by what it accepts and its name; imports no extra."""
    return [
        {"name": metric.name, "accepts": metric.accepts,
         "symmetric": "depends" if callable(metric.symmetric) else "yes" if metric.symmetric else "no",
         "extra": metric.extra, "summary": metric.summary,
         "parameters": [asdict(parameter) for parameter in metric.parameters]}
        for metric in sorted(registered().values(), key=lambda metric: (metric.accepts, metric.name))
    ]  # fmt: skip
