"""Sensitivity to the start: how far the quantization errors of K-means, neural gas and SOM spread over random starts.

The chapter has no figure of this, but says it three times: K-means depends on its start, neural gas hardly does, and
the SOM so much that it is usual to start it several times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from medianmap.core.vectors import squared_distances
from medianmap.datasets import load_breast_cancer

from .maps import batch_gas, batch_means, batch_som, median_gas, median_means, median_som
from .plan import Plan, Record, Task, task
from .runs import Runs
from .tables import Claim, Figure, markdown, verdict

PART = "starts"
MEANS, GAS, SOM = "K-means", "NG", "SOM"
KINDS = (MEANS, GAS, SOM)
SHAPE = (6, 6)
VECTORS = "breast cancer, batch"
SETS = (VECTORS, "breast cancer, median", "globins, median")


def one(plan: Plan, data: str, kind: str, seed: int) -> Record:
    """The quantization error of one start."""
    shared: dict[str, Any] = {"random_state": seed, "n_jobs": plan.threads}
    K, n_epochs = SHAPE[0] * SHAPE[1], plan.short(100, 10)
    X = load_breast_cancer().X
    given: NDArray[Any]
    if data == VECTORS:
        given, makers = X, (batch_means, batch_gas, batch_som)
    else:
        given = plan.globins.D if data.startswith("globins") else squared_distances(X, X)
        makers, shared = (median_means, median_gas, median_som), {"metric": "precomputed", **shared}
    means, gas, som = makers
    map_: Any = {
        MEANS: lambda: means(K, 300, **shared),
        GAS: lambda: gas(K, n_epochs, **shared),
        SOM: lambda: som(SHAPE, n_epochs, **shared),
    }[kind]()
    return {"quantization_error": float(map_.fit(given).quantization_error_)}


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every kind of map from every start, on two sets."""
    return [
        task(f"{data}: {kind}", run, one, plan, data, kind, plan.seed + run)
        for data in SETS[: plan.short(3, 1)]
        for run in range(plan.runs_of(30, 3))
        for kind in KINDS
    ]


def spread(runs: Runs, setting: str) -> tuple[float, float]:
    """Standard deviation over mean, and its standard error by bootstrap: a single bad start may make most of it."""
    errors = runs.values(setting, "quantization_error")
    if len(errors) < 3:
        return np.nan, np.nan
    drawn = errors[np.random.default_rng(0).integers(len(errors), size=(2000, len(errors)))]
    spreads = drawn.std(axis=1, ddof=1) / drawn.mean(axis=1)
    return float(errors.std(ddof=1) / errors.mean()), float(spreads.std())


def figures(runs: Runs) -> list[Figure]:
    """The spread of every kind of map, in percent of its mean."""
    found = []
    for setting in runs.records:
        value, error = spread(runs, setting)
        if np.isfinite(value):
            n = len(runs.values(setting, "quantization_error"))
            found.append(Figure(PART, f"{setting}: spread, % of the mean", 100 * value, 100 * error, n, digits=2))
    return found


def claims(runs: Runs) -> list[Claim]:
    """K-means and SOM spread more than neural gas."""
    found = []
    for data in SETS:
        gas, error = spread(runs, f"{data}: {GAS}")
        for kind in (MEANS, SOM):
            other, more = spread(runs, f"{data}: {kind}")
            if np.isfinite(gas) and np.isfinite(other):
                n = len(runs.values(f"{data}: {GAS}", "quantization_error"))
                what = f"{data}: {kind} spreads more over starts than NG"
                measured = f"{100 * other:.2f}% against {100 * gas:.2f}%"
                found.append(Claim(PART, what, measured, verdict(other - gas, float(np.hypot(error, more)), n)))
    return found


def sentences(runs: Runs) -> list[str]:
    """What was run, and that a small spread is no good end."""
    said = [
        f"K={SHAPE[0] * SHAPE[1]}, the SOM on a hexagonal lattice of {SHAPE[0]} x {SHAPE[1]}, the chapter's maps with "
        "100 epochs from random data points, nothing else drawn. The spread is the standard deviation of the "
        "quantization error over starts, as a share of its mean, with a standard error by bootstrap. Breast cancer "
        "under the squared Euclidean distance, with means and with data points as prototypes, and the library's "
        "globins under the alignment dissimilarity.",
    ]
    worse = []
    for data in SETS:
        gas, means = (runs.values(f"{data}: {kind}", "quantization_error") for kind in (GAS, MEANS))
        if len(gas) and len(means) and gas.min() > means.max():
            worse.append(data)
    if worse:
        said.append(
            f"A small spread is no good end: {' and '.join(worse)}, the best start of neural gas is above the worst of "
            "K-means. Data points annealed from K/2 freeze before sigma is small "
            "([decision 12](decisions/0012-annealing.md))."
        )
    return said


def table(runs: Runs) -> list[str]:
    """Spread, and least, mean and largest error over the least of all kinds on the same data."""
    rows = []
    for data in SETS:
        found = {kind: runs.values(f"{data}: {kind}", "quantization_error") for kind in KINDS}
        found = {kind: errors for kind, errors in found.items() if len(errors)}
        if found:
            least = min(errors.min() for errors in found.values())
            for kind, errors in found.items():
                value, error = spread(runs, f"{data}: {kind}")
                cells = (f"{each / least:.3f}" for each in (errors.min(), errors.mean(), errors.max()))
                rows.append((data, kind, str(len(errors)), f"{100 * value:.2f} ± {100 * error:.2f}", *cells))
    return markdown(("", "map", "starts", "spread, %", "best start / least", "mean / least", "worst / least"), rows)
