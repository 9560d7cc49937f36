"""A user's own dissimilarity: any Python function of two objects, looped over in compiled code if numba compiled it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.extending import is_jitted
from numpy.typing import NDArray

from .base import Metric


def from_callable(function: Callable[..., Any]) -> Metric:
    """Symmetry is not assumed: function(a, b) and function(b, a) are both asked."""
    name = getattr(function, "__name__", type(function).__name__)
    jitted = is_jitted(function)

    def block(a: Any, b: Any, **params: Any) -> NDArray[np.float64]:
        if jitted and not params and _numeric_rows(a) and _numeric_rows(b):
            return _compiled_block(function, a, b)
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


@njit(nogil=True)
def _compiled_block(function, a, b):  # type: ignore[no-untyped-def]
    """out[i, l] = function(a[i], b[l]); compiled once for each user function, so not cached on disk."""
    out = np.empty((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for l in range(b.shape[0]):
            out[i, l] = function(a[i], b[l])
    return out
