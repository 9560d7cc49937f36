"""Small fits that call the compiled loops of all usual ones, with the types of their data: later fits find them.

`medianmap compile` runs them after installation, and `hatch_build.py` when a wheel is built, which then brings their
code along (`utils/shipped.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..estimators.batch import BatchKMeans, BatchNeuralGas, BatchSOM
from ..estimators.classifier import PrototypeClassifier
from ..estimators.median import MedianKMeans, MedianNeuralGas, MedianSOM
from ..estimators.relational import RelationalKMeans, RelationalNeuralGas, RelationalSOM
from ..utils.files import scratch_folder
from ..utils.kernels import KERNELS
from ..utils.shipped import write_pack
from ..utils.threads import step
from .output import Watch
from .run import run_demo

# Points, in a few clouds, and prototypes: some loops are for many points, for many prototypes, or for few points each.
SIZES = ((90, 6, (2, 3)), (30, 12, (3, 4)), (700, 120, (10, 12)), (1200, 30, (5, 6)), (2000, 12, (3, 4)))
MEDIAN: tuple[dict[str, Any], ...] = ({}, {"refine": "swap"}, {"annealing": "median"})
EPOCHS = 20  # every width that longer annealings pass through, in larger steps


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

        def maps(means: Any, gas: Any, som: Any, K: int = K, grid: Any = grid, **given: Any) -> list[Any]:
            """One of each kind."""
            given["random_state"] = 0
            return [means(K, **given), gas(K, n_epochs=EPOCHS, **given), som(grid, n_epochs=EPOCHS, **given)]

        X, D, y = clouds(n)
        on_disk = D.view()
        on_disk.flags.writeable = False  # as those of a memory map are
        fits: list[tuple[Any, tuple[NDArray[Any], ...]]] = [
            (map_, (X,)) for map_ in maps(BatchKMeans, BatchNeuralGas, BatchSOM)
        ]
        median = partial(maps, MedianKMeans, MedianNeuralGas, MedianSOM, metric="precomputed")
        relational = maps(RelationalKMeans, RelationalNeuralGas, RelationalSOM, metric="precomputed")
        for data in (D, D.astype(np.float32), on_disk):
            fits += [(map_, (data,)) for more in MEDIAN for map_ in median(**more)]
            fits += [(map_, (data,)) for map_ in relational]
            restarted = MedianKMeans(K, metric="precomputed", refine="swap", n_init=2, random_state=0)
            fits.append((restarted, (data,)))  # few points have a loop for all of a start
        fits += [(PrototypeClassifier(map_), (D, y)) for map_ in median()[1:]]
        yield from (partial(_fitted, *fit) for fit in fits)
    if find_spec("Bio"):  # has the matrix of scores
        yield demo


def _fitted(map_: Any, data: tuple[NDArray[Any], ...]) -> None:
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
    with scratch_folder() as folder:
        run_demo(folder / "demo", (3, 4), 0, Watch())
