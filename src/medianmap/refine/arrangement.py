"""Arrangement: which exemplar sits at which neuron of a lattice, so that points' two nearest exemplars touch.

Of the cost of a map (map_cost.py) an arrangement p, neuron k taking exemplar p_k, decides t - r:

    f(p) = sum_kl [k, l apart] C[p_k, p_l] - sum_kl nd[k, l] F[p_k, p_l]

C[j, l] is the share of the points that have the exemplars j and l as their nearest two, half of it in each direction;
F[j, l] how much further than the mean j and l are from each other, times the weights of their fields, in units that
make the second sum r. This is a quadratic assignment problem. An exchange of two neurons' exemplars changes f by

    2 sum_l (A[j, l] - A[k, l]) (B[k, l] - B[j, l])      (l other than j and k)

summed over both parts (A, B): K products for the second; at most 14 for the first, since few neurons touch. Exchanges
are drawn at random and made with the probability exp(-change / temperature), while the temperature falls; then all
exchanges that lower f are made until there is none. That is repeated for few neurons, which takes no time; the start
itself goes down to a local optimum, too, and the best of these is taken: it is never worse than the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.neighborhood import Lattice, checked_lattice
from ..core.quality import topographic_error
from ..core.spaces import snapped
from ..sources import ALL, as_dissimilarity
from ..sources.base import FloatArray, IntArray, plain
from ..sources.checks import refuse_bad_entries
from ..utils.checks import check_count, check_weights
from ..utils.kernels import kernel
from .map_cost import MapState

# Exchanges drawn per neuron, and the temperature times K at the beginning and the end.
DRAWN, HOT, COLD = 2000, 1.0, 0.03
# Few neurons are arranged so often that about this many neurons are.
TOGETHER = 40
# What near order counts for prototypes that training has ordered: with 1, maps of 484 neurons were torn for far order.
NEAR = 4.0
# An exchange must lower f by more than rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Arranged:
    """Exemplars on a lattice, in the order of its neurons.

    medoid_indices (K,) : the data points that are the exemplars. labels (N,) : the neuron nearest to each point.
    topographic_error : share of the points whose two nearest exemplars do not touch. far_order : r, how well the
    dissimilarities between exemplars go with their distances on the lattice. before : both, of the order as given.
    """

    medoid_indices: IntArray
    labels: IntArray
    lattice: Lattice
    topographic_error: float
    far_order: float
    before: tuple[float, float]


def arrange(
    D: Any, medoid_indices: Sequence[int] | Sequence[str] | IntArray, grid: tuple[int, int], *,
    lattice: str = "hexagonal", periodic: bool = False, sample_weight: Any = None, random_state: int = 0,
) -> Arranged:  # fmt: skip
    """Lay exemplars from anywhere out on a lattice: which of them they are does not change, only where each one sits.

    Minimises t - r: the topographic error, less the correlation of dissimilarities between exemplars with their
    distances on the lattice, where exemplars count by the points they represent (refine/map_cost.py).

    Parameters
    ----------
    D : (N, N) dissimilarities, row = point, column = candidate, or a source (see `as_dissimilarity`).
    medoid_indices : the K exemplars: indices of data points, or ids where the data have ids.
    grid : rows and columns, K = rows * columns.
    lattice, periodic : the kind of lattice, as for `MedianSOM`.
    sample_weight : (N,) weights of the points; ones by default.
    random_state : seed of the exchanges that are tried.

    `MedianSOM(grid, init=medoid_indices, annealing="none", refine="swap", max_swaps=0)` is the same as a map.
    """
    source = as_dissimilarity(D)
    m = check_weights(sample_weight, source.shape[0])
    places = checked_lattice(grid, lattice, periodic)
    rng = np.random.default_rng(check_count(random_state, "random_state", at_least=0))
    w = located(medoid_indices, source.shape[0], source.ids)
    check_fits(len(w), places)
    G = np.array(plain(source.block(ALL, w)))
    refuse_bad_entries(G)
    state = MapState.of(G, w, m, places, 0.0)
    before = _order_of(state, places)
    state.permute(best_arrangement(state, rng))
    return Arranged(state.w, state.G.argmin(axis=1), places, *_order_of(state, places), before)


def located(exemplars: Any, n: int, ids: Sequence[str] | None) -> IntArray:
    """Exemplars, given as indices of n points or as their ids, as indices (K,), all different."""
    w = np.asarray(exemplars)
    names = w.tolist()
    if w.ndim == 1 and len(w) and all(isinstance(name, str) for name in names):
        if ids is None:
            raise ValueError(
                f"The exemplar {names[0]!r} is an id, but the data have none; pass indices of data points."
            )
        place = {name: k for k, name in enumerate(ids)}
        lost = [name for name in names if name not in place]
        if lost:
            raise ValueError(
                f"The exemplar {lost[0]!r} is not among the ids of the data ({len(lost)} of {len(w)} are not); leave "
                "out those that are not, or pass all data."
            )
        w = np.array([place[name] for name in names])
    if w.ndim != 1 or not len(w) or w.dtype.kind not in "iu":
        raise ValueError("The exemplars must be a list of one or more indices of data points, or of their ids.")
    outside = w[(w < 0) | (w >= n)]
    if len(outside):
        raise ValueError(f"The exemplars hold the index {outside[0]}, but the data points are numbered 0 to {n - 1}.")
    twice, many = np.unique(w, return_counts=True)
    if (many > 1).any():
        raise ValueError(f"The exemplars hold point {twice[many > 1][0]} twice; give every neuron one of its own.")
    return w.astype(np.intp)


def check_fits(K: int, lattice: Lattice) -> None:
    """ValueError unless there is one exemplar for every neuron."""
    rows, cols = lattice.shape
    if K != rows * cols:
        fits = max(k for k in range(1, int(K**0.5) + 1) if K % k == 0)
        raise ValueError(
            f"There are {K} exemplars for the {rows * cols} neurons of a {rows}x{cols} grid; give one for every "
            f"neuron, or take a grid of {fits}x{K // fits}."
        )


def _order_of(state: MapState, lattice: Lattice) -> tuple[float, float]:
    return topographic_error(state.G, lattice, state.m), state.r


def exchanged_places(G: FloatArray, m: FloatArray, lattice: Lattice, keep: bool = False) -> IntArray:
    """p (K,): neuron k is to take the prototype p[k] of any kind, from which points are G (N, K) away.

    Training has ordered them already, and near order counts NEAR times here: alike, they would be torn for far order.
    The point nearest to a prototype stands for it where prototypes are compared with each other.
    """
    state = MapState.of(np.array(G, order="C"), snapped(G, distinct=True), m, lattice, 0.0)
    return best_arrangement(state, np.random.default_rng(0), NEAR, keep=keep)


def best_arrangement(
    state: MapState, rng: np.random.Generator, near_weight: float = 1.0, keep: bool = False
) -> IntArray:
    """p (K,): neuron k is to take the exemplar of neuron p[k]; f(p) <= f(0, 1, ...), near order times near_weight.

    keep : only go down from the start, so that a map that is continued is not turned or mirrored.
    """
    K = len(state.w)
    best = np.arange(K)
    if K < 3:
        return best
    touching = [np.flatnonzero(row == 0) for row in state.apart]
    near = np.full((K, max(map(len, touching))), -1, np.int32)
    for k, row in enumerate(touching):
        near[k, : len(row)] = row
    C, F = state.assignment_problem()
    C *= near_weight
    nd = state.nd
    pairs = np.stack(np.nonzero(np.triu(C)))
    shares = np.cumsum(C[pairs[0], pairs[1]])
    least = _settle(near, C.copy(), nd, F.copy(), best)
    for _ in range(0 if keep else max(1, TOGETHER // K)):
        p, c, e = np.arange(K), C.copy(), F.copy()
        f = _anneal(near, c, nd, e, p, pairs, shares, rng, DRAWN * K, HOT / K, COLD / K) + _settle(near, c, nd, e, p)
        if f < least - ROUNDING:
            least, best = f, p
    return best


@kernel
def _change(near, C, nd, F, j, k):  # type: ignore[no-untyped-def]
    """The change of f if the neurons j and k exchange exemplars; C and F are in the order of the neurons.

    Both sums run over all l, which adds terms at j and k that do not belong: they are taken off at the end.
    """
    x = 0.0
    for l in near[j]:
        if l >= 0:
            x -= C[k, l] - C[j, l]
    for l in near[k]:
        if l >= 0:
            x += C[k, l] - C[j, l]
            if l == j:
                x -= 2.0 * C[j, k]
    x += 2.0 * C[j, k]
    p, q, e, g = nd[j], nd[k], F[j], F[k]
    K = p.shape[0]
    s = t = u = v = 0.0  # four sums: a single one would wait for each addition
    for l in range(0, K - 3, 4):
        s += (p[l] - q[l]) * (g[l] - e[l])
        t += (p[l + 1] - q[l + 1]) * (g[l + 1] - e[l + 1])
        u += (p[l + 2] - q[l + 2]) * (g[l + 2] - e[l + 2])
        v += (p[l + 3] - q[l + 3]) * (g[l + 3] - e[l + 3])
    for l in range(K - K % 4, K):
        s += (p[l] - q[l]) * (g[l] - e[l])
    return 2.0 * (x - ((s + t) + (u + v) + 2.0 * p[k] * e[k]))


@kernel
def _exchange(C, F, p, j, k):  # type: ignore[no-untyped-def]
    """The neurons j and k exchange exemplars."""
    p[j], p[k] = p[k], p[j]
    for B in (C, F):
        for l in range(B.shape[0]):
            B[j, l], B[k, l] = B[k, l], B[j, l]
        for l in range(B.shape[0]):
            B[l, j], B[l, k] = B[l, k], B[l, j]


@kernel
def _anneal(near, C, nd, F, p, pairs, shares, rng, n, hot, cold):  # type: ignore[no-untyped-def]
    """Try n exchanges drawn at random while the temperature falls from hot to cold; returns the change of f.

    Every second exchange puts one of the two nearest exemplars of a point, where they do not touch, beside the other:
    pairs (2, n) are such exemplars, shares (n,) the sums of their C up to each.
    """
    K = len(p)
    f, place = 0.0, np.arange(K)  # where the exemplars are
    for z in range(n):
        temperature = hot * (cold / hot) ** (z / n)
        j, k = int(rng.random() * K), int(rng.random() * (K - 1))
        k += k >= j
        if z % 2:
            i = min(np.searchsorted(shares, rng.random() * shares[-1], side="right"), len(shares) - 1)
            first = int(rng.random() * 2)
            j, other = place[pairs[first, i]], place[pairs[1 - first, i]]
            k = near[other, int(rng.random() * near.shape[1])]
            if k < 0 or k == other or (near[other] == j).any():
                continue
        x = _change(near, C, nd, F, j, k)
        if x <= 0.0 or rng.random() < np.exp(-x / temperature):
            _exchange(C, F, p, j, k)
            place[p[j]], place[p[k]] = j, k
            f += x
    return f


@kernel
def _settle(near, C, nd, F, p):  # type: ignore[no-untyped-def]
    """Make exchanges that lower f until there is none; returns the change of f."""
    K = len(p)
    f, idle = 0.0, 0
    while idle < K:
        for j in range(K):
            idle += 1
            for k in range(j + 1, K):
                x = _change(near, C, nd, F, j, k)
                if x < -ROUNDING:
                    _exchange(C, F, p, j, k)
                    f += x
                    idle = 0
            if idle >= K:
                break
    return f
