"""The order of a map: its measures as facts, where it is torn, and in words whether it can be read as a map."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.neighborhood import Lattice
from ..core.quality import border_share, inertia, shuffled_errors, torn_by_chance, torn_links, torn_share
from ..metrics.registry import bind
from ..predict.queries import SourceRows, ToPrototypes, as_queries
from ..refine import swap_medoids
from ..sources import ComputedSource, Source, as_dissimilarity, points_to
from ..sources.base import ExpensiveSource, IntArray, is_source
from ..sources.checks import as_objects
from ..utils.threads import followed

# Up to so many points, K-medoids of all of them are found in less time than the page takes.
MOST_SWAPPED = 5000

# Topographic error over that of a random order, r. A perfect map of which a share 1 - sqrt(1 - r) of the neurons stands
# in random places has this r: one neuron in twenty, one in six.
ALIKE, TORN = 0.1, 0.3
# Rank correlations; random orders have up to 0.2.
FAR_APART, ROUGHLY = 0.5, 0.25
# Perfect maps of evenly spread points have 1.1.
CROWDED = 1.5

EXPLAINED = {
    "quantization_error": "half the summed dissimilarity of points to their exemplars",
    "inertia": "the whole sum",
    "topographic_error": "share of points whose two nearest neurons do not touch; 0 is best",
    "torn_by_chance": "the topographic error of the same neurons in a random order",
    "border_share": "share of points on border neurons over the border's share of neurons; 1: no crowd there",
    "trustworthiness": "neighbours on the map are neighbours in the data; 1 is best",
    "continuity": "neighbours in the data are neighbours on the map; 1 is best",
    "rank_correlation": "of dissimilarities with distances on the map; 1 is best, a random order has about 0",
    "price_of_order": "quantization error over that of K-medoids by swaps from the same exemplars; 1: order is free",
    "silhouette": "clusters are compact and apart; 1 is best",
    "purity": "share of points in the majority class of their neuron",
    "adjusted_rand": "agreement with the classes beyond chance; 1 is best",
    "normalized_mutual_information": "information shared with the classes; 1 is best",
    "training_accuracy": "share of the labelled points whose class the map predicts",
}


def add_order(facts: dict[str, Any], lattice: Lattice, points: NDArray[Any]) -> None:
    """Add what the lattice and the table of `two_best` tell, and what follows from all measures in `facts`.

    reading : "map", "torn map" or "clustering"; verdict : the same in words. Both None for a map of one neuron.
    torn : [a, b, count], see `torn_links`. Measures that are not defined are None.
    """
    first, second = points["prototype"], points["second"]
    hits = np.bincount(first, minlength=len(lattice.distances))
    found = {
        "topographic_error": torn_share(first, second, lattice), "torn_by_chance": torn_by_chance(lattice),
        "border_share": border_share(hits, lattice),
    }  # fmt: skip
    every = facts["quality"] | found
    ordered = {name: every[name] for name in EXPLAINED if name in every}
    facts["quality"] = {name: None if value is None or isnan(value) else value for name, value in ordered.items()}
    facts["torn"] = torn_links(first, second, lattice).tolist()
    facts["reading"], facts["verdict"] = None, None
    if len(hits) > 1:
        by_luck = float(shuffled_errors(first, second, lattice).min())
        facts["reading"], facts["verdict"] = verdict(facts["quality"], by_luck)


def verdict(quality: dict[str, Any], by_luck: float) -> tuple[str, str]:
    """Whether a map can be read as one: ("map", "torn map" or "clustering", the same in words).

    The topographic error over that of a random order decides; by_luck is the least error of 99 random orders. What is
    far apart and how full the border is are told besides, where they are known.
    """
    error, chance = quality["topographic_error"], quality["torn_by_chance"]
    if chance == 0:
        return "clustering", "All neurons touch one another, so there is no order to be read from this map."
    figures = f"topographic error {error:.2g}, by chance {chance:.2g}"
    if error >= by_luck:
        reading = "clustering"
        words = f"Read this map as a clustering: random orders of its neurons can do as well ({figures})."
    elif error <= ALIKE * chance:
        reading, words = (
            "map",
            f"This can be read as a map: neighbouring cells are alike nearly everywhere ({figures}).",
        )
    elif error <= TORN * chance:
        reading = "torn map"
        words = f"This can be read as a map with torn places: neighbouring cells are alike in most of it ({figures})."
    else:
        reading = "clustering"
        words = f"Read this map as a clustering: cells next to each other are often not alike ({figures})."
    rho, border = quality.get("rank_correlation"), quality.get("border_share")
    if rho is not None:
        far = "Cells far apart are unlike" if rho >= FAR_APART else "Cells far apart tend to be unlike"
        far = "How far apart two cells are says little" if rho < ROUGHLY else far
        words += f" {far} (rank correlation {rho:.2g})."
    if border is not None and border >= CROWDED:
        words += f" Points crowd on the border: it holds {border:.2g} times its share."
    return reading, words


def pairs_of(fitted: Any, X: Any) -> Source | None:
    """Dissimilarities among the points X, read where X has them, else to be computed as the map compares.

    None where X has only dissimilarities to other points.
    """
    if is_source(X):
        return getattr(X, "matrix", X)
    queries = as_queries(fitted, X, None)
    given, n = queries.objects, queries.n
    if isinstance(given, SourceRows):
        return given.source
    if n is None or isinstance(given, ToPrototypes):
        return None
    if fitted._reads_matrix():
        # Whether a large matrix is symmetric takes a pass over it, and only a sample is read.
        symmetric = None if n <= MOST_SWAPPED else False
        return as_dissimilarity(given, symmetric=symmetric) if n == fitted.n_features_in_ else None
    metric = fitted._object_metric(fitted=True) or bind("sqeuclidean")
    objects = as_objects(given, metric, vectors=hasattr(fitted, "n_features_in_"))
    return ComputedSource(objects, metric, None, fitted.n_jobs)


def price_of_order(pairs: Source, exemplars: IntArray | None, total: float) -> float | None:
    """sum_i min_j D[i, w_j] over the same of the K-medoids to which swaps lead from the exemplars w (K,).

    pairs : all N points; total : that sum as it was found, to which another one is no map of these points.

    None without exemplars, with more than MOST_SWAPPED points, where dissimilarities would have to be computed or asked
    for, and where there is nothing to compare: a sample of the points would have other K-medoids.
    """
    N = pairs.shape[0]
    if exemplars is None or N > MOST_SWAPPED or isinstance(pairs, ExpensiveSource) or exemplars.max() >= N:
        return None
    if not np.isclose(inertia(points_to(pairs, exemplars)), total, rtol=1e-6):
        return None
    with followed(lambda *_: None):  # it takes less than a second: no stage of its own
        best = swap_medoids(pairs, exemplars).loss
    return total / best if best > 0 else None
