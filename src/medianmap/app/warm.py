"""Small fits that call the compiled loops of all usual ones, with the types of their data: later fits find them.

`medianmap compile` runs them after installation, and `hatch_build.py` when a wheel is built, which then brings their
code along (`utils/shipped.py`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..estimators.batch import BatchKMeans, BatchNeuralGas, BatchSOM
from ..estimators.classifier import PrototypeClassifier
from ..estimators.median import MedianKMeans, MedianNeuralGas, MedianSOM
from ..estimators.relational import RelationalKMeans, RelationalNeuralGas, RelationalSOM
from ..utils.kernels import KERNELS
from ..utils.shipped import write_pack
from ..utils.threads import step
from .output import Watch
from .run import run_demo

# Points, in a few clouds, and prototypes. Some loops are for maps of many prototypes, or data of many points, only.
SIZES = ((90, 6, (2, 3)), (700, 20, (4, 5)))
MEDIAN: tuple[dict[str, Any], ...] = ({}, {"refine": "swap"}, {"annealing": "median"})


def warm() -> None:
    """Run all of them."""
    fits = list(usual_fits())
    for k, fit in enumerate(fits):
        step("trial fits", k, len(fits))
        fit()
    step("trial fits", len(fits), len(fits))


def pack(path: str) -> None:
    """Run them all and write what was compiled into the file that a wheel brings along."""
    warm()
    write_pack(Path(path), KERNELS)


def usual_fits() -> Iterator[Callable[[], Any]]:
    """Fits of all maps to dissimilarities in both precisions, in memory and on disk, and to vectors; the demo."""
    for n, K, grid in SIZES:
        X, D, y = clouds(n)
        on_disk = D.view()
        on_disk.flags.writeable = False  # as those of a memory map are
        common: dict[str, Any] = {"random_state": 0}
        for data in (D, D.astype(np.float32), on_disk):
            for more in MEDIAN:
                given = {**common, "metric": "precomputed", **more}
                for map_ in (MedianKMeans(K, **given), MedianNeuralGas(K, **given), MedianSOM(grid, **given)):
                    yield partial(_fitted, map_, data)
        given = {**common, "metric": "precomputed"}
        for map_ in (RelationalKMeans(K, **given), RelationalNeuralGas(K, **given), RelationalSOM(grid, **given)):
            yield partial(_fitted, map_, D)
        for map_ in (BatchKMeans(K, **common), BatchNeuralGas(K, **common), BatchSOM(grid, **common)):
            yield partial(_fitted, map_, X)
        for map_ in (MedianNeuralGas(K, **given), MedianSOM(grid, **given)):
            yield partial(_fitted, PrototypeClassifier(map_), D, y)
    yield demo


def _fitted(map_: Any, *data: NDArray[Any]) -> None:
    map_.fit(*data)
    map_.predict(data[0][:5])


def clouds(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """n points in the plane around seven places, their distances, and their places as labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(7, size=n)
    X = rng.normal(size=(7, 2))[y] * 4 + rng.normal(size=(n, 2))
    return X, cdist(X, X), y


def demo() -> None:
    """`medianmap demo`, page and all, which needs no reader of sequences."""
    with tempfile.TemporaryDirectory() as folder:
        run_demo(Path(folder) / "demo", (3, 4), 0, Watch())
