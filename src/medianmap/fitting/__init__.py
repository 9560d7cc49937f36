"""What `medianmap fit` does, for Python: a file becomes a folder with the map, its tables and its page."""

from .settings import FitSettings

__all__ = ["FitResult", "FitSettings", "Watch", "run_fit"]


def __getattr__(name: str) -> object:
    # The command line reads the settings' defaults long before anything is fitted.
    if name in ("FitResult", "run_fit"):
        from . import run

        return getattr(run, name)
    if name == "Watch":
        from .watching import Watch

        return Watch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
