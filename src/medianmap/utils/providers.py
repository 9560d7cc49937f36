"""Names that a lower folder needs from a folder above it, such as the plots of a fitted map: loaded when first used.

Folders import downwards only. `medianmap/__init__.py` says here where each public name is; whoever needs one from above
asks for it by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LOADERS: dict[str, Callable[[], Any]] = {}


def provide(name: str, loader: Callable[[], Any]) -> None:
    """Let `provided(name)` return what `loader` returns."""
    _LOADERS[name] = loader


def provided(name: str) -> Any:
    """The object called `name`; KeyError if nobody provides it."""
    return _LOADERS[name]()
