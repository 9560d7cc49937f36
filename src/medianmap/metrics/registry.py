"""Names of dissimilarities -> functions on blocks of objects; one door for names, callables and numba functions."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from . import base
from .base import BoundMetric, Metric


def registered() -> dict[str, Metric]:
    """All metrics that have a name, sorted by it."""
    _load_builtin()
    return dict(sorted(base._REGISTRY.items()))


def _load_builtin() -> None:
    from . import alignment, edit, mixed, series, spectra, strings, vector  # noqa: F401  (importing registers)


def bind(metric: Any, params: Mapping[str, Any] | None = None) -> BoundMetric:
    """A registered, SciPy or scikit-learn name, a callable or a numba function, with its parameters."""
    if callable(metric):
        from .callables import from_callable

        return BoundMetric(from_callable(metric), dict(params or {}))
    if not isinstance(metric, str):
        raise ValueError(f"metric is {metric!r}; it must be a name or a function of two objects.")
    known = registered()
    if metric not in known:
        close = get_close_matches(metric, [*known, "precomputed"], n=3)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ValueError(f"There is no metric {metric!r}.{hint} `medianmap metrics` lists the names.")
    _refuse_unknown(known[metric], params or {})
    return BoundMetric(known[metric], dict(params or {}))


def _refuse_unknown(metric: Metric, params: Mapping[str, Any]) -> None:
    names = [parameter.name for parameter in metric.parameters]
    unknown = [name for name in params if name not in names]
    if names and unknown:
        raise ValueError(
            f"The metric {metric.name!r} does not work with metric_params {unknown}; its parameters are "
            f"{', '.join(names)}."
        )


# --- What `medianmap metrics` tells: every registered metric as a plain dictionary


def describe() -> list[dict[str, Any]]:
    """One record a metric, sorted by what it accepts and its name; nothing optional is imported."""
    return sorted(map(_record, registered().values()), key=lambda record: (record["accepts"], record["name"]))


def _record(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "accepts": metric.accepts,
        "symmetric": symmetry(metric),
        "extra": metric.extra,
        "summary": metric.summary,
        "parameters": [{"name": p.name, "default": p.default, "meaning": p.meaning} for p in metric.parameters],
    }


def symmetry(metric: Metric) -> str:
    """'yes', 'no', or 'depends' where the parameters decide."""
    if callable(metric.symmetric):
        return "depends"
    return "yes" if metric.symmetric else "no"
