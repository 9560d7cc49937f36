"""Labels of the objects in a file: a column or header word of the file itself, or a second file of ids and labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import note
from .reading import read_file

if TYPE_CHECKING:
    from ..readers import Matrix, Records
    from ..sources import Source

labels_option = click.option(
    "--labels", default=None, metavar="FILE|COLUMN",
    help="Labels: a file of two columns, id and label; or a column of INPUT by name or number from 0 (in FASTA a word "
         "of the header: 1 is the one after the id).",
)  # fmt: skip


def read_labelled(
    file: Path, reading: tuple[str, ...], labels: str | None, *, stores: bool = False
) -> tuple[Records | Matrix | Source, list[str | None] | None]:
    """What the file holds, and N labels, None where an object has none; without `labels` those that it carries.

    stores : open a store of dissimilarities as it lies on disk rather than read it.
    """
    from ..sources import as_dissimilarity, is_store

    table = Path(labels) if labels is not None and Path(labels).is_file() else None
    if stores and not reading and is_store(file):
        source = as_dissimilarity(file)
        if labels is not None and table is None:
            raise ValueError(f"There is no file {labels}, and {file} has no columns; give a file of ids and labels.")
        return source, None if table is None else labels_from(table, source.ids, file)
    found = read_file(file, reading) if labels is None or table else _with_column(file, reading, labels)
    if found.note:
        note(f"{file}: {found.note}")
    if table is not None:
        return found, labels_from(table, found.ids, file)
    return found, None if found.labels is None else [label or None for label in found.labels]


def _with_column(file: Path, reading: tuple[str, ...], column: str) -> Records | Matrix:
    try:
        return read_file(file, (*reading, f"label={column}"))
    except ValueError as error:
        if column.isdecimal() or not file.is_file():
            raise
        raise ValueError(f"There is no file of labels {column}, and as a column: {error}") from None


def labels_from(table: Path, ids: Sequence[str] | None, file: Path) -> list[str | None]:
    """The labels of `ids`, by a table whose first column has ids and whose second has labels."""
    from ..readers import Records, read

    if ids is None:
        raise ValueError(f"{file} has no ids, so the labels in {table} cannot be told apart; give a file with ids.")
    found = read(table, format="table", kind="strings", id=0, string=1, allow_empty=True)
    assert isinstance(found, Records)
    label = dict(zip(found.ids, map(str, found.objects), strict=True))
    labels = [label.get(name) or None for name in ids]
    if not any(labels):
        raise ValueError(f"None of the {len(ids)} ids in {file} has a label in {table}; the first is {ids[0]!r}.")
    return labels
