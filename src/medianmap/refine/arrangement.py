"""Arrangement: which exemplar sits at which neuron of a lattice, so that points' two nearest exemplars touch.

Of the cost of a map (map_cost.py) an arrangement p, neuron k taking exemplar p_k, decides t - r:

    f(p) = sum_kl [k, l apart] C[p_k, p_l] - sum_kl nd[k, l] F[p_k, p_l]

C[j, l] is the share of the points that have the exemplars j and l as their nearest two, half of it in each direction;
F[j, l] how much further than the mean j and l are from each other, times the weights of their fields, in units that
make the second sum r. This is a quadratic assignment problem. An exchange of two neurons' exemplars changes f by

    2 sum_l (A[j, l] - A[k, l]) (B[k, l] - B[j, l])      (l other than j and k)

summed over both parts (A, B): K products for the second; at most 14 for the first, since few neurons touch. Exchanges
are drawn at random and made with the probability exp(-change / temperature), while the temperature falls; then the
exchange that lowers f most is made until none does. That is repeated for few neurons, which takes no time, and the best
is taken. Where none is better than the start, the start itself goes down to a local optimum: it is never worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.neighborhood import Lattice, checked_lattice
from ..core.quality import topographic_error
from ..core.spaces import snapped
from ..sources import ALL, as_dissimilarity
from ..sources.base import LARGE, FloatArray, IntArray, plain
from ..sources.checks import exponent_of, refuse_bad_entries
from ..utils.checks import check_count, check_weights
from ..utils.kernels import kernel
from .map_cost import MapState

# Exchanges drawn per neuron, twice as many for the first FEW; the temperature times K at the beginning and the end.
DRAWN, FEW, HOT, COLD = 1000, 100, 1.0, 0.03
# How many of the neurons around one it is exchanged with in the cold.
REACH = 20
# Few neurons are arranged so often that about this many neurons are.
TOGETHER = 40
# What near order counts for prototypes that training has ordered: with 1, maps of 484 neurons were torn for far order.
NEAR = 4.0
# Terms of a sum that are added up side by side.
LANES = 32
# An exchange must lower f by more than rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Arranged:
    """Exemplars on a lattice, in the order of its neurons.

    medoid_indices (K,) : the data points that are the exemplars.
    labels (N,) : the neuron nearest to each point.
    far_order : r, how well the dissimilarities between exemplars go with their distances on the lattice: a correlation
        but for the spread of distances, which is that of the lattice, so that crowds far apart may give more than 1.
    before : both, of the order as given.
    topographic_error : share of the points whose two nearest exemplars do not touch.
    lattice : the lattice, with the `positions` of its neurons.
    """

    medoid_indices: IntArray
    labels: IntArray
    lattice: Lattice
    topographic_error: float
    far_order: float
    before: tuple[float, float]


def arrange(
    D: Any, medoid_indices: Sequence[int] | Sequence[str] | IntArray, grid: tuple[int, ...] | None = None, *,
    lattice: Any = "hexagonal", periodic: bool = False, sample_weight: Any = None, random_state: int = 0,
) -> Arranged:  # fmt: skip
    """Lay exemplars from anywhere out on a lattice: which of them they are does not change, only where each one sits.

    Minimises t - r: the topographic error, less how well dissimilarities between exemplars go with their distances on
    the lattice, where exemplars count by the points they represent (refine/map_cost.py).

    Parameters
    ----------
    D : (N, N) dissimilarities, row = point, column = candidate, or a source (see `as_dissimilarity`).
    medoid_indices : the K exemplars: indices of data points, or ids where the data have ids.
    grid : rows and columns, K = rows * columns; or layers, rows and columns.
    lattice, periodic : the kind of lattice, or distances (K, K) between neurons without a grid, as for `MedianSOM`.
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
    G = np.ldexp(G, -exponent_of(refuse_bad_entries(G), LARGE), dtype=np.float64)  # no bit of t and r depends on it
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
    n = len(lattice.distances)
    if K == n:
        return
    if lattice.places is None:
        raise ValueError(f"There are {K} exemplars for the {n} neurons of the lattice; give one for every neuron.")
    fits = max(k for k in range(1, int(K**0.5) + 1) if K % k == 0)
    raise ValueError(
        f"There are {K} exemplars for the {n} neurons of a {'x'.join(map(str, lattice.shape))} grid; give one for "
        f"every neuron, or take a grid of {fits}x{K // fits}."
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
    C, F = state.assignment_problem()
    C *= near_weight
    near, nd, order = _touching(state.apart), _padded(state.nd), _padded(F)

    def settled(p: IntArray) -> float:
        """f(p), after all exchanges in p that lower it."""
        return cost(p) + float(_settle(near, state.apart, state.nd, C, _columns_at(nd, p), order, p))

    def cost(p: IntArray) -> float:
        places = np.ix_(p, p)
        return float((state.apart * C[places]).sum() - (state.nd * F[places]).sum())

    if keep:
        settled(best)
        return best
    least = cost(best)
    pairs = np.stack(np.nonzero(np.triu(C)))
    shares = np.cumsum(C[pairs[0], pairs[1]])
    around = np.argsort(state.nd, axis=1, kind="stable")
    # For trying, nd in 16 bits: every exchange that is made moves two columns of it.
    unit = float(nd.max()) / np.iinfo(np.int16).max
    steps, short = np.rint(nd / unit).astype(np.int16), (order * unit).astype(np.float32)
    for _ in range(max(1, TOGETHER // K)):
        p = np.arange(K)
        n = DRAWN * (K + min(K, FEW))
        _anneal(near, around, state.apart, C, steps.copy(), short, p, pairs, shares, rng, n, HOT / K, COLD / K)
        f = settled(p)
        if f < least - ROUNDING:
            least, best = f, p
    if (best == np.arange(K)).all():
        settled(best)
    return best


def _touching(apart: FloatArray) -> NDArray[np.int32]:
    """(K, n): the neurons that each one touches, itself among them; -1 where there are fewer."""
    touching = [np.flatnonzero(row == 0) for row in apart]
    near = np.full((len(apart), max(map(len, touching))), -1, np.int32)
    for k, row in enumerate(touching):
        near[k, : len(row)] = row
    return near


def _padded(B: FloatArray) -> FloatArray:
    """B (K, K) with columns of zeros, so that its rows are whole lanes."""
    return np.pad(B, ((0, 0), (0, -len(B) % LANES)))


def _columns_at(nd: FloatArray, p: IntArray) -> FloatArray:
    """N[k, b] = nd[k, place of exemplar b], p[place of b] = b."""
    N = nd.copy()
    N[:, p] = nd[:, : len(p)]
    return N


@kernel
def _change(near, C, N, F, p, j, k, lanes):  # type: ignore[no-untyped-def]
    """The change of f if the neurons j and k exchange exemplars.

    C and F are in the order of exemplars; N[l, b] is the distance from neuron l to that of exemplar b. The far sum runs
    over all exemplars, many at once and in one order on any machine; the two terms too many are taken off.
    """
    a, b = p[j], p[k]
    x = 0.0
    for l in near[j]:
        if l >= 0 and l != j and l != k:
            x -= C[b, p[l]] - C[a, p[l]]
    for l in near[k]:
        if l >= 0 and l != j and l != k:
            x += C[b, p[l]] - C[a, p[l]]
    lanes[:] = 0
    for start in range(0, N.shape[1], LANES):
        stop = start + LANES
        s, t, u, v = N[j, start:stop], N[k, start:stop], F[a, start:stop], F[b, start:stop]
        for l in range(LANES):
            lanes[l] += (s[l] - t[l]) * (v[l] - u[l])
    half = LANES
    while half > 1:
        half //= 2
        for l in range(half):
            lanes[l] += lanes[half + l]
    return 2.0 * (x - lanes[0] - 2.0 * N[j, b] * F[a, b])


@kernel
def _exchange(N, p, j, k):  # type: ignore[no-untyped-def]
    """The neurons j and k exchange exemplars."""
    a, b = p[j], p[k]
    p[j], p[k] = b, a
    for l in range(len(p)):
        N[l, a], N[l, b] = N[l, b], N[l, a]


@kernel
def _anneal(near, around, apart, C, N, F, p, pairs, shares, rng, n, hot, cold):  # type: ignore[no-untyped-def]
    """Try n exchanges drawn at random while the temperature falls from hot to cold; p starts as 0, 1, ...

    Every second exchange puts one of the two nearest exemplars of a point, where they do not touch, beside the other:
    pairs (2, n) are such exemplars, shares (n,) the sums of their C up to each. In the others two neurons exchange that
    are ever nearer to each other, since in the cold hardly any would be accepted from afar: around[j] are all neurons,
    the nearest first.
    """
    K = len(p)
    place, lanes = p.copy(), np.empty(LANES, F.dtype)  # where the exemplars are
    reach = min(REACH, K - 1)
    temperature, cooler = hot, (cold / hot) ** (1.0 / max(n, 1))
    for z in range(n):
        temperature *= cooler
        if z % 2:
            i = min(np.searchsorted(shares, rng.random() * shares[-1], side="right"), len(shares) - 1)
            first = int(rng.random() * 2)
            j, other = place[pairs[first, i]], place[pairs[1 - first, i]]
            k = near[other, int(rng.random() * near.shape[1])]
            if k < 0 or k == other or apart[other, j] == 0.0:
                continue
        else:
            j = int(rng.random() * K)
            k = around[j, 1 + int(rng.random() * max(reach, (K - 1) * temperature / hot))]
        x = _change(near, C, N, F, p, j, k, lanes)
        if x <= 0.0 or rng.random() < np.exp(-x / temperature):
            _exchange(N, p, j, k)
            place[p[j]], place[p[k]] = j, k


@kernel
def _settle(near, apart, nd, C, N, F, p):  # type: ignore[no-untyped-def]
    """Make the exchange that lowers f most until none lowers it; returns the change of f.

    changes[u, v], u < v, is that of every exchange. When j and k exchange their exemplars a and b, only the terms l = j
    and l = k of another change, together by 2 (s_u - s_v) (x_v - x_u), s = A[j] - A[k], x_u = B[b, p_u] - B[a, p_u].
    """
    K = len(p)
    lanes, changes = np.empty(LANES, N.dtype), np.zeros((K, K))
    s, t, x, y = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    for u in range(K):
        for v in range(u + 1, K):
            changes[u, v] = _change(near, C, N, F, p, u, v, lanes)
    f = 0.0
    while True:
        j, k, least = 0, 0, -ROUNDING
        for u in range(K):
            row = changes[u]
            for v in range(u + 1, K):
                if row[v] < least:
                    j, k, least = u, v, row[v]
        if j == k:
            return f
        f += least
        a, b = p[j], p[k]
        for u in range(K):
            s[u], t[u] = 2.0 * (apart[j, u] - apart[k, u]), 2.0 * (nd[j, u] - nd[k, u])
            x[u], y[u] = C[b, p[u]] - C[a, p[u]], F[b, p[u]] - F[a, p[u]]
        for u in range(K):
            row = changes[u]
            for v in range(u + 1, K):
                row[v] += (s[u] - s[v]) * (x[v] - x[u]) - (t[u] - t[v]) * (y[v] - y[u])
        _exchange(N, p, j, k)
        for u in range(K):
            for v in (j, k):
                if u != v:
                    changes[min(u, v), max(u, v)] = _change(near, C, N, F, p, min(u, v), max(u, v), lanes)
