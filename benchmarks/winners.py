"""SOMs by their winner: the neuron whose neighbourhood fits best (the default), the nearest prototype alone, or a soft
one that a falling temperature makes hard.

    python benchmarks/winners.py [--data FOLDER] [--cache FOLDER] [--seeds 5] [--sets ...]

Summed dissimilarity over that of K-medoids by swaps, ten starts (a BatchSOM's squared distances over those of
BatchKMeans, ten starts) / topographic error / rank correlation of dissimilarity and lattice distance; means over the
seeds, all other parameters at their defaults. A RelationalSOM's sum is that of the points nearest to its prototypes.
FOLDER holds chromosomes.csv and proteins/D.csv, not part of this project; without it the sets that need them are left
out.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import data
import numpy as np
from numpy.typing import NDArray

from medianmap import BatchKMeans, BatchSOM, MedianKMeans, MedianSOM, RelationalSOM, as_dissimilarity
from medianmap.core.quality import rank_correlation, topographic_error
from medianmap.core.spaces import snapped

# The grids of decision 15.
GRIDS = {
    "chromosomes": (10, 10),
    "globins": (8, 10),
    "families": (8, 10),
    "proteins": (4, 5),
    "breast_cancer": (8, 8),
    "iris": (6, 6),
    "digits": (10, 10),
}
WAYS = {
    '`winner="neighborhood"`, the default': {},
    '`winner="nearest"`': {"winner": "nearest"},
    '`temperature="auto"`': {"temperature": "auto"},
}
VECTORS = ("breast_cancer", "iris", "digits")


def on_matrix(kind: type, D: NDArray[Any], grid: tuple[int, int], way: dict[str, str], seed: int) -> list[float]:
    """Summed dissimilarity of the points to their nearest exemplars, topographic error, rank correlation."""
    som: Any = kind(grid, **way, metric="precomputed", random_state=seed, n_jobs=1).fit(D)
    G = som.transform(D)
    w = snapped(G, distinct=True) if kind is RelationalSOM else som.medoid_indices_
    return [float(D[:, w].min(axis=1).sum()), *order_of(som, G, as_dissimilarity(D))]


def on_vectors(X: NDArray[Any], grid: tuple[int, int], way: dict[str, str], seed: int) -> list[float]:
    """The same of means: the summed squared distance."""
    som = BatchSOM(grid, **way, random_state=seed, n_jobs=1).fit(X)
    return [som.inertia_, *order_of(som, som.transform(X), as_dissimilarity(X, "sqeuclidean"))]


def order_of(som: Any, G: NDArray[Any], source: Any) -> list[float]:
    return [topographic_error(G, som.lattice_), rank_correlation(source, som.labels_, som.lattice_.distances)]


def row(title: str, cells: list[list[list[float]]], best: float) -> str:
    """One line: per way the means over the seeds."""
    means = [np.mean(each, axis=0) for each in cells]
    return f"| {title} | {' | '.join(f'{q / best:.3f} / {torn:.3f} / {rho:.2f}' for q, torn, rho in means)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/D.csv")
    parser.add_argument("--cache", type=Path, help="where to keep the chromosomes' matrix")
    parser.add_argument("--sets", nargs="+", choices=GRIDS, default=list(GRIDS))
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print(f"| | {' | '.join(WAYS)} |\n|{' --- |' * (1 + len(WAYS))}", flush=True)
    for name in args.sets:
        grid, seeds = GRIDS[name], range(args.seeds)
        D = data.chromosomes(args.data / "chromosomes.csv", args.cache) if name == "chromosomes" and args.data else None
        D = data.matrix(name, args.data) if D is None else D
        if D is None:
            print(f"{name}: left out, --data was not given", flush=True)
            continue
        K, shared = grid[0] * grid[1], {"n_init": 10, "random_state": 0, "n_jobs": 1}
        best = MedianKMeans(K, metric="precomputed", refine="swap", **shared).fit(D).inertia_
        for kind in (MedianSOM, RelationalSOM):
            cells = [[on_matrix(kind, D, grid, way, seed) for seed in seeds] for way in WAYS.values()]
            print(row(f"{name} {grid[0]}x{grid[1]}, {kind.__name__}", cells, best), flush=True)
        if name in VECTORS:
            X = data.vectors(name)
            best = BatchKMeans(K, **shared).fit(X).inertia_
            cells = [[on_vectors(X, grid, way, seed) for seed in seeds] for way in WAYS.values()]
            print(row(f"{name} {grid[0]}x{grid[1]}, BatchSOM", cells, best), flush=True)


if __name__ == "__main__":
    main()
