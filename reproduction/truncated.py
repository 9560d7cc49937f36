"""Neural gas with a truncated neighbourhood, h = 0 beyond a rank: the approximation that the chapter names and rejects.

A[j, i] = h(rank_ij) if rank_ij <= r, else 0;   w_j = argmin_l sum_i A[j, i] D[i, l]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from medianmap.core.neighborhood import h
from medianmap.core.quality import purity
from medianmap.datasets import load_breast_cancer

from .maps import median_gas
from .plan import Plan, Record, Task, task
from .runs import Runs
from .tables import FAILS, HOLDS, Claim, Figure, as_mean, figure, markdown, sign

PART = "truncated"
K = 40
RANKS = (20, 10, 5, 2, 0)  # the largest rank that counts; 0 leaves K-means
EXACT = "all ranks"


def name_of(most: int | None) -> str:
    """A setting's name."""
    return EXACT if most is None else f"ranks 0 to {most}" if most else "rank 0 alone"


def counting(sigmas: NDArray[np.float64], most: int | None) -> float:
    """Share of the K ranks whose h is not 0, a mean over epochs."""
    return float(np.mean([h(np.arange(K), sigma, most=most) > 0 for sigma in sigmas]))


def one(plan: Plan, most: int | None, seed: int) -> Record:
    """One start on a random half of the points."""
    data, rng = load_breast_cancer(), np.random.default_rng(seed)
    points = np.sort(rng.permutation(len(data.y))[: len(data.y) // 2])
    start, n_epochs = rng.permutation(len(points))[:K], plan.short(100, 4)
    gas = median_gas(K, n_epochs, metric="sqeuclidean", init=start, truncate=most).fit(data.X[points])
    return {
        "quantization_error": gas.quantization_error_,
        "accuracy": purity(gas.labels_, data.y[points]),
        "weights": counting(gas.history_["sigma"][:n_epochs], most),
    }


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every truncation from the same starts."""
    return [
        task(name_of(most), run, one, plan, most, plan.seed + run)
        for run in range(plan.runs_of(10, 1))
        for most in ((None, *RANKS) if not plan.quick else (None, 2))
    ]


def error_ratio(runs: Runs, setting: str) -> NDArray[np.float64]:
    """(n_runs,) quantization error over that with all ranks, from the same start."""
    ours, exact = (runs.values(each, "quantization_error") for each in (setting, EXACT))
    return ours / exact if len(ours) == len(exact) else np.zeros(0)


def figures(runs: Runs) -> list[Figure]:
    """The error against the exact one, and the share of weights that are left."""
    found: list[Figure] = []
    for setting in runs.records:
        if setting != EXACT:
            found += figure(PART, f"{setting}: quantization error over that with all ranks", error_ratio(runs, setting))
    return found


def claims(runs: Runs) -> list[Claim]:
    """Truncation changes the result, as the chapter says of it: how many starts end elsewhere with the mildest."""
    ratio = error_ratio(runs, name_of(RANKS[0]))
    if not len(ratio):
        return []
    changed = int((ratio != 1).sum())
    what = f"h = 0 beyond rank {RANKS[0]} of {K} changes the result"
    return [Claim(PART, what, f"{changed} of {len(ratio)} starts", HOLDS if changed else FAILS)]


def sentences(runs: Runs) -> list[str]:
    """What was run."""
    said = [
        "The chapter names an approximation and leaves it: small weights are dropped, which changes the results and "
        "saves little in the first epochs. Here h is 0 beyond a rank. A random half of breast cancer (squared "
        "Euclidean), K=40, 100 epochs from sigma 20, data points all the way; accuracy by majority on the same points. "
        "'Weights' are the share of ranks whose h is not 0, a mean over the epochs of the annealing: without "
        "truncation few are left late, since h falls below the smallest number that is kept.",
    ]
    mildest = error_ratio(runs, name_of(RANKS[0]))
    if len(mildest) > 1 and sign(1 - mildest) == HOLDS:
        said.append(
            "Here truncation even lowers the error: data points annealed over all ranks freeze while sigma is large "
            "([decision 12](decisions/0012-annealing.md)), and with fewer ranks they do so less."
        )
    return said


def table(runs: Runs) -> list[str]:
    """What each truncation leaves of the weights, and of quality."""
    rows = [
        (setting, *(as_mean(runs.values(setting, measure)) for measure in ("weights", "accuracy")),
         as_mean(error_ratio(runs, setting)))
        for setting in runs.records
    ]  # fmt: skip
    return markdown(("h counts for", "weights", "accuracy", "quantization error over exact"), rows)
