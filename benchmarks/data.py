"""Matrices that the benchmarks run on: chromosomes, globins, simulated and structureless ones."""

from __future__ import annotations

from pathlib import Path

import _paths  # noqa: F401
import numpy as np
from numpy.typing import NDArray

from medianmap import as_dissimilarity
from medianmap.datasets import load_chromosomes
from medianmap.sources import ALL
from reproduction.plan import string_distances
from reproduction.speed import simulated

__all__ = ["chromosomes", "globins", "simulated", "string_distances", "structureless"]


def chromosomes(table: Path, cache: Path | None = None) -> NDArray[np.float32]:
    """All 4400 strings under the edit distance, substitution |a - b|, insertion and deletion 4.5."""
    cached = None if cache is None else cache / "chromosomes.npy"
    if cached is not None and cached.exists():
        return np.load(cached)
    D = string_distances(load_chromosomes(table).sequences)
    if cached is not None:
        np.save(cached, D)
    return D


def globins(fasta: Path) -> NDArray[np.float64]:
    """Protein sequences of a FASTA file under the plain edit distance."""
    records = fasta.read_text().split(">")[1:]
    sequences = ["".join(record.splitlines()[1:]) for record in records]
    return as_dissimilarity(sequences, "edit").block(ALL, ALL)


def structureless(n: int, seed: int = 0) -> NDArray[np.float32]:
    """Independent uniform entries, symmetric, zero diagonal: no low rank, no triangle inequality, no clusters."""
    D = np.random.default_rng(seed).random((n, n), dtype=np.float32)
    D = np.triu(D, 1)
    D += D.T
    return D
