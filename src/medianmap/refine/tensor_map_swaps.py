"""Swaps on a SOM on a device: many exchanges a pass while J falls, to an optimum that the CPU's own rule confirms.

A pass gives the change of Q and of t (see som_swaps.py) for every candidate c in the place of every neuron j. With f, s
and h the three nearest exemplars of point i, A[j, l] = 1 where two neurons do not touch, B(i, c) = 1 where c would come
before s, and C(i, c) = 1 where it would come after h,

    change of t sum m = sum_p A[j, p] U[p, c] - sum_i m_i A[f, s] B
                        + sum_{f = j} m_i (A[f, s] B + (A[s, h] - A[f, s]) C)
                        + sum_{s = j} m_i (A[f, h] - A[f, s]) C,                 U[p, c] = sum_{f = p} m_i B.

The best candidate of each neuron, with the r of now, is found, and as many of the best are exchanged at once as lower
J, which is summed by the CPU's own function; where that fails, some one by one. The last sum is over other runs of
points than the rest, so it would read D once more; it hardly depends on c, as few points have C = 0, and is taken for
C = 1 as long as that finds something.

When no exchange helps, a pass in float64, with all sums as they are, leaves out every candidate that the CPU's loop
could not take, and the rest are tried by that loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.neighborhood import Lattice
from ..search.segments import Place, Runs, add_after, add_changes, add_tears
from ..search.tensor_finder import whole_or_panels
from ..sources.base import FloatArray, IntArray
from ..utils.arrays import namespace, on_host, tensor_like
from ..utils.threads import stop_if_asked
from .candidates import EPS, Candidates
from .descent import LookCount
from .map_cost import MapState, between
from .tensor_swaps import AT_ONCE, FEWER, computed_with, some_of, tried_on_host

# Exchanges that are tried one by one: the far order, which none of the estimates knows, forbids some of the best.
SINGLY = 16


@dataclass
class DeviceMapState(MapState):
    """A map whose dissimilarities C (K, N), C[j, i] = D[i, w_j], are on a device; G is left empty."""

    source: Any = None
    C: Any = None

    @classmethod
    def over(cls, source: Any, w: IntArray, m: FloatArray, lattice: Lattice, order: float) -> Self:
        """The state of the exemplars w (K,)."""
        C = computed_with(source.columns(w))
        among, none = on_host(C[:, tensor_like(w, C)]), np.empty((0, len(w)))
        state = cls.with_nearest(none, *three_nearest(C, w), among, w, m, lattice, order)
        state.source, state.C = source, C
        return state

    def permute(self, p: IntArray) -> None:
        self.C = self.C[tensor_like(p, self.C)]
        super().permute(p)

    def exchanged(self, js: IntArray, points: IntArray) -> bool:
        """Whether J is lower when neurons js take the points; if not, nothing has changed."""
        places, rows, cost = tensor_like(js, self.C), computed_with(self.source.columns(points)), self.cost
        before = self.w[js], self.nearest, self.near, self.C[places]
        among = self._take(js, points, places, rows)
        self.nearest, self.near = three_nearest(self.C, self.w)
        self.measure()
        if self.cost < cost:
            return True
        self._take(js, before[0], places, before[3])
        self.E[js], self.E[:, js] = among, among.T
        self.nearest, self.near = before[1:3]
        self.measure()
        return False

    def _take(self, js: IntArray, points: IntArray, places: Any, rows: Any) -> FloatArray:
        """Neurons js, `places` on the device, have the points, whose columns of D are `rows`; E[js] of before."""
        before = self.E[js]
        self.w[js], self.C[places] = points, rows
        e = on_host(rows[:, tensor_like(self.w, rows)].double() + self.C[:, tensor_like(points, rows)].T) / 2
        e[np.arange(len(js)), js] = 0.0
        self.E[js], self.E[:, js] = e, e.T
        return before

    def descend(
        self, candidates: Candidates, looks: LookCount, host_moves: Callable[[Candidates, IntArray], Any], most: int
    ) -> tuple[int, bool]:
        """Exchange exemplars for points, in place, `most` at most; how many, and whether none lowers J any further.

        host_moves : the moves of the CPU's loop from exemplars w (K,).
        """
        exact = Candidates(self.source.exact(), None)
        swaps = 0
        while True:
            swaps += self._many_at_once(most - swaps, looks)
            if swaps >= most:
                return swaps, False
            if exact.source is not self.source:  # and no way back: fewer digits could undo what all digits say
                vars(self).update(vars(self._over(exact.source, self.w)))
                continue
            close = self.close_to_improving()
            if not len(close):
                return swaps, True
            moves = host_moves(exact, self.w.copy())
            done = tried_on_host(exact, moves, close, most - swaps)
            if not done:
                return swaps, True
            swaps += done
            vars(self).update(vars(self._over(self.source, moves.state.w)))

    def _over(self, source: Any, w: IntArray) -> Self:
        """The state of other exemplars or of another source."""
        C = computed_with(source.columns(w))
        nearest, near = three_nearest(C, w)
        E = between(on_host(C[:, tensor_like(w, C)]))
        fresh: list[Any] = [np.zeros_like(x) for x in (self.removal, self.pairs, self.mu, self.rows, self.forms)]
        lattice = self.nd, self.apart, self.s_nd
        state = type(self)(w.copy(), self.m, self.order, *lattice, self.G, nearest, near, E, self.mass, *fresh)
        state.source, state.C = source, C
        state.measure()
        return state

    def _many_at_once(self, most: int, looks: LookCount) -> int:
        """Exchange the best candidates of several neurons at once while that lowers J; how many were exchanged."""
        swaps, size, torch = 0, AT_ONCE, namespace(self.C)
        passes = (self.C.dtype, False), (torch.float64, True)
        which = 0
        while swaps < most and which < len(passes):
            stop_if_asked()
            looks.report(0)
            cost, at = self.costs(*passes[which]).min(1)
            looks.done += len(self.m)
            change, points = on_host(cost) - self.cost, on_host(at).astype(np.intp)
            done = some_of(change, points, min(size, most - swaps), self.exchanged, SINGLY)
            swaps, size = swaps + done, min(AT_ONCE, FEWER * max(done, 1))
            which = 0 if done else which + 1
        return swaps

    def costs(self, kind: Any, whole: bool) -> Any:
        """J (K, N) with candidate c in the place of neuron j and the r of now; infinite for those that are exemplars.

        kind : the type of the sums. whole : whether no sum is replaced by what it is near.
        """
        torch = namespace(self.C)
        first = _Sorted(self.nearest[0], self.C, kind)
        m, a = first.of(self.m), first.of(self.near[0])
        sums = torch.zeros((2 if self.order == 0.0 else 5, *self.C.shape), dtype=kind, device=self.C.device)
        if self.order == 0.0:
            b = first.of(self.near[1])
            for some, which, D in first.runs_in(self.source):
                add_changes(sums[0], sums[1], D, some, m[which], a[which], b[which])
            Q = sums[1].add_(sums[0].sum(0) + self.loss)
        else:
            (f, s, h), A, (_, b, e) = self.nearest, self.apart, self.near
            now = A[f, s]
            second = first.place(self.w[s], b, self.m * now)
            third = first.place(self.w[h], e, self.m * (A[s, h] - now))
            for some, which, D in first.runs_in(self.source):
                add_tears(sums, D, some, m[which], a[which], second.of(which), third.of(which))
            Q = sums[1].add_(sums[0].sum(0) + self.loss)
            t = self._tears(sums, whole)
            Q *= t.add_(self.torn).div_(self.mass).add_(1.0 - self.r).clamp_(min=0.0).mul_(self.order).add_(1.0)
        Q[:, tensor_like(self.w, Q)] = torch.inf
        return Q

    def _tears(self, sums: Any, whole: bool) -> Any:
        """The change of t sum m (K, N) from the sums by nearest exemplar; see `costs`."""
        (f, s, h), A, e = self.nearest, self.apart, self.near[2]
        t = tensor_like(A, sums, sums.dtype) @ sums[2]
        t += sums[3]
        t += sums[4]
        t -= sums[3].sum(0)
        more = self.m * (A[f, h] - A[f, s])
        if not whole:
            return t.add_(tensor_like(np.bincount(s, more, len(self.w)), t, t.dtype)[:, None])
        by_second = _Sorted(s, self.C, t.dtype)
        third = by_second.place(self.w[h], e, more)
        for some, which, D in by_second.runs_in(self.source):
            add_after(t, D, some, third.of(which))
        return t

    def close_to_improving(self) -> IntArray:
        """Candidates for which float64 does not tell that the CPU's loop would take none of them, ascending."""
        cost = self.costs(namespace(self.C).float64, whole=True)
        N, K = len(self.m), len(self.w)
        off = 16 * (N + K + 8) * EPS * (1.0 + 4.0 * self.order) * (self.loss + 2.0 * self.removal[0])
        return np.flatnonzero(on_host((cost <= self.cost + tensor_like(off, cost)[:, None]).any(0)))


class _Sorted:
    """Points in the order of their field (N,): what they have, on the device in that order, sums in type `kind`."""

    def __init__(self, field: NDArray[Any], like: Any, kind: Any) -> None:
        self.runs, self.like, self.kind = Runs.by_field(tensor_like(field, like), len(like)), like, kind

    def of(self, x: NDArray[Any], kind: Any = None) -> Any:
        """x (N,)."""
        return tensor_like(x, self.like, kind or self.kind)[self.runs.index]

    def place(self, w: IntArray, far: NDArray[Any], weight: FloatArray) -> Place:
        """An exemplar of each point; how far it is stays in the type of D."""
        return Place(tensor_like(w, self.like)[self.runs.index], self.of(far, self.like.dtype), self.of(weight))

    def runs_in(self, source: Any) -> Iterator[tuple[Runs, Any, Any]]:
        """Panels of D with the runs in them, and which of all points these are."""
        for rows, D in whole_or_panels(source):
            some, here = self.runs.among(rows)
            if len(some.index):
                yield some, here, D


def three_nearest(C: Any, w: IntArray) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """(nearest, near), (3, N) each, of C (K, N); of equally near exemplars w (K,), that of the lower point first."""
    turn = np.argsort(w, kind="stable")
    left = C[tensor_like(turn, C)]
    nearest, near = np.zeros((3, C.shape[1]), np.int32), []
    for k in range(3):
        least, at = left.min(0)
        near.append(on_host(least))
        if k < len(w):
            nearest[k] = turn[on_host(at)]
        left.scatter_(0, at[None], namespace(C).inf)
    return nearest, np.stack(near)
