"""Refinement by swaps: exemplars of a fitted map are exchanged for other data points while that lowers its cost."""

from __future__ import annotations

from .candidates import Swapped
from .medoid_swaps import swap_medoids
from .som_swaps import refine_som, swap_som

__all__ = ["Swapped", "refine_som", "swap_medoids", "swap_som"]
