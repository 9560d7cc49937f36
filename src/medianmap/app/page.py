"""report.html of a model: about points that are read already, or about those in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..explore.health import Health, check_dissimilarity
from ..predict.nearest import two_best
from ..predict.queries import map_of
from ..report import report
from ..report.summary import MOST_COMPUTED
from ..utils.progress import followed
from ..utils.tables import counted
from ..utils.threads import limited
from .inputs import Given, read_given
from .watch import Watch


def page(
    model: Any,
    given: Given,
    points: NDArray[Any],
    health: Health | None,
    settings: Mapping[str, Any],
    title: str | None = None,
) -> str:
    """The page of a model about the points `given`; `points` is their table of `two_best`."""
    X = given.objects if given.source is None else given.source
    title = title or f"{Path(given.name).name}: {_in_words(given)}"
    return report(
        model, X, ids=given.ids, y=given.labels, points=points, title=title, health=health, settings=settings
    ).html


def _in_words(given: Given) -> str:
    """'630 sequences', '1 series', '20 points' of a matrix."""
    if given.kind == "series":
        return f"{len(given)} series"
    kinds = {"dissimilarities": "point"}
    return counted(len(given), "sequence" if given.sequences else kinds.get(given.kind, given.kind.removesuffix("s")))


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
    """The page of a model about the points in a file."""
    with followed(watch.progress):
        given = read_given(file, options, labels)
    fitted: Any = map_of(model)
    if fitted._reads_matrix() != (given.source is not None):
        wanted = "dissimilarities" if given.source is None else "objects that a metric compares"
        raise ValueError(f"{file} holds {given.kind}, but the model was fitted on {wanted}; pass a file of those.")
    X = given.objects if given.source is None else given.source
    points = two_best(model, X, n_jobs=n_jobs, on_progress=watch.progress)
    with followed(watch.progress):
        return page(model, given, points, _health(fitted, given, watch), settings, title)


def _health(fitted: Any, given: Given, watch: Watch) -> Health | None:
    """What is wrong with the dissimilarities that the map compares by; None for maps of means of vectors."""
    with limited(1):
        if given.source is not None:
            return check_dissimilarity(given.source, max_points=MOST_COMPUTED, on_progress=watch.progress)
        if not hasattr(fitted, "metric"):
            return None
        how = {"metric": fitted.metric, "metric_params": fitted.metric_params_}
        return check_dissimilarity(given.objects, **how, max_points=MOST_COMPUTED, on_progress=watch.progress)
