"""What a prototype looks like: a sequence, a text, a series, a spectrum, a vector against the data, or its id alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..explore import component_planes
from ..metrics.registry import bind
from ..sources.base import FloatArray

# What all exemplars of a page may take together, and one of them at most and at least.
ALL_BYTES, MOST_LETTERS, LEAST_LETTERS = 1_000_000, 20_000, 200
MOST_VALUES, LEAST_VALUES = 400, 40
# Of more features than this, a profile shows those in which the prototype differs most from the data.
MOST_FEATURES = 40
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# This many numbers give a quantile well enough for a drawing.
SAMPLED_NUMBERS = 20_000_000

NUCLEOTIDES, AMBIGUOUS = set("ACGTU"), set("NRYSWKMBDHV-.*")
RESIDUES = set("ACDEFGHIKLMNPQRSTVWYBJOUXZ-.*")


def exemplar_drawings(model: Any, fitted: Any, X: Any) -> dict[str, Any]:
    """kind, and data: one entry per prototype; beside them what else is needed to draw an entry.

    "sequence" (with alphabet "dna" or "protein"), "text": {text, length}; "series": {values, length};
    "peaks": {x, y, length}; "vector": {values, at}, with features, quantiles (M, 5) and probabilities; "id": no data.
    """
    W: Any = fitted._exemplar_objects()
    if W is None:
        return {"kind": "id", "data": []}
    if isinstance(W, np.ndarray) and W.ndim == 2:
        return _vectors(model, X)
    if all(isinstance(w, str) for w in W):
        return _texts(W)
    shapes = {getattr(w, "ndim", 0) for w in W}
    if shapes == {1} and all(w.dtype.kind in "fiu" for w in W):
        return {"kind": "series", "data": [_series(w, len(W)) for w in W]}
    if shapes == {2} and bind(getattr(fitted, "metric", None)).metric.accepts == "peak lists":
        return {"kind": "peaks", "data": [_peaks(w, len(W)) for w in W]}
    return {**_texts([_in_words(w) for w in W]), "kind": "text"}


def numbers(values: Any, digits: int = 6) -> list[float | None]:
    """Values rounded to significant digits; None where a value is not finite."""
    return [float(f"{x:.{digits}g}") if np.isfinite(x) else None for x in np.asarray(values, np.float64).ravel()]


def alphabet_of(texts: Sequence[str]) -> str | None:
    """ "dna", "protein", or None for other texts, by the letters that occur; sequences are written in upper case."""
    letters = set().union(*texts)
    if letters <= NUCLEOTIDES | AMBIGUOUS and letters & NUCLEOTIDES:
        plain = sum(text.count(letter) for text in texts for letter in NUCLEOTIDES)
        if 2 * plain > sum(map(len, texts)):
            return "dna"
    return "protein" if letters <= RESIDUES and len(letters) > 4 else None


def _texts(W: Sequence[str]) -> dict[str, Any]:
    alphabet, most = alphabet_of(W), min(MOST_LETTERS, max(LEAST_LETTERS, ALL_BYTES // len(W)))
    kind = {"kind": "text"} if alphabet is None else {"kind": "sequence", "alphabet": alphabet}
    return {**kind, "data": [{"text": w[:most], "length": len(w)} for w in W]}


def _in_words(thing: Any) -> str:
    """An object without a drawing, as text."""
    if isinstance(thing, set | frozenset):
        thing = sorted(map(str, thing))
    return ", ".join(map(str, thing)) if isinstance(thing, tuple | list) else str(thing)


def _series(w: NDArray[Any], K: int) -> dict[str, Any]:
    """A long series is shown by the means of stretches of equal length."""
    most = min(MOST_VALUES, max(LEAST_VALUES, ALL_BYTES // (7 * K)))
    values = np.asarray(w, np.float64)
    if len(values) > most:
        values = np.array([part.mean() for part in np.array_split(values, most)])
    return {"values": numbers(values, 4), "length": len(w)}


def _peaks(w: NDArray[Any], K: int) -> dict[str, Any]:
    """The highest peaks, ordered by their positions."""
    most = min(MOST_VALUES, max(LEAST_VALUES, ALL_BYTES // (14 * K)))
    kept = np.sort(np.argsort(-w[:, 1], kind="stable")[:most])
    return {"x": numbers(w[kept, 0], 7), "y": numbers(w[kept, 1], 4), "length": len(w)}


def _vectors(model: Any, X: Any) -> dict[str, Any]:
    W, features = component_planes(model)
    Q = feature_quantiles(X, W.shape[1])
    shown: dict[str, Any] = {"kind": "vector", "features": features, "probabilities": list(QUANTILES)}
    shown["quantiles"] = [numbers(row, 5) for row in Q]
    if W.shape[1] <= MOST_FEATURES:
        return {**shown, "data": [{"values": numbers(w, 5)} for w in W]}
    spread = Q[:, -1] - Q[:, 0]
    away = np.abs(W - Q[:, 2]) / np.where(spread > 0, spread, 1.0)
    most = np.sort(np.argsort(-np.nan_to_num(away), axis=1, kind="stable")[:, :MOST_FEATURES], axis=1)
    return {**shown, "data": [{"values": numbers(w[at], 5), "at": at.tolist()} for w, at in zip(W, most, strict=True)]}


def feature_quantiles(X: Any, M: int) -> FloatArray:
    """(M, 5) quantiles of the columns of X (N, M), missing values left out; where X is huge, of evenly spaced rows."""
    values = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else getattr(X, "objects", X), np.float64)
    values = values[:: max(1, values.size // SAMPLED_NUMBERS)]
    Q = np.full((M, len(QUANTILES)), np.nan)
    for k in range(M):
        column = values[:, k]
        column = column[np.isfinite(column)]
        if len(column):
            Q[k] = np.quantile(column, QUANTILES)
    return Q
