"""Iris: z-scores, squared Euclidean, K=6; quantization error and accuracy by majority vote."""

from __future__ import annotations

from typing import Any

import numpy as np

from medianmap.core.quality import purity, quantization_error
from medianmap.core.vectors import squared_distances
from medianmap.datasets import load_iris

from .judging import affinity, faster_pam, has_kmedoids, judged
from .maps import batch_gas, median_gas, our_gas
from .plan import Plan, Record, Task, task
from .runs import Runs
from .tables import Claim, Figure, claim, figure, paired

PART = "iris"
K = 6
STARTS = 30

BATCH, SUPERVISED = "batch NG", "supervised batch NG, beta 0.5"
MEDIAN, DEFAULT = "median NG, chapter's annealing, one start", "median NG, our default"
BEST = f"median NG, chapter's annealing, best of {STARTS} starts"
PAM, PROPAGATION = "FasterPAM, one start", "affinity propagation"


def maps(seed: int, threads: int | None) -> dict[str, Any]:
    """The unsupervised maps by setting."""
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": threads}
    median = shared | {"metric": "sqeuclidean"}
    return {
        BATCH: batch_gas(K, 100, **shared),
        MEDIAN: median_gas(K, 100, **median),
        DEFAULT: our_gas(K, **median),
        BEST: median_gas(K, 100, n_init=STARTS, **median),
    }


def fitted(map_: Any) -> Record:
    """Quantization error, and accuracy by the majority of each receptive field, on all points."""
    data = load_iris()
    map_.fit(data.X)
    return {"quantization_error": float(map_.quantization_error_), "accuracy": purity(map_.labels_, data.y)}


def supervised(seed: int, threads: int | None) -> Record:
    """Accuracy of the learned labels on all points."""
    data = load_iris()
    gas = batch_gas(K, 100, random_state=seed, n_jobs=threads)
    record = judged(gas, 0.5, data.X, data.y, data.X, data.y)
    return {"quantization_error": record["quantization_error"], "accuracy": record["learned"]}


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
        tasks.append(task(SUPERVISED, run, supervised, seed, plan.threads))
        if has_kmedoids():
            tasks.append(task(PAM, run, medoids, PAM, seed))
    return [*tasks, task(PROPAGATION, 0, medoids, PROPAGATION, plan.seed)]


# The chapter's are of one run each, as far as one can tell: it shows the prototypes of that run.
REPORTED = {
    BATCH: ("40.96", "0.84"),
    MEDIAN: ("44.85", "0.92"),
    SUPERVISED: (None, "0.95"),
}


def figures(runs: Runs) -> list[Figure]:
    """Quantization error and accuracy of each setting."""
    found: list[Figure] = []
    for setting in (BATCH, MEDIAN, BEST, DEFAULT, SUPERVISED, PAM, PROPAGATION):
        reported = REPORTED.get(setting, (None, None))
        for measure, words, chapter, digits in zip(
            ("quantization_error", "accuracy"), ("quantization error", "accuracy"), reported, (2, 3), strict=True
        ):
            beside = runs.values(DEFAULT, measure) if setting == MEDIAN else None
            values = runs.values(setting, measure)
            found += figure(PART, f"{setting}: {words}", values, chapter, digits, chapter_runs=1, beside=beside)
    return found


def claims(runs: Runs) -> list[Claim]:
    """Data points quantize less well than means; labels raise accuracy."""
    error = [runs.values(setting, "quantization_error") for setting in (MEDIAN, BATCH)]
    accuracy = [runs.values(setting, "accuracy") for setting in (SUPERVISED, BATCH)]
    return [
        *claim(PART, "the error of median NG is above that of batch NG", paired(*error), 2),
        *claim(PART, "labels raise the accuracy of batch NG", paired(*accuracy), 3),
    ]


def sentences(runs: Runs) -> list[str]:
    """What the figures say."""
    said = [
        "z-scores by the sample's standard deviation (N-1), squared Euclidean distance, K=6, 100 epochs; the error "
        "is half the sum of the distances to the nearest prototypes (the chapter's formula divides it by N, its "
        "figures do not); accuracy by majority vote on all 150 points. The chapter shows one map of each kind: its "
        "figures count as one run.",
    ]
    single = runs.values(MEDIAN, "quantization_error")
    if len(single) > 1:
        accuracy = runs.values(MEDIAN, "accuracy")
        said.append(
            f"Single starts of median NG under the chapter's annealing end between {single.min():.2f} and "
            f"{single.max():.2f}, with accuracies from {accuracy.min():.3f} to {accuracy.max():.3f}: its 0.92 is "
            + ("within" if accuracy.min() <= 0.92 <= accuracy.max() else "outside")
            + " that range."
        )
    ours, theirs = (runs.values(setting, "quantization_error") for setting in (DEFAULT, BEST))
    shares = [runs.values(setting, "accuracy") for setting in (DEFAULT, BEST)]
    if len(ours) and len(theirs) and ours.mean() < theirs.mean() and shares[0].mean() < shares[1].mean():
        said.append(
            "Our default finds exemplars of lower error and lower accuracy than the best of the chapter's starts: "
            "without labels the map of least error need not be the one whose cells are purest."
        )
    if len(runs.values(PROPAGATION, "prototypes")):
        n = int(runs.values(PROPAGATION, "prototypes")[0])
        said.append(f"Affinity propagation has no K; the preference was searched until it gave {n} exemplars.")
    return said
