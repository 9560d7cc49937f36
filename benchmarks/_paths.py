"""Imported for its effect: the commands here find `reproduction`, which is beside them and not installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
