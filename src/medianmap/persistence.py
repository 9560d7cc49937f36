"""The model file: one zip of `.npy` arrays and a `model.json`. No pickle, so opening a stranger's model is safe.

Layout, schema 1: `model.json` holds the format's name, the schema, the class, its parameters and its fitted attributes.
A value that JSON lacks is an object with one key that names its kind: {"array": "a3.npy"}, {"tuple": [...]}, ...
"""

from __future__ import annotations

import base64
import io
import json
import os
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import estimators
from ._version import __version__
from .base import BaseMap
from .classifier import PrototypeClassifier
from .files import atomic
from .neighborhood import Lattice, make_lattice

FORMAT = "medianmap-model"
SCHEMA = 1
CLASSES = {
    cls.__name__: cls
    for cls in (
        estimators.MedianKMeans,
        estimators.MedianNeuralGas,
        estimators.MedianSOM,
        estimators.BatchKMeans,
        estimators.BatchNeuralGas,
        estimators.BatchSOM,
        PrototypeClassifier,
    )
}

# Parameters that steer training but not the trained map; where they cannot be stored, None takes their place.
NOT_PART_OF_THE_MAP = ("random_state", "on_epoch")


# Without these a fitted map cannot answer.
ESSENTIAL = {
    "labels_",
    "hits_",
    "cluster_centers_",
    "inertia_",
    "quantization_error_",
    "n_iter_",
    "converged_",
    "history_",
}
ESSENTIAL_OF_CLASSIFIER = {"classes_", "prototype_labels_", "estimator_"}


def save(estimator: BaseMap | PrototypeClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted map or classifier to one file, atomically: a failure leaves any earlier file as it was.

    Exemplar objects (vectors, strings, bytes, arrays) are inside, so the loaded map predicts without the training data.
    A metric that is a Python function cannot be stored and is refused.
    """
    name = type(estimator).__name__
    if CLASSES.get(name) is not type(estimator):
        raise TypeError(f"save() stores the maps of this library, not a {name}.")
    check_is_fitted(estimator)
    writer = _Writer()
    header = {"format": FORMAT, "schema": SCHEMA, "medianmap": __version__, **writer.model(estimator)}
    with atomic(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps(header, indent=1, allow_nan=True))
        for entry, array in writer.arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(entry, buffer.getvalue())


def load(path: str | os.PathLike[str]) -> Any:
    """Read a map that `save` wrote; ValueError if the file is foreign, damaged or of a newer schema."""
    header, archive = read_header(path)
    with archive:
        try:
            return _decode({"model": header}, archive)
        except Exception as error:  # damage can make zipfile, zlib, json and numpy raise nearly anything
            raise ValueError(f"{path} is a damaged medianmap model ({error}); restore it from a copy.") from None


def read_header(path: str | os.PathLike[str]) -> tuple[dict[str, Any], zipfile.ZipFile]:
    """The checked `model.json` and the open archive behind it."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path}; give the path of a model that medianmap saved.")
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise ValueError(f"{path} is not a medianmap model, or was cut short: it cannot be opened as one.") from None
    try:
        if "model.json" not in archive.namelist():
            raise ValueError(f"{path} is a zip file, but not a medianmap model.")
        try:
            header = json.loads(archive.read("model.json"))
        except Exception as error:
            raise ValueError(f"{path} is a damaged medianmap model ({error}); restore it from a copy.") from None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise ValueError(f"{path} is a zip file, but not a medianmap model.")
        schema = header.get("schema")
        if not isinstance(schema, int) or schema < 1:
            raise ValueError(f"{path} is a damaged medianmap model (schema {schema!r}); restore it from a copy.")
        if schema > SCHEMA:
            raise ValueError(
                f"{path} was written by medianmap {header.get('medianmap')} with schema {schema}; "
                f"this version {__version__} reads up to schema {SCHEMA}. Upgrade medianmap to open it."
            )
        return header, archive
    except BaseException:
        archive.close()
        raise


class _Writer:
    """Turns values into JSON, putting arrays aside under the names of their zip entries."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def model(self, estimator: Any) -> dict[str, Any]:
        """A map, fitted or not, or a classifier with the map inside it."""
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
            warnings.warn(f"{key} cannot be stored and will be None in the loaded model.", UserWarning, stacklevel=3)
            return None
        if key == "init" and not isinstance(value, str):
            value = np.asarray(value)
        return self.encode(value, key)

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if CLASSES.get(type(value).__name__) is type(value):
            return {"model": self.model(value)}
        if isinstance(value, Lattice):
            return {"lattice": [*value.shape, value.kind, value.periodic]}
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, tuple):
            return {"tuple": [self.encode(item, where) for item in value]}
        if isinstance(value, list):
            return {"list": [self.encode(item, where) for item in value]}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.encode(item, f"{where}[{key!r}]") for key, item in value.items()}}
        if isinstance(value, np.ndarray) and value.dtype.kind == "O":
            return {"objects": [self.encode(item, where) for item in value.tolist()]}
        if isinstance(value, np.ndarray):
            entry = f"a{len(self.arrays)}.npy"
            self.arrays[entry] = np.asarray(value)
            return {"array": entry}
        if callable(value):
            raise ValueError(
                f"{where} is a Python function, and a model file holds no code: register the function under a name "
                "(medianmap.metrics.register) and pass the name, or fit with metric='precomputed'."
            )
        raise ValueError(
            f"{where} holds a {type(value).__name__}, which a model file cannot store; "
            "it stores numbers, strings, bytes, arrays, and lists and dictionaries of these."
        )


def _decode(value: Any, archive: zipfile.ZipFile) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "array":
        return np.load(io.BytesIO(archive.read(content)), allow_pickle=False)
    if kind == "model":
        return _model(content, archive)
    if kind == "lattice":
        rows, cols, shape, periodic = content
        return make_lattice((rows, cols), shape, periodic)
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "dict":
        return {key: _decode(item, archive) for key, item in content.items()}
    items = [_decode(item, archive) for item in content]
    if kind == "tuple":
        return tuple(items)
    if kind == "list":
        return items
    if kind == "objects":
        objects = np.empty(len(items), object)
        objects[:] = items
        return objects
    raise ValueError(f"unknown kind of value {kind!r}")


def _model(content: dict[str, Any], archive: zipfile.ZipFile) -> Any:
    """A map or a classifier; one that was fitted must have what it answers with."""
    estimator = CLASSES[content["class"]](**{key: _decode(value, archive) for key, value in content["params"].items()})
    for key, value in content["fitted"].items():
        setattr(estimator, key, _decode(value, archive))
    needed = ESSENTIAL_OF_CLASSIFIER if isinstance(estimator, PrototypeClassifier) else ESSENTIAL
    lacking = needed - content["fitted"].keys()
    if content["fitted"] and lacking:
        raise ValueError(f"it lacks {', '.join(sorted(lacking))}")
    return estimator
