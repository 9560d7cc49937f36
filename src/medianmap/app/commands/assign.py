"""`medianmap assign`: every object of a file to the prototypes of a model, into a table that can be resumed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from ..inputs import length_of
from ..settings import option
from ..terminal import close, is_stdout, printed, shows_progress, speaking, watched


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path),
              help="The .tsv, .tsv.gz or .parquet file to write; - for lines on standard output.")  # fmt: skip
@click.option("--format", "format_", metavar="NAME", help="Short for --read format=NAME.")
@option("read")
@option("threads")
@click.option("--block", type=int, default=8192, show_default=True, metavar="N", help="Objects at a time.")
@click.option("--restart", is_flag=True, help="Start anew, instead of going on with what an earlier run left.")
@speaking
def assign(
    model: Path,
    file: Path,
    out: Path,
    format_: str | None,
    read: Mapping[str, Any],
    threads: int | None,
    block: int,
    restart: bool,
) -> None:
    """Find the nearest and second nearest prototype of MODEL for every object in INPUT.

    INPUT is a FASTA, FASTQ or table file, plain or .gz, of any length ("-" for standard input); or what else holds
    objects, or dissimilarities to all training points. Interrupted or killed, the same command goes on where it was.
    For files of a minute or less medianmap predict does the same with ids of exemplars, and prints the table.

    Example: medianmap assign model.mmap reads.fasta -o reads.tsv --threads -1
    """
    from ...estimators.model_file import load
    from ...predict.assign_all import assign_all
    from ..new_objects import queries_in, query_options

    fitted = load(model)
    given = read if format_ is None else {**read, "format": format_}
    objects, streamed = queries_in(fitted, file, query_options(model, fitted, file, given))
    length = length_of(file, streamed) if shows_progress() and streamed else None
    with watched() as watch, printed("assigned.tsv") if is_stdout(out) else nullcontext(out) as target:
        done = assign_all(
            fitted, objects, target, block=block, n_jobs=threads, resume=not restart,
            on_progress=lambda stage, done, total: watch.progress(stage, done, total or length),
        )  # fmt: skip
    fresh = done.n_objects - done.n_resumed
    taken = f", {done.n_resumed} of them by an earlier run" if done.n_resumed else ""
    close(
        f"Wrote {'standard output' if is_stdout(out) else out}: {done.n_objects} objects{taken} on {len(done.hits)} "
        f"prototypes, quantization error {done.quantization_error:.6g}; "
        f"{fresh / max(done.seconds, 1e-9):.0f} objects a second",
        data_on_stdout=is_stdout(out),
    )
