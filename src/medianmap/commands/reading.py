"""What commands that take a file of a user share: how it is read, and options of the form NAME=VALUE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import note

if TYPE_CHECKING:
    from ..readers import Matrix, Records
    from ..sources import Source

read_option = click.option(
    "--read", "reading", multiple=True, metavar="NAME=VALUE",
    help="How to read the file, as in medianmap.readers.read: format=pairs, kind=matrix, missing=max, "
         "similarity=1-s ...; may be repeated.",
)  # fmt: skip
param_option = click.option(
    "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter of the metric; may be repeated."
)

labels_option = click.option(
    "--labels", metavar="FILE|COLUMN", help="A file of ids and labels; a column of a table INPUT; of sequences header "
    "(the word after the id), header:2 (the second) or header:KEY (what follows KEY=).",
)  # fmt: skip


def parse_named(given: tuple[str, ...], option: str, example: str) -> dict[str, Any]:
    """('indel=2', 'table=blosum62') -> {'indel': 2, 'table': 'blosum62'}: values are JSON where they can be."""
    parsed: dict[str, Any] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{each!r} is not NAME=VALUE, for example {example}.", param_hint=option)
        try:
            parsed[name] = json.loads(value)
        except ValueError:
            parsed[name] = value
    return parsed


def parse_params(given: tuple[str, ...]) -> dict[str, Any]:
    """The parameters of a metric."""
    return parse_named(given, "--param", "indel=2")


def settings_beside(model: Path) -> dict[str, Any]:
    """What config.toml beside the model, as `fit` leaves it, says; data that came from standard input are gone."""
    from ..config import read_config

    beside = model.parent / "config.toml"
    settings = read_config(beside)[0] if beside.is_file() else {}
    if settings.get("input") == "-":
        del settings["input"]
    return settings


def read_file(file: Path, reading: tuple[str, ...]) -> Records | Matrix:
    """What the file holds, read as `--read` says."""
    from ..fitting.data import read_as

    return read_as(file, parse_named(reading, "--read", "kind=matrix"))


def read_objects(file: Path, reading: tuple[str, ...]) -> Records:
    """The objects in the file, for a metric; what had to be guessed of them is said on stderr."""
    from ..readers import Records

    found = read_file(file, reading)
    if not isinstance(found, Records):
        raise ValueError(
            f"{file} holds dissimilarities already, so there is nothing to compute; "
            "if they are vectors, pass --read kind=vectors."
        )
    if found.note:
        note(f"{file}: {found.note}")
    return found


def read_dissimilarities(file: Path, reading: tuple[str, ...]) -> Source:
    """The dissimilarities in the file; a matrix in a .npy file stays on disk."""
    from ..readers import Matrix
    from ..sources import as_dissimilarity, is_store

    if not reading and is_store(file):
        return as_dissimilarity(file)
    found = read_file(file, reading)
    if not isinstance(found, Matrix):
        raise ValueError(f"{file} holds {len(found)} {found.kind} and no dissimilarities; choose another --metric.")
    return found.source()
