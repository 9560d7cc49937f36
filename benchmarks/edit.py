"""Edit distances of the chromosomes: all pairs, and the same pairs by stringzillas, numba and Biopython, interleaved.

Seconds are those of the processor, which other work on the machine hardly changes.

python benchmarks/edit.py chromosomes.csv [--rounds 5] [--sample 150]
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import _paths  # noqa: F401
import numpy as np
from numpy.typing import NDArray

from medianmap import as_dissimilarity
from medianmap.metrics import bind
from medianmap.metrics.letters import ALPHABETS
from reproduction.judging import leave_one_out, neighbours, share


def biopython() -> Callable[[list[str], list[str]], NDArray[np.float64]]:
    """The same costs for PairwiseAligner, which maximises: they are negated."""
    from Bio.Align import PairwiseAligner
    from Bio.Align.substitution_matrices import Array

    letters = ALPHABETS["chromosome"]
    aligner = PairwiseAligner()
    aligner.substitution_matrix = Array(letters, dims=2)
    for i, s in enumerate(letters):
        for l, t in enumerate(letters):
            aligner.substitution_matrix[s, t] = -abs(i - l)
    aligner.gap_score = -4.5
    return lambda a, b: np.array([[-aligner.score(s, t) for t in b] for s in a])


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def compare(strings: list[str], rounds: int, sample: int) -> None:
    """One thread each, on the same pairs: a random sample against another one."""
    order = np.random.default_rng(0).permutation(len(strings))
    a, b = ([strings[i] for i in order[part : part + sample]] for part in (0, sample))
    ways: dict[str, Callable[[list[str], list[str]], NDArray[np.float64]]] = {
        "stringzillas": bind("edit-chromosome", {"backend": "stringzillas"}).between,
        "numba": bind("edit-chromosome", {"backend": "numba"}).between,
        "Biopython's PairwiseAligner": biopython(),
    }
    results = {name: way(a, b) for name, way in ways.items()}
    best = dict.fromkeys(ways, np.inf)
    for _ in range(rounds):
        for name, way in ways.items():
            best[name] = min(best[name], seconds(lambda way=way: way(a, b)))
    print(f"\n{sample * sample} pairs, one thread, best of {rounds}\n")
    print("| by | microseconds per pair | times stringzillas | the same distances |\n| --- | --- | --- | --- |")
    for name, time_taken in best.items():
        same = np.array_equal(results[name], results["stringzillas"])
        ratio = time_taken / best["stringzillas"]
        print(f"| {name} | {time_taken / sample**2 * 1e6:.3f} | {ratio:.1f} | {'yes' if same else 'no'} |")


def accuracies(D: NDArray[np.float64], y: NDArray[np.str_], part: NDArray[np.str_]) -> dict[str, float]:
    """Nearest neighbours: all but oneself; and the majority of twelve (the nearest settles ties), half against half."""
    shares = {"leave-one-out 1-NN": leave_one_out(D, y)}
    for train, test in (("a", "b"), ("b", "a")):
        rows, cols = np.flatnonzero(part == test), np.flatnonzero(part == train)
        found = neighbours(D[np.ix_(rows, cols)], y[cols], 12)
        shares[f"12-NN, trained on {train}, tested on {test}"] = share(found, y[rows])
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path, help="CSV with the columns string, class and part")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sample", type=int, default=150)
    args = parser.parse_args()
    with open(args.table, newline="") as file:
        rows = list(csv.DictReader(file))
    strings, y, part = ([row[key] for row in rows] for key in ("string", "class", "part"))
    print(f"{len(strings)} strings, all pairs (half computed, as the distance is symmetric)\n")
    print("| all pairs, threads | seconds of the processor |\n| --- | --- |")
    for n_jobs in (1, 2):
        source = as_dissimilarity(strings, "edit-chromosome", n_jobs=n_jobs)
        print(f"| {n_jobs} | {min(seconds(source.kept) for _ in range(args.rounds)):.2f} |")  # type: ignore[attr-defined]
    compare(strings, args.rounds, args.sample)
    print("\n| nearest neighbours | accuracy |\n| --- | --- |")
    for name, accuracy in accuracies(source.kept().D, np.array(y), np.array(part)).items():  # type: ignore[attr-defined]
        print(f"| {name} | {accuracy:.4f} |")


if __name__ == "__main__":
    main()
