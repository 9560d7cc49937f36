"""What a fitted map shows: `medianmap.report(model, X)`, a page to look at; and its summary, plots and other views."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from os import PathLike
from types import ModuleType
from typing import Any


class Report:
    """A page about a fitted map, as `medianmap.report` returns it.

    Attributes
    ----------
    summary : every fact of the map as a plain dictionary, numbers not rounded.
    content : what the page shows, rounded.
    html : the page, one self-contained text.
    """

    def __init__(self, summary: dict[str, Any], content: dict[str, Any]) -> None:
        self.summary = summary
        self.content = content

    @cached_property
    def html(self) -> str:
        """The page."""
        from .html import render

        return render(self.content)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all; compressed where the name ends in .gz.

        path : the file to write.
        """
        from ..utils.files import write_text

        write_text(path, self.html)

    def frame(self, height: int = 860) -> str:
        """The page as one HTML element, to be put into another page: a frame that neither reads nor changes it.

        height : of the frame, in pixels.
        """
        return (
            '<iframe title="Report of a map" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{int(height)}px;border:0" srcdoc="{escape(self.html)}"></iframe>'
        )

    def _repr_html_(self) -> str:
        """The page in a notebook."""
        return self.frame()

    def __repr__(self) -> str:
        return f"<Report: {self.content['title']}>"


def report(
    model: Any, X: Any, *, ids: Sequence[str] | None = None, y: Any = None, title: str | None = None,
    health: Any = None, settings: Mapping[str, Any] | None = None, members: int | None = None, points: Any = None,
    sure: Any = None, metadata: Any = None,
) -> Report:  # fmt: skip
    """Make a page to look at a fitted map: one HTML file that needs no network.

    Parameters
    ----------
    model : a fitted map, PatchClusterer or PrototypeClassifier
    X : the data it was fitted on, or others like them
    ids : (N,) names of the points; None takes those that X carries, or numbers
    y : (N,) classes of the points, None or "" where a point has none
    title : heading of the page
    health : what `check_dissimilarity` found, to be shown
    settings : dictionary of anything else to be shown, by name
    members : most members listed per prototype; None lists as many as a page below 5 MB can hold
    points : `medianmap.explore.two_best(model, X)`, where it is computed already
    sure : `medianmap.uncertainty(model, X)`: how sure points are by resamples, in the place of their margins
    metadata : what else is known of the points, to colour the map by and for the lists of members: a dictionary of
        columns (N,), or a frame; like y, a frame or Series with ids as its index is put in the order of the points

    Returns
    -------
    Report
        `.save("report.html")` writes the page, a notebook shows it, `.html` is its text and `.summary` its facts.

    Examples
    --------
    >>> import medianmap
    >>> words = ["heron", "herons", "hero", "quark", "quarks", "quart"]
    >>> som = medianmap.MedianSOM(grid=(1, 2), metric="edit", random_state=0).fit(words)
    >>> page = medianmap.report(som, words, ids=words, title="Words")
    >>> page
    <Report: Words>
    >>> [neuron["points"] for neuron in page.summary["neurons"]]
    [3, 3]
    >>> page.html.startswith("<!doctype html>")
    True
    """
    from ..predict.queries import map_of
    from ..sources import in_order, row_ids
    from .html import page_content
    from .order import pairs_of
    from .summary import summarize

    ids = row_ids(X) if ids is None else ids
    y, metadata = in_order(y, ids, "y"), in_order(metadata, ids, "metadata")
    pairs = pairs_of(map_of(model), X)
    facts = summarize(model, X, ids=ids, y=y, points=points, pairs=pairs, structure=True, sure=sure, metadata=metadata)
    return Report(facts, page_content(facts, title=title, health=health, settings=settings, members=members))


class _Folder(ModuleType):
    """`medianmap.report` is the function: what is imported of this folder is an attribute of that, too."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        setattr(report, name, value)


sys.modules[__name__].__class__ = _Folder
sys.modules[__name__].Report = Report  # type: ignore[attr-defined]
