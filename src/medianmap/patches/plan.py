"""How many points a patch has, how many dissimilarities a pass evaluates, and what a budget allows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..sources.base import IntArray

# Dissimilarities of n points after K prototypes.
CostOfPatch: TypeAlias = Callable[[int, int], int]


def patch_sizes(N: int, n_patches: int) -> IntArray:
    """(n_patches,) sizes floor(N / n_patches); the first patches have one of the leftover points each."""
    return N // n_patches + (np.arange(n_patches) < N % n_patches)


def cost_of_sequence(sizes: IntArray, K: int, cost: CostOfPatch) -> int:
    """cost of the first patch alone and of all others after K prototypes: the most that patch after patch can take."""
    return cost(int(sizes[0]), 0) + sum(k * cost(n, K) for n, k in Counter(sizes[1:].tolist()).items())


def cost_of_tree(sizes: IntArray, K: int, cost: CostOfPatch) -> int:
    """cost of every patch alone, and of their prototypes merged level by level."""
    total = sum(k * cost(n, 0) for n, k in Counter(sizes.tolist()).items())
    sets, width = len(sizes), merge_width(int(sizes[0]), K)
    while sets > 1:
        full, rest = divmod(sets, width)
        total += full * cost(width * K, 0) + (cost(rest * K, 0) if rest else 0)
        sets = full + (rest > 0)
    return total


def merge_width(patch_size: int, K: int) -> int:
    """How many sets of K prototypes are merged at a time: about patch_size points, at least two sets."""
    return max(2, patch_size // K)


@dataclass(frozen=True)
class PatchPlan:
    """A pass over N points in `n_patches` patches; the first `n_seen` are clustered, all unless a budget forbids it."""

    N: int
    n_patches: int
    n_seen: int

    @property
    def patch_size(self) -> int:
        """The size of the largest patch."""
        return -(-self.N // self.n_patches)

    @property
    def stops_early(self) -> bool:
        return self.n_seen < self.n_patches

    @property
    def sizes(self) -> IntArray:
        """(n_seen,) points of each patch."""
        return patch_sizes(self.N, self.n_patches)[: self.n_seen]


def plan_patches(
    N: int, K: int, n_patches: int, max_evaluations: int | None, cost: Callable[[IntArray], int]
) -> PatchPlan:
    """The least number of patches from n_patches on with which all points fit the budget; cost: of patches (n,).

    Where even patches of 2 K points cost too much: as many of those as fit, at least one.
    """
    plan = PatchPlan(N, n_patches, n_patches)
    if max_evaluations is None or cost(plan.sizes) <= max_evaluations:
        return plan
    most = max(n_patches, N // (2 * K))
    # More patches cost less, up to rounding; where rounding spoils that, the pass stops early.
    n = n_patches + bisect_left(range(n_patches, most), True, key=lambda n: cost(patch_sizes(N, n)) <= max_evaluations)
    plan = PatchPlan(N, n, n)
    if cost(plan.sizes) <= max_evaluations:
        return plan
    seen = bisect_right(range(1, n + 1), max_evaluations, key=lambda k: cost(plan.sizes[:k]))
    while seen > 1 and cost(plan.sizes[:seen]) > max_evaluations:
        seen -= 1
    return replace(plan, n_seen=max(1, seen))
