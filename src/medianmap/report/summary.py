"""Numbers before pictures: a fitted map as one plain dictionary that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base import BaseMap
from ..quality import class_counts, indices
from ..sources import Source, points_to
from ..sources.base import FloatArray


def summarize(
    estimator: BaseMap,
    source: Source,
    *,
    y: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The map, its errors and its neurons.

    source : dissimilarities (N, N) of the training data of a fitted median map.
    y : (N,) class of each point; class_names translate its values. With it `classes` says where each class lies.
    """
    G = points_to(source, estimator.medoid_indices_)
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
    by_class: list[dict[str, Any]] = []
    if y is not None:
        counts, classes = class_counts(estimator.labels_, y, n_clusters=K)
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
        "converged": bool(estimator.converged_),
        "empty": int(np.count_nonzero(estimator.hits_ == 0)),
        "quality": indices(source, estimator.labels_, G, lattice=lattice, y=y),
        "classes": by_class,
        "neurons": neurons,
    }


def _class_summary(k: int, name: str, counts: FloatArray) -> dict[str, Any]:
    """Class k of counts (K, n_classes): its size, the neurons where it is the majority, and the share of it there."""
    own = (counts.argmax(axis=1) == k) & (counts.sum(axis=1) > 0)
    size = float(counts[:, k].sum())
    return {"class": name, "points": size, "neurons": int(own.sum()), "at_home": float(counts[own, k].sum() / size)}
