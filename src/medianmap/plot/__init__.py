"""Pictures of maps and of what was learned; matplotlib draws them (`pip install 'medianmap[plot]'`)."""

from .beta_path import BetaPathDisplay

__all__ = ["BetaPathDisplay"]
