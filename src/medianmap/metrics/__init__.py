"""Dissimilarities by name, by function, compiled or not."""

from .registry import BoundMetric, Metric, Parameter, bind, register, registered

__all__ = ["BoundMetric", "Metric", "Parameter", "bind", "register", "registered"]
