"""The version, alone in its file so that reading it imports nothing."""

from __future__ import annotations

__version__ = "0.2.0"
