"""Iris: z-scores, squared Euclidean, K=6; quantization error and accuracy by majority vote."""

from __future__ import annotations

from typing import Any

import numpy as np

from medianmap.core.quality import purity, quantization_error
from medianmap.core.vectors import squared_distances
from medianmap.datasets import load_iris
from medianmap.estimators.batch import BatchNeuralGas
from medianmap.estimators.classifier import PrototypeClassifier
from medianmap.estimators.median import MedianNeuralGas
from medianmap.explore.refits import standard_error

from .judging import affinity, faster_pam, has_kmedoids
from .plan import Plan, Record, Task, task
from .runs import Runs
from .tables import Claim, Figure, agrees, as_mean, figure

PART = "iris"
K = 6
STARTS = 30

BATCH, SUPERVISED = "batch NG", "supervised batch NG, beta 0.5"
CHAPTER_MEDIAN, DEFAULT = "median NG, chapter's annealing, one start", "median NG, our default, one start"
CHAPTER_BEST, DEFAULT_BEST = (f"median NG, {how}, best of {STARTS} starts"
                              for how in ("chapter's annealing", "our default"))  # fmt: skip
PAM, PROPAGATION = "FasterPAM, one start", "affinity propagation"


def maps(seed: int, threads: int | None) -> dict[str, Any]:
    """The unsupervised maps by setting."""
    shared: dict[str, Any] = {"n_epochs": 100, "random_state": seed, "n_jobs": threads}
    median = shared | {"metric": "sqeuclidean"}
    return {
        BATCH: BatchNeuralGas(K, **shared),
        CHAPTER_MEDIAN: MedianNeuralGas(K, annealing="median", **median),
        DEFAULT: MedianNeuralGas(K, **median),
        CHAPTER_BEST: MedianNeuralGas(K, annealing="median", n_init=STARTS, **median),
        DEFAULT_BEST: MedianNeuralGas(K, n_init=STARTS, **median),
    }


def fitted(map_: Any) -> Record:
    """Quantization error, and accuracy by the majority of each receptive field, on all points."""
    data = load_iris()
    map_.fit(data.X)
    return {"quantization_error": float(map_.quantization_error_), "accuracy": purity(map_.labels_, data.y)}


def supervised(seed: int) -> Record:
    """Accuracy of the learned labels on all points."""
    data = load_iris()
    classifier = PrototypeClassifier(BatchNeuralGas(K, random_state=seed), 0.5).fit(data.X, data.y)
    return {
        "quantization_error": float(classifier.estimator_.quantization_error_),
        "accuracy": classifier.score(data.X, data.y),
    }


def medoids(method: str, seed: int) -> Record:
    """The same figures for the exemplars of another method."""
    data = load_iris()
    D = squared_distances(data.X, data.X)
    chosen = faster_pam(D, K, seed) if method == PAM else affinity(D, K, seed)
    G = D[:, chosen]
    return {
        "quantization_error": float(quantization_error(G, np.ones(len(D)))),
        "accuracy": purity(G.argmin(axis=1), data.y),
        "prototypes": len(chosen),
    }


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """All runs, of one start each or of the best of many."""
    n, tasks = plan.runs_of(30, 2), []
    for run in range(n):
        seed = plan.seed + run
        for setting, map_ in maps(seed, plan.threads).items():
            if map_.n_init == 1 or run < -(-n // 10):
                tasks.append(task(setting, run, fitted, map_))
        tasks.append(task(SUPERVISED, run, supervised, seed))
        if has_kmedoids():
            tasks.append(task(PAM, run, medoids, PAM, seed))
    return [*tasks, task(PROPAGATION, 0, medoids, PROPAGATION, plan.seed)]


REPORTED = {
    BATCH: (40.96, 0.84),
    CHAPTER_MEDIAN: (44.85, 0.92),
    CHAPTER_BEST: (44.85, 0.92),
    DEFAULT: (44.85, 0.92),
    DEFAULT_BEST: (44.85, 0.92),
    SUPERVISED: (None, 0.95),
}


def figures(runs: Runs) -> list[Figure]:
    """Quantization error and accuracy of each setting."""
    found: list[Figure] = []
    for setting in (*REPORTED, PAM, PROPAGATION):
        error, accuracy = REPORTED.get(setting, (None, None))
        found += figure(
            PART, f"{setting}: quantization error", runs.values(setting, "quantization_error"), error, digits=2
        )
        found += figure(PART, f"{setting}: accuracy", runs.values(setting, "accuracy"), accuracy)
    return found


def claims(runs: Runs) -> list[Claim]:
    """Batch NG's error from 40.5 to 41.3, median NG's at most 44.9."""
    found = []
    batch = runs.values(BATCH, "quantization_error")
    if len(batch):
        holds = bool(40.5 <= batch.mean() <= 41.3)
        found.append(Claim(PART, "quantization error of batch NG is from 40.5 to 41.3", as_mean(batch, 2), holds))
    for setting in (CHAPTER_BEST, DEFAULT_BEST, DEFAULT):
        best = runs.values(setting, "quantization_error")
        if len(best):
            holds = bool(best.mean() <= 44.9)
            found.append(Claim(PART, f"quantization error of {setting} is 44.9 or less", as_mean(best, 2), holds))
    return found


def sentences(runs: Runs) -> list[str]:
    """What the figures say."""
    said = [
        "z-scores by the sample's standard deviation (N-1), squared Euclidean distance, K=6, 100 epochs; the error "
        "is half the sum of the distances to the nearest prototypes; accuracy by majority vote on all 150 points. The "
        "chapter does not say how many starts its figures are of.",
    ]
    for setting in (BATCH, CHAPTER_BEST):
        errors, (chapter, _) = runs.values(setting, "quantization_error"), REPORTED[setting]
        if len(errors) and chapter is not None:
            verdict = agrees(float(errors.mean()), chapter, float(standard_error(errors)), 0.3)
            said.append(f"The quantization error of {setting} {verdict}.")
    single = runs.values(CHAPTER_MEDIAN, "quantization_error")
    if len(single) > 1:
        accuracy = runs.values(CHAPTER_MEDIAN, "accuracy")
        said.append(
            f"Single starts of median NG under the chapter's annealing end between {single.min():.2f} and "
            f"{single.max():.2f}, with accuracies from {accuracy.min():.3f} to {accuracy.max():.3f}: its 0.92 is "
            + ("within" if accuracy.min() <= 0.92 <= accuracy.max() else "outside")
            + " that range."
        )
    ours, theirs = (runs.values(setting, "quantization_error") for setting in (DEFAULT, CHAPTER_BEST))
    shares = [runs.values(setting, "accuracy") for setting in (DEFAULT, CHAPTER_BEST)]
    if len(ours) and len(theirs) and ours.mean() < theirs.mean() and shares[0].mean() < shares[1].mean():
        said.append(
            "Our default finds exemplars of lower error and lower accuracy than the best of the chapter's starts: "
            "without labels the map of least error need not be the one whose cells are purest."
        )
    if len(runs.values(PROPAGATION, "prototypes")):
        n = int(runs.values(PROPAGATION, "prototypes")[0])
        said.append(f"Affinity propagation has no K; the preference was searched until it gave {n} exemplars.")
    return said
