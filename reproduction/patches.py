"""Breast cancer in patches: cosine dissimilarity, K=40, 100 epochs, repeated 10-fold cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from medianmap.datasets import load_breast_cancer
from medianmap.estimators.median import MedianNeuralGas
from medianmap.patches.clusterer import PatchClusterer

from .judging import share
from .plan import Plan, Record, Task, task
from .runs import Runs
from .tables import Claim, Figure, as_mean, figure

PART = "patches"
K = 40
FOLDS = 10

FULL, PATCHES, ANNEALED, TREE = "all points at once", "5 patches", "5 patches, each annealed", "5 patches, tree"
WAYS = (FULL, PATCHES, ANNEALED, TREE)
# Suffix -> annealing, beta, labeling.
CHAPTERS = ", chapter's annealing"
METHODS = {
    CHAPTERS: ("median", 1.0, "majority"),
    ", our default": ("auto", 1.0, "majority"),
    ", our default, supervised (beta 0.1)": ("auto", 0.1, "learned"),
}


def maps(gas: MedianNeuralGas) -> dict[str, Any]:
    """The ways to train the map, by name."""
    return {
        FULL: gas,
        PATCHES: PatchClusterer(gas, n_patches=5, shuffle=True),
        ANNEALED: PatchClusterer(gas, n_patches=5, shuffle=True, warm_start=False),
        TREE: PatchClusterer(gas, n_patches=5, shuffle=True, merge="tree"),
    }


def folds(repeats: int, seed: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """10 folds, repeated; fold f of repeat r is number 10 r + f."""
    data = load_breast_cancer()
    splitter = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=seed)
    return list(splitter.split(data.X, data.y))


def one(
    way: str, method: str, train: Any, test: Any, seed: int, n_epochs: int = 100, threads: int | None = None
) -> Record:
    """One map of one fold."""
    from medianmap.estimators.classifier import PrototypeClassifier

    data = load_breast_cancer()
    annealing, beta, labeling = METHODS[method]
    gas = MedianNeuralGas(K, metric="cosine", n_epochs=n_epochs, annealing=annealing, random_state=seed, n_jobs=threads)
    classifier = PrototypeClassifier(maps(gas)[way], beta, labeling=labeling).fit(data.X[train], data.y[train])
    return {"accuracy": share(classifier.predict(data.X[test]), data.y[test])}


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every way on every fold; the two that the chapter does not have with its annealing alone."""
    tasks = []
    splits = folds(plan.runs_of(10, 1), plan.seed)
    for run, (train, test) in enumerate(splits[:2] if plan.quick and plan.runs is None else splits):
        seed, epochs = plan.seed + run, plan.short(100, 20)
        for way in WAYS:
            for method in METHODS if way in (FULL, PATCHES) else [CHAPTERS]:
                tasks.append(task(way + method, run, one, way, method, train, test, seed, epochs, plan.threads))
    return tasks


def by_repeat(runs: Runs, setting: str) -> NDArray[np.float64]:
    """(repeats,) accuracy, the mean of the ten folds of each; of folds alone where a repeat is not whole."""
    values = runs.values(setting, "accuracy")
    return values.reshape(-1, FOLDS).mean(axis=1) if len(values) and len(values) % FOLDS == 0 else values


CHAPTER = {FULL: 0.95, PATCHES: 0.94}


def figures(runs: Runs) -> list[Figure]:
    """Accuracy of each way and method."""
    found: list[Figure] = []
    for method in METHODS:
        for way in WAYS:
            found += figure(PART, way + method, by_repeat(runs, way + method), CHAPTER.get(way))
    return found


def claims(runs: Runs) -> list[Claim]:
    """Patches lose at most 0.015."""
    found = []
    for method in METHODS:
        full, patches = by_repeat(runs, FULL + method), by_repeat(runs, PATCHES + method)
        if len(full) and len(full) == len(patches):
            loss = full - patches
            what = f"5 patches lose at most 0.015 against all points at once{method}"
            found.append(Claim(PART, what, as_mean(loss, 4), bool(loss.mean() <= 0.015)))
    return found


def sentences(runs: Runs) -> list[str]:
    """What the figures say."""
    said = [
        "Cosine dissimilarity of z-scores, K=40, 100 epochs, 10-fold cross-validation, repeated; a run is the mean of "
        "the ten folds of a repeat. The chapter does not say whether labels guided the maps; unsupervised ones have "
        "majority labels.",
    ]
    best = [(by_repeat(runs, FULL + method), method) for method in METHODS]
    best = [(values, method) for values, method in best if len(values)]
    if best:
        values, method = max(best, key=lambda pair: pair[0].mean())
        gap = 0.95 - float(values.mean())
        said.append(
            f"Of the maps of all points the best is{method.replace(',', '', 1)}: {as_mean(values)}"
            + (f", {gap:.3f} below the chapter's 0.95." if gap > 0.0005 else ", as high as the chapter's 0.95.")
        )
    return said
