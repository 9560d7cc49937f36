"""Where prototypes live: on data points (median), or among their convex combinations (relational).

A median prototype is an index w_j of a data point. A relational one is w_j = sum_l alpha_j[l] x_l with
sum_l alpha_j[l] = 1, known by its coefficients alone: for symmetric D

    d(x_i, w_j) = (D alpha_j)_i - alpha_j' D alpha_j / 2,

which is |x_i - w_j|^2 where D holds squared Euclidean distances, whatever the vectors are (Hammer and Hasenfuss 2010).
Elsewhere it is the same formula in the pseudo-Euclidean space of D, and may be negative. For an asymmetric D the first
term reads D[i, l] from the point to the data, as everywhere; the second sees the symmetric part only.

Mean vectors (batch maps) are in vectors.py.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..search import Search, make_search
from ..search.field_sums import FieldSums
from ..search.frame import FieldWeights, Weights
from ..sources import ALL, DenseSource, Source, SubsetSource, panels, points_to, rows_per_panel
from ..sources.base import FloatArray, Index, IntArray, mean_of_pairs, plain, point_rows
from ..sources.checks import ScaledSource
from ..utils.arrays import is_tensor
from ..utils.kernels import kernel
from ..utils.threads import computed_once, limited, run_chunks
from .field_combinations import TINY, TOLERANCE, FieldCombinations, combined, field_distances, field_sums
from .tensors import snapped_of

# Relative size of the perturbation of collisions="noise": far below the differences that carry structure.
NOISE = 1e-3
# BLAS multiplies zeros faster than a loop leaves them out, until so few coefficients are left.
SPARSE = 0.04
# Points per chunk of a product, points and prototypes per chunk of a sparse one: their sums then stay in the cache.
CHUNK, POINTS, PROTOTYPES = 256, 1024, 8


class Space(Protocol):
    """Prototypes P: indices (K,), coefficients (K, N) or vectors (K, M)."""

    @property
    def n_points(self) -> int: ...

    @property
    def n_features(self) -> int | None:
        """Length of a prototype vector; None where prototypes are no vectors."""
        return None

    @property
    def shareable(self) -> bool:
        """Whether several threads can read the data at the same time."""
        return True

    @property
    def compression(self) -> int:
        """Numbers that stand for a point where D is approximated (see compression.py); 0 where D itself counts."""
        return 0

    @property
    def noisy(self) -> bool:
        """Whether the assignment sees other dissimilarities in every epoch."""
        return False

    @property
    def exponent(self) -> int:
        """e where dissimilarities are those of the user's data divided by 2^e (see sources/checks.py)."""
        return 0

    def brought_in(self, P: NDArray[Any]) -> NDArray[Any]:
        """Prototypes of the user's data as those of this space: other numbers only if they are vectors, and scaled."""
        return P

    def taken_out(self, P: NDArray[Any]) -> NDArray[Any]:
        """The reverse of `brought_in`."""
        return P

    def unscaled(self) -> Self:
        """The space of the user's data as they are."""
        return self

    def fresh(self) -> Self:
        """The same space with nothing remembered, for a run of its own."""
        return self

    def forget(self) -> None:
        """Let go of what was remembered for the next epoch."""
        return  # there is none

    def at(self, indices: IntArray) -> NDArray[Any]:
        """Prototypes on the given data points."""

    def subset(self, keep: IntArray) -> Self:
        """The same space over the points `keep` (n,) alone."""

    def lifted(self, P: NDArray[Any], keep: IntArray) -> NDArray[Any]:
        """Prototypes of `subset(keep)` in terms of this space."""
        return P

    def distances(self, P: NDArray[Any]) -> FloatArray:
        """G (N, K) from every point to every prototype."""

    def final_distances(self, P: NDArray[Any]) -> FloatArray:
        """The same as `predict` will see it, to the last bit."""
        return self.distances(P)

    def as_squares(self, d: FloatArray) -> FloatArray:
        """Dissimilarities as squared lengths, which classical scaling takes; batch and relational maps have these."""
        return d

    def mean(self, m: FloatArray) -> float:
        """Mean dissimilarity of all N^2 pairs, pair (i, l) weighted by m_i m_l."""

    def perturbed(self, G: FloatArray, rng: np.random.Generator) -> FloatArray:
        """G as the assignment is to see it; the same G unless collisions are prevented by noise."""
        return G

    def update(self, weights: Weights, P: Any) -> tuple[Any, int]:
        """New prototypes that minimise the cost for these weights, and the number of terms evaluated.

        While training goes on they may be in a form of the space's own; `as_array` makes them an array.
        """

    def as_array(self, P: Any) -> NDArray[Any]:
        """Prototypes as an array."""
        return P

    def n_moved(self, before: Any, after: Any) -> int:
        """How many prototypes differ; all, if there are more or fewer now."""
        if before.shape != after.shape:
            return len(after)
        return int(np.count_nonzero((before != after).reshape(len(before), -1).any(axis=1)))

    # --- what the folders above ask

    def training_data(self, points: Index) -> Any:
        """X for another fit, to some of the points: vectors, or a source of dissimilarities."""

    def query_data(self, queries: Index, points: IntArray) -> Any:
        """X for `predict` of the points `queries`, by a map fitted to `training_data(points)`."""


@dataclass(frozen=True)
class _OnSource(Space):
    """What median and relational spaces share: dissimilarities from a source."""

    source: Source
    memory: dict[str, Any] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    @property
    def n_points(self) -> int:
        return self.source.shape[0]

    @property
    def shareable(self) -> bool:
        source = self.source  # a database, or a function of the user's, cannot be called from several threads
        while isinstance(source, SubsetSource | ScaledSource):
            source = source.base
        return isinstance(source, DenseSource)

    @property
    def exponent(self) -> int:
        return self.source.exponent if isinstance(self.source, ScaledSource) else 0

    def unscaled(self) -> Self:
        return replace(self, source=self.source.base, memory={}) if isinstance(self.source, ScaledSource) else self

    def fresh(self) -> Self:
        return replace(self, memory={})

    def subset(self, keep: IntArray) -> Self:
        return replace(self, source=SubsetSource(self.source, keep), memory={})

    def distances(self, P: Any) -> FloatArray:
        # The very same array while prototypes stand still: an assignment may then keep what it made of it.
        if "P" not in self.memory or self.n_moved(self.memory["P"], P):
            self.memory.clear()  # before the next is computed: each is as large as K points' share of D
            G = self._compute(P)
            self.memory["P"], self.memory["G"] = P, G
        return self.memory["G"]

    def forget(self) -> None:
        self.memory.clear()

    @abstractmethod
    def _compute(self, P: Any) -> FloatArray: ...

    def mean(self, m: FloatArray) -> float:
        return mean_of_pairs(self.source, m)

    def training_data(self, points: Index) -> Source:
        return self.source if isinstance(points, slice) else SubsetSource(self.source, points)

    def query_data(self, queries: Index, points: IntArray) -> Source:
        return SubsetSource(self.source, np.arange(self.n_points)[queries], points)


@dataclass(frozen=True)
class MedianSpace(_OnSource):
    """w_j = argmin_l sum_i A[j, i] D[i, l] over data points l; a prototype without weight stays.

    Collisions. `distinct`: a candidate held by another prototype is skipped (see Finder.place). `noise`: the
    dissimilarities that ranks and winners see are multiplied by 1 + 0.001 u, u uniform in [0, 1), drawn anew in every
    epoch, so that prototypes on one point separate. `allow`: nothing is done.
    """

    strategy: str
    collisions: str = "distinct"
    n_jobs: int | None = None

    def at(self, indices: IntArray) -> IntArray:
        return indices

    @property
    def noisy(self) -> bool:
        return self.collisions == "noise"

    def lifted(self, P: IntArray, keep: IntArray) -> IntArray:
        return keep[P]

    def _compute(self, P: IntArray) -> FloatArray:
        return points_to(self.source, P)

    def as_squares(self, d: FloatArray) -> FloatArray:
        return (d / (d.max() or 1.0)) ** 2  # divided first: squares of large numbers leave the range of floats

    def combinations(self) -> RelationalSpace:
        """The space of the combinations of the same points."""
        return RelationalSpace(self.source, self.n_jobs)

    def perturbed(self, G: FloatArray, rng: np.random.Generator) -> FloatArray:
        return G if self.collisions != "noise" else np.asfortranarray(G * (1 + NOISE * rng.random(G.shape)))

    @computed_once
    def search(self) -> Search:
        """One for the whole fit, since a search may learn from epoch to epoch."""
        return make_search(self.strategy, self.source, self.n_jobs)

    def update(self, weights: Weights, P: IntArray) -> tuple[IntArray, int]:
        finder = self.search(weights, P)
        return finder.place(weights.alive, P, self.collisions == "distinct"), finder.terms


@dataclass(frozen=True)
class RelationalSpace(_OnSource):
    """alpha_j = A[j] / sum_i A[j, i]; prototypes are coefficients (K, N); a prototype without weight stays.

    The mean of an epoch's weights minimises sum_i A[j, i] d(x_i, w) over w wherever D is squared Euclidean, and is a
    stationary point for any symmetric D. Threads share out points, each with a fixed order of summation or one
    single-threaded product of fixed shape: no result depends on their number.

    In training, prototypes of K-means and SOM are `FieldCombinations`, known by (K, K) numbers and block sums of D. A
    start on data points may be their indices (K,). An epoch of neural gas holds up to six arrays (K, N), and one more
    while it settles.
    """

    n_jobs: int | None = None

    def at(self, indices: IntArray) -> FloatArray:
        P = np.zeros((len(indices), self.n_points))
        P[np.arange(len(indices)), indices] = 1.0
        return P

    def lifted(self, P: FloatArray, keep: IntArray) -> FloatArray:
        whole = np.zeros((len(P), self.n_points))
        whole[:, keep] = P
        return whole

    def as_array(self, P: NDArray[Any] | FieldCombinations) -> FloatArray:
        return self._rows(P, slice(None))

    def _rows(self, P: NDArray[Any] | FieldCombinations, js: slice) -> FloatArray:
        """Coefficients of the prototypes js, (J, N)."""
        if isinstance(P, FieldCombinations):
            return P.coefficients(js)
        return self.at(P[js]) if P.ndim == 1 else P[js]

    def n_moved(self, before: NDArray[Any] | FieldCombinations, after: NDArray[Any] | FieldCombinations) -> int:
        if isinstance(before, FieldCombinations) and isinstance(after, FieldCombinations):
            return len(after) if len(before) != len(after) else before.n_moved(after)
        if len(before) != len(after):
            return len(after)
        differ = [
            (self._rows(before, js) != self._rows(after, js)).any(axis=1) for js in panels(len(after), PROTOTYPES)
        ]
        return int(np.concatenate(differ).sum())

    def compressed_by(self, kind: Any, U: NDArray[np.float32], w: NDArray[np.float32]) -> Any:
        """The space of the same combinations in which U diag(w) U' is in the place of D; kind : its class."""
        return kind(self.source, self.n_jobs, U=U, w=w)

    @computed_once
    def _sums(self) -> FieldSums:
        """One for the whole fit: block sums change by the points that change their field."""
        return field_sums(self.source, self.n_jobs)

    def _compute(self, P: NDArray[Any] | FieldCombinations) -> FloatArray:
        if isinstance(P, FieldCombinations):
            return field_distances(P, self._sums, self.source.dtype == np.float32).T
        if P.ndim == 1:
            G, own = points_to(self.source, P), 0.5 * self.source.block(P, P).diagonal().astype(np.float64)
            return G if not own.any() else np.asfortranarray(G - own)
        return self._dense(P) if np.count_nonzero(P) > SPARSE * P.size else self._sparse(P)

    def final_distances(self, P: FloatArray) -> FloatArray:
        return self.rowwise(P)[0]

    def rowwise(self, P: FloatArray) -> tuple[FloatArray, FloatArray]:
        """G (N, K), each pair by itself, the same bits whatever stands around it; and the self terms (K,)."""
        n, alpha = self.n_points, csr_array(P)
        blocks = (self.source.block(rows, ALL) for rows in panels(n, rows_per_panel(n)))
        Q = np.concatenate([products(block, alpha, self.n_jobs) for block in blocks])
        s = self_terms(P, Q.T)
        return np.asfortranarray(Q - s + 0.0), s  # + 0.0: no negative zeros, whose bits order differently

    def _sparse(self, P: FloatArray) -> FloatArray:
        """The same by whole rows of candidates, where they lie in memory: a few times as fast, to the same bits."""
        C = point_rows(self.source)
        if C is None or not self.source.symmetric:
            return self.rowwise(P)[0]
        alpha, Q, parts = csr_array(P), np.zeros(P.shape), list(panels(len(P), PROTOTYPES))
        entries = alpha.indices, alpha.data
        run_chunks(lambda js: _add_rows(C, alpha.indptr[js.start : js.stop + 1], *entries, Q[js]), parts, self.n_jobs)
        Q -= self_terms(P, Q)[:, None]
        Q += 0.0
        return Q.T

    def _dense(self, P: FloatArray) -> FloatArray:
        """The same by BLAS in the precision of D, up to rounding: much faster where most coefficients count."""
        single = self.source.dtype == np.float32
        Q = self._product(P.astype(np.float32 if single else np.float64, copy=False))
        if single and not Q.max() > TINY:  # which loses digits of products so small
            Q = self._product(P)
        Q -= self_terms(P, Q).astype(Q.dtype)[:, None]
        Q += Q.dtype.type(0)
        return Q.T

    def _product(self, P: NDArray[Any]) -> NDArray[Any]:
        """(K, N) sum_l P[j, l] D[i, l] in the precision of P."""
        n = self.n_points
        Q = np.empty(P.shape, P.dtype)
        with limited(1):
            for rows in panels(n, rows_per_panel(n)):
                block = plain(self.source.block(rows, ALL))

                def multiply(part: slice, block: NDArray[Any] = block, first: int = rows.start) -> None:
                    D = np.ascontiguousarray(block[part], P.dtype)  # by columns BLAS would round otherwise
                    Q[:, first + part.start : first + part.stop] = P @ D.T

                run_chunks(multiply, list(panels(len(block), CHUNK)), self.n_jobs)
        return Q

    def update(self, weights: Weights, P: FloatArray | FieldCombinations) -> tuple[FloatArray | FieldCombinations, int]:
        fields = combined(weights) if isinstance(weights, FieldWeights) else None
        if fields is not None:
            return fields, fields.w.size
        before = self.as_array(P)
        alpha = np.empty(before.shape)

        def share(js: slice) -> None:
            A = weights.rows(js)
            A[A < TOLERANCE * A.max(axis=1, keepdims=True)] = 0.0
            total = A.sum(axis=1)
            for j, a, mass in zip(range(js.start, js.stop), A, total, strict=True):
                alpha[j] = a / mass if mass > 0 else before[j]

        run_chunks(share, list(panels(len(P), 8)), self.n_jobs)
        return alpha, alpha.size


def self_terms(P: FloatArray, products: FloatArray) -> FloatArray:
    """(K,) alpha_j' D alpha_j / 2, from coefficients P (K, N) and products (K, N) = (D alpha_j)_i."""
    own = np.empty(len(P))
    for js in panels(len(P), PROTOTYPES):
        own[js] = 0.5 * (P[js] * products[js]).sum(axis=1, dtype=np.float64)
    return own


def products(D: NDArray[Any], alpha: csr_array, n_jobs: int | None = None) -> FloatArray:
    """(n, K) sum_l alpha[j, l] D[i, l] for rows D (n, S) and sparse coefficients alpha (K, S), l ascending."""
    if D.shape[1] != alpha.shape[1]:  # compiled code would read beyond the end
        raise ValueError(f"Dissimilarities to {D.shape[1]} points do not fit coefficients of {alpha.shape[1]}.")
    D = np.ascontiguousarray(plain(D))
    out = np.empty((len(D), alpha.shape[0]))
    entries = alpha.indptr, alpha.indices, alpha.data
    run_chunks(lambda part: _sparse_products(D[part], *entries, out[part]), list(panels(len(D), CHUNK)), n_jobs)
    return out


@kernel
def _sparse_products(D, start, column, value, out):  # type: ignore[no-untyped-def]
    # Row by row: a row of D stays in the cache while all prototypes pick from it.
    for i in range(D.shape[0]):
        for j in range(len(start) - 1):
            total = 0.0
            for k in range(start[j], start[j + 1]):
                total += value[k] * np.float64(D[i, column[k]])
            out[i, j] = total


@kernel
def _add_rows(C, start, column, value, Q):  # type: ignore[no-untyped-def]
    """Q[j] += sum_l alpha[j, l] C[l], l ascending, some points at a time: the sums of `_sparse_products`."""
    n = Q.shape[1]
    for first in range(0, n, POINTS):
        last = min(first + POINTS, n)
        for j in range(Q.shape[0]):
            q = Q[j, first:last]
            for k in range(start[j], start[j + 1]):
                a, row = value[k], C[column[k], first:last]
                for i in range(last - first):
                    q[i] += a * np.float64(row[i])


def snapped(G: FloatArray, distinct: bool) -> IntArray:
    """(K,) the data point nearest to each prototype, G (N, K); if distinct, one that no earlier prototype took."""
    if is_tensor(G):
        return snapped_of(G, distinct)
    free = np.ones(len(G), bool)
    exemplars = np.empty(G.shape[1], np.intp)
    for j in range(G.shape[1]):
        exemplars[j] = np.where(free, G[:, j], np.inf).argmin()
        free[exemplars[j]] = not distinct
    return exemplars


def between_prototypes(P: FloatArray, G: FloatArray) -> FloatArray:
    """(K, K) d(w_j, w_k) = sum_i alpha_j[i] d(x_i, w_k) - alpha_j' D alpha_j / 2, zero on the diagonal.

    P (K, N) coefficients, G (N, K). The half square of w_j is the mean of its own column: d(w_j, w_j) is zero.
    """
    means = products(G.T, csr_array(P)).T
    return means - np.diag(means)[:, None]


@dataclass(frozen=True)
class Combinations:
    """K prototypes as combinations of S points: places `at` (S,) of the points, coefficients (K, S), self terms (K,).

    among (K, K) : dissimilarities of the prototypes from each other.
    """

    at: IntArray
    coefficients: csr_array
    self_terms: FloatArray
    among: FloatArray

    def distances(self, D: FloatArray) -> FloatArray:
        """(n, K) from dissimilarities D (n, S) to the points, with the same bits as a fitted map's `transform`."""
        return products(D, self.coefficients) - self.self_terms + 0.0


def in_equal_parts(names: IntArray, D: NDArray[Any], q: int) -> Combinations:
    """Each prototype as q points in equal parts, from dissimilarities D (K q, K q) of the points of all prototypes.

    names (K q,) : points of one name are the same; each is taken once, in ascending order of names.
    """
    _, at, back = np.unique(names, return_index=True, return_inverse=True)
    K = len(names) // q
    P = np.zeros((K, len(at)))
    P[np.repeat(np.arange(K), q), back] = 1.0 / q
    alpha = csr_array(P)
    Q = products(D[np.ix_(at, at)], alpha)
    own = self_terms(P, Q.T)
    return Combinations(at, alpha, own, between_prototypes(P, Q - own))
