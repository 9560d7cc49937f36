"""`blocksum` (K-means, SOM): cost(j, l) = sum_k H[j, k] S[k, l] over block sums, for every candidate."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..sources.base import IntArray, Source
from .blocks import block_sums, weighted_sum
from .frame import Screened, Search
from .weights import FieldWeights


@njit(cache=True, nogil=True)
def _all_sums(H, S, order, C):  # type: ignore[no-untyped-def]
    for p in range(S.shape[0]):
        for j in range(H.shape[0]):
            C[j, order[p]] = weighted_sum(H[j], S[p])


def blocksum(source: Source, n_jobs: int | None = None) -> Search:
    """Exhaustive, with terms grouped by field.

    Exact: the grouped sum has the same non-negative terms as the canonical one in another order, which is what the
    frame's slack covers. Terms: N^2 for the block sums, then one a field for each of K N costs.
    """

    def epoch(weights: FieldWeights, w: IntArray) -> Screened:
        blocks = block_sums(source, weights)
        N, F = blocks.S.shape
        C = np.empty((len(blocks.H), N))
        _all_sums(blocks.H, blocks.S, blocks.order, C)
        return Screened(weights.row, source, C, terms=N * N + len(blocks.H) * N * F)

    return epoch
