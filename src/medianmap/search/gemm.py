"""`gemm`: all costs as one matrix product A @ D through BLAS, in one sequential pass over row panels of D."""

from __future__ import annotations

import numpy as np

from ..sources.base import ALL, FloatArray, IntArray, Source, panels, rows_per_panel
from .frame import Screened, Search, Weights


def gemm(source: Source, n_jobs: int | None = None) -> Search:
    """The product for the weights of each epoch."""

    def epoch(weights: Weights, w: IntArray) -> Screened:
        return product_costs(weights.A, source)

    return epoch


def product_costs(A: FloatArray, source: Source) -> Screened:
    """C = sum over panels of A[:, rows] @ D[rows, :].

    Rows are read in order, so a memory map streams from disk and only one float64 panel is held. BLAS may sum in any
    order and with fused multiply-adds: every partial sum is of non-negative terms, which is all that Finder assumes.
    """
    K, N = A.shape
    C = np.zeros((K, source.shape[1]))
    product = np.empty_like(C)
    for rows in panels(N, rows_per_panel(source.shape[1])):
        panel = source.block(rows, ALL).astype(np.float64, copy=False)
        np.matmul(A[:, rows], panel, out=product)
        C += product
    return Screened(A.__getitem__, source, C, terms=K * N * source.shape[1])
