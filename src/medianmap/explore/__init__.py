"""What a fitted map shows, as arrays: U-matrix, hits, shares, groups, layout, stability. Pictures draw only these."""

from __future__ import annotations

from ..core.plane import PlaneLayout, layout, symmetrized
from ..predict.assign_all import remember, two_best
from ..predict.verdicts import border_points, judged, outliers
from .prototypes import (
    Superclusters,
    UMatrix,
    class_shares,
    component_planes,
    hit_map,
    mean_dissimilarity,
    prototype_dissimilarities,
    superclusters,
    topology_graph,
    u_matrix,
)
from .stability import Stability, Uncertainty, restart_stability, uncertainty

__all__ = [
    "PlaneLayout", "Stability", "Superclusters", "UMatrix", "Uncertainty", "border_points", "class_shares",
    "component_planes", "hit_map", "judged", "layout", "mean_dissimilarity", "outliers", "prototype_dissimilarities",
    "remember", "restart_stability", "superclusters", "symmetrized", "topology_graph", "two_best", "u_matrix",
    "uncertainty",
]  # fmt: skip
