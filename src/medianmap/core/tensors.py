"""The assignment on tensors: nearest prototypes, ranks, winners on a lattice and labels, for G (N, K) on a device.

Arrays of N or K K numbers come back as NumPy's; those of N K numbers stay where G is. The results are those of NumPy:
ranks and winners to the last bit, sums up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..search.frame import Weights
from ..search.tensor_finder import weights_of_points
from ..sources.base import FloatArray, IntArray, panels
from ..utils.arrays import namespace, on_host, tensor_like

# Entries of G that are worked on at the same time.
ENTRIES = 2**24


def parts(G: Any) -> list[slice]:
    """Some points at a time of G (N, K)."""
    return list(panels(len(G), max(1, ENTRIES // G.shape[1])))


def nearest_of(G: Any) -> tuple[IntArray, NDArray[Any]]:
    """(winner (N,), its dissimilarity (N,)); the lowest prototype on ties, as torch promises of `min`."""
    least, winner = G.min(1)
    return on_host(winner).astype(np.intp), on_host(least)


def ranks_of(G: Any, m: FloatArray) -> tuple[Any, FloatArray]:
    """(ranks (K, N), the transpose of what is contiguous; sums (K,) of m_i G by rank), ties to the lower index."""
    torch, K = namespace(G), G.shape[1]
    rank = torch.empty(G.shape, dtype=torch.int16 if K <= 2**15 else torch.int32, device=G.device)
    sums, places = torch.zeros(K, dtype=torch.float64, device=G.device), torch.arange(K, device=G.device)
    for part in parts(G):
        values, order = G[part].sort(dim=1, stable=True)
        rank[part] = torch.empty_like(order).scatter_(1, order, places.expand_as(order)).to(rank.dtype)
        sums += tensor_like(m[part], G) @ values.double()
    return rank.T, on_host(sums)


def smoothed_winners_of(G: Any, H: FloatArray, exact: Any) -> tuple[IntArray, FloatArray]:
    """(argmin_j sum_l H[j, l] G[i, l], that sum), (N,) each.

    exact : the same for GT (K, n) and H in NumPy, by the canonical sum. It decides where two sums are so close that
        rounding could; where a dissimilarity is negative, as to combinations, no sum is canonical.
    """
    winner, cost = np.empty(len(G), np.intp), np.empty(len(G))
    towards, slack, signed = tensor_like(H.T, G), 4 * (H.shape[1] + 8) * 2.0**-53, bool(G.min() < 0)
    for part in parts(G):
        smoothed = G[part].double() @ towards
        least, at = smoothed.min(1)
        winner[part], cost[part] = on_host(at), on_host(least)
        if signed:
            continue
        close = np.flatnonzero(on_host((smoothed <= least[:, None] * (1 + slack)).sum(1)) > 1)
        if len(close):
            rivals = on_host(G[part][tensor_like(close, G)])
            winner[part.start + close], cost[part.start + close] = exact(np.ascontiguousarray(rivals.T), H)
    return winner, cost


def smoothed_at_of(G: Any, H: FloatArray, winner: IntArray) -> FloatArray:
    """(N,) sum_l H[winner[i], l] G[i, l]."""
    rows = tensor_like(H, G)
    some = [(rows[tensor_like(winner[part], G)] * G[part].double()).sum(1) for part in parts(G)]
    return np.concatenate([on_host(each) for each in some])


def with_labels(G: Any, distinct: FloatArray, code: IntArray, Y: FloatArray, a: float, b: float) -> Any:
    """(N, K) a G[i, j] + b |y_i - Y_j|^2 for label vectors distinct (U, C), code (N,) of each point, -1 for none."""
    squares = np.zeros((len(distinct) + 1, len(Y)))  # the last row is that of points without label
    for c in range(distinct.shape[1]):
        squares[:-1] += (distinct[:, c, None] - Y[:, c]) ** 2
    term = tensor_like(b * squares, G)
    which = tensor_like(np.where(code < 0, len(distinct), code), G)
    seen = G.double() * a
    for part in parts(G):
        seen[part] += term[which[part]]
    return seen


def label_means(weights: Weights, y: FloatArray, known: NDArray[np.bool_], Y: FloatArray, like: Any) -> FloatArray:
    """(K, C) sum_i A[j, i] y_i / sum_i A[j, i] over the points of known label; Y[j] where no weight is on any."""
    double = namespace(like).float64
    counted = np.column_stack([y, np.ones(len(y))]) * known[:, None]
    sums = sum(A.T @ tensor_like(counted[part], like) for part, A in weights_of_points(weights, len(Y), like, double))
    sums = on_host(sums)
    total = sums[:, -1:]
    return np.where(total > 0, sums[:, :-1] / np.where(total > 0, total, 1.0), Y)


def snapped_of(G: Any, distinct: bool) -> IntArray:
    """(K,) the data point nearest to each prototype; if distinct, one that no earlier prototype took."""
    exemplars = on_host(G.argmin(0)).astype(np.intp)
    if not distinct or len(np.unique(exemplars)) == len(exemplars):
        return exemplars
    taken: set[int] = set()
    for j, point in enumerate(exemplars.tolist()):
        if point in taken:
            column = on_host(G[:, j]).copy()
            column[list(taken)] = np.inf
            exemplars[j] = point = int(column.argmin())
        taken.add(point)
    return exemplars
