"""The six maps and their counterparts in reference.py, set up alike."""

import numpy as np

from medianmap import BatchKMeans, BatchNeuralGas, BatchSOM, MedianKMeans, MedianNeuralGas, MedianSOM, reference
from medianmap.core.neighborhood import make_lattice

MEDIAN = {"kmeans": MedianKMeans, "gas": MedianNeuralGas, "som": MedianSOM}
BATCH = {"kmeans": BatchKMeans, "gas": BatchNeuralGas, "som": BatchSOM}
METHODS = tuple(MEDIAN)

EPOCHS = 8


def grid_of(K: int) -> tuple[int, int]:
    """The most square grid of K neurons."""
    rows = next(r for r in range(int(K**0.5), 0, -1) if K % r == 0)
    return rows, K // rows


def estimator(method: str, K: int, family=MEDIAN, **params):
    """A map with K prototypes and few epochs of annealing, of data points if it is a median map."""
    if family is MEDIAN:
        params = {"annealing": "median"} | params
    if method == "kmeans":
        return family[method](K, **params)
    if method == "gas":
        return family[method](K, n_epochs=EPOCHS, **params)
    return family[method](grid_of(K), n_epochs=EPOCHS, **params)


def reference_of(method: str, K: int):
    """(weights, sigmas) of reference.py for the same map."""
    if method == "kmeans":
        return reference.kmeans, [0.0]
    if method == "gas":
        return reference.neural_gas, reference.schedule(max(K / 2, 0.01), 0.01, EPOCHS)
    nd = make_lattice(grid_of(K)).distances
    return reference.som(nd), reference.schedule(max(nd.max() / 2, 0.01), 0.01, EPOCHS)


def reference_fit(method, K, start, **data):
    """(prototypes, costs) of reference.fit with the estimator's caps."""
    weights, sigmas = reference_of(method, K)
    settle = 299 if method == "kmeans" else 300
    prototypes, _, costs = reference.fit(weights, sigmas, start, settle=settle, **data)
    return prototypes, costs


def blobs(rng: np.random.Generator, n=60, centers=4, features=3) -> np.ndarray:
    """Vectors in a few clouds."""
    middle = rng.normal(scale=4, size=(centers, features))
    return middle[rng.integers(centers, size=n)] + rng.normal(size=(n, features))


def blob_distances(rng: np.random.Generator, n=60, centers=4) -> np.ndarray:
    """Euclidean distances of clouds of vectors: a matrix with structure."""
    X = blobs(rng, n, centers)
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
