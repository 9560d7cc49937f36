"""The figures of docs/choosing.md: python benchmarks/choosing.py (about a minute on two cores)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from medianmap import BatchSOM, MedianKMeans, MedianNeuralGas, MedianSOM, as_dissimilarity, k_path, width_front
from medianmap.datasets import load_breast_cancer, load_globins
from medianmap.explore.width_front import WidthFront

SIZES = [2, 3, 4, 5, 6, 8, 10, 15, 20, 30]
WIDTHS = [2, 1, 0.7, 0.5, 0.3, 0.2, 0.1, 0.01]
CAREFUL = {"init": "k-medoids++", "n_init": 10}


def map_of(family: Any, **params: Any) -> Any:
    return family(metric="precomputed", **params)


def globins() -> None:
    """K for the globins: the table with the agreement with families, careless fits, other seeds."""
    data = load_globins()
    D: Any = as_dissimilarity(data.sequences, "alignment").kept()  # type: ignore[attr-defined]
    for name, params in (("k-medoids++, 10 starts", CAREFUL), ("one random start", {})):
        path = k_path(map_of(MedianKMeans, random_state=0, **params), D, SIZES)
        print(f"\nglobins, median K-means, {name}: K, error, silhouette, stability, agreement with families")
        for row, prototypes in zip(path.as_records(), path.prototypes, strict=True):
            winner = D.block(slice(None), prototypes).argmin(axis=1)
            families = adjusted_rand_score(data.families, winner)
            print(f"{row['n_clusters']:3d}  {row['quantization_error']:6.2f}  {row['silhouette']:.3f}  "
                  f"{row['stability']:.3f}  {families:.3f}")  # fmt: skip
    paths = [k_path(map_of(MedianKMeans, random_state=seed, **CAREFUL), D, SIZES) for seed in range(10)]
    for by in ("silhouette", "stability"):
        print(f"suggested by {by}, seeds 0 to 9:", [path.best(by) for path in paths])
    for family in (MedianKMeans, MedianNeuralGas):
        ratio = np.zeros(len(SIZES))
        for seed in range(10):
            means = map_of(family, random_state=seed, init="k-medoids++")
            warm, cold = (k_path(means, D, SIZES, n_restarts=1, warm=warm).quantization_error for warm in (True, False))
            ratio += warm / cold / 10
        print(f"{family.__name__}: error with warm starts over that without:", ratio.round(3))
    show("globins, MedianSOM 6x8", width_front(map_of(MedianSOM, grid=(6, 8), random_state=0), D, WIDTHS))


def breast_cancer() -> None:
    X = load_breast_cancer().X
    show("breast cancer, BatchSOM 8x10", width_front(BatchSOM((8, 10), random_state=0), X, WIDTHS))
    show("breast cancer, MedianSOM 8x10",
         width_front(MedianSOM((8, 10), metric="sqeuclidean", random_state=0), X, WIDTHS))  # fmt: skip


def show(name: str, front: WidthFront) -> None:
    print(f"\n{name}: width, topographic error, quantization error")
    for row in front.as_records():
        print(f"{row['width']:5g}  {row['topographic_error']:.3f} +- {row['standard_error_topographic']:.3f}  "
              f"{row['quantization_error']:8.2f} +- {row['standard_error_quantization']:5.2f}  "
              f"{'front' if row['on_front'] else ''}")  # fmt: skip


if __name__ == "__main__":
    globins()
    breast_cancer()
