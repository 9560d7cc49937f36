"""Swaps on a SOM, and the gain of each in its cost E(w) = sum_i m_i min_j e_ij, e_ij = sum_l H[j, l] D[i, w_l].

There are two kinds of moves. Neuron l takes another point c: e_ij changes by H[j, l] (D[i, c] - D[i, w_l]). Two neurons
k and l exchange exemplars: e_ij changes by (H[j, k] - H[j, l]) (D[i, w_l] - D[i, w_k]). Both have the form s_j x_i, so
with a_i = min_j e_ij, n(i) the neuron of the minimum,

    change = sum_i m_i (min_j (e_ij + s_j x_i) - a_i)

which takes N K terms. A lower bound takes 4 N: let b_i be the second smallest e_ij and c_i the third. Then, for any i,

    min_j (e_ij + s_j x_i) >= min(a_i + s_n x_i, b_i + s_n' x_i, e_il + s_l x_i, c_i + min(s_max x_i, s_min x_i))

where s_max and s_min are the extremes of s over the neurons other than l: the neurons of the two smallest and l itself,
whose slope is the steepest, are exact, all others lie above the last term. A candidate whose bound is not negative is
skipped; on real data about one in a hundred is left to be summed in full.

Order. Neuron l tries only points won by itself or by a neighbour, and exchanges only with neighbours: those that H
couples to it most. An exemplar from the other side of the map could lower E and destroy the map's order. The order is
also kept because neighbours count in E; with the H of a very small sigma they do not, and swaps then lower the
quantization error at the expense of order. See `refine_som` for the width to use.

Rounding. With R_i = |H| (largest dissimilarity of point i to any exemplar up to now, plus D[i, c]), |H| the largest row
sum, all values lie below R_i. The K products and sums behind a first e_ij, three roundings for each of t moves since,
and three more for the sum in the minimum put it off by at most (K + 3 t + 4) u R_i, u = 2^-53; so the change, which
sums N differences of two of them, is off by at most (N + 2 K + 6 t + 11) u sum_i m_i R_i to first order, plus
underflows. A move is made only if the computed change is below minus twice that. So E itself falls with each move, no
state occurs twice and the search ends. The bound above is off by no more, so a candidate that it skips would not have
been taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..core.assignment import smoothed_winners
from ..core.neighborhood import Lattice
from ..core.quality import som_cost, topographic_error
from ..sources.base import FloatArray, IntArray, panels
from ..utils.threads import run_chunks, step
from .candidates import EPS, UNDERFLOW, Candidates, Swapped, first_find, prepared

# Points whose smoothed dissimilarities a thread updates per chunk.
POINTS = 1024

# Least weight of an adjacent neuron while a map is refined; tried in turn until one keeps the promise of `refine_som`.
COUPLINGS = (0.04, 0.08, 0.02, 0.007)
# By how much refinement may raise the topographic error.
TORN = 0.01


def swap_som(
    D: Any, prototypes: Any, H: Any, m: Any = None, *, max_swaps: int | None = None, n_jobs: int | None = None
) -> Swapped:
    """Lower sum_i m_i min_j sum_l H[j, l] D[i, w_l] by moves of single exemplars and exchanges between neighbours.

    At the end no point of a neuron's own field or of a neighbour's is a better exemplar for it, and no exchange between
    two neighbours lowers the cost.

    Parameters
    ----------
    D : (N, N) dissimilarities, row = point, column = candidate; symmetric or not, or a Source.
    prototypes : (K,) indices of data points, one per neuron; a point that is one already is not taken twice.
    H : (K, K) >= 0, H[j, l] is the weight of neuron l for neuron j; see `refine_som` for the width to choose.
    m : (N,) weights > 0; ones by default.
    max_swaps : largest number of moves; None for as many as are needed.
    n_jobs : number of threads; the result does not depend on it.
    """
    candidates, w, weights, most = prepared(D, prototypes, m, max_swaps)
    path, converged = _path(candidates, w, weights, H, most, n_jobs)
    end = path[-1]
    return Swapped(end, len(path) - 1, _cost(candidates.rows(end), _checked(H, len(end)), weights), converged)


def _path(
    candidates: Candidates, w: IntArray, m: FloatArray, H: Any, most: int, n_jobs: int | None
) -> tuple[list[IntArray], bool]:
    """The exemplars (K,) at the start and after each move, and whether the last have no move left."""
    state = _SomState(candidates, w, m, _checked(H, len(w)), n_jobs)
    idle = turn = 0
    while idle < len(w) and state.moves < most:
        before = state.moves
        step("moves", turn, turn + len(w) - idle)
        state.descend(turn % len(w), most)
        turn += 1
        idle = idle + 1 if state.moves == before else 0
    return state.path, idle >= len(w)


def refine_som(
    D: Any, prototypes: Any, lattice: Lattice, sigma_end: float, m: Any = None, *,
    weights: Callable[[float], FloatArray] | None = None, max_swaps: int | None = None, n_jobs: int | None = None,
) -> Swapped:  # fmt: skip
    """`swap_som` at a width where neighbours count; the topographic error rises by at most 0.01, the final cost falls.

    A map is often annealed to a sigma where neighbours count nothing, and swaps at that width would lower the
    quantization error at the expense of order. So they are made at the sigma where an adjacent neuron has 0.04 of the
    winner's weight, if sigma_end is less.
    On most maps this lowers the quantization error, the topographic error and the cost at sigma_end alike. Where it
    does not, because the topographic error rises by more than 0.01 or the cost at sigma_end does not fall, the widths
    of the weights 0.08, 0.02 and 0.007 are tried in turn; at last moves are made at sigma_end itself and taken back,
    the last first, until both hold.

    Parameters
    ----------
    D, prototypes, m, max_swaps, n_jobs : as for `swap_som`.
    lattice : of K neurons.
    sigma_end : the width at which training ended.
    weights : sigma -> H (K, K), growing with sigma; lattice.weights by default.

    The loss is the cost at sigma_end.
    """
    weights = lattice.weights if weights is None else weights
    candidates, start, mass, most = prepared(D, prototypes, m, max_swaps)
    H = _checked(weights(sigma_end), len(start))

    def errors(w: IntArray) -> tuple[float, float]:
        G = candidates.rows(w)
        return _cost(G, H, mass), topographic_error(G.T, lattice, mass)

    cost, torn = errors(start)
    for sigma in widths(weights, lattice, sigma_end):
        path, converged = _path(candidates, start.copy(), mass, weights(sigma), most, n_jobs)
        # At widths other than sigma_end only the end of the path counts: single moves lower another cost.
        for back in range(len(path) - 1 if sigma == sigma_end else min(len(path) - 1, 1)):
            n_swaps = len(path) - 1 - back
            now, torn_now = errors(path[n_swaps])
            if now < cost and torn_now <= torn + TORN:
                return Swapped(path[n_swaps], n_swaps, now, converged and back == 0)
    return Swapped(start, 0, cost, converged=len(path) == 1)


def widths(weights: Callable[[float], FloatArray], lattice: Lattice, sigma_end: float) -> list[float]:
    """The sigmas above sigma_end at which adjacent neurons have the weights COUPLINGS, in turn; then sigma_end."""
    neighbors = lattice.neighbors
    sigmas = []
    for coupling in COUPLINGS if neighbors.any() else ():
        low, high = sigma_end, 1e3
        if weights(sigma_end)[neighbors].max() >= coupling:
            continue
        while high / low > 1 + 1e-6:
            middle = (low * high) ** 0.5
            low, high = (middle, high) if weights(middle)[neighbors].max() < coupling else (low, middle)
        sigmas.append(high)
    return [*sigmas, sigma_end]


def _checked(H: Any, K: int) -> FloatArray:
    H = np.ascontiguousarray(H, dtype=np.float64)
    if H.shape != (K, K) or not (np.isfinite(H).all() and (H >= 0).all()):
        raise ValueError(f"H must be a {K} x {K} matrix of finite numbers >= 0; this one has shape {H.shape}.")
    return H


def _cost(GT: NDArray[Any], H: FloatArray, m: FloatArray) -> float:
    return som_cost(smoothed_winners(GT, H)[1], m)


def coupled(H: FloatArray) -> NDArray[np.bool_]:
    """(K, K): whether j is l itself or one of those that count most for it: its neighbours on a lattice."""
    itself = np.eye(len(H), dtype=bool)
    others = np.where(itself, 0.0, H)
    most = others.max(axis=0)
    return itself | ((others == most) & (most > 0))


class _SomState:
    """Exemplars w (K,) and what follows: G (K, N) = D[:, w]', e (K, N), and the three smallest e of each point."""

    def __init__(self, candidates: Candidates, w: IntArray, m: FloatArray, H: FloatArray, n_jobs: int | None) -> None:
        N, K = candidates.n, len(w)
        self.candidates, self.w, self.m, self.H, self.n_jobs = candidates, w, m, H, n_jobs
        self.G = candidates.rows(w).copy()
        self.neighbors = coupled(H)
        self.e = np.zeros((K, N))
        run_chunks(lambda js: _smooth(H[js], self.G, self.e[js]), list(panels(K, 8)), n_jobs)
        self.least, self.who = np.empty((3, N)), np.empty((2, N), np.int32)
        self._shift(np.zeros(K), self.G[0], self.G[0])
        self.farthest = self.G.max(axis=0).astype(np.float64)
        self.norm = float(H.sum(axis=1).max())
        self.path = [w.copy()]

    @property
    def moves(self) -> int:
        return len(self.path) - 1

    def descend(self, l: int, most: int) -> None:
        """All moves of neuron l that lower the cost, one after the other."""
        near = self.neighbors[:, l][self.who[0]]
        near[self.w] = False
        todo = np.flatnonzero(near)
        while len(todo) and self.moves < most:
            at = self._first_improving(l, todo)
            if at == len(todo):
                break
            d = self.candidates.rows(todo[at : at + 1])[0]
            self._shift(np.ascontiguousarray(self.H[:, l]), d, self.G[l])
            self.w[l], self.G[l] = todo[at], d
            np.maximum(self.farthest, d, out=self.farthest)
            self.path.append(self.w.copy())
            todo = todo[at + 1 :]
        for k in np.flatnonzero(self.neighbors[:, l]):
            if k > l and self.moves < most:
                self._exchange(l, int(k))

    def _off(self) -> float:
        """Twice the relative error of a computed change."""
        return (len(self.m) + 2 * len(self.w) + 6 * self.moves + 12) * EPS * self.norm

    def _first_improving(self, l: int, todo: IntArray) -> int:
        """Index in `todo` of the first point that is a better exemplar for neuron l; len(todo) if there is none."""
        s = np.ascontiguousarray(self.H[:, l])
        others = np.delete(s, l)
        extremes = np.array([others.min(initial=s[l]), others.max(initial=0.0)])
        slopes = np.stack([s[self.who[0]], s[self.who[1]]])
        gaps = np.stack([self.least[1], self.least[2], self.e[l]]) - self.least[0]
        size, off = float((self.m * self.farthest).sum()), self._off()
        state = self.m, self.e, self.least[0]

        def look(chunk: slice) -> int:
            C, rows = self.candidates.picked(todo[chunk])
            return _first_improving(C, rows, l, self.G[l], s, extremes, slopes, gaps, *state, size, off)

        # What is not in memory is read by one thread: a database or a user's function may not support more.
        return first_find(look, len(todo), self.n_jobs if self.candidates.whole is not None else 1)

    def _exchange(self, k: int, l: int) -> None:
        """Neurons k and l exchange exemplars if that lowers the cost."""
        s = self.H[:, k] - self.H[:, l]
        x = self.G[l].astype(np.float64) - self.G[k]
        if self._bound(s, x, k, l) >= 0.0:
            return
        # Both dissimilarities are those of exemplars; s may be as large as two rows of H.
        size = 4.0 * float((self.m * self.farthest).sum())
        if _change(s, x, self.m, self.e, self.least[0]) < -(self._off() * size + 4 * len(x) * UNDERFLOW):
            self._shift(s, self.G[l], self.G[k])
            self.w[[k, l]], self.G[[k, l]] = self.w[[l, k]], self.G[[l, k]]
            self.path.append(self.w.copy())

    def _bound(self, s: FloatArray, x: FloatArray, k: int, l: int) -> float:
        """The module's lower bound of a change, exact for both neurons that exchange."""
        others = np.delete(s, [k, l])
        least, who = self.least, self.who
        low = least[2] + np.minimum(others.min(initial=0.0) * x, others.max(initial=0.0) * x)
        exact = (least[0], s[who[0]]), (least[1], s[who[1]]), (self.e[k], s[k]), (self.e[l], s[l])
        for value, slope in exact:
            low = np.minimum(low, value + slope * x)
        return float((self.m * (low - least[0])).sum())

    def _shift(self, s: FloatArray, new: NDArray[Any], old: NDArray[Any]) -> None:
        def update(part: slice) -> None:
            _shift(s, new, old, part.start, part.stop, self.e, self.least, self.who)

        run_chunks(update, list(panels(len(self.m), POINTS)), self.n_jobs)


@njit(cache=True, nogil=True)
def _smooth(H, G, e):  # type: ignore[no-untyped-def]
    """e[j, i] += sum_l H[j, l] G[l, i], the l in their order."""
    for j in range(H.shape[0]):
        for l in range(H.shape[1]):
            if H[j, l] != 0.0:
                for i in range(G.shape[1]):
                    e[j, i] += H[j, l] * np.float64(G[l, i])


@njit(cache=True, nogil=True)
def _shift(s, new, old, start, stop, e, least, who):  # type: ignore[no-untyped-def]
    """e[j, i] += s_j (new_i - old_i) for points start .. stop - 1; then the three smallest of each column of e.

    who are the rows of the first two, the lowest on ties.
    """
    a, b, c = least[0, start:stop], least[1, start:stop], least[2, start:stop]
    p, q = who[0, start:stop], who[1, start:stop]
    x = new[start:stop].astype(np.float64) - old[start:stop]
    a[:], b[:], c[:] = np.inf, np.inf, np.inf
    p[:], q[:] = 0, 0
    for j in range(e.shape[0]):
        row = e[j, start:stop]
        for i in range(x.shape[0]):
            row[i] += s[j] * x[i]
        for i in range(x.shape[0]):
            v = row[i]
            if v >= c[i]:
                continue
            if v >= b[i]:
                c[i] = v
                continue
            c[i] = b[i]
            if v >= a[i]:
                b[i], q[i] = v, j
            else:
                b[i], q[i] = a[i], p[i]
                a[i], p[i] = v, j


@njit(cache=True, nogil=True)
def _first_improving(C, rows, l, old, s, extremes, slopes, gaps, m, e, least, size, off):  # type: ignore[no-untyped-def]
    """The first r for which taking the candidate C[rows[r]] lowers the cost; -1 if there is none."""
    N = m.shape[0]
    lowest, highest, own = extremes[0], extremes[1], s[l]
    x, low = np.empty(N), np.zeros((N + 3) // 4 * 4)
    for r in range(rows.shape[0]):
        d = C[rows[r]]
        for i in range(N):
            t = np.float64(d[i]) - np.float64(old[i])
            x[i] = t
            v = min(slopes[0, i] * t, gaps[0, i] + slopes[1, i] * t)
            v = min(v, gaps[2, i] + own * t)
            low[i] = m[i] * min(v, gaps[1, i] + min(lowest * t, highest * t))
        p = q = g = h = 0.0  # four sums: a single one would wait for each addition
        for i in range(0, low.shape[0], 4):
            p += low[i]
            q += low[i + 1]
            g += low[i + 2]
            h += low[i + 3]
        if (p + q) + (g + h) >= 0.0:
            continue
        far = size
        for i in range(N):
            far += m[i] * np.float64(d[i])
        if _change(s, x, m, e, least) < -(off * far + 4 * N * UNDERFLOW):
            return r
    return -1


@njit(cache=True, nogil=True)
def _change(s, x, m, e, least):  # type: ignore[no-untyped-def]
    """sum_i m_i (min_j (e[j, i] + s_j x_i) - least_i)."""
    v = np.full(x.shape[0], np.inf)
    for j in range(e.shape[0]):
        for i in range(x.shape[0]):
            v[i] = min(v[i], e[j, i] + s[j] * x[i])
    change = 0.0
    for i in range(x.shape[0]):
        change += m[i] * (v[i] - least[i])
    return change
