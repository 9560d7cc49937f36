"""Points in the plane whose distances are about given dissimilarities: classical scaling by landmarks, and SMACOF."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_count
from ..utils.threads import limited, step

# An axis of less than this share of the first one's spread is rounding: the data have no such direction.
FLAT = 1e-9
# Stress that falls by less than this share has settled, as far as an eye can tell.
SETTLED = 1e-5
# Points nearer than this, in units of the largest dissimilarity, lie on each other; how far they are moved apart.
TOGETHER, APART = 1e-6, 1e-3


def landmark_coordinates(squares: FloatArray, landmarks: IntArray, m: FloatArray, n_axes: int = 2) -> FloatArray:
    """(N, n_axes) coordinates, most spread first, from squared dissimilarities (N, L) to the points `landmarks`.

    The landmarks' own block is symmetrised, (Delta + Delta') / 2; m (N,) are weights of the points. An axis that the
    data do not have is 0. The sign of an axis makes the coordinate farthest from 0 positive.
    """
    from scipy.linalg import eigh

    largest = float(squares.max())
    Y = np.zeros((len(squares), n_axes))
    if largest == 0.0:
        return Y
    squares = squares / largest
    block = (squares[landmarks] + squares[landmarks].T) / 2
    w = m[landmarks] / m[landmarks].sum()
    means = w @ block
    B = -0.5 * (block - means - means[:, None] + w @ means)
    root = np.sqrt(w)
    L = len(landmarks)
    values, vectors = eigh(root[:, None] * B * root, subset_by_index=[max(L - n_axes, 0), L - 1])
    for axis, k in enumerate(reversed(range(len(values)))):
        if values[k] > FLAT * max(values[-1], FLAT):
            y = 0.5 * (means - squares) @ (root * vectors[:, k]) / np.sqrt(values[k])
            Y[:, axis] = y * np.sign(y[np.abs(y).argmax()])
    return Y * np.sqrt(largest)


def symmetrized(P: FloatArray) -> FloatArray:
    """(P + P^T) / 2 with a zero diagonal (K, K): what superclusters, layout and U-matrix are made from.

    Values below 0, which combinations of the data may have, count as 0.

    P : (K, K) dissimilarities.
    """
    S = np.maximum(P / 2 + P.T / 2, 0.0)  # halves first: the sum of two huge numbers may overflow
    np.fill_diagonal(S, 0.0)
    return S


@dataclass(frozen=True)
class PlaneLayout:
    """Places of the prototypes in the plane.

    positions : (K, 2) in the plane, centred.
    stress : Kruskal's, 0 if all dissimilarities are drawn exactly.
    """

    positions: FloatArray
    stress: float


def layout(P: FloatArray, max_iter: int = 300) -> PlaneLayout:
    """Positions z that lower sum_{a<b} (s_ab - |z_a - z_b|)^2, s = (P + P^T) / 2 (metric scaling by SMACOF).

    P : (K, K) dissimilarities of the prototypes. For squared distances pass their roots; otherwise large ones dominate.

    Nothing is random: it starts from classical scaling, with the sign of each axis fixed by its largest coordinate.
    stress = sqrt(sum (s - |z_a - z_b|)^2 / sum s^2).

    max_iter : most steps of SMACOF.
    """
    check_count(max_iter, "max_iter")
    K, S = len(P), symmetrized(P)
    largest = float(S.max())
    if largest == 0:
        return PlaneLayout(np.zeros((K, 2)), 0.0)
    S /= largest
    with limited(1):  # the same positions at any number of threads
        z = landmark_coordinates(S**2, np.arange(K), np.ones(K))
        if ((cdist(z, z) < TOGETHER) & (S > TOGETHER)).any():  # as leaves of a tree may be; they would never part
            turns = np.arange(K)
            z += APART * np.column_stack([np.cos(turns), np.sin(turns)])
        stress = np.inf
        for k in range(max_iter):
            step("layout", k, max_iter)
            d = cdist(z, z)
            before, stress = stress, float(((S - d) ** 2).sum())
            if before - stress <= SETTLED * before < np.inf:
                break
            B = -np.divide(S, d, out=np.zeros_like(S), where=d > 0)
            np.fill_diagonal(B, -B.sum(axis=1))
            z = B @ z / K
        error = ((S - cdist(z, z)) ** 2).sum() / (S**2).sum()
    return PlaneLayout(z * largest, float(np.sqrt(error)))
