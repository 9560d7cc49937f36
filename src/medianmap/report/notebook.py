"""A fitted map in a notebook: a few facts and a small picture below scikit-learn's diagram, as HTML that needs nothing.

Colours are the notebook's own and shades of one more on its ground, so that it is read by day and by night.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..predict.queries import map_of
from ..utils.palette import LINES
from .plots.cells import cell_polygons

FILL = LINES[1]
FAINTEST = 0.12  # of a neuron with few points; one without any is not filled at all
WIDTH, HEIGHT = 260.0, 180.0  # pixels at most
STRIP = 56.0  # height of the bars of a map without a grid
MOST_TITLED = 400  # of more neurons each is too small to be pointed at
MOST_NAMES = 8


def notebook_view(model: Any, diagram: str) -> str:
    """HTML of a model: scikit-learn's diagram of its parameters, and below it the summary of a fitted one."""
    return diagram + summary_html(model)


def summary_html(model: Any) -> str:
    """The facts and the picture of a fitted map, classifier or pass over patches; empty where it is not fitted."""
    try:
        check_is_fitted(model)
        fitted: Any = map_of(model)
    except NotFittedError:
        return ""
    hits, names = np.asarray(fitted.hits_, np.float64), getattr(fitted, "prototype_ids_", None)
    lattice = getattr(fitted, "lattice_", None)
    picture = bars(hits, names) if lattice is None else cells(lattice, hits, names)
    rows = "".join(
        f'<tr style="background:none"><th style="text-align:left;font-weight:600;padding:1px 12px 1px 0;'
        f'vertical-align:top">{escape(name)}</th><td style="text-align:left;padding:1px 0">{escape(value)}</td></tr>'
        for name, value in facts(model, fitted, hits)
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:24px;align-items:center;margin:8px 0;color:inherit;'
        'font:13px/1.45 system-ui,sans-serif">'
        f'<table style="border-collapse:collapse;border:0;margin:0;font:inherit;color:inherit">{rows}</table>'
        f"{picture}</div>"
    )


def facts(model: Any, fitted: Any, hits: np.ndarray[Any, Any]) -> list[tuple[str, str]]:
    """(name, value) of what is worth knowing first; what a model does not have is left out."""
    found = [("model", _kinds(model)), ("prototypes", _size(fitted, len(hits)))]
    layer = model
    if hasattr(layer, "classes_"):
        found.append(("classes", _listed(layer.classes_)))
        layer = layer.estimator_
    if hasattr(layer, "n_patches_"):
        early = ", stopped by the budget" if layer.stopped_early_ else ""
        found.append(("patches", f"{layer.n_patches_} over {layer.n_samples_seen_} points{early}"))
    if hasattr(fitted, "converged_"):
        found.append(("epochs", f"{fitted.n_iter_}, {'converged' if fitted.converged_ else 'not converged'}"))
    error = getattr(layer, "quantization_error_", None)
    if error is not None:
        found.append(("quantization error", f"{error:.6g}"))
    empty = int((hits == 0).sum())
    found.append(("hits", f"{hits.min():g} to {hits.max():g}, {hits.sum():g} in all"))
    found.append(("empty prototypes", f"{empty}" if empty else "none"))
    return found


def _kinds(model: Any) -> str:
    """'PrototypeClassifier of MedianSOM', from outside to inside."""
    names = []
    while model is not None:
        names.append(type(model).__name__)
        model = getattr(model, "estimator_", None) or getattr(model, "map_", None)
    return " of ".join(names)


def _size(fitted: Any, K: int) -> str:
    metric = getattr(fitted, "metric", None)
    said = "" if metric is None else f", {metric if isinstance(metric, str) else getattr(metric, '__name__', 'own')}"
    lattice = getattr(fitted, "lattice_", None)
    if lattice is None:
        return f"{K}{said}"
    around = ", torus" if lattice.periodic else ""
    return f"{K} on {lattice.shape[0]} x {lattice.shape[1]} {lattice.kind}{around}{said}"


def _listed(names: Any) -> str:
    rest = len(names) - MOST_NAMES
    return ", ".join(map(str, names[:MOST_NAMES])) + (f" and {rest} more" if rest > 0 else "")


def cells(lattice: Any, hits: np.ndarray[Any, Any], names: Any = None) -> str:
    """An SVG of the grid, row 0 on top: the more points a neuron has, the fuller its colour."""
    polygons = cell_polygons(lattice.positions, lattice.kind)
    low, high = polygons.min(axis=(0, 1)), polygons.max(axis=(0, 1))
    scale = min(WIDTH / (high[0] - low[0]), HEIGHT / (high[1] - low[1]), 24.0)
    outlines = [_outline((polygon - low) * scale + 1) for polygon in polygons]
    return _svg((high - low) * scale + 2, outlines, hits, names, "cells")


def bars(hits: np.ndarray[Any, Any], names: Any = None) -> str:
    """An SVG of one bar a prototype, the most points first."""
    order = np.argsort(-hits, kind="stable")
    width = min(WIDTH / len(hits), 16.0)
    tall = STRIP * hits / max(hits.max(), 1e-300)
    outlines = [""] * len(hits)
    for place, j in enumerate(order.tolist()):
        left, right, top = place * width + 1, (place + 1) * width + 1, STRIP + 1 - tall[j]
        corners = [[left, STRIP + 1], [left, top], [right, top], [right, STRIP + 1]]
        outlines[j] = _outline(np.array(corners)) if tall[j] > 0 else ""
    return _svg(np.array([width * len(hits) + 2, STRIP + 2]), outlines, hits, names, "bars")


def _outline(corners: np.ndarray[Any, Any]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners.tolist()) + "z"


def _svg(size: np.ndarray[Any, Any], outlines: list[str], hits: np.ndarray[Any, Any], names: Any, what: str) -> str:
    """Outlines (K) of neurons, filled by their hits; each with a title as long as it is large enough to be found."""
    share = np.where(hits > 0, FAINTEST + (1 - FAINTEST) * hits / max(hits.max(), 1e-300), 0.0).round(2)
    if what == "bars":
        share = np.where(hits > 0, 0.8, 0.0)  # their heights tell the hits
    if len(hits) <= MOST_TITLED:
        said = [f"prototype {j}" + (f", {names[j]}" if names is not None else "") for j in range(len(hits))]
        drawn = [
            f'<path d="{outline}" fill-opacity="{alpha:g}"><title>{escape(who)}: {n:g}</title></path>'
            for outline, alpha, who, n in zip(outlines, share.tolist(), said, hits.tolist(), strict=True)
            if outline
        ]
    else:
        drawn = [
            f'<path d="{"".join(outlines[j] for j in np.flatnonzero(share == alpha))}" fill-opacity="{alpha:g}"/>'
            for alpha in np.unique(share)
        ]
    width, height = size.tolist()
    label = f"{len(hits)} prototypes, {what} by hits from {hits.min():g} to {hits.max():g}"
    return (
        f'<svg role="img" aria-label="{escape(label)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.1f} {height:.1f}" style="flex:none"><g fill="{FILL}" stroke="currentColor" '
        f'stroke-opacity="0.35" stroke-width="{0.7 if len(hits) <= MOST_TITLED else 0.2}">{"".join(drawn)}</g></svg>'
    )
