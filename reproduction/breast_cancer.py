"""Wisconsin breast cancer: z-scores, K=40, 200 epochs, random halves, accuracy on the other half."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit

from medianmap.core.vectors import squared_distances
from medianmap.datasets import load_breast_cancer
from medianmap.sources.base import IntArray

from .judging import affinity, faster_pam, has_kmedoids, judged, judged_medoids, neighbours, share
from .maps import batch_gas, batch_means, median_gas, median_means, our_gas, our_means, relational_gas, relational_means
from .plan import Plan, Record, Task, task
from .runs import Runs
from .tables import Claim, Figure, as_signed, claim, figure, paired

PART = "breast-cancer"
K = 40
N_RUNS = 100  # the chapter's

BATCH, BATCH_MEANS = "batch NG", "batch K-means"
MEDIAN, MEDIAN_MEANS = "median NG, chapter's annealing", "median K-means, chapter's"
DEFAULT, DEFAULT_MEANS = "median NG, our default", "median K-means, our default"
RELATIONAL, RELATIONAL_MEANS = "relational NG", "relational K-means"
MAPS = (BATCH, BATCH_MEANS, MEDIAN, MEDIAN_MEANS, DEFAULT, DEFAULT_MEANS, RELATIONAL, RELATIONAL_MEANS)
GUIDED, ALONE = ", supervised (beta 0.1)", ", unsupervised"
PAM, PROPAGATION = "FasterPAM, posterior labels", "affinity propagation, posterior labels"
LINEAR = "linear classifier (logistic regression)"
NEIGHBOURS = {k: f"{k}-NN" for k in (1, 12)}


def maps(seed: int, n_epochs: int = 200, threads: int | None = None) -> dict[str, Any]:
    """The maps by name."""
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": threads}
    median: dict[str, Any] = {"metric": "sqeuclidean", **shared}
    return {
        BATCH: batch_gas(K, n_epochs, **shared),
        BATCH_MEANS: batch_means(K, n_epochs, **shared),
        MEDIAN: median_gas(K, n_epochs, **median),
        MEDIAN_MEANS: median_means(K, n_epochs, **median),
        DEFAULT: our_gas(K, **median),
        DEFAULT_MEANS: our_means(K, **median),
        RELATIONAL: relational_gas(K, **median),
        RELATIONAL_MEANS: relational_means(K, **median),
    }


def halves(n: int, seed: int) -> list[tuple[IntArray, IntArray]]:
    """n random halves, the same for every method."""
    return list(ShuffleSplit(n, test_size=0.5, random_state=seed).split(load_breast_cancer().X))


def one(map_: Any, beta: float, train: IntArray, test: IntArray) -> Record:
    """A map trained on one half and judged on the other."""
    data = load_breast_cancer()
    return judged(map_, beta, data.X[train], data.y[train], data.X[test], data.y[test])


@cache
def _distances() -> NDArray[np.float64]:
    X = load_breast_cancer().X
    return squared_distances(X, X)


def other(method: str, train: IntArray, test: IntArray, seed: int) -> Record:
    """Methods without a map, on the same halves."""
    data = load_breast_cancer()
    y = data.y
    if method == LINEAR:
        return {
            "posterior": LogisticRegression(max_iter=1000).fit(data.X[train], y[train]).score(data.X[test], y[test])
        }
    D = _distances()
    within, across = D[np.ix_(train, train)], D[np.ix_(test, train)]
    for k, name in NEIGHBOURS.items():
        if method == name:
            return {"posterior": share(neighbours(across, y[train], k), y[test])}
    chosen = faster_pam(within, K, seed) if method == PAM else affinity(within, K, seed)
    return judged_medoids(chosen, within, y[train], across, y[test])


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every map and method on every half."""
    n, tasks = plan.runs_of(N_RUNS, 1), []
    for run, (train, test) in enumerate(halves(n, plan.seed)):
        seed = plan.seed + run
        for name, map_ in maps(seed, plan.short(200, 30), plan.threads).items():
            for words, beta in ((GUIDED, 0.1), (ALONE, 1.0)):
                tasks.append(task(name + words, run, one, map_, beta, train, test))
        methods = [LINEAR, *NEIGHBOURS.values(), *([PAM] if has_kmedoids() else [])]
        for method in [*methods, *([PROPAGATION] if run < 10 else [])]:
            tasks.append(task(method, run, other, method, train, test, seed))
    return tasks


REPORTED = {
    BATCH + GUIDED: "0.957",
    BATCH + ALONE: "0.935",
    BATCH_MEANS + GUIDED: "0.941",
    BATCH_MEANS + ALONE: "0.938",
}
LOSS = "median NG, chapter's annealing, less batch NG, both supervised, on the same halves"


def accuracy(runs: Runs, setting: str) -> NDArray[np.float64]:
    """Learned labels where labels guided the map, posterior ones elsewhere."""
    return runs.values(setting, "learned" if setting.endswith(GUIDED) else "posterior")


def gain(runs: Runs, ours: str, other: str) -> NDArray[np.float64]:
    """(n_runs,) accuracy of one setting above another's, on the same halves."""
    return paired(accuracy(runs, ours), accuracy(runs, other))


def figures(runs: Runs) -> list[Figure]:
    """Test accuracy of each setting."""
    found: list[Figure] = []
    for name in MAPS:
        for words in (GUIDED, ALONE):
            setting = name + words
            found += figure(PART, setting, accuracy(runs, setting), REPORTED.get(setting), chapter_runs=N_RUNS)
    beside = gain(runs, DEFAULT + GUIDED, BATCH + GUIDED)
    found += figure(
        PART, LOSS, gain(runs, MEDIAN + GUIDED, BATCH + GUIDED), "-0.013", chapter_runs=N_RUNS, beside=beside
    )
    # Of another paper, which chooses features and has ten folds: how many runs is not said.
    found += figure(PART, LINEAR, accuracy(runs, LINEAR), "0.97")
    for setting in (PAM, PROPAGATION, *NEIGHBOURS.values()):
        found += figure(PART, setting, accuracy(runs, setting))
    return found


def claims(runs: Runs) -> list[Claim]:
    """What labels, neighbours and means are worth."""
    return [
        *claim(PART, "labels raise the accuracy of neural gas", gain(runs, BATCH + GUIDED, BATCH + ALONE)),
        *claim(PART, "labels raise the accuracy of K-means", gain(runs, BATCH_MEANS + GUIDED, BATCH_MEANS + ALONE)),
        *claim(PART, "supervised, neural gas is above K-means", gain(runs, BATCH + GUIDED, BATCH_MEANS + GUIDED)),
        *claim(PART, "supervised, means are above data points", gain(runs, BATCH + GUIDED, MEDIAN + GUIDED)),
        *claim(PART, "a linear classifier is above supervised neural gas", gain(runs, LINEAR, BATCH + GUIDED)),
    ]


def sentences(runs: Runs) -> list[str]:
    """What the figures say."""
    said = [
        "z-scores, K=40, 200 epochs (our defaults: 30), random halves; accuracy on the half that was not trained on, "
        "with learned labels where labels guided the map and majority labels elsewhere. The chapter does not give its "
        "splits. The linear classifier of its 0.97 chooses features and is judged by ten folds; ours is scikit-learn's "
        "logistic regression of all features on the same halves as the maps.",
    ]
    gains = [(name, gain(runs, name + GUIDED, name + ALONE)) for name in MAPS]
    words = [f"{name} {as_signed(values, 4)}" for name, values in gains if len(values)]
    if words:
        said.append(f"What labels are worth on the same halves: {', '.join(words)}.")
    same = [gain(runs, ours + GUIDED, theirs + GUIDED) for ours, theirs in
            ((RELATIONAL, BATCH), (RELATIONAL_MEANS, BATCH_MEANS))]  # fmt: skip
    if all(map(len, same)):
        said.append(
            "D holds squared Euclidean distances, so that relational maps are the batch maps but for the number of "
            f"epochs: supervised, NG is {as_signed(same[0], 4)} and K-means {as_signed(same[1], 4)} against them."
        )
    return said
