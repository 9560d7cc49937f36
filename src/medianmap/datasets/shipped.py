"""Data shipped or with scikit-learn: 630 globins (GLOBINS.md), iris, breast cancer; and what every loader returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Vectors:
    """Vectors and their classes.

    X : (N, M) vectors.
    y : (N,) classes 0 .. C - 1.
    class_names : C names.
    """

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    class_names: list[str]


@dataclass(frozen=True)
class Sequences:
    """N strings with their ids and the names of the families (classes) that they belong to.

    sequences : N strings.
    ids : N names.
    families : N names of families, the classes.
    """

    sequences: list[str]
    ids: list[str]
    families: list[str]

    @cached_property
    def class_names(self) -> list[str]:
        """The families, each once, in order of first appearance."""
        return list(dict.fromkeys(self.families))

    @cached_property
    def y(self) -> NDArray[np.intp]:
        """(N,) the families as numbers: places in class_names."""
        code = {name: k for k, name in enumerate(self.class_names)}
        return np.array([code[family] for family in self.families], np.intp)


def random_generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a generator (as it is) or None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state is {random_state!r}; it must be a seed >= 0 or a numpy Generator.") from None


def load_globins() -> Sequences:
    """630 globin sequences under their Swiss-Prot entry names, with families by name.

    HA 235 and HB 197 (alpha and beta chains of haemoglobin), MY 71 (myoglobin), GG/GP 81 (globins of invertebrates and
    plants), others 46. UniProtKB/Swiss-Prot, CC BY 4.0.
    """
    text = (files(__package__) / "globins.fasta").read_text(encoding="ascii")
    records = [record.split("\n", 1) for record in text.split(">")[1:]]
    heads = [head.split() for head, _ in records]
    letters = ["".join(body.split()) for _, body in records]
    return Sequences(letters, [head[0] for head in heads], [head[1] for head in heads])


def load_breast_cancer() -> Vectors:
    """Wisconsin breast cancer (diagnostic), 569 x 30, as z-scores; it comes with scikit-learn."""
    from sklearn.datasets import load_breast_cancer as loader

    return _z_scores(loader())


def load_iris() -> Vectors:
    """Iris, 150 x 4, as z-scores; it comes with scikit-learn."""
    from sklearn.datasets import load_iris as loader

    return _z_scores(loader())


def _z_scores(bunch: Any) -> Vectors:
    """(x - mean) / standard deviation, the latter of the sample (divided by N - 1)."""
    X = np.asarray(bunch.data, np.float64)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return Vectors(Z, bunch.target.astype(np.intp), [str(n) for n in bunch.target_names])
