"""A fitted map in a notebook: a few facts and a small picture below scikit-learn's diagram, as plain HTML.

Text has the notebook's own colours and the picture shades of one more, so that light and dark themes can both be read.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..sources.base import FloatArray
from ..utils.palette import LINES
from .plots.shapes import cell_polygons
from .summary import lattice_text, summarize

FILL = LINES[1]
FAINTEST = 0.12  # opacity of a neuron with few points; one without any is not filled
WIDTH, HEIGHT = 260.0, 180.0  # pixels at most
STRIP = 56.0  # height of the bars of a map without a grid
MOST_TITLED = 400  # with more neurons, each is too small to point at
MOST_NAMES = 8


def summary_html(model: Any) -> str:
    """The facts and the picture of a fitted map, classifier or pass over patches; empty where it is not fitted.

    model : any estimator of medianmap.
    """
    try:
        check_is_fitted(model)
        facts = summarize(model)
    except NotFittedError:
        return ""
    neurons = facts["neurons"]
    hits = np.array([neuron["hits"] for neuron in neurons])
    titles = [f"neuron {j}" + (f", {n['exemplar_id']}" if n["exemplar_id"] else "") for j, n in enumerate(neurons)]
    if facts["lattice"] is None:
        picture = bars(hits, titles)
    else:
        picture = cells(np.array([[neuron["x"], neuron["y"]] for neuron in neurons]), facts["lattice"], hits, titles)
    rows = "".join(
        f'<tr style="background:none"><th style="text-align:left;font-weight:600;padding:1px 12px 1px 0;'
        f'vertical-align:top">{escape(name)}</th><td style="text-align:left;padding:1px 0">{escape(value)}</td></tr>'
        for name, value in first_facts(facts, hits).items()
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:24px;align-items:center;margin:8px 0;color:inherit;'
        'font:13px/1.45 system-ui,sans-serif">'
        f'<table style="border-collapse:collapse;border:0;margin:0;font:inherit;color:inherit">{rows}</table>'
        f"{picture}</div>"
    )


def first_facts(facts: dict[str, Any], hits: FloatArray) -> dict[str, str]:
    """What is worth knowing first, by name; what a model does not have is left out."""
    lattice, metric, patches, classes = (facts[name] for name in ("lattice", "metric", "patches", "predicted_classes"))
    size = str(facts["n_neurons"])
    if lattice is not None:
        size += (" on " if facts["grid"] else " ") + lattice_text(facts)
    found = {"model": facts["model"], "neurons": size if metric is None else f"{size}, {metric}"}
    if classes:
        rest = len(classes) - MOST_NAMES
        found["classes"] = ", ".join(classes[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
    if patches is not None:
        early = ", stopped by the budget" if patches["stopped_early"] else ""
        found["patches"] = f"{patches['n']} over {patches['n_points']} points{early}"
    if facts["training"] is not None:
        found["epochs"] = f"{facts['epochs']}, {'converged' if facts['converged'] else 'not converged'}"
    if "quantization_error" in facts["quality"]:
        found["quantization error"] = f"{facts['quality']['quantization_error']:.6g}"
    found["hits"] = f"{hits.min():g} to {hits.max():g}, {hits.sum():g} in all"
    if "border_share" in facts["quality"]:
        found["points on the border"] = f"{facts['quality']['border_share']:.2g} times its share"
    found["empty neurons"] = str(facts["empty"] or "none")
    return found


def cells(positions: FloatArray, kind: str, hits: FloatArray, titles: list[str]) -> str:
    """An SVG of the lattice, row 0 on top: the more points a neuron has, the stronger its colour."""
    polygons = cell_polygons(positions, kind)
    low, high = polygons.min(axis=(0, 1)), polygons.max(axis=(0, 1))
    scale = min(WIDTH / (high[0] - low[0]), HEIGHT / (high[1] - low[1]), 24.0)
    outlines = [_outline((polygon - low) * scale + 1) for polygon in polygons]
    strength = np.where(hits > 0, FAINTEST + (1 - FAINTEST) * hits / max(hits.max(), 1e-300), 0.0).round(2)
    return _svg((high - low) * scale + 2, outlines, strength, hits, titles, "cells")


def bars(hits: FloatArray, titles: list[str]) -> str:
    """An SVG of one bar per prototype, the most points first; its height is their number."""
    width, tall = min(WIDTH / len(hits), 16.0), STRIP * hits / max(hits.max(), 1e-300)
    outlines = [""] * len(hits)
    for place, j in enumerate(np.argsort(-hits, kind="stable").tolist()):
        left, right, top = place * width + 1, (place + 1) * width + 1, STRIP + 1 - tall[j]
        corners = [[left, STRIP + 1], [left, top], [right, top], [right, STRIP + 1]]
        outlines[j] = _outline(np.array(corners)) if tall[j] > 0 else ""
    size = np.array([width * len(hits) + 2, STRIP + 2])
    return _svg(size, outlines, np.where(hits > 0, 0.8, 0.0), hits, titles, "bars")


def _outline(corners: FloatArray) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners.tolist()) + "z"


def _svg(
    size: FloatArray, outlines: list[str], strength: FloatArray, hits: FloatArray, titles: list[str], shape: str
) -> str:
    """Outlines (K) of neurons, filled by their strength; each has a title unless it is too small to point at."""
    if len(hits) <= MOST_TITLED:
        drawn = [
            f'<path d="{outline}" fill-opacity="{alpha:g}"><title>{escape(title)}: {n:g}</title></path>'
            for outline, alpha, title, n in zip(outlines, strength.tolist(), titles, hits.tolist(), strict=True)
            if outline
        ]
    else:
        drawn = [
            f'<path d="{"".join(outlines[j] for j in np.flatnonzero(strength == alpha))}" fill-opacity="{alpha:g}"/>'
            for alpha in np.unique(strength)
        ]
    width, height = size.tolist()
    label = f"{len(hits)} neurons, {shape} by hits from {hits.min():g} to {hits.max():g}"
    return (
        f'<svg role="img" aria-label="{escape(label)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}" style="flex:none"><g fill="{FILL}" stroke="currentColor" '
        f'stroke-opacity="0.35" stroke-width="{0.7 if len(hits) <= MOST_TITLED else 0.2}">{"".join(drawn)}</g></svg>'
    )
