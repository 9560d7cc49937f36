"""Alignment scores of all pairs by stringzillas: whole-number costs in a byte, at most 32 symbols, exact."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..extras import require
from .letters import Packed

SYMBOLS = 32
# A scope of several cores starts and ends its own threads, some milliseconds; smaller blocks stay on one.
CELLS_WORTH_THREADS = 10**8


@cache
def available() -> bool:
    return find_spec("stringzillas") is not None and find_spec("stringzilla") is not None


def fits(*costs: NDArray[np.int64]) -> bool:
    """Whether every score and gap is a signed byte."""
    return all(int(np.abs(cost).max(initial=0)) <= 127 for cost in costs)


def all_scores(
    a: Packed, b: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool, n_jobs: int
) -> NDArray[np.int64]:
    """(len(a), len(b)) scores of the best alignments; W (n, n) scores of symbols, gaps as costs.

    A gap of length k costs gap_open + (k - 1) gap_extend. What does not `fit` must not be passed: the library
    would wrap it round silently.
    """
    library = require("stringzillas", "seq", "The backend 'stringzillas'")
    table = np.zeros((SYMBOLS, SYMBOLS), np.int8)
    table[: len(W), : len(W)] = W
    classes = np.arange(256, dtype=np.uint8) % SYMBOLS
    kind = library.SmithWatermanScores if local else library.NeedlemanWunschScores
    engine = kind(classes, table, -gap_open, -gap_extend)
    cells = float(a.lengths.sum()) * float(b.lengths.sum())
    # The library keeps the GIL, so threads of ours would wait for one another. Its own threads spin while idle and do
    # not survive a fork: the scope lives for this call only.
    scope = library.DeviceScope(cpu_cores=n_jobs if cells >= CELLS_WORTH_THREADS else 1)
    return np.asarray(engine(_strs(a), _strs(b), device=scope))


def _strs(packed: Packed) -> Any:
    strings = require("stringzilla", "seq", "The backend 'stringzillas'")
    return strings.Strs(packed.pieces(packed.codes.astype(np.uint8).tobytes()))
