"""Maps without a lattice: which prototypes are neighbours in the data, and where to draw them in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray
from ..utils.checks import check_count, check_weights
from ..utils.progress import step
from ..utils.tables import table
from ..utils.threads import limited
from .prototypes import symmetrized

# Stress that falls by less than this share has settled, as far as an eye can tell.
SETTLED = 1e-5


def topology_graph(points: NDArray[Any], sample_weight: Any = None) -> NDArray[Any]:
    """Records (a, b, count), a < b: how many points, by weight, have a and b as their two nearest prototypes.

    Competitive Hebbian learning: every point joins its two nearest. points : the table of `two_best`.
    """
    m = check_weights(sample_weight, len(points))
    low = np.minimum(points["prototype"], points["second"])
    high = np.maximum(points["prototype"], points["second"])
    joined = (low != high) & (m > 0)
    pairs, which = np.unique(np.stack([low, high], axis=1)[joined], axis=0, return_inverse=True)
    count = np.bincount(which.ravel(), weights=m[joined], minlength=len(pairs))
    return table(a=pairs[:, 0], b=pairs[:, 1], count=count)


@dataclass(frozen=True)
class Layout:
    """positions (K, 2) in the plane, centred; stress: Kruskal's, 0 where all dissimilarities are drawn exactly."""

    positions: FloatArray
    stress: float


def layout(P: FloatArray, max_iter: int = 300) -> Layout:
    """Positions z that lower sum_{a<b} (s_ab - |z_a - z_b|)^2, s = (P + P^T) / 2 (metric scaling by SMACOF).

    P : (K, K) dissimilarities of the prototypes. Of squared distances pass the roots, or far points crowd out the near.

    Nothing is drawn by chance: it starts from classical scaling, whose axes point to their largest coordinate.
    stress = sqrt(sum (s - |z_a - z_b|)^2 / sum s^2).
    """
    check_count(max_iter, "max_iter")
    K, S = len(P), symmetrized(P)
    largest = float(S.max())
    if largest == 0:
        return Layout(np.zeros((K, 2)), 0.0)
    S /= largest
    with limited(1):  # the same positions at any number of threads
        z = _classical(S)
        stress = np.inf
        for k in range(max_iter):
            step("layout", k, max_iter)
            d = _distances(z)
            before, stress = stress, float(((S - d) ** 2).sum())
            if before - stress <= SETTLED * before < np.inf:
                break
            B = -np.divide(S, d, out=np.zeros_like(S), where=d > 0)
            np.fill_diagonal(B, -B.sum(axis=1))
            z = B @ z / K
        error = ((S - _distances(z)) ** 2).sum() / (S**2).sum()
    return Layout(z * largest, float(np.sqrt(error)))


def _classical(S: FloatArray) -> FloatArray:
    """(K, 2) classical scaling of S (K, K): the two leading eigenvectors of the centred matrix of squares."""
    from scipy.linalg import eigh

    K = len(S)
    Q = -0.5 * S**2
    Q += Q.mean() - Q.mean(axis=0) - Q.mean(axis=1)[:, None]
    values, vectors = eigh(Q, subset_by_index=[max(K - 2, 0), K - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    z = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.hstack([z, np.zeros((K, 2 - z.shape[1]))])


def _distances(z: FloatArray) -> FloatArray:
    from scipy.spatial.distance import cdist

    return cdist(z, z)
