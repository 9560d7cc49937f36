"""The page of a model: of points that are at hand, or of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..health import Health, check_dissimilarity
from ..patches.assign_all import map_of
from ..patches.queries import fitted_on_dissimilarities
from ..report.summary import MOST_COMPUTED, MOST_POINTS
from .assigning import assigned_blocks
from .data import Given, read_given
from .watching import Watch


def page(
    model: Any,
    given: Given,
    points: NDArray[Any],
    health: Health | None,
    settings: Mapping[str, Any],
    title: str | None = None,
) -> str:
    """report.html of the points `given`, which lie where the table of `two_best` says."""
    from ..report.content import gather
    from ..report.html import render

    X = given.objects if given.source is None else given.source
    title = title or f"{Path(given.name).name}: {len(given)} {'sequences' if given.sequences else given.kind}"
    return render(gather(model, X, ids=given.ids, y=given.labels, points=points, title=title, health=health,
                         settings=settings))  # fmt: skip


def page_of_file(
    model: Any,
    file: str,
    options: Mapping[str, Any],
    labels: str | None,
    settings: Mapping[str, Any],
    watch: Watch,
    n_jobs: int | None = None,
    title: str | None = None,
) -> str:
    """The same of the points in a file."""
    given = read_given(file, options, labels)
    fitted: Any = map_of(model)
    if fitted_on_dissimilarities(fitted) != (given.source is not None):
        wanted = "dissimilarities" if given.source is None else "objects that a metric compares"
        raise ValueError(f"{file} holds {given.kind}, but the model was fitted on {wanted}; give it such a file.")
    X = given.objects if given.source is None else given.source
    points = assigned_blocks(model, X, given.ids, n_jobs, watch).table()
    if given.source is not None:
        health = check_dissimilarity(given.source, max_points=MOST_POINTS)
    elif hasattr(fitted, "metric"):
        health = check_dissimilarity(
            given.objects, metric=fitted.metric, metric_params=fitted.metric_params, max_points=MOST_COMPUTED
        )
    else:
        health = None
    return page(model, given, points, health, settings, title)
