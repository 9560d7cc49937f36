"""What a prototype looks like: a sequence, a text, a series, a spectrum, a vector against the data, or its id alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..explore import component_planes
from ..metrics.alignment import named_matrix
from ..metrics.registry import bind
from ..sources.base import FloatArray, IntArray

# What all exemplars of a page may take together, and one of them at most and at least.
ALL_BYTES, MOST_LETTERS, LEAST_LETTERS = 1_000_000, 20_000, 200
MOST_VALUES, LEAST_VALUES = 400, 40
# Of more features than this, a profile shows those in which the prototype differs most from the data.
MOST_FEATURES = 40
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# This many numbers give a quantile well enough for a drawing.
SAMPLED_NUMBERS = 20_000_000

# A logo: so many columns of a prototype, from so many of its members at most and at least; letters of a smaller share
# are left out. All alignments together fill at most so many cells, about a second, and so many at a time.
LOGO_COLUMNS, MOST_ALIGNED, LEAST_ALIGNED, LEAST_SHARE = 10, 30, 3, 0.08
ALL_CELLS, CELLS_AT_ONCE = 100_000_000, 10_000_000
GAP = -5.0

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


# --- logos: what the members of a prototype have in common, and others have not


def logos(
    exemplars: Sequence[str], members: Sequence[Sequence[str]], alphabet: str
) -> list[dict[str, Any] | None] | None:
    """Of each prototype the LOGO_COLUMNS places of its sequence that tell its members best from all others.

    A column with shares f of its letters has the height sum f log2(f / g), g being the shares in all sequences, times
    the share of members that have a letter there; each letter has its share of the height.

    exemplars : sequences of the prototypes. members : of each prototype its sequences, nearest first.

    Returns start (counted from 1), n (members compared) and columns, texts such as "L54V20": letters with heights of
    at most 99, a whole column that all others lack. None of a prototype with fewer than LEAST_ALIGNED members, and None
    altogether where the alignments would take too long.
    """
    cells = np.zeros(MOST_ALIGNED, np.int64)  # of the alignments with the m-th members
    for w, own in zip(exemplars, members, strict=True):
        cells[: len(own)] += np.array([len(w) * len(each) for each in own[:MOST_ALIGNED]], np.int64)
    most = int((np.cumsum(cells) <= ALL_CELLS).sum())
    if most < LEAST_ALIGNED:
        return None
    chosen = [own[:most] if len(own) >= LEAST_ALIGNED else () for own in members]
    letters = sorted(set().union(*exemplars, *(each for own in chosen for each in own)) - set("-."))
    code = {letter: k for k, letter in enumerate(letters)}
    first = [_coded(w, code) for w, own in zip(exemplars, chosen, strict=True) for _ in own]
    second = [_coded(each, code) for own in chosen for each in own]
    if not second:
        return None
    partners = _partners(first, second, _scores(letters, alphabet))
    among = np.bincount(np.concatenate(second) + 1, minlength=len(letters) + 1)[1:] + 1.0
    g, found, at = among / among.sum(), [], 0
    for w, own in zip(exemplars, chosen, strict=True):
        counts = np.zeros((len(w), len(letters)))
        for k in range(at, at + len(own)):
            has = np.flatnonzero(partners[k] >= 0)
            has = has[second[k][partners[k][has]] >= 0]
            counts[has, second[k][partners[k][has]]] += 1
        at += len(own)
        found.append(_logo(counts, len(own), g, letters, alphabet) if own else None)
    return found


def _logo(counts: FloatArray, n: int, g: FloatArray, letters: list[str], alphabet: str) -> dict[str, Any]:
    """The best window of counts (L, A) of letters among n members; see `logos`."""
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    f = counts / total
    bits = np.where(f > 0, f * np.log2(np.maximum(f, 1e-300) / g), 0.0).sum(axis=1) * counts.sum(axis=1) / n
    width = min(LOGO_COLUMNS, len(bits))
    start = int(np.convolve(bits, np.ones(width), "valid").argmax()) if width else 0
    heights = f * np.clip(bits / np.log2(4 if alphabet == "dna" else 20), 0, 1)[:, None]
    columns = [
        "".join(f"{letters[a]}{99 * row[a]:.0f}" for a in np.argsort(-row, kind="stable") if f_row[a] >= LEAST_SHARE)
        for row, f_row in zip(heights[start : start + width], f[start : start + width], strict=True)
    ]
    return {"start": start + 1, "n": n, "columns": columns}


def _coded(text: str, code: dict[str, int]) -> IntArray:
    """Numbers of the letters, -1 of gaps."""
    return np.array([code.get(letter, -1) for letter in text], np.intp)


def _scores(letters: list[str], alphabet: str) -> FloatArray:
    """(A, A) scores of pairs of letters: BLOSUM62 of residues, 4 and -3 of nucleotides."""
    S = np.where(np.eye(len(letters), dtype=bool), 4.0, -3.0)
    if alphabet == "protein":
        known, table = named_matrix("BLOSUM62")
        at = [known.index(letter) if letter in known else known.index("X") for letter in letters]
        S = table[np.ix_(at, at)]
    return S


def _partners(first: list[IntArray], second: list[IntArray], S: FloatArray) -> list[IntArray]:
    """Of each pair of sequences, for the letters of the first their places in the second, -1 for a gap.

    Sequences that all have one length are rows of an alignment already. Others are aligned from end to end, pairs of
    about one length at once.
    """
    if len({len(each) for each in (*first, *second)}) == 1:
        return [np.arange(len(each)) for each in first]
    partners: list[IntArray] = [np.empty(0, np.intp)] * len(first)
    order = sorted(range(len(first)), key=lambda k: (len(first[k]), len(second[k])))
    while order:
        longest = max(len(first[order[-1]]), *(len(second[k]) for k in order[-64:]), 1)
        take = order[-max(1, min(len(order), 64, CELLS_AT_ONCE // longest**2)) :]
        del order[-len(take) :]
        for k, found in zip(take, _aligned([first[k] for k in take], [second[k] for k in take], S), strict=True):
            partners[k] = found
    return partners


def _aligned(first: list[IntArray], second: list[IntArray], S: FloatArray) -> list[IntArray]:
    """H[i, j] = max(H[i-1, j-1] + S, H[i-1, j] + GAP, H[i, j-1] + GAP) of all pairs at once, a row at a time.

    Along a row the last term is a running maximum: H[i, j] - GAP j does not fall.
    """
    B, n, m = len(first), np.array([len(a) for a in first]), np.array([len(b) for b in second])
    A, C = np.zeros((B, n.max()), np.intp), np.zeros((B, m.max()), np.intp)
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        A[k, : len(a)], C[k, : len(b)] = a, b
    slope = GAP * np.arange(C.shape[1] + 1)
    H, moves = np.tile(slope, (B, 1)), np.zeros((A.shape[1], B, C.shape[1]), np.int8)
    for i in range(A.shape[1]):
        diagonal, up = H[:, :-1] + S[A[:, i, None], C], H[:, 1:] + GAP
        row = np.column_stack([np.full(B, GAP * (i + 1)), np.maximum(diagonal, up)])
        row = np.maximum.accumulate(row - slope, axis=1) + slope
        moves[i] = np.where(row[:, 1:] <= diagonal + 1e-6, 0, np.where(row[:, 1:] <= up + 1e-6, 1, 2))
        H = row
    partner = np.full(A.shape, -1)
    at, to, every = n - 1, m - 1, np.arange(B)  # the way back, from the ends
    while len(on := every[(at >= 0) & (to >= 0)]):
        move = moves[at[on], on, to[on]]
        here = on[move == 0]
        partner[here, at[here]] = to[here]
        at[on[move != 2]] -= 1
        to[on[move != 1]] -= 1
    return [partner[k, : n[k]] for k in range(B)]
