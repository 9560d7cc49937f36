"""Commands, one or two per file; the table in app/main.py names them. Heavy imports stay inside them."""

from __future__ import annotations
