"""Alignment dissimilarities of the globins: all pairs by every rule, and the scores against Biopython's.

Seconds are those of the processor, which other work on the machine hardly changes.

python benchmarks/alignment.py globins.fasta [--rounds 3] [--pairs 1000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medianmap import as_dissimilarity
from medianmap.metrics.alignment import alignment_scores

DEFAULT = "default: global, 1 - s(a,b) / sqrt(s(a,a) s(b,b))"
RULES: tuple[dict[str, str], ...] = (
    {},
    {"mode": "local"},
    {"rule": "p-distance"},
    {"rule": "kimura"},
)


def read(path: Path) -> tuple[list[str], NDArray[np.str_]]:
    """Sequences and classes of a FASTA file whose headers are `>NAME class`."""
    records = [record.splitlines() for record in path.read_text().split(">")[1:]]
    return ["".join(lines[1:]) for lines in records], np.array([lines[0].split()[1] for lines in records])


def biopython(mode: str) -> Callable[[str, str], float]:
    from Bio.Align import PairwiseAligner, substitution_matrices

    aligner = PairwiseAligner()
    aligner.mode = mode
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.open_gap_score, aligner.extend_gap_score = -11, -1
    return aligner.score


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def compare(sequences: list[str], n_pairs: int, rounds: int) -> None:
    side = int(np.ceil(np.sqrt(n_pairs)))
    order = np.random.default_rng(0).permutation(len(sequences))
    a, b = ([sequences[i] for i in order[start : start + side]] for start in (0, side))
    print(f"\n{side * side} pairs, one thread, best of {rounds}, interleaved\n")
    print("| mode | ours, microseconds per pair | Biopython | ratio | equal scores |\n| --- | --- | --- | --- | --- |")
    for mode in ("global", "local"):
        score = biopython(mode)
        theirs = np.array([[score(s, t) for t in b] for s in a])
        equal = np.array_equal(alignment_scores(a, b, mode=mode), theirs)
        best = [np.inf, np.inf]
        for _ in range(rounds):
            best[0] = min(best[0], seconds(lambda mode=mode: alignment_scores(a, b, mode=mode)))
            best[1] = min(best[1], seconds(lambda score=score: [[score(s, t) for t in b] for s in a]))
        ours, other = (1e6 * t / side**2 for t in best)
        print(f"| {mode} | {ours:.1f} | {other:.1f} | {other / ours:.1f} | {'yes' if equal else 'no'} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fasta", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=1000)
    args = parser.parse_args()
    sequences, y = read(args.fasta)
    as_dissimilarity(sequences[:2], "alignment", metric_params={"rule": "kimura"}).kept()  # type: ignore[attr-defined]
    print(f"{len(sequences)} sequences, all pairs, 2 threads, BLOSUM62, gap open 11 extend 1\n")
    print("| parameters | all pairs, seconds of the processor | leave-one-out 1-NN accuracy |\n| --- | --- | --- |")
    for params in RULES:
        source = as_dissimilarity(sequences, "alignment", metric_params=params, n_jobs=2)
        began = time.process_time()
        D = source.kept().D  # type: ignore[attr-defined]
        taken = time.process_time() - began
        np.fill_diagonal(D, np.inf)
        title = ", ".join(f'{name}="{value}"' for name, value in params.items()) or DEFAULT
        print(f"| {title} | {taken:.2f} | {np.mean(y[D.argmin(axis=1)] == y):.4f} |")
    compare(sequences, args.pairs, args.rounds)


if __name__ == "__main__":
    main()
