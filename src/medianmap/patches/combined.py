"""Relational prototypes between patches: each, a combination of a whole patch, is carried by the few points nearest to
it in equal parts (the K-approximation of patch relational neural gas; Hasenfuss, Hammer & Rossi 2008)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ..relational import between_prototypes, products, self_terms
from ..sources.base import FloatArray, IntArray
from ..sources.computed import take
from .ground import Ground, Prototypes


@dataclass(frozen=True)
class Combination:
    """Carried points `at` (S,), each once and by rising place, and the K prototypes in terms of them.

    coefficients (K, S), self terms (K,) and dissimilarities among the prototypes (K, K) as a relational map has them.
    """

    at: IntArray
    coefficients: csr_array
    self_terms: FloatArray
    among: FloatArray

    def distances(self, D: FloatArray) -> FloatArray:
        """(n, K) from dissimilarities D (n, S) to the points; the very bits that the map itself answers."""
        return products(D, self.coefficients) - self.self_terms + 0.0


def combination(prototypes: Prototypes) -> Combination:
    """The prototypes as the combinations that they are carried as."""
    assert prototypes.D is not None
    _, at, back = np.unique(prototypes.places, return_index=True, return_inverse=True)
    K, per = prototypes.n, prototypes.width
    P = np.zeros((K, len(at)))
    P[np.repeat(np.arange(K), per), back] = 1.0 / per
    alpha = csr_array(P)
    Q = products(prototypes.D[np.ix_(at, at)], alpha)
    own = self_terms(P, Q.T)
    return Combination(at, alpha, own, between_prototypes(P, Q - own))


def nearest_points(G: FloatArray, places: IntArray, per: int) -> IntArray:
    """(K, per) the points nearest to each prototype, the nearest first, from dissimilarities G (N, K).

    A point that several prototypes brought along is there several times, at one of the places (N,), and taken once.
    """
    once = np.unique(places, return_index=True)[1]
    return once[np.argsort(G[once], axis=0, kind="stable")[:per].T]


def to_prototypes(ground: Ground, prototypes: Prototypes) -> Callable[[Any], FloatArray]:
    """What gives the dissimilarities (n, K) from n points to the prototypes."""
    if not prototypes.per:
        return lambda points: ground.to_prototypes(points, prototypes.points)
    carried = combination(prototypes)
    support = take(prototypes.points, carried.at)
    return lambda points: carried.distances(ground.to_prototypes(points, support))


def among_prototypes(ground: Ground, prototypes: Prototypes) -> FloatArray:
    """(K, K) dissimilarities of the prototypes themselves."""
    if prototypes.per:
        return combination(prototypes).among
    return prototypes.D if prototypes.D is not None else ground.to_prototypes(prototypes.points, prototypes.points)
