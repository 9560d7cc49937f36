"""What `medianmap metrics` tells: every registered metric as a plain dictionary."""

from __future__ import annotations

from typing import Any

from .registry import Metric, registered


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
