"""Pictures of maps: which there are, `plot_model` that draws one, and the displays, which matplotlib draws.

`pip install 'medianmap[plot]'` installs what they need. Displays are imported when first used, so that the command line
can list the pictures at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .curves import BetaPathDisplay, KPathDisplay, TrainingDisplay, WidthFrontDisplay
    from .maps import MapDisplay, TopologyDisplay, UMatrixDisplay

_HOME = {
    **dict.fromkeys(("BetaPathDisplay", "KPathDisplay", "TrainingDisplay", "WidthFrontDisplay"), ".curves"),
    **dict.fromkeys(("MapDisplay", "TopologyDisplay", "UMatrixDisplay"), ".maps"),
}

__all__ = ["BetaPathDisplay", "KPathDisplay", "MapDisplay", "TopologyDisplay", "TrainingDisplay", "UMatrixDisplay",
           "WidthFrontDisplay"]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name], __name__), name)


@dataclass(frozen=True)
class Picture:
    """What a picture is drawn from, besides the model."""

    on_grid: bool = False  # the grid of a SOM
    of_data: bool = False  # the data
    of_prototypes: bool = False  # the prototypes, which a map of a matrix knows only by their places in it


PICTURES = {
    "hits": Picture(on_grid=True),
    "quality": Picture(on_grid=True, of_data=True),
    "u-matrix": Picture(on_grid=True, of_prototypes=True),
    "labels": Picture(on_grid=True, of_data=True),
    "superclusters": Picture(on_grid=True, of_prototypes=True),
    "component": Picture(on_grid=True),
    "topology": Picture(of_data=True),
    "training": Picture(),
}


def plot_model(
    model: Any, what: str | None = None, X: Any = None, y: Any = None, *, ax: Any = None, **kwargs: Any
) -> Any:
    """Draw a fitted map, PatchClusterer or PrototypeClassifier; returns the display, with `.ax_` and `.figure_`.

    what : one of PICTURES; None takes "hits" for a SOM and "topology" for other maps.
    X, y : the data and their labels, where the picture needs them.
    kwargs : passed on to `from_estimator` of the display, such as n_groups, component, names or points.
    """
    from . import curves, maps, shapes

    what = chosen_picture(model, what)
    if what == "training":
        return curves.TrainingDisplay.from_estimator(model, ax=ax, **kwargs)
    if PICTURES[what].of_data:
        shapes.check_given(f"what={what!r}", X, y, of_labels=what == "labels")
    if what == "topology":
        return maps.TopologyDisplay.from_estimator(model, X, y, ax=ax, **kwargs)
    if what == "u-matrix":
        return maps.UMatrixDisplay.from_estimator(model, X, ax=ax, **kwargs)
    return maps.MapDisplay.from_estimator(model, X, y, color=what, ax=ax, **kwargs)


def pictures_of(model: Any) -> list[str]:
    """The names of the pictures that a fitted model has."""
    from ...predict.queries import map_of

    fitted: Any = map_of(model)
    vectors = getattr(fitted._exemplar_objects(), "ndim", 0) == 2
    missing = {"component": not vectors, "training": getattr(fitted, "history_", None) is None}
    grid = hasattr(fitted, "lattice_")
    return [name for name, picture in PICTURES.items() if (grid or not picture.on_grid) and not missing.get(name)]


def chosen_picture(model: Any, what: str | None) -> str:
    """`what`, or the first picture of the model where it is None; ValueError if the model has no such picture."""
    from ...utils.checks import check_choice

    known = pictures_of(model)
    what = known[0] if what is None else what
    check_choice(what, "what", tuple(PICTURES))
    if what in known:
        return what
    if what == "training":
        why = "was made in a pass over patches and keeps no history"
    elif what == "component" and "hits" in known:
        why = "has prototypes that are not vectors"
    else:
        why = "has no grid"
    raise ValueError(f"This {type(model).__name__} {why}, so it has no picture {what!r}; choose {' or '.join(known)}.")
