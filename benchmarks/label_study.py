"""The study behind the defaults of PrototypeClassifier: sets x shares of labels x maps x methods, on held-out points.

Every split keeps two thirds of the points for training, stratified; of their labels a share is noted, at least one per
class, the other points are there without a label. The dissimilarities of a set are computed once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from data import string_distances
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, RelationalNeuralGas, as_dissimilarity
from medianmap.datasets import (
    load_breast_cancer,
    load_chromosomes,
    load_globins,
    load_iris,
    simulate_protein_families,
)
from medianmap.estimators.fit import GUIDANCE, Supervision, Trained
from medianmap.estimators.labelings import majority_labels, spread_labels
from medianmap.explore.refits import standard_error
from medianmap.sources import ALL
from reproduction.judging import neighbours

SHARES = (1.0, 0.2, 0.05, 0.01)
# The constants were looked for on these sets; on the others they are only judged.
LOOKED_AT = ("iris", "digits", "breast cancer", "globins", "families")
MAPS = ("median NG", "median K-means", "median SOM", "relational NG")
GRID = (0.0, 0.1, 0.25, 0.5, 1.0)  # of GUIDANCE, for the choice without the set that is judged
DEFAULT, ALONE, FORMER = "default", "unlabelled, majority", "beta 0.5, unscaled, learned"
NEAREST = {1: "1-NN", 5: "5-NN"}
MEASURES = ("accuracy", "Brier", "log-loss", "ECE")

Figures = NDArray[np.float64]  # of one method on one split: the MEASURES
Key = tuple[str, float, str, str]  # set, share, map ("" for neighbours), method


@dataclass(frozen=True)
class Set:
    """D (N, N), classes y (N,), and the number of prototypes."""

    D: NDArray[np.float64]
    y: NDArray[np.intp]
    K: int


def sets(folder: Path | None) -> Iterator[tuple[str, Set]]:
    """The sets by name; those that need files of `folder` only with it."""
    from sklearn.datasets import load_digits, load_wine

    def squares(X: NDArray[Any]) -> NDArray[np.float64]:
        return cdist(X, X, "sqeuclidean")

    def alignments(sequences: list[str]) -> NDArray[np.float64]:
        return np.asarray(as_dissimilarity(sequences, "alignment").block(ALL, ALL), np.float64)

    rng = np.random.default_rng(0)
    iris, cancer, globins, digits, wine = load_iris(), load_breast_cancer(), load_globins(), load_digits(), load_wine()
    yield "iris", Set(squares(iris.X), iris.y, 10)
    some = rng.permutation(len(digits.target))[:900]
    yield "digits", Set(squares(digits.data[some]), digits.target[some], 40)
    yield "breast cancer", Set(squares(cancer.X), cancer.y, 25)
    yield "globins", Set(alignments(globins.sequences), globins.y, 30)
    for name, made in {
        "families": simulate_protein_families(600, 10, between=0.4, within=0.8, random_state=1),
        "other families": simulate_protein_families(600, 6, between=0.3, within=0.9, random_state=7),
    }.items():
        enough = np.bincount(made.y)[made.y] >= 6
        y = np.unique(made.y[enough], return_inverse=True)[1]
        yield name, Set(alignments([s for s, kept in zip(made.sequences, enough, strict=True) if kept]), y, 30)
        if name == "families":
            Z = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
            yield "wine", Set(squares(Z), wine.target, 12)
    y = np.arange(600) % 4
    clouds = rng.normal(size=(4, 8))[y] * 1.2 + rng.normal(size=(600, 8))
    yield "overlapping clouds", Set(squares(clouds), y, 30)
    if folder is not None:
        D = np.loadtxt(folder / "proteins" / "D.csv", delimiter=",")
        names = np.loadtxt(folder / "proteins" / "labels.csv", dtype=str)
        yield "proteins", Set(D, np.unique(names, return_inverse=True)[1], 20)
        all_of_them = load_chromosomes(folder / "chromosomes.csv")
        each = [rng.permutation(np.flatnonzero(all_of_them.y == c))[:50] for c in range(22)]
        some = np.concatenate(each)
        strings = [all_of_them.sequences[i] for i in some]
        yield "chromosomes", Set(string_distances(strings).astype(np.float64), all_of_them.y[some], 50)


def map_of(name: str, K: int, seed: int) -> Any:
    """One of the MAPS with its own defaults, the lattice of a SOM as square as K allows."""
    rows = max(r for r in range(1, int(np.sqrt(K)) + 1) if K % r == 0)
    made: dict[str, Callable[..., Any]] = {
        "median NG": lambda **p: MedianNeuralGas(K, **p),
        "median K-means": lambda **p: MedianKMeans(K, **p),
        "median SOM": lambda **p: MedianSOM((rows, K // rows), **p),
        "relational NG": lambda **p: RelationalNeuralGas(K, **p),
    }
    return made[name](metric="precomputed", random_state=seed)


def noted(y: NDArray[np.intp], share: float, seed: int) -> NDArray[np.intp]:
    """y with -1 for all but a share of the labels, one of each class among them."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    one_each = np.array([next(i for i in order if y[i] == c) for c in np.unique(y)])
    others = np.setdiff1d(order, one_each)
    keep = np.concatenate([one_each, rng.permutation(others)])[: max(round(share * len(y)), len(one_each))]
    y_noted = np.full(len(y), -1)
    y_noted[keep] = y[keep]
    return y_noted


def measured(shares: NDArray[np.float64], truth: NDArray[np.intp]) -> Figures:
    """The MEASURES of predicted shares (n, C). Shares below 0.001 count 0.001 in the log-loss; ECE has ten bins."""
    proposed, sure, n = shares.argmax(axis=1), shares.max(axis=1), len(truth)
    right = proposed == truth
    brier = ((shares - np.eye(shares.shape[1])[truth]) ** 2).sum() / n
    log_loss = -np.log(np.maximum(shares[np.arange(n), truth], 1e-3)).mean()
    bins = np.minimum((10 * sure).astype(int), 9)
    apart = [abs(sure[bins == b].sum() - right[bins == b].sum()) for b in range(10)]
    return np.array([right.mean(), brier, log_loss, sum(apart) / n])


def runs(name: str, data: Set, n_splits: int, seed: int) -> dict[Key, list[Figures]]:
    """Every share of labels, map and method on every split of one set, at `n_splits` entries each."""
    found: dict[Key, list[Figures]] = {}
    halves = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=seed)
    for s, (train, test) in enumerate(halves.split(data.D, data.y)):
        within, across, truth = data.D[np.ix_(train, train)], data.D[np.ix_(test, train)], data.y[test]
        for share in SHARES:
            y = noted(data.y[train], share, 1000 * seed + s)
            known = np.flatnonzero(y >= 0)
            for k, method in NEAREST.items():
                proposed = neighbours(across[:, known], y[known], k)
                right = np.array([float(np.mean(proposed == truth)), np.nan, np.nan, np.nan])
                found.setdefault((name, share, "", method), []).append(right)
            for kind in MAPS:
                for method, figures in judged(map_of(kind, data.K, s), within, y, across, truth).items():
                    found.setdefault((name, share, kind, method), []).append(figures)
    return found


def judged(map_: Any, within: Any, y: Any, across: Any, truth: NDArray[np.intp]) -> dict[str, Figures]:
    """What each method says about the held-out points; `g ...` is the default with another GUIDANCE."""
    figures: dict[str, Figures] = {}

    def fitted(beta: float, scaled: bool) -> tuple[Trained, NDArray[np.intp]]:
        one = clone(map_)
        trained = one._train(within, None, Supervision(y, beta, scaled))
        return trained, one.predict(across)

    n = int((y >= 0).sum())
    K = map_._size()[0]
    ramp = max(0.0, 1.0 - K / n)
    done: dict[float, Figures] = {}
    for g in GRID:
        if g * ramp not in done:
            trained, winner = fitted(1 / (1 + g * ramp), True)
            done[g * ramp] = measured(spread_labels(trained)[winner], truth)
            if g == 0:
                figures[ALONE] = measured(majority_labels(trained)[winner], truth)
        figures[f"g {g}"] = done[g * ramp]
    figures[DEFAULT] = figures[f"g {GUIDANCE}"]
    trained, winner = fitted(0.5, False)
    figures[FORMER] = measured(trained.state.labels[winner], truth)
    return figures


def study(folder: Path | None, n_splits: int, seed: int, only: list[str] | None) -> None:
    """Run it all and print the tables."""
    warnings.filterwarnings("ignore", message="The number of unique classes")
    found: dict[Key, NDArray[np.float64]] = {}
    names = []
    for name, data in sets(folder):
        if only is None or name in only:
            found |= {key: np.array(rows) for key, rows in runs(name, data, n_splits, seed).items()}
            names.append(name)
    print(f"## the defaults of PrototypeClassifier, {n_splits} splits, seed {seed}\n")
    for share in SHARES:
        accuracies(found, names, share)
    verdicts(found, names)
    calibration(found, names)
    chosen_without(found, names)


def cell(values: NDArray[np.float64]) -> str:
    """Mean and standard error."""
    return f"{values.mean():.3f} ± {standard_error(values):.3f}"


def accuracies(found: dict[Key, Any], names: list[str], share: float) -> None:
    """One row per set and map."""
    methods = (DEFAULT, ALONE, FORMER)
    print(f"### {100 * share:g}% of the labels: accuracy on held-out points\n")
    print("| set | map | " + " | ".join((*methods, *NEAREST.values())) + " |")
    print("| --- " * (4 + len(methods)) + "|")
    for name in names:
        for kind in MAPS:
            cells = [cell(found[name, share, kind, method][:, 0]) for method in methods]
            cells += [cell(found[name, share, "", method][:, 0]) for method in NEAREST.values()]
            print(f"| {name} | {kind} | " + " | ".join(cells) + " |")
    print()


def against(found: dict[Key, Any], name: str, share: float, kind: str, other: str) -> tuple[float, float]:
    """Mean gain in accuracy of the default over another method on the same splits, and its standard error."""
    theirs = found[name, share, "" if other in NEAREST.values() else kind, other]
    gain = found[name, share, kind, DEFAULT][:, 0] - theirs[:, 0]
    return float(gain.mean()), float(standard_error(gain))


def verdicts(found: dict[Key, Any], names: list[str]) -> None:
    """How often the default is better or worse by more than a standard error of the paired difference."""
    print("### the default against the others: sets and maps where it is better / as good / worse (mean gain)\n")
    others = (ALONE, FORMER, *NEAREST.values())
    print("| labels | sets | " + " | ".join(others) + " |\n" + "| --- " * (2 + len(others)) + "|")
    worse = []
    for share in SHARES:
        for words, chosen in (("looked at", True), ("only judged", False)):
            group = [name for name in names if (name in LOOKED_AT) == chosen]
            cells = []
            for other in others:
                gains = {(name, kind): against(found, name, share, kind, other) for name in group for kind in MAPS}
                sides = [(gain > error) - (gain < -error) for gain, error in gains.values()]
                mean = np.mean([gain for gain, _ in gains.values()]) if gains else np.nan
                cells.append(f"{sides.count(1)} / {sides.count(0)} / {sides.count(-1)} ({mean:+.3f})")
                if other == ALONE or (other == NEAREST[1] and share <= 0.05):
                    worse += [
                        f"{name}, {kind}, {100 * share:g}% of the labels, to {other}: {gain:+.3f} ± {error:.3f}"
                        for (name, kind), (gain, error) in gains.items()
                        if gain < -error
                    ]
            print(f"| {100 * share:g}% | {words} | " + " | ".join(cells) + " |")
    print("\nworse than the unlabelled map with majority labels, or with 5% or less than 1-NN:")
    print("\n".join(f"- {each}" for each in worse) or "nowhere", "\n")


def calibration(found: dict[Key, Any], names: list[str]) -> None:
    """Means over all sets and maps."""
    print("### probabilities: mean over sets and maps\n")
    print("| labels | method | " + " | ".join(MEASURES[1:]) + " |\n| --- | --- | --- | --- | --- |")
    for share in SHARES:
        for method in (DEFAULT, ALONE, FORMER):
            rows = [found[name, share, kind, method].mean(axis=0) for name in names for kind in MAPS]
            print(
                f"| {100 * share:g}% | {method} | " + " | ".join(f"{v:.3f}" for v in np.mean(rows, axis=0)[1:]) + " |"
            )
    print()


def chosen_without(found: dict[Key, Any], names: list[str]) -> None:
    """The GUIDANCE that the other sets would choose, and what it gives on the set that had no say."""
    print("### the weight of labels chosen on the other sets (all maps, all and a fifth of the labels)\n")
    print("| set | chosen without it | accuracy with that | default | best of the grid for it |\n" + "| --- " * 5 + "|")

    def mean(g: float, group: list[str]) -> float:
        keys = [(name, share, kind, f"g {g}") for name in group for share in SHARES[:2] for kind in MAPS]
        return float(np.mean([found[key][:, 0].mean() for key in keys]))

    for name in names if len(names) > 1 else ():
        g = max(GRID, key=lambda g: mean(g, [other for other in names if other != name]))
        best = max(GRID, key=lambda g: mean(g, [name]))
        print(f"| {name} | {g:g} | {mean(g, [name]):.4f} | {mean(GUIDANCE, [name]):.4f} | "
              f"{best:g}: {mean(best, [name]):.4f} |")  # fmt: skip
    print()
