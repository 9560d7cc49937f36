"""Pictures of maps and of what was learned; matplotlib draws them (`pip install 'medianmap[plot]'`)."""

from .beta_path import BetaPathDisplay
from .k_path import KPathDisplay
from .som import MapDisplay, UMatrixDisplay
from .topology import TopologyDisplay
from .training import TrainingDisplay
from .width_front import WidthFrontDisplay

__all__ = [
    "BetaPathDisplay",
    "KPathDisplay",
    "MapDisplay",
    "TopologyDisplay",
    "TrainingDisplay",
    "UMatrixDisplay",
    "WidthFrontDisplay",
]
