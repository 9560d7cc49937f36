"""A fixed low-rank approximation of D: bounds for broad weights at a small fraction of one matrix product.

With V (N, q) nearly orthonormal and Z any (q, N), let R = D - V Z. For weights a of any sign and any c, a = V c + b:

    a . D_l = (V' a) . Z_l + b . R_l + c . V' R_l
           >= c . Z_l - |V' a - c| |Z_l| - sum_B |b_B| |R_Bl| - |c| |V' R_l|,

by Cauchy and Schwarz, points taken in groups B. This holds for V, Z, c as they are stored, orthonormal or not, optimal
or not; c near V' a makes it tight, and groups of near points halve what is lost where a concentrates on a few of them.
|R_Bl| and |V' R_l| are measured when the approximation is made, |b_B| for each a; |V' a - c| is rounding. Real
dissimilarities are nearly of low rank; where they are not, another screen takes over.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, panels
from ..utils.kernels import kernel
from ..utils.threads import limited, run_chunks
from .screens import F32, UNIT, Bounded

# Columns of D per panel when the approximation is made, fewer where that would be more than so many numbers; rows of
# weights and columns of bounds per panel of a product: what a thread holds then stays in the caches.
COLUMNS, NUMBERS, ROWS, BOUNDS = 256, 2**20, 32, 1100


class LowRank:
    """V and Z by a range finder on some columns of D; bounds for weights (K, N) whose columns are points in `order`."""

    RANK = 40
    GROUPS = 16
    SAMPLE = 1024

    def __init__(self, D: NDArray[Any], n_jobs: int | None) -> None:
        N = len(D)
        self.n_jobs = n_jobs
        q, B = min(self.RANK, N), min(self.GROUPS, N)
        with limited(1):
            V, group = self._basis(D, q, B)
            self.order: IntArray = np.argsort(group, kind="stable")
            self.starts: IntArray = np.searchsorted(group[self.order], np.arange(B + 1))
            self.V = np.ascontiguousarray(V[self.order])
            self.VT = np.ascontiguousarray(self.V.T)
            self.Z = np.zeros((q, N), np.float32)
            residual, inside = np.empty((B, N)), np.empty(N)

            def measure(cols: slice) -> None:
                block = np.ascontiguousarray(D[:, cols], np.float32)
                self.Z[:, cols] = Z = V.T @ block
                R = V @ Z
                residual[:, cols] = _residual(block, R, self.order, self.starts)
                inside[cols] = column_norms(V.T @ R)

            run_chunks(measure, list(panels(N, min(COLUMNS, max(16, NUMBERS // N)))), n_jobs)
        z = column_norms(self.Z)
        # R is known up to the rounding of a float32 sum of q + 2 terms, whose absolute values add up to no more than
        # |D_l| + spread |Z_l| <= |R_l| + 2 spread |Z_l|; V' R up to that and its own N terms. |V' x| <= norm |x|.
        whole = np.sqrt((residual**2).sum(axis=0))
        gram = V.T.astype(np.float64) @ V.astype(np.float64)
        self.spread = spread = 1.001 * float(np.sqrt(np.trace(gram)))
        norm = 1.001 * float(np.sqrt(np.linalg.norm(gram, 2)))
        doubt = 1.02 * (q + 4) * UNIT * (whole + 2 * spread * z)
        inside = 1.001 * inside + 1.02 * spread * (N + 8) * UNIT * whole + norm * doubt
        height = np.vstack([1.001 * residual + doubt, inside, 1.001 * z])
        # One product adds the penalties to the approximation; 1.001 is for the rounding of either factor.
        self.T = np.vstack([self.Z, 1.001 * height]).astype(np.float32)

    def _basis(self, D: NDArray[Any], q: int, B: int) -> tuple[F32, IntArray]:
        """V (N, q), and which of B columns each point is nearest to, (N,)."""
        some = self._columns(D)
        leaders = np.linspace(0, some.shape[1] - 1, B).astype(int)
        return self._range(some, q), some[:, leaders].argmin(axis=1)

    def _columns(self, D: NDArray[Any]) -> F32:
        """(N, n) some columns of D, which span nearly what all do."""
        N = len(D)
        at = np.sort(np.random.default_rng(0).permutation(N)[: self.SAMPLE])
        some = np.empty((N, len(at)), np.float32)

        def read(rows: slice) -> None:
            some[rows] = np.take(D[rows], at, axis=1)

        run_chunks(read, list(panels(N, COLUMNS)), self.n_jobs)
        return some

    def _range(self, some: F32, q: int) -> F32:
        """(N, q): nearly the leading left singular vectors of (N, n), by one power step from a mixture of a few."""
        rows, n = list(panels(len(some), COLUMNS)), some.shape[1]
        few = min(n, 8 * q)
        mixture = np.random.default_rng(0).normal(size=(few, q)).astype(np.float32)
        Y = orthonormal(some[:, :few] @ mixture)
        back = np.empty((len(rows), n, q), np.float32)

        def project(part: slice) -> None:
            back[part.start // COLUMNS] = some[part].T @ Y[part]

        run_chunks(project, rows, self.n_jobs)
        mixture, out = orthonormal(back.sum(axis=0)), np.empty((len(some), q), np.float32)
        run_chunks(lambda part: np.matmul(some[part], mixture, out=out[part]), rows, self.n_jobs)
        return orthonormal(orthonormal(out))  # once more: the first is as good as the directions are equally strong

    def __call__(self, A: F32, base: Bounded | None = None) -> Bounded:
        """Bounds of A @ D, for A (K, N) with its columns in `order`; of base + A @ D, which is not negative."""
        K, N = A.shape
        W = np.empty((K, len(self.T)), np.float32)
        L = np.empty((K, N), np.float32)
        with limited(1):
            run_chunks(lambda js: self._factors(A[js], W[js]), list(panels(K, ROWS)), self.n_jobs)
            # Rounding of the last addition too: 4 UNIT of the base; of the rest, the factors allow for it.
            keep = np.float32(0.0 if base is None else (1 - base.relative) * (1 - 4 * UNIT))

            def bound(cols: slice) -> None:
                part = L[:, cols]
                np.matmul(W, self.T[:, cols], out=part)
                _finish(part, part if base is None else base.L[:, cols], keep)

            run_chunks(bound, list(panels(N, BOUNDS)), self.n_jobs)
        absolute = np.full(K, N * 2.0**-126)
        return Bounded(L, 16 * UNIT, absolute if base is None else absolute + base.absolute)

    def _factors(self, A: F32, W: F32) -> None:
        """W = (c, minus what c and b cost): the weights A (k, N) as W @ T takes them."""
        k, N = A.shape
        q, B = self.V.shape[1], len(self.starts) - 1
        # V' a summed in runs of about sqrt(N) terms, and these: off by at most 2 (sqrt(N) + 1) UNIT |V_.k| |a|.
        run = max(64, isqrt(N))
        full = N - N % run
        inner = A[:, :full].reshape(k, -1, run).transpose(1, 0, 2)
        c = np.matmul(inner, self.V[:full].reshape(-1, run, q)).sum(axis=0)
        if full < N:
            c += A[:, full:] @ self.V[full:]
        lost = 1.02 * (run + full // run + 4) * UNIT * self.spread
        a, b = _group_norms(A, c @ self.VT, self.starts)
        size = np.sqrt((c.astype(np.float64) ** 2).sum(axis=1))
        # What rounding may hide: in b, in c, and in the product with T.
        b += ((q + 8) * UNIT * (1.01 * a + self.spread * size))[:, None]
        W[:, :q] = c
        W[:, q : q + B] = -1.001 * b
        W[:, q + B] = -1.001 * size
        W[:, q + B + 1] = -1.001 * (lost * 1.01 * a + 1.02 * (q + B + 12) * UNIT * size)


def orthonormal(Y: F32) -> F32:
    """Y (N, q) with its columns made nearly orthonormal through Y' Y: far faster than a QR decomposition, and near is
    enough, since the bounds hold for any V. Directions that Y hardly has become zero."""
    values, vectors = np.linalg.eigh(Y.T.astype(np.float64) @ Y.astype(np.float64))
    good = values > 1e-12 * max(float(values[-1]), 1e-300)
    return Y @ (vectors * np.where(good, 1 / np.sqrt(np.where(good, values, 1.0)), 0.0)).astype(np.float32)


def column_norms(M: F32) -> FloatArray:
    """Euclidean norms of the columns, squares summed in float64."""
    return np.sqrt((M.astype(np.float64) ** 2).sum(axis=0))


@kernel
def _residual(D, P, order, starts):  # type: ignore[no-untyped-def]
    """P becomes D - P; returns the norms (B, columns) of its columns by group of rows."""
    total = np.zeros((starts.shape[0] - 1, P.shape[1]))
    for group in range(total.shape[0]):
        squares = total[group]
        for i in order[starts[group] : starts[group + 1]]:
            for l in range(P.shape[1]):
                r = D[i, l] - P[i, l]
                P[i, l] = r
                squares[l] += np.float64(r) * np.float64(r)
    return np.sqrt(total)


# Any order of summation is within the bounds, so sums may be taken many at a time.
@kernel(fastmath={"reassoc", "nsz"})
def _group_norms(A, P, starts):  # type: ignore[no-untyped-def]
    """Norms of the rows of A (k,), and of A - P by group of columns, (k, B)."""
    a, b = np.zeros(A.shape[0]), np.zeros((A.shape[0], starts.shape[0] - 1))
    for j in range(A.shape[0]):
        for group in range(b.shape[1]):
            x, y = A[j, starts[group] : starts[group + 1]], P[j, starts[group] : starts[group + 1]]
            p = q = 0.0
            for i in range(x.shape[0]):
                r = np.float64(x[i] - y[i])
                p += np.float64(x[i]) * np.float64(x[i])
                q += r * r
            a[j] += p
            b[j, group] = q
    return np.sqrt(a), np.sqrt(b)


@kernel
def _finish(L, base, keep):  # type: ignore[no-untyped-def]
    """L becomes L + keep base, where that is not negative."""
    for j in range(L.shape[0]):
        for l in range(L.shape[1]):
            L[j, l] = max(L[j, l] + keep * base[j, l], np.float32(0))
