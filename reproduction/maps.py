"""The maps that are run. What the chapter's are is said here and nowhere else, so that no default can change it."""

from __future__ import annotations

from typing import Any

from medianmap.core.neighborhood import make_lattice
from medianmap.estimators.batch import BatchKMeans, BatchNeuralGas, BatchSOM
from medianmap.estimators.median import MedianKMeans, MedianNeuralGas, MedianSOM
from medianmap.estimators.relational import RelationalKMeans, RelationalNeuralGas

SIGMA_END = 0.01
# Exponential, from half the prototypes to a width at which neighbours count nothing.
# The chapter gives h and that sigma is annealed to 0; neither where it starts nor where it ends.
ANNEALED: dict[str, Any] = {"sigma_end": SIGMA_END, "neighborhood": "exponential", "init": "random"}
# Prototypes are data points all the way.
MEDIAN: dict[str, Any] = {"annealing": "median", "collisions": "distinct", "init": "random"}


def batch_gas(K: int, n_epochs: int, **shared: Any) -> BatchNeuralGas:
    """The chapter's batch neural gas."""
    return BatchNeuralGas(K, n_epochs=n_epochs, sigma_start=K / 2, **ANNEALED, **shared)


def batch_means(K: int, n_epochs: int, **shared: Any) -> BatchKMeans:
    """The chapter's K-means of vectors."""
    return BatchKMeans(K, max_iter=n_epochs, init="random", **shared)


def batch_som(shape: tuple[int, int], n_epochs: int, **shared: Any) -> BatchSOM:
    """The chapter's batch SOM, on the lattice of its median SOM."""
    return BatchSOM(shape, n_epochs=n_epochs, **_on_lattice(shape), arrange=False, **ANNEALED, **shared)


def median_gas(K: int, n_epochs: int, **changed: Any) -> MedianNeuralGas:
    """The chapter's median neural gas; `changed` may name another choice where the chapter leaves one."""
    return MedianNeuralGas(K, n_epochs=n_epochs, **{"sigma_start": K / 2, **MEDIAN, **ANNEALED, **changed})


def median_means(K: int, n_epochs: int, **changed: Any) -> MedianKMeans:
    """The chapter's median K-means, which it also calls K-centers."""
    return MedianKMeans(K, max_iter=n_epochs, **{**MEDIAN, **changed})


def median_som(shape: tuple[int, int], n_epochs: int, **changed: Any) -> MedianSOM:
    """The chapter's median SOM."""
    return MedianSOM(shape, n_epochs=n_epochs, **{**_on_lattice(shape), **MEDIAN, **ANNEALED, **changed})


def _on_lattice(shape: tuple[int, int]) -> dict[str, Any]:
    """A hexagonal lattice whose weights are not normalised, from half its diameter on."""
    start = make_lattice(shape).diameter / 2
    return {"sigma_start": start, "normalized": False, "lattice": "hexagonal", "periodic": False}


def our_gas(K: int, **changed: Any) -> MedianNeuralGas:
    """Median neural gas as the library has it unless it is told otherwise."""
    return MedianNeuralGas(K, **changed)


def our_means(K: int, **changed: Any) -> MedianKMeans:
    """Median K-means as the library has it unless it is told otherwise."""
    return MedianKMeans(K, **changed)


def relational_gas(K: int, **shared: Any) -> RelationalNeuralGas:
    """Neural gas whose prototypes are combinations of the data, with our defaults."""
    return RelationalNeuralGas(K, **shared)


def relational_means(K: int, **shared: Any) -> RelationalKMeans:
    """K-means whose prototypes are combinations of the data, with our defaults."""
    return RelationalKMeans(K, **shared)
