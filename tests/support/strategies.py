"""Dissimilarity problems for hypothesis: symmetric, asymmetric, tied, duplicated, weighted."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

KINDS = ("symmetric", "asymmetric", "ties", "duplicates", "zero", "constant", "outlier", "subnormal")


@dataclass(frozen=True)
class Case:
    """D (N, N), weights m (N,) > 0 and K start indices."""

    kind: str
    D: np.ndarray
    m: np.ndarray
    start: np.ndarray

    @property
    def K(self) -> int:
        return len(self.start)


def matrix(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """A dissimilarity matrix of one kind, with a zero diagonal."""
    if kind == "duplicates":
        base = matrix("symmetric", -(-n // 2), rng)
        return np.repeat(np.repeat(base, 2, axis=0), 2, axis=1)[:n, :n]
    D = rng.integers(0, 4, (n, n)).astype(float) if kind == "ties" else rng.random((n, n))
    if kind == "zero":
        D[:] = 0
    if kind == "constant":
        D[:] = 1
    if kind == "subnormal":
        D *= 1e-310
    if kind == "outlier":
        D[n // 2] *= 1e12
    if kind in ("symmetric", "ties", "outlier"):
        D = D + D.T
    np.fill_diagonal(D, 0)
    return D


@st.composite
def cases(draw, max_points=24, kinds=KINDS):
    """A small problem; randomness comes from a drawn seed, so a failing example is a short one."""
    kind = draw(st.sampled_from(kinds))
    n = draw(st.integers(1, max_points))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    K = draw(st.integers(1, min(n, 9)))
    m = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else np.ones(n)
    return Case(kind, matrix(kind, n, rng), m, rng.permutation(n)[:K])
