"""Which rules put planted points first: the library's beside scikit-learn's, on plants that no rule was tuned on.

    python benchmarks/outliers.py --data FOLDER [--seeds 3] [--tuned]

FOLDER holds chromosomes.csv; without it the chromosomes are left out. Three points are planted in each set. `farther`
counts those whose fifth nearest neighbour is farther than that of every other point: these are outliers in the plain
sense. The columns after it count those among the first three of each rule: the outlier score from all pairs, the same
from distances to the prototypes of the default SOM, the distance to the fifth neighbour, the local outlier factor with
20 neighbours, and the isolation forest, which takes vectors where there are any and else rows of the matrix. With
--tuned the plants are those of verdicts.py, which the library's rule was tuned on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from data import string_distances, vectors
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import scale
from verdicts import compared, hung, maps
from verdicts import planted as planted_before

from medianmap.datasets import load_chromosomes, load_globins, simulate_protein_families
from medianmap.explore import judged, two_best
from medianmap.sources import DenseSource

Array = NDArray[Any]
PLANTED = 3
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"
RULES = "from all pairs", "from prototypes", "fifth neighbour", "local outlier factor", "isolation forest"

# kind of data, what is planted, the dissimilarities with the planted points last, vectors if there are any
Plant = tuple[str, str, Array, Array | None]


def fifth_neighbour(D: Array) -> Array:
    return np.sort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, 4]


def tuned_on(folder: Path | None) -> Iterator[Plant]:
    for kind, what, D, n in planted_before(folder):
        assert n == PLANTED
        yield kind, what, D, None


def planted(folder: Path | None, seed: int) -> Iterator[Plant]:
    rng = np.random.default_rng(1000 + seed)
    yield from strings(rng, seed)
    if folder is not None:
        yield from chromosomes(rng, load_chromosomes(folder / "chromosomes.csv").sequences)
    yield from points(rng)
    yield from series(rng)


def strings(rng: np.random.Generator, seed: int) -> Iterator[Plant]:
    sequences = load_globins().sequences
    some = [sequences[i] for i in rng.permutation(len(sequences))[:300]]
    shuffled = ["".join(rng.permutation(list(text))) for text in some[:PLANTED]]
    yield "strings", "globins, 3-mers: shuffled ones", compared(some + shuffled, "kmer"), None
    halves = [text[: len(text) // 2] for text in some[:PLANTED]]
    yield "strings", "globins, alignment: halves", compared(some + halves, "alignment"), None
    D = compared(some, "alignment")
    at = rng.permutation(len(D))[:PLANTED]
    yield (
        "matrix",
        "globins: points that hang apart",
        hung(D, at, 2 * np.quantile(fifth_neighbour(D), 0.95), None),
        None,
    )
    family = list(simulate_protein_families(300, random_state=50 + seed).sequences)
    backwards = [text[::-1] for text in family[:PLANTED]]
    yield "strings", "families, alignment: reversed ones", compared(family + backwards, "alignment"), None
    made = ["".join(rng.choice(list(AMINO_ACIDS), len(family[0]))) for _ in range(PLANTED)]
    yield "strings", "families, alignment: random ones", compared(family + made, "alignment"), None


def chromosomes(rng: np.random.Generator, profiles: Any) -> Iterator[Plant]:
    some = [profiles[i] for i in rng.permutation(len(profiles))[:400]]
    letters = sorted(set("".join(some)))
    odd = {
        "pairs of any, joined": [some[2 * k] + some[2 * k + 1] for k in range(PLANTED)],
        "random ones": ["".join(rng.choice(letters, len(text))) for text in some[6 : 6 + PLANTED]],
        "shuffled ones": ["".join(rng.permutation(list(text))) for text in some[6 : 6 + PLANTED]],
    }
    for what, strings in odd.items():
        D = np.asarray(string_distances(some + strings), np.float64)
        yield "strings", f"chromosomes: {what}", D, None
    D = D[: len(some), : len(some)]
    at = rng.permutation(len(D))[:PLANTED]
    yield (
        "matrix",
        "chromosomes: points that hang apart",
        hung(D, at, np.quantile(fifth_neighbour(D), 0.95), None),
        None,
    )


def points(rng: np.random.Generator) -> Iterator[Plant]:
    def with_planted(what: str, X: Array, odd: Array) -> Plant:
        X = np.vstack([X, odd])
        return "vectors", what, cdist(X, X), X

    X = scale(load_wine().data)
    yield with_planted("wine: moved by 4 sd in every column", X, X[:PLANTED] + rng.choice([-4, 4], (PLANTED, 13)))
    X = vectors("digits")
    X = X[rng.permutation(len(X))[:500]]
    yield with_planted("digits: negatives", X, 16 - X[:PLANTED])
    yield with_planted("digits: shuffled pixels", X, rng.permuted(X[:PLANTED], axis=1))
    X = vectors("breast_cancer")
    odd = X[rng.permutation(len(X))[:PLANTED]].copy()
    odd[np.arange(PLANTED), rng.integers(X.shape[1], size=PLANTED)] += 8
    yield with_planted("breast cancer: one column moved by 8 sd", X, odd)
    X = vectors("iris")
    yield with_planted("iris: anywhere in its box", X, X.min(axis=0) + rng.random((PLANTED, 4)) * np.ptp(X, axis=0))
    clouds = [
        rng.normal(size=(n, 5)) * rng.uniform(0.1, 1.5, 5) * s + rng.normal(size=5) * 12
        for n, s in ((300, 0.2), (150, 1.0), (60, 0.6))
    ]
    X, dense = np.vstack(clouds), clouds[0]
    away = rng.normal(size=(PLANTED, 5))
    away /= np.linalg.norm(away, axis=1)[:, None]
    near = dense.mean(axis=0) + 8 * dense.std(axis=0).max() * away
    yield with_planted("clouds in 5 dimensions: beside the densest", X, near)
    yield with_planted("clouds in 5 dimensions: far from all", X, X.mean(axis=0) + 40 * away)


def series(rng: np.random.Generator) -> Iterator[Plant]:
    t = np.linspace(0, 1, 50)
    beats = [
        np.exp(-(((t - 0.5 - rng.normal() * 0.05) / (0.04 + 0.03 * (k % 3))) ** 2)) * (1 + k % 3)
        + rng.normal(size=50) * 0.1
        for k in range(200)
    ]
    odd = [-beats[0], beats[1] + 3 * t, rng.normal(size=50)]
    yield "series", "beats, dtw: upside down, a drift, noise", compared(beats + odd, "dtw"), None
    X = np.array(beats + odd)
    yield "series", "beats, euclidean: upside down, a drift, noise", cdist(X, X), X
    walks = [np.cumsum(rng.normal(size=60)) * 0.3 for _ in range(200)]
    wild = [np.cumsum(rng.normal(size=60)) * 2 for _ in range(PLANTED)]
    yield "series", "walks, dtw: of seven times the step", compared(walks + wild, "dtw"), None


def scores(D: Array, X: Array | None) -> Iterator[Array]:
    """The scores of the rules, in the order of `RULES`."""
    told = two_best(next(maps(D))[1], D)
    yield judged(told, DenseSource(D, True))["outlier_score"]
    yield judged(told)["outlier_score"]
    yield fifth_neighbour(D)
    yield -LocalOutlierFactor(20, metric="precomputed").fit(D).negative_outlier_factor_
    rows = D if X is None else X
    yield -IsolationForest(random_state=0).fit(rows).score_samples(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tuned", action="store_true")
    args = parser.parse_args()
    found: dict[tuple[str, str], Array] = {}
    seeds = 1 if args.tuned else args.seeds
    for seed in range(seeds):
        plants = tuned_on(args.data) if args.tuned else planted(args.data, seed)
        for kind, what, D, X in plants:
            r = fifth_neighbour(D)
            counts = [int((r[-PLANTED:] > r[:-PLANTED].max()).sum())]
            counts += [int((np.argsort(-s, kind="stable")[:PLANTED] >= len(D) - PLANTED).sum()) for s in scores(D, X)]
            found[kind, what] = found.get((kind, what), 0) + np.array(counts)
    total = PLANTED * seeds
    print(f"Planted: {total} in each row, {PLANTED} at a time.\n")
    print(f"| kind | planted | farther | {' | '.join(RULES)} |\n|{' --- |' * (3 + len(RULES))}")
    ordered = sorted(found.items(), key=lambda item: -item[1][0])
    for (kind, what), counts in ordered:
        print(f"| {kind} | {what} | {' | '.join(map(str, counts))} |")
    for name, rows in (
        ("all farther", [c for _, c in ordered if c[0] == total]),
        ("the others", [c for _, c in ordered if c[0] < total]),
    ):
        if rows:
            print(f"| | **{name}**, of {total * len(rows)} | {' | '.join(map(str, np.sum(rows, axis=0)))} |")


if __name__ == "__main__":
    main()
