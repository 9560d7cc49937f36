"""How often restarts of swaps reach the best known loss, beside FasterPAM's: one matrix in memory, in turns.

    python benchmarks/restarts.py [--data FOLDER] [--cache FOLDER] [--sets ...] [--k ...] [--fits 20] [--few 3]

A round is ten fits of `MedianKMeans(refine="swap")` from one start each, one with `n_init=10`, and ten restarts of
FasterPAM, whose best counts; with other seeds in every round. The best known loss is the least of all these, and of
100 kicks out of it. FOLDER holds chromosomes.csv and proteins/D.csv, not part of this project; the sets that need them
are left out without it. Seconds are those of `n_init=10` over those of the ten restarts, of the processor (all threads
together), the median of all rounds; both may use `--threads` threads. Where they take milliseconds both are run five
times in turns and the least counts.

    pip install kmedoids
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import medoids
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from medianmap import MedianKMeans
from medianmap.refine import swap_medoids

STARTS, KICKS = 10, 100
# Where N K is at most FEW, a round is timed so many times.
FEW, TURNS = 100_000, 5
# Losses are sums of the same numbers in one order or another.
ROUNDING = 1e-9
# Vectors under the sum of absolute differences, as they are or as z-scores.
VECTORS = {"digits": load_digits, "wine": load_wine, "breast cancer": load_breast_cancer}
SETS = (*medoids.SETS, *VECTORS)


@dataclass(frozen=True)
class Case:
    """Losses of single starts and of the best of ten (rounds, ten) and (rounds,); seconds of the tens, by rounds."""

    set: str
    N: int
    K: int
    best: float
    ours: list[list[float]]
    our_tens: list[float]
    our_seconds: list[float]
    theirs: list[list[float]]
    their_seconds: list[float]


def matrices(names: list[str], folder: Path | None, cache: Path | None) -> Iterator[tuple[str, NDArray[Any]]]:
    yield from medoids.matrices([name for name in names if name not in VECTORS], folder, cache)
    for name in names:
        if name in VECTORS:
            X = VECTORS[name]().data
            Z = X if name == "digits" else (X - X.mean(axis=0)) / X.std(axis=0)
            yield name, cdist(Z, Z, "cityblock")


def loss(D: NDArray[Any], w: NDArray[np.intp]) -> float:
    return float(D[:, w].min(axis=1).sum(dtype=np.float64))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return work(), time.process_time() - began


def in_turns(turns: int, *works: Callable[[], Any]) -> list[tuple[Any, float]]:
    """What each gives, and the least of its seconds."""
    rounds = [[timed(work) for work in works] for _ in range(turns)]
    return [(each[0][0], min(seconds for _, seconds in each)) for each in zip(*rounds, strict=True)]


def measured(name: str, D: NDArray[Any], K: int, rounds: int, threads: int) -> Case:
    import kmedoids

    def ours(seed: int, n_init: int) -> NDArray[np.intp]:
        map_ = MedianKMeans(K, metric="precomputed", refine="swap", n_init=n_init, random_state=seed, n_jobs=threads)
        return map_.fit(D).medoid_indices_

    def restarts(first: int) -> list[NDArray[np.intp]]:
        seeds = range(first, first + STARTS)
        found = [kmedoids.fasterpam(D, K, max_iter=100, random_state=seed, n_cpu=threads) for seed in seeds]
        return [each.medoids.astype(np.intp) for each in found]

    case = Case(name, len(D), K, np.inf, [], [], [], [], [])
    least: tuple[float, NDArray[np.intp] | None] = np.inf, None
    for turn in range(rounds):
        first = STARTS * turn
        singles = [ours(seed, 1) for seed in range(first, first + STARTS)]
        (ten, our_seconds), (others, their_seconds) = in_turns(
            TURNS if len(D) * K <= FEW else 1,
            lambda turn=turn: ours(10**6 + turn, STARTS),
            lambda first=first: restarts(first),
        )
        case.our_seconds.append(our_seconds)
        case.their_seconds.append(their_seconds)
        case.ours.append([loss(D, w) for w in singles])
        case.our_tens.append(loss(D, ten))
        case.theirs.append([loss(D, w) for w in others])
        least = min(least, *((loss(D, w), w) for w in (*singles, ten, *others)), key=lambda found: found[0])
    best = min(least[0], loss(D, swap_medoids(D, least[1], kicks=KICKS, n_jobs=threads).medoids))
    return Case(**{**asdict(case), "best": best})


def row(case: Case) -> str:
    """One line of the table."""
    ours, theirs, tens = np.array(case.ours), np.array(case.theirs), np.array(case.our_tens)
    their_tens = theirs.min(axis=1)

    def share(losses: NDArray[np.float64]) -> float:
        return float(np.mean(losses <= case.best * (1 + ROUNDING)))

    a, b, n = share(tens), share(their_tens), len(tens)
    error = np.sqrt((a * (1 - a) + b * (1 - b)) / n)
    seconds = np.median(np.array(case.our_seconds) / np.array(case.their_seconds))
    good = a >= b - 2 * error and seconds <= 1
    spread = np.sqrt((ours.var() + theirs.var()) / ours.size) / case.best
    return (
        f"| {case.set} N={case.N} K={case.K} | {ours.mean() / case.best:.5f} | {theirs.mean() / case.best:.5f} "
        f"| {spread:.5f} | {share(ours):.3f} | {share(theirs):.3f} | {a:.2f} | {b:.2f} "
        f"| {tens.mean() / case.best:.5f} | {their_tens.mean() / case.best:.5f} "
        f"| {seconds:.2f} | {'pass' if good else 'FAIL'} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/D.csv")
    parser.add_argument("--cache", type=Path, help="where to keep the chromosomes' matrix")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--k", nargs="+", type=int, default=[10, 22, 50, 100, 500], help="left out where 2 K > N")
    parser.add_argument("--fits", type=int, default=20, help="rounds")
    parser.add_argument("--few", type=int, default=3, help="rounds where N K is above 100 000")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="file to which every case is appended, one a line")
    args = parser.parse_args()
    print(
        "| | mean loss of one start, ours | FasterPAM's | error | share at the best, ours | FasterPAM's "
        "| n_init=10 at the best | ten restarts | mean loss, n_init=10 | ten restarts | seconds, ours over FasterPAM's "
        f"| as often within two standard errors, and sooner |\n|{' --- |' * 12}",
        flush=True,
    )
    for kind in (np.float32, np.float64):  # compiles for both types of matrix
        measured("", cdist(*[np.arange(60.0)[:, None]] * 2).astype(kind), 6, 1, args.threads)
    for name, D in matrices(args.sets, args.data, args.cache):
        for K in [K for K in args.k if 2 * K <= len(D)]:
            case = measured(name, D, K, args.few if len(D) * K > FEW else args.fits, args.threads)
            print(row(case), flush=True)
            if args.json is not None:
                with args.json.open("a") as out:
                    out.write(json.dumps(asdict(case)) + "\n")


if __name__ == "__main__":
    main()
