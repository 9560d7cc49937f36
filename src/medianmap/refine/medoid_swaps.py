"""Swaps of medoids, and the gain of each in loss(w) = sum_i m_i min_j D[i, w_j], until none lowers the loss.

The idea is that of FasterPAM (Schubert & Rousseeuw 2021): one pass over the points gives, for one candidate c, the
change of the loss for every medoid that c could replace. Let a_i <= b_i be the dissimilarities of point i to its
nearest and second nearest medoid, n(i) the nearest, d_i = D[i, c]. If w_j is replaced by c, a point of another medoid
goes to c if that is nearer; a point of w_j goes to c or to its second nearest. The loss changes by

    change(j, c) = sum_{n(i) != j} m_i (min(d_i, a_i) - a_i)  +  sum_{n(i) = j} m_i (min(d_i, b_i) - a_i)

Extend the first sum over all points; the second is then corrected by min(d, b) - min(d, a), which is 0, d - a or
b - a for d below a, between, and above b, that is (b - a) + min(max(d, a) - b, 0):

    change(j, c) = acc(c) + removal(j) + share(j, c)
    acc(c)      = sum_i m_i (min(d_i, a_i) - a_i)
    removal(j)  = sum_{n(i) = j} m_i (b_i - a_i)                       the same for all candidates
    share(j, c) = sum_{n(i) = j} m_i min(max(d_i, a_i) - b_i, 0)       0 for all but the points with d_i < b_i

A point with d_i >= b_i adds to no sum. So a candidate costs N comparisons, done eight and more at a time on the types
of the matrix, which is exact since a_i and b_i are entries of it; and arithmetic only for the about 2 N / K points for
which c is nearer than their second medoid. As share <= 0, the best j is that of the smallest removal or one of
the medoids of those points.

Rounding. All terms of one sum have one sign, |acc| <= loss, |share(j)| <= removal(j); each term is rounded twice (the
products may also lose 2^-1075 by underflow), sums of up to N terms and their two final additions add N + 1 roundings.
With u = 2^-53 the computed change is off by at most

    (N + 3) u / (1 - (N + 3) u) (loss + 2 removal(j)) + 3 N 2^-1075  <  2 (N + 4) u (loss + 2 removal(j)) + 4 N 2^-1075

for computed loss and removal as well, as long as N < 10^12. A swap whose computed change lies below minus twice the
right-hand side is made: then the loss falls by more than rounding can hide. Where the change is nearer to 0 than that,
the loss after the swap is summed from scratch, in the order of the loss before, and has to be lower. (It must be: where
a lone outlier has a medoid, removal is larger than the loss by far, and so is the uncertainty.) So the computed loss
falls with each swap, no set of medoids occurs twice, and there are finitely many: the search ends.

Ties. Where dissimilarities are whole numbers, many swaps leave the loss unchanged. A walk along a plateau is one pass
over the candidates that makes every swap that does not raise the computed loss. Rounding may raise the loss on the way,
so the optimum before is kept unless the one after is lower.

Swaps are eager (descent.py): candidates are tried in a random order, drawn anew for every start, and the first that
improves replaces the best medoid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.quality import inertia
from ..sources.base import FloatArray, IntArray, panels
from ..utils.checks import check_count
from ..utils.kernels import kernel
from ..utils.threads import stop_if_asked
from .candidates import EPS, UNDERFLOW, Block, Candidates, Swapped, prepared, turns
from .descent import LookCount, descended, drawn, first_find
from .tensor_swaps import descended_on_device

# Points whose nearest medoids are found together.
TILE = 1024


def swap_medoids(
    D: Any, medoids: Any, m: Any = None, *, max_swaps: int | None = None, plateau: bool = False, kicks: int = 0,
    random_state: int | np.random.Generator = 0, n_jobs: int | None = None,
) -> Swapped:  # fmt: skip
    """Lower sum_i m_i min_j D[i, w_j] by single swaps to a local optimum: no swap of one medoid lowers it further.

    Parameters
    ----------
    D : (N, N) dissimilarities, row = point, column = candidate; symmetric or not, or a Source. Float32 and float64
        matrices are read as they are; a symmetric one in memory is not copied.
    medoids : (K,) indices of data points to start from; those that stay keep their places.
    m : (N,) weights > 0; ones by default.
    max_swaps : largest number of swaps; None for as many as are needed.
    plateau : whether, at the optimum, one more pass over the candidates also makes swaps that leave the loss unchanged,
        as whole numbers often allow. Swaps continue from there, and the better optimum is kept. Ignored with max_swaps.
    kicks : number of times that some medoids of the best optimum so far, drawn at random, are replaced by random
        points. Swaps continue from there, and the best optimum is kept. Ignored with max_swaps.
    random_state : seed of the order in which candidates are tried, and of the kicks.
    n_jobs : number of threads; the result does not depend on it.
    """
    candidates, w, weights, most = prepared(D, medoids, m, max_swaps)
    check_count(kicks, "kicks", at_least=0)
    if max_swaps is not None or len(w) == candidates.n:
        kicks = 0
    looks, rng = LookCount(candidates.n, 1 + kicks), np.random.default_rng(random_state)

    def optimum(start: IntArray, plateau: bool) -> Swapped:
        if candidates.on_device:
            return descended_on_device(candidates, start, weights, most, plateau, looks, _MedoidState.of)
        order, state = turns(candidates.n, rng), _MedoidState.of(candidates, start, weights)
        found = _descended(candidates, order, state, most, n_jobs, looks)
        return _beyond_ties(candidates, order, state, found, n_jobs, looks) if plateau else found

    best = optimum(w, plateau and max_swaps is None)
    for kicked in drawn(kicks, candidates.n, rng):
        other = optimum(kicked(best.medoids), False)
        if other.loss < best.loss:
            best = replace(other, n_swaps=best.n_swaps + other.n_swaps)
    return best


def _beyond_ties(
    candidates: Candidates, order: IntArray, state: _MedoidState, best: Swapped, n_jobs: int | None, looks: LookCount
) -> Swapped:
    """The better of the optimum `best`, where the state is, and the one reached after swaps that keep the loss."""
    N, swaps, most = candidates.n, 0, np.iinfo(np.int64).max
    looks.left += 1
    for part in panels(N, candidates.block_size):
        stop_if_asked()
        looks.report(part.start)
        swaps += state.descend(candidates.block(order[part]), N + 1, most, even=True)[0]
    looks.done += N
    if not swaps:
        looks.left -= 1
        return best
    other = _descended(candidates, order, state, most, n_jobs, looks)
    return best if other.loss >= best.loss else replace(other, n_swaps=best.n_swaps + swaps + other.n_swaps)


def _descended(
    candidates: Candidates, order: IntArray, state: _MedoidState, most: int, n_jobs: int | None, looks: LookCount
) -> Swapped:
    """The optimum reached from a state, which is changed in place."""
    swaps, converged = descended(candidates, order, state, most, n_jobs, looks)
    return Swapped(state.w.copy(), swaps, inertia(state.near[:, None], state.m), converged)


@dataclass(frozen=True)
class _MedoidState:
    """Medoids w (K,) and what follows from them: G (N, K) = D[:, w], each point's two nearest medoids and how near.

    taken (N,) : which points are medoids; when one of two medoids on the same point moves away, it turns False.
    removal (K + 1,) : removal(j) of the module's formula for each j, then the loss.
    """

    w: IntArray
    m: FloatArray
    taken: NDArray[np.bool_]
    G: NDArray[Any]
    first: NDArray[np.int32]
    second: NDArray[np.int32]
    near: NDArray[Any]
    far: NDArray[Any]
    removal: FloatArray

    @classmethod
    def of(cls, candidates: Candidates, w: IntArray, m: FloatArray) -> _MedoidState:
        N, K = candidates.n, len(w)
        C = candidates.rows(w)
        first, second = np.full(N, -1, np.int32), np.full(N, -1, np.int32)
        near, far = np.full(N, np.inf, C.dtype), np.full(N, np.inf, C.dtype)
        taken, removal = np.zeros(N, bool), np.empty(K + 1)
        taken[w] = True
        _two_nearest(C, first, second, near, far)
        _removals(m, first, near, far, removal)
        return cls(w, m, taken, np.ascontiguousarray(C.T), first, second, near, far, removal)

    def first_improving(self, block: Block, n_jobs: int | None) -> int:
        """Index in the block of the first candidate to improve; len(block) if none."""
        state = self.taken, self.m, self.first, self.near, self.far, self.removal

        def look(chunk: slice) -> int:
            part = block[chunk]
            return _first_improving(part.C, part.at, part.points, *state, False)[0]

        return first_find(look, len(block), n_jobs)

    def descend(self, block: Block, patience: int, most: int, even: bool = False) -> tuple[int, int, int]:
        """Go through the block swapping eagerly, if `even` also where the loss stays the same.

        Returns (swaps made, candidates looked at, candidates since the last swap).
        """
        state = self.w, self.m, self.taken, self.G, self.first, self.second, self.near, self.far, self.removal
        return _descend(block.C, block.at, block.points, *state, patience, most, even)


@kernel
def _two_nearest(C, first, second, near, far):  # type: ignore[no-untyped-def]
    """Nearest and second nearest row of C (K, N) for each column, the lowest on ties; near and far start at inf.

    Row by row and without branches, so that eight and more columns are compared at once.
    """
    for start in range(0, C.shape[1], TILE):
        stop = min(start + TILE, C.shape[1])
        a, b, p, q = near[start:stop], far[start:stop], first[start:stop], second[start:stop]
        for row in range(C.shape[0]):
            d, k = C[row, start:stop], np.int32(row)
            for i in range(stop - start):
                v, a_i, b_i, p_i, q_i = d[i], a[i], b[i], p[i], q[i]
                nearest, nearer = v < a_i, v < b_i
                b_new, q_new = v if nearer else b_i, k if nearer else q_i
                b[i], q[i] = a_i if nearest else b_new, p_i if nearest else q_new
                a[i], p[i] = v if nearest else a_i, k if nearest else p_i


@kernel
def _removals(m, first, near, far, removal):  # type: ignore[no-untyped-def]
    """removal[j] = sum over points of j of m_i (b_i - a_i); the last entry is the loss."""
    K = removal.shape[0] - 1
    removal[:] = 0.0
    loss = 0.0
    for i in range(m.shape[0]):
        a = np.float64(near[i])
        removal[first[i]] += m[i] * (np.float64(far[i]) - a)
        loss += m[i] * a
    removal[K] = loss


@kernel
def _first_improving(C, at, points, taken, m, first, near, far, removal, even):  # type: ignore[no-untyped-def]
    """(t, j): the first candidate points[t], row at[t] of C, that lowers the loss, and the medoid j it replaces.

    (-1, -1) if none does. The gain of a swap is -(acc + least): acc, removal and share as in the module's formula. If
    `even`, a swap whose computed loss is the same counts, too. Candidates that are medoids already (taken) are skipped.
    """
    N, K = m.shape[0], removal.shape[0] - 1
    if K == 1:
        return _first_better(C, at, m, near)
    loss = removal[K]
    mask = np.zeros((N + 7) // 8 * 8, np.uint8)
    eights = mask.view(np.uint64)
    nearer = np.empty(N + 8, np.int32)
    share = np.zeros(K)
    cheapest, widest = np.argmin(removal[:K]), 2.0 * _uncertainty(N, loss, removal[:K].max())
    for candidate in range(at.shape[0]):
        if taken[points[candidate]]:
            continue
        d = C[at[candidate]]
        for i in range(N):
            mask[i] = d[i] < far[i]
        n = 0
        for e in range(eights.shape[0]):
            if eights[e]:
                for i in range(8 * e, 8 * e + 8):
                    nearer[n] = i
                    n += mask[i]
        acc = 0.0
        for t in range(n):
            i = nearer[t]
            a, d_i = np.float64(near[i]), np.float64(d[i])
            acc += m[i] * (min(d_i, a) - a)
            share[first[i]] += m[i] * (max(d_i, a) - np.float64(far[i]))
        go, least = int(cheapest), removal[cheapest]
        for t in range(n):
            j = first[nearer[t]]
            change = removal[j] + share[j]
            if change < least or (change == least and j < go):
                go, least = j, change
        found = acc + least < -2.0 * _uncertainty(N, loss, removal[go]) or (even and acc + least <= 0.0)
        # A medoid with a larger change may have a larger uncertainty, too, so all are looked at.
        if not found and acc + least <= widest:
            go, lowest = -1, loss
            for j in range(K):
                if acc + removal[j] + share[j] <= 2.0 * _uncertainty(N, loss, removal[j]):
                    after = _loss_after(j, d, m, first, near, far)
                    if after < lowest:
                        go, lowest = j, after
            found = go >= 0
        for t in range(n):
            share[first[nearer[t]]] = 0.0
        if found:
            return candidate, go
    return -1, -1


@kernel
def _uncertainty(N, loss, removal):  # type: ignore[no-untyped-def]
    """By how much a computed change of the loss may be off."""
    return (N + 4) * EPS * (loss + 2.0 * removal) + 4 * N * UNDERFLOW


@kernel
def _loss_after(j, d, m, first, near, far):  # type: ignore[no-untyped-def]
    """The loss if medoid j is replaced by the candidate at d (N,), in the order of `_removals`."""
    loss = 0.0
    for i in range(m.shape[0]):
        stays = np.float64(far[i]) if first[i] == j else np.float64(near[i])
        loss += m[i] * min(np.float64(d[i]), stays)
    return loss


@kernel
def _first_better(C, at, m, near):  # type: ignore[no-untyped-def]
    """The same for one medoid: change(c) = sum_i m_i (d_i - a_i); its terms have both signs, |.| <= d_i + a_i.

    Ties are never taken: where no point is better than the one medoid, the loss is the global minimum.
    """
    N = m.shape[0]
    for t in range(at.shape[0]):
        d_t = C[at[t]]
        change = size = 0.0
        before = after = 0.0
        for i in range(N):
            d, a = np.float64(d_t[i]), np.float64(near[i])
            change += m[i] * (d - a)
            size += m[i] * (d + a)
            before += m[i] * a
            after += m[i] * d
        off = 2.0 * _uncertainty(N, size, 0.0)
        if change < -off or (change <= off and after < before):
            return t, 0
    return -1, -1


@kernel
def _exchange(j, d, G, first, second, near, far):  # type: ignore[no-untyped-def]
    """Medoid j is now d (N,) away; a point searches all medoids only if one of its two nearest moved away."""
    N, K = G.shape
    for i in range(N):
        new = d[i]
        G[i, j] = new
        if first[i] == j:
            if new <= far[i]:
                near[i] = new
                continue
            first[i], near[i] = second[i], far[i]
        elif new < near[i]:
            second[i], far[i] = first[i], near[i]
            first[i], near[i] = j, new
            continue
        elif new <= far[i]:
            second[i], far[i] = j, new
            continue
        elif second[i] != j:
            continue
        a = first[i]
        b = 0 if a != 0 else 1
        for k in range(b + 1, K):
            if k != a and G[i, k] < G[i, b]:
                b = k
        second[i], far[i] = b, G[i, b]


@kernel
def _descend(C, at, points, w, m, taken, G, first, second, near, far, removal, patience, most, even):  # type: ignore[no-untyped-def]
    """Go through the candidates `points`, rows `at` of C, and make each swap that lowers the loss.

    Ends after `most` swaps, or `patience` candidates without one. Returns (swaps, candidates looked at, candidates
    since the last swap).
    """
    swaps = idle = begin = 0
    while begin < at.shape[0] and idle < patience and swaps < most:
        stop = min(begin + patience - idle, at.shape[0])
        t, j = _first_improving(C, at[begin:stop], points[begin:stop], taken, m, first, near, far, removal, even)
        if t < 0:
            idle += stop - begin
            begin = stop
            continue
        t += begin
        taken[w[j]], taken[points[t]] = False, True
        w[j] = points[t]
        _exchange(j, C[at[t]], G, first, second, near, far)
        _removals(m, first, near, far, removal)
        swaps += 1
        idle = 0
        begin = t + 1
    return swaps, begin, idle
