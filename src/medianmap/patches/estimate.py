"""What a pass will take, before it starts: counted where it can be counted, timed where it must be timed."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .checkpoint import Progress
from .ground import VectorGround
from .plan import Plan, planned
from .running import Data, advanced
from .step import Recipe

REHEARSED = 4  # patches that are clustered to take the time


@dataclass(frozen=True)
class Estimate:
    """Patches, dissimilarities, seconds on this machine, and bytes of memory beyond the data, of one pass."""

    n_patches: int
    n_evaluations: int
    seconds: float
    bytes: int

    def __str__(self) -> str:
        return (
            f"{self.n_patches} patches, {self.n_evaluations:.3g} dissimilarities, about {self.seconds:.3g} s "
            f"on this machine, {self.bytes / 2**20:.0f} MiB beyond the data"
        )


def estimated(recipe: Recipe, data: Data, plan: Plan, n_points: int, max_evaluations: int | None) -> Estimate:
    """Cluster the first patches of the data and go on from their times: the first is annealed from scratch, all others
    take what the middle one of the next few takes. All is done twice, so that no time is spent on compiling."""
    times: list[float] = []
    for _ in range(2):
        progress, times = Progress(0), []
        for _, patch in zip(range(REHEARSED), data.patches(plan), strict=False):
            began = time.perf_counter()
            progress = advanced(recipe, data.found.ground, progress, patch)
            times.append(time.perf_counter() - began)
    whole = planned(n_points, plan.K, plan.symmetric, -(-n_points // plan.patch_size), max_evaluations)
    # The extended patch, and what a search keeps beside it.
    memory = 3 * 8 * (plan.patch_size + plan.K) ** 2
    evaluations = 0 if isinstance(data.found.ground, VectorGround) else whole.evaluations
    seconds = times[0] + (whole.n_seen - 1) * float(np.median(times[1:] or times))
    return Estimate(whole.n_seen, evaluations, seconds, memory)
