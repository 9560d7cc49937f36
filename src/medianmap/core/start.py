"""Where prototypes start: at random, spread by dissimilarity, laid out on the lattice, or as the user says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray
from ..utils.threads import limited
from .neighborhood import Lattice
from .spaces import Space, snapped


def start_points(
    init: str, space: Space, K: int, m: FloatArray, rng: np.random.Generator, lattice: Lattice | None = None
) -> IntArray:
    """(K,) distinct indices of data points; "embedding" needs the lattice."""
    if init == "random":
        return rng.choice(space.n_points, K, replace=False).astype(np.intp)
    if init == "embedding":
        assert lattice is not None  # only a SOM takes this start
        return embedded(space, lattice, m, rng)
    return spread(space, K, m, rng)


def embedded(space: Space, lattice: Lattice, m: FloatArray, rng: np.random.Generator) -> IntArray:
    """The plane of landmark classical scaling, spread over the lattice: the point nearest to each neuron's place.

    Landmarks are drawn at random; points count by their weights. A median map takes a matrix as distances, which the
    scaling squares; the distances of vectors are squared already, and relational maps take a matrix as such squares.
    """
    n = space.n_points
    landmarks = np.sort(rng.choice(n, min(n, LANDMARKS), replace=False))
    d = space.distances(space.at(landmarks)).astype(np.float64, copy=False)
    with limited(1):  # the same bits at any number of threads
        return laid_out(landmark_coordinates(space.as_squares(d), landmarks, m), m, lattice)


def spread(
    space: Space, K: int, m: FloatArray, rng: np.random.Generator, beside: NDArray[Any] | None = None
) -> IntArray:
    """k-medoids++: the first point with probability m_i, each next with probability m_i min_j d(x_i, w_j).

    The dissimilarity enters as the cost counts it (squared for vectors, as given for a matrix). When every point is
    at zero from a chosen one, the rest are drawn at random; below zero, as combinations of the data may be, counts as
    zero. With prototypes `beside`, which are there already, all K points are drawn by the second rule.
    """
    chosen: list[int] = []
    nearest = np.ones(space.n_points) if beside is None else space.distances(beside).min(axis=1)
    free = np.ones(space.n_points, bool)
    if beside is not None and space.n_features is None:
        free[beside] = False
    for _ in range(K):
        p = m * np.maximum(nearest, 0.0) * free
        if not p.any():
            p = free.astype(np.float64)
        chosen.append(int(rng.choice(space.n_points, p=p / p.sum())))
        free[chosen[-1]] = False
        d = space.distances(space.at(np.array(chosen[-1:])))[:, 0]
        nearest = d if len(chosen) == 1 and beside is None else np.minimum(nearest, d)
    return np.array(chosen, dtype=np.intp)


def explicit(init: Any, K: int, n: int, *, n_features: int | None, distinct: bool) -> NDArray[Any]:
    """The user's start, checked: (K,) indices into the data, or for batch maps also (K, n_features) vectors."""
    try:
        start = np.asarray(init)
    except ValueError:
        raise ValueError("init has rows of different lengths; give indices of data points or equal vectors.") from None
    if n_features is not None and start.ndim == 2 and start.dtype.kind in "fiub":
        if start.shape != (K, n_features) or not np.isfinite(start).all():
            raise ValueError(f"init has shape {start.shape}; {K} finite vectors of {n_features} features are needed.")
        return start.astype(np.float64)
    if start.ndim != 1 or start.dtype.kind not in "iu":
        vectors = "" if n_features is None else ", or an array of start vectors"
        words = "'random', 'k-medoids++', for a SOM also 'embedding'"
        raise ValueError(f"init must be {words}, or a list of {K} indices of data points{vectors}.")
    if len(start) != K:
        raise ValueError(f"init holds {len(start)} indices, but there are {K} prototypes.")
    outside = start[(start < 0) | (start >= n)]
    if len(outside):
        raise ValueError(f"init holds the index {outside[0]}, but the data points are numbered 0 to {n - 1}.")
    if distinct and len(np.unique(start)) < K:
        raise ValueError("init names a data point twice; collisions='distinct' needs different ones.")
    return start.astype(np.intp)


# --- landmark classical scaling: points in the plane, and from there to a lattice

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
    return snapped(np.column_stack([((points - target) ** 2).sum(axis=1) for target in targets]), distinct=True)


def laid_out(Y: FloatArray, m: FloatArray, lattice: Lattice) -> IntArray:
    """(K,) distinct points, one per neuron: the plane Y (N, 2) is spread over the lattice's rectangle.

    The first coordinate runs along the longer side. Each coordinate is replaced by its quantile, so that every row and
    every column of neurons gets its share of the points. A torus is cut open: its seams are left to the annealing.
    """
    low, high = lattice.positions.min(axis=0), lattice.positions.max(axis=0)
    sides = high - low + 1.0  # half a step of margin all round
    axes = [0, 1] if sides[0] >= sides[1] else [1, 0]
    points = np.column_stack([quantiles(Y[:, axis], m) for axis in axes]) * sides
    return nearest_free(lattice.positions - low + 0.5, points)
