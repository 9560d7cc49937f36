"""Swaps on a SOM: exemplars exchanged for other points while J = Q (1 + order (t + 1 - r)) falls (see map_cost.py).

As for medoids alone (medoid_swaps.py), one pass over the points gives, for one candidate c, the change of Q and of t
for every neuron j that could take it. Let f, s, h be the nearest, second and third nearest exemplar of point i, at the
dissimilarities a <= b <= e, m its weight, A[j, l] = 1 where two neurons do not touch, and d = D[i, c]. The pair (f, s)
decides what i adds to t. If neuron j takes c,

    j other than f and s    the pair is (j, f) if d < b, in some order, and (f, s) otherwise;
    j = f                   the pair is again (f, s) if d < e, as c sits where f sat, and (s, h) otherwise;
    j = s                   the pair is again (f, s) if d < e, and (f, h) otherwise.

So let removal(j) = sum over f = j of m (A[s, h] - A[f, s]) + sum over s = j of m (A[f, h] - A[f, s]), the same for all
candidates. A point with d >= e adds nothing more, and the few others take their parts of removal(f) and removal(s)
back; those with d < b add m (A[j, f] - A[f, s]) for all j but f and s: m to U[f], and -m A[f, s] to a sum for all j:

    change of t sum m = removal(j) + share(j) + all + sum_p A[j, p] U[p]

Where Q (1 + order (t + 1 - r)) falls with the r of now, the new r is computed, too, from the weights of the fields
after the swap; few of them change. The j of the least J is taken if J is lower than now. So r decides between swaps and
may forbid one, but cannot buy one: distant exemplars, which raise it, would be paid in quantization.

Candidates are tried in a random order, drawn anew for every start, and the first that improves is taken (descent.py).
After each swap J is summed from scratch, always in the same order, and the swap is taken back unless J is lower than
before. So no state occurs twice, whatever the rounding, and the search ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.neighborhood import Lattice
from ..sources.base import IntArray
from ..utils.kernels import kernel
from .arrangement import best_arrangement
from .candidates import EPS, Block, Candidates, Swapped, prepared, turns
from .descent import LookCount, descended, drawn, first_find
from .map_cost import MapState, far_order
from .medoid_swaps import swap_medoids
from .tensor_map_swaps import DeviceMapState

# What order may cost, see `refine_som`.
ORDER = 0.12


def refine_som(
    D: Any, prototypes: Any, lattice: Lattice, m: Any = None, *, order: float = ORDER, max_swaps: int | None = None,
    kicks: int = 0, keep: bool = False, random_state: int | np.random.Generator = 0, n_jobs: int | None = None,
) -> Swapped:  # fmt: skip
    """Lower J = Q (1 + order (t + 1 - r)) by two kinds of moves, in turn until there is none of either.

    An exemplar is exchanged for another point, or two neurons exchange their exemplars. Q is the summed dissimilarity
    of the points to their nearest exemplars, t the topographic error, and r how well the dissimilarities between
    exemplars go with their distances on the lattice, at most about 1.

    Parameters
    ----------
    D : (N, N) dissimilarities, row = point, column = candidate; symmetric or not, or a Source.
    prototypes : (K,) indices of data points, one per neuron, to start from.
    lattice : of K neurons.
    m : (N,) weights > 0; ones by default.
    order : by what share Q may rise to make a map without tears of one that is all torn. With 0, swaps lower Q alone,
        and the arrangement makes of it what it can.
    max_swaps : largest number of exchanges for points, None for as many as are needed; the arrangement is not counted.
    kicks : number of times that some exemplars of the best map so far are replaced by random points and moves continue
        from there; the best map is kept. Ignored with max_swaps.
    keep : whether the map is to keep its orientation: the arrangement only goes down from the start.
    random_state : seed of the order in which candidates are tried, and of the kicks.
    n_jobs : number of threads; the result does not depend on it.

    The loss is Q. It may be higher than at the start; J is not.
    """
    candidates, w, weights, most = prepared(D, prototypes, m, max_swaps)
    rng = np.random.default_rng(random_state)
    if len(w) == 1:  # no order, and no second nearest exemplar
        return swap_medoids(candidates.source, w, weights, max_swaps=max_swaps, random_state=rng, n_jobs=n_jobs)
    if max_swaps is not None or len(w) == candidates.n:
        kicks = 0
    looks = LookCount(candidates.n, 1 + kicks)

    def moves_of(candidates: Candidates, w: IntArray) -> _SwapMoves:
        G = np.array(candidates.rows(w).T, order="C")
        return _SwapMoves(MapState.of(G, w, weights, lattice, order), np.isin(np.arange(candidates.n), w))

    def refined(start: IntArray) -> tuple[MapState, int, bool]:
        if candidates.on_device:
            on_device = DeviceMapState.over(candidates.source, start, weights, lattice, order)
            return on_device, *_moved(on_device, partial(on_device.descend, candidates, looks, moves_of), most, keep)
        turn, moves = turns(candidates.n, rng), moves_of(candidates, start)
        descend = partial(descended, candidates, turn, moves, n_jobs=n_jobs, looks=looks)
        return moves.state, *_moved(moves.state, lambda left: descend(most=left), most, keep)

    best, swaps, converged = refined(w)
    for kicked in drawn(kicks, candidates.n, rng):
        other, more, ended = refined(kicked(best.w))
        if other.cost < best.cost:
            best, swaps, converged = other, swaps + more, ended
    return Swapped(best.w.copy(), swaps, best.loss, converged)


def _moved(state: MapState, descend: Callable[[int], tuple[int, bool]], most: int, keep: bool) -> tuple[int, bool]:
    """Both kinds of moves in turn, in place; the number of swaps, and whether there is none left.

    descend : makes so many swaps of exemplars for points at most; how many, and whether there is none left.
    """
    rng, swaps = np.random.default_rng(0), 0
    done, converged = descend(most)
    while _arranged(state, rng, keep) and converged:
        swaps, keep = swaps + done, True  # few exemplars will be others: what is arranged only goes down from now on
        done, converged = descend(most - swaps)
        if not done:
            break  # and what was arranged is unchanged
    return swaps + done, converged


def _arranged(state: MapState, rng: np.random.Generator, keep: bool) -> bool:
    """Let neurons exchange exemplars as far as that lowers t - r; whether it did."""
    before, p = state.disorder, best_arrangement(state, rng, keep=keep)
    if (p == np.arange(len(p))).all():
        return False
    state.permute(p)
    if state.disorder < before:
        return True
    state.permute(np.argsort(p))
    return False


@dataclass
class _SwapMoves:
    """The swaps of one state, as `descended` asks for them; taken (N,) : which points are exemplars."""

    state: MapState
    taken: NDArray[np.bool_]

    def _look(self, block: Block) -> tuple[int, int]:
        """(t, j): the first candidate of the block that improves, and the neuron j to take it; (-1, -1) if none."""
        s = self.state
        sums = s.order, s.loss, s.torn, s.mass, s.cost
        lattice, order = (s.apart, s.nd, s.s_nd), (s.E, s.removal, s.pairs, s.mu, s.rows, s.forms)
        given = block.C, block.at, block.points, self.taken
        t, j = _first_improving(*given, s.w, s.m, s.G, s.nearest, s.near, sums, *lattice, *order)
        return t, j

    def first_improving(self, block: Block, n_jobs: int | None) -> int:
        return first_find(lambda chunk: self._look(block[chunk])[0], len(block), n_jobs)

    def descend(self, block: Block, patience: int, most: int) -> tuple[int, int, int]:
        swaps = idle = begin = 0
        while begin < len(block) and idle < patience and swaps < most:
            stop = min(begin + patience - idle, len(block))
            t, j = self._look(block[begin:stop])
            if t < 0:
                idle, begin = idle + stop - begin, stop
                continue
            t += begin
            if self._swapped(j, int(block.points[t]), block.C[block.at[t]]):
                swaps, idle = swaps + 1, 0
            else:
                idle += t + 1 - begin
            begin = t + 1
        return swaps, begin, idle

    def _swapped(self, j: int, c: int, d: NDArray[Any]) -> bool:
        """Neuron j takes the point c unless J, summed from scratch, is not lower then."""
        s = self.state
        before, old, column = s.cost, int(s.w[j]), s.G[:, j].copy()
        s.exchange(j, c, d)
        if not s.cost < before:
            s.exchange(j, old, column)
            return False
        self.taken[old], self.taken[c] = (s.w == old).any(), True
        return True


@kernel
def _first_improving(  # type: ignore[no-untyped-def]
    C, at, points, taken, w, m, G, nearest, near, sums, apart, nd, s_nd, E, removal, pairs, mu, rows, forms
):
    """(t, j): the first candidate points[t], row at[t] of C, that some neuron may take, and the best such j.

    (-1, -1) if there is none.
    """
    N, K = G.shape
    order, loss, torn, mass, cost = sums
    r_now, per_mass = far_order(forms, s_nd), 1.0 / mass
    off = 2.0 * (N + 4.0 * K) * EPS * cost
    mask = np.zeros((N + 7) // 8 * 8, np.uint8)
    eights = mask.view(np.uint64)
    third = near[2]
    close = np.empty(N + 8, np.int32)
    share, tears, U, v = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)
    lost, after, later = np.zeros(K), np.zeros(K), np.zeros(5)
    for candidate in range(at.shape[0]):
        c = points[candidate]
        if taken[c]:
            continue
        d = C[at[candidate]]
        for i in range(N):
            mask[i] = d[i] <= third[i]
        n = 0
        for e in range(eights.shape[0]):
            if eights[e]:
                for i in range(8 * e, 8 * e + 8):
                    close[n] = i
                    n += mask[i]
        share[:], tears[:], U[:], lost[:] = 0.0, 0.0, 0.0, 0.0
        nearer = all_torn = 0.0
        n_close, n = n, 0  # of the close points, those with d < b are kept
        for k in range(n_close):
            i = close[k]
            f, s, h = nearest[0, i], nearest[1, i], nearest[2, i]
            if d[i] == third[i] and w[h] < c:
                continue
            y, a, b = np.float64(d[i]), np.float64(near[0, i]), np.float64(near[1, i])
            now = apart[f, s]
            if y < b or (y == b and c < w[s]):
                nearer += m[i] * (min(y, a) - a)
                share[f] += m[i] * (max(y, a) - b)
                U[f] += m[i]
                all_torn -= m[i] * now
                tears[f] += m[i] * now
                if y < a or (y == a and c < w[f]):
                    lost[f] += m[i]
                close[n] = i
                n += 1
            tears[f] -= m[i] * (apart[s, h] - now)
            tears[s] -= m[i] * (apart[f, h] - now)
        if order > 0.0:
            for p in range(K):
                if U[p] != 0.0:
                    for j in range(K):
                        tears[j] += U[p] * apart[p, j]
        best, go, lower = cost - off, -1, 0
        for j in range(K):  # without a branch, so that many neurons are looked at at once
            Q = loss + nearer + removal[0, j] + share[j]
            t = (torn + all_torn + removal[1, j] + tears[j]) * per_mass
            share[j], tears[j] = Q, t
            lower += Q * (1.0 + order * max(t + 1.0 - r_now, 0.0)) < best
        if not lower:
            continue
        for l in range(K):
            v[l] = (np.float64(G[c, l]) + np.float64(d[w[l]])) / 2.0
        for j in range(K):
            Q, t = share[j], tears[j]
            if not Q * (1.0 + order * max(t + 1.0 - r_now, 0.0)) < cost - off:
                continue
            if order == 0.0:
                J = Q
            else:
                _masses_after(j, close[:n], nearest, m, pairs, mu, lost, after)
                _forms_after(j, v, E, nd, mu, after, rows, forms, later)
                J = Q * (1.0 + order * max(t + 1.0 - far_order(later, s_nd), 0.0))
            if J < best:
                best, go = J, j
        if go >= 0:
            return candidate, go
    return -1, -1


@kernel
def _masses_after(j, nearer, nearest, m, pairs, mu, lost, after):  # type: ignore[no-untyped-def]
    """Weights of the fields (K,) once neuron j has the candidate, to which the fields have `lost` in any case.

    Points of j go to their second nearest unless they are among those to which the candidate is nearer than that.
    """
    stay = 0.0
    for l in range(len(mu)):
        after[l] = mu[l] - lost[l] + pairs[j, l]
    for i in nearer:
        if nearest[0, i] == j:
            after[nearest[1, i]] -= m[i]
            stay += m[i]
    after[j] = lost.sum() - lost[j] + stay


@kernel
def _forms_after(j, v, E, nd, mu, after, rows, forms, sums):  # type: ignore[no-untyped-def]
    """The forms (5,) of the masses `after`, with v (K,) in the place of row and column j of E.

    x' B x = mu' B mu + 2 (x - mu)' B mu + (x - mu)' B (x - mu), and few masses change; then the new row is put in.
    """
    K = len(mu)
    sums[:] = forms
    for l in range(K):
        x = after[l] - mu[l]
        if x == 0.0:
            continue
        sums[4] -= after[l] * after[l] - mu[l] * mu[l]
        for k in range(4):
            sums[k] += 2.0 * x * rows[k, l]
        for q in range(K):
            y = after[q] - mu[q]
            if y != 0.0:
                e, d = E[l, q], nd[l, q]
                sums[0] += x * y * e
                sums[1] += x * y * e * e
                sums[2] += x * y * e * d
                sums[3] += x * y * d
    twice = 2.0 * after[j]
    for l in range(K):
        if l != j:
            e, x = E[j, l], twice * after[l]
            sums[0] += x * (v[l] - e)
            sums[1] += x * (v[l] * v[l] - e * e)
            sums[2] += x * (v[l] - e) * nd[j, l]
