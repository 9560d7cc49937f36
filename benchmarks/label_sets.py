"""The sets of the study behind the defaults of PrototypeClassifier, with the dissimilarities of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from data import string_distances
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


@dataclass(frozen=True)
class Set:
    """D (N, N), classes y (N,), and the number of prototypes."""

    D: NDArray[np.float64]
    y: NDArray[np.intp]
    K: int


def squares(X: NDArray[Any]) -> NDArray[np.float64]:
    """Squared distances of all pairs of rows."""
    return cdist(X, X, "sqeuclidean")


def compared(objects: Any, metric: str) -> NDArray[np.float64]:
    """Dissimilarities of all pairs."""
    return np.asarray(as_dissimilarity(objects, metric).block(ALL, ALL), np.float64)


def alignments(sequences: list[str]) -> NDArray[np.float64]:
    """Alignment dissimilarities of all pairs."""
    return compared(sequences, "alignment")


def sets(folder: Path | None) -> Iterator[tuple[str, Set]]:
    """The sets by name; those that need files of `folder` only with it."""
    from sklearn.datasets import load_digits, load_wine

    rng = np.random.default_rng(0)
    iris, cancer, globins, digits, wine = load_iris(), load_breast_cancer(), load_globins(), load_digits(), load_wine()
    yield "iris", Set(squares(iris.X), iris.y, 10)
    some = rng.permutation(len(digits.target))[:900]
    yield "digits", Set(squares(digits.data[some]), digits.target[some], 40)
    yield "breast cancer", Set(squares(cancer.X), cancer.y, 25)
    yield "globins", Set(alignments(globins.sequences), globins.y, 30)
    for name, made in {
        "families": simulate_protein_families(600, 10, between=0.4, within=0.8, random_state=1),
        "other families": simulate_protein_families(600, 6, between=0.3, within=0.9, random_state=7),
    }.items():
        enough = np.bincount(made.y)[made.y] >= 6
        y = np.unique(made.y[enough], return_inverse=True)[1]
        yield name, Set(alignments([s for s, kept in zip(made.sequences, enough, strict=True) if kept]), y, 30)
        if name == "families":
            Z = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
            yield "wine", Set(squares(Z), wine.target, 12)
    y = np.arange(600) % 4
    clouds = rng.normal(size=(4, 8))[y] * 1.2 + rng.normal(size=(600, 8))
    yield "overlapping clouds", Set(squares(clouds), y, 30)
    yield from never_looked_at()
    if folder is not None:
        D = np.loadtxt(folder / "proteins" / "D.csv", delimiter=",")
        names = np.loadtxt(folder / "proteins" / "labels.csv", dtype=str)
        yield "proteins", Set(D, np.unique(names, return_inverse=True)[1], 20)
        all_of_them = load_chromosomes(folder / "chromosomes.csv")
        each = [rng.permutation(np.flatnonzero(all_of_them.y == c))[:50] for c in range(22)]
        some = np.concatenate(each)
        strings = [all_of_them.sequences[i] for i in some]
        yield "chromosomes", Set(string_distances(strings).astype(np.float64), all_of_them.y[some], 50)


def never_looked_at() -> Iterator[tuple[str, Set]]:
    """Seven sets that were made after all choices."""
    from sklearn.datasets import make_classification, make_moons

    rng = np.random.default_rng(2026)
    X, y = make_moons(500, noise=0.1, random_state=42)
    yield "two moons", Set(squares(X), y, 25)

    y = np.repeat(np.arange(4), (260, 160, 80, 60))
    centers, widths = 3.0 * rng.normal(size=(4, 5)), np.array([1.8, 1.0, 0.6, 1.2])
    yield "unequal densities", Set(squares(centers[y] + widths[y, None] * rng.normal(size=(len(y), 5))), y, 25)

    # One cloud, as of terrain, cut into bands along one direction: no class is a cluster.
    X = rng.normal(size=(600, 6)) * (2.0, 1.5, 1.0, 1.0, 0.7, 0.5)
    yield "bands of one cloud", Set(squares(X), np.digitize(X[:, 0] + 0.5 * X[:, 2], (-1.6, 0.4, 2.4)), 30)

    X, y = make_classification(500, 15, n_informative=5, n_classes=4, n_clusters_per_class=3, random_state=77)
    yield "mixtures", Set(squares(X), y, 30)

    made = simulate_protein_families(450, 7, between=0.5, within=0.75, random_state=99)
    enough = np.bincount(made.y)[made.y] >= 6
    sequences = [sequence for sequence, kept in zip(made.sequences, enough, strict=True) if kept]
    yield "distant families", Set(alignments(sequences), np.unique(made.y[enough], return_inverse=True)[1], 25)

    kinds, each = 9, 50  # three classes of three unrelated kinds
    ancestors = ["".join(rng.choice(list("ACGT"), 50)) for _ in range(kinds)]
    strands = [mutated(ancestor, rng) for ancestor in ancestors for _ in range(each)]
    yield "mutated DNA", Set(compared(strands, "edit"), np.repeat(np.arange(kinds) % 3, each), 25)

    yield "cylinder, bell, funnel", Set(compared(series(rng, 330), "dtw"), np.arange(330) % 3, 20)


def mutated(strand: str, rng: np.random.Generator) -> str:
    """A copy in which about a third of the letters are replaced, lost or doubled."""
    return "".join(rng.choice(["", letter * 2, *"ACGT"]) if rng.random() < 0.35 else letter for letter in strand)


def series(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """The usual test of classifiers of series: a step, a ramp that rises or one that falls, somewhere in noise."""
    t, made = np.arange(64), []
    for i in range(n):
        start, stop = rng.integers(8, 16), rng.integers(28, 56)
        inside = (t >= start) & (t <= stop)
        rising = (t - start) / (stop - start)
        shape = (np.ones(64), rising, 1 - rising)[i % 3]
        made.append((6 + rng.normal()) * inside * shape + rng.normal(size=64))
    return np.array(made)
