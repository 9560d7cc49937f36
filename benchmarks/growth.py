"""How the time per epoch grows with N and K, and what memory a fit takes beyond its matrix.

    python benchmarks/growth.py [--figure docs/growth.svg]
    python benchmarks/growth.py --only NG:20000:100 --epochs 100     one fit in a process of its own

`search="auto"`, simulated clouds, float32, 30 epochs of annealing of data points by the chapter's formula from a
random start, two threads. Exponents are slopes of a straight line fitted to the logarithms. Memory is anonymous memory
beyond the matrix, sampled every 2 ms.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from data import simulated
from memory import Peak

from medianmap import MedianNeuralGas, MedianSOM, as_dissimilarity

SIZES = (1000, 2000, 5000, 10000, 20000)
PROTOTYPES = (25, 100, 225, 484, 961)
# What SOMs do otherwise by default; neural gas is the chapter's.
CHAPTER = {"normalized": False, "neighborhood": "exponential", "sigma_end": 0.01, "init": "random"}


def fitted_seconds(name: str, source: Any, K: int, n_epochs: int) -> tuple[float, int]:
    """Mean seconds per epoch, preparation included, and peak extra bytes."""
    import time

    params = {"metric": "precomputed", "annealing": "median", "n_epochs": n_epochs, "random_state": 0, "n_jobs": 2}
    side = int(K**0.5)
    estimator = MedianNeuralGas(K, **params) if name == "NG" else MedianSOM((side, side), **params, **CHAPTER)
    with Peak() as peak:
        began = time.perf_counter()
        estimator.fit(source)
        seconds = time.perf_counter() - began
    return seconds / estimator.n_iter_, peak.extra


def exponent(x: list[int], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--only", help="MAP:N:K, that fit alone")
    parser.add_argument("--epochs", type=int, default=30)
    args = parser.parse_args()
    for name in ("NG", "SOM"):
        fitted_seconds(name, simulated(1200), 25, 5)  # compile
    curves: dict[str, tuple[list[int], list[float]]] = {}
    print("| map | N | K | ms per epoch | extra memory, MiB | matrix, MiB |\n| --- | --- | --- | --- | --- | --- |")
    if args.only:
        name, n, K = args.only.split(":")[0], *map(int, args.only.split(":")[1:])
        report(curves, args.only, n, name, as_dissimilarity(simulated(n), symmetric=True), n, K, args.epochs)
        return
    for n in SIZES:
        source = as_dissimilarity(simulated(n), symmetric=True)
        for name in ("NG", "SOM"):
            report(curves, f"{name}, K=100", n, name, source, n, 100, args.epochs)
    source = as_dissimilarity(simulated(4000), symmetric=True)
    for K in PROTOTYPES:
        for name in ("NG", "SOM"):
            report(curves, f"{name}, N=4000", K, name, source, 4000, K, args.epochs)
    print()
    for label, (x, y) in curves.items():
        print(f"- {label}: time grows as the power {exponent(x, y):.2f}")
    if args.figure:
        draw(curves, args.figure)


def report(curves: Any, label: str, x: int, name: str, source: Any, n: int, K: int, n_epochs: int) -> None:
    seconds, extra = fitted_seconds(name, source, K, n_epochs)
    curves.setdefault(label, ([], []))[0].append(x)
    curves[label][1].append(seconds)
    print(f"| {name} | {n} | {K} | {1e3 * seconds:.1f} | {extra / 2**20:.0f} | {n * n * 4 / 2**20:.0f} |", flush=True)


def draw(curves: dict[str, tuple[list[int], list[float]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for label, (x, y) in curves.items():
        axis = axes[0] if "K=100" in label else axes[1]
        axis.loglog(x, 1e3 * np.array(y), "o-", label=f"{label}: power {exponent(x, y):.2f}")
    for axis, title in zip(axes, ("number of points N", "number of prototypes K"), strict=True):
        axis.set_xlabel(title)
        axis.grid(True, which="both", alpha=0.3)
        axis.legend(frameon=False)
    axes[0].set_ylabel("ms per epoch")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
