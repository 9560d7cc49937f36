"""Prototypes of a pass -> a fitted map that answers for them, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators.base import BaseMap, replace_fitted
from ..estimators.families import MedianMap, RelationalMap
from ..sources.base import IntArray
from ..sources.computed import take
from .patch import combination
from .points import Intake, ObjectGround, Prototypes


def answering_map(estimator: BaseMap, found: Intake, prototypes: Prototypes, epochs: int) -> BaseMap:
    """A clone of the map whose fitted attributes are those of the prototypes.

    hits_ are the multiplicities; labels_ and what follows from them are set where the points are there to be asked.
    """
    fitted: BaseMap = clone(estimator)
    attributes = {**found.features, "hits_": prototypes.multiplicities, "n_iter_": epochs}
    if isinstance(estimator, RelationalMap):
        attributes |= _combinations(found, prototypes)
    elif isinstance(estimator, MedianMap):
        attributes |= {"medoid_indices_": prototypes.places, "cluster_centers_": None}
        if isinstance(found.ground, ObjectGround):
            attributes["cluster_centers_"] = prototypes.points
    else:
        attributes["cluster_centers_"] = prototypes.points
    if isinstance(found.ground, ObjectGround):
        attributes["metric_params_"] = dict(found.ground.metric.params)
    if found.ids is not None:
        attributes["prototype_ids_"] = [found.ids[i] for i in prototypes.places[:: prototypes.width]]
    lattice = fitted._rule(prototypes.n).lattice
    if lattice is not None:
        attributes["lattice_"] = lattice
    replace_fitted(fitted, attributes)
    return fitted


def _combinations(found: Intake, prototypes: Prototypes) -> dict[str, Any]:
    """What a relational map knows its prototypes by."""
    carried = combination(prototypes)
    support = prototypes.places[carried.at]
    fitted: dict[str, Any] = {
        "coefficients_": carried.coefficients,
        "support_": support,
        "self_terms_": carried.self_terms,
        "exemplar_indices_": prototypes.places[:: prototypes.width],
        "prototype_dissimilarities_": carried.among,
        "cluster_centers_": None,
    }
    if isinstance(found.ground, ObjectGround):
        fitted["support_objects_"] = take(prototypes.points, carried.at)
    if found.ids is not None:
        fitted["support_ids_"] = [found.ids[i] for i in support.tolist()]
    return fitted


def carried_again(fitted: Any, places: IntArray | None) -> Prototypes:
    """The prototypes of a map that `answering_map` made, without the dissimilarities among them, which it lacks.

    places : carried_indices_ of a relational map.
    """
    m = fitted.hits_
    if places is None:
        own: IntArray = getattr(fitted, "medoid_indices_", np.full(len(m), -1))
        centers = own if fitted.cluster_centers_ is None else fitted.cluster_centers_
        return Prototypes(centers, own, m, None, np.empty((len(m), 0)))
    per = len(places) // len(m)
    points: Any = places
    if hasattr(fitted, "support_objects_"):
        points = take(fitted.support_objects_, np.searchsorted(fitted.support_, places))
    return Prototypes(points, places, np.repeat(m / per, per), None, np.empty((len(places), 0)), per)
