"""Matrices that the benchmarks run on: chromosomes, globins, simulated and structureless ones; and sets of vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import _paths  # noqa: F401
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from medianmap import as_dissimilarity
from medianmap.datasets import (
    load_breast_cancer,
    load_chromosomes,
    load_globins,
    load_iris,
    simulate_protein_families,
)
from medianmap.sources import ALL
from reproduction.plan import string_distances
from reproduction.speed import simulated

__all__ = ["chromosomes", "globins", "kept", "matrix", "simulated", "string_distances", "structureless", "vectors"]


def chromosomes(table: Path, cache: Path | None = None) -> NDArray[np.float32]:
    """All 4400 strings under the edit distance, substitution |a - b|, insertion and deletion 4.5."""
    return kept(
        None if cache is None else cache / "chromosomes.npy",
        lambda: string_distances(load_chromosomes(table).sequences),
    )


def kept(path: Path | None, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """The array in `path`, which is made and written there the first time; None keeps nothing."""
    if path is not None and path.exists():
        return np.load(path)
    array = make()
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.stem}.part.npy")
        np.save(part, array)
        part.replace(path)  # what is killed while it writes leaves no half of a file
    return array


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


def vectors(name: str) -> NDArray[np.float64]:
    """(N, M) vectors that come with scikit-learn: iris and breast_cancer as z-scores, digits as they are."""
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits().data
    return {"iris": load_iris, "breast_cancer": load_breast_cancer}[name]().X


def matrix(name: str, folder: Path | None) -> NDArray[Any] | None:
    """(N, N) dissimilarities of a set by name; None where it needs a folder of data that is not given.

    chromosomes: edit distances; proteins: D.csv; globins, and 2000 simulated proteins of five families: alignments;
    all other names are sets of vectors, under the Euclidean distance.
    """
    if name in ("chromosomes", "proteins"):
        if folder is None:
            return None
        if name == "chromosomes":
            return chromosomes(folder / "chromosomes.csv")
        return np.loadtxt(folder / "proteins" / "D.csv", delimiter=",")
    if name in ("globins", "families"):
        data = load_globins() if name == "globins" else simulate_protein_families(2000)
        return as_dissimilarity(data.sequences, "alignment").block(ALL, ALL)
    return cdist(vectors(name), vectors(name))
