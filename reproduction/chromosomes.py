"""Chromosomes: edit distance, supervised median maps, by halves (part a, part b) and by 10-fold cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from medianmap.estimators.median import MedianKMeans, MedianNeuralGas
from medianmap.sources.base import IntArray

from .judging import faster_pam, has_kmedoids, judged, judged_medoids, leave_one_out, neighbours, share
from .plan import Plan, Record, Task, task
from .runs import Runs

PART = "chromosomes"
SIZES = (100, 500)
MANY = 100  # maps with more prototypes than this are expensive
HALVES, TENFOLD, TUNING = "halves: ", "10-fold: ", "tuning: "


@dataclass(frozen=True)
class Setting:
    """A supervised median map: the chapter's has annealing="median", sigma_start K/2 and beta 0.1."""

    K: int
    kind: str = "NG"
    annealing: str = "auto"
    beta: float = 0.1
    sigma_start: float | None = None
    n_epochs: int = 100
    init: str = "random"
    collisions: str = "distinct"
    neighborhood: str = "exponential"
    scaled: bool = False
    refine: str | None = None

    @property
    def name(self) -> str:
        """What distinguishes it from our default, K first."""
        if self.kind == "K-means":
            how = "chapter's" if self.annealing == "median" else "our default"
            return f"K={self.K}, supervised median K-means, {how}{self._refined}{self._beta}"
        sigma = f", sigma_start {self.sigma_start:g}" if self.sigma_start else ""
        how = "chapter's annealing" if self.annealing == "median" else "our default"
        others = (f", {self.n_epochs} epochs" if self.n_epochs != 100 else "") + (
            f", init {self.init}" if self.init != "random" else ""
        )
        others += f", collisions {self.collisions}" if self.collisions != "distinct" else ""
        others += f", {self.neighborhood} neighbourhood" if self.neighborhood != "exponential" else ""
        return f"K={self.K}, supervised median NG, {how}{sigma}{others}{self._refined}{self._beta}"

    @property
    def _refined(self) -> str:
        return ", refined by swaps" if self.refine else ""

    @property
    def _beta(self) -> str:
        return (f", beta {self.beta:g}" if self.beta != 0.1 else "") + (" of D over its mean" if self.scaled else "")

    def map(self, seed: int, n_epochs: int, threads: int | None) -> Any:
        """The map, with another number of epochs where a run is to be quick."""
        shared: dict[str, Any] = {"metric": "precomputed", "annealing": self.annealing, "init": self.init}
        shared |= {"collisions": self.collisions, "refine": self.refine, "random_state": seed, "n_jobs": threads}
        if self.kind == "K-means":
            return MedianKMeans(self.K, max_iter=n_epochs, **shared)
        annealed = {"n_epochs": n_epochs, "sigma_start": self.sigma_start, "neighborhood": self.neighborhood}
        return MedianNeuralGas(self.K, **annealed, **shared)


def chapter(K: int) -> Setting:
    """The chapter's method as far as it is stated."""
    return Setting(K, annealing="median")


def means(K: int, annealing: str = "median", refine: str | None = None) -> Setting:
    """Supervised median K-means."""
    return Setting(K, "K-means", annealing, refine=refine)


def rivals(K: int) -> list[Setting]:
    """K-means as the chapter has it, as our default, and refined."""
    return [means(K), means(K, "auto"), means(K, "auto", "swap")]


def candidates(K: int) -> list[Setting]:
    """Neural gas as one might set it; the best is chosen by cross-validation within the training half a.

    Fewer for many prototypes, where a map takes long.
    """
    few = [
        *(chapter(K), Setting(K, annealing="median", sigma_start=5.0), Setting(K), Setting(K, neighborhood="gaussian")),
        *(Setting(K, beta=beta, refine="swap") for beta in (0.1, 0.05, 0.02)),
    ]
    if K > MANY:
        return [*few, Setting(K, beta=0.02)]
    return [
        *few,
        *(Setting(K, beta=beta, sigma_start=sigma) for beta, sigma in ((0.1, 10.0), (0.05, None), (0.05, 10.0))),
        *(Setting(K, beta=0.05, sigma_start=sigma, neighborhood="gaussian") for sigma in (None, 3.0)),
    ]


def one(plan: Plan, setting: Setting, train: IntArray, test: IntArray, seed: int) -> Record:
    """One map of the strings `train`, judged on the strings `test`."""
    D, y = plan.chromosome_matrix, plan.chromosomes.y
    map_ = setting.map(seed, plan.short(setting.n_epochs, 10), plan.threads)
    within = np.ascontiguousarray(D[np.ix_(train, train)])
    return judged(map_, setting.beta, within, y[train], D[np.ix_(test, train)], y[test], scaled=setting.scaled)


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


def within_a(plan: Plan) -> list[tuple[IntArray, IntArray]]:
    """Three folds of part a alone, repeated: what a setting may be chosen on before b is looked at."""
    a, _ = halves(plan)[0]
    y = plan.chromosomes.y[a]
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=plan.short(3, 1), random_state=plan.seed)
    return [(a[train], a[test]) for train, test in splitter.split(y, y)]


def sizes(plan: Plan) -> tuple[int, ...]:
    """Numbers of prototypes; a quick run has few strings."""
    return (40,) if plan.quick else SIZES


def about(plan: Plan) -> Record:
    """How many strings of how many classes."""
    return {"N": len(plan.chromosomes.y), "classes": len(plan.chromosomes.class_names)}


def tuning_stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every candidate of the smaller map on folds within part a."""
    return [
        task("data", 0, about, plan),
        *(
            task(TUNING + setting.name, run, one, plan, setting, *fold, plan.seed + run)
            for setting in candidates(sizes(plan)[0])[: plan.short(99, 3)]
            for run, fold in enumerate(within_a(plan))
        ),
    ]


def chosen(runs: Runs, K: int) -> Setting:
    """The setting of highest mean accuracy in the tuning, which is of the smaller map, with K prototypes."""
    tuned = [setting for size in (40, 100) for setting in candidates(size) if TUNING + setting.name in runs.records]
    best = max(tuned, key=lambda setting: runs.values(TUNING + setting.name, "learned").mean(), default=Setting(K))
    return replace(best, K=K)


def tried(runs: Runs, K: int) -> list[Setting]:
    """The candidates and the chosen setting, each once."""
    return list(dict.fromkeys([*candidates(K), chosen(runs, K)]))


def accuracy(runs: Runs, how: str, name: str) -> NDArray[np.float64]:
    """(n,) learned labels where labels guided the map, posterior ones elsewhere; by halves the mean of both."""
    measure = "learned" if "supervised" in name else "posterior"
    values = runs.values(how + name, measure)
    return by_seed(values) if how == HALVES else values


def best(runs: Runs, K: int) -> Setting:
    """The candidate that is best on the halves it is reported for."""
    ran = [setting for setting in tried(runs, K) if HALVES + setting.name in runs.records]
    return max(ran, key=lambda setting: accuracy(runs, HALVES, setting.name).mean())


def compared(runs: Runs, K: int) -> list[Setting]:
    """The chapter's method, our default, the same refined, the setting chosen within part a, and the best on both
    halves, each once."""
    refined = Setting(K, refine="swap")
    return list(dict.fromkeys([chapter(K), Setting(K), refined, chosen(runs, K), best(runs, K)]))


def halves_stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every candidate, K-means, FasterPAM and neighbours, a to b and back, for every seed: run 2 s + direction."""
    tasks = []
    for K in sizes(plan):
        gases = tried(runs, K)[: plan.short(99, 3)]
        for direction, split in enumerate(halves(plan)):
            for s in range(plan.runs_of(3, 1)):
                run, seed = 2 * s + direction, plan.seed + s
                for setting in (*gases, *rivals(K)):
                    tasks.append(task(HALVES + setting.name, run, one, plan, setting, *split, seed))
                if has_kmedoids():
                    name = f"{HALVES}K={K}, FasterPAM, posterior labels"
                    tasks.append(task(name, run, medoids, plan, K, *split, seed))
    for direction, split in enumerate(halves(plan)):
        for k in (1, 12):
            tasks.append(task(f"{HALVES}{k}-NN", direction, nearest, plan, k, *split))
    return [*tasks, task("1-NN, leave one out", 0, nearest_other, plan)]


def tenfold_stage(plan: Plan, runs: Runs) -> list[Task]:
    """Neural gas as compared, K-means, FasterPAM and 12-NN on ten folds, repeated."""
    if plan.quick:
        return []
    tasks = []
    for K in sizes(plan):
        settings = [*compared(runs, K), *rivals(K)]
        for run, split in enumerate(tenfold(plan)):
            for setting in settings:
                tasks.append(task(TENFOLD + setting.name, run, one, plan, setting, *split, plan.seed + run))
            if has_kmedoids():
                name = f"{TENFOLD}K={K}, FasterPAM, posterior labels"
                tasks.append(task(name, run, medoids, plan, K, *split, plan.seed + run))
    for run, split in enumerate(tenfold(plan)):
        tasks.append(task(f"{TENFOLD}12-NN", run, nearest, plan, 12, *split))
    return tasks


def by_seed(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_seeds,) the mean of both directions of each seed."""
    return values.reshape(-1, 2).mean(axis=1) if len(values) % 2 == 0 else values
