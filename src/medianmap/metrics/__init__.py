"""Dissimilarities by name, by function, compiled or not."""

from .registry import BoundMetric, Metric, bind, register, registered

__all__ = ["BoundMetric", "Metric", "bind", "register", "registered"]
