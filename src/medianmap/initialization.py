"""Where prototypes start: random points, points spread by their dissimilarity, or the user's own choice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sources.base import FloatArray, IntArray
from .spaces import Space

INITS = ("random", "k-medoids++")


def start_points(init: str, space: Space, K: int, m: FloatArray, rng: np.random.Generator) -> IntArray:
    """(K,) distinct indices of data points."""
    if init == "random":
        return rng.choice(space.n_points, K, replace=False).astype(np.intp)
    return spread(space, K, m, rng)


def spread(
    space: Space, K: int, m: FloatArray, rng: np.random.Generator, beside: NDArray[Any] | None = None
) -> IntArray:
    """k-medoids++: the first point with probability m_i, each next with probability m_i min_j d(x_i, w_j).

    The dissimilarity enters as the cost counts it (squared for vectors, as given for a matrix). When every point is
    at zero from a chosen one, the rest are drawn at random. Prototypes `beside` are there already: all K points are
    then next ones.
    """
    chosen: list[int] = []
    nearest = np.ones(space.n_points) if beside is None else space.distances(beside).min(axis=1)
    free = np.ones(space.n_points, bool)
    if beside is not None and space.n_features is None:
        free[beside] = False
    for _ in range(K):
        p = m * nearest * free
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
        names = " or ".join(map(repr, INITS))
        raise ValueError(f"init must be {names}, or a list of {K} indices of data points{vectors}.")
    if len(start) != K:
        raise ValueError(f"init holds {len(start)} indices, but there are {K} prototypes.")
    outside = start[(start < 0) | (start >= n)]
    if len(outside):
        raise ValueError(f"init holds the index {outside[0]}, but the data points are numbered 0 to {n - 1}.")
    if distinct and len(np.unique(start)) < K:
        raise ValueError("init names a data point twice; collisions='distinct' needs different ones.")
    return start.astype(np.intp)
