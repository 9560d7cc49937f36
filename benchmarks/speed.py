"""The chapter's two speed tables, on any matrix: every exact search on the same states, interleaved, in one run.

    python benchmarks/speed.py --data ../shared/data/chromosomes.csv --cache /tmp
    python benchmarks/speed.py --data ../shared/data/globins.fasta --maps SOM:100,NG:100
    python benchmarks/speed.py --set simulated --n 10000 --maps SOM:100,NG:100 --every 33
    python benchmarks/speed.py --set structureless --n 4400
    python benchmarks/speed.py --matrix my.npy --epochs 100
    python benchmarks/speed.py --matrix my.npy --whole --c

One annealing of data points by the chapter's formula from a random start: the neighbourhood is exponential, ends at
0.01, and on a lattice is not normalised, which is not what our SOMs do by default. An epoch is timed whole:
dissimilarities to the prototypes, ranks or winners, weights, search and collisions. The fast searches run every epoch,
the slow ones every tenth, from the same prototypes; all must return the same new prototypes. `standard` is one thread
by nature, the others use --threads.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _paths  # noqa: F401
import numpy as np
from baseline import plain_c, seconds
from data import chromosomes, globins, simulated, structureless
from numpy.typing import NDArray

from medianmap.core.engine import Problem, State, epoch
from medianmap.core.neighborhood import geometric
from medianmap.core.spaces import MedianSpace
from medianmap.sources import as_dissimilarity
from medianmap.utils.threads import limited
from reproduction.speed import CHAPTER, assignment_of, measure, numbers, warm_up


def anneal_seconds(
    D: NDArray[Any], search: str, name: str, K: int, n_epochs: int, stop_after: int, threads: int
) -> float:
    """Seconds per epoch of one annealing by one search alone, its preparation included; its first epochs, or all."""
    assignment, sigma_start = assignment_of(name, K)
    rng = np.random.default_rng(0)
    state = State(rng.permutation(len(D))[:K])
    source = as_dissimilarity(D, symmetric=True)
    began = time.perf_counter()
    problem = Problem(MedianSpace(source, search, "distinct", threads), assignment, np.ones(len(D)))
    for sigma in geometric(sigma_start, 0.01, n_epochs)[:stop_after]:
        state = epoch(problem, State(state.prototypes), sigma, rng)
    return (time.perf_counter() - began) / stop_after


def c_seconds(D: NDArray[Any], K: int, loop: Callable[..., None]) -> float:
    """Seconds of the textbook's loop in C, one thread, for the search of one epoch alone."""
    A = np.random.default_rng(0).random((K, len(D)))
    return seconds(loop, A, D, np.empty_like(A))


def whole(
    D: NDArray[Any], items: list[str], n_epochs: int, threads: int, rounds: int, loop: Callable[..., None] | None
) -> None:
    """`auto` alone over a whole annealing against an epoch of `standard`, in turns, best of several of each."""
    others = ["standard"] if loop is None else ["standard", "C"]
    head = ["map", "K", *(f"{s}, ms" for s in others), "auto, ms", *(f"{s} / auto" for s in others)]
    print("|", " | ".join(head), "|\n|", " | ".join(["---"] * len(head)), "|")
    for item in items:
        name, K = item.split(":")[0], int(item.split(":")[1])
        for s in ("auto", "standard"):
            warm_up(s, name)
        best = dict.fromkeys(["auto", *others], np.inf)
        for _ in range(rounds):
            for s in best:
                if s == "C":
                    assert loop is not None
                    took = c_seconds(D, K, loop)
                else:
                    took = anneal_seconds(D, s, name, K, n_epochs, n_epochs if s == "auto" else 1, threads)
                best[s] = min(best[s], 1e3 * took)
        cells = [name, K, *(f"{best[s]:.0f}" for s in others), f"{best['auto']:.2f}"]
        print("|", " | ".join(map(str, [*cells, *(f"{best[s] / best['auto']:.0f}" for s in others)])), "|", flush=True)


def table(name: str, K: int, numbers: dict[str, Any]) -> str:
    """Markdown of one map's numbers."""
    lines = [
        f"### Median {name}, K={K}\n",
        "| search | mean ms | early | mid | late | ratio | chapter | terms / (N² K) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for s, of in numbers.items():
        chapter = f"{CHAPTER[name, K][s]:.3g}" if s in CHAPTER.get((name, K), {}) else ""
        cells = " | ".join(f"{x:.3g}" for x in (of["mean_ms"], *of["thirds_ms"]))
        lines.append(f"| {s} | {cells} | {of['ratio']:.3g} | {chapter} | {of['terms']:.2g} |")
    return "\n".join(lines) + "\n"


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
    parser.add_argument("--whole", action="store_true", help="only auto against standard, whole annealings")
    parser.add_argument("--c", action="store_true", help="with --whole: against the textbook's loop in C at -O3, too")
    parser.add_argument("--rounds", type=int, default=4, help="with --whole: best of so many")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    what, D = load(args)
    print(f"## {what}: {D.shape[0]} x {D.shape[1]} {D.dtype}, {args.epochs} epochs, {args.threads} threads\n")
    found = {}
    if args.whole:
        with limited(args.threads), tempfile.TemporaryDirectory() as folder:
            loop = plain_c(Path(folder), D.dtype.type) if args.c else None
            if args.c and loop is None:
                print("No C compiler was found, so C is left out.\n")
            whole(D, args.maps.split(","), args.epochs, args.threads, args.rounds, loop)
        return
    with limited(args.threads):
        for item in args.maps.split(","):
            name, K = item.split(":")[0], int(item.split(":")[1])
            result = measure(D, name, K, args.epochs, args.threads, args.every)
            found[item] = numbers(result, args.epochs)
            print(table(name, K, found[item]), flush=True)
    if args.json:
        args.json.write_text(json.dumps({"data": what, "n": len(D), "epochs": args.epochs, "maps": found}, indent=1))


if __name__ == "__main__":
    main()
