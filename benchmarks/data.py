"""Matrices that the benchmarks run on: chromosomes, globins, simulated and structureless ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from medianmap import as_dissimilarity
from medianmap.datasets import load_chromosomes
from medianmap.sources import ALL
from medianmap.threads import run_chunks

# Letters of the Copenhagen chromosomes: '=' is 0, 'A'..'E' are +1..+5, 'a'..'f' are -1..-6.
LETTER = {"=": 0, **{c: k + 1 for k, c in enumerate("ABCDE")}, **{c: -k - 1 for k, c in enumerate("abcdef")}}


@njit(cache=True, nogil=True)
def _weighted_edit(s, t, indel, row):  # type: ignore[no-untyped-def]
    """Edit distance with substitution cost |a - b|; row is scratch of length len(t) + 1."""
    for l in range(t.shape[0] + 1):
        row[l] = l * indel
    for i in range(s.shape[0]):
        diagonal, row[0] = row[0], (i + 1) * indel
        for l in range(t.shape[0]):
            above = row[l + 1]
            row[l + 1] = min(diagonal + abs(s[i] - t[l]), min(above, row[l]) + indel)
            diagonal = above
    return row[t.shape[0]]


@njit(cache=True, nogil=True)
def _fill(letters, starts, first, last, D):  # type: ignore[no-untyped-def]
    """Rows first .. last - 1 of the upper triangle, mirrored."""
    row = np.empty(1024, np.float32)
    for i in range(first, last):
        for l in range(i):
            d = _weighted_edit(
                letters[starts[i] : starts[i + 1]], letters[starts[l] : starts[l + 1]], np.float32(4.5), row
            )
            D[i, l] = d
            D[l, i] = d


def chromosomes(table: Path, cache: Path | None = None) -> NDArray[np.float32]:
    """All 4400 strings under the edit distance, substitution |a - b|, insertion and deletion 4.5. Minutes; cached."""
    cached = None if cache is None else cache / "chromosomes.npy"
    if cached is not None and cached.exists():
        return np.load(cached)
    D = string_distances(load_chromosomes(table).sequences)
    if cached is not None:
        np.save(cached, D)
    return D


def string_distances(strings: Sequence[str]) -> NDArray[np.float32]:
    """All pairs of difference-coded strings, substitution |a - b|, insertion and deletion 4.5."""
    letters = np.array([LETTER[c] for c in "".join(strings)], np.float32)
    starts = np.concatenate([[0], np.cumsum([len(s) for s in strings])])
    n = len(strings)
    D = np.zeros((n, n), np.float32)
    run_chunks(
        lambda rows: _fill(letters, starts, rows.start, rows.stop, D),
        [slice(k, min(k + 50, n)) for k in range(0, n, 50)],
        None,
    )
    return D


def globins(fasta: Path) -> NDArray[np.float64]:
    """Protein sequences of a FASTA file under the plain edit distance."""
    records = fasta.read_text().split(">")[1:]
    sequences = ["".join(record.splitlines()[1:]) for record in records]
    return as_dissimilarity(sequences, "edit").block(ALL, ALL)


def simulated(n: int, seed: int = 0) -> NDArray[np.float32]:
    """Euclidean distances of n vectors in 40 clouds of 8 dimensions: the structure that most data have."""
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=2.0, size=(40, 8))[rng.integers(40, size=n)] + rng.normal(size=(n, 8))
    D = np.empty((n, n), np.float32)
    for start in range(0, n, 500):
        D[start : start + 500] = cdist(X[start : start + 500], X)
    return D


def structureless(n: int, seed: int = 0) -> NDArray[np.float32]:
    """Independent uniform entries, symmetric, zero diagonal: no low rank, no triangle inequality, no clusters."""
    D = np.random.default_rng(seed).random((n, n), dtype=np.float32)
    D = np.triu(D, 1)
    D += D.T
    return D
