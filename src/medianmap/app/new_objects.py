"""A file of new objects -> what a fitted model takes: a stream where the file can be one, else all of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..explore.prototypes import needs_matrix
from ..predict.assign_all import map_of
from ..predict.assigning import ToPrototypes
from ..predict.queries import fitted_on_dissimilarities
from ..readers import Matrix, Records, iter_records
from ..readers.formats import format_of
from ..readers.opening import opening
from ..readers.records import counted
from ..sources import is_store
from .data import read_as, refuse_unknown

STREAMED = ("fasta", "fastq", "table")


def queries_in(model: Any, file: str | Path, options: Mapping[str, Any]) -> tuple[Any, str]:
    """The contents of the file as `assign_all` takes them, and the format of a stream, empty where it is none.

    options : those of `readers.read`.
    """
    refuse_unknown(options)
    if fitted_on_dissimilarities(map_of(model)):
        if str(file) != "-" and not options and is_store(Path(file)):
            return Path(file), ""
        return read_as(file, options), ""
    if str(file) == "-":
        return iter_records("-", **options), ""
    with opening(file) as opened:
        found = format_of(opened, options.get("format"), options).name
    return (iter_records(file, **options), found) if found in STREAMED else (read_as(file, options), "")


def by_prototype(model: Any, X: Any) -> Any:
    """Dissimilarities whose columns are the prototypes alone, or name them; anything else is as it was."""
    fitted: Any = map_of(model)
    if not needs_matrix(fitted) or not isinstance(X, Matrix | Records):  # nobody can measure to combinations
        return X
    D = X.D if isinstance(X, Matrix) else X.objects
    if np.ndim(D) != 2:
        return X
    D, K = np.asarray(D), len(fitted.hits_)
    ids = X.ids or counted(len(D))
    place = {name: k for k, name in enumerate(getattr(X, "columns", None) or ())}
    wanted = getattr(fitted, "prototype_ids_", None)
    if wanted is not None and place and all(name in place for name in wanted):
        return ToPrototypes(D[:, [place[name] for name in wanted]], ids)
    if D.shape[1] == K != fitted.n_features_in_:
        return ToPrototypes(D, ids)
    if D.shape[1] != fitted.n_features_in_:
        raise ValueError(
            f"The file has {D.shape[1]} columns of dissimilarities; the model needs one for each of its "
            f"{fitted.n_features_in_} training points, or one for each of its {K} prototypes."
        )
    return X
