"""The chapter's two speed tables, on any matrix: every exact search on the same states, interleaved, in one run.

    python benchmarks/speed.py --data ../shared/data/chromosomes.csv --cache /tmp
    python benchmarks/speed.py --data ../shared/data/globins.fasta --maps SOM:100,NG:100
    python benchmarks/speed.py --set simulated --n 10000 --maps SOM:100,NG:100 --every 33
    python benchmarks/speed.py --set structureless --n 4400
    python benchmarks/speed.py --matrix my.npy --epochs 100

One annealing from a random start. An epoch is timed whole: dissimilarities to the prototypes, ranks or winners,
weights, search and collisions. The fast searches run every epoch, the slow ones every tenth, from the same prototypes;
all must return the same new prototypes. `standard` is one thread by nature, the others use --threads.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from data import chromosomes, globins, simulated, structureless
from numpy.typing import NDArray

from medianmap.assignment import OnLattice, Rank
from medianmap.engine import Problem, State, epoch
from medianmap.neighborhood import geometric, make_lattice
from medianmap.search import fitting
from medianmap.sources import as_dissimilarity
from medianmap.spaces import MedianSpace
from medianmap.threads import limited
from medianmap.weights import FieldWeights, RankWeights

# Ratios to the standard implementation in the chapter's tables.
CHAPTER = {
    ("SOM", 100): {"blocksum": 23.1, "bound-self": 25.6, "bound-all": 40.1, "bound-all-stop": 40.7},
    ("SOM", 484): {"blocksum": 8.2, "bound-self": 10.3, "bound-all": 24.5, "bound-all-stop": 32.3},
    ("NG", 100): {"stop": 1.01, "stop-candidates": 1.21, "stop-fine": 4.6, "stop-coarse": 5.5},
    ("NG", 500): {"stop": 1.07, "stop-candidates": 1.25, "stop-fine": 3.5, "stop-coarse": 4.4},
}
EVERY_EPOCH = ("auto", "certified")


def assignment_of(name: str, K: int) -> tuple[Any, float]:
    """The map's assignment and where its sigma starts."""
    if name == "NG":
        return Rank(), K / 2
    side = int(K**0.5)
    lattice = make_lattice((side, side))
    return OnLattice(lattice), lattice.diameter / 2


def measure(D: NDArray[Any], name: str, K: int, n_epochs: int, threads: int, every: int) -> dict[str, Any]:
    """Seconds of every epoch that was timed, by search, and terms evaluated."""
    sigma_start = assignment_of(name, K)[1]
    sigmas = geometric(sigma_start, 0.01, n_epochs)
    source = as_dissimilarity(D)
    names = ["auto", *fitting(RankWeights if name == "NG" else FieldWeights)]
    setup, problems = {}, {}
    ones = np.ones(len(D))
    for s in names:
        warm_up(s, name)
        began = time.perf_counter()
        problems[s] = Problem(MedianSpace(source, s, "distinct", threads), assignment_of(name, K)[0], ones)
        _ = problems[s].space.search  # what a search prepares once
        setup[s] = time.perf_counter() - began
    seconds: dict[str, dict[int, float]] = {s: {} for s in names}
    terms: dict[str, list[int]] = {s: [] for s in names}
    rng = np.random.default_rng(0)
    state = State(rng.permutation(len(D))[:K])
    for t, sigma in enumerate(sigmas):
        after = None
        for s in names:
            if s not in EVERY_EPOCH and t % every:
                continue
            began = time.perf_counter()
            new = epoch(problems[s], State(state.prototypes), sigma, rng)
            seconds[s][t] = time.perf_counter() - began
            terms[s].append(new.history[-1].terms)
            if after is not None and not np.array_equal(after.prototypes, new.prototypes):
                raise AssertionError(f"{s} differs in epoch {t}")
            after = new
        assert after is not None
        state = after
    return {"setup": setup, "seconds": seconds, "terms": terms}


def anneal_seconds(
    D: NDArray[Any], search: str, name: str, K: int, n_epochs: int, stop_after: int, threads: int
) -> float:
    """Seconds an epoch of one annealing by one search alone, its preparation included; its first epochs, or all."""
    assignment, sigma_start = assignment_of(name, K)
    rng = np.random.default_rng(0)
    state = State(rng.permutation(len(D))[:K])
    source = as_dissimilarity(D, symmetric=True)
    began = time.perf_counter()
    problem = Problem(MedianSpace(source, search, "distinct", threads), assignment, np.ones(len(D)))
    for sigma in geometric(sigma_start, 0.01, n_epochs)[:stop_after]:
        state = epoch(problem, State(state.prototypes), sigma, rng)
    return (time.perf_counter() - began) / stop_after


def whole(D: NDArray[Any], items: list[str], n_epochs: int, threads: int, rounds: int = 4) -> None:
    """`auto` alone over a whole annealing against an epoch of `standard`, in turns, best of several of each."""
    print("| map | K | standard, ms | auto, ms | ratio |\n| --- | --- | --- | --- | --- |")
    for item in items:
        name, K = item.split(":")[0], int(item.split(":")[1])
        for s in ("auto", "standard"):
            warm_up(s, name)
        best = {"auto": np.inf, "standard": np.inf}
        for _ in range(rounds):
            for s, epochs in (("auto", n_epochs), ("standard", 1)):
                best[s] = min(best[s], 1e3 * anneal_seconds(D, s, name, K, n_epochs, epochs, threads))
        print(
            f"| {name} | {K} | {best['standard']:.0f} | {best['auto']:.2f} | {best['standard'] / best['auto']:.0f} |",
            flush=True,
        )


def warm_up(search: str, name: str) -> None:
    """Compile on a small problem, large enough for every screen."""
    n, K = (1100, 25) if search in EVERY_EPOCH else (60, 4)
    problem = Problem(
        MedianSpace(as_dissimilarity(simulated(n)), search, "distinct", 2), assignment_of(name, K)[0], np.ones(n)
    )
    state = State(np.arange(K))
    for sigma in (20.0, 2.0, 0.5, 0.01):
        state = epoch(problem, state, sigma, np.random.default_rng(0))


def mean_of_thirds(seen: dict[int, float], n_epochs: int) -> tuple[Any, NDArray[np.float64]]:
    """Mean seconds, every third of the annealing counting alike however many epochs were timed; and the thirds."""
    t, seconds = np.array(list(seen)), np.array(list(seen.values()))
    thirds = np.array([seconds[(t >= a * n_epochs / 3) & (t < (a + 1) * n_epochs / 3)].mean() for a in range(3)])
    return thirds.mean(), thirds


def table(name: str, K: int, n_epochs: int, result: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Markdown rows and the numbers behind them."""
    standard = mean_of_thirds(result["seconds"]["standard"], n_epochs)[0]
    lines = [
        f"### Median {name}, K={K}\n",
        "| search | mean ms | early | mid | late | ratio | chapter | terms / (N² K) |",
    ]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    numbers = {}
    full = result["terms"]["standard"][0]
    for s, seen in result["seconds"].items():
        mean, thirds = (1e3 * x for x in mean_of_thirds(seen, n_epochs))
        mean += 1e3 * result["setup"][s] / n_epochs
        ratio = 1e3 * standard / mean
        chapter = CHAPTER.get((name, K), {}).get(s, "")
        share = np.mean(result["terms"][s]) / full
        cells = " | ".join(f"{x:.3g}" for x in (mean, *thirds))
        lines.append(f"| {s} | {cells} | {ratio:.3g} | {chapter} | {share:.2g} |")
        numbers[s] = {
            "mean_ms": mean,
            "thirds_ms": thirds.tolist(),
            "setup_s": result["setup"][s],
            "ratio": ratio,
            "terms": share,
        }
    return "\n".join(lines) + "\n", numbers


def load(args: argparse.Namespace) -> tuple[str, NDArray[Any]]:
    if args.matrix:
        return str(args.matrix), np.load(args.matrix)
    if args.data and args.data.suffix == ".fasta":
        return "globins, edit distance", globins(args.data)
    if args.data:
        return "chromosomes", chromosomes(args.data, args.cache)
    make = {"simulated": simulated, "structureless": structureless}[args.set]
    return f"{args.set}, N={args.n}", make(args.n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="chromosomes.csv or a FASTA file")
    parser.add_argument("--cache", type=Path, help="folder that keeps the computed matrix")
    parser.add_argument("--matrix", type=Path, help="a .npy matrix of your own")
    parser.add_argument("--set", choices=["simulated", "structureless"], default="simulated")
    parser.add_argument("--n", type=int, default=4400)
    parser.add_argument("--maps", default="SOM:100,SOM:484,NG:100,NG:500")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--every", type=int, default=10, help="the slow searches run in every such epoch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--whole", action="store_true", help="only auto against standard, whole annealings, best of 4")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    what, D = load(args)
    print(f"## {what}: {D.shape[0]} x {D.shape[1]} {D.dtype}, {args.epochs} epochs, {args.threads} threads\n")
    numbers = {}
    if args.whole:
        with limited(args.threads):
            whole(D, args.maps.split(","), args.epochs, args.threads)
        return
    with limited(args.threads):
        for item in args.maps.split(","):
            name, K = item.split(":")[0], int(item.split(":")[1])
            result = measure(D, name, K, args.epochs, args.threads, args.every)
            text, numbers[item] = table(name, K, args.epochs, result)
            print(text, flush=True)
    if args.json:
        args.json.write_text(json.dumps({"data": what, "n": len(D), "epochs": args.epochs, "maps": numbers}, indent=1))


if __name__ == "__main__":
    main()
