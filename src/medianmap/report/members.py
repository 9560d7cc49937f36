"""What a page knows of single points: members of prototypes with their texts and metadata, and places in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..core.plane import landmark_coordinates
from ..explore.prototypes import as_lengths
from ..sources import Source
from ..sources.base import ALL, FloatArray, IntArray
from .exemplars import logos

# Points are placed in the plane by their dissimilarities to so many of them.
MOST_LANDMARKS = 100
# Letters of all members together that a page has room for.
MOST_LETTERS = 1_500_000
# Words in a column of numbers, such as "unknown", which count as missing.
MOST_WORDS = 3


def class_names(y: Any, N: int) -> list[str | None]:
    """(N,) names of classes, None where a point has none."""
    if y is None:
        return [None] * N
    if len(y) != N:
        raise ValueError(f"There are {len(y)} labels in y for {N} points; give one per point, None where it has none.")
    return [None if _missing(name) else str(name) for name in y]


def are_numbers(values: Sequence[str]) -> bool:
    """Whether different values are numbers but for a few words, such as "unknown", which count as missing."""
    return sum(by_number(value)[0] for value in values) <= min(MOST_WORDS, len(values) - 2)


def many_numbers(y: Any, N: int, most: int) -> FloatArray | None:
    """y (N,) as numbers, NaN for words and where there is none; None unless it has more than `most` different ones."""
    if len(np.shape(y)) != 1:
        return None
    names = class_names(_whole(y), N)
    known = {name for name in names if name is not None}
    if len(known) <= most or not are_numbers([*known]):
        return None
    return np.array([np.nan if name is None or by_number(name)[0] else float(name) for name in names])


def _missing(value: Any) -> bool:
    """None, NaN, NaT, an empty text, or a frame's own mark, which cannot be compared."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value) or bool(value == "")


def members_of(points: NDArray[Any], names: list[str], codes: IntArray | None, K: int) -> list[dict[str, Any]]:
    """Of each prototype ids, dissimilarities, scores and classes (numbers, -1 without) of its points, nearest first."""
    members = []
    for here in in_fields(points, K):
        listed = {"ids": [names[i] for i in here], "dissimilarities": points["dissimilarity"][here].tolist()}
        listed |= {name: points[name][here].tolist() for name in ("outlier_score", "border_score")}
        members.append(listed if codes is None else listed | {"classes": codes[here].tolist()})
    return members


def in_fields(points: NDArray[Any], K: int) -> list[IntArray]:
    """Of each prototype the numbers of its points, nearest first."""
    order = np.lexsort((points["dissimilarity"], points["prototype"]))
    return np.split(order, np.searchsorted(points["prototype"][order], np.arange(1, K)))


def add_texts(facts: dict[str, Any], points: NDArray[Any], X: Any) -> None:
    """Of texts: those of the members where they have up to MOST_LETTERS letters in all, and logos of sequences."""
    given, shown = getattr(X, "objects", X), facts["exemplars"]
    if shown["kind"] not in ("sequence", "text") or not hasattr(given, "__len__") or len(given) != len(points):
        return
    objects = list(given)
    if not all(isinstance(each, str) for each in objects):
        return
    texts = [[objects[i] for i in here] for here in in_fields(points, len(facts["members"]))]
    if shown["kind"] == "sequence":
        shown["logos"] = logos([each["text"] for each in shown["data"]], texts, shown["alphabet"])
    if sum(map(len, objects)) <= MOST_LETTERS:
        for members, own in zip(facts["members"], texts, strict=True):
            members["texts"] = own


def add_plane(facts: dict[str, Any], fitted: Any, points: NDArray[Any], sample: Source | None, keep: IntArray) -> None:
    """Some of the points, as [neuron, place among its members, x, y]; without dissimilarities among them no x and y.

    Classical scaling by landmarks; correlation: of distances in the plane with the dissimilarities to the landmarks.
    """
    place = np.empty(len(points), np.intp)
    for here in in_fields(points, len(facts["neurons"])):
        place[here] = np.arange(len(here))
    places = np.column_stack([points["prototype"][keep], place[keep]]).tolist()
    facts["plane"] = {"correlation": None, "places": places}
    if sample is None or len(keep) < 3:
        return
    landmarks = np.unique(np.linspace(0, len(keep) - 1, MOST_LANDMARKS).astype(np.intp))
    lengths = as_lengths(fitted, np.asarray(sample.block(ALL, landmarks), np.float64))
    z = landmark_coordinates(lengths**2, landmarks, np.ones(len(keep)))
    facts["plane"]["places"] = [[*own, *xy] for own, xy in zip(places, z.tolist(), strict=True)]
    drawn, known = cdist(z, z[landmarks]).ravel(), lengths.ravel()
    if np.ptp(drawn) > 0 and np.ptp(known) > 0:
        facts["plane"]["correlation"] = float(np.corrcoef(drawn, known)[0, 1])


def add_metadata(facts: dict[str, Any], points: NDArray[Any], metadata: Any) -> None:
    """facts["columns"]: name and distinct values of each, numbers first; of each prototype the numbers of its members'
    values, -1 for none, in the order of the members."""
    facts["columns"], fields = [], in_fields(points, len(facts["members"]))
    for name in () if metadata is None else metadata:
        values = class_names(_whole(metadata[name]), len(points))
        distinct = sorted({each for each in values if each is not None}, key=by_number)
        number = {value: k for k, value in enumerate(distinct)}
        codes = np.array([-1 if value is None else number[value] for value in values], np.intp)
        facts["columns"].append({"name": str(name), "values": list(number)})
        for members, here in zip(facts["members"], fields, strict=True):
            members.setdefault("columns", []).append(codes[here].tolist())


def _whole(values: Any) -> Any:
    """Whole numbers that a frame keeps as floats, since others are missing, as whole numbers."""
    known = [value for value in values if not _missing(value)]
    if not known or not all(isinstance(value, float | np.floating) and float(value).is_integer() for value in known):
        return values
    return [None if _missing(value) else int(value) for value in values]


def by_number(text: str) -> tuple[bool, float, str]:
    """To sort by: numbers by their value, then words."""
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    return (False, number, text) if np.isfinite(number) else (True, 0.0, text)
