"""What is imported when first used: optional packages, and names that a lower folder needs from one above it.

Folders import downwards only. `medianmap/__init__.py` says here where each public name is; a lower folder that needs
one, such as the plots of a fitted map, asks for it by name.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


def require(module: str, extra: str, what: str) -> ModuleType:
    """The module, or a sentence that says what needs it and how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.split(".")[0]
        raise ModuleNotFoundError(f"{what} needs {name}; install it with: pip install 'medianmap[{extra}]'") from error


_LOADERS: dict[str, Callable[[], Any]] = {}


def provide(name: str, loader: Callable[[], Any]) -> None:
    """Let `provided(name)` return what `loader` returns."""
    _LOADERS[name] = loader


def provided(name: str) -> Any:
    """The object called `name`; KeyError if nobody provides it."""
    return _LOADERS[name]()
