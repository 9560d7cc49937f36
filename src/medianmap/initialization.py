"""Where prototypes start: at random, spread by dissimilarity, laid out on the lattice, or as the user says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .embedding import LANDMARKS, laid_out, landmark_coordinates
from .neighborhood import Lattice
from .sources.base import FloatArray, IntArray
from .spaces import MedianSpace, Space
from .threads import limited
from .validation import check_choice

INITS = ("random", "k-medoids++", "embedding")


def check_init(init: Any, on_lattice: bool) -> None:
    """ValueError for a word that names no start, or one that the map cannot have."""
    if not isinstance(init, str):
        return  # indices and vectors are checked with the data
    if init == "embedding" and not on_lattice:
        raise ValueError(
            "init='embedding' lays points out on a lattice, which only a SOM has; choose 'random' or 'k-medoids++'."
        )
    check_choice(init, "init", INITS if on_lattice else INITS[:-1])


def start_points(
    init: str, space: Space, K: int, m: FloatArray, rng: np.random.Generator, lattice: Lattice | None = None
) -> IntArray:
    """(K,) distinct indices of data points; "embedding" needs the lattice."""
    if init == "random":
        return rng.choice(space.n_points, K, replace=False).astype(np.intp)
    if init == "embedding":
        assert lattice is not None  # check_init saw to it
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
    if isinstance(space, MedianSpace):
        d = (d / (d.max() or 1.0)) ** 2  # divided first: squares of large numbers leave the range of floats
    with limited(1):  # the same bits at any number of threads
        return laid_out(landmark_coordinates(d, landmarks, m), m, lattice)


def spread(
    space: Space, K: int, m: FloatArray, rng: np.random.Generator, beside: NDArray[Any] | None = None
) -> IntArray:
    """k-medoids++: the first point with probability m_i, each next with probability m_i min_j d(x_i, w_j).

    The dissimilarity enters as the cost counts it (squared for vectors, as given for a matrix). When every point is
    at zero from a chosen one, the rest are drawn at random; below zero, as combinations of the data may be, counts as
    zero. Prototypes `beside` are there already: all K points are then next ones.
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
