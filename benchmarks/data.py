"""Matrices that the benchmarks run on: chromosomes, globins, simulated and structureless ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from medianmap import as_dissimilarity
from medianmap.datasets import load_chromosomes
from medianmap.sources import ALL


def chromosomes(table: Path, cache: Path | None = None) -> NDArray[np.float32]:
    """All 4400 strings under the edit distance, substitution |a - b|, insertion and deletion 4.5."""
    cached = None if cache is None else cache / "chromosomes.npy"
    if cached is not None and cached.exists():
        return np.load(cached)
    D = string_distances(load_chromosomes(table).sequences)
    if cached is not None:
        np.save(cached, D)
    return D


def string_distances(strings: Sequence[str]) -> NDArray[np.float32]:
    """All pairs of difference-coded strings, substitution |a - b|, insertion and deletion 4.5."""
    return as_dissimilarity(strings, "edit-chromosome").kept().D.astype(np.float32)  # type: ignore[attr-defined]


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
