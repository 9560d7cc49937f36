"""One self-contained HTML page of a summary: what it draws as JSON, with the template, style and scripts of `page/`."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np

from ..sources.base import IntArray
from ..utils.checks import check_count
from ..utils.palette import OTHERS, RAMPS, STYLES, UNLABELLED
from .exemplars import numbers
from .members import are_numbers, by_number
from .order import EXPLAINED
from .summary import plain

# A page can be mailed; members get the bytes that the rest does not need.
PAGE_BYTES, PAGE_ITSELF = 4_800_000, 140_000
# Bytes of a listed member beside its id: its dissimilarity, its class, commas.
PER_LISTED = 16
PER_VALUE = 6  # and of each value of its metadata, a number of a list
# A column of more different values than this is listed, but no colour scheme; of more numbers, no classes. Numbers of
# no more different values than the last may well be names of classes.
MOST_CLASSES, MOST_NUMBERS, FEW = 1000, 200, 8
# The scripts of the page, in the order in which they need each other.
SCRIPTS = (
    "basics", "colors", "geometry", "regions", "map", "columns", "pies", "legend", "exemplar", "glimpse", "view",
    "selection", "panel", "search", "plane", "picture", "table", "about", "start",
)  # fmt: skip
# Those of a page that compares two maps.
COMPARED = ("basics", "colors", "geometry", "regions", "compare")
# "<", ">" and "&" open or end markup, the two separators end lines of scripts, lone surrogates have no UTF-8.
_DANGEROUS = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def page_content(
    facts: dict[str, Any], *, title: str | None = None, health: Any = None,
    settings: Mapping[str, Any] | None = None, members: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """What the page shows, numbers rounded, out of `summarize(..., structure=True)`.

    title : heading of the page. health : what `check_dissimilarity` found, or its dictionary.
    settings : shown as they are, by name. members : see `report`.
    """
    if members is not None:
        check_count(members, "members")
    grid, training = facts["grid"], facts["training"]
    n_groups = 1 + max(neuron["group"] for neuron in facts["neurons"])
    error = facts["quality"].get("topographic_error") if facts["n_neurons"] > 1 else None
    content: dict[str, Any] = {
        "title": str(title) if title is not None else f"{facts['map']} of {facts['n_points']} points",
        "map": facts["map"], "dissimilarity": str(facts["metric"] or "squared Euclidean distance"),
        "n_points": facts["n_points"], "n_neurons": facts["n_neurons"],
        "lattice": facts["lattice"] and {"kind": facts["lattice"], "grid": grid, "periodic": facts["periodic"]},
        "stress": _rounded(facts["stress"], 4), "edges_left_out": facts["edges_left_out"],
        "kind": "graph" if facts["lattice"] is None else "lattice",
        "empty": sum(neuron["points"] == 0 for neuron in facts["neurons"]),
        "quality": {
            "quantization_error": _rounded(facts["quality"]["quantization_error"]),
            "mean_dissimilarity": _rounded(facts["mean_dissimilarity"]), "topographic_error": _rounded(error),
        },
        "order": {name: facts[name] for name in ("reading", "verdict", "torn")} if facts.get("reading") else None,
        "measures": [[name.replace("_", " "), _rounded(facts["quality"][name], 4), told]
                     for name, told in EXPLAINED.items() if facts["quality"].get(name) is not None],
        "n_points_compared": facts.get("n_points_compared"),
        "certainty": {
            "n_resamples": facts["certainty"]["n_resamples"], "mean": _rounded(facts["certainty"]["mean"], 4),
            "least_sure": [
                {name: _rounded(value, 4) if isinstance(value, float) else value for name, value in each.items()}
                for each in facts["certainty"]["least_sure"]
            ],
        },
        "groups": {"n": n_groups, "why": facts["groups"]["why"]},
        "outliers": _scored(facts["outliers"]), "borders": _scored(facts["borders"]),
        "scored_by_exemplars": facts.get("scored_by_exemplars", False),
        "n_outliers": facts["n_outliers"], "n_border_points": facts["n_border_points"],
        "styles": [list(style) for style in (*STYLES, OTHERS, UNLABELLED)],
        "neurons": [_neuron(neuron, bool(facts["classes"])) for neuron in facts["neurons"]],
        "edges": [[a, b, _rounded(d), *count] for a, b, d, *count in facts["edges"]],
        "exemplars": facts["exemplars"],
        "training": training and training | {
            "sigma": numbers(training["sigma"], 4), "quantization_error": numbers(training["quantization_error"])
        },
        "health": None if health is None else health.as_dict() if hasattr(health, "as_dict") else dict(health),
        "settings": {str(name): plain(value) for name, value in (settings or {}).items()},
        "parameters": facts["parameters"], "versions": facts["versions"], "ramps": RAMPS,
        "class_names": [each["class"] for each in facts["classes"]], "labels": None, "columns": [],
        "plane": _plane(facts["plane"]),
    }  # fmt: skip
    fields, texts = facts["members"], 0
    if facts["classes"]:
        content["labels"] = _column("Labels", content["class_names"], [each["classes"] for each in fields])
    for k, column in enumerate(facts["columns"]):
        codes = [each["columns"][k] for each in fields]
        content["columns"].append(_column(column["name"], column["values"], codes))
    n_free = PAGE_BYTES - PAGE_ITSELF - n_bytes(content) - 60 * len(facts["neurons"])
    if all("texts" in each for each in fields):
        texts = n_bytes([each["texts"] for each in fields])
    for room in (n_free - texts, n_free):  # texts of the members come where all else has room
        content["members"], content["listed"] = _listed(fields, room, members, len(facts["columns"]))
        if content["listed"]["complete"]:
            break
    if texts and room < n_free and content["listed"]["complete"]:
        for shown, each in zip(content["members"], fields, strict=True):
            shown["texts"] = each["texts"]
    return content


def _neuron(neuron: dict[str, Any], labelled: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {name: neuron[name] for name in ("neuron", "layer", "row", "column") if name in neuron}
    shown |= {
        "x": _rounded(neuron["x"]), "y": _rounded(neuron["y"]), "hits": neuron["points"], "u": _rounded(neuron["u"]),
        "quality": _rounded(neuron["mean_dissimilarity"]), "sure": _rounded(neuron["sure"], 4),
        "group": neuron["group"], "exemplar": neuron["exemplar_id"],
    }  # fmt: skip
    if labelled:
        shown |= {"majority": neuron["majority"], "purity": _rounded(neuron["purity"])}
    if "class" in neuron:
        shown["predicts"] = neuron["class"]
    return shown


def _scored(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each | {"score": _rounded(each["score"], 4)} for each in points]


def _column(name: str, values: list[str], codes: list[list[int]]) -> dict[str, Any]:
    """A column by which the map can be coloured; codes are the numbers of the members' values, -1 where they have none.

    kind : "numbers", "classes", or "text", which is listed alone. counts : of each prototype [code, members, ...], None
    where there are too many values to be classes. means : of numbers at each prototype, and missing, how many points
    have none.
    """
    words, numeric = [by_number(value)[0] for value in values], are_numbers(values)
    kind = "numbers" if numeric and len(values) > FEW else "classes" if len(values) <= MOST_CLASSES else "text"
    column: dict[str, Any] = {"name": name, "values": values, "kind": kind, "numeric": numeric, "counts": None}
    tables = [np.unique([code for code in own if code >= 0], return_counts=True) for own in codes]
    if len(values) <= (MOST_NUMBERS if kind == "numbers" else MOST_CLASSES):
        column["counts"] = [np.column_stack(table).astype(int).ravel().tolist() for table in tables]
    if numeric:
        x = np.array([np.nan if word else float(value) for word, value in zip(words, values, strict=True)])
        means, missing = [], 0
        for own in codes:
            known = [x[code] for code in own if code >= 0 and not words[code]]
            means.append(_rounded(float(np.mean(known))) if known else None)
            missing += len(own) - len(known)
        column |= {"means": means, "missing": missing}
    return column


def _plane(plane: dict[str, Any]) -> dict[str, Any]:
    """Places in thousandths of the longer side."""
    places = [each[:2] for each in plane["places"]]
    if plane["correlation"] is not None:
        z = np.array([each[2:] for each in plane["places"]])
        z = np.round(1000 * (z - z.min(axis=0)) / np.ptp(z, axis=0).max()).astype(int)
        places = [[*each, *xy] for each, xy in zip(places, z.tolist(), strict=True)]
    return {"correlation": _rounded(plane["correlation"], 2), "places": places}


def _rounded(value: float | None, digits: int = 6) -> float | None:
    return None if value is None else numbers(value, digits)[0]


def _listed(
    members: list[dict[str, Any]], n_free: int, most: int | None, n_columns: int = 0
) -> tuple[list[Any], dict[str, Any]]:
    """(one record per prototype, what is listed).

    A record: ids, dissimilarities, classes and metadata of the nearest members; `others` are the ids alone of those
    beyond, which can be searched. What is listed: cap (members listed per prototype; None: all), complete, n_listed,
    n_searchable.

    n_free : bytes that members may take. most : members listed per prototype; None: as many as fit.
    """
    rank = np.concatenate([np.arange(len(each["ids"])) for each in members])
    size = np.array([n_bytes(name) + 1 for each in members for name in each["ids"]], np.int64)
    cap, reach = caps(rank, size, n_free, most, PER_LISTED + PER_VALUE * n_columns)
    records = []
    for each in members:
        record = {"ids": each["ids"][:cap], "dissimilarities": numbers(each["dissimilarities"][:cap], 5)}
        if "classes" in each:
            record["classes"] = each["classes"][:cap]
        if "columns" in each:
            record["columns"] = [codes[:cap] for codes in each["columns"]]
        records.append(record | {"others": each["ids"][cap:reach]})
    complete = cap > int(rank.max())
    found = {"n_listed": int((rank < cap).sum()), "n_searchable": int((rank < reach).sum())}
    return records, {"cap": None if complete else cap, "complete": complete, **found}


def caps(
    rank: IntArray, size: IntArray, n_free: int, most: int | None, per_listed: int = PER_LISTED
) -> tuple[int, int]:
    """(members listed per prototype, members whose ids are there at all) within n_free bytes.

    rank (N,) : place of each point among the members of its prototype. size (N,) : bytes of its id.
    per_listed : bytes of a listed member beside its id.

    All ids come first, so that every one can be found; where they do not fit, listed members get half of the room.
    """
    by_rank = np.bincount(rank, weights=size)
    ids, rows = np.cumsum(by_rank), np.cumsum(np.bincount(rank) * per_listed)
    whole = len(by_rank)
    taken, room = (rows, n_free - ids[-1]) if ids[-1] <= n_free else (ids + rows, n_free / 2)
    cap = min(int(np.searchsorted(taken, room, side="right")) if most is None else most, whole)
    left = n_free - (rows[cap - 1] if cap else 0)
    return cap, max(cap, int(np.searchsorted(ids, left, side="right")))


def render(content: dict[str, Any]) -> str:
    """The page of what `page_content` or `compared` returned, as text to be written in UTF-8.

    The browser runs and styles nothing but the texts whose hashes its policy names; ids, labels and titles are data.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style, script = _style_and_script(COMPARED if "maps" in content else SCRIPTS)
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(_read("report.html.jinja")).render(
        title=content["title"].encode("utf-8", "replace").decode(),  # no file can hold lone surrogates
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        style=Markup(style), script=Markup(script), compared="maps" in content, content=Markup(embedded(content)),
    )  # fmt: skip
    return page + "\n"


def embedded(value: Any) -> str:
    """value as compact JSON without "<", ">", "&", U+2028, U+2029; `JSON.parse` gives back every character."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _DANGEROUS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def n_bytes(value: Any) -> int:
    """Bytes that value takes in the page."""
    return len(embedded(value).encode())


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return (files(__package__) / "page" / name).read_text("utf-8")


@cache
def _style_and_script(names: tuple[str, ...]) -> tuple[str, str]:
    """The style, and all scripts as one, in a scope of its own."""
    scripts = "\n".join(_read(f"{name}.js") for name in names)
    return _read("report.css"), "(() => {\n'use strict';\n" + scripts + "})();\n"
