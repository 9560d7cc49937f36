"""What a pass will take, before it starts: counted where it can be counted, timed where it must be timed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from .checkpoint import Progress
from .one_pass import advanced
from .patch import Recipe
from .plan import Plan
from .stream import Data

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


def estimated(recipe: Recipe, data: Data, n_evaluations: int) -> Estimate:
    """Cluster a few patches of the planned size and go on from their times: the first is annealed from scratch, all
    others take what the middle one of the next few takes. All is done twice, so that no time is spent on compiling.

    data : points for at least one patch of their plan, which may be for more of them.
    """
    size = data.patch_size
    n = min(REHEARSED, len(data.order) // size)
    times: list[float] = []
    for _ in range(2):
        progress, times = Progress(0), []
        for patch in replace(data, plan=Plan(n * size, n, n)).patches():
            began = time.perf_counter()
            progress = advanced(recipe, data.found.ground, progress, patch)
            times.append(time.perf_counter() - began)
    # The extended patch, and what a search keeps beside it.
    memory = 3 * 8 * (size + recipe.n_carried) ** 2
    seconds = times[0] + (data.plan.n_seen - 1) * float(np.median(times[1:] or times))
    return Estimate(data.plan.n_seen, n_evaluations, seconds, memory)
