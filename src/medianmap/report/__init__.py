"""What a fitted map says, as numbers first (summary) and as text from them."""

from __future__ import annotations
