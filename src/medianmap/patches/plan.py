"""How many points a patch has, how many dissimilarities that takes, and what a budget allows."""

from __future__ import annotations

from dataclasses import dataclass

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
    """A pass over N points (None: a stream of unknown length) in patches of at most patch_size.

    n_patches of n_patches_in_all are seen; fewer than all where the budget does not suffice.
    """

    N: int | None
    K: int
    patch_size: int
    symmetric: bool
    n_patches_in_all: int | None
    n_patches: int | None

    @property
    def stops_early(self) -> bool:
        return self.n_patches != self.n_patches_in_all

    @property
    def evaluations(self) -> int:
        """sum over the patches of patch_cost; there are no prototypes before the first."""
        if self.N is None or self.n_patches_in_all is None:
            raise ValueError("The length of a stream is not known, so its cost is not either.")
        sizes = [int(n) for n in patch_sizes(self.N, self.n_patches_in_all)[: self.n_patches]]
        return sum(patch_cost(n, self.K if k else 0, self.symmetric) for k, n in enumerate(sizes))


def whole(N: int, K: int, patch_size: int, symmetric: bool) -> Plan:
    """All N points, in the least number of patches of at most patch_size."""
    n_patches = max(1, -(-N // patch_size))
    return Plan(N, K, patch_size, symmetric, n_patches, n_patches)


def planned(N: int, K: int, patch_size: int, symmetric: bool, max_evaluations: int | None) -> Plan:
    """The largest patches up to patch_size with which all points fit the budget; where even patches of 2 K points
    would cost too much, as many of those as fit, at least one."""
    if max_evaluations is None:
        return whole(N, K, patch_size, symmetric)
    low, high = min(patch_size, 2 * K), patch_size
    while low < high:  # the cost grows with the patch size, up to rounding
        middle = (low + high + 1) // 2
        if whole(N, K, middle, symmetric).evaluations <= max_evaluations:
            low = middle
        else:
            high = middle - 1
    plan = whole(N, K, low, symmetric)
    if plan.evaluations <= max_evaluations:
        return plan
    first = patch_cost(low, 0, symmetric)
    n = 1 + max(0, max_evaluations - first) // patch_cost(low, K, symmetric)
    return Plan(N, K, low, symmetric, plan.n_patches_in_all, min(n, plan.n_patches_in_all or n))
