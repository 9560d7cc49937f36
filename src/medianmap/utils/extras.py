"""Optional dependencies: imported when first needed; where one is missing, a sentence says how to install it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def require(module: str, extra: str, what: str) -> ModuleType:
    """The module, or a sentence that says what needs it and how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        name = module.split(".")[0]
        raise ModuleNotFoundError(f"{what} needs {name}; install it with: pip install 'medianmap[{extra}]'") from error
