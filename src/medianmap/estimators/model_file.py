"""The model file: one zip of `.npy` arrays and a JSON page with a model, its parameters and fitted attributes.

No pickle, so opening a file from a stranger is safe; written whole or not at all (utils/archive.py). `model.json` holds
the name of the format, the schema, the class, its parameters and its fitted attributes. A value that JSON lacks is an
object with one key that names its kind: {"array": "a3.npy"}, {"tuple": [...]}, ...; a model inside a model (the map of
a classifier) is a value of the kind "model". What may be in it is written down in model_schema.py. Files of schema 1,
which had no checksum, are read as well.
"""

from __future__ import annotations

import base64
import os
import warnings
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..core.neighborhood import Lattice, checked_distances, checked_lattice
from ..utils.archive import Kind, Members
from ..utils.loading import provided
from .model_schema import NEEDED_PARAMETERS, SCHEMAS, check_fitted


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
    """Turns the JSON of `Writer` back into values; ValueError for what `Writer` does not write."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self.n_neurons: int | None = None  # of the model that is read, as soon as it is known

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            raise ValueError("a list is there without its kind")
        if not isinstance(value, dict):
            return value
        if len(value) != 1:
            raise ValueError("a value is there without its kind")
        ((kind, content),) = value.items()
        return self.of_kind(kind, content)

    def of_kind(self, kind: str, content: Any) -> Any:
        if kind == "array":
            return self.members.array(content)
        if kind == "bytes" and isinstance(content, str):
            return base64.b64decode(content, validate=True)
        if kind == "dict" and isinstance(content, dict):
            return {key: self.decode(item) for key, item in content.items()}
        if not isinstance(content, list):
            raise ValueError(f"unknown kind of value {kind[:40]!r}")
        if kind == "lattice":
            return self.lattice(*content)
        items = [self.decode(item) for item in content]
        if kind == "sparse":
            return self.sparse(*items)
        if kind == "tuple":
            return tuple(items)
        if kind == "list":
            return items
        if kind == "objects":
            objects = np.empty(len(items), object)
            objects[:] = items
            return objects
        raise ValueError(f"unknown kind of value {kind[:40]!r}")

    def lattice(self, kind: Any, periodic: Any, given: Any, *shape: Any) -> Lattice:
        """A lattice of as many neurons as there are prototypes: their distances are not made before that is known."""
        if not all(type(side) is int and side > 0 for side in shape) or prod(shape) != self.n_neurons:
            raise ValueError(f"its lattice has the shape {shape}, and there are {self.n_neurons} prototypes")
        if given is None:
            return checked_lattice(shape, kind, periodic)
        distances = self.decode(given)
        if kind != "given" or periodic or not isinstance(distances, np.ndarray) or distances.shape != shape * 2:
            raise ValueError("its lattice is not one of given distances")
        checked_distances(distances)
        return Lattice(shape, kind, periodic, None, distances)

    def sparse(self, data: Any, indices: Any, indptr: Any, shape: Any) -> csr_array:
        """A matrix in rows, whose indices compiled code can trust."""
        parts = [(data, "f"), (indices, "i"), (indptr, "i"), (shape, "i")]
        if not all(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind == kind for part, kind in parts):
            raise ValueError("a sparse matrix is not made of arrays")
        matrix = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
        return matrix


MODEL = Kind("model.json", "medianmap-model", 2, "medianmap model")

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
    header, members = MODEL.open(path)
    with members:
        try:
            content = {key: value for key, value in header.items() if key not in ("format", "schema", "medianmap")}
            if not content.get("fitted"):
                raise ValueError("the model in it is not fitted")
            model = _ModelReader(members).model(content)
            members.all_read()
            return model
        except Exception as error:  # damage can make zipfile, zlib, json and numpy raise nearly anything
            raise MODEL.damaged(path, error) from None


def is_stored(model: Any) -> bool:
    """Whether a model is of one of the classes that a file can hold, itself and not a class derived from it."""
    return type(model).__name__ in SCHEMAS and type(model).__module__.split(".")[0] == "medianmap"


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


# What says how many prototypes a model has is read before all that has to fit.
FIRST = ("hits_", "multiplicities_")


class _ModelReader(Reader):
    def model(self, content: Any) -> Any:
        """A model, checked; one that is not fitted is a part of another."""
        if not isinstance(content, dict) or content.keys() != {"class", "params", "fitted"}:
            raise ValueError("a model in it is not made of class, params and fitted")
        name, given, found = content["class"], content["params"], content["fitted"]
        if name not in SCHEMAS or not isinstance(given, dict) or not isinstance(found, dict):
            raise ValueError(f"it has a model of the class {str(name)[:40]!r}")
        cls = provided(name)
        params = {key: self.decode(value) for key, value in given.items()}
        lacking = (NEEDED_PARAMETERS & {*cls._get_param_names()}) - params.keys()
        if lacking:
            raise ValueError(f"it lacks the parameter {sorted(lacking)[0]}")
        for key in NOT_PART_OF_THE_MAP:  # a stranger's would name a server to send data to, or a file to write
            if not isinstance(params.get(key), int | None):
                raise ValueError(f"it has a value of {key}, which no model keeps")
        if params.get("estimator") is not None and not is_stored(params["estimator"]):
            raise ValueError("its estimator is no map")
        estimator = cls(**params)
        if hasattr(estimator, "_check_parameters"):
            estimator._check_parameters()
        outer, self.n_neurons = self.n_neurons, None
        fitted = {}
        for key in sorted(found, key=lambda key: key not in FIRST):
            fitted[key] = value = self.decode(found[key])
            if key in FIRST and isinstance(value, np.ndarray) and value.ndim == 1:
                self.n_neurons = len(value)
        self.n_neurons = outer
        if fitted:
            check_fitted(name, fitted, params)
        for key in found:  # in their order, so that the model saved again is the same bytes
            setattr(estimator, key, fitted[key])
        return estimator

    def of_kind(self, kind: str, content: Any) -> Any:
        return self.model(content) if kind == "model" else super().of_kind(kind, content)
