"""A fixed low-rank approximation of D: bounds for broad weights at a small fraction of one matrix product.

With V (N, q) nearly orthonormal and Z = V' D, let R = D - V Z. For weights a and any c, a = V c + b:

    a . D_l = a . V Z_l + a . R_l  >=  (V' a) . Z_l - |b| |R_l| - |c| |V' R_l|

This holds for V, Z, c as they are stored, orthonormal or not, optimal or not; c = V' a makes it tight. |R_l| and
|V' R_l| are measured column by column when the approximation is made. Real dissimilarities are nearly of low rank;
where they are not, too many candidates are left over and another screen takes over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import PANEL_BYTES, panels
from ..utils.kernels import kernel
from ..utils.threads import limited, run_chunks
from .screens import UNIT, Bounded


class LowRank:
    """V and Z by a randomised range finder with one power step; bounds for weights A (K, N) in float32."""

    RANK = 48

    def __init__(self, D: NDArray[Any], n_jobs: int | None) -> None:
        N = len(D)
        q = min(self.RANK, N)
        self.n_jobs = n_jobs
        # Narrow enough that the two or three panels a thread holds are small beside D, wide enough for BLAS.
        rows = list(panels(N, max(128, PANEL_BYTES // (8 * N))))
        start = np.random.default_rng(0).normal(size=(N, q)).astype(np.float32)
        with limited(1):
            Y = orthonormal(self._times(D, start, rows))
            self.V = V = orthonormal(self._times(D, Y, rows))
            self.Z = np.zeros((q, N), np.float32)
            run_chunks(lambda cols: np.matmul(V.T, _f32(D[:, cols]), out=self.Z[:, cols]), rows, n_jobs)
            residual, inside = np.empty(N), np.empty(N)

            def measure(cols: slice) -> None:
                R = V @ self.Z[:, cols]
                residual[cols] = _residual(_f32(D[:, cols]), R)
                inside[cols] = column_norms(V.T @ R)

            run_chunks(measure, rows, n_jobs)
        z = column_norms(self.Z)
        # R is known up to the rounding of a float32 sum of q + 2 terms, whose absolute values add up to no more than
        # |D_l| + spread |Z_l| <= |R_l| + 2 spread |Z_l|; V' R up to that of N terms of it.
        spread = np.sqrt(q) * 1.01
        doubt = 1.02 * (q + 4) * UNIT * (residual + 2 * spread * z)
        self.residual = 1.001 * residual + doubt
        self.inside = 1.001 * inside + spread * ((N + 8) * UNIT * self.residual + doubt)
        self.z = 1.001 * z

    def _times(self, D: NDArray[Any], Y: NDArray[np.float32], rows: list[slice]) -> NDArray[np.float32]:
        out = np.empty((len(D), Y.shape[1]), np.float32)
        run_chunks(lambda part: np.matmul(_f32(D[part]), Y, out=out[part]), rows, self.n_jobs)
        return out

    def __call__(self, A: NDArray[np.float32]) -> Bounded:
        K, N = A.shape
        q = len(self.Z)
        L = np.empty((K, N), np.float32)
        with limited(1):
            C = np.empty((K, q), np.float32)
            js = list(panels(K, max(16, -(-K // 4))))
            b, a = np.empty(K), np.empty(K)

            def project(part: slice) -> None:
                np.matmul(A[part], self.V, out=C[part])
                b[part] = row_norms(A[part] - C[part] @ self.V.T)
                a[part] = row_norms(A[part])

            run_chunks(project, js, self.n_jobs)
            c = row_norms(C)
            spread = np.sqrt(q) * 1.01
            # What rounding may hide: in b, in the weights themselves, and in the product below.
            b = 1.001 * b + 1.01 * (q + 8) * UNIT * (a + spread * c)
            penalty = np.stack([b, 1.001 * c, 1.01 * (q + 4) * UNIT * c]).T.astype(np.float32) * np.float32(1.001)
            height = np.stack([self.residual, self.inside, self.z]).astype(np.float32) * np.float32(1.001)

            def bound(cols: slice) -> None:
                np.matmul(C, self.Z[:, cols], out=L[:, cols])
                L[:, cols] -= penalty @ height[:, cols]

            run_chunks(bound, list(panels(N, max(512, -(-N // 4)))), self.n_jobs)
        np.maximum(L, 0.0, out=L)
        # The weights were rounded to float32, some to zero: a relative 2^-24 of the cost, and nothing that raises it.
        return Bounded(L, 8 * UNIT, np.full(K, N * 2.0**-126))


def orthonormal(Y: NDArray[np.float32]) -> NDArray[np.float32]:
    """Y (N, q) with its columns made nearly orthonormal through Y' Y: far faster than a QR decomposition, and near is
    enough, since the bounds hold for any V. Directions that Y hardly has become zero."""
    values, vectors = np.linalg.eigh(Y.T.astype(np.float64) @ Y.astype(np.float64))
    good = values > 1e-12 * max(float(values[-1]), 1e-300)
    return Y @ (vectors * np.where(good, 1 / np.sqrt(np.where(good, values, 1.0)), 0.0)).astype(np.float32)


def _f32(block: NDArray[Any]) -> NDArray[np.float32]:
    return block.astype(np.float32, copy=False)


@kernel
def _residual(D, P):  # type: ignore[no-untyped-def]
    """P becomes D - P; returns the norms of its columns."""
    total = np.zeros(P.shape[1])
    for i in range(P.shape[0]):
        for l in range(P.shape[1]):
            r = D[i, l] - P[i, l]
            P[i, l] = r
            total[l] += np.float64(r) * np.float64(r)
    return np.sqrt(total)


@kernel
def column_norms(M):  # type: ignore[no-untyped-def]
    """Euclidean norms of the columns, squares summed in float64."""
    total = np.zeros(M.shape[1])
    for i in range(M.shape[0]):
        for l in range(M.shape[1]):
            total[l] += np.float64(M[i, l]) * np.float64(M[i, l])
    return np.sqrt(total)


@kernel
def row_norms(M):  # type: ignore[no-untyped-def]
    """Euclidean norms of the rows, squares summed in float64, eight sums side by side."""
    out = np.empty(M.shape[0])
    partial = np.empty(8)
    for j in range(M.shape[0]):
        partial[:] = 0.0
        for i in range(0, M.shape[1] - M.shape[1] % 8, 8):
            for k in range(8):
                partial[k] += np.float64(M[j, i + k]) * np.float64(M[j, i + k])
        for i in range(M.shape[1] - M.shape[1] % 8, M.shape[1]):
            partial[0] += np.float64(M[j, i]) * np.float64(M[j, i])
        out[j] = np.sqrt(partial.sum())
    return out
