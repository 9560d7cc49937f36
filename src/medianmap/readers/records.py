"""What a file holds once it is read: objects with their ids (Records), or dissimilarities with theirs (Matrix)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..sources import Source, as_dissimilarity
from ..utils.checks import refuse_duplicate_ids

Kind: TypeAlias = Literal["strings", "vectors", "series"]


@dataclass(frozen=True, eq=False)
class Record:
    """One object of a stream: its id, the object (a string or a vector (M,)), its label and its description."""

    id: str
    object: Any
    label: str | None = None
    description: str = ""


@dataclass(frozen=True, eq=False)
class Records:
    """N objects with their ids, ready for a metric.

    ids : N names, "0" .. "N-1" where the file has none.
    objects : N strings; an array (N, M) of vectors; or N arrays of any lengths (series).
    kind : "strings", "vectors" or "series", accordingly.
    columns : M names of the coordinates, where the file has them.
    labels : N classes, where the file has them and they were asked for or recognised.
    descriptions : N texts that follow the ids (FASTA, FASTQ).
    note : what was guessed on reading, in words; empty if nothing was.
    """

    ids: list[str]
    objects: list[str] | NDArray[Any] | list[NDArray[Any]]
    kind: Kind
    columns: list[str] | None = None
    labels: list[str] | None = None
    descriptions: list[str] | None = None
    note: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def source(
        self,
        metric: str | Callable[[Any, Any], float],
        *,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> Source:
        """The objects under a metric, with their ids, as every median map accepts them."""
        return as_dissimilarity(self.objects, metric, metric_params=metric_params, ids=self.ids, n_jobs=n_jobs)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Dissimilarities D (N, N), row = data point, column = candidate, or a SciPy condensed vector, with N ids.

    D is a memory map where the file is an uncompressed .npy; ids is None where the file has none.
    """

    ids: list[str] | None
    D: NDArray[Any]
    labels: list[str] | None = None
    note: str = ""

    def source(self) -> Source:
        """The matrix with its ids, as every median map accepts it."""
        return as_dissimilarity(self.D, ids=self.ids)


def collect(records: Iterable[Record], kind: Kind, name: str, columns: list[str] | None, note: str) -> Records:
    """A whole stream as Records; two records of one id are refused."""
    every = list(records)
    if not every:
        raise ValueError(f"{name} holds no records; check that this is the right file.")
    ids = [record.id for record in every]
    refuse_duplicate_ids(ids, name, "record")
    objects: Any = [record.object for record in every]
    described = any(record.description for record in every)
    return Records(
        ids=ids,
        objects=np.array(objects) if kind == "vectors" else objects,
        kind=kind,
        columns=columns,
        labels=None if every[0].label is None else [record.label or "" for record in every],
        descriptions=[record.description for record in every] if described else None,
        note=note,
    )


def numbered_ids(n: int) -> list[str]:
    """Ids of objects that have none: their positions, "0" .. "n-1", as medoid_indices_ counts them."""
    return [str(k) for k in range(n)]
