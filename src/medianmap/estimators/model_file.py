"""The model file: one zip of `.npy` arrays and a JSON page with a model, its parameters and fitted attributes.

No pickle, so opening a file from a stranger is safe; written whole or not at all. Layout, schema 1: `model.json` holds
the name of the format, the schema, the class, its parameters and its fitted attributes. A value that JSON lacks is an
object with one key that names its kind: {"array": "a3.npy"}, {"tuple": [...]}, ...; a model inside a model (the map of
a classifier) is a value of the kind "model".
"""

from __future__ import annotations

import base64
import io
import json
import os
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from ..core.neighborhood import Lattice, make_lattice
from ..utils.files import atomic
from ..utils.loading import provided
from .classifier import PrototypeClassifier


@dataclass(frozen=True)
class Kind:
    """A kind of file: the name of its JSON page, its format's name, the newest schema, and what users know it as."""

    page: str
    name: str
    schema: int
    called: str

    def write(self, path: str | os.PathLike[str], content: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Write atomically: a failure leaves any earlier file as it was."""
        header = {"format": self.name, "schema": self.schema, "medianmap": __version__, **content}
        with atomic(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_entry(self.page), json.dumps(header, indent=1, allow_nan=True))
            for entry, array in arrays.items():
                buffer = io.BytesIO()
                np.save(buffer, array, allow_pickle=False)
                archive.writestr(_entry(entry), buffer.getvalue())

    def open(self, path: str | os.PathLike[str]) -> tuple[dict[str, Any], zipfile.ZipFile]:
        """The checked JSON page and the open archive behind it; ValueError if foreign, damaged or of a newer schema."""
        if not Path(path).is_file():
            raise FileNotFoundError(f"There is no file {path}; give the path of a {self.called}.")
        try:
            archive = zipfile.ZipFile(path)
        except zipfile.BadZipFile:
            raise ValueError(f"{path} is not a {self.called}, or was cut short: it cannot be opened as one.") from None
        try:
            if self.page not in archive.namelist():
                raise ValueError(f"{path} is a zip file, but not a {self.called}.")
            try:
                header = json.loads(archive.read(self.page))
            except Exception as error:
                raise self.damaged(path, error) from None
            if not isinstance(header, dict) or header.get("format") != self.name:
                raise ValueError(f"{path} is a zip file, but not a {self.called}.")
            schema = header.get("schema")
            if not isinstance(schema, int) or schema < 1:
                raise self.damaged(path, f"schema {schema!r}")
            if schema > self.schema:
                raise ValueError(
                    f"{path} was written by medianmap {header.get('medianmap')} with schema {schema}; "
                    f"this version {__version__} reads up to schema {self.schema}. Upgrade medianmap to open it."
                )
            return header, archive
        except BaseException:
            archive.close()
            raise

    def damaged(self, path: str | os.PathLike[str], why: object) -> ValueError:
        """The error for a file whose content is not what it should be."""
        return ValueError(f"{path} is a damaged {self.called} ({why}); restore it from a copy.")


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without the time of day: the same model is the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


class Writer:
    """Turns values into JSON, putting arrays aside under the names of their zip entries."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def encode(self, value: Any, where: str) -> Any:
        """The value as JSON; `where` names it in an error."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, Lattice):
            given = value.distances if value.places is None else None
            return {"lattice": [value.kind, value.periodic, self.encode(given, where), *value.shape]}
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
        if isinstance(value, csr_array):
            parts = (value.data, value.indices, value.indptr, np.array(value.shape))
            return {"sparse": [self.encode(part, where) for part in parts]}
        if callable(value):
            raise ValueError(
                f"{where} is a Python function, and a model file holds no code: register the function under a name "
                "(medianmap.metrics.register) and pass the name, or fit with metric='precomputed'."
            )
        raise ValueError(
            f"{where} holds a {type(value).__name__}, which a model file cannot store; "
            "it stores numbers, strings, bytes, arrays, and lists and dictionaries of these."
        )


class Reader:
    """Turns the JSON of `Writer` back into values."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive

    def decode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        return self.of_kind(kind, content)

    def of_kind(self, kind: str, content: Any) -> Any:
        if kind == "array":
            return np.load(io.BytesIO(self.archive.read(content)), allow_pickle=False)
        if kind == "lattice":
            lattice, periodic, given, *shape = content
            if given is not None:
                return Lattice(tuple(shape), lattice, periodic, None, self.decode(given))
            return make_lattice(tuple(shape), lattice, periodic)
        if kind == "bytes":
            return base64.b64decode(content)
        if kind == "dict":
            return {key: self.decode(item) for key, item in content.items()}
        items = [self.decode(item) for item in content]
        if kind == "sparse":
            data, indices, indptr, shape = items
            matrix = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
            matrix.check_format(full_check=True)  # compiled code will trust the indices
            return matrix
        if kind == "tuple":
            return tuple(items)
        if kind == "list":
            return items
        if kind == "objects":
            objects = np.empty(len(items), object)
            objects[:] = items
            return objects
        raise ValueError(f"unknown kind of value {kind!r}")


MODEL = Kind("model.json", "medianmap-model", 1, "medianmap model")

# Each with what it cannot answer without, once fitted.
_MAP = {"hits_", "cluster_centers_"}
_RELATIONAL = {"hits_", "coefficients_", "self_terms_", "support_"}
CLASSES = {
    **dict.fromkeys(
        ("MedianKMeans", "MedianNeuralGas", "MedianSOM", "BatchKMeans", "BatchNeuralGas", "BatchSOM"), _MAP
    ),
    **dict.fromkeys(("RelationalKMeans", "RelationalNeuralGas", "RelationalSOM"), _RELATIONAL),
    "PrototypeClassifier": {"classes_", "prototype_labels_", "estimator_", "beta_"},
    "PatchClusterer": {"map_", "multiplicities_", "n_samples_seen_"},
}

# Parameters that steer training but not the trained map; where they cannot be stored, None takes their place.
NOT_PART_OF_THE_MAP = ("random_state", "on_epoch", "on_patch", "client", "checkpoint")


def save(estimator: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted map, classifier or PatchClusterer to one file; a failure leaves any earlier file as it was.

    Exemplar objects (vectors, strings, bytes, arrays) are inside, so the loaded map predicts without the training data.
    A metric that is a Python function cannot be stored and is refused.

    estimator : what was fitted.
    path : the file to write; an earlier one is replaced.
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
    """Read a model that `save` wrote; ValueError if the file is foreign, damaged or of a newer schema.

    path : the file.
    """
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
    return type(model).__name__ in CLASSES and type(model).__module__.split(".")[0] == "medianmap"


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
