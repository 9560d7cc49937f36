"""`python -m medianmap` is the command `medianmap`."""

from __future__ import annotations

from .app.main import main

main()
