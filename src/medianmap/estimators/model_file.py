"""The model file: a map, a classifier or a pass over patches, with its parameters and fitted attributes.

Layout, schema 1: `model.json` holds the format's name, the schema, the class, its parameters and its fitted attributes;
a model inside a model (the map of a classifier) is a value of the kind "model".
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..utils.providers import provided
from .archive import Kind, Reader, Writer
from .classifier import PrototypeClassifier

MODEL = Kind("model.json", "medianmap-model", 1, "medianmap model")

# Each with what it cannot answer without, once fitted.
_MAP = {"hits_", "cluster_centers_"}
_RELATIONAL = {"hits_", "coefficients_", "self_terms_", "support_"}
CLASSES = {
    **dict.fromkeys(
        ("MedianKMeans", "MedianNeuralGas", "MedianSOM", "BatchKMeans", "BatchNeuralGas", "BatchSOM"), _MAP
    ),
    **dict.fromkeys(("RelationalKMeans", "RelationalNeuralGas", "RelationalSOM"), _RELATIONAL),
    "PrototypeClassifier": {"classes_", "prototype_labels_", "estimator_"},
    "PatchClusterer": {"map_", "multiplicities_", "n_samples_seen_"},
}

# Parameters that steer training but not the trained map; where they cannot be stored, None takes their place.
NOT_PART_OF_THE_MAP = ("random_state", "on_epoch", "on_patch", "client", "checkpoint")


def save(estimator: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted map, classifier or PatchClusterer to one file; a failure leaves any earlier file as it was.

    Exemplar objects (vectors, strings, bytes, arrays) are inside, so the loaded map predicts without the training data.
    A metric that is a Python function cannot be stored and is refused.
    """
    if not is_stored(estimator):
        raise TypeError(f"save() stores the maps of this library, not a {type(estimator).__name__}.")
    check_is_fitted(estimator)
    writer = _ModelWriter()
    content = writer.model(estimator)
    for name in sorted(writer.left_out):
        warnings.warn(f"{name} cannot be stored and will be None in the loaded model.", UserWarning, stacklevel=2)
    MODEL.write(path, content, writer.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote; ValueError if the file is foreign, damaged or of a newer schema."""
    header, archive = MODEL.open(path)
    with archive:
        try:
            if not header["fitted"]:
                raise ValueError("the model in it is not fitted")
            return _ModelReader(archive).model(header)
        except Exception as error:  # damage can make zipfile, zlib, json and numpy raise nearly anything
            raise MODEL.damaged(path, error) from None


def is_stored(model: Any) -> bool:
    """Whether a model is of one of the classes that a file can hold, itself and not a class derived from it."""
    name = type(model).__name__
    return name in CLASSES and type(model) is provided(name)


class _ModelWriter(Writer):
    def __init__(self) -> None:
        super().__init__()
        self.left_out: set[str] = set()  # a classifier has its map's parameters twice

    def model(self, estimator: Any) -> dict[str, Any]:
        return {
            "class": type(estimator).__name__,
            "params": {key: self.parameter(key, value) for key, value in estimator.get_params(deep=False).items()},
            "fitted": {
                key: self.encode(value, key)
                for key, value in vars(estimator).items()
                if key.endswith("_") and not key.startswith("_")
            },
        }

    def parameter(self, key: str, value: Any) -> Any:
        if key in NOT_PART_OF_THE_MAP and value is not None and not isinstance(value, int | np.integer):
            self.left_out.add(key)
            return None
        if key == "init" and not isinstance(value, str):
            value = np.asarray(value)
        return self.encode(value, key)

    def encode(self, value: Any, where: str) -> Any:
        return {"model": self.model(value)} if is_stored(value) else super().encode(value, where)


class _ModelReader(Reader):
    def model(self, content: dict[str, Any]) -> Any:
        """A model; one that was fitted must have what it answers with."""
        name, fitted = content["class"], content["fitted"]
        needed = CLASSES[name]
        estimator = provided(name)(**{key: self.decode(value) for key, value in content["params"].items()})
        for key, value in fitted.items():
            setattr(estimator, key, self.decode(value))
        lacking = needed - fitted.keys()
        if fitted and lacking:
            raise ValueError(f"it lacks {', '.join(sorted(lacking))}")
        if "prototype_labels_" in fitted:
            check_labelled_map(estimator)
        return estimator

    def of_kind(self, kind: str, content: Any) -> Any:
        return self.model(content) if kind == "model" else super().of_kind(kind, content)


def check_labelled_map(classifier: PrototypeClassifier) -> None:
    """A fitted classifier has a fitted map and a row of class shares for each of its prototypes."""
    n_prototypes = getattr(classifier.estimator_, "_n_features_out", None)
    if n_prototypes is None:
        raise ValueError("its estimator_ is no fitted map")
    expected, found = (n_prototypes, len(classifier.classes_)), np.shape(classifier.prototype_labels_)
    if found != expected:
        raise ValueError(f"its prototype_labels_ have the shape {found}, not {expected}")
