"""What each choice moves: annealing, sigma_start, epochs, start, refinement; for SOMs also the shape and the end width.

    python benchmarks/annealing.py [--data FOLDER] [--cache FOLDER] [--seeds 3] [--sets ...]

FOLDER holds chromosomes.csv and proteins/D.csv, not part of this project. Losses are sum_i min_j D[i, w_j] over
that of the best of five descents by swaps (MedianKMeans(refine="swap", n_init=5)); means over the seeds. Behind
docs/decisions/0012-annealing.md. SOMs have the chapter's formula and a random start but for what a row says; behind
what they do by default is benchmarks/topology.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import data
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, as_dissimilarity
from medianmap.core.quality import topographic_error
from medianmap.datasets import load_globins, simulate_protein_families
from medianmap.sources import ALL

# Number of prototypes, and the grid of about as many.
SIZES = {
    "chromosomes": (100, (10, 10)),
    "globins": (50, (6, 8)),
    "proteins": (22, (4, 5)),
    "breast cancer": (40, (5, 8)),
    "families": (50, (6, 8)),
}


def matrix(name: str, folder: Path | None, cache: Path | None) -> NDArray[Any] | None:
    if name == "globins":
        return np.asarray(as_dissimilarity(load_globins().sequences, "edit").block(ALL, ALL))
    if name == "breast cancer":
        X = StandardScaler().fit_transform(load_breast_cancer().data)
        return np.maximum(pairwise_distances(X, metric="cosine"), 0)
    if name == "families":
        return np.asarray(as_dissimilarity(simulate_protein_families(1000, 12).sequences, "edit").block(ALL, ALL))
    if folder is None:
        return None
    if name == "chromosomes":
        return data.chromosomes(folder / "chromosomes.csv", cache)
    return np.loadtxt(folder / "proteins" / "D.csv", delimiter=",")


def prototypes_alone(K: int) -> Iterator[tuple[str, Any]]:
    """K-means and neural gas, one choice changed at a time."""
    for annealing in ("median", "relational"):
        for init in ("random", "k-medoids++"):
            yield f"K-means, {annealing}, {init}", MedianKMeans(K, annealing=annealing, init=init)
        for said, start in (("K/2", K / 2), ("5", 5.0), ("2", 2.0)):
            yield f"NG, {annealing}, sigma_start {said}", MedianNeuralGas(K, annealing=annealing, sigma_start=start)
        yield f"NG, {annealing}, sigma_end 0.1", MedianNeuralGas(K, annealing=annealing, sigma_end=0.1)
        yield f"NG, {annealing}, 100 epochs", MedianNeuralGas(K, annealing=annealing, n_epochs=100)
        yield f"NG, {annealing}, k-medoids++", MedianNeuralGas(K, annealing=annealing, init="k-medoids++")
        yield f"NG, {annealing}, gaussian", MedianNeuralGas(K, annealing=annealing, neighborhood="gaussian")
        yield f"NG, {annealing}, swaps", MedianNeuralGas(K, annealing=annealing, refine="swap")
    yield "K-means, swaps alone", MedianKMeans(K, refine="swap")


def on_lattices(grid: tuple[int, int]) -> Iterator[tuple[str, Any]]:
    """SOMs, with swaps and without."""
    chapter = {"normalized": False, "neighborhood": "exponential", "sigma_end": 0.01, "init": "random"}
    changes: dict[str, dict[str, Any]] = {
        f"{shape}, sigma_end {end:g}": {"neighborhood": shape, "sigma_end": end}
        for shape in ("exponential", "gaussian")
        for end in (0.01, 0.1, 0.3)
    }
    changes["sigma_start a quarter of the longer side"] = {"sigma_start": 0.25 * max(grid)}
    changes["sigma_start all of the longer side"] = {"sigma_start": 1.0 * max(grid)}
    changes |= {"embedding": {"init": "embedding"}, "swaps": {"refine": "swap"}}
    for annealing in ("median", "relational"):
        for title, change in changes.items():
            yield f"{annealing}, {title}", MedianSOM(grid, annealing=annealing, **{**chapter, **change})


def fits(map_: Any, D: NDArray[Any], seeds: int) -> Iterator[Any]:
    for seed in range(seeds):
        yield map_.set_params(metric="precomputed", random_state=seed, n_jobs=2).fit(D)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+", choices=list(SIZES), default=list(SIZES))
    args = parser.parse_args()
    losses: dict[str, dict[str, str]] = {}
    lattices: dict[str, dict[str, str]] = {}
    names = []
    for name in args.sets:
        D = matrix(name, args.data, args.cache)
        if D is None:
            print(f"{name}: left out, --data was not given")
            continue
        (K, grid), best = SIZES[name], {}
        for size in {K, grid[0] * grid[1]}:
            baseline = MedianKMeans(size, metric="precomputed", refine="swap", n_init=5, random_state=0, n_jobs=2)
            best[size] = baseline.fit(D).inertia_
        names.append(f"{name}, N={len(D)}, K={K}")
        for title, map_ in prototypes_alone(K):
            ratios = [fitted.inertia_ / best[K] for fitted in fits(map_, D, args.seeds)]
            losses.setdefault(title, {})[name] = f"{np.mean(ratios):.4f}"
        for title, map_ in on_lattices(grid):
            found = []
            for fitted in fits(map_, D, args.seeds):
                G = D[:, fitted.medoid_indices_]
                found.append((fitted.inertia_ / best[grid[0] * grid[1]], topographic_error(G, fitted.lattice_)))
            loss, torn = np.mean(found, axis=0)
            lattices.setdefault(title, {})[name] = f"{loss:.3f} / {torn:.3f}"
        print(f"{name}: done", flush=True)
    for head, rows in (("loss", losses), ("SOM: loss / topographic error", lattices)):
        print(f"\n| {head} | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}")
        for title, cells in rows.items():
            print(f"| {title} | {' | '.join(cells.values())} |")


if __name__ == "__main__":
    main()
