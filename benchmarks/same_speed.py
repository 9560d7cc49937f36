"""Seconds of whole fits with an earlier version of the code and with this one, in turns, best of several.

    python benchmarks/same_speed.py --before REV [--rounds 5] [--data ../shared/data/chromosomes.csv]

One process per version keeps its data and compiled code; the two take turns, so that what else the machine does
meets both. Prints the best seconds of each fit, and their ratio.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from same_results import ROOT, tree_of

MAPS = {
    "SOM": lambda m, K, **p: m.MedianSOM((K // 10, 10), metric="precomputed", random_state=0, **p),
    "NG": lambda m, K, **p: m.MedianNeuralGas(K, metric="precomputed", random_state=0, **p),
    "K-means": lambda m, K, **p: m.MedianKMeans(K, metric="precomputed", random_state=0, **p),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    'annealing="median"': {"annealing": "median"},
    'refine="swap"': {"refine": "swap"},
}


def matrices(data: Path | None) -> dict[str, np.ndarray]:
    """Euclidean distances of digits (n=1797) and of clouds (n=300); with --data the chromosomes' edit distances."""
    from scipy.spatial.distance import cdist
    from sklearn.datasets import load_digits, make_blobs

    digits, clouds = load_digits().data, make_blobs(300, 5, centers=12, random_state=0)[0]
    found = {"digits": cdist(digits, digits), "clouds": cdist(clouds, clouds)}
    if data is not None:
        from data import chromosomes

        found["chromosomes"] = chromosomes(data)
    return found


def serve(path: Path) -> None:
    """Time the fits that are asked for on standard input, one per line; each line is answered by its seconds."""
    import medianmap

    D = dict(np.load(path))
    for line in sys.stdin:
        name, map_, K, setting = line.rstrip("\n").split("\t")
        estimator = MAPS[map_](medianmap, int(K), **SETTINGS[setting])
        began = time.perf_counter()
        estimator.fit(D[name])
        print(time.perf_counter() - began, flush=True)


def started(src: Path, *arguments: str) -> subprocess.Popen[str]:
    """A process that runs a file with arguments, with the code in `src`, and waits for questions."""
    command = [sys.executable, *arguments]
    env = {**os.environ, "PYTHONPATH": str(src)}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)


def ended(process: subprocess.Popen[str]) -> None:
    """End such a process, wait for it and close its pipes."""
    process.terminate()
    process.communicate()


def ask(process: subprocess.Popen[str], question: str) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    print(question, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--before", default="HEAD", help="the revision to compare with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, help="chromosomes.csv")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
        return
    with tree_of(args.before) as before:
        path = before / "matrices.npz"
        found = matrices(args.data)
        np.savez(path, **found)
        sources = {"before": before / "src", "now": ROOT / "src"}
        workers = {version: started(src, __file__, "--serve", str(path)) for version, src in sources.items()}
        print("| data | map | setting | before, s | now, s | ratio |\n| --- | --- | --- | --- | --- | --- |")
        ratios = []
        for name, D in found.items():
            K = 20 if len(D) < 1000 else 100
            for map_ in MAPS:
                for setting in SETTINGS:
                    question = f"{name}\t{map_}\t{K}\t{setting}"
                    best = dict.fromkeys(workers, np.inf)
                    for _ in range(args.rounds + 1):  # the first compiles
                        for version, worker in workers.items():
                            best[version] = min(best[version], ask(worker, question))
                    ratios.append(best["now"] / best["before"])
                    print(f"| {name}, K={K} | {map_} | {setting} | {best['before']:.4f} | {best['now']:.4f} "
                          f"| {ratios[-1]:.3f} |", flush=True)  # fmt: skip
        print(
            f"\n{len(ratios)} fits: median ratio {np.median(ratios):.3f}, from {min(ratios):.3f} to {max(ratios):.3f}"
        )
        for worker in workers.values():
            ended(worker)


if __name__ == "__main__":
    main()
