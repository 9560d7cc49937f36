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
    """What config.toml beside the model, as `fit` and `patches` leave it, says; data of standard input are gone."""
    from .config import settings_in

    settings = settings_in(model.parent / "config.toml")
    if settings.get("input") == "-":
        del settings["input"]
    return settings


def own_data(model: Path, settings: dict[str, Any]) -> str:
    """The file that the settings beside the model name."""
    check_data_of(model.parent / "config.toml", settings["input"])
    return str(settings["input"])


def check_data_of(config: Path, file: str) -> None:
    """FileNotFoundError if the file that a configuration names is not there."""
    if file != "-" and not Path(file).exists():
        raise FileNotFoundError(
            f"{config} names the data {file}, which are not there; run this where they are, or give INPUT."
        )


def read_options(file: str | Path, reading: tuple[str, ...], settings: dict[str, Any]) -> dict[str, Any]:
    """How to read the file: as --read says, and else as the data of a model were read, which `settings` tell.

    Another file than those data is read alike if its name ends alike, but for labels, which it need not have.
    """
    before = dict(settings.get("read", {}))
    if str(file) != settings.get("input"):
        before.pop("label", None)
        if _ending(file) != _ending(settings.get("input", "")):
            before = {}
    return {**before, **parse_named(reading, "--read", "kind=matrix")}


def query_options(model: Path, fitted: Any, file: str | Path, reading: tuple[str, ...]) -> dict[str, Any]:
    """How to read new objects: as those of training were, if a configuration says how."""
    from ..predict.queries import fitted_on_dissimilarities, map_of

    # The table of a square matrix is another kind than that of queries.
    settings = {} if fitted_on_dissimilarities(map_of(fitted)) else settings_beside(model)
    return read_options(file, reading, settings)


def _ending(file: str | Path) -> str:
    return Path(Path(file).name.lower().removesuffix(".gz")).suffix


def read_file(file: Path, reading: tuple[str, ...]) -> Records | Matrix:
    """What the file holds, read as `--read` says."""
    from .data import read_as

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


def length_of(file: Path, format_: str) -> int:
    """How many objects there are, for the time left: one quick look at the file, exact up to a header."""
    from ..readers.opening import opening

    with opening(file) as opened:
        if format_ == "fasta":
            return sum(line.startswith(b">") for line in opened.stream)
        return sum(1 for _ in opened.stream) // (4 if format_ == "fastq" else 1)
