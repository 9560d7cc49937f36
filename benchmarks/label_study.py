"""The study behind the defaults of PrototypeClassifier: sets x shares of labels x maps x methods, on held-out points.

Every split keeps two thirds of the points for training, stratified; of their labels a share is noted, at least one per
class, the other points are there without a label. The dissimilarities of a set are computed once (label_sets.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from label_sets import Set, sets
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM, RelationalNeuralGas
from medianmap.core.labels import LabelVectors
from medianmap.core.memberships import Memberships
from medianmap.estimators.fit import GUIDANCE, Supervision, Trained
from medianmap.estimators.labelings import LABELINGS
from medianmap.explore.refits import standard_error
from reproduction.judging import neighbours

SHARES = (1.0, 0.2, 0.05, 0.01)
# The rules and constants were chosen with these sets in view, on other splits; on the others they are only judged.
LOOKED_AT = ("iris", "digits", "breast cancer", "globins", "families", "wine", "other families", "overlapping clouds",
             "proteins", "chromosomes")  # fmt: skip
MAPS = ("median NG", "median K-means", "median SOM", "relational NG")
GRID = (0.0, 0.1, 0.25, 0.5, 1.0)  # of GUIDANCE, for the choice without the set that is judged
OF_GRID = 3  # splits on which the grid is tried
DEFAULT, ALONE = "default", "unlabelled, majority"
NEAREST = {1: "1-NN", 5: "5-NN"}
MEASURES = ("accuracy", "Brier", "log-loss", "ECE")

Figures = NDArray[np.float64]  # of one method on one split: the MEASURES
Key = tuple[str, float, str, str]  # set, share, map ("" for neighbours), method


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


def noted(y: NDArray[np.intp], share: float, seed: int) -> LabelVectors:
    """The labels y, known of a share of the points alone, one of each class among them."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    one_each = np.array([next(i for i in order if y[i] == c) for c in np.unique(y)])
    others = np.setdiff1d(order, one_each)
    keep = np.concatenate([one_each, rng.permutation(others)])[: max(round(share * len(y)), len(one_each))]
    known = np.isin(np.arange(len(y)), keep)
    C = y.max() + 1
    return LabelVectors(np.arange(C), np.where(known[:, None], np.eye(C)[y], 0.0), known)


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
    """Every share of labels, map and method on the splits of one set, an entry for each.

    Where labels guide maps, a third of the splits have to do: fits cost more there, and splits differ less.
    """
    found: dict[Key, list[Figures]] = {}
    halves = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=seed)
    for s, (train, test) in enumerate(halves.split(data.D, data.y)):
        within, across, truth = data.D[np.ix_(train, train)], data.D[np.ix_(test, train)], data.y[test]
        shares = SHARES if 3 * s < n_splits else SHARES[2:]
        some = {share: noted(data.y[train], share, 1000 * seed + s) for share in shares}
        for share, labels in some.items():
            known = np.flatnonzero(labels.known)
            for k, method in NEAREST.items():
                proposed = neighbours(across[:, known], data.y[train][known], k)
                figures = measured(np.eye(data.y.max() + 1)[proposed], truth)
                found.setdefault((name, share, "", method), []).append(figures)
        for kind in MAPS:
            told = Told(map_of(kind, data.K, s), within, across, truth)
            for share, labels in some.items():
                for method, figures in told.of(labels, GRID if s < OF_GRID and share in SHARES[:2] else ()).items():
                    found.setdefault((name, share, kind, method), []).append(figures)
    return found


class Told:
    """What a map says about held-out points, by method. Fits of the same beta and labels are made once."""

    def __init__(self, map_: Any, within: Any, across: Any, truth: NDArray[np.intp]) -> None:
        self.map, self.within, self.across, self.truth = map_, within, across, truth
        self.alone: tuple[Trained, Memberships] | None = None

    def of(self, labels: LabelVectors, grid: tuple[float, ...]) -> dict[str, Figures]:
        """Figures of each method; `g ...` is the default with another GUIDANCE."""
        K, n = self.map._size()[0], int(labels.known.sum())
        figures = {
            g: self.figures("spread", *self.fitted(labels, 1 / (1 + g * max(0.0, 1 - K / n))))
            for g in dict.fromkeys((GUIDANCE, *grid))
        }
        alone = self.figures("majority", *self.fitted(labels, 1.0))
        return {DEFAULT: figures[GUIDANCE], ALONE: alone, **{f"g {g}": figures[g] for g in grid}}

    def fitted(self, labels: LabelVectors, beta: float) -> tuple[Trained, Memberships]:
        """What training leaves, and where the held-out points are. Labels have no part in it where beta is 1."""
        if beta == 1.0 and self.alone is not None:
            return replace(self.alone[0], labels=labels), self.alone[1]
        map_ = clone(self.map)
        trained = map_._train(self.within, None, Supervision(labels, beta, scaled=True))
        result = trained, Memberships.of(map_.transform(self.across))
        if beta == 1.0:
            self.alone = result
        return result

    def figures(self, labeling: str, trained: Trained, points: Memberships) -> Figures:
        """The MEASURES of one way to predict."""
        rule = LABELINGS[labeling]
        return measured(rule.of_points(rule.of_prototypes(trained), points), self.truth)


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
    methods = (DEFAULT, ALONE)
    print(f"### {100 * share:g}% of the labels: accuracy on held-out points\n")
    print("| set | map | " + " | ".join((*methods, *NEAREST.values())) + " |")
    print("| --- " * (4 + len(methods)) + "|")
    for name in names:
        for kind in MAPS:
            cells = [cell(found[name, share, kind, method][:, 0]) for method in methods]
            cells += [cell(found[name, share, "", method][:, 0]) for method in NEAREST.values()]
            print(f"| {name} | {kind} | " + " | ".join(cells) + " |")
    print()


def against(found: dict[Key, Any], name: str, share: float, kinds: list[str], other: str) -> tuple[float, float]:
    """Mean gain in accuracy of the default over another method on the same splits, and its standard error."""
    gains = [
        found[name, share, kind, DEFAULT][:, 0]
        - found[name, share, "" if other in NEAREST.values() else kind, other][:, 0]
        for kind in kinds
    ]
    gain = np.mean(gains, axis=0)
    return float(gain.mean()), float(standard_error(gain))


def verdicts(found: dict[Key, Any], names: list[str]) -> None:
    """How often the default is better or worse by more than a standard error of the paired difference."""
    others = (ALONE, *NEAREST.values())
    for what, kinds in (("sets and maps", [[kind] for kind in MAPS]), ("sets, mean over their maps", [list(MAPS)])):
        print(f"### the default against the others: {what} where it is better / as good / worse (mean gain)\n")
        print("| labels | sets | " + " | ".join(others) + " |\n" + "| --- " * (2 + len(others)) + "|")
        worse = []
        for share in SHARES:
            for words, chosen in (("looked at", True), ("only judged", False)):
                group = [name for name in names if (name in LOOKED_AT) == chosen]
                cells = []
                for other in others:
                    gains = {(name, *k): against(found, name, share, k, other) for name in group for k in kinds}
                    sides = [(gain > error) - (gain < -error) for gain, error in gains.values()]
                    mean = np.mean([gain for gain, _ in gains.values()]) if gains else np.nan
                    cells.append(f"{sides.count(1)} / {sides.count(0)} / {sides.count(-1)} ({mean:+.3f})")
                    if other == ALONE or (other == NEAREST[1] and share <= 0.05):
                        worse += [
                            f"{', '.join(pair[:2] if len(pair) == 2 else pair[:1])}, {100 * share:g}% of the labels, "
                            f"to {other}: {gain:+.3f} ± {error:.3f}"
                            for pair, (gain, error) in gains.items()
                            if gain < -error
                        ]
                print(f"| {100 * share:g}% | {words} | " + " | ".join(cells) + " |")
        print("\nworse than the unlabelled map with majority labels, or with 5% or less than 1-NN:")
        print("\n".join(f"- {each}" for each in worse) or "nowhere", "\n")
    lengths = sorted({len(rows) for rows in found.values()})[-2:]
    chance = " and ".join(f"{stats.t.cdf(-1.0, n - 1):.3f} with {n}" for n in lengths)
    print(f"Of two equally good methods the second is above by a standard error with probability {chance} splits.\n")


def calibration(found: dict[Key, Any], names: list[str]) -> None:
    """Means over all sets and maps."""
    print("### probabilities: mean over sets and maps\n")
    print("| labels | method | " + " | ".join(MEASURES[1:]) + " |\n| --- | --- | --- | --- | --- |")
    for share in SHARES:
        for method in (DEFAULT, ALONE):
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
