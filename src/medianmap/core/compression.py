"""Neural gas in a compressed space: while it anneals, a few columns of D stand for all of them.

With some points S as landmarks, C = D[:, S] and the r eigenvalues of D[S, S] that are largest in size, V diag(w) V',

    D ~ U diag(w) U',   U = C V / w   (N, r)

(Nystroem's approximation, as Williams and Seeger 2001 made it for kernels). A combination sum_l alpha[l] x_l is then
known by p = sum_l alpha[l] U_l, r numbers instead of N, and

    d(x_i, w) ~ U_i . (w p) - p . (w p) / 2.

An epoch takes O(N K r) instead of O(N^2 K) and reads nothing of D. Training ends on D itself: the weights of the last
epoch are those of combinations of the data, whose dissimilarities are computed exactly.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..search.rank_screen import weights_by_table
from ..search.screens import as_float32
from ..sources.base import FloatArray, IntArray, columns, panels, points_to
from ..utils.threads import limited, run_chunks
from .spaces import RelationalSpace, Space

logger = logging.getLogger("medianmap")

# What "auto" takes: numbers per point, and the least number of points for which they are used.
RANK, SMALLEST = 64, 500
# Landmarks per number: with four the error is that of a randomised range finder, which reads all of D three times.
LANDMARKS = 4
# The largest error that costs nothing, as a share of the dissimilarity to the nearest of K random points.
COARSE = 0.2
# Eigenvalues below this share of the largest are rounding.
FLAT = 1e-6
# Columns of less than this say nothing of D, whose largest entry is of about 1 or more.
NOTHING = 1e-15
# Points and prototypes per chunk of a product.
POINTS, PROTOTYPES = 512, 32


@dataclass(frozen=True, eq=False)
class CompressedPrototypes:
    """p (K, r) float32, and what gives the coefficients (K, N) that they stand for, in the form of the exact space."""

    p: NDArray[np.float32]
    coefficients: Callable[[], Any]

    def __len__(self) -> int:
        return len(self.p)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.p.shape


@dataclass(frozen=True, kw_only=True)
class CompressedSpace(RelationalSpace):
    """Combinations of the data as r numbers each: U (N, r) and w (r,) with D ~ U diag(w) U', in float32.

    The same at any number of threads: products are of fixed shapes, one thread each.
    """

    U: NDArray[np.float32]
    w: NDArray[np.float32]

    @property
    def compression(self) -> int:
        return len(self.w)

    def compressed(self, P: NDArray[Any]) -> CompressedPrototypes:
        """Data points (K,) or coefficients (K, N) as prototypes of this space."""
        if P.ndim == 1:
            return CompressedPrototypes(self.U[P], partial(super().at, P))
        with limited(1):
            return CompressedPrototypes(P.astype(np.float32) @ self.U, lambda: P)

    def n_moved(self, before: Any, after: Any) -> int:
        return int(np.count_nonzero((before.p != after.p).any(axis=1)))

    def as_array(self, P: Any) -> FloatArray:
        return P.coefficients() if isinstance(P, CompressedPrototypes) else super().as_array(P)

    def _compute(self, P: Any) -> NDArray[Any]:
        """G (N, K), G.T adjacent in memory."""
        scaled = P.p * self.w
        own = 0.5 * (scaled * P.p).sum(axis=1, dtype=np.float64).astype(np.float32)[:, None]
        GT = np.empty((len(P), self.n_points), np.float32)

        def multiply(part: slice) -> None:
            np.matmul(scaled, self.U[part].T, out=GT[:, part])
            GT[:, part] -= own

        with limited(1):
            run_chunks(multiply, list(panels(self.n_points, POINTS)), self.n_jobs)
        return GT.T

    def update(self, weights: Any, P: Any) -> tuple[Any, int]:
        """Means of the rows of U; what is so light that float32 does not hold its weights stays where it is."""
        ranks, weight_of = weights.levels
        values, m = as_float32(weight_of), as_float32(weights.m / weights.m.max())
        p = P.p.copy()

        def average(js: slice) -> None:
            A = np.empty((js.stop - js.start, self.n_points), np.float32)
            weights_by_table(ranks[js], values[js], m, A)
            total = A.sum(axis=1, dtype=np.float64)
            alive = total > 0
            p[js][alive] = (A @ self.U)[alive] / total[alive, None]

        with limited(1):
            run_chunks(average, list(panels(len(p), PROTOTYPES)), self.n_jobs)
        exact = RelationalSpace(self.source, self.n_jobs)
        before = np.broadcast_to(0.0, (len(p), self.n_points))
        return CompressedPrototypes(p, lambda: exact.as_array(exact.update(weights, before)[0])), p.size

    def error(self, points: IntArray) -> tuple[float, float]:
        """Root mean square error of the dissimilarities to some points, and the mean true one to the nearest."""
        squares, near = 0.0, np.full(self.n_points, np.inf)
        for part in panels(len(points), PROTOTYPES):
            js = points[part]
            true = points_to(self.source, js)
            squares += float(((self.U @ (self.U[js] * self.w).T - true) ** 2).sum(dtype=np.float64))
            near = np.minimum(near, true.min(axis=1))
        return float(np.sqrt(squares / (self.n_points * len(points)))), float(near.mean())


def compressed_space(exact: Space, compression: str | int, K: int) -> CompressedSpace | None:
    """Where K combinations are annealed instead of in `exact`; None where that is not possible, or too coarse.

    compression : the rank, or "auto" for the usual one unless there are few points.

    How coarse it is gets measured: the root mean square error of the dissimilarities to K random points must not be
    above COARSE times the mean dissimilarity to the nearest of them, or the log says so. Only a symmetric D of more
    points than there are landmarks is compressed. The random numbers are always the same: the space depends on the data
    alone.
    """
    assert isinstance(exact, RelationalSpace)
    source, n_jobs, rng = exact.source, exact.n_jobs, np.random.default_rng(0)
    N, rank = source.shape[0], RANK if compression == "auto" else int(compression)
    if not source.symmetric or N <= LANDMARKS * rank or (compression == "auto" and N < SMALLEST):
        return None
    S = np.sort(rng.choice(N, LANDMARKS * rank, replace=False))
    C = columns(source, S)
    if float(C.max()) < NOTHING:
        return None
    with limited(1):
        values, vectors = np.linalg.eigh(C[:, S].astype(np.float64))
        large = np.argsort(-np.abs(values), kind="stable")[:rank]
        large = large[np.abs(values[large]) > FLAT * np.abs(values).max()]
        w = values[large]
        towards = (vectors[:, large] / w).T.astype(np.float32)
        U = np.empty((N, len(w)), np.float32)

        def project(part: slice) -> None:
            U[part] = (towards @ C[:, part].astype(np.float32, copy=False)).T

        run_chunks(project, list(panels(N, POINTS)), n_jobs)
        space: CompressedSpace = exact.compressed_by(CompressedSpace, U, w.astype(np.float32))
        error, near = space.error(rng.choice(N, min(K, N), replace=False))
    if error > COARSE * near:
        logger.info(
            "Annealing takes all of D: compressed to rank %d it has an error of %.3g, where the nearest of %d random "
            "points are at %.3g.", len(w), error, K, near,
        )  # fmt: skip
        return None
    return space
