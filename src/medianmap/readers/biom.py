"""Tables of samples as ecologists keep them: BIOM, and QIIME 2 artifacts of a distance matrix or a feature table."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import refuse_duplicate_ids
from ..utils.loading import require
from .records import DENSE_BYTES, Matrix, Opened, Records, check_archive, check_hdf5
from .tables import read_lsmat

# How abundances of features are usually compared.
USUAL = "braycurtis"


def read_biom(opened: Opened) -> Records:
    """The samples of a BIOM table, version 1 (JSON), 2 (HDF5) or text, as vectors of the abundances of its features."""
    content = opened.stream.read()
    start = content.lstrip()[:1]
    if start not in (b"{", b"#"):
        check_hdf5(opened, io.BytesIO(content), "BIOM table")
    try:
        ids, columns, X = (_from_json if start == b"{" else _from_text if start == b"#" else _from_hdf5)(content)
    except (OSError, KeyError, ValueError, IndexError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{opened.name} is no whole BIOM table ({str(error).splitlines()[0]}); copy it again."
        ) from None
    refuse_duplicate_ids(ids, opened.name, "sample")
    return Records(ids, X, "vectors", columns, usual=USUAL)


def _from_json(content: bytes) -> tuple[list[str], list[str], NDArray[np.float64]]:
    table = json.loads(content)
    ids, columns = ([str(each["id"]) for each in table[side]] for side in ("columns", "rows"))
    X = _zeros(len(ids), len(columns))
    if table["matrix_type"] == "dense":
        X[:] = np.array(table["data"], np.float64).T
    else:
        for row, column, value in table["data"]:
            X[column, row] = value
    return ids, columns, X


def begins_as_biom(lines: Sequence[str]) -> bool:
    """Whether text begins like a table of features (rows) in samples (columns), as QIIME and biom convert write it."""
    named = next((line for line in lines if not line.startswith("# ")), "")
    return named.split("\t")[0].strip().lower() in ("#otu id", "#otuid", "#feature id")


def _from_text(content: bytes) -> tuple[list[str], list[str], NDArray[np.float64]]:
    rows = [line.split("\t") for line in content.decode().splitlines() if line.strip() and not line.startswith("# ")]
    (_, *ids), features = rows[0], rows[1:]
    if ids[-1].strip().lower() in ("taxonomy", "consensus lineage"):  # of the features, not a sample
        ids, features = ids[:-1], [row[:-1] for row in features]
    X = np.array([[float(cell) for cell in row[1:]] for row in features]).T
    if X.shape != (len(ids), len(features)):
        raise ValueError(f"{len(ids)} samples in its first line and {len(X)} after it")
    return [i.strip() for i in ids], [row[0] for row in features], X


def _from_hdf5(content: bytes) -> tuple[list[str], list[str], NDArray[np.float64]]:
    h5py = require("h5py", "biom", "A BIOM table")
    with h5py.File(io.BytesIO(content), "r") as file:
        ids, columns = (file[f"{side}/ids"].asstr()[:].tolist() for side in ("sample", "observation"))
        data, indices, indptr = (file[f"sample/matrix/{part}"][:] for part in ("data", "indices", "indptr"))
    X = _zeros(len(ids), len(columns))
    X[np.repeat(np.arange(len(ids)), np.diff(indptr)), indices] = data
    return ids, columns, X


def _zeros(n: int, M: int) -> NDArray[np.float64]:
    """The table before its counts are filled in, in memory; a file can name more samples and features than fit."""
    if 8 * n * M > DENSE_BYTES:
        raise ValueError(f"{n} samples of {M} features would take {8 * n * M / 2**30:.0f} GiB; leave rare features out")
    return np.zeros((n, M))


def read_qza(opened: Opened, **rules: Any) -> Records | Matrix:
    """The distance matrix or the feature table in a QIIME 2 artifact, a zip of UUID/data/..."""
    packed = opened.stream.read()
    check_archive(opened, packed, "QIIME 2 artifact")
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as file:
            held = {Path(name).name: name for name in file.namelist() if Path(name).parent.name == "data"}
            matrix = "distance-matrix.tsv" in held
            wanted = held.get("distance-matrix.tsv", held.get("feature-table.biom"))
            content = b"" if wanted is None else file.read(wanted)
    except (zipfile.BadZipFile, OSError) as error:
        raise ValueError(f"{opened.name} is no whole QIIME 2 artifact ({error}); copy it again.") from None
    if wanted is None:
        raise ValueError(
            f"{opened.name} holds {', '.join(sorted(held)) or 'no data'}; "
            "give an artifact of a distance matrix or of a feature table."
        )
    name = f"{opened.name}: {Path(wanted).name}"
    inner = Opened(name, Path(wanted), cast(BinaryIO, io.BytesIO(content)), content, False, opened.limits, len(content))
    if not matrix:
        return read_biom(inner)
    return read_lsmat(inner, **rules)
