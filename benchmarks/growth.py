"""How time grows with N and K, and what memory a fit takes beyond its matrix.

    python benchmarks/growth.py [--figure docs/growth.svg]
    python benchmarks/growth.py --default [--figure docs/growth-default.svg]     whole fits of default maps
    python benchmarks/growth.py --only NG:20000:100 --epochs 100     one fit in a process of its own

Simulated clouds, float32, two threads. Without --default the time is that of an epoch, of 30 epochs of annealing of
data points by the chapter's formula from a random start. Exponents are slopes of a straight line fitted to the
logarithms. Memory is anonymous memory beyond the matrix, sampled every 2 ms. --default takes a
matrix of 3.6 GB, and the least seconds of three fits.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from data import simulated
from memory import Peak

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, as_dissimilarity

SIZES = (1000, 2000, 5000, 10000, 20000)
PROTOTYPES = (25, 100, 225, 484, 961)
# The same of default maps: (rows, columns) of a SOM, whose number of neurons the others have, too.
DEFAULT_SIZES = (1000, 2000, 4000, 8000, 15000, 30000)
DEFAULT_GRIDS = ((4, 5), (7, 7), (10, 10), (15, 15), (22, 22), (25, 40))
# The least seconds of so many fits count, and the most memory.
TURNS = 3
FAMILIES = {"NG": MedianNeuralGas, "SOM": MedianSOM, "K-means": MedianKMeans}
# What SOMs do otherwise by default; neural gas is the chapter's.
CHAPTER = {"normalized": False, "neighborhood": "exponential", "sigma_end": 0.01, "init": "random"}


def fitted_seconds(name: str, source: Any, K: int, n_epochs: int) -> tuple[float, int]:
    """Mean seconds per epoch, preparation included, and peak extra bytes."""
    import time

    params = {"metric": "precomputed", "annealing": "median", "n_epochs": n_epochs, "random_state": 0, "n_jobs": 2}
    side = int(K**0.5)
    estimator = (
        MedianNeuralGas(K, sigma_start=K / 2, **params)
        if name == "NG"
        else MedianSOM((side, side), **params, **CHAPTER)
    )
    with Peak() as peak:
        began = time.perf_counter()
        estimator.fit(source)
        seconds = time.perf_counter() - began
    return seconds / estimator.n_iter_, peak.extra


def default_seconds(name: str, source: Any, grid: tuple[int, int]) -> tuple[float, int]:
    """Seconds of a whole fit, and peak extra bytes."""
    import time

    size = grid if name == "SOM" else grid[0] * grid[1]
    estimator = FAMILIES[name](size, metric="precomputed", random_state=0, n_jobs=2)
    with Peak() as peak:
        began = time.perf_counter()
        estimator.fit(source)
        seconds = time.perf_counter() - began
    return seconds, peak.extra


def defaults(figure: Path | None) -> None:
    """Tables and picture of default fits."""
    for n in (300, 1200):  # compile
        for name in FAMILIES:
            default_seconds(name, as_dissimilarity(simulated(n), symmetric=True), (4, 5))
    curves: dict[str, tuple[list[int], list[float]]] = {}
    print("| map | N | K | seconds | extra memory, MiB | matrix, MiB |\n| --- | --- | --- | --- | --- | --- |")

    def report(label: str, x: int, name: str, source: Any, grid: tuple[int, int]) -> None:
        turns = [default_seconds(name, source, grid) for _ in range(TURNS)]
        seconds, extra = min(turn[0] for turn in turns), max(turn[1] for turn in turns)
        curves.setdefault(label, ([], []))[0].append(x)
        curves[label][1].append(seconds)
        n, K = source.shape[0], grid[0] * grid[1]
        print(f"| {name} | {n} | {K} | {seconds:.3f} | {extra / 2**20:.0f} | {n * n * 4 / 2**20:.0f} |", flush=True)

    for n in DEFAULT_SIZES:
        source = as_dissimilarity(simulated(n), symmetric=True)
        for name in FAMILIES:
            report(f"{name}, K=100", n, name, source, (10, 10))
    source = as_dissimilarity(simulated(4000), symmetric=True)
    for grid in DEFAULT_GRIDS:
        for name in FAMILIES:
            report(f"{name}, N=4000", grid[0] * grid[1], name, source, grid)
    finish(curves, figure, "seconds")


def exponent(x: list[int], y: list[float]) -> float:
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--default", action="store_true", help="whole fits of default maps")
    parser.add_argument("--only", help="MAP:N:K, that fit alone")
    parser.add_argument("--epochs", type=int, default=30)
    args = parser.parse_args()
    if args.default:
        defaults(args.figure)
        return
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
    finish(curves, args.figure, "ms per epoch", 1e3)


def finish(curves: dict[str, tuple[list[int], list[float]]], figure: Path | None, unit: str, scale: float = 1) -> None:
    """Print the powers, and draw the curves."""
    print()
    for label, (x, y) in curves.items():
        print(f"- {label}: time grows as the power {exponent(x, y):.2f}")
    if figure:
        draw(curves, figure, unit, scale)


def report(curves: Any, label: str, x: int, name: str, source: Any, n: int, K: int, n_epochs: int) -> None:
    seconds, extra = fitted_seconds(name, source, K, n_epochs)
    curves.setdefault(label, ([], []))[0].append(x)
    curves[label][1].append(seconds)
    print(f"| {name} | {n} | {K} | {1e3 * seconds:.1f} | {extra / 2**20:.0f} | {n * n * 4 / 2**20:.0f} |", flush=True)


def draw(curves: dict[str, tuple[list[int], list[float]]], path: Path, unit: str, scale: float) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
    for label, (x, y) in curves.items():
        axis = axes[0] if "K=100" in label else axes[1]
        axis.loglog(x, scale * np.array(y), "o-", label=f"{label}: power {exponent(x, y):.2f}")
    for axis, title in zip(axes, ("number of points N", "number of prototypes K"), strict=True):
        axis.set_xlabel(title)
        axis.grid(True, which="both", alpha=0.3)
        axis.legend(frameon=False)
    axes[0].set_ylabel(unit)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
