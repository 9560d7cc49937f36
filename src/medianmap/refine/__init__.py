"""Swap refinement: exemplars of a fitted map are exchanged for other data points while that lowers its own cost."""

from __future__ import annotations

from .medoids import swap_medoids
from .problem import Swapped
from .som import refine_som, swap_som

__all__ = ["Swapped", "refine_som", "swap_medoids", "swap_som"]
