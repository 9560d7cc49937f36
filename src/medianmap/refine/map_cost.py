"""The cost of a map whose prototypes are data points, which both kinds of moves lower: J = Q (1 + order (t + 1 - r)).

    J(w) = Q(w) [1 + order (t(w) + 1 - r(w))]

    Q(w) = sum_i m_i min_j D[i, w_j]                          how well the exemplars represent the points
    t(w) = sum_i m_i [n1(i) and n2(i) do not touch] / sum_i m_i   the topographic error: how much of the map is torn
    r(w) = correlation of (D[w_j, w_l] + D[w_l, w_j]) / 2 with nd(j, l) over all pairs of neurons: order from afar

n1(i) and n2(i) are the nearest and the second nearest exemplar of point i; of equally near ones that of the lower point
comes first, whatever its neuron. So an exchange of two neurons' exemplars changes neither Q nor which exemplars are
nearest to whom: t and r are sums over pairs of neurons, and change by O(K) terms. Where all exemplars (or all neurons)
are equally far from each other there is nothing to correlate, and r is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..core.neighborhood import Lattice
from ..sources.base import FloatArray, IntArray

# Below this share of their mean, squared, the variance of dissimilarities is rounding.
NO_VARIANCE = 1e-24


def apart(lattice: Lattice) -> FloatArray:
    """(K, K): 1 where two neurons do not touch, 0 where they do and on the diagonal."""
    return 1.0 - (lattice.neighbors | np.eye(len(lattice.distances), dtype=bool))


def standardized(lattice: Lattice) -> FloatArray:
    """P (K, K): nd with mean 0 and variance 1 over the pairs of neurons, 0 on the diagonal; 0 if all are equal."""
    nd = lattice.distances
    between = ~np.eye(len(nd), dtype=bool)
    P, values = np.zeros_like(nd), nd[between]
    if len(np.unique(values)) > 1:
        P[between] = (values - values.mean()) / values.std()
    return P


@dataclass
class MapState:
    """Exemplars w (K,), one per neuron, and what follows from them.

    G (N, K) = D[:, w]; nearest, near (3, N) : the three nearest neurons of each point and how near they are.
    E (K, K) : dissimilarities between exemplars, the mean of both directions, less `shift`; 0 on the diagonal.
    cost : J; loss : Q; torn : t(w) sum m; far : sums of P E, E and E^2 over all ordered pairs.
    removal (2, K) : by how much Q and t(w) sum m change if the points of a neuron go to those that come next.
    rows (3, K) : the sums over each row of E that make up `far`.
    """

    w: IntArray
    m: FloatArray
    order: float
    apart: FloatArray
    P: FloatArray
    G: NDArray[Any]
    nearest: NDArray[np.int32]
    near: NDArray[Any]
    E: FloatArray
    shift: float

    @classmethod
    def of(cls, G: NDArray[Any], w: IntArray, m: FloatArray, lattice: Lattice, order: float) -> MapState:
        """The state of the exemplars w; G (N, K) = D[:, w] is taken over and changed."""
        N, K = G.shape
        nearest, near = np.zeros((3, N), np.int32), np.full((3, N), np.inf, G.dtype)
        _three_nearest(G, np.argsort(w, kind="stable"), nearest, near)
        E = G[w].astype(np.float64)
        E = (E + E.T) / 2
        shift = float(E.sum() - np.trace(E)) / max(K * (K - 1), 1)
        E -= shift
        np.fill_diagonal(E, 0.0)
        state = cls(w.copy(), m, order, apart(lattice), standardized(lattice), G, nearest, near, E, shift)
        state.measure()
        return state

    def measure(self) -> None:
        """Sum everything from scratch, always in the same order: the cost is a function of the state to the last bit."""
        K = len(self.w)
        self.removal, self.rows = np.zeros((2, K)), np.zeros((3, K))
        self.loss, self.torn = _totals(self.m, self.nearest, self.near, self.apart, self.removal)
        _row_sums(self.P, self.E, self.rows)
        self.far = self.rows.sum(axis=1)
        self.mass = float(self.m.sum())
        self.cost = self.loss * (1.0 + self.order * self.disorder)

    @property
    def spread(self) -> float:
        """The standard deviation of E; 0 if all exemplars are equally far from each other."""
        return float(spread(self.far[1], self.far[2], len(self.w), self.shift))

    @property
    def correlation(self) -> float:
        """r(w)."""
        return float(correlation(self.far[0], self.far[1], self.far[2], len(self.w), self.shift))

    @property
    def disorder(self) -> float:
        """t(w) + 1 - r(w), from 0 to 3."""
        return self.torn / self.mass + 1.0 - self.correlation

    def exchange(self, j: int, c: int, d: NDArray[Any]) -> None:
        """Neuron j takes the point c, to which the points have the dissimilarities d (N,)."""
        self.w[j] = c
        _take(j, d, np.argsort(self.w, kind="stable"), self.w, self.G, self.nearest, self.near)
        e = (self.G[c].astype(np.float64) + d[self.w]) / 2 - self.shift
        e[j] = 0.0
        self.E[j], self.E[:, j] = e, e
        self.measure()

    def permute(self, p: IntArray) -> None:
        """Neuron k takes the exemplar that neuron p[k] has."""
        self.w, self.E = self.w[p], np.ascontiguousarray(self.E[np.ix_(p, p)])
        self.G = np.ascontiguousarray(self.G[:, p])
        self.nearest = np.argsort(p).astype(np.int32)[self.nearest]
        self.measure()

    def pair_counts(self) -> FloatArray:
        """C (K, K), symmetric: half the weight of the points that have j and l as their nearest two, by all weight."""
        K = len(self.w)
        pairs = self.nearest[0].astype(np.intp) * K + self.nearest[1]
        C = np.bincount(pairs, weights=self.m, minlength=K * K).reshape(K, K) / (2.0 * self.mass)
        C = C + C.T
        np.fill_diagonal(C, 0.0)
        return C


@njit(cache=True, nogil=True)
def spread(s1, s2, K, shift):  # type: ignore[no-untyped-def]
    """The standard deviation from the sums of E and E^2 over K (K - 1) pairs, E without its mean `shift` at the start."""
    n = max(K * (K - 1.0), 1.0)
    variance = s2 / n - (s1 / n) * (s1 / n)
    return np.sqrt(variance) if variance > NO_VARIANCE * shift * shift else 0.0


@njit(cache=True, nogil=True)
def correlation(x, s1, s2, K, shift):  # type: ignore[no-untyped-def]
    """r from the sums of P E, E and E^2."""
    s = spread(s1, s2, K, shift)
    return min(max(x / (K * (K - 1.0) * s), -1.0), 1.0) if s > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _insert(i, k, v, nearest, near):  # type: ignore[no-untyped-def]
    """Neuron k, v from point i, takes its place among the three nearest, after those that are as near."""
    if v < near[1, i]:
        nearest[2, i], near[2, i] = nearest[1, i], near[1, i]
        if v < near[0, i]:
            nearest[1, i], near[1, i] = nearest[0, i], near[0, i]
            nearest[0, i], near[0, i] = k, v
        else:
            nearest[1, i], near[1, i] = k, v
    elif v < near[2, i]:
        nearest[2, i], near[2, i] = k, v


@njit(cache=True, nogil=True)
def _three_nearest(G, turn, nearest, near):  # type: ignore[no-untyped-def]
    """The three smallest of each row of G (N, K), equal ones in the order of `turn`; near starts at infinity."""
    for i in range(G.shape[0]):
        for k in turn:
            if G[i, k] < near[2, i]:
                _insert(i, k, G[i, k], nearest, near)


@njit(cache=True, nogil=True)
def _take(j, d, turn, w, G, nearest, near):  # type: ignore[no-untyped-def]
    """Exemplar j is now d (N,) away; a point searches all exemplars only if j was among its three nearest."""
    for i in range(G.shape[0]):
        G[i, j] = d[i]
        if nearest[0, i] == j or nearest[1, i] == j or nearest[2, i] == j:
            near[:, i] = np.inf
            for k in turn:
                if G[i, k] < near[2, i]:
                    _insert(i, k, G[i, k], nearest, near)
        elif d[i] <= near[2, i]:
            place = 0
            while place < 3 and (
                near[place, i] < d[i] or (near[place, i] == d[i] and w[nearest[place, i]] < w[j])
            ):
                place += 1
            for k in range(2, place, -1):
                nearest[k, i], near[k, i] = nearest[k - 1, i], near[k - 1, i]
            if place < 3:
                nearest[place, i], near[place, i] = j, d[i]


@njit(cache=True, nogil=True)
def _totals(m, nearest, near, apart, removal):  # type: ignore[no-untyped-def]
    """(Q, t sum m); removal[:, j] : their changes if the points of j go to the next nearest and nothing comes instead."""
    loss = torn = 0.0
    for i in range(m.shape[0]):
        f, s, t = nearest[0, i], nearest[1, i], nearest[2, i]
        a = np.float64(near[0, i])
        loss += m[i] * a
        removal[0, f] += m[i] * (np.float64(near[1, i]) - a)
        torn += m[i] * apart[f, s]
        removal[1, f] += m[i] * (apart[s, t] - apart[f, s])
        removal[1, s] += m[i] * (apart[f, t] - apart[f, s])
    return loss, torn


@njit(cache=True, nogil=True)
def _row_sums(P, E, rows):  # type: ignore[no-untyped-def]
    """Sums of P E, E and E^2 over each row."""
    for j in range(E.shape[0]):
        for l in range(E.shape[1]):
            e = E[j, l]
            rows[0, j] += P[j, l] * e
            rows[1, j] += e
            rows[2, j] += e * e
