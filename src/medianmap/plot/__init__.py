"""Pictures of maps and of what was learned; matplotlib draws them (`pip install 'medianmap[plot]'`)."""

from .beta_path import BetaPathDisplay
from .som import MapDisplay, UMatrixDisplay
from .topology import TopologyDisplay
from .training import TrainingDisplay

__all__ = ["BetaPathDisplay", "MapDisplay", "TopologyDisplay", "TrainingDisplay", "UMatrixDisplay"]
