"""Numbers before pictures: a fitted map as one plain dictionary that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.quality import class_counts, class_indices, neighborhood_indices, torn_share
from ..predict.nearest import points_table, two_nearest
from ..predict.queries import map_of
from ..sources import ComputedSource, DenseSource, Source, SubsetSource, points_to
from ..sources.base import FloatArray, IntArray
from ..sources.computed import block_in_steps

# Indices of order compare all pairs of points; beyond this number a random sample of so many stands for all.
MOST_POINTS = 2000
# The same for objects whose dissimilarities are yet to be computed.
MOST_COMPUTED = 500


def summarize(
    model: Any,
    source: Source,
    *,
    y: Sequence[Any] | NDArray[Any] | None = None,
    class_names: Sequence[str] | None = None,
    points: NDArray[Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """The map, its errors and its neurons.

    model : a fitted median map, or a classifier or a pass over patches with one in it.
    source : dissimilarities (N, N) of the training data.
    y : (N,) class of each point, None where it is not known; class_names translate its values. With it `classes` says
        where each class lies.
    points : the table of `two_best`, where it is there already.
    seed : of the sample from which indices of order are taken when there are many points.
    """
    estimator: Any = map_of(model)
    if points is None:
        points = points_table([two_nearest(points_to(source, estimator.medoid_indices_))])
    labels: IntArray = points["prototype"]
    lattice = getattr(estimator, "lattice_", None)
    K = len(estimator.hits_)
    neurons: list[dict[str, Any]] = [
        {"neuron": j, "exemplar": int(estimator.medoid_indices_[j]), "hits": float(estimator.hits_[j])}
        for j in range(K)
    ]
    if lattice is not None:
        for j, neuron in enumerate(neurons):
            neuron |= {"row": j // lattice.shape[1], "column": j % lattice.shape[1]}
    if source.ids is not None:
        for neuron in neurons:
            neuron["exemplar_id"] = source.ids[neuron["exemplar"]]
    inertia = float(points["dissimilarity"].sum())
    quality = {"quantization_error": 0.5 * inertia, "inertia": inertia}
    if lattice is not None:
        quality["topographic_error"] = torn_share(labels, points["second"], lattice)
    sample, keep = sampled(source, seed)
    quality |= neighborhood_indices(sample, labels[keep], lattice)
    by_class: list[dict[str, Any]] = []
    known = np.flatnonzero([each is not None for each in y]) if y is not None else np.empty(0, np.intp)
    if y is not None and len(known):
        classes_of = np.array([y[i] for i in known.tolist()])
        quality |= class_indices(labels[known], classes_of)
        counts, classes = class_counts(labels[known], classes_of, n_clusters=K)
        names = [str(c) for c in classes] if class_names is None else [class_names[int(c)] for c in classes]
        for neuron, row in zip(neurons, counts, strict=True):
            total = row.sum()
            neuron["majority"] = names[int(row.argmax())] if total else None
            neuron["purity"] = float(row.max() / total) if total else None
        by_class = [_class_summary(k, name, counts) for k, name in enumerate(names)]
    return {
        "map": type(estimator).__name__,
        "n_points": int(source.shape[0]),
        "n_prototypes": K,
        "grid": None if lattice is None else list(lattice.shape),
        "lattice": None if lattice is None else lattice.kind,
        "epochs": int(estimator.n_iter_),
        "converged": bool(getattr(estimator, "converged_", False)),
        "empty": int(np.count_nonzero(np.asarray(estimator.hits_) == 0)),
        "n_points_compared": len(keep),
        "n_points_labelled": len(known),
        "quality": quality,
        "classes": by_class,
        "neurons": neurons,
    }


def sampled(source: Source, seed: int) -> tuple[Source, IntArray]:
    """As many of the points, ascending, as are compared with each other, and their dissimilarities."""
    n = source.shape[0]
    computed = isinstance(source, ComputedSource)
    most = MOST_COMPUTED if computed else MOST_POINTS
    keep = np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    part = source if n <= most else SubsetSource(source, keep)
    # What is computed on demand would be computed again for every index.
    return (DenseSource(block_in_steps(part), part.symmetric, part.ids) if computed else part), keep


def _class_summary(k: int, name: str, counts: FloatArray) -> dict[str, Any]:
    """Class k of counts (K, n_classes): its size, the neurons where it is the majority, and the share of it there."""
    own = (counts.argmax(axis=1) == k) & (counts.sum(axis=1) > 0)
    size = float(counts[:, k].sum())
    return {"class": name, "points": size, "neurons": int(own.sum()), "at_home": float(counts[own, k].sum() / size)}
