"""Compiled placing: from lower bounds to exact places, as `Finder` does it, where candidates are rows of a matrix."""

from __future__ import annotations

import numpy as np
from numba import njit

from .canonical import LANES, canonical_dot

# Bounds are looked at in blocks of this size: most blocks hold nothing of interest, and their least is found fast.
BLOCK = 64


@njit(cache=True, nogil=True)
def _weights_of(j, levels, values, m, a):  # type: ignore[no-untyped-def]
    """a[i] = values[j, level of i] m[i]; levels (1, N) are shared by all prototypes, (K, N) each has its own."""
    level = levels[j] if levels.shape[0] > 1 else levels[0]
    row = values[j]
    for i in range(a.shape[0]):
        a[i] = row[level[i]] * m[i]


@njit(cache=True, nogil=True)
def _least_bits(bits):  # type: ignore[no-untyped-def]
    """The least of non-negative floats by their bits: they order alike, and integer minima vectorise."""
    least = np.int32(0x7FFFFFFF)
    for k in range(bits.shape[0]):
        least = min(least, bits[k])
    return least


@njit(cache=True, nogil=True)
def _limit(cost, absolute, factor):  # type: ignore[no-untyped-def]
    """The float32 bound above which no candidate costs less than `cost`; rounded up."""
    return np.float32((cost + absolute) / factor * (1 + 1e-6)) + np.float32(1e-38)


@njit(cache=True, nogil=True)
def _best(L, least, factor, absolute, a, X, lanes):  # type: ignore[no-untyped-def]
    """(l, evaluated): the candidate of least canonical cost, the lowest on ties; blocked ones have an infinite bound.

    L[l] factor - absolute <= cost(j, l). The candidate of least bound is evaluated first; then, in order, all whose
    bound does not exceed the least cost so far. `least` (blocks,) is scratch.
    """
    N = L.shape[0]
    bits = L.view(np.int32)
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
            if L[l] <= limit and l != first and L[l] < np.inf:
                c = canonical_dot(a, X[l], lanes)
                evaluated += 1
                if c < cost or (c == cost and l < best):
                    best, cost = l, c
                    limit = _limit(cost, absolute, factor)
    return best, evaluated


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def best_alone(first, last, alive, L, factor, absolute, levels, values, m, X, best):  # type: ignore[no-untyped-def]
    """best[j] for the alive prototypes alive[first:last], as if nobody held anything. Returns candidates evaluated."""
    N = L.shape[1]
    a, lanes = np.empty(N), np.empty(LANES)
    least = np.empty((N + BLOCK - 1) // BLOCK, np.int32)
    total = 0
    for p in range(first, last):
        j = alive[p]
        _weights_of(j, levels, values, m, a)
        best[j], evaluated = _best(L[j], least, factor, absolute[j], a, X, lanes)
        total += evaluated
    return total


@njit(cache=True, nogil=True)
def settle_distinct(alive, best, w, L, factor, absolute, levels, values, m, X):  # type: ignore[no-untyped-def]
    """Prototypes in order take best[j], or search again among the free if another holds it. Changes w, spends L."""
    N = L.shape[1]
    a, lanes = np.empty(N), np.empty(LANES)
    least = np.empty((N + BLOCK - 1) // BLOCK, np.int32)
    held = np.zeros(N, np.bool_)
    for j in range(w.shape[0]):
        held[w[j]] = True
    total = 0
    for j in alive:
        held[w[j]] = False
        l = best[j]
        if held[l]:
            # Row j is not needed again, so what others hold may be struck out in place.
            for k in range(w.shape[0]):
                if k != j:
                    L[j, w[k]] = np.inf
            _weights_of(j, levels, values, m, a)
            l, evaluated = _best(L[j], least, factor, absolute[j], a, X, lanes)
            total += evaluated
        w[j] = l
        held[l] = True
    return total
