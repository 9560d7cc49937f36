"""The canonical cost: the one number that decides between candidates, the same for every search and thread count.

cost(j, l) = sum_i A[j, i] D[i, l] in float64. Term i goes to lane i mod 64; the 64 partial sums are then halved
(lane k takes lane k + 32, then k + 16, ...). Fixed order, no fused multiply-add: the same bits on every machine.
Interleaved lanes vectorise, so this order is also about five times as fast as a running sum.
"""

from __future__ import annotations

import numpy as np

from ..utils.kernels import kernel

LANES = 64


@kernel
def canonical_dot(a, d, lanes):  # type: ignore[no-untyped-def]
    """sum_i a[i] d[i] in the canonical order; a (N,) float64, d (N,) any real type, lanes (64,) scratch."""
    n = a.shape[0]
    lanes[:] = 0.0
    full = n - n % LANES
    for start in range(0, full, LANES):
        for k in range(LANES):
            lanes[k] += a[start + k] * np.float64(d[start + k])
    for k in range(n - full):
        lanes[k] += a[full + k] * np.float64(d[full + k])
    half = LANES
    while half > 1:
        half //= 2
        for k in range(half):
            lanes[k] += lanes[half + k]
    return lanes[0]


@kernel
def canonical_costs(a, candidates):  # type: ignore[no-untyped-def]
    """(p,) canonical costs of one prototype's weights a (N,) with candidates (p, N), one per row."""
    lanes = np.empty(LANES)
    out = np.empty(candidates.shape[0])
    for l in range(candidates.shape[0]):
        out[l] = canonical_dot(a, candidates[l], lanes)
    return out
