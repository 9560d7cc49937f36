"""Swaps of medoids on a device: many exchanges a pass, to an optimum of single swaps that the CPU's own rule confirms.

A pass gives the change of the loss for every candidate c in the place of every medoid j, in one read of D. With a_i and
b_i the dissimilarities of point i to its nearest and second nearest medoid and n(i) the nearest,

    change(j, c) = sum_i m_i (min(D[i, c], a_i) - a_i)
                   + sum_{n(i) = j} m_i (min(max(D[i, c], a_i), b_i) - a_i)

The best candidate of each medoid is found, and as many of the best of those are exchanged at once as lower the loss,
a quarter as many if they do not. When no single one does, a pass in float64 leaves out every candidate that rounding
cannot make an improvement: a sum of N terms in any order, with K more additions, is off by at most (N + K + 8) u times
the sum of their sizes, which is at most loss + 2 removal(j) (medoid_swaps.py). What is left, a few copies of exemplars
as a rule, is tried by the compiled loop of the CPU. If it finds a swap the descent goes on, if not the optimum is one
of that loop: it would have stopped there, too. The loss falls with each exchange, so the descent ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.quality import inertia
from ..search.segments import Runs, add_changes
from ..search.tensor_finder import whole_or_panels
from ..sources.base import FloatArray, IntArray, panels
from ..utils.arrays import namespace, on_host, tensor_like
from ..utils.threads import stop_if_asked
from .candidates import EPS, UNDERFLOW, Candidates, Swapped
from .descent import LookCount

# Exchanges at once, at most, and by what that is divided where they raise the loss.
AT_ONCE, FEWER = 256, 4


def descended_on_device(
    candidates: Candidates, start: IntArray, m: FloatArray, most: int, plateau: bool, looks: LookCount,
    host_state: Callable[[Candidates, IntArray, FloatArray], Any],
) -> Swapped:  # fmt: skip
    """The optimum reached from `start`; arguments as of `swap_medoids`, host_state : makes the CPU's state."""
    exact = replace(candidates, source=candidates.source.exact())  # type: ignore[attr-defined]
    w, swaps, ended, source = start, 0, False, candidates.source
    while not ended and swaps < most:
        state = DeviceMedoids.of(source, w, m)
        swaps += _many_at_once(state, most - swaps, looks)
        w = state.w
        if exact.source is not source:
            source = exact.source  # and no way back: fewer digits could undo what all digits say
            continue
        close = state.close_to_improving()
        ended = not len(close)
        if not ended and swaps < most:
            found = host_state(exact, w.copy(), m)
            done = tried_on_host(exact, found, close, most - swaps)
            w, swaps, ended = found.w, swaps + done, not done
    loss = inertia(on_host(state.near)[:, None], m) if ended else loss_of(exact, w, m)
    best = Swapped(w.copy(), swaps, loss, ended)
    if plateau and ended and len(close):
        found = host_state(exact, w.copy(), m)
        even = tried_on_host(exact, found, close, candidates.n, even=True)
        if even:
            other = descended_on_device(candidates, found.w, m, most, False, looks, host_state)
            if other.loss < best.loss:
                best = replace(other, n_swaps=swaps + even + other.n_swaps)
    return best


def tried_on_host(candidates: Candidates, state: Any, points: IntArray, most: int, **how: Any) -> int:
    """How many swaps the CPU's loop makes when it tries these candidates in turn; the state is changed."""
    done = 0
    for part in panels(len(points), candidates.block_size):
        block = candidates.block(points[part])
        done += state.descend(block, len(block) + 1, most - done, **how)[0]
    return done


def loss_of(candidates: Candidates, w: IntArray, m: FloatArray) -> float:
    """sum_i m_i min_j D[i, w_j]."""
    return inertia(on_host(computed_with(candidates.source.columns(w)).amin(0))[:, None], m)  # type: ignore[attr-defined]


def _many_at_once(state: DeviceMedoids, most: int, looks: LookCount) -> int:
    """Exchange the best candidates of several medoids at once while that lowers the loss; how many were exchanged."""
    swaps, size = 0, AT_ONCE
    while swaps < most:
        stop_if_asked()
        looks.report(0)
        change, at = state.changes(state.C.dtype).min(1)
        looks.done += len(state.m)
        best, points = on_host(change), on_host(at).astype(np.intp)
        done = some_of(best, points, min(size, most - swaps), state.exchanged)
        if not done:
            break
        swaps, size = swaps + done, min(AT_ONCE, FEWER * done)
    return swaps


def some_of(
    change: FloatArray, points: IntArray, size: int, exchanged: Callable[[IntArray, IntArray], bool], singly: int = 1
) -> int:
    """Exchange as many as possible of the best at once: medoid j for points[j], which changes the cost by change[j].

    exchanged(js, points) makes the exchanges and says whether that helped, or undoes them. The number of exchanges.

    singly : how many of the best are tried one by one, where several at once did not help.
    """
    order = np.argsort(change, kind="stable")
    order = order[: int((change < 0).sum())]
    order = order[np.sort(np.unique(points[order], return_index=True)[1])]  # a candidate takes one place only
    size = min(size, len(order))
    while size > 1:
        if exchanged(order[:size], points[order[:size]]):
            return size
        size //= FEWER
    return int(any(exchanged(one, points[one]) for one in order[:singly, None]))


@dataclass
class DeviceMedoids:
    """Medoids w (K,) and what follows from them, on the device but for m (N,) and w.

    C (K, N) : D[i, w_j]; first (N,) : the nearest medoid, the lowest on ties; near, far (N,) : how near that and the
    second nearest are; loss : sum_i m_i near_i.
    """

    source: Any
    w: IntArray
    m: FloatArray
    weight: Any
    C: Any
    first: Any = None
    near: Any = None
    far: Any = None
    loss: float = 0.0

    @classmethod
    def of(cls, source: Any, w: IntArray, m: FloatArray) -> DeviceMedoids:
        C = computed_with(source.columns(w))
        state = cls(source, w.copy(), m, tensor_like(m, C), C)
        state.measure()
        return state

    def measure(self) -> None:
        """Find the two nearest medoids of each point."""
        self.near, self.first = self.C.min(0)
        self.far = next_least(self.C, self.first, self.near)
        self.loss = float((self.weight * self.near).sum())

    def exchanged(self, js: IntArray, points: IntArray) -> bool:
        """Whether the loss is lower when the medoids js are the points; if not, nothing has changed."""
        places = tensor_like(js, self.C)
        before = self.C[places], self.first, self.near, self.far, self.loss
        self.C[places] = computed_with(self.source.columns(points))
        self.measure()
        # By more than rounding: so the loss as the CPU sums it falls, too, and what its loop swapped stays swapped.
        if self.loss < before[-1] * (1.0 - 4 * (len(self.m) + 4) * EPS):
            self.w[js] = points
            return True
        self.C[places], self.first, self.near, self.far, self.loss = before
        return False

    def changes(self, kind: Any) -> Any:
        """change(j, c) (K, N), summed in the type `kind`; infinite for candidates that are medoids."""
        torch, runs = namespace(self.C), Runs.by_field(self.first, len(self.w))
        m, a, b = (x[runs.index].to(kind) for x in (self.weight, self.near, self.far))
        nearer, share = (torch.zeros(self.C.shape, dtype=kind, device=self.C.device) for _ in range(2))
        for rows, D in whole_or_panels(self.source):
            some, here = runs.among(rows)
            if len(some.index):
                add_changes(nearer, share, D, some, m[here], a[here], b[here])
        share += nearer.sum(0)
        share[:, tensor_like(self.w, share)] = torch.inf
        return share

    def close_to_improving(self) -> IntArray:
        """Candidates for which float64 does not tell that no exchange lowers the loss, ascending."""
        change = self.changes(namespace(self.C).float64)
        N, K = len(self.m), len(self.w)
        size = change + 2 * self.loss  # of one medoid's change: each term is at most d + a
        if K > 1:
            removal = np.bincount(on_host(self.first), self.m * on_host(self.far.double() - self.near), K)
            size = tensor_like(self.loss + 2 * removal, change)[:, None]
        off = 4 * (N + K + 8) * EPS * size + 4 * N * UNDERFLOW
        return np.flatnonzero(on_host((change <= off).any(0)))


def computed_with(rows: Any) -> Any:
    """Rows of D as they are compared: float64 or float32."""
    return rows if rows.dtype == namespace(rows).float64 else rows.float()


def next_least(C: Any, first: Any, near: Any) -> Any:
    """(N,) the least of each column of C (K, N) but that in row first (N,), which is near (N,). C stays as it is."""
    C.scatter_(0, first[None], namespace(C).inf)
    least = C.amin(0)
    C.scatter_(0, first[None], near[None])
    return least
