"""A file of new objects -> what a fitted model takes: a stream where the file can be one, else all of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..predict.queries import map_of
from ..readers import format_of, iter_records
from ..readers.opening import opening
from ..sources import is_store
from .inputs import read_as, read_options, refuse_unknown, settings_beside

STREAMED = ("fasta", "fastq", "table")


def queries_in(model: Any, file: str | Path, options: Mapping[str, Any]) -> tuple[Any, str]:
    """The contents of the file as `assign_all` takes them, and the format of a stream, empty where it is none.

    options : those of `readers.read`.
    """
    refuse_unknown(options)
    if map_of(model)._reads_matrix():
        if str(file) != "-" and not options and is_store(Path(file)):
            return Path(file), ""
        return read_as(file, options), ""
    if str(file) == "-":
        return iter_records("-", **options), ""
    with opening(file) as opened:
        found = format_of(opened, options.get("format"), options).name
    return (iter_records(file, **options), found) if found in STREAMED else (read_as(file, options), "")


def query_options(model: Path, fitted: Any, file: str | Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """How to read new objects: as those of training were, if a configuration says how."""
    # The table of a square matrix is another kind than that of queries.
    settings = {} if map_of(fitted)._reads_matrix() else settings_beside(model)
    return read_options(file, given, settings)
