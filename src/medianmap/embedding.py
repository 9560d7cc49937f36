"""Landmark classical scaling: points in the plane from their dissimilarities to a few, and from there to a lattice.

With weights w (L,), sum 1, on landmarks of squared dissimilarities Delta (L, L) and J = I - 1 w':

    B = -1/2 J Delta J',   W^1/2 B W^1/2 = U diag(lambda) U',
    y_k(x) = -1/2 (delta(x) - w' Delta) . W^1/2 u_k / sqrt(lambda_k),   k = 1, 2

where delta(x) (L,) are the squared dissimilarities from point x to the landmarks (de Silva & Tenenbaum 2004, with
weights). For Euclidean distances y are the landmarks' principal components, and they cost N L dissimilarities.
"""

from __future__ import annotations

import numpy as np

from .neighborhood import Lattice
from .sources.base import FloatArray, IntArray

# Two coordinates need few: maps from 100, 200 and 400 landmarks of 4400 points differed by less than their seeds did.
LANDMARKS = 200
# An axis of less than this share of the first one's spread is rounding: the data have no such direction.
FLAT = 1e-9


def landmark_coordinates(squares: FloatArray, landmarks: IntArray, m: FloatArray) -> FloatArray:
    """(N, 2) coordinates, in falling order of spread, from squared dissimilarities (N, L) to the points `landmarks`.

    The landmarks' own block is symmetrised, (Delta + Delta') / 2; m (N,) are weights of the points. An axis that the
    data do not have is 0. The sign of an axis makes the coordinate farthest from 0 positive.
    """
    from scipy.linalg import eigh

    largest = float(squares.max())
    Y = np.zeros((len(squares), 2))
    if largest == 0.0:
        return Y
    squares = squares / largest
    block = (squares[landmarks] + squares[landmarks].T) / 2
    w = m[landmarks] / m[landmarks].sum()
    means = w @ block
    B = -0.5 * (block - means - means[:, None] + w @ means)
    root = np.sqrt(w)
    L = len(landmarks)
    values, vectors = eigh(root[:, None] * B * root, subset_by_index=[max(L - 2, 0), L - 1])
    for axis, k in enumerate(reversed(range(len(values)))):
        if values[k] > FLAT * max(values[-1], FLAT):
            y = 0.5 * (means - squares) @ (root * vectors[:, k]) / np.sqrt(values[k])
            Y[:, axis] = y * np.sign(y[np.abs(y).argmax()])
    return Y * np.sqrt(largest)


def quantiles(y: FloatArray, m: FloatArray) -> FloatArray:
    """(N,) in (0, 1): the share of the weight m below a point's coordinate, its equals counted half."""
    _, which = np.unique(y, return_inverse=True)
    mass = np.bincount(which, m)
    return ((np.cumsum(mass) - mass / 2) / mass.sum())[which]


def nearest_free(targets: FloatArray, points: FloatArray) -> IntArray:
    """(K,) distinct indices: each target in turn takes the nearest free one of points (N, 2), the lowest on ties."""
    free = np.ones(len(points), bool)
    chosen = np.empty(len(targets), np.intp)
    for j, target in enumerate(targets):
        gaps = np.where(free, ((points - target) ** 2).sum(axis=1), np.inf)
        chosen[j] = gaps.argmin()
        free[chosen[j]] = False
    return chosen


def laid_out(Y: FloatArray, m: FloatArray, lattice: Lattice) -> IntArray:
    """(K,) distinct points, one a neuron: the plane Y (N, 2) is spread over the lattice's rectangle.

    The first coordinate runs along the longer side. Each coordinate is replaced by its quantile, so that every row and
    every column of neurons gets its share of the points. A torus is cut open: its seams are left to the annealing.
    """
    low, high = lattice.positions.min(axis=0), lattice.positions.max(axis=0)
    sides = high - low + 1.0  # half a step of margin all round
    axes = [0, 1] if sides[0] >= sides[1] else [1, 0]
    points = np.column_stack([quantiles(Y[:, axis], m) for axis in axes]) * sides
    return nearest_free(lattice.positions - low + 0.5, points)
