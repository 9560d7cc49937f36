"""Prototypes of a pass -> a fitted map that answers for them."""

from __future__ import annotations

from sklearn.base import clone

from ..base import BaseMap, replace_fitted
from ..families import MedianMap
from .ground import ObjectGround, Prototypes
from .intake import Intake


def answering_map(estimator: BaseMap, found: Intake, prototypes: Prototypes, epochs: int) -> BaseMap:
    """A clone of the map whose fitted attributes are those of the prototypes.

    hits_ are the multiplicities; labels_ and what follows from them are set where the points are there to be asked.
    """
    fitted: BaseMap = clone(estimator)
    attributes = {**found.features, "hits_": prototypes.m, "cluster_centers_": prototypes.points, "n_iter_": epochs}
    K = len(prototypes.m)
    if isinstance(estimator, MedianMap):
        attributes["medoid_indices_"] = prototypes.places
        if isinstance(found.ground, ObjectGround):
            attributes["metric_params_"] = dict(found.ground.metric.params)
        else:
            attributes["cluster_centers_"] = None
        if found.ids is not None:
            attributes["prototype_ids_"] = [found.ids[i] for i in prototypes.places]
    lattice = fitted._rule(K).lattice
    if lattice is not None:
        attributes["lattice_"] = lattice
    replace_fitted(fitted, attributes)
    return fitted
