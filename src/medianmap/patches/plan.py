"""How many points a patch has, how many dissimilarities that takes, and what a budget allows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..sources.base import IntArray


def patch_sizes(N: int, n_patches: int) -> IntArray:
    """(n_patches,) sizes floor(N / n_patches), leftover points one each to the first patches."""
    sizes = np.full(n_patches, N // n_patches, np.intp)
    sizes[: N % n_patches] += 1
    return sizes


def patch_cost(n: int, K: int, symmetric: bool) -> int:
    """Dissimilarities of n new points after K prototypes: n^2 + 2 K n, or half of it where each pair is asked once."""
    return n * n // 2 + K * n if symmetric else n * n + 2 * K * n


@dataclass(frozen=True)
class Plan:
    """A pass over N points in `n_patches` patches; the first `n_seen` are seen, all unless a budget forbids it."""

    N: int
    K: int
    symmetric: bool
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

    @property
    def evaluations(self) -> int:
        """sum over the patches of patch_cost; there are no prototypes before the first."""
        return sum(patch_cost(int(n), self.K if k else 0, self.symmetric) for k, n in enumerate(self.sizes))


@dataclass(frozen=True)
class StreamPlan:
    """A pass over points that come as they come, patch_size at a time, until they end or the budget does."""

    K: int
    symmetric: bool
    patch_size: int


def whole(N: int, K: int, symmetric: bool, n_patches: int) -> Plan:
    """All N points."""
    return Plan(N, K, symmetric, n_patches, n_patches)


def planned(N: int, K: int, symmetric: bool, n_patches: int, max_evaluations: int | None) -> Plan:
    """The least number of patches from n_patches on with which all points fit the budget; where even patches of 2 K
    points would cost too much, as many of those as fit, at least one."""
    plan = whole(N, K, symmetric, n_patches)
    if max_evaluations is None or plan.evaluations <= max_evaluations:
        return plan
    low, high = n_patches, max(n_patches, N // (2 * K))
    while low < high:  # more patches cost less, up to rounding
        middle = (low + high) // 2
        if whole(N, K, symmetric, middle).evaluations <= max_evaluations:
            high = middle
        else:
            low = middle + 1
    plan = whole(N, K, symmetric, low)
    if plan.evaluations <= max_evaluations:
        return plan
    costs = [patch_cost(int(n), K if k else 0, symmetric) for k, n in enumerate(plan.sizes)]
    return replace(plan, n_seen=max(1, int(np.searchsorted(np.cumsum(costs), max_evaluations, side="right"))))
