"""The six maps and their counterparts in reference.py, set up alike."""

from functools import partial

import numpy as np

from medianmap import BatchKMeans, BatchNeuralGas, BatchSOM, MedianKMeans, MedianNeuralGas, MedianSOM, reference
from medianmap.core.neighborhood import checked_lattice

MEDIAN = {"kmeans": MedianKMeans, "gas": MedianNeuralGas, "som": MedianSOM}
BATCH = {"kmeans": BatchKMeans, "gas": BatchNeuralGas, "som": BatchSOM}
METHODS = tuple(MEDIAN)
# The default SOM, and SOMs as `test_equivalence` also fits them: the chapter's, and a normalised one cooled to the end.
SOMS = {
    "som": {},
    "chapter": {"normalized": False, "neighborhood": "exponential", "sigma_end": 0.01},
    "narrow": {"normalized": True, "neighborhood": "exponential", "sigma_end": 0.01},
}

EPOCHS = 8


def grid_of(K: int) -> tuple[int, int]:
    """The most square grid of K neurons."""
    rows = next(r for r in range(int(K**0.5), 0, -1) if K % r == 0)
    return rows, K // rows


def estimator(method: str, K: int, family=MEDIAN, **params):
    """A map with K prototypes and few epochs of annealing, of data points if it is a median map; a gas from K/2."""
    if family is MEDIAN:
        params = {"annealing": "median"} | params
        if method == "gas":
            params = {"sigma_start": max(K / 2, params.get("sigma_end", 0.0))} | params
    if method == "kmeans":
        return family[method](K, **params)
    if method == "gas":
        return family[method](K, n_epochs=EPOCHS, **params)
    return family["som"](**({"grid": grid_of(K), "n_epochs": EPOCHS} | SOMS[method] | params))


def unarranged(method: str) -> dict[str, bool]:
    """The parameter with which a SOM ends as reference.py does, its prototypes where training left them."""
    return {"arrange": False} if method in SOMS else {}


def reference_of(method: str, K: int, **params):
    """(weights, sigmas) of reference.py for the same map."""
    if method == "kmeans":
        return reference.kmeans, [0.0]
    made = estimator(method, K, BATCH, **params)
    end = made.sigma_end
    most = np.inf if made.truncate is None else made.truncate
    if method == "gas":
        weights = partial(reference.neural_gas, neighborhood=made.neighborhood, truncate=most)
        return weights, reference.schedule(max(K / 2, end), end, EPOCHS)
    nd = checked_lattice(made.grid, made.lattice, made.periodic).distances
    weights = reference.som(nd, made.neighborhood, made.normalized, most, nearest=made.winner == "nearest")
    return weights, reference.schedule(max(nd.max() / 2, end), end, EPOCHS)


def reference_fit(method, K, start, params=None, **data):
    """(prototypes, costs) of reference.fit with the estimator's caps, for a map with such parameters."""
    weights, sigmas = reference_of(method, K, **(params or {}))
    settle = 299 if method == "kmeans" else 300
    data, e = in_range(data)
    prototypes, _, costs = reference.fit(weights, sigmas, start, settle=settle, **data)
    return prototypes, np.ldexp(costs, e)


def in_range(data):
    """The data with a subnormal D brought to about 1, as a fit does, and the exponent of what it was divided by."""
    D = data.get("D")
    e = 0 if D is None or not 0 < float(D.max()) < 2.0**-50 else int(np.frexp(float(D.max()))[1])
    return (data if e == 0 else {**data, "D": np.ldexp(D.astype(np.float64), -e)}), e


def blobs(rng: np.random.Generator, n=60, centers=4, features=3) -> np.ndarray:
    """Vectors in a few clouds."""
    middle = rng.normal(scale=4, size=(centers, features))
    return middle[rng.integers(centers, size=n)] + rng.normal(size=(n, features))


def blob_distances(rng: np.random.Generator, n=60, centers=4) -> np.ndarray:
    """Euclidean distances of clouds of vectors: a matrix with structure."""
    X = blobs(rng, n, centers)
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
