"""Between two prototypes: how much of a point belongs to its nearest prototype, and how much to the second nearest."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from ..sources.base import FloatArray, IntArray


class Memberships(NamedTuple):
    """Of n points: nearest prototype (n,), second nearest (n,), and the part t (n,) that belongs to the second.

    With dissimilarities d1 <= d2 <= d3 to the three nearest prototypes, a point belongs to the first and to the second
    in so far as they are nearer than the third:

        t = (d3 - d2) / ((d3 - d1) + (d3 - d2)),   in [0, 1/2]

    1/2 where two are equally near, 0 where the second is no nearer than the third. A number that is added to all
    dissimilarities, or multiplies them, changes nothing. Of two prototypes, d3 is d1 + d2.
    """

    first: IntArray
    second: IntArray
    t: FloatArray

    @classmethod
    def of(cls, G: FloatArray) -> Self:
        """The memberships of points by their dissimilarities G (n, K) to all prototypes; ties go to the lower index."""
        i, others = np.arange(len(G)), G.copy()
        first = G.argmin(axis=1)
        others[i, first] = np.inf
        second = others.argmin(axis=1)
        e = others[i, second]
        others[i, second] = np.inf
        return cls(first, second, part_of_second(G[i, first], e, others[i, others.argmin(axis=1)]))

    def mean_of(self, S: FloatArray) -> FloatArray:
        """(n, C) rows of S (K, C), those of the two prototypes in these parts."""
        return (1.0 - self.t)[:, None] * S[self.first] + self.t[:, None] * S[self.second]

    def matrix(self, K: int) -> csr_array:
        """(n, K) parts: rows sum to 1."""
        n = len(self.t)
        parts = np.stack([1.0 - self.t, self.t], axis=1).ravel()
        at = np.stack([self.first, self.second], axis=1).ravel()
        return csr_array((parts, at, np.arange(0, 2 * n + 1, 2)), shape=(n, K))


def part_of_second(d1: FloatArray, d2: FloatArray, d3: FloatArray) -> FloatArray:
    """(n,) t of `Memberships`; d2 or d3 are infinite where there is no second or third prototype."""
    with np.errstate(invalid="ignore", over="ignore"):
        there = np.isfinite(d3)
        far, near = np.where(there, d3 - d2, d1), np.where(there, d3 - d1, d2)
        ratio = np.divide(near, far, out=np.full(len(far), np.inf), where=far > 0)
    return np.where(d1 == d2, 0.5, 1.0 / (1.0 + ratio))
