"""What a map tells of points and groups: outliers, borders, superclusters, new objects, empty neurons.

    python benchmarks/verdicts.py --data FOLDER [--only outliers,borders,groups,novelty,sizes]

FOLDER holds chromosomes.csv and proteins/D.csv with labels.csv; without it these sets are left out. Maps are those that
`medianmap fit` makes by default, and neural gas of 30 prototypes. The rules before these stand beside them: an outlier
was far from its exemplar by 3.5 robust deviations, a border point had d1/d2 of 0.9 or more, superclusters were average
linkage cut where the mean silhouette of the exemplars is best.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from data import kept, matrix, string_distances, vectors
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import cdist, squareform
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, silhouette_score

from medianmap import MedianNeuralGas, MedianSOM, as_dissimilarity
from medianmap.core.plane import symmetrized
from medianmap.datasets import (
    load_breast_cancer,
    load_chromosomes,
    load_globins,
    load_iris,
    simulate_chromosomes,
    simulate_protein_families,
)
from medianmap.estimators.parameters import usual_grid, usual_size
from medianmap.explore import judged, remember, superclusters, two_best
from medianmap.predict.assign_all import two_nearest
from medianmap.predict.verdicts import novelty
from medianmap.sources import ALL, DenseSource

Array = NDArray[Any]
# The rules were looked for on these first; the others were seen, too, before they were fixed (docs/decisions/0025).
LOOKED_AT_FIRST = ("iris", "digits", "families", "dense and sparse")
MOST = 1000


def compared(objects: Any, metric: str) -> Array:
    return np.asarray(as_dissimilarity(objects, metric).block(ALL, ALL), np.float64)


def sets(folder: Path | None, cache: Path | None) -> Iterator[tuple[str, Array, Array]]:
    """Name, dissimilarities and classes of every labelled set, at most 1000 points of each."""
    rng = np.random.default_rng(0)

    def part(name: str, D: Callable[[], Array], y: Any) -> tuple[str, Array, Array]:
        whole, y = kept(None if cache is None else cache / f"{name}.npy", D), np.asarray(y)
        at = np.sort(rng.permutation(len(y))[:MOST])
        return name, np.ascontiguousarray(whole[np.ix_(at, at)], np.float64), y[at]

    yield part("iris", lambda: matrix("iris", None), load_iris().y)
    yield part("digits", lambda: matrix("digits", None), load_digits().target)
    families = simulate_protein_families(800)
    yield part("families", lambda: compared(families.sequences, "alignment"), families.y)
    yield part("breast_cancer", lambda: matrix("breast_cancer", None), load_breast_cancer().y)
    yield part("globins", lambda: matrix("globins", None), load_globins().families)
    if folder is not None:
        y = (folder / "proteins" / "labels.csv").read_text().split()
        yield part("proteins", lambda: matrix("proteins", folder), y)
        data = load_chromosomes(folder / "chromosomes.csv")
        at = np.sort(np.random.default_rng(0).permutation(len(data.sequences))[:MOST])
        strings = [data.sequences[i] for i in at]
        yield part("chromosomes", lambda: string_distances(strings), np.asarray(data.y)[at])


def maps(D: Array) -> Iterator[tuple[str, Any]]:
    n = len(D)
    grid = usual_grid(usual_size(n, n))
    yield "SOM", MedianSOM(grid, metric="precomputed", random_state=0).fit(D)
    yield "gas", MedianNeuralGas(min(30, n // 5), metric="precomputed", random_state=0).fit(D)


# --- outliers


def planted(folder: Path | None) -> Iterator[tuple[str, str, Array, int]]:
    """Kind of data, what is planted, dissimilarities, number of planted points, which are the last."""
    rng = np.random.default_rng(5)
    letters = "ARNDCQEGHILKMFPSTWYV"

    def shuffled(text: str) -> str:
        return "".join(rng.permutation(list(text)))

    globins = [load_globins().sequences[i] for i in rng.permutation(630)[:400]]
    random = ["".join(rng.choice(list(letters), 140)) for _ in range(3)]
    alike = [random[0], random[0][:60] + "AAA" + random[0][63:], random[0][:100] + "WW" + random[0][102:]]
    for metric in ("alignment", "edit"):
        yield (
            "strings",
            f"globins, {metric}: 3 shuffled ones",
            compared([*globins, *map(shuffled, globins[:3])], metric),
            3,
        )
        yield "strings", f"globins, {metric}: 3 random ones", compared(globins + random, metric), 3
        yield "strings", f"globins, {metric}: 3 random ones, alike", compared(globins + alike, metric), 3
    families = list(simulate_protein_families(400, random_state=2).sequences)
    yield "strings", "simulated families: 3 globins", compared(families + globins[:3], "alignment"), 3
    if folder is not None:
        chromosomes = load_chromosomes(folder / "chromosomes.csv").sequences
        some = [chromosomes[i] for i in rng.permutation(len(chromosomes))[:600]]
        long = sorted(some, key=len)[-6:]
        for what, six in (("the longest", long), ("any", some)):
            joined = [six[0] + six[1], six[2] + six[3], six[4] + six[5]]
            D = np.asarray(string_distances(some + joined), np.float64)
            yield "strings", f"chromosomes: 3 pairs of {what}, joined", D, 3
    for name in ("iris", "breast_cancer", "digits"):
        X = vectors(name)[:600]
        spread = X.std(axis=0)
        far = X[:3] + rng.choice([-1, 1], (3, X.shape[1])) * 3 * spread
        near = far[0] + rng.normal(size=(3, X.shape[1])) * 0.1 * spread
        yield "vectors", f"{name}: 3 moved by 3 sd in every coordinate", cdist(P := np.vstack([X, far]), P), 3
        yield "vectors", f"{name}: 3 near each other", cdist(P := np.vstack([X, near]), P), 3
    clouds = [rng.normal(size=(200, 2)) * s + at for s, at in ((0.1, (0, 0)), (1, (8, 0)), (0.3, (0, 8)))]
    X = np.vstack([*clouds, [[1.2, 0], [0, -1.2], [-1.2, 0.3]]])
    yield "vectors", "dense and sparse clouds: 3 beside the dense one", cdist(X, X), 3
    if folder is not None:
        D = matrix("proteins", folder)
        assert D is not None
        nearest = np.sort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, 4]
        for name, at, within in (("3 apart", [5, 90, 200], None), ("3 near each other", [5, 5, 5], 0.5)):
            yield "matrix", f"proteins: {name}", hung(D, np.array(at), 2 * np.quantile(nearest, 0.95), within), 3
    t = np.linspace(0, 1, 60)
    waves = [np.sin(2 * np.pi * (k % 3 + 1) * t + rng.normal() * 0.2) + rng.normal(size=60) * 0.2 for k in range(200)]
    odd = [np.sign(np.sin(10 * np.pi * t)), 3 * t, rng.normal(size=60) * 1.5]
    yield "series", "waves of three lengths: a square wave, a ramp, noise", compared(waves + odd, "dtw"), 3


def hung(D: Array, at: Array, height: float, within: float | None) -> Array:
    """D with points that hang at `height` from the points `at`; `within` of each other, if given."""
    B = D[at] + height
    Z = D[np.ix_(at, at)] + 2 * height if within is None else np.full((len(at), len(at)), within)
    np.fill_diagonal(Z, 0.0)
    return np.block([[D, B.T], [B, Z]])


def ranks(score: Array, n: int) -> str:
    order = np.argsort(np.argsort(-score, kind="stable"))
    return ", ".join(map(str, np.sort(order[-n:]) + 1))


def old_scores(d: Array) -> Array:
    away = d - np.median(d)
    return away / (1.4826 * np.median(np.abs(away)) or 1.0)


def outliers(folder: Path | None) -> None:
    heads = "kind", "planted", "ranks before", "from all pairs", "own neurons", "from prototypes", "of gas", "flagged"
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for kind, what, D, n in planted(folder):
        (_, som), (_, gas) = maps(D)
        points = two_best(som, D)
        told = judged(points, DenseSource(D, True))
        scores = [old_scores(points["dissimilarity"])]
        scores += [each["outlier_score"] for each in (told, judged(points), judged(two_best(gas, D)))]
        before, all_pairs, prototypes, of_gas = (ranks(score, n) for score in scores)
        own = sum(w >= len(D) - n for w in som.medoid_indices_)
        flagged = f"{told['outlier'][-n:].sum()} of {n}, and {told['outlier'][:-n].sum()} others"
        row = kind, what, before, all_pairs, own, prototypes, of_gas, flagged
        print(f"| {' | '.join(map(str, row))} |", flush=True)
    print("\nFalse alarms, 500 points without outliers, three seeds: share flagged (largest score).\n")
    print("| data | from all pairs | from prototypes |\n| --- | --- | --- |")
    for name, make in clean():
        made = [make(np.random.default_rng(seed), seed) for seed in range(3)]
        tables = [(two_best(next(maps(D))[1], D), DenseSource(D, True)) for D in made]
        shares = []
        for told in ([judged(points, pairs) for points, pairs in tables], [judged(points) for points, _ in tables]):
            flagged = np.mean([each["outlier"].mean() for each in told])
            shares.append(f"{flagged:.2%} ({max(each['outlier_score'].max() for each in told):.1f})")
        print(f"| {name} | {' | '.join(shares)} |", flush=True)


def clean() -> Iterator[tuple[str, Callable[[Any, int], Array]]]:
    """Data without outliers."""

    def clouds(rng: Any, _: int) -> Array:
        X = np.vstack([rng.normal(size=(170, 2)) * s + at for s, at in ((0.1, (0, 0)), (1, (8, 0)), (0.3, (0, 8)))])
        return cdist(X, X)

    def families(_: Any, seed: int) -> Array:
        return compared(simulate_protein_families(300, random_state=seed).sequences, "alignment")

    def chromosomes(_: Any, seed: int) -> Array:
        return np.asarray(string_distances(simulate_chromosomes(440, random_state=seed).sequences), np.float64)

    for d in (2, 10, 100):
        yield f"normal, {d} dimensions", lambda rng, _, d=d: cdist(X := rng.normal(size=(500, d)), X)
    yield "a square, even", lambda rng, _: cdist(X := rng.random((500, 2)), X)
    yield "dense and sparse clouds", clouds
    yield "protein families", families
    yield "chromosomes", chromosomes


# --- borders and groups


def borders(found: list[tuple[str, Array, Array]]) -> None:
    print("| set | map | d1/d2 of 0.9 before | flagged | not of their neuron's class: all | flagged before | flagged |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, D, y in found:
        for kind, fitted in maps(D):
            told = judged(two_best(fitted, D))
            shares = np.array(
                [(y[told["prototype"] == j][:, None] == np.unique(y)).sum(axis=0) for j in range(len(fitted.hits_))]
            )
            odd = np.unique(y)[shares.argmax(axis=1)][told["prototype"]] != y
            before = told["ratio"] >= 0.9
            print(f"| {name} | {kind} | {before.mean():.1%} | {told['border'].mean():.1%} | {odd.mean():.1%} "
                  f"| {share(odd, before)} | {share(odd, told['border'])} |", flush=True)  # fmt: skip


def share(what: Array, among: Array) -> str:
    return f"{what[among].mean():.1%}" if among.any() else "-"


def old_groups(S: Array) -> Array:
    tree = linkage(squareform(S, checks=False), "average")
    by = {
        n: silhouette_score(S, cut_tree(tree, n)[:, 0], metric="precomputed") for n in range(2, min(8, len(S) - 1) + 1)
    }
    return cut_tree(tree, max(by, key=lambda n: by[n]))[:, 0]


def groups(found: list[tuple[str, Array, Array]]) -> None:
    """ARI of the points' groups with their classes, by linkage, cut where the silhouette by weight is best."""
    methods = ("average", "complete", "single", "weighted", "ward, unweighted", "ward")
    print(f"| set | map | classes | before: groups, ARI | {' | '.join(methods)} | groups | alone before, now |")
    print("| --- | --- | --- | --- |" + " --- |" * (len(methods) + 2))
    means: dict[tuple[bool, str], list[float]] = {}
    families = []
    for name, D, y in found:
        for kind, fitted in maps(D):
            w, own = fitted.medoid_indices_, fitted.labels_
            S = symmetrized(D[np.ix_(w, w)])
            before = old_groups(S)
            told = {
                m: superclusters(S, None, m.split(",")[0], hits=None if "," in m else fitted.hits_) for m in methods
            }
            figures = {"before": adjusted_rand_score(y, before[own])}
            figures |= {m: adjusted_rand_score(y, told[m].groups[own]) for m in methods}
            for m, value in figures.items():
                means.setdefault((name in LOOKED_AT_FIRST, m), []).append(value)
            alone = [int((np.bincount(g) == 1).sum()) for g in (before, told["ward"].groups)]
            print(f"| {name} | {kind} | {len(np.unique(y))} | {before.max() + 1}, {figures['before']:.2f} | "
                  + " | ".join(f"{figures[m]:.2f}" for m in methods)
                  + f" | {told['ward'].n_groups} | {alone[0]}, {alone[1]} |", flush=True)  # fmt: skip
            if name == "globins":
                families.append(families_of(kind, y, told["ward"].groups[own]))
    for chosen, what in ((True, "the first three"), (False, "the others")):
        if (chosen, "before") in means:
            row = [f"{np.mean(means[chosen, m]):.2f}" for m in ("before", *methods)]
            print(f"| mean of {what} | | | {row[0]} | {' | '.join(row[1:])} | | |")
    print("\n".join(families))


def families_of(kind: str, y: Array, g: Array) -> str:
    told = [
        ", ".join(f"{n} {f}" for f in np.unique(y) if (n := ((g == k) & (y == f)).sum())) for k in range(g.max() + 1)
    ]
    return f"<!-- globins, {kind}: {'; '.join(told)} -->"


# --- new objects


def novelties(found: list[tuple[str, Array, Array]]) -> None:
    """Half of the points train a map; the other half is new but usual; a class left out of training is strange."""
    print("| set | map | of the training points | held out, flagged | a class left out, flagged | AUC of novelty |")
    print("| --- | --- | --- | --- | --- | --- |")
    from sklearn.metrics import roc_auc_score

    for name, D, y in found:
        rng, by_map = np.random.default_rng(1), {}
        for out in np.unique(y)[:5]:
            known = rng.permutation(np.flatnonzero(y != out))
            train, held, strange = known[: len(known) // 2], known[len(known) // 2 :], np.flatnonzero(y == out)
            for kind, fitted in maps(np.ascontiguousarray(D[np.ix_(train, train)])):
                inner = D[np.ix_(train, train)]
                remember(fitted, inner)
                usual, w = fitted.usual_, train[fitted.medoid_indices_]
                told = [scored(D[np.ix_(at, w)], usual) for at in (train, held, strange)]
                auc = roc_auc_score(np.repeat([0, 1], [len(held), len(strange)]), np.concatenate(told[1:]))
                by_map.setdefault(kind, []).append([*(np.mean(t > usual["novelty"]) for t in told), auc])
        for kind, rows in by_map.items():
            trained, held_out, left_out, auc = np.mean(rows, axis=0)
            print(f"| {name} | {kind} | {trained:.1%} | {held_out:.1%} | {left_out:.1%} | {auc:.2f} |", flush=True)


def scored(G: Array, usual: dict[str, Any]) -> Array:
    first, d, second, e, *_ = two_nearest(G)
    return novelty({"prototype": first, "dissimilarity": d, "second": second, "second_dissimilarity": e}, usual)


# --- sizes


def sizes(found: list[tuple[str, Array, Array]]) -> None:
    print("| data | N | different | before: neurons, empty | now: neurons, empty | of one point |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, D, _ in found:
        for n in (33, 300):
            row_of_sizes(name, D[:n, :n] if len(D) >= n else None)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10)) + 4 * np.eye(10)[rng.integers(6, size=2000)]
    row_of_sizes("six clouds", cdist(X, X))
    few = X[rng.integers(100, size=2000)]
    row_of_sizes("six clouds, 100 different", cdist(few, few))


def row_of_sizes(name: str, D: Array | None) -> None:
    if D is None:
        return
    from medianmap.sources.checks import n_apart

    n, different = len(D), n_apart(D)
    K = max(1, min(round(5 * np.sqrt(n)), n // 4))
    rows = max(1, round(np.sqrt(0.8 * K)))
    told = []
    for grid in ((rows, max(1, K // rows)), usual_grid(usual_size(n, different))):
        hits = MedianSOM(grid, metric="precomputed", random_state=0).fit(D).hits_
        told.append((f"{grid[0]} x {grid[1]}, {(hits == 0).sum()}", int((hits == 1).sum())))
    print(f"| {name} | {n} | {different} | {told[0][0]} | {told[1][0]} | {told[1][1]} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, metavar="FOLDER")
    parser.add_argument("--cache", type=Path, default=None, help="Folder to keep matrices in.")
    parser.add_argument("--only", default="outliers,borders,groups,novelty,sizes")
    args = parser.parse_args()
    wanted = args.only.split(",")
    if "outliers" in wanted:
        outliers(args.data)
    found = list(sets(args.data, args.cache)) if wanted != ["outliers"] else []
    for name, show in (("borders", borders), ("groups", groups), ("novelty", novelties), ("sizes", sizes)):
        if name in wanted:
            print(f"\n## {name}\n")
            show(found)


if __name__ == "__main__":
    main()
