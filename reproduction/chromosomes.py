"""Chromosomes: edit distance, supervised median maps, by halves (part a, part b) and by 10-fold cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from medianmap.sources.base import IntArray

from .judging import faster_pam, has_kmedoids, judged, judged_medoids, leave_one_out, neighbours, share
from .maps import median_gas, median_means, our_gas, our_means, relational_gas, relational_means
from .plan import Plan, Record, Task, task
from .runs import Runs
from .tables import paired

PART = "chromosomes"
SIZES = (100, 500)
HALVES, TENFOLD = "halves: ", "10-fold: "
TWELVE, ONE = "12-NN", "1-NN"
N_EPOCHS = 100  # the chapter's
OURS, CHAPTERS, COMBINED = "our default", "chapter's", "relational"


@dataclass(frozen=True)
class Setting:
    """A map: how it is trained (`how`), and what is changed of that, by the map's own parameters."""

    K: int
    kind: str = "NG"
    how: str = OURS
    beta: float = 0.1
    scaled: bool = False
    changed: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """What distinguishes it, K first."""
        labels = "unsupervised" if self.beta == 1 else "supervised"
        how = "" if self.how == COMBINED else f", {self.how}"
        kind = f"relational {self.kind}" if self.how == COMBINED else f"median {self.kind}"
        words = [f"{name} {value}" for name, value in self.changed if (name, value) != ("refine", "swap")]
        words += ["refined by swaps"] if ("refine", "swap") in self.changed else []
        words += [f"beta {self.beta:g}"] if self.beta not in (0.1, 1) else []
        words += ["D over its mean"] if self.scaled else []
        return f"K={self.K}, {labels} {kind}{how}" + "".join(f", {word}" for word in words)

    def map(self, seed: int, plan: Plan) -> Any:
        """The map; where a run is to be quick, with fewer epochs."""
        shared: dict[str, Any] = {"metric": "precomputed", "random_state": seed, "n_jobs": plan.threads}
        shared |= dict(self.changed)
        if self.how == CHAPTERS:
            n_epochs = shared.pop("n_epochs", N_EPOCHS)
            make = median_gas if self.kind == "NG" else median_means
            return make(self.K, plan.short(n_epochs, 10), **shared)
        if self.how == COMBINED:
            return (relational_gas if self.kind == "NG" else relational_means)(self.K, **shared)
        return (our_gas if self.kind == "NG" else our_means)(self.K, **shared)


REFINED = (("refine", "swap"),)


def gas(K: int) -> list[Setting]:
    """Neural gas: the chapter's, our default, the same refined, and with combinations of the data."""
    return [Setting(K, how=CHAPTERS), Setting(K), Setting(K, changed=REFINED), Setting(K, how=COMBINED)]


def means(K: int) -> list[Setting]:
    """K-means: the chapter's without labels and with, our default, the same refined, and with combinations."""
    return [
        Setting(K, "K-means", CHAPTERS, 1.0),
        Setting(K, "K-means", CHAPTERS),
        Setting(K, "K-means"),
        Setting(K, "K-means", changed=REFINED),
        Setting(K, "K-means", COMBINED),
    ]


def rival(K: int) -> Setting:
    """The K-means that the chapter sets beside neural gas of K prototypes: without labels at 100, with them at 500."""
    return Setting(K, "K-means", CHAPTERS, 1.0 if K <= 100 else 0.1)


def one(plan: Plan, setting: Setting, train: IntArray, test: IntArray, seed: int) -> Record:
    """One map of the strings `train`, judged on the strings `test`."""
    D, y = plan.chromosome_matrix, plan.chromosomes.y
    within = np.ascontiguousarray(D[np.ix_(train, train)])
    across = D[np.ix_(test, train)]
    return judged(setting.map(seed, plan), setting.beta, within, y[train], across, y[test], scaled=setting.scaled)


def medoids(plan: Plan, K: int, train: IntArray, test: IntArray, seed: int) -> Record:
    """FasterPAM, which does not use labels, with posterior ones."""
    D, y = plan.chromosome_matrix, plan.chromosomes.y
    within = np.ascontiguousarray(D[np.ix_(train, train)])
    return judged_medoids(faster_pam(within, K, seed), within, y[train], D[np.ix_(test, train)], y[test])


def nearest(plan: Plan, k: int, train: IntArray, test: IntArray) -> Record:
    """k nearest neighbours among all strings `train`."""
    D, y = plan.chromosome_matrix, plan.chromosomes.y
    return {"posterior": share(neighbours(D[np.ix_(test, train)], y[train], k), y[test])}


def nearest_other(plan: Plan) -> Record:
    """The nearest other string, of all strings."""
    return {"posterior": leave_one_out(plan.chromosome_matrix, plan.chromosomes.y)}


def halves(plan: Plan) -> list[tuple[IntArray, IntArray]]:
    """(train, test): part a tested on b, and back. A quick run takes every fifth string of each."""
    a, b = (np.flatnonzero(plan.chromosomes.parts == part)[:: plan.short(1, 5)] for part in "ab")
    return [(a, b), (b, a)]


def tenfold(plan: Plan) -> list[tuple[IntArray, IntArray]]:
    """Ten folds of all strings, repeated; fold f of repeat r is number 10 r + f."""
    y = plan.chromosomes.y
    repeats = plan.runs_of(2, 1)
    return list(RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=plan.seed).split(y, y))


def sizes(plan: Plan) -> tuple[int, ...]:
    """Numbers of prototypes; a quick run has few strings."""
    return (40,) if plan.quick else SIZES


def about(plan: Plan) -> Record:
    """How many strings of how many classes."""
    return {"N": len(plan.chromosomes.y), "classes": len(plan.chromosomes.class_names)}


def halves_stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every map, FasterPAM and neighbours, a to b and back, for every seed: run 2 s + direction."""
    tasks = [task("data", 0, about, plan)]
    for K in sizes(plan):
        for direction, split in enumerate(halves(plan)):
            for s in range(plan.runs_of(3, 1)):
                run, seed = 2 * s + direction, plan.seed + s
                for setting in (*gas(K), *means(K)):
                    tasks.append(task(HALVES + setting.name, run, one, plan, setting, *split, seed))
                if has_kmedoids():
                    name = f"{HALVES}K={K}, FasterPAM, posterior labels"
                    tasks.append(task(name, run, medoids, plan, K, *split, seed))
    for direction, split in enumerate(halves(plan)):
        for k, name in ((1, ONE), (12, TWELVE)):
            tasks.append(task(HALVES + name, direction, nearest, plan, k, *split))
    return [*tasks, task("1-NN, leave one out", 0, nearest_other, plan)]


def tenfold_stage(plan: Plan, runs: Runs) -> list[Task]:
    """The same maps, FasterPAM and 12-NN on ten folds, repeated."""
    if plan.quick:
        return []
    tasks = []
    for run, split in enumerate(tenfold(plan)):
        for K in sizes(plan):
            for setting in (*gas(K), *means(K)):
                tasks.append(task(TENFOLD + setting.name, run, one, plan, setting, *split, plan.seed + run))
            if has_kmedoids():
                name = f"{TENFOLD}K={K}, FasterPAM, posterior labels"
                tasks.append(task(name, run, medoids, plan, K, *split, plan.seed + run))
        tasks.append(task(TENFOLD + TWELVE, run, nearest, plan, 12, *split))
    return tasks


def accuracy(runs: Runs, how: str, name: str) -> NDArray[np.float64]:
    """(n,) learned labels where labels guided the map, posterior ones elsewhere; by halves the mean of both."""
    values = runs.values(how + name, "learned" if ", supervised" in name else "posterior")
    return by_seed(values) if how == HALVES else values


def gain_over(runs: Runs, how: str, setting: Setting, other: Setting) -> NDArray[np.float64]:
    """(n,) accuracy of one setting above another's, split by split; empty where one is missing."""
    return paired(accuracy(runs, how, setting.name), accuracy(runs, how, other.name))


def by_seed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_seeds,) the mean of both directions of each seed."""
    return values.reshape(-1, 2).mean(axis=1) if len(values) % 2 == 0 else values


def sizes_of(runs: Runs, how: str) -> list[int]:
    """The numbers of prototypes that were run."""
    return sorted({int(setting.removeprefix(how + "K=").split(",")[0]) for setting in runs.settings(how + "K=")})
