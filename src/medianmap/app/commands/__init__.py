"""Commands, a file each; the table in cli.py names them. Heavy imports stay inside them."""

from __future__ import annotations
