"""How long check_dissimilarity takes on matrices on disk, its memory, and how hard the simulated strings are.

    python benchmarks/health.py [--n 5000,20000] [--folder DIR]
    python benchmarks/health.py --strings 4400 [--seeds 0,1] [--data chromosomes.csv]

The second form gives leave-one-out 1-NN accuracy under the edit distance with substitution |a - b| and insertion and
deletion 4.5: of simulated strings, and of the Copenhagen chromosomes where --data names your copy.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from data import string_distances
from memory import Peak, write_matrix

from medianmap import check_dissimilarity
from medianmap.datasets import load_chromosomes, simulate_chromosomes


def measure_checks(sizes: list[int], folder: Path | None) -> None:
    check_dissimilarity(np.zeros((3, 3), np.float32))  # compile outside the measurement
    print("| N | matrix | seconds | peak extra memory |")
    print("| --- | --- | --- | --- |")
    for n in sizes:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            path = Path(place) / "D.npy"
            write_matrix(path, n)
            with Peak() as peak:
                began = time.perf_counter()
                health = check_dissimilarity(path)
                seconds = time.perf_counter() - began
            assert health.ok
            size = path.stat().st_size / 2**30
            print(f"| {n} | {size:.2f} GiB float32 | {seconds:.1f} | {peak.extra / 2**20:.0f} MiB |")


def measure_strings(n: int, seeds: list[int], data: Path | None) -> None:
    print("| strings | N | mean length | 1-NN accuracy | within classes | between | to the nearest |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    if data is not None:
        real = load_chromosomes(data)
        row("Copenhagen", real.sequences, real.y)
    for seed in seeds:
        made = simulate_chromosomes(n, random_state=seed)
        row(f"simulated, seed {seed}", made.sequences, made.y)


def row(name: str, strings: Sequence[str], y: np.ndarray) -> None:
    D = string_distances(strings)
    np.fill_diagonal(D, np.inf)
    accuracy, nearest = (y[D.argmin(axis=1)] == y).mean(), D.min(axis=1).mean()
    same = y[:, None] == y
    within, between = D[same & np.isfinite(D)].mean(), D[~same].mean()
    length = np.mean([len(s) for s in strings])
    print(f"| {name} | {len(y)} | {length:.1f} | {accuracy:.3f} | {within:.1f} | {between:.1f} | {nearest:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", default="5000,20000")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--strings", type=int, default=0)
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--data", type=Path, default=None)
    args = parser.parse_args()
    if args.strings:
        measure_strings(args.strings, [int(s) for s in args.seeds.split(",")], args.data)
    else:
        measure_checks([int(n) for n in args.n.split(",")], args.folder)


if __name__ == "__main__":
    main()
