"""Weighted edit distance of strings or token sequences: three backends that agree to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_choice
from ..utils.kernels import kernel
from ..utils.loading import require
from ..utils.threads import run_chunks
from . import alignment as simd
from .base import Metric, Parameter, register
from .letters import Costs, Packed, Respelling, coded, edit_costs, respelling, row_chunks, strings_or_tokens

BACKENDS = ("auto", "stringzillas", "rapidfuzz", "numba")
NORMALIZE = (None, "max", "sum", "yujian-bo")
SPELLINGS = ("exact", "dna", "protein")
LARGEST_SYMBOL = 0x10FFFF  # rapidfuzz is given symbols as characters


@kernel
def _edit_distance(s, t, table, price, substitution, indel, row):  # type: ignore[no-untyped-def]
    """e[i, l] = min(e[i-1, l-1] + cost(s_i, t_l), e[i-1, l] + indel, e[i, l-1] + indel); returns the last.

    One row of the table is kept: `row` is scratch of length len(t) + 1. An empty `table` means one cost for all pairs;
    then `price` (n_symbols,) holds it for every symbol and is set to 0 for s_i alone while its row is computed.
    """
    n, m = s.shape[0], t.shape[0]
    uniform = table.shape[0] == 0
    for l in range(m + 1):
        row[l] = l * indel
    for i in range(n):
        if uniform:
            price[s[i]] = 0
            cost = price
        else:
            cost = table[s[i]]
        diagonal = row[0]
        row[0] = (i + 1) * indel
        for l in range(m):
            above = row[l + 1]
            row[l + 1] = min(diagonal + cost[t[l]], min(above, row[l]) + indel)
            diagonal = above
        if uniform:
            price[s[i]] = substitution
    return row[m]


@kernel
def _edit_block(codes_a, starts_a, codes_b, starts_b, table, n_symbols, substitution, indel, out):  # type: ignore[no-untyped-def]
    """All pairs of two packed lists of sequences into out (len(a), len(b)), of the costs' type."""
    longest = 0
    for l in range(out.shape[1]):
        longest = max(longest, starts_b[l + 1] - starts_b[l])
    row = np.empty(longest + 1, out.dtype)
    price = np.full(n_symbols, substitution, out.dtype)
    for i in range(out.shape[0]):
        s = codes_a[starts_a[i] : starts_a[i + 1]]
        for l in range(out.shape[1]):
            t = codes_b[starts_b[l] : starts_b[l + 1]]
            out[i, l] = _edit_distance(s, t, table, price, substitution, indel, row)


def edit_block(
    a: Any, b: Any, *, substitution: Any = 1.0, indel: float = 1.0, alphabet: Any = None, normalize: str | None = None,
    spelling: str = "exact", backend: str = "auto", n_jobs: int = 1,
) -> NDArray[np.float64]:  # fmt: skip
    """(len(a), len(b)) edit distances of strings or token sequences; see the parameters of the metric."""
    by = edit_costs(substitution, indel, alphabet)
    respelled = respelling(spelling, by.alphabet)
    a, b = (side if respelled is None else respelled(side) for side in (a, b))
    packed_a, packed_b, symbols = coded(a, b, by.alphabet)
    distances = _distances(packed_a, packed_b, by, symbols, backend, n_jobs)
    return _normalized(distances, packed_a.lengths, packed_b.lengths, by.indel, normalize)


def _distances(
    a: Packed, b: Packed, by: Costs, symbols: tuple[Any, ...], backend: str, n_jobs: int
) -> NDArray[np.float64]:
    table = by.over(symbols)
    costs = by.whole_over(table)
    unit = table is None and by.uniform == by.indel and by.indel > 0 and len(symbols) <= LARGEST_SYMBOL
    if unit and costs is None:  # counted and multiplied once, so that the rounding is the same in every backend
        counts = _distances(a, b, replace(by, uniform=1.0, indel=1.0), symbols, backend, n_jobs)
        return counts * by.indel
    small = costs is not None and len(symbols) <= simd.SYMBOLS and simd.fits(*costs[1])
    if backend == "auto":
        # Bit-parallel unit costs beat vectorised tables; both beat a loop. All give the same numbers.
        backend = (
            "rapidfuzz" if unit and find_spec("rapidfuzz") is not None
            else "stringzillas" if small and simd.available()
            else "numba"
        )  # fmt: skip
    if backend == "rapidfuzz":
        if not unit or costs is None:
            raise ValueError("backend='rapidfuzz' takes one cost > 0 for every edit; choose backend='auto'.")
        return _by_rapidfuzz(a, b, int(costs[1][0]), n_jobs) / costs[0]
    if backend == "stringzillas":
        if not small or costs is None:
            raise ValueError(
                "backend='stringzillas' takes at most 32 letters and costs that are whole numbers up to 127 after "
                "scaling; choose backend='auto'."
            )
        scale, (indel, price) = costs
        scores = -(price if table is not None else price * (1 - np.eye(len(symbols), dtype=np.int64)))
        return -simd.all_scores(a, b, scores, int(indel), int(indel), False, n_jobs) / scale
    as_given = [np.asarray(by.indel), np.asarray(by.uniform if table is None else table, float)]
    return _by_numba(a, b, costs or (1, as_given), len(symbols), n_jobs)


def _by_rapidfuzz(a: Packed, b: Packed, unit: int, n_jobs: int) -> NDArray[np.int64]:
    process = require("rapidfuzz.process", "seq", "The backend 'rapidfuzz'")
    scorer = require("rapidfuzz.distance", "seq", "The backend 'rapidfuzz'").Levenshtein.distance
    counts = process.cdist(_as_text(a), _as_text(b), scorer=scorer, dtype=np.int64, workers=n_jobs)
    return np.asarray(counts * unit, np.int64)


def _as_text(packed: Packed) -> list[str]:
    """One character per symbol. The library compares other tokens by their hash, which different ones may share."""
    return packed.pieces(packed.codes.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass"))


def _by_numba(
    a: Packed, b: Packed, costs: tuple[float, list[NDArray[Any]]], n_symbols: int, n_jobs: int
) -> NDArray[np.float64]:
    scale, (indel, price) = costs
    out = np.empty((len(a), len(b)), price.dtype)
    number = price.dtype.type
    table, uniform = (price, number(0)) if price.ndim else (np.empty((0, 0), price.dtype), number(price))

    def fill(part: slice) -> None:
        rows = a.rows(part)
        _edit_block(rows.codes, rows.starts, b.codes, b.starts, table, n_symbols, uniform, number(indel), out[part])

    run_chunks(fill, row_chunks(len(a)), n_jobs)
    return np.asarray(out / scale, dtype=np.float64)


def _normalized(
    d: NDArray[np.float64], m: NDArray[np.int64], n: NDArray[np.int64], indel: float, how: str | None
) -> NDArray[np.float64]:
    """d / max(m, n), d / (m + n) or 2 d / (indel (m + n) + d) for lengths m and n; 0 for two empty sequences."""
    if how is None:
        return d
    pairs = (m[:, None], n[None, :])
    below = np.maximum(*pairs) if how == "max" else np.add(*pairs)
    if how == "yujian-bo":
        d, below = 2 * d, indel * below + d
    return np.divide(d, below, out=np.zeros_like(d), where=below > 0)


def _prepare(objects: list[Any], name: str = "edit", **params: Any) -> list[Any]:
    """Parameters and letters are checked here, where a string still has its number in the data."""
    sequences = strings_or_tokens(objects, name)
    check_choice(params.get("normalize"), "normalize", NORMALIZE)
    check_choice(params.get("backend", "auto"), "backend", BACKENDS)
    spelling = params.get("spelling", "exact")
    check_choice(spelling, "spelling", SPELLINGS)
    by = _costs(params)
    respelled = respelling(spelling, by.alphabet)
    if respelled is not None and not isinstance(next(iter(sequences), ""), str):
        raise ValueError(f"spelling={spelling!r} is of strings, but these are lists of tokens; leave it out.")
    if by.alphabet is not None:
        coded(sequences if respelled is None else respelled(sequences), [], by.alphabet)
    return sequences


def spelled(params: Mapping[str, Any]) -> Respelling | None:
    """How the metric with these parameters spells sequences; None where it takes them as they are."""
    return respelling(params.get("spelling", "exact"), _costs(params).alphabet)


def _costs(params: Mapping[str, Any]) -> Costs:
    return edit_costs(**{key: params[key] for key in ("substitution", "indel", "alphabet") if key in params})


_NORMALIZE = Parameter("normalize", None, "'max': d / longer length; 'sum': d / sum of lengths; "
                       "'yujian-bo': 2 d / (indel * sum + d)")  # fmt: skip
_BACKEND = Parameter("backend", "auto", "'stringzillas', 'rapidfuzz' or 'numba'; all give the same numbers")
_PARAMETERS = (
    Parameter("substitution", 1.0, "cost: a number, a dict {'AC': 2}, a table with alphabet, a function, a name"),
    Parameter("indel", 1.0, "cost of one letter inserted or deleted"),
    Parameter("alphabet", None, "allowed letters, or 'dna', 'rna', 'protein', 'chromosome'; None: any"),
    _NORMALIZE,
    Parameter(
        "spelling", "exact", "'dna': U as T; 'dna' and 'protein': lower case as upper, gaps and a final * left out"
    ),
    _BACKEND,
)
register(Metric("edit", edit_block, lambda params: _costs(params).symmetric, "strings or tokens",
                "weighted edit distance, linear gaps",
                parameters=_PARAMETERS, prepare=_prepare, own_threads=True))  # fmt: skip

_CHROMOSOME: dict[str, Any] = {"substitution": "chromosome", "indel": 4.5}
register(Metric("edit-chromosome", partial(edit_block, **_CHROMOSOME), True, "strings",
                "edit distance of density profiles, '=' 0, A..E +1..+5, a..f -1..-6; "
                "substitution |difference|, indel 4.5",
                parameters=(_NORMALIZE, _BACKEND), prepare=partial(_prepare, name="edit-chromosome", **_CHROMOSOME),
                own_threads=True))  # fmt: skip
