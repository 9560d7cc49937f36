"""The compiled loops of medoid_swaps.py, whose formulas and names they share.

State of one start: medoids w (K,); weights m (N,); taken (N,), whether a point is a medoid; G (N, K) = D[:, w]; first,
second, near, far (N,), each point's two nearest medoids and how near; removal (K + 1,); tied (N + 1,): after how many
swaps a candidate was last found that would leave the computed loss as it is, and how many swaps there were.
"""

from __future__ import annotations

import numpy as np

from ..utils.kernels import kernel
from .candidates import EPS, UNDERFLOW

# Points whose nearest medoids are found together.
TILE = 1024
# As many swaps as are needed.
ALL_SWAPS = np.iinfo(np.int64).max


@kernel
def begun(rows, w, m):  # type: ignore[no-untyped-def]
    """The state of medoids w (K,) before any swap; rows (K, N) are their dissimilarities from all points."""
    N, K = m.shape[0], w.shape[0]
    first, second = np.full(N, -1, np.int32), np.full(N, -1, np.int32)
    near, far = np.full(N, np.inf, rows.dtype), np.full(N, np.inf, rows.dtype)
    taken, removal, tied = np.zeros(N, np.bool_), np.empty(K + 1), np.full(N + 1, -1)
    taken[w] = True
    tied[N] = 0
    two_nearest(rows, first, second, near, far)
    removals(m, first, near, far, removal)
    return w, m, taken, np.ascontiguousarray(rows.T), first, second, near, far, removal, tied


@kernel
def optimum(C, order, w, m):  # type: ignore[no-untyped-def]
    """(w, near, swaps) where swaps lead from w (K,), and the same after a walk along ties from there, if there are any.

    What medoid_swaps.py does for more points block by block, with threads and a progress bar.
    """
    state, N = begun(C[w], w.copy(), m), m.shape[0]
    swaps = _settled(C, order, state, 0)
    w, near, tied = state[0], state[6], state[9]
    begin = 0
    while begin < N and tied[order[begin]] != tied[N]:
        begin += 1
    if begin == N:
        return w, near, swaps, w, near, swaps
    before, near_before = w.copy(), near.copy()
    walked, _, idle = descend(C, order[begin:], order[begin:], *state, N + 1, ALL_SWAPS, True)
    return before, near_before, swaps, w, near, swaps + walked + _settled(C, order, state, idle)


@kernel
def _settled(C, order, state, idle):  # type: ignore[no-untyped-def]
    """The number of swaps until no candidate lowers the loss; the last `idle` of the order are known not to."""
    N = order.shape[0]
    swaps = at = 0
    while idle < N:
        done, looked, idle_now = descend(C, order[at:], order[at:], *state, N - idle, ALL_SWAPS, False)
        swaps, at, idle = swaps + done, (at + looked) % N, idle_now if done else idle + idle_now
    return swaps


@kernel
def two_nearest(C, first, second, near, far):  # type: ignore[no-untyped-def]
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
def removals(m, first, near, far, removal):  # type: ignore[no-untyped-def]
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
def first_improving(C, at, points, taken, m, first, near, far, removal, tied, even):  # type: ignore[no-untyped-def]
    """(t, j): the first candidate points[t], row at[t] of C, that lowers the loss, and the medoid j it replaces.

    (-1, -1) if none does. The gain of a swap is -(acc + least): acc, removal and share as in the module's formula. If
    `even`, a swap whose computed loss is the same counts, too; if not, it is noted in `tied`. Candidates that are
    medoids already (taken) are skipped.
    """
    scratch = _scratch(m.shape[0], removal.shape[0] - 1)
    return _first(C, at, points, taken, m, first, near, far, removal, tied, even, *scratch)


@kernel
def _scratch(N, K):  # type: ignore[no-untyped-def]
    """Arrays for `_first`: a mask (N,) filled up to eights, the points in it, and share (K,), which is left at 0."""
    # Unsigned indices, or every use asks first whether they count from the end.
    return np.zeros((N + 7) // 8 * 8, np.uint8), np.empty(N + 8, np.uint64), np.zeros(K)


@kernel
def _first(C, at, points, taken, m, first, near, far, removal, tied, even, mask, nearer, share):  # type: ignore[no-untyped-def]
    """`first_improving` with the arrays of `_scratch`."""
    N, K = m.shape[0], removal.shape[0] - 1
    if K == 1:
        return _first_better(C, at, m, near)
    loss = removal[K]
    eights = mask.view(np.uint64)
    cheapest, widest = np.argmin(removal[:K]), 2.0 * uncertainty(N, loss, removal[:K].max())
    for candidate in range(at.shape[0]):
        if taken[points[candidate]]:
            continue
        d = C[at[candidate]]
        for i in range(N):
            mask[i] = d[i] < far[i]
        n = np.uint64(0)
        for e in range(eights.shape[0]):
            if eights[e]:
                for i in range(np.uint64(8 * e), np.uint64(8 * e + 8)):
                    nearer[n] = i
                    n += np.uint64(mask[i])
        acc = 0.0
        for t in range(n):
            i = nearer[t]
            a, d_i = np.float64(near[i]), np.float64(d[i])
            acc += m[i] * (min(d_i, a) - a)
            share[np.uint64(first[i])] += m[i] * (max(d_i, a) - np.float64(far[i]))
        go, least = int(cheapest), removal[cheapest]
        # Whichever are fewer: the medoids of the points that are nearer, or all medoids. The result is the same.
        if n > K:
            for j in range(K):
                change = removal[j] + share[j]
                if change < least or (change == least and j < go):
                    go, least = j, change
        else:
            for t in range(n):
                j = first[nearer[t]]
                change = removal[j] + share[j]
                if change < least or (change == least and j < go):
                    go, least = j, change
        found = acc + least < -2.0 * uncertainty(N, loss, removal[go]) or (even and acc + least <= 0.0)
        # A medoid with a larger change may have a larger uncertainty, too, so all are looked at.
        if not found and acc + least <= widest:
            go, lowest = -1, loss
            for j in range(K):
                if acc + removal[j] + share[j] <= 2.0 * uncertainty(N, loss, removal[j]):
                    after = loss_after(j, d, m, first, near, far)
                    if after < lowest:
                        go, lowest = j, after
            found = go >= 0
        if n > K:
            share[:] = 0.0
        else:
            for t in range(n):
                share[first[nearer[t]]] = 0.0
        if found:
            return candidate, go
        if acc + least <= 0.0:
            tied[points[candidate]] = tied[N]
    return -1, -1


@kernel
def uncertainty(N, loss, removal):  # type: ignore[no-untyped-def]
    """By how much a computed change of the loss may be off."""
    return (N + 4) * EPS * (loss + 2.0 * removal) + 4 * N * UNDERFLOW


@kernel
def loss_after(j, d, m, first, near, far):  # type: ignore[no-untyped-def]
    """The loss if medoid j is replaced by the candidate at d (N,), in the order of `removals`."""
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
        off = 2.0 * uncertainty(N, size, 0.0)
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
def descend(C, at, points, w, m, taken, G, first, second, near, far, removal, tied, patience, most, even):  # type: ignore[no-untyped-def]
    """Go through the candidates `points`, rows `at` of C, and make each swap that lowers the loss.

    Ends after `most` swaps, or `patience` candidates without one. Returns (swaps, candidates looked at, candidates
    since the last swap).
    """
    N, scratch = m.shape[0], _scratch(m.shape[0], removal.shape[0] - 1)
    swaps = idle = begin = 0
    while begin < at.shape[0] and idle < patience and swaps < most:
        stop = min(begin + patience - idle, at.shape[0])
        part = C, at[begin:stop], points[begin:stop]
        t, j = _first(*part, taken, m, first, near, far, removal, tied, even, *scratch)
        if t < 0:
            idle += stop - begin
            begin = stop
            continue
        t += begin
        taken[w[j]], taken[points[t]] = False, True
        w[j] = points[t]
        _exchange(j, C[at[t]], G, first, second, near, far)
        removals(m, first, near, far, removal)
        tied[N] += 1
        swaps += 1
        idle = 0
        begin = t + 1
    return swaps, begin, idle
