"""Is deterministic annealing of K-means worth it? The figures of docs/choosing.md.

    python benchmarks/temperature.py [--folder SHARED]

SHARED holds chromosomes.csv, which is not part of this project; without it there are four sets. At most 600 points of
each; means over five seeds of the loss, relative to the best that hard K-means reaches from ten starts.
"""

import argparse
from pathlib import Path

import _paths  # noqa: F401
import numpy as np
from uncertainty import sets

from medianmap import MedianKMeans, RelationalKMeans

SEEDS, STARTS = 5, 10
WAYS = {  # without swaps unless they are named
    "relational": (RelationalKMeans, {}),
    "relational, then data points": (MedianKMeans, {"annealing": "relational", "max_swaps": 0}),
    "data points all the way": (MedianKMeans, {"annealing": "median"}),
    "default, with swaps": (MedianKMeans, {}),
}


def losses(kind, how, D, K, n):
    """Loss of each of n seeds."""
    return [kind(K, metric="precomputed", random_state=seed, **how).fit(D).inertia_ for seed in range(n)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    print("loss over the best of ten hard starts of the same map; one hard start, one annealed by temperature")
    print("| set | K | " + " | ".join(f"{way}: hard | soft" for way in WAYS) + " |")
    print("| --- | --- |" + " --- | --- |" * len(WAYS))
    ratios = []
    for name, D in sets(asked.folder):
        for K in (10, 40):
            row = []
            for kind, how in WAYS.values():
                hard = losses(kind, how, D, K, STARTS)
                soft = losses(kind, {**how, "temperature": "auto"}, D, K, SEEDS)
                row += [np.mean(hard[:SEEDS]) / min(hard), np.mean(soft) / min(hard)]
            ratios.append(row)
            print(f"| {name} | {K} | " + " | ".join(f"{each:.3f}" for each in row) + " |", flush=True)
    print("| mean | | " + " | ".join(f"{each:.3f}" for each in np.mean(ratios, axis=0)) + " |")


if __name__ == "__main__":
    main()
