"""What a fit writes, as text: assignments.tsv, prototypes.fasta or .tsv, summary.json and report.html."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..explore.health import Health
from ..predict.assign_all import Answers
from ..predict.nearest import nearest_of, outliers
from ..report import report
from ..utils.tables import counted, fasta_lines, tsv_lines
from .inputs import Given


def assignment_lines(model: Any, points: NDArray[Any], given: Given) -> Iterable[str]:
    """assignments.tsv: one row per point, with the columns of `medianmap predict`, then outlier and label."""
    answers = Answers(model)
    outlier = np.zeros(len(points), int)
    outlier[outliers(points)["point"]] = 1
    columns = [*answers.columns, "outlier"]
    cells: list[Any] = [*answers.cells(given.ids, nearest_of(points)), outlier.tolist()]
    if given.labels is not None:
        columns.append("label")
        cells.append(given.labels)
    return tsv_lines(columns, zip(*cells, strict=True))


def prototype_lines(given: Given, neurons: list[dict[str, Any]]) -> dict[str, Iterable[str]]:
    """prototypes.fasta of sequences, prototypes.tsv of all else: one record per neuron, in their order."""
    exemplars = [] if given.objects is None else [given.objects[n["exemplar"]] for n in neurons]
    if given.sequences:
        headers = [_header(neuron, given) for neuron in neurons]
        return {"prototypes.fasta": fasta_lines(zip(headers, exemplars, strict=True))}
    columns = [name for name in neurons[0] if name != "exemplar"]
    rows: list[list[Any]] = [[neuron[name] for name in columns] for neuron in neurons]
    if given.kind == "strings":
        columns.append("string")
        rows = [[*row, each] for row, each in zip(rows, exemplars, strict=True)]
    elif given.kind == "vectors":
        columns += given.columns or [f"x{k}" for k in range(len(exemplars[0]))]
        rows = [[*row, *each.tolist()] for row, each in zip(rows, exemplars, strict=True)]
    return {"prototypes.tsv": tsv_lines(columns, rows)}


def _header(neuron: dict[str, Any], given: Given) -> str:
    """The id, what the file says of it, and where it lies on the map."""
    place = [f"{name}={neuron[name]:g}" for name in ("neuron", "row", "column", "hits") if name in neuron]
    about = given.descriptions[neuron["exemplar"]] if given.descriptions else ""
    return " ".join(filter(None, [neuron["exemplar_id"], about, *place]))


def page(
    model: Any,
    given: Given,
    points: NDArray[Any],
    health: Health | None,
    settings: Mapping[str, Any],
    title: str | None = None,
) -> str:
    """report.html of the points `given`, which lie where the table of `two_best` says."""
    title = title or f"{Path(given.name).name}: {_number_of(given)}"
    return report(
        model, given.data, ids=given.ids, y=given.labels, points=points, title=title, health=health, settings=settings
    ).html


def _number_of(given: Given) -> str:
    """'630 sequences', '1 series', '20 points' of a matrix."""
    if given.kind == "series":
        return f"{len(given)} series"
    kinds = {"dissimilarities": "point"}
    return counted(len(given), "sequence" if given.sequences else kinds.get(given.kind, given.kind.removesuffix("s")))
