"""How many points a patch has, how many dissimilarities a pass evaluates, and what a budget allows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
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


@dataclass(frozen=True)
class TreeSizes:
    """How many points stand for a patch in a tree, for several summaries that are joined, and how many are joined."""

    patch: int
    joined: int
    most: int


def tree_sizes(p: int, K: int, medoids: bool) -> TreeSizes:
    """Of patches of p points for K prototypes: 2 K medoids, 6 K of 12 K; fewer where a patch has less than 6 K points.

    medoids : whether summaries are points; means are the K of a map, about as many at a time as a patch has points.
    """
    if not medoids:
        return TreeSizes(K, K, max(2, p // K) * K)
    most = max(2 * K, min(12 * K, 2 * p))
    return TreeSizes(min(2 * K, max(K, 2 * p // 5)), most // 2, most)


def cost_of_tree(sizes: IntArray, shape: TreeSizes, cost: CostOfPatch) -> int:
    """cost of every patch alone, and of the pairs between the summaries that are joined: the most a tree can take."""
    total = sum(k * cost(n, 0) for n, k in Counter(sizes.tolist()).items())
    sets, size = len(sizes), shape.patch
    held: list[int] = []  # what no join has taken yet, the newest first
    while sets > 0 and len(sizes) > 1:
        width = shape.most // size
        joins = (sets - 1) // width
        total += joins * _cost_of_join([size] * width, cost)
        held += [size] * (sets - joins * width)
        sets, size = joins, shape.joined
    while sum(held) > shape.most:
        first = first_group(held, shape.most)
        total += _cost_of_join(held[:first], cost)
        held = [shape.joined, *held[first:]]
    return total + _cost_of_join(held, cost)


def first_group(sizes: Sequence[int], most: int) -> int:
    """How many of the first sets have at most `most` points together; two in any case."""
    return max(2, int(np.searchsorted(np.cumsum(sizes), most, side="right")))


def _cost_of_join(sizes: list[int], cost: CostOfPatch) -> int:
    """cost of the pairs between sets, whose own are known."""
    before = np.cumsum([0, *sizes])
    return sum(cost(n, int(k)) - cost(n, 0) for n, k in zip(sizes, before[:-1], strict=True))


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
