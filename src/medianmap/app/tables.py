"""The tables of a fit as lines: where every point lies, and the exemplars."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..predict.assign_all import Answers
from ..predict.nearest import nearest_of, outliers
from ..utils.tables import fasta_lines, tsv_lines
from .inputs import Given
from .training import Fitted


def assignment_lines(fitted: Fitted, given: Given) -> Any:
    """assignments.tsv: one row per point, with the columns of `medianmap predict`, then outlier and label."""
    answers = Answers(fitted.model)
    outlier = np.zeros(len(fitted.points), int)
    outlier[outliers(fitted.points)["point"]] = 1
    columns = [*answers.columns, "outlier"]
    cells: list[Any] = [*answers.cells(given.ids, nearest_of(fitted.points)), outlier.tolist()]
    if given.labels is not None:
        columns.append("label")
        cells.append(given.labels)
    return tsv_lines(columns, zip(*cells, strict=True))


def prototype_lines(fitted: Fitted, given: Given, neurons: list[dict[str, Any]]) -> dict[str, Any]:
    """prototypes.fasta of sequences, prototypes.tsv of all else: one record a neuron, in their order."""
    if given.sequences:
        return {"prototypes.fasta": fasta_lines((_header(n, given), given.objects[n["exemplar"]]) for n in neurons)}
    columns = [name for name in neurons[0] if name != "exemplar"]
    extra: list[str] = []
    if given.kind == "strings":
        extra = ["string"]
    elif given.kind == "vectors":
        extra = given.columns or [f"x{k}" for k in range(np.shape(given.objects)[1])]

    def rows() -> Any:
        for n in neurons:
            values: Any = [] if given.objects is None or not extra else given.objects[n["exemplar"]]
            yield [*(n[c] for c in columns), *([values] if isinstance(values, str) else np.asarray(values).tolist())]

    return {"prototypes.tsv": tsv_lines([*columns, *extra], rows())}


def _header(neuron: dict[str, Any], given: Given) -> str:
    """The id, where it lies on the map, and what the file says of it."""
    place = [f"{name}={neuron[name]:g}" for name in ("neuron", "row", "column", "hits") if name in neuron]
    about = given.descriptions[neuron["exemplar"]] if given.descriptions else ""
    return " ".join([neuron["exemplar_id"], about, *place]) if about else " ".join([neuron["exemplar_id"], *place])
