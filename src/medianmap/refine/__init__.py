"""Refinement of a fitted map: exemplars are exchanged for other data points, and between the neurons of a lattice."""

from __future__ import annotations

from .arrangement import Arranged, arrange
from .candidates import Swapped
from .medoid_swaps import swap_medoids
from .som_swaps import refine_som

__all__ = ["Arranged", "Swapped", "arrange", "refine_som", "swap_medoids"]
