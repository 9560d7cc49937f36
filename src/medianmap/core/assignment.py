"""G -> weights A (K, N): the nearest prototype (K-means), ranks (neural gas), a winner on the lattice (SOM).

The winner of a point is the nearest prototype, I(i) = argmin_j G[i, j] (for a SOM Kohonen's), or that of Heskes,
I*(i) = argmin_j sum_l H[j, l] G[i, l], found exactly by a float32 screen and the canonical sum; the lowest j on ties.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..search.canonical import LANES, canonical_dot
from ..search.exhaustive import product_costs
from ..search.frame import FieldWeights, Weights
from ..search.screens import LARGEST, as_float32, product_work, weight_product
from ..search.tensor_finder import rank_weights, soft_weights
from ..sources.base import DenseSource, FloatArray, IntArray, panels
from ..utils.arrays import in_double, is_tensor, namespace, on_host, tensor_like
from ..utils.kernels import kernel
from ..utils.threads import computed_once, limited, run_chunks
from .neighborhood import Lattice, h, log_h
from .quality import inertia, neural_gas_cost, som_cost
from .ranks import Ranks, ranks_after
from .separable import Factors
from .tensors import nearest_of, ranks_of, smoothed_at_of, smoothed_winners_of

# Weights below this are 0: products with dissimilarities must not leave the range of floats.
SMALLEST = 1e-290


class Assignment(ABC):
    """G (N, K), sigma and multiplicities m (N,), all positive -> weights with m in them, and the cost they minimise.

    lattice : says which prototypes are neighbours; None without one. anneals : whether sigma plays a part.
    parting : where prototypes part that are cooled together, over the temperature where those of K-means do.
    """

    lattice: Lattice | None
    anneals = True
    parting = 1.0

    def fresh(self) -> Self:
        """The same assignment with nothing remembered, for a run of its own."""
        return self

    def forget(self) -> None:
        """Let go of what was remembered for the next epoch."""
        return  # there is none

    @abstractmethod
    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> tuple[Weights, float]: ...


@dataclass(frozen=True)
class Winner(Assignment):
    """A[j, i] = m_i if j is the nearest prototype of i (lowest j on ties), else 0. Sigma plays no part."""

    lattice = None
    anneals = False

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> tuple[Weights, float]:
        winner, least = nearest(G)
        return FieldWeights(np.eye(G.shape[1]), winner, m), inertia(least[:, None], m)


@dataclass(frozen=True)
class Gibbs(Assignment):
    """A[j, i] = m_i p_ij,  p_ij = exp(-G[i, j] / T) / sum_k exp(-G[i, k] / T), the temperature T in the place of sigma.

    The cost is the free energy F = -T sum_i m_i log sum_j exp(-G[i, j] / T), which neither step of an epoch can raise
    (Rose 1998). At T = 0 both are those of `Winner`. A row of A may be multiplied by any number (see Rank); each is
    divided by the prototype's largest p_ij, so that none underflows.
    """

    lattice = None

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> tuple[Weights, float]:
        if sigma == 0.0:
            return Winner()(G, sigma, m)
        xp = namespace(G)
        P, cost = log_shares(in_double(G.T), sigma, m)
        P -= xp.amax(P, axis=1, keepdims=True)
        xp.exp(P, out=P)
        P[P < SMALLEST] = 0.0
        return soft_weights(P, m), cost


def log_shares(E: FloatArray, T: float, m: FloatArray) -> tuple[FloatArray, float]:
    """(K, N) log of exp(-E[j, i] / T) / sum_k exp(-E[k, i] / T), and -T sum_i m_i log sum_j exp(-E[j, i] / T)."""
    xp = namespace(E)
    least = xp.amin(E, axis=0)
    P = (least - E) / T
    log_sum = xp.log(xp.exp(P).sum(axis=0))
    P -= log_sum
    return P, float((m * on_host(least - T * log_sum)).sum())


@dataclass(frozen=True)
class Rank(Assignment):
    """A[j, i] = m_i h(rank_ij) / h(min_i rank_ij): rank 0 is the nearest, ties go to the lower prototype index.

    The chapter counts the prototypes that are strictly nearer, so that tied ones share a rank; two of them on one point
    would then have the same weights for ever. By index they have different ranks, and part.

    Dividing by the weight of the prototype's smallest rank scales a row of A, which changes neither its argmin nor its
    mean, but keeps a prototype that is nobody's winner from losing all its weight when sigma is small. While prototypes
    stand still only sigma changes, and the ranks of the last epoch serve again; where few moved, they are brought up to
    date.

    truncate : h is 0 beyond this rank, if it is not None. A prototype that no point ranks so low has no weight.
    """

    neighborhood: str = "exponential"
    truncate: int | None = None
    memory: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    lattice = None

    def fresh(self) -> Self:
        return replace(self, memory={})

    def forget(self) -> None:
        self.memory.clear()

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> tuple[Weights, float]:
        if self.memory.get("G") is not G:  # the prototypes moved
            last, self.memory["G"] = self.memory.get("ranks"), G
            self.memory["ranks"] = Ranks(G.T, *ranks_of(G, m)) if is_tensor(G) else ranks_after(last, G.T, m)
        known: Ranks = self.memory["ranks"]
        ranks = np.arange(len(known.rank))
        weight_of_rank = h(ranks, sigma, self.neighborhood, most=self.truncate)
        shifted = self.neighborhood == "exponential" and self.truncate is None
        scaled = None if shifted else partial(h, ranks, sigma, self.neighborhood, most=self.truncate)
        return rank_weights(known.rank, weight_of_rank, m, scaled), neural_gas_cost(known.sums, weight_of_rank)


@dataclass(frozen=True)
class OnLattice(Assignment):
    """A[l, i] = m_i H[I*(i), l],  I*(i) = argmin_j sum_l H[j, l] G[i, l] (Heskes), H[j, l] = h(nd(j, l)) / Z_j.

    normalized : Z_j = sum_l h(nd(j, l)), so that each row of H sums to 1; else Z_j = 1, as in the chapter. At the
        border fewer terms are added up than in the middle: with Z_j = 1 its neurons win for that reason alone.
    nearest : whether the winner is the nearest prototype instead, I(i) = argmin_j G[i, j] (Kohonen). The cost is the
        same sum at that winner; it is not what this winner minimises, so an epoch may raise it.
    truncate : h is 0 beyond this distance, if it is not None. A neuron without a winner so near has no weight.

    A row of A may be multiplied by any number: argmin and mean stay. It is multiplied by min_j Z_j and divided by the
    weight of the nearest winner, h(min_i nd(I*(i), l)), so that no row underflows (as in Rank).
    """

    lattice: Lattice
    neighborhood: str = "exponential"
    normalized: bool = True
    nearest: bool = False
    truncate: float | None = None

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> tuple[Weights, float]:
        shape = sigma, self.neighborhood, self.truncate
        nd, H = self.lattice.distances, self.lattice.weights(*shape)
        # Rows times min Z: the largest weights are near 1, and where all sums are equal nothing is rounded.
        Z = self.lattice.row_sums(*shape) if self.normalized else np.ones(len(H))
        share = Z.min() / Z
        H = H * share[:, None]
        if self.nearest:
            winner = nearest(G)[0]
            smoothed = smoothed_at(G.T, H, winner)
        else:
            factorable = self.neighborhood == "gaussian" and self.truncate is None and self.lattice.is_plane
            factors = Factors(self.lattice, sigma, share) if factorable else None
            winner, smoothed = smoothed_winners(G.T, H, factors=factors)
        W = np.ascontiguousarray(H.T)  # row = prototype, column = field
        weights = FieldWeights(W, winner, m)
        least = nd[:, weights.fields].min(axis=1)
        empty = least > 0  # a neuron with points is its own nearest winner, and its row is scaled already
        if empty.any():
            W[empty] = h(nd[empty], sigma, self.neighborhood, least[empty, None], self.truncate) * share
        return FieldWeights(W, winner, m), som_cost(smoothed, m) / float(Z.min())


@dataclass(frozen=True)
class SoftOnLattice(OnLattice):
    """A[l, i] = m_i sum_j p_ij H[j, l],  p_ij = exp(-E[i, j] / T) / sum_k exp(-E[i, k] / T),  E = G H'.

    Heskes' winner at a temperature T, which is in the place of sigma, while the width of H stays (Graepel, Burger &
    Obermayer 1997). The cost is the free energy F = -T sum_i m_i log sum_j exp(-E[i, j] / T), which neither step of an
    epoch can raise. At T = 0 both are those of `OnLattice` at the width.

    Each row of A is divided by its largest product of a share and an H, so that none underflows.
    """

    width: float = 1.0

    def __call__(self, G: FloatArray, sigma: float, m: FloatArray) -> tuple[Weights, float]:
        if sigma == 0.0:
            return super().__call__(G, self.width, m)
        with limited(1):  # the same bits at any number of threads
            xp, log_H = namespace(G), tensor_like(self._log_H, G) if is_tensor(G) else self._log_H
            log_p, cost = log_shares(xp.exp(log_H) @ in_double(G.T), sigma, m)
            # H[j, l] p_ij as a product of two numbers near 1 and the row's largest, which is left out.
            largest = xp.amax(log_p, axis=1, keepdims=True)
            products = log_H + largest
            A = xp.exp(products - xp.amax(products, axis=0)).T @ xp.exp(log_p - largest)
        A[A < SMALLEST] = 0.0
        return soft_weights(A, m), cost

    @computed_once
    def _log_H(self) -> FloatArray:
        """(K, K) log H[j, l]."""
        shape = self.width, self.neighborhood, self.truncate
        log = log_h(self.lattice.distances, *shape)
        return log - np.log(self.lattice.row_sums(*shape))[:, None] if self.normalized else log

    @computed_once
    def parting(self) -> float:
        """The largest eigenvalue of diag(H' 1)^-1 H' (1 - 11' / K) H.

        Near their common mean prototypes w_l = mean + z_l give p_ij = 1/K + (2 / K T) x_i . (s_j - mean of s), s = H z,
        so an epoch maps z to that matrix times z times 2 C / T, C the covariance: they part where the largest
        eigenvalue of the product exceeds 1.
        """
        H = np.exp(self._log_H)
        with limited(1):
            return max(0.0, float(np.linalg.eigvals((H - H.mean(axis=0)).T @ H / H.sum(axis=0)[:, None]).real.max()))


# --- winners

# Points per chunk: their dissimilarities to 500 prototypes then fit in the second-level cache.
CHUNK = 128
# Points whose bounds are kept at the same time.
SCREENED = 5000


def nearest(G: NDArray[Any]) -> tuple[IntArray, NDArray[Any]]:
    """(winner (N,), its dissimilarity (N,)) for G (N, K)."""
    if is_tensor(G):
        return nearest_of(G)
    GT = G.T
    if not (GT.flags.c_contiguous and GT.dtype in (np.float32, np.float64)):
        winner = G.argmin(axis=1)
        return winner, G[np.arange(len(G)), winner]
    at, least = np.zeros(len(G), np.int32), GT[0].copy()
    _nearest(GT, at, least)
    return at.astype(np.intp), least


def smoothed_winners(
    GT: NDArray[Any], H: FloatArray, n_jobs: int | None = None, factors: Factors | None = None
) -> tuple[IntArray, FloatArray]:
    """(winner (N,), its smoothed dissimilarity (N,)) for GT (K, N) and H (K, K); the lowest j on ties.

    factors : those of H, if it has any.

    This is the search for prototypes in small: weights G[i], candidates the rows of H. The same rule decides: what the
    lower bounds cannot discard is compared by the canonical sum over l.
    """
    if is_tensor(GT):
        return smoothed_winners_of(GT.T, H, smoothed_winners)
    K, N = GT.shape
    if float(GT.min()) < 0:
        return _plain_winners(GT, H, n_jobs)
    if float(GT.max()) * K > LARGEST:  # d_beta has the mean as its unit, which may be next to nothing of the largest
        candidates = DenseSource(np.ascontiguousarray(H.T), symmetric=False)
        found = product_costs(np.ascontiguousarray(GT.T, dtype=np.float64), candidates)
        winner = found.best_of_all()
        return winner, np.array([found.evaluate(i, winner[i : i + 1])[0] for i in range(N)])
    H32 = as_float32(H)
    work = product_work(H32, N)
    name = min(work, key=lambda name: work[name])
    if factors is not None and factors.work(N) >= work[name]:
        factors = None
    winner, cost = np.empty(N, np.intp), np.empty(N)
    for points in panels(N, SCREENED):
        some = GT[:, points]
        given = np.ascontiguousarray(some) if GT.dtype == np.float32 else as_float32(some)
        bounds = weight_product(name, H32, given, n_jobs) if factors is None else factors.product(given, n_jobs)
        compared = bounds.L, points.start, 1 - bounds.relative, bounds.absolute, GT, H

        def certify(part: slice, compared: tuple[Any, ...] = compared) -> None:
            _certify(*compared, part.start, part.stop, winner, cost)

        parts = [slice(points.start + part.start, points.start + part.stop) for part in panels(some.shape[1], CHUNK)]
        run_chunks(certify, parts, n_jobs)
    return winner, cost


def smoothed_at(GT: NDArray[Any], H: FloatArray, winner: IntArray) -> FloatArray:
    """(N,) sum_l H[winner[i], l] GT[l, i], l ascending."""
    if is_tensor(GT):
        return smoothed_at_of(GT.T, H, winner)
    smoothed = np.zeros(GT.shape[1])
    for l, row in enumerate(GT):
        smoothed += H[winner, l] * row
    return smoothed


def _plain_winners(GT: NDArray[Any], H: FloatArray, n_jobs: int | None) -> tuple[IntArray, FloatArray]:
    """The same by products of fixed shape: the bounds of the screen hold for sums without cancellation only."""
    winner, cost = np.empty(GT.shape[1], np.intp), np.empty(GT.shape[1])

    def work(part: slice) -> None:
        smoothed = H @ GT[:, part]
        winner[part] = smoothed.argmin(axis=0)
        cost[part] = smoothed.min(axis=0)

    with limited(1):
        run_chunks(work, list(panels(GT.shape[1], CHUNK)), n_jobs)
    return winner, cost


@kernel
def _nearest(GT, at, least):  # type: ignore[no-untyped-def]
    """at[i] and least[i] of all rows but the first, without a branch, so that many columns are compared at once."""
    for start in range(0, GT.shape[1], CHUNK):
        p, a = at[start : start + CHUNK], least[start : start + CHUNK]
        for j in range(1, GT.shape[0]):
            g, k = GT[j, start : start + CHUNK], np.int32(j)
            for i in range(a.shape[0]):
                v, before, who = g[i], a[i], p[i]
                a[i] = v if v < before else before
                p[i] = k if v < before else who


@kernel
def _certify(L, start_of_L, factor, absolute, GT, H, first, last, winner, cost):  # type: ignore[no-untyped-def]
    """Points first .. last - 1: the least bound is evaluated, then all whose bound does not exceed the least cost."""
    K, n = H.shape[0], last - first
    L = L[:, first - start_of_L : last - start_of_L]
    low = L[0].copy()
    start = np.zeros(n, np.int32)
    for j in range(1, K):
        row = L[j]
        for i in range(n):
            if row[i] < low[i]:
                low[i] = row[i]
                start[i] = j
    g = np.empty((n, K))
    for j in range(K):
        for i in range(n):
            g[i, j] = np.float64(GT[j, first + i])
    lanes = np.empty(LANES)
    limit = np.empty(n, np.float32)
    largest = absolute.max()
    for i in range(n):
        winner[first + i] = start[i]
        c = canonical_dot(g[i], H[start[i]], lanes)
        cost[first + i] = c
        limit[i] = np.float32((c + largest) / factor * (1 + 1e-6)) + np.float32(1e-38)
    for j in range(K):
        row = L[j]
        rivals = 0
        for i in range(n):
            rivals += row[i] <= limit[i]
        if rivals == 0:
            continue
        for i in range(n):
            if row[i] <= limit[i] and j != start[i]:
                c = canonical_dot(g[i], H[j], lanes)
                if c < cost[first + i] or (c == cost[first + i] and j < winner[first + i]):
                    winner[first + i] = j
                    cost[first + i] = c
                    limit[i] = np.float32((c + largest) / factor * (1 + 1e-6)) + np.float32(1e-38)
