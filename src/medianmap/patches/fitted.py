"""Prototypes of a pass -> a fitted map that answers for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..base import BaseMap
from ..families import MedianMap
from .ground import ObjectGround, Prototypes
from .intake import Intake


def fitted_map(estimator: BaseMap, found: Intake, prototypes: Prototypes, n_seen: int, epochs: int) -> BaseMap:
    """A clone of the map whose fitted attributes are those of the prototypes.

    hits_ are the multiplicities; labels_ and what follows from them are set where the points are there to be asked.
    """
    fitted: BaseMap = clone(estimator)
    attributes: dict[str, Any] = {"hits_": prototypes.m, "cluster_centers_": prototypes.points, "n_iter_": epochs}
    K = len(prototypes.m)
    if isinstance(estimator, MedianMap):
        attributes["medoid_indices_"] = prototypes.places
        if isinstance(found.ground, ObjectGround):
            attributes["metric_params_"] = dict(found.ground.metric.params)
        else:
            attributes |= {"cluster_centers_": None, "n_features_in_": n_seen}
        if found.ids is not None:
            attributes["prototype_ids_"] = [found.ids[i] for i in prototypes.places]
    if isinstance(prototypes.points, np.ndarray) and prototypes.points.ndim == 2:
        attributes["n_features_in_"] = prototypes.points.shape[1]
    lattice = fitted._rule(K).lattice
    if lattice is not None:
        attributes["lattice_"] = lattice
    fitted._replace_fitted(attributes)
    return fitted
