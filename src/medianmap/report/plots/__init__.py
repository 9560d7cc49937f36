"""Pictures of maps and of what was learned; matplotlib draws them (`pip install 'medianmap[plot]'`)."""

from __future__ import annotations

from .paths import BetaPathDisplay, KPathDisplay, WidthFrontDisplay
from .som import MapDisplay, UMatrixDisplay
from .topology import TopologyDisplay
from .training import TrainingDisplay

__all__ = [
    "BetaPathDisplay",
    "KPathDisplay",
    "MapDisplay",
    "TopologyDisplay",
    "TrainingDisplay",
    "UMatrixDisplay",
    "WidthFrontDisplay",
]
