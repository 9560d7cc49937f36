"""The rule of frame.py compiled, where candidates are rows X[l] of a matrix and bounds are known for all pairs.

L[j, l] factor - absolute[j] <= cost(j, l), L not negative. In all functions levels and values are those of the weights.
"""

from __future__ import annotations

import numpy as np

from ..utils.kernels import kernel
from .canonical import LANES, canonical_dot

# Bounds are looked at in blocks of this size: most blocks hold nothing of interest, and their least is found fast.
BLOCK = 64


@kernel
def _weights_of(j, levels, values, m, a):  # type: ignore[no-untyped-def]
    """a[i] = values[j, level of i] m[i]; levels (1, N) are shared by all prototypes, (K, N) each has its own."""
    level = levels[j] if levels.shape[0] > 1 else levels[0]
    row = values[j]
    for i in range(a.shape[0]):
        a[i] = row[level[i]] * m[i]


@kernel
def _least_bits(bits):  # type: ignore[no-untyped-def]
    """The least of non-negative floats by their bits: they order alike, and integer minima vectorise."""
    least = np.int32(0x7FFFFFFF)
    for k in range(bits.shape[0]):
        least = min(least, bits[k])
    return least


@kernel
def _limit(cost, absolute, factor):  # type: ignore[no-untyped-def]
    """The float32 bound above which no candidate costs less than `cost`; rounded up."""
    return np.float32((cost + absolute) / factor * (1 + 1e-6)) + np.float32(1e-38)


@kernel
def _best(bound, least, factor, absolute, a, X, lanes):  # type: ignore[no-untyped-def]
    """(l, its cost, evaluated): the candidate of least canonical cost, the lowest on ties; some must be finite.

    bound (N,) is the prototype's row of L, infinite where a candidate is held by another. The candidate of least bound
    is evaluated first; then, in order, all whose bound does not exceed the least cost so far. `least` (blocks,) is
    scratch.
    """
    N = bound.shape[0]
    bits = bound.view(np.int32)
    for b in range(least.shape[0]):
        least[b] = _least_bits(bits[b * BLOCK : min((b + 1) * BLOCK, N)])
    low = _least_bits(least)
    b = 0
    while least[b] != low:
        b += 1
    first = b * BLOCK
    while bits[first] != low:
        first += 1
    best, cost = first, canonical_dot(a, X[first], lanes)
    evaluated = 1
    limit = _limit(cost, absolute, factor)
    for b in range(least.shape[0]):
        if np.int32(least[b]) > np.float32(limit).view(np.int32):
            continue
        for l in range(b * BLOCK, min((b + 1) * BLOCK, N)):
            if bound[l] <= limit and l != first and bound[l] < np.inf:
                c = canonical_dot(a, X[l], lanes)
                evaluated += 1
                if c < cost or (c == cost and l < best):
                    best, cost = l, c
                    limit = _limit(cost, absolute, factor)
    return best, cost, evaluated


@kernel
def count_survivors(some, L, factor, absolute, levels, values, m, X):  # type: ignore[no-untyped-def]
    """How many candidates of the prototypes `some` the cost of the most promising one does not exclude."""
    a, lanes = np.empty(L.shape[1]), np.empty(LANES)
    total = 0
    for j in some:
        _weights_of(j, levels, values, m, a)
        first = np.argmin(L[j])
        limit = _limit(canonical_dot(a, X[first], lanes), absolute[j], factor)
        for l in range(L.shape[1]):
            total += L[j, l] <= limit
    return total


@kernel
def best_free(some, w, distinct, upper, L, factor, absolute, levels, values, m, X, best, cost):  # type: ignore[no-untyped-def]
    """best[j] and its cost for the prototypes `some`: of the candidates that no other holds at w, or of all if not
    distinct. Returns how many were evaluated.

    upper[j] : at least the cost of w[j], or infinity. Where every other candidate's bound is above it, w[j] is the
    best without any evaluation, and cost[j] is upper[j].
    """
    N = L.shape[1]
    a, bound, lanes = np.empty(N), np.empty(N, np.float32), np.empty(LANES)
    least = np.empty((N + BLOCK - 1) // BLOCK, np.int32)
    total = 0
    for j in some:
        bound[:] = L[j]
        if distinct:
            for k in range(w.shape[0]):
                bound[w[k]] = np.inf
        if upper[j] < np.inf:
            bound[w[j]] = np.inf
            limit = np.float32(_limit(upper[j], absolute[j], factor)).view(np.int32)
            if _least_bits(bound.view(np.int32)) > limit:
                best[j], cost[j] = w[j], upper[j]
                continue
        bound[w[j]] = L[j, w[j]]
        _weights_of(j, levels, values, m, a)
        best[j], cost[j], evaluated = _best(bound, least, factor, absolute[j], a, X, lanes)
        total += evaluated
    return total


@kernel
def settle_distinct(alive, best, cost, w, L, factor, absolute, levels, values, m, X):  # type: ignore[no-untyped-def]
    """Prototypes in order take the best candidate that no other holds; w becomes their places.

    best, cost : those of `best_free` before any moved. What is best there still is, unless an earlier prototype took
    it, or left a place that is better. cost becomes upper bounds of the costs of the new places.
    """
    N = L.shape[1]
    a, bound, lanes = np.empty(N), np.empty(N, np.float32), np.empty(LANES)
    least = np.empty((N + BLOCK - 1) // BLOCK, np.int32)
    held = np.zeros(N, np.bool_)
    for j in range(w.shape[0]):
        held[w[j]] = True
    left, n_left = np.empty(w.shape[0], np.intp), 0
    total = 0
    for j in alive:
        held[w[j]] = False
        l, c = best[j], cost[j]
        if held[l]:
            for k in range(N):
                bound[k] = np.inf if held[k] else L[j, k]
            _weights_of(j, levels, values, m, a)
            l, c, evaluated = _best(bound, least, factor, absolute[j], a, X, lanes)
            total += evaluated
        else:
            known = False
            for t in range(n_left):
                f = left[t]
                if not held[f] and f != l and L[j, f] <= _limit(c, absolute[j], factor):
                    if not known:  # and c may be an upper bound
                        _weights_of(j, levels, values, m, a)
                        c = canonical_dot(a, X[l], lanes)
                        known = True
                    d = canonical_dot(a, X[f], lanes)
                    total += 2
                    if d < c or (d == c and f < l):
                        l, c = f, d
        if l != w[j]:
            left[n_left] = w[j]
            n_left += 1
        w[j], cost[j] = l, c
        held[l] = True
    return total
