"""A user's file -> the points of a fit: objects or dissimilarities, ids and labels."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from ..readers import Matrix, Records, format_of, read
from ..readers.labels import Labels, from_file, from_headers, is_header_rule, is_labels_file, known_or_none
from ..readers.opening import opening
from ..readers.records import numbered_ids
from ..sources import Source, as_dissimilarity, is_store

SEQUENCES = ("fasta", "fastq")
NUCLEOTIDES = re.compile("[ACGTUN]+", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Given:
    """N points: `objects` to compare, or a `source` of their dissimilarities, never both.

    labels : one a point, None where a point has none; None altogether where there are no labels.
    sequences : whether they came as FASTA or FASTQ.
    """

    name: str
    ids: list[str]
    kind: str
    objects: Any = None
    source: Source | None = None
    sequences: bool = False
    columns: list[str] | None = None
    descriptions: list[str] | None = None
    labels: Labels | None = None
    note: str = ""

    def __len__(self) -> int:
        return len(self.ids)


def read_as(file: str | Path, options: Mapping[str, Any]) -> Records | Matrix:
    """`readers.read` with options that a user has written as text."""
    refuse_unknown(options)
    try:
        return read(file, **options)
    except TypeError as error:
        if not options:
            raise
        raise ValueError(f"--read: a value is of the wrong kind: {error}.") from error


def refuse_unknown(options: Mapping[str, Any]) -> None:
    """ValueError for an option that `readers.read` has not."""
    known = [name for name in signature(read).parameters if name != "path"]
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        raise ValueError(f"--read: there is no {unknown!r}; choose from {', '.join(known)}.")


def read_given(file: str, reading: Mapping[str, Any], labels: str | None) -> Given:
    """The points in the file, with their labels where `labels` says where these are."""
    path, name = Path(file), "standard input" if file == "-" else file
    if file != "-" and not reading and not path.is_dir() and is_store(path):
        stored = as_dissimilarity(path)
        given = Given(name, _names(stored), "dissimilarities", source=stored)
        return _labelled(given, labels)
    column = labels is not None and not is_labels_file(labels) and not is_header_rule(labels)
    sequences = _holds_sequences(file, reading)
    if column and sequences:
        raise ValueError(
            f"--labels {labels}: there is no such file, and sequences have no columns; give a file of ids and labels, "
            "or header, header:NUMBER or header:KEY for a word of the headers."
        )
    options = {**reading, "label": labels} if column and labels != "labels" else reading
    found = read_as(file, options)
    if isinstance(found, Matrix):
        # The labels beside a matrix in a .npz file are read with it; elsewhere a matrix has no columns of labels.
        source = found.source()
        given = Given(
            name, _names(source), "dissimilarities", source=source, labels=_own(found.labels), note=found.note
        )
    else:
        given = Given(name, found.ids, found.kind, found.objects, None, sequences or _of_stdin(file, found),
                      found.columns, found.descriptions, _own(found.labels), found.note)  # fmt: skip
    if column and given.labels is None:
        raise ValueError(f"--labels {labels}: {name} has no such column, and there is no such file.")
    return given if column else _labelled(given, labels)


def _labelled(given: Given, labels: str | None) -> Given:
    if labels is None:
        return given
    if is_header_rule(labels):
        found = from_headers(labels, given.descriptions, given.name)
    elif is_labels_file(labels):
        found = from_file(labels, given.ids, given.name)
    else:
        raise ValueError(f"--labels {labels}: there is no such file, and {given.name} has no columns.")
    return Given(**{**vars(given), "labels": found})


def default_metric(given: Given) -> str:
    """How objects of this kind are usually compared."""
    if given.source is not None:
        return "precomputed"
    if given.kind != "strings":
        return "euclidean" if given.kind == "vectors" else "dtw"
    nucleic = all(NUCLEOTIDES.fullmatch(letters) for letters in given.objects)
    return "alignment" if given.sequences and not nucleic else "edit"


def check_metric_fits(given: Given, metric: str) -> None:
    """Dissimilarities are not compared again, and objects are not taken for dissimilarities."""
    if given.source is not None and metric != "precomputed":
        raise ValueError(
            f"{given.name} holds dissimilarities already, so there is nothing to compare with --metric {metric}; "
            "drop it, or, if they are vectors, pass --read kind=vectors."
        )
    if given.source is None and metric == "precomputed":
        shape = f" of shape {np.shape(given.objects)}" if given.kind == "vectors" else ""
        raise ValueError(
            f"{given.name} holds {len(given)} {given.kind}{shape} and no square matrix of dissimilarities; "
            "say how to compare them with --metric."
        )


def _names(source: Source) -> list[str]:
    return numbered_ids(source.shape[0]) if source.ids is None else [str(each) for each in source.ids]


def _own(labels: Sequence[str] | None) -> Labels | None:
    return None if labels is None else [known_or_none(label) for label in labels]


def _holds_sequences(file: str, reading: Mapping[str, Any]) -> bool:
    """Whether the file is FASTA or FASTQ; of standard input, which is read once, the first sign must tell."""
    said = reading.get("format")
    if said is not None:
        return said in SEQUENCES
    if file == "-":
        peek = getattr(sys.stdin.buffer, "peek", None)
        return peek is not None and peek(1)[:1] in (b">", b"@")
    with opening(file) as opened:
        return format_of(opened, None, reading).name in SEQUENCES


def _of_stdin(file: str, found: Records) -> bool:
    return file == "-" and found.kind == "strings" and found.descriptions is not None
