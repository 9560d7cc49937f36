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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.quality import inertia
from ..sources.base import FloatArray, IntArray, Source, panels
from ..utils.checks import check_count
from ..utils.threads import run_chunks, stop_if_asked
from .candidates import Block, Candidates, Swapped, prepared, turns
from .descent import LookCount, descended, drawn, first_find
from .swap_kernels import ALL_SWAPS, begun, descend, first_improving, optimum
from .tensor_swaps import descended_on_device


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
    rng, plateau = np.random.default_rng(random_state), plateau and max_swaps is None
    return _optimum(candidates, w, weights, most, plateau, kicks, rng, n_jobs)


def swap_starts(
    D: Source, starts: Sequence[IntArray], m: FloatArray, rngs: Sequence[np.random.Generator], n_jobs: int | None
) -> list[Swapped]:
    """`swap_medoids(D, starts[s], m, plateau=True, random_state=rngs[s])` for all s, for up to LARGEST_BLOCK points.

    Of so few, swaps from one start take no longer than checking D and reading it, and here that is done once.
    """
    candidates, _, weights, _ = prepared(D, starts[0], m, None)
    if candidates.whole is None:  # it is on a device
        return [swap_medoids(D, w, m, plateau=True, random_state=rng) for w, rng in zip(starts, rngs, strict=True)]
    found: list[Any] = [None] * len(starts)

    def work(part: slice) -> None:
        for s in range(part.start, part.stop):
            order = turns(candidates.n, rngs[s])
            w, near, swaps, other, near_other, more = optimum(candidates.whole, order, starts[s], weights)
            found[s] = Swapped(w, swaps, inertia(near[:, None], weights), True)
            if more > swaps and (loss := inertia(near_other[:, None], weights)) < found[s].loss:
                found[s] = Swapped(other, more, loss, True)

    run_chunks(work, list(panels(len(starts), 1)), n_jobs)
    return found


def _optimum(
    candidates: Candidates, w: IntArray, m: FloatArray, most: int, plateau: bool, kicks: int,
    rng: np.random.Generator, n_jobs: int | None,
) -> Swapped:  # fmt: skip
    """What `swap_medoids` finds; w is changed."""
    looks = LookCount(candidates.n, 1 + kicks)

    def reached(start: IntArray, plateau: bool) -> Swapped:
        if candidates.on_device:
            return descended_on_device(candidates, start, m, most, plateau, looks, _MedoidState.of)
        order, state = turns(candidates.n, rng), _MedoidState.of(candidates, start, m)
        found = _descended(candidates, order, state, most, n_jobs, looks)
        return _beyond_ties(candidates, order, state, found, n_jobs, looks) if plateau else found

    best = reached(w, plateau)
    for kicked in drawn(kicks, candidates.n, rng):
        other = reached(kicked(best.medoids), False)
        if other.loss < best.loss:
            best = replace(other, n_swaps=best.n_swaps + other.n_swaps)
    return best


def _beyond_ties(
    candidates: Candidates, order: IntArray, state: _MedoidState, best: Swapped, n_jobs: int | None, looks: LookCount
) -> Swapped:
    """The better of the optimum `best`, where the state is, and the one reached after swaps that keep the loss.

    Before the first tie nothing is swapped, and after the last swap nothing improves: neither is looked at again.
    """
    ties = state.ties[order]
    if not ties.any():
        return best
    N, swaps, idle = candidates.n, 0, 0
    begin = int(ties.argmax())
    looks.left += 1
    for part in panels(N - begin, candidates.block_size):
        stop_if_asked()
        looks.report(begin + part.start)
        done, looked, idle_now = state.descend(candidates.block(order[begin:][part]), N + 1, ALL_SWAPS, even=True)
        swaps, idle = swaps + done, idle_now if done else idle + looked
    looks.done += N
    other = _descended(candidates, order, state, ALL_SWAPS, n_jobs, looks, idle)
    return best if other.loss >= best.loss else replace(other, n_swaps=best.n_swaps + swaps + other.n_swaps)


def _descended(
    candidates: Candidates, order: IntArray, state: _MedoidState, most: int, n_jobs: int | None, looks: LookCount,
    idle: int = 0,
) -> Swapped:  # fmt: skip
    """The optimum reached from a state, which is changed in place; idle: as of `descended`."""
    swaps, converged = descended(candidates, order, state, most, n_jobs, looks, idle)
    return Swapped(state.w.copy(), swaps, inertia(state.near[:, None], state.m), converged)


@dataclass(frozen=True)
class _MedoidState:
    """Medoids w (K,) and what follows from them: G (N, K) = D[:, w], each point's two nearest medoids and how near.

    taken (N,) : which points are medoids; when one of two medoids on the same point moves away, it turns False.
    removal (K + 1,) : removal(j) of the module's formula for each j, then the loss.
    tied (N + 1,) : after how many swaps a point was last found as a candidate that would leave the computed loss as it
        is, -1 for never; and how many swaps there were.
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
    tied: NDArray[np.int64]

    @classmethod
    def of(cls, candidates: Candidates, w: IntArray, m: FloatArray) -> _MedoidState:
        return cls(*begun(candidates.rows(w), w, m))

    @property
    def ties(self) -> NDArray[np.bool_]:
        """(N,) which candidates would leave the computed loss as it is; all were looked at since the last swap."""
        return self.tied[:-1] == self.tied[-1]

    def first_improving(self, block: Block, n_jobs: int | None) -> int:
        """Index in the block of the first candidate to improve; len(block) if none."""
        state = self.taken, self.m, self.first, self.near, self.far, self.removal, self.tied

        def look(chunk: slice) -> int:
            part = block[chunk]
            return first_improving(part.C, part.at, part.points, *state, False)[0]

        return first_find(look, len(block), n_jobs)

    def descend(self, block: Block, patience: int, most: int, even: bool = False) -> tuple[int, int, int]:
        """Go through the block swapping eagerly, if `even` also where the loss stays the same.

        Returns (swaps made, candidates looked at, candidates since the last swap).
        """
        state = self.w, self.m, self.taken, self.G, self.first, self.second, self.near, self.far, self.removal
        return descend(block.C, block.at, block.points, *state, self.tied, patience, most, even)
