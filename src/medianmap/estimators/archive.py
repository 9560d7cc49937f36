"""One zip of `.npy` arrays and a JSON page, written whole or not at all. No pickle: opening a stranger's file is safe.

A value that JSON lacks is an object with one key that names its kind: {"array": "a3.npy"}, {"tuple": [...]}, ...
"""

from __future__ import annotations

import base64
import io
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._version import __version__
from ..core.neighborhood import Lattice, make_lattice
from ..utils.files import atomic


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
            rows, cols, shape, periodic = content
            return make_lattice((rows, cols), shape, periodic)
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
