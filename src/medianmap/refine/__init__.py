"""Swap refinement: exemplars of a fitted map are exchanged for other data points while that lowers its own cost."""

from .medoids import swap_medoids
from .problem import Swapped

__all__ = ["Swapped", "swap_medoids"]
