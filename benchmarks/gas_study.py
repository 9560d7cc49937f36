"""What the rank of the compression and the number of epochs of neural gas were chosen with.

    python benchmarks/gas_study.py --data FOLDER [--cache FOLDER] [--sets ...] [--seeds 5]

One line for each set, K and setting, means over the seeds, losses over FasterPAM's: of the default map; of the same
without exchanges of exemplars (max_swaps=0), which shows what annealing alone does; and the inertia of
RelationalNeuralGas with the same setting. "share annealed compressed" is 0 where D was taken whole, because there are
too few points or the approximation is too coarse, as it has to be of the structureless set.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import data
import kmedoids
import numpy as np
from numpy.typing import NDArray

from medianmap import MedianNeuralGas, RelationalNeuralGas

SETS = {"chromosomes": (100, 500), "globins": (22, 100), "proteins": (22,), "simulated": (100,), "digits": (100,),
        "families": (80,), "breast_cancer": (40,), "structureless": (100,)}  # fmt: skip
RANKS: tuple[int | None, ...] = (None, 16, 32, 64, 128)
EPOCHS = (10, 20, 30, 50, 100)


def matrix(name: str, folder: Path | None) -> NDArray[Any] | None:
    if name in ("simulated", "structureless"):
        return getattr(data, name)({"simulated": 10000, "structureless": 3000}[name])
    return data.matrix(name, folder)


def line(D: NDArray[Any], K: int, seeds: int, yardstick: float, params: dict[str, Any]) -> str:
    """The figures of one setting, means over the seeds."""
    found = []
    for seed in range(seeds):
        told = {"metric": "precomputed", "random_state": seed, "n_jobs": 2, **params}
        began = time.perf_counter()
        fitted = MedianNeuralGas(K, **told).fit(D)
        seconds = time.perf_counter() - began
        snapped = MedianNeuralGas(K, **told, max_swaps=0).fit(D)
        relational = RelationalNeuralGas(K, **{"compression": "auto", **told}).fit(D)
        share = (fitted.history_["compression"] > 0).mean()
        losses = np.array([fitted.inertia_, snapped.inertia_, relational.inertia_]) / yardstick
        found.append([*losses, seconds, share])
    mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
    losses = " | ".join(f"{mean[k]:.4f} ± {spread[k]:.4f}" for k in range(3))
    return f"{losses} | {mean[3]:.2f} | {mean[4]:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/D.csv")
    parser.add_argument("--cache", type=Path, help="where to keep the matrices")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print("| set | K | setting | default | without exchanges | relational | seconds | share annealed compressed |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in args.sets:
        path = None if args.cache is None else args.cache / f"{name}.npy"
        D = np.load(path) if path is not None and path.exists() else matrix(name, args.data)
        if D is None:
            print(f"| {name} | left out, --data was not given | | | | | | |")
            continue
        data.kept(path, lambda D=D: D)
        for K in SETS[name]:
            medoids = [kmedoids.fasterpam(D, K, max_iter=100, random_state=s, n_cpu=2).loss for s in range(args.seeds)]
            settings: list[dict[str, Any]] = [{"compression": rank} for rank in RANKS]
            for params in settings + [{"n_epochs": n} for n in EPOCHS]:
                said = ", ".join(f"{name}={value}" for name, value in params.items())
                print(
                    f"| {name} | {K} | {said} | {line(D, K, args.seeds, float(np.mean(medoids)), params)} |", flush=True
                )


if __name__ == "__main__":
    main()
