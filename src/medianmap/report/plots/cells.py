"""Polygons of maps, as arrays: cells of a lattice, cells of a U-matrix, pies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.neighborhood import Lattice
from ...explore.prototypes import UMatrix
from ...sources.base import FloatArray, IntArray

# Corners around a centre; the cell of a lattice of step 1 then touches its neighbours.
_TURNS = np.deg2rad(30 + 60 * np.arange(6))
CORNERS = {
    "hexagonal": np.column_stack([np.cos(_TURNS), np.sin(_TURNS)]) / np.sqrt(3),
    "rectangular": np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]),
}
# Corners of a full circle; pies are small on the page.
ROUND = 60


def cell_polygons(centers: FloatArray, kind: str, size: float = 1.0) -> FloatArray:
    """(n, corners, 2) hexagons or squares around centers (n, 2), `size` steps of the lattice wide."""
    return centers[:, None, :] + size * CORNERS[kind]


def u_matrix_cells(lattice: Lattice, u: UMatrix) -> tuple[FloatArray, FloatArray]:
    """(centers (n, 2), values (n,)) of the cells, half a step wide, that show a U-matrix.

    First the K neurons with their means, then a cell between every two that touch, with their dissimilarity; an edge
    that goes round a torus is shown on both sides. On a rectangular lattice the cell between four neurons has the mean
    of the four edges around it.
    """
    p, (a, b) = lattice.positions, (u.edges["a"], u.edges["b"])
    step = p[b] - p[a]
    if lattice.periodic:
        rows, cols = lattice.shape
        around = np.array([cols, rows * (np.sqrt(3) / 2 if lattice.kind == "hexagonal" else 1.0)])
        step = step - around * np.round(step / around)
    round_it = np.abs(p[b] - p[a] - step).max(axis=1, initial=0) > 1e-9
    centers = [p, p[a] + step / 2, (p[b] - step / 2)[round_it]]
    values = [u.means, u.edges["dissimilarity"], u.edges["dissimilarity"][round_it]]
    if lattice.kind == "rectangular":
        middles, means = _between_four(lattice.shape, u.edges)
        centers.append(middles)
        values.append(means)
    return np.concatenate(centers), np.concatenate(values)


def _between_four(shape: tuple[int, int], edges: NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    rows, cols = shape
    U = np.zeros((rows * cols, rows * cols))
    U[edges["a"], edges["b"]] = U[edges["b"], edges["a"]] = edges["dissimilarity"]
    r, c = (index.ravel() for index in np.indices((rows - 1, cols - 1)))
    corner = r * cols + c
    right, below, across = corner + 1, corner + cols, corner + cols + 1
    means = (U[corner, right] + U[corner, below] + U[right, across] + U[below, across]) / 4
    return np.column_stack([c + 0.5, r + 0.5]), means


def pie_polygons(centers: FloatArray, radii: FloatArray, shares: FloatArray) -> tuple[list[FloatArray], IntArray]:
    """(wedges, the class of each) of pies with shares (n, C) whose rows sum to 1 or 0; slices run from the top."""
    wedges, classes = [], []
    for center, radius, row in zip(centers, radii, shares, strict=True):
        ends = np.concatenate([[0.0], np.cumsum(row)])
        for c in np.flatnonzero(row > 0) if radius > 0 else ():
            turns = np.linspace(ends[c], ends[c + 1], max(2, round(ROUND * row[c]) + 1)) * 2 * np.pi
            arc = center + radius * np.column_stack([np.sin(turns), -np.cos(turns)])  # rows of a map run downwards
            wedges.append(arc if row[c] > 1 - 1e-12 else np.vstack([center, arc]))
            classes.append(c)
    return wedges, np.array(classes, np.intp)
