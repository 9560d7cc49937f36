"""Fits one map at a time with the `medianmap` that is on the path, and writes what it gave; and MiniSom beside it.

    python topology_fits.py FOLDER     FOLDER holds NAME.npy (N, N) and, for vectors, x_NAME.npy (N, M)

Each line on standard input asks for a fit, as JSON; it is answered by the seconds of the fit. Nothing is measured here:
this file runs with the code of an earlier revision too.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
import warnings
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Parameters that earlier revisions do not have, and without which they do what this value says.
LATER = {"normalized": False, "arrange": False}


@dataclass(frozen=True)
class Fit:
    """A map of a set of data: what is asked for. kind is a class of medianmap, "MiniSom" or "FasterPAM"."""

    data: str
    grid: tuple[int, int]
    kind: str
    seed: int
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same text for the same fit."""
        return json.dumps(asdict(self), sort_keys=True)


@dataclass(frozen=True)
class Fitted:
    """What a map gave.

    labels (N,) : neuron of each point.
    G (N, K) : dissimilarities of the points to the map's own prototypes.
    exemplars (K,) : the data points that stand for the prototypes; empty where these are vectors.
    positions (K, 2), distances (K, K) : the lattice.
    """

    labels: NDArray[np.intp]
    G: NDArray[np.float64]
    exemplars: NDArray[np.intp]
    positions: NDArray[np.float64]
    distances: NDArray[np.float64]


def estimator(fit: Fit) -> Any:
    import medianmap

    kind = getattr(medianmap, fit.kind)
    known = inspect.signature(kind).parameters
    params = {name: value for name, value in fit.params.items() if name in known or LATER.get(name, ...) != value}
    if "metric" in known:
        params["metric"] = "precomputed"
    return kind(fit.grid, random_state=fit.seed, **params)


def map_of(fit: Fit, X: NDArray[Any]) -> tuple[Fitted, float]:
    """The map of a matrix (N, N), or of vectors (N, M) where its prototypes are means; and the seconds of the fit."""
    model = estimator(fit)
    began = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - began
    G = np.asarray(model.transform(X), np.float64)
    exemplars = np.empty(0, np.intp)
    if fit.kind == "BatchSOM":
        G = np.sqrt(G)  # it compares by squared distances
    else:
        exemplars = model.medoid_indices_ if hasattr(model, "medoid_indices_") else model.exemplar_indices_
    lattice = model.lattice_
    return Fitted(model.labels_, G, exemplars, lattice.positions, lattice.distances), seconds


def minisom(fit: Fit, X: NDArray[np.float64], passes: int = 50) -> tuple[Fitted, float]:
    """MiniSom on vectors X (N, M): hexagonal, from its plane of the main components, points in random order."""
    from minisom import MiniSom
    from scipy.spatial.distance import cdist

    began = time.perf_counter()
    som = MiniSom(*fit.grid, X.shape[1], topology="hexagonal", random_seed=fit.seed, **fit.params)
    som.pca_weights_init(X)
    som.train(X, passes * len(X), random_order=True)
    seconds = time.perf_counter() - began
    G = cdist(X, som.get_weights().reshape(-1, X.shape[1]))
    positions = np.column_stack([each.ravel() for each in som.get_euclidean_coordinates()])
    # Equal distances as equal numbers, as on our lattices: ranks of distances depend on it.
    distances = np.sqrt(np.round(cdist(positions, positions, "sqeuclidean") * 4) / 4)
    return Fitted(G.argmin(axis=1), G, np.empty(0, np.intp), positions, distances), seconds


def fasterpam(D: NDArray[Any], K: int, seed: int) -> tuple[NDArray[np.intp], float]:
    """Its K medoids from a random start, and the seconds."""
    import kmedoids

    began = time.perf_counter()
    medoids = kmedoids.fasterpam(D, K, max_iter=100, random_state=seed, n_cpu=1).medoids
    return np.asarray(medoids, np.intp), time.perf_counter() - began


@lru_cache(1)
def loaded(path: Path) -> NDArray[Any]:
    return np.load(path)


def matrix_path(folder: Path, data: str) -> Path:
    return folder / f"{data}.npy"


def vectors_path(folder: Path, data: str) -> Path:
    return folder / f"x_{data}.npy"


def serve(folder: Path) -> None:
    """Do the fits that are asked for, one a line; the arrays go to the .npz file that the line names."""
    import medianmap

    assert Path(medianmap.__file__).is_relative_to(os.environ["PYTHONPATH"]), medianmap.__file__

    @cache
    def warmed(path: Path, fit_key: str) -> None:
        """A short fit on fewer points, so that no measured one waits for the compiler."""
        fit = Fit(**json.loads(fit_key))
        map_of(replace(fit, params={**fit.params, "n_epochs": 2}), fewer(loaded(path)))

    for line in sys.stdin:
        asked = json.loads(line)
        out, fit = asked.pop("out"), Fit(**asked | {"grid": tuple(asked["grid"])})
        path = (vectors_path if fit.kind == "BatchSOM" else matrix_path)(folder, fit.data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warmed(path, replace(fit, seed=0).key)
            found, seconds = map_of(fit, loaded(path))
        np.savez(out, **vars(found))
        print(seconds, flush=True)


def fewer(X: NDArray[Any], n: int = 1000) -> NDArray[Any]:
    """The first points of a matrix (N, N) or of vectors (N, M)."""
    return np.ascontiguousarray(X[:n, :n] if X.shape[0] == X.shape[1] else X[:n])


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
