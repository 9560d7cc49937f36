"""Breast cancer in patches: cosine dissimilarity, K=40, 100 epochs, repeated 10-fold cross-validation.

Beside the patches stands what they have to beat: maps of a random sample of the points, one of as many as are compared
with each other at a time (equal memory), one of as many as the pass compares pairs (equal evaluations).
"""

from __future__ import annotations

from functools import cache
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from medianmap.datasets import load_breast_cancer
from medianmap.estimators.median import MedianNeuralGas
from medianmap.patches.clusterer import PatchClusterer
from medianmap.patches.plan import tree_sizes
from medianmap.sources import as_dissimilarity
from medianmap.sources.base import IntArray

from .judging import judged, judged_medoids
from .maps import SIGMA_END, median_gas, our_gas
from .plan import Plan, Record, Task, task
from .runs import Runs
from .tables import Claim, Figure, as_mean, claim, figure, markdown, paired

PART = "patches"
K = 40
FOLDS = 10
N_PATCHES = 5

FULL, PATCHES, ANNEALED, TREE = "all points at once", "5 patches", "5 patches, each annealed", "5 patches, tree"
IN_TURN = "5 patches, one after the other"
MEMORY, EVALUATIONS = "sample of equal memory", "sample of equal evaluations"
LAST = "sample of equal memory, all points in the last run"
SAMPLES = (MEMORY, EVALUATIONS, LAST)
WAYS = (FULL, PATCHES, ANNEALED, TREE, *SAMPLES)
CHAPTERS, OURS, GUIDED = ", chapter's annealing", ", our default", ", our default, supervised (beta 0.1)"
# Method -> ways, beta, labeling.
METHODS: dict[str, tuple[tuple[str, ...], float, str]] = {
    CHAPTERS: (WAYS, 1.0, "posterior"),
    OURS: ((FULL, PATCHES, IN_TURN, *SAMPLES), 1.0, "posterior"),
    GUIDED: ((FULL, PATCHES), 0.1, "learned"),
}


def gas_of(method: str, seed: int, n_epochs: int, threads: int | None) -> MedianNeuralGas:
    """The map that a method trains."""
    shared: dict[str, Any] = {"metric": "cosine", "random_state": seed, "n_jobs": threads}
    return median_gas(K, n_epochs, **shared) if method == CHAPTERS else our_gas(K, **shared)


def maps(gas: MedianNeuralGas, method: str) -> dict[str, Any]:
    """The ways to train it that are estimators, by name: patches go one after the other, by our default as a tree."""
    way: dict[str, Any] = {"n_patches": N_PATCHES, "shuffle": True}
    in_turn = PatchClusterer(gas, **way, merge="sequential")
    return {
        FULL: gas,
        PATCHES: in_turn if method == CHAPTERS else PatchClusterer(gas, **way),
        IN_TURN: in_turn,
        ANNEALED: PatchClusterer(gas, **way, merge="sequential", warm_start=False),
        TREE: PatchClusterer(gas, **way, merge="tree"),
    }


def folds(repeats: int, seed: int) -> list[tuple[IntArray, IntArray]]:
    """10 folds, repeated; fold f of repeat r is number 10 r + f."""
    data = load_breast_cancer()
    splitter = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=seed)
    return list(splitter.split(data.X, data.y))


@cache
def _distances() -> NDArray[np.float64]:
    source: Any = as_dissimilarity(load_breast_cancer().X, "cosine")
    return np.asarray(source.kept().D, dtype=np.float64)


def one(
    way: str, method: str, train: IntArray, test: IntArray, seed: int, n_epochs: int = 100, threads: int | None = None
) -> Record:
    """One map of one fold: accuracy on the test points, quantization error on the training points."""
    data, (_, beta, labeling) = load_breast_cancer(), METHODS[method]
    gas = gas_of(method, seed, n_epochs, threads)
    if way in SAMPLES:
        found = sampled(way, gas, train, test, seed)
    else:
        map_ = maps(gas, method)[way]
        found = judged(map_, beta, data.X[train], data.y[train], data.X[test], data.y[test])
    return {"accuracy": found[labeling], "quantization_error": found["quantization_error"]}


def sample_size(way: str, n: int) -> int:
    """How many of n points a sample has.

    Memory: an extended patch has p + K points, summaries that are joined have 2 p, and so has the sample. Evaluations:
    n_patches p (p/2 + K) are compared by the pass, s^2 / 2 by a map of s points.
    """
    p = -(-n // N_PATCHES)
    return isqrt(2 * n * (p // 2 + K)) if way == EVALUATIONS else tree_sizes(p, K, medoids=True).most


def sampled(way: str, gas: MedianNeuralGas, train: IntArray, test: IntArray, seed: int) -> Record:
    """The map of a sample; its exemplars are labelled, and judged, on all training points as those of patches are."""
    rng = np.random.default_rng([seed, 2])
    D, y = _distances(), load_breast_cancer().y
    part = np.sort(rng.choice(len(train), sample_size(way, len(train)), replace=False))
    points = train[part]
    small: MedianNeuralGas = clone(gas).set_params(metric="precomputed")
    chosen = part[small.fit(D[np.ix_(points, points)]).medoid_indices_]
    within = D[np.ix_(train, train)]
    if way == LAST:  # from the sample's exemplars, at the end of the annealing
        again = median_gas(K, 1, metric="precomputed", init=chosen, sigma_start=SIGMA_END, random_state=seed)
        chosen = again.fit(within).medoid_indices_
    return judged_medoids(chosen, within, y[train], D[np.ix_(test, train)], y[test])


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every way of every method on every fold."""
    tasks = []
    splits = folds(plan.runs_of(10, 1), plan.seed)
    for run, (train, test) in enumerate(splits[:2] if plan.quick and plan.runs is None else splits):
        seed, epochs = plan.seed + run, plan.short(100, 20)
        for method, (ways, _, _) in METHODS.items():
            for way in ways:
                tasks.append(task(way + method, run, one, way, method, train, test, seed, epochs, plan.threads))
    return tasks


def by_repeat(runs: Runs, setting: str, measure: str = "accuracy") -> NDArray[np.float64]:
    """(repeats,) the mean of the ten folds of each; of folds alone where a repeat is not whole."""
    values = runs.values(setting, measure)
    return values.reshape(-1, FOLDS).mean(axis=1) if len(values) and len(values) % FOLDS == 0 else values


def loss(runs: Runs, way: str, method: str) -> NDArray[np.float64]:
    """(repeats,) quantization error on the training points over that of all points at once, by the same method."""
    ours, full = (by_repeat(runs, each + method, "quantization_error") for each in (way, FULL))
    return ours / full if len(ours) == len(full) else np.zeros(0)


CHAPTER = {FULL: "0.95", PATCHES: "0.94"}


def figures(runs: Runs) -> list[Figure]:
    """Accuracy of each way and method."""
    found: list[Figure] = []
    for method, (ways, _, _) in METHODS.items():
        for way in ways:
            chapter = CHAPTER.get(way) if method == CHAPTERS else None
            beside = by_repeat(runs, way + OURS) if chapter else None
            found += figure(PART, way + method, by_repeat(runs, way + method), chapter, beside=beside)
    return found


def claims(runs: Runs) -> list[Claim]:
    """Patches lose against all points, and beat samples; the chapter's annealing, and ours."""
    found = []
    for method in (CHAPTERS, OURS):
        full, patches = (by_repeat(runs, way + method) for way in (FULL, PATCHES))
        found += claim(PART, f"all points at once are more accurate than 5 patches{method}", paired(full, patches))
        for sample in (MEMORY, EVALUATIONS):
            better = paired(loss(runs, sample, method), loss(runs, PATCHES, method))
            found += claim(PART, f"5 patches lose less than a {sample}{method} (share of the loss)", better)
    return found


def sentences(runs: Runs) -> list[str]:
    """What the figures say."""
    n = len(load_breast_cancer().y) * (FOLDS - 1) // FOLDS
    return [
        "Cosine dissimilarity of z-scores, K=40, 100 epochs (our default: 30), 10-fold cross-validation, repeated; a "
        "run is the mean of the ten folds of a repeat. The chapter does not say whether labels guided the maps; "
        "unsupervised ones have majority labels.",
        f"Our default is a tree of patches. A sample of equal memory has {sample_size(MEMORY, n)} of the {n} training "
        "points, as many as that compares with each other at a time; one of equal evaluations "
        f"{sample_size(EVALUATIONS, n)}. Their exemplars get the labels "
        "of all training points, as those of patches do. 'All points in the last run' goes on from the exemplars of "
        "the sample with all points at the end of the annealing (what the chapter reports of the first median SOM); "
        "that compares all pairs.",
    ]


def loss_table(runs: Runs) -> list[str]:
    """Quantization error on all training points against that of all points at once."""
    rows = []
    for way in (*WAYS[1:], IN_TURN):
        rows.append((way, *(as_mean(loss(runs, way, method)) for method in (CHAPTERS, OURS))))
    if not runs.records:
        return []
    head = ("quantization error over that of all points at once", "chapter's annealing", "our default")
    return markdown(head, rows)
