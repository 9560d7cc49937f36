"""`medianmap predict`: the prototypes, and of a classifier the classes, of the objects in a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import click

from ..inputs import length_of
from ..settings import option
from ..terminal import shows_progress, speaking, watched


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", metavar="INPUT")
@click.option("-o", "--out", default="-", metavar="FILE", help="A .tsv or .tsv.gz file; standard output by default.")
@option("read")
@option("threads")
@speaking
def predict(model: Path, file: str, out: str, read: Mapping[str, Any], threads: int | None) -> None:
    """Place the objects of INPUT on the map of MODEL: nearest and second nearest prototype, class if it knows any.

    INPUT is what the model was fitted on: sequences, strings, vectors, read as a stream; or, for a model of
    dissimilarities, a table with a row for every object and a column for every training point or every prototype.
    The columns are id, prototype, dissimilarity, second, second_dissimilarity, exemplar, border and, of a classifier,
    class and probability.

    A config.toml beside MODEL, as medianmap fit leaves it, says how objects are read; --read changes that.

    For very long files use medianmap assign: it goes on after an interruption, and writes Parquet, too.

    \b
    Examples:
      medianmap predict map/model.mmap new.fasta
      medianmap predict map/model.mmap reads.fasta.gz --threads -1 -o placed.tsv.gz
    """
    from ...estimators.model_file import load
    from ...predict.assign_all import assigned_lines
    from ...utils.tables import write_lines
    from ..new_objects import queries_in, query_options

    if out != "-":
        _check_name(Path(out))
    fitted = load(model)
    objects, streamed = queries_in(fitted, file, query_options(model, fitted, file, read))
    with watched() as watch:
        length = length_of(Path(file), streamed) if streamed and shows_progress() else None
        told = assigned_lines(
            fitted, objects, n_jobs=threads,
            on_progress=lambda stage, done, total: watch.progress(stage, done, total or length),
        )  # fmt: skip
        try:
            lines = chain([next(told)], told)  # what is wrong with the file is said before anything is printed
            if out == "-":
                sys.stdout.writelines(f"{line}\n" for line in lines)
            else:
                write_lines({Path(out): lines})
        except KeyboardInterrupt:
            left = "" if out == "-" else f" {out} was not written;"
            raise KeyboardInterrupt(
                f"stopped;{left} run the same command again, or medianmap assign, which can go on where it was."
            ) from None


def _check_name(out: Path) -> None:
    """Before long work: the folder is there, and the name says a table."""
    from ...utils.files import check_target

    if not out.name.endswith((".tsv", ".tsv.gz", ".txt", ".txt.gz")):
        raise ValueError(f"{out} must end in .tsv or .tsv.gz: that says what is written.")
    check_target(out)
