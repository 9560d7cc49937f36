"""Dissimilarities by name, by function, compiled or not."""

from __future__ import annotations

from .base import BoundMetric, Metric, Parameter, register
from .registry import bind, registered

__all__ = ["BoundMetric", "Metric", "Parameter", "bind", "register", "registered"]
