"""Where sigma starts in neural gas that keeps to data points (`annealing="median"`): loss over that of the best swaps.

    python benchmarks/median_start.py [--data FOLDER] [--cache FOLDER] [--seeds 5] [--sets ...] [--k 10 50 100]

Losses are sum_i min_j D[i, w_j] over that of MedianKMeans(refine="swap", n_init=10); mean and standard deviation over
the seeds. The last rows are the geometric mean over all sets of that K, and how far the worst of them is above the
least loss of its set. FOLDER holds chromosomes.csv and proteins/D.csv, not part of this project; the sets that need
them are left out without it. Behind the default of docs/decisions/0021-alternatives.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import restarts

from medianmap import MedianKMeans, MedianNeuralGas

SETS = tuple(name for name in restarts.SETS if name != "simulated")
STARTS: dict[str, Callable[[int], float]] = {
    "0.5": lambda K: 0.5,
    "1": lambda K: 1.0,
    "2": lambda K: 2.0,
    "3": lambda K: 3.0,
    "5": lambda K: 5.0,
    "K/10": lambda K: K / 10,
    "K/4": lambda K: K / 4,
    "K/2": lambda K: K / 2,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/D.csv")
    parser.add_argument("--cache", type=Path, help="where to keep the chromosomes' matrix")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--k", nargs="+", type=int, default=[10, 50, 100], help="left out where 2 K > N")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    found: dict[int, list[list[float]]] = {}
    print(f"| sigma_start | {' | '.join(STARTS)} |\n|{' --- |' * (1 + len(STARTS))}", flush=True)
    for name, D in restarts.matrices(args.sets, args.data, args.cache):
        for K in [K for K in args.k if 2 * K <= len(D)]:
            shared = {"n_clusters": K, "metric": "precomputed"}
            best = MedianKMeans(**shared, refine="swap", n_init=10, random_state=0).fit(D).inertia_
            means, cells = [], []
            for start in STARTS.values():
                map_ = MedianNeuralGas(**shared, annealing="median", sigma_start=start(K))
                losses = [map_.set_params(random_state=seed).fit(D).inertia_ / best for seed in range(args.seeds)]
                means.append(float(np.mean(losses)))
                cells.append(f"{means[-1]:.3f} ± {np.std(losses):.3f}")
            found.setdefault(K, []).append(means)
            print(f"| {name} N={len(D)} K={K} | {' | '.join(cells)} |", flush=True)
    for K, rows in found.items():
        loss = np.array(rows)
        worst = (loss / loss.min(axis=1, keepdims=True)).max(axis=0)
        cells = [
            f"{mean:.3f}, worst {above:.3f}"
            for mean, above in zip(np.exp(np.log(loss).mean(axis=0)), worst, strict=True)
        ]
        print(f"| all of K={K} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
