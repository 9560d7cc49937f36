"""A matrix stored on disk: a square .npy file, opened as a memory map, and a JSON sidecar with ids and metric."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..utils.checks import check_ids
from ..utils.files import atomic, write_text
from ..utils.resumable import journal_path
from .base import ALL, DenseSource, Source, panels, rows_per_panel

DATABASES = tuple(f".{ending}" for ending in ("duckdb", "ddb", "db"))  # ".duckdb" would read as the name of a module
PARQUET = (".parquet", ".pq")


def is_pair_store(path: Path) -> bool:
    """Whether the name is of a file that can only be a table of pairs."""
    return path.suffix.lower() in DATABASES + PARQUET


@dataclass(frozen=True)
class Sidecar:
    """What a store holds: N points, their ids, the type of the entries, and how they were computed.

    fingerprint : digests of what the dissimilarities were computed from (objects, metric, parameters); empty if
        `all_pairs` did not compute them.
    """

    n: int
    dtype: str
    symmetric: bool
    ids: list[str] | None = None
    metric: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    fingerprint: dict[str, str] = field(default_factory=dict)
    medianmap: str = __version__

    def as_json(self) -> str:
        """ValueError for parameters that JSON cannot hold."""
        try:
            return json.dumps(asdict(self), indent=1)
        except (TypeError, ValueError) as error:
            raise ValueError(f"The parameters cannot be written to the sidecar ({error}); give plain values.") from None


def sidecar_path(path: Path) -> Path:
    """D.npy -> D.npy.json."""
    return path.with_name(path.name + ".json")


def write_store(
    path: str | PathLike[str], source: Source, *, metric: str | None = None, parameters: Mapping[str, Any] | None = None
) -> DenseSource:
    """Copy any source of dissimilarities into a store at `path`, panel by panel; returns the store, opened.

    metric, parameters : where the dissimilarities come from, for the record.
    path : the file to write, NAME.npy; ids and origin go into NAME.npy.json beside it.
    source : any source of dissimilarities.
    """
    path = Path(path)
    sidecar = Sidecar(
        n=source.shape[0],
        dtype=source.block(slice(0, 1), slice(0, 1)).dtype.name,  # some types are converted as they are read
        symmetric=source.symmetric, ids=None if source.ids is None else [str(i) for i in source.ids], metric=metric,
        parameters={} if parameters is None else dict(parameters),
    )  # fmt: skip
    text = sidecar.as_json()
    with atomic(path) as file:
        header = {"descr": np.dtype(sidecar.dtype).str, "fortran_order": False, "shape": source.shape}
        np.lib.format.write_array_header_1_0(file, header)
        for rows in panels(sidecar.n, rows_per_panel(sidecar.n)):
            file.write(np.ascontiguousarray(source.block(rows, ALL)).data)
        sidecar_path(path).unlink(missing_ok=True)  # an old sidecar must not describe the new matrix
    write_text(sidecar_path(path), text)
    return open_store(path)


def open_store(path: str | PathLike[str]) -> DenseSource:
    """The matrix as a memory map, with ids and symmetry from its sidecar: no pass over the entries is made.

    path : the .npy file.
    """
    path = Path(path)
    if not sidecar_path(path).exists():
        refuse_unfinished(path)
        raise FileNotFoundError(
            f"There is no sidecar {sidecar_path(path)}; as_dissimilarity opens a plain .npy matrix without one."
        )
    sidecar = read_sidecar(path)
    D = open_npy(path)
    found, promised = (D.shape, D.dtype.name), ((sidecar.n, sidecar.n), sidecar.dtype)
    if found != promised:
        raise ValueError(
            f"{path} has shape {D.shape} and type {D.dtype.name}, but its sidecar says {promised[0]} and "
            f"{promised[1]}; one of the two was replaced. Write the store again, or delete {sidecar_path(path).name}."
        )
    return DenseSource(D, sidecar.symmetric, sidecar.ids, path.resolve())


def read_sidecar(path: str | PathLike[str]) -> Sidecar:
    """What the sidecar of the matrix at `path` says; ValueError if it is not a sidecar."""
    beside = sidecar_path(Path(path))
    try:
        said = json.loads(beside.read_text(encoding="utf-8"))
        sidecar = Sidecar(**{name: said[name] for name in (each.name for each in fields(Sidecar))})
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{beside} is not the sidecar of a matrix ({type(error).__name__}: {error}); write the store again."
        ) from None
    if sidecar.ids is not None:
        check_ids(sidecar.ids, sidecar.n, str(beside))
    return sidecar


def open_matrix(path: Path) -> DenseSource | NDArray[Any]:
    """A .npy file as a memory map; as a source if it has a sidecar."""
    if sidecar_path(path).exists():
        return open_store(path)
    refuse_unfinished(path)
    return open_npy(path)


def refuse_unfinished(path: Path) -> None:
    """ValueError if the matrix at `path` is still being computed, or was left unfinished."""
    if journal_path(path).exists() and not path.exists():
        raise ValueError(f"{path} is not finished: run the same all_pairs, or medianmap distances, again to finish it.")


def open_npy(path: Path) -> NDArray[Any]:
    """Open a .npy file as a read-only memory map."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}; give the path of a .npy matrix.")
    try:
        opened = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{path} is not a readable .npy matrix ({error}); save it again.") from None
    if not isinstance(opened, np.ndarray):
        raise ValueError(f"{path} is a .npz archive; extract the one matrix and pass it.")
    return opened
