"""Fits one map or clustering at a time, with the `medianmap` that is on the path, and says how long it took.

    python default_fits.py FOLDER     FOLDER holds NAME.npy (N, N) and, for vectors, x_NAME.npy (N, M)

Each line on standard input asks for a fit, as JSON, and is answered by one: {"seconds", "loss", "extra"}, where extra
is the largest memory beyond what there was before, in bytes. This file runs with the code of an earlier revision too.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from memory import Peak
from numpy.typing import NDArray

THREADS = 2
# What gets vectors; all else gets the matrix.
OF_VECTORS = ("BatchKMeans", "BatchSOM", "MiniSom", "KMeans")


@dataclass(frozen=True)
class Fit:
    """What is asked for: K prototypes, on a grid if it has one, of a set of data.

    kind : a class of medianmap; "fasterpam" or "alternating" of kmedoids; "MiniSom"; "KMeans" of scikit-learn.
    """

    data: str
    kind: str
    size: tuple[int, ...]
    seed: int = 0
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def K(self) -> int:
        return int(np.prod(self.size))

    @property
    def grid(self) -> tuple[int, int]:
        """The size, if it is one; else the most square grid of K neurons."""
        rows = next(r for r in range(int(self.K**0.5), 0, -1) if self.K % r == 0)
        return (rows, self.K // rows) if len(self.size) == 1 else (self.size[0], self.size[1])


def fitted(fit: Fit, X: NDArray[Any]) -> Callable[[], NDArray[Any]]:
    """Do the fit; what is returned gives the dissimilarities (N, K) that its loss is summed of, or the loss itself."""
    if fit.kind in ("fasterpam", "alternating"):
        import kmedoids

        threads = {"n_cpu": THREADS} if fit.kind == "fasterpam" else {}
        found = getattr(kmedoids, fit.kind)(X, fit.K, max_iter=100, random_state=fit.seed, **threads)
        return lambda: X[:, np.asarray(found.medoids, np.intp)]
    if fit.kind == "MiniSom":
        from minisom import MiniSom

        som = MiniSom(*fit.grid, X.shape[1], topology="hexagonal", random_seed=fit.seed, sigma=min(fit.grid) / 2)
        som.pca_weights_init(X)
        som.train(X, 50 * len(X), random_order=True)
        return lambda: squares(X, som.get_weights().reshape(fit.K, -1))
    if fit.kind == "KMeans":
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        with threadpool_limits(THREADS):
            model = KMeans(fit.K, random_state=fit.seed, **fit.params).fit(X)
        return lambda: squares(X, model.cluster_centers_)
    import medianmap

    size = fit.grid if fit.kind.endswith("SOM") else fit.K
    of_matrix = {} if fit.kind in OF_VECTORS else {"metric": "precomputed"}
    model = getattr(medianmap, fit.kind)(size, random_state=fit.seed, n_jobs=THREADS, **of_matrix, **fit.params).fit(X)
    if fit.kind in OF_VECTORS:
        return lambda: squares(X, model.cluster_centers_)
    return lambda: X[:, model.medoid_indices_]


def squares(X: NDArray[Any], W: NDArray[Any]) -> NDArray[np.float64]:
    """Squared Euclidean distances (N, K)."""
    from scipy.spatial.distance import cdist

    return cdist(X, W, "sqeuclidean")


@lru_cache(1)
def loaded(path: Path) -> NDArray[Any]:
    return np.load(path)


def fewer(X: NDArray[Any], n: int) -> NDArray[Any]:
    """The first points of a matrix (N, N) or of vectors (N, M)."""
    return np.ascontiguousarray(X[:n, :n] if X.shape[0] == X.shape[1] else X[:n])


def serve(folder: Path) -> None:
    warmed = set[str]()
    for line in sys.stdin:
        asked = json.loads(line)
        fit = Fit(**asked | {"size": tuple(asked["size"])})
        X = loaded(folder / f"{'x_' if fit.kind in OF_VECTORS else ''}{fit.data}.npy")
        what = f"{fit.kind} {fit.params} {X.dtype}"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if what not in warmed:  # no measured fit waits for the compiler, whichever way it goes
                warmed.add(what)
                for n in (300, 1500):
                    fitted(Fit(fit.data, fit.kind, (5, 5), 0, fit.params), fewer(X, n))
            with Peak() as peak:
                began = time.perf_counter()
                distances = fitted(fit, X)
                seconds = time.perf_counter() - began
        loss = float(distances().min(axis=1).sum(dtype=np.float64))
        print(json.dumps({"seconds": seconds, "loss": loss, "extra": peak.extra}), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
