"""Dissimilarities of objects, by name or by a function of two objects; `register` adds one."""

from __future__ import annotations

from .base import BoundMetric, Metric, Parameter, register
from .registry import bind, registered

__all__ = ["BoundMetric", "Metric", "Parameter", "bind", "register", "registered"]
