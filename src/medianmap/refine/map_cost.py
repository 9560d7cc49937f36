"""The cost of a map whose prototypes are data points, which both kinds of moves lower: J = Q (1 + order (t + 1 - r)).

    Q(w) = sum_i m_i min_j D[i, w_j]                               how well the exemplars represent the points
    t(w) = sum_i m_i [n1(i), n2(i) do not touch] / sum_i m_i       near order: the topographic error
    r(w) = mean of (E[j, l] - mean E) nd(j, l) / (s_E s_nd)        far order: do distant neurons have distant exemplars?

n1(i) and n2(i) are the nearest and the second nearest exemplar of point i; of equally near ones, that of the lower
point. E[j, l] = (D[w_j, w_l] + D[w_l, w_j]) / 2, and the means are over all pairs of points of different fields, of
which the fields of j and l have the share mu_j mu_l / W. s_E is the standard deviation of E over the same pairs, s_nd
that of nd over all pairs of neurons: r is the correlation of E and nd but for s_nd, which is a constant, so that r is
linear in where exemplars sit. Were pairs of exemplars counted instead, those of few points, which are often the most
distant, would decide the order of all. Where E does not vary, or nd, r is 0.

So an exchange of two neurons' exemplars changes neither Q nor which exemplars are nearest to whom: t and r are sums
over pairs of neurons, and change by O(K) terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.neighborhood import Lattice
from ..sources.base import FloatArray, IntArray
from ..utils.kernels import kernel

# Below this share of their squared mean, the variance of dissimilarities is rounding.
NO_VARIANCE = 1e-12


@dataclass
class MapState:
    """Exemplars w (K,), one per neuron, and what follows from them.

    nd, apart (K, K) : distance on the lattice, and 1 where two neurons do not touch; s_nd : its standard deviation.
    G (N, K) = D[:, w]; nearest, near (3, N) : the three nearest neurons of each point and how near they are.
    E (K, K) : dissimilarities between exemplars, 0 on the diagonal.
    mass : sum m; cost : J; loss : Q; torn : t(w) sum m.
    removal (2, K) : by how much Q and t(w) sum m change if the points of a neuron go to those that come next.
    pairs (K, K) : weight of the points that have j as nearest and l as second; mu (K,) that of the fields.
    rows (4, K) : B mu for E, E^2, E nd and nd; forms (5,) : mu' B mu, and W.
    """

    w: IntArray
    m: FloatArray
    order: float
    nd: FloatArray
    apart: FloatArray
    s_nd: float
    G: NDArray[Any]
    nearest: NDArray[np.int32]
    near: NDArray[Any]
    E: FloatArray
    mass: float
    removal: FloatArray
    pairs: FloatArray
    mu: FloatArray
    rows: FloatArray
    forms: FloatArray
    loss: float = 0.0
    torn: float = 0.0
    cost: float = 0.0

    @classmethod
    def of(cls, G: NDArray[Any], w: IntArray, m: FloatArray, lattice: Lattice, order: float) -> Self:
        """The state of the exemplars w; G (N, K) = D[:, w] is taken over and changed."""
        N = len(G)
        nearest, near = np.zeros((3, N), np.int32), np.full((3, N), np.inf, G.dtype)
        _three_nearest(G, np.argsort(w, kind="stable"), nearest, near)
        return cls.with_nearest(G, nearest, near, G[w], w, m, lattice, order)

    @classmethod
    def with_nearest(
        cls, G: NDArray[Any], nearest: NDArray[np.int32], near: NDArray[Any], among: NDArray[Any], w: IntArray,
        m: FloatArray, lattice: Lattice, order: float,
    ) -> Self:  # fmt: skip
        """The same where the three nearest exemplars are known, and D among the exemplars, (K, K)."""
        K = len(w)
        E = between(among)
        itself = np.eye(K, dtype=bool)
        nd = lattice.distances
        apart = np.where(lattice.neighbors | itself, 0.0, 1.0)
        s_nd = float(nd[~itself].std()) if len(np.unique(nd[~itself])) > 1 else 0.0
        sums = np.zeros((2, K)), np.zeros((K, K)), np.zeros(K), np.zeros((4, K)), np.zeros(5)
        state = cls(w.copy(), m, order, nd, apart, s_nd, G, nearest, near, E, float(m.sum()), *sums)
        state.measure()
        return state

    def measure(self) -> None:
        """Sum everything from scratch, always in one order: the cost is a function of the state to the last bit."""
        self.loss, self.torn = _totals(self.m, self.nearest, self.near, self.apart, self.removal, self.pairs, self.mu)
        _sums(self.mu, self.E, self.nd, self.rows, self.forms)
        self.cost = self.loss * (1.0 + self.order * max(self.disorder, 0.0))

    @property
    def r(self) -> float:
        """r(w)."""
        return float(far_order(self.forms, self.s_nd))

    @property
    def disorder(self) -> float:
        """t(w) + 1 - r(w)."""
        return self.torn / self.mass + 1.0 - self.r

    def exchange(self, j: int, c: int, d: NDArray[Any]) -> None:
        """Neuron j takes the point c, to which the points have the dissimilarities d (N,)."""
        self.w[j] = c
        _take(j, d, np.argsort(self.w, kind="stable"), self.w, self.G, self.nearest, self.near)
        e = (self.G[c].astype(np.float64) + d[self.w]) / 2
        e[j] = 0.0
        self.E[j], self.E[:, j] = e, e
        self.measure()

    def permute(self, p: IntArray) -> None:
        """Neuron k takes the exemplar that neuron p[k] has."""
        self.w, self.E = self.w[p], np.ascontiguousarray(self.E[np.ix_(p, p)])
        self.G = np.ascontiguousarray(self.G[:, p])
        self.nearest = np.argsort(p).astype(np.int32)[self.nearest]
        self.measure()

    def assignment_problem(self) -> tuple[FloatArray, FloatArray]:
        """C, F (K, K), symmetric, with t - r = sum_jl apart[j, l] C[j, l] - nd[j, l] F[j, l]; both are rearranged."""
        C = (self.pairs + self.pairs.T) / (2.0 * self.mass)
        np.fill_diagonal(C, 0.0)
        F, (s1, _, _, _, W) = np.zeros_like(C), self.forms
        s_E = spread(self.forms)
        if s_E > 0.0 and self.s_nd > 0.0:
            F = np.outer(self.mu, self.mu) * (self.E - s1 / W) / (W * s_E * self.s_nd)
            np.fill_diagonal(F, 0.0)
        return C, F


def between(among: NDArray[Any]) -> FloatArray:
    """E (K, K) of D among the exemplars: symmetric, 0 on the diagonal."""
    E = among.astype(np.float64)
    E = (E + E.T) / 2
    np.fill_diagonal(E, 0.0)
    return E


@kernel
def spread(forms):  # type: ignore[no-untyped-def]
    """s_E; 0 if all exemplars are equally far from each other."""
    s1, s2, W = forms[0], forms[1], forms[4]
    if W <= 0.0:
        return 0.0
    mean = s1 / W
    variance = s2 / W - mean * mean
    return np.sqrt(variance) if variance > NO_VARIANCE * mean * mean else 0.0


@kernel
def far_order(forms, s_nd):  # type: ignore[no-untyped-def]
    """r from the sums over pairs of fields of mu mu' E, E^2, E nd, nd and 1."""
    s_E = spread(forms)
    if s_E == 0.0 or s_nd == 0.0:
        return 0.0
    W = forms[4]
    return (forms[2] / W - (forms[0] / W) * (forms[3] / W)) / (s_E * s_nd)


@kernel
def _sums(mu, E, nd, rows, forms):  # type: ignore[no-untyped-def]
    """rows and forms of the masses mu, always in one order.

    B is symmetric: its rows times their masses are added up, many columns at once.
    """
    rows[:], forms[:] = 0.0, 0.0
    of_e, of_squares, of_both, of_d = rows[0], rows[1], rows[2], rows[3]
    K = len(mu)
    for j in range(K):
        x = mu[j]
        if x == 0.0:
            continue
        es, ds = E[j], nd[j]
        for l in range(K):  # two loops, as one over so many arrays would not be done many columns at once
            of_e[l] += x * es[l]
            of_squares[l] += x * es[l] * es[l]
        for l in range(K):
            of_both[l] += x * es[l] * ds[l]
            of_d[l] += x * ds[l]
    before = after = 0.0  # the masses of all fields but j, without a difference
    for j in range(K):
        for k in range(4):
            forms[k] += mu[j] * rows[k, j]
        forms[4] += mu[j] * before + mu[K - 1 - j] * after
        before += mu[j]
        after += mu[K - 1 - j]


@kernel
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


@kernel
def _three_nearest(G, turn, nearest, near):  # type: ignore[no-untyped-def]
    """The three smallest of each row of G (N, K), equal ones in the order of `turn`; near starts at infinity."""
    for i in range(G.shape[0]):
        for k in turn:
            if G[i, k] < near[2, i]:
                _insert(i, k, G[i, k], nearest, near)


@kernel
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
            while place < 3 and (near[place, i] < d[i] or (near[place, i] == d[i] and w[nearest[place, i]] < w[j])):
                place += 1
            for k in range(2, place, -1):
                nearest[k, i], near[k, i] = nearest[k - 1, i], near[k - 1, i]
            if place < 3:
                nearest[place, i], near[place, i] = j, d[i]


@kernel
def _totals(m, nearest, near, apart, removal, pairs, mu):  # type: ignore[no-untyped-def]
    """(Q, t sum m), and what they are sums of.

    removal[:, j] : their changes if the points of j go to the next nearest, and nothing replaces j.
    """
    removal[:], pairs[:], mu[:] = 0.0, 0.0, 0.0
    loss = torn = 0.0
    for i in range(m.shape[0]):
        f, s, t = nearest[0, i], nearest[1, i], nearest[2, i]
        a = np.float64(near[0, i])
        loss += m[i] * a
        removal[0, f] += m[i] * (np.float64(near[1, i]) - a)
        torn += m[i] * apart[f, s]
        pairs[f, s] += m[i]
        mu[f] += m[i]
        removal[1, f] += m[i] * (apart[s, t] - apart[f, s])
        removal[1, s] += m[i] * (apart[f, t] - apart[f, s])
    return loss, torn
