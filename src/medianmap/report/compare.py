"""Two maps of the same points: how far they agree, which members moved, and a page with both side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from ..core.plane import layout
from ..explore import prototypes as views
from ..predict.assign_all import two_best
from ..predict.queries import map_of
from ..sources import in_order, row_ids
from ..sources.base import IntArray
from ..utils.palette import OTHERS, RAMPS, STYLES, UNLABELLED
from . import Report
from .html import PAGE_BYTES, PAGE_ITSELF, n_bytes
from .members import class_names
from .summary import summarize


@dataclass(frozen=True)
class Side:
    """A fitted map, the data it sees the points by, and the table of `two_best`."""

    model: Any
    X: Any
    points: NDArray[Any]
    name: str

    def on(self, rows: Sequence[int]) -> Side:
        """The same of some of the points, in this order."""
        return Side(self.model, self.X, self.points[list(rows)], self.name)


def compare(
    a: Any, b: Any, X: Any, X_b: Any = None, *, ids: Sequence[str] | None = None, y: Any = None,
    names: tuple[str, str] = ("A", "B"), title: str | None = None,
) -> Report:  # fmt: skip
    """Compare two fitted maps of the same points: one HTML page with both, selections linked.

    Parameters
    ----------
    a, b : fitted maps, PatchClusterers or PrototypeClassifiers, of any two kinds and sizes
    X : the data, N points
    X_b : the same points in the same order as b takes them, where that differs: other features, another matrix
    ids : (N,) names of the points; None takes those that X carries, or numbers
    y : (N,) classes of the points, None or "" where one has none
    names : what the two maps are called
    title : heading of the page

    Returns
    -------
    Report
        `.summary` has `adjusted_rand` and `normalized_mutual_information` of the two partitions, `matches`, rows
        [neuron of a, neuron of b, points of both], by which the neurons share the most points in all, and `moved`,
        the points that are not at the match of their neuron, those that went farthest on the lattice of b first.

    Examples
    --------
    >>> import medianmap
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    >>> two = medianmap.MedianKMeans(2, metric="edit", random_state=0).fit(words)
    >>> three = medianmap.MedianKMeans(3, metric="edit", random_state=0).fit(words)
    >>> page = medianmap.compare(two, two, words)
    >>> page.summary["adjusted_rand"], page.summary["moved"]
    (1.0, [])
    >>> medianmap.compare(two, three, words).summary["n_points"]
    6
    """
    ids = row_ids(X) if ids is None else ids
    y = in_order(y, ids, "y")
    sides = [
        Side(model, data, two_best(model, data), name)
        for model, data, name in zip((a, b), (X, X if X_b is None else X_b), names, strict=True)
    ]
    n, m = (len(side.points) for side in sides)
    if n != m:
        raise ValueError(f"X holds {n} points and X_b {m}; both must hold the same points in the same order.")
    texts = [str(name) for name in (range(n) if ids is None else ids)]
    if len(texts) != n:
        raise ValueError(f"There are {len(texts)} ids for {n} points; give one id per point.")
    return comparison(sides[0], sides[1], texts, class_names(y, n), title)


def comparison(a: Side, b: Side, ids: list[str], classes: list[str | None], title: str | None = None) -> Report:
    """The comparison of two sides whose points (N,) are of the same points `ids`, row by row."""
    of_a, of_b = a.points["prototype"], b.points["prototype"]
    table = np.zeros((len(map_of(a.model).hits_), len(map_of(b.model).hits_)), np.intp)
    np.add.at(table, (of_a, of_b), 1)
    match = np.full(len(table), -1)
    rows, cols = linear_sum_assignment(table, maximize=True)
    shared = table[rows, cols] > 0
    match[rows[shared]] = cols[shared]
    facts: dict[str, Any] = {
        "n_points": len(ids), "names": [a.name, b.name],
        "adjusted_rand": float(adjusted_rand_score(of_a, of_b)),
        "normalized_mutual_information": float(normalized_mutual_info_score(of_a, of_b)),
        "matches": [[j, int(l), int(table[j, l])] for j, l in enumerate(match) if l >= 0],
        "both": [[int(j), int(l), int(table[j, l])] for j, l in np.argwhere(table)],
        "maps": [_map_facts(side, ids) for side in (a, b)],
        "moved": _moved(b, ids, of_a, of_b, match),
    }  # fmt: skip
    return Report(facts, compared(facts, ids, of_a, of_b, classes, title))


def _moved(b: Side, ids: list[str], of_a: IntArray, of_b: IntArray, match: IntArray) -> list[dict[str, Any]]:
    """point, id, neurons in a and b, the match of the former (None without one), and its steps from b's neuron."""
    lattice = getattr(map_of(b.model), "lattice_", None)
    moved = []
    for i in np.flatnonzero(match[of_a] != of_b).tolist():
        j, l, expected = int(of_a[i]), int(of_b[i]), int(match[of_a[i]])
        steps = None if lattice is None or expected < 0 else float(lattice.distances[expected, l])
        match_ = None if expected < 0 else expected
        moved.append({"point": i, "id": ids[i], "a": j, "b": l, "match": match_, "steps": steps})
    return sorted(moved, key=lambda each: (each["steps"] is None, -(each["steps"] or 0.0)))


def _map_facts(side: Side, ids: list[str]) -> dict[str, Any]:
    """The neurons of a map with their places, the number of points, and the id of an exemplar."""
    facts, fitted = summarize(side.model), map_of(side.model)
    counts = np.bincount(side.points["prototype"], minlength=len(facts["neurons"]))
    if facts["lattice"] is None:
        z = layout(views.as_lengths(fitted, views.prototype_dissimilarities(side.model, side.X))).positions
        z = (z - z.min(axis=0)) / (np.ptp(z, axis=0).max() or 1.0)
        for neuron, (x, y) in zip(facts["neurons"], z.tolist(), strict=True):
            neuron |= {"x": x, "y": y}
    order = np.argsort(side.points["dissimilarity"], kind="stable")[::-1]
    nearest = dict(zip(side.points["prototype"][order].tolist(), order.tolist(), strict=True))
    neurons = [
        {name: neuron[name] for name in ("neuron", "layer", "row", "column", "x", "y") if name in neuron}
        | {"hits": int(n), "exemplar": neuron["exemplar_id"] or (ids[nearest[j]] if j in nearest else None)}
        for j, (neuron, n) in enumerate(zip(facts["neurons"], counts, strict=True))
    ]
    lattice = facts["lattice"] and {"kind": facts["lattice"], "grid": facts["grid"], "periodic": facts["periodic"]}
    return {"name": side.name, "map": facts["map"], "metric": facts["metric"], "lattice": lattice, "neurons": neurons}


def compared(
    facts: dict[str, Any], ids: list[str], of_a: IntArray, of_b: IntArray, classes: list[str | None], title: str | None
) -> dict[str, Any]:
    """What the page shows: facts, and as many points as it can hold, [id, neuron in a, in b, class], moved first."""
    known = sorted({name for name in classes if name is not None})
    number = {name: k for k, name in enumerate(known)}
    first = [each["point"] for each in facts["moved"]]
    order = [*first, *np.setdiff1d(np.arange(len(ids)), first).tolist()]
    content: dict[str, Any] = {
        "title": title or f"{facts['names'][0]} and {facts['names'][1]}: {facts['n_points']} points on two maps",
        **{name: facts[name] for name in ("n_points", "matches", "both", "maps")},
        "adjusted_rand": round(facts["adjusted_rand"], 4),
        "normalized_mutual_information": round(facts["normalized_mutual_information"], 4),
        "n_moved": len(facts["moved"]), "class_names": known, "ramps": RAMPS,
        "steps": [each["steps"] for each in facts["moved"]],
        "styles": [list(style) for style in (*STYLES, OTHERS, UNLABELLED)], "points": [],
    }  # fmt: skip
    if known:  # of each neuron [class, points, ...]
        codes = np.array([-1 if name is None else number[name] for name in classes])
        for shown, own in zip(content["maps"], (of_a, of_b), strict=True):
            table = np.zeros((len(shown["neurons"]), len(known)), np.intp)
            np.add.at(table, (own[codes >= 0], codes[codes >= 0]), 1)
            shown["counts"] = [np.stack([row.nonzero()[0], row[row > 0]], axis=1).ravel().tolist() for row in table]
    free = PAGE_BYTES - PAGE_ITSELF - n_bytes(content)
    for i in order:
        name = classes[i]
        row = [ids[i], int(of_a[i]), int(of_b[i]), -1 if name is None else number[name]]
        free -= n_bytes(row) + 1
        if free < 0:
            break
        content["points"].append(row)
    return content
