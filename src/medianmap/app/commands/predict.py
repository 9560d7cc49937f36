"""`medianmap predict`: nearest neurons, exemplar and class of every point in a file of any length."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click

from ..estimates import none_too_long, refuse_long_queries
from ..inputs import STREAMED, beyond_limits, format_in, length_of, read_as, read_options, refuse_unknown
from ..output import close, is_stdout, refuse_own_input, shows_progress, speaking, watched
from ..settings import model_argument, option, settings_beside, spreadsheet_option, yes_option

# Objects of a stream by which the time for all is estimated.
FIRST = 1000


@click.command()
@model_argument
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("-"), metavar="FILE",
              help="A .tsv, .tsv.gz or .parquet file; by default lines on standard output.")  # fmt: skip
@option("read")
@yes_option
@option("threads")
@click.option("--block", type=click.IntRange(1), default=8192, show_default=True, metavar="N", help="Points at a time.")
@spreadsheet_option
@click.option("--restart", is_flag=True, help="Start again instead of resuming an earlier run.")
@speaking
def predict(
    model: Path, file: Path, out: Path, read: Mapping[str, Any], threads: int | None, block: int, restart: bool
) -> None:
    """Find the nearest and second nearest neuron of MODEL for every point in INPUT, and its class if it has any.

    INPUT is what the model was fitted on: sequences, strings, vectors or series. FASTA, FASTQ and tables are read as a
    stream, plain or .gz, of any length, also from standard input ("-"). For a model of dissimilarities it is a table
    with a row for every point and a column for every training point or every exemplar. The columns are id,
    neuron, dissimilarity, second, second_dissimilarity, exemplar, border, novelty, new (1 for objects unlike those
    of training) and, where there were labels, majority and majority_share of the neuron's training points; of a
    classifier, class and probability.

    After an interruption or a kill, the same command with -o FILE continues. INPUT is read as the
    config.toml that medianmap fit left beside MODEL says; --read changes that.

    \b
    Examples:
      medianmap predict map/model.mmap new.fasta
      medianmap predict map/model.mmap reads.fasta.gz --threads -1 -o placed.tsv.gz
    """
    from ...estimators.model_file import load
    from ...predict.assign_all import assign_all, assigned_lines

    refuse_own_input(out, model, file)
    fitted = load(model)
    objects, streamed = _objects(fitted, model, file, read)
    count = partial(length_of, file, streamed, read) if streamed else None
    length = count() if count is not None and shows_progress() else None
    objects = _not_too_long(objects, fitted, file, threads, count)
    with watched() as watch:
        how: dict[str, Any] = {"block": block, "n_jobs": threads,
               "on_progress": lambda stage, done, total: watch.progress(stage, done, total or length)}  # fmt: skip
        if is_stdout(out):
            _print(assigned_lines(fitted, objects, **how))
            return
        done = assign_all(fitted, objects, out, resume=not restart, **how)
    fresh = done.n_objects - done.n_resumed
    taken = f", {done.n_resumed} of them by an earlier run" if done.n_resumed else ""
    close(
        f"Wrote {out}: {done.n_objects} points{taken} on {len(done.hits)} neurons, quantization error "
        f"{done.quantization_error:.6g}; {fresh / max(done.seconds, 1e-9):.0f} points per second"
    )


def _objects(fitted: Any, model: Path, file: Path, read: Mapping[str, Any]) -> tuple[Any, str]:
    """The objects in the file as `assign_all` takes them, and the format of a stream, empty where it is none.

    They are read as those of training were, if a configuration beside the model says how.
    """
    from ...predict.queries import map_of
    from ...readers import iter_records
    from ...sources import is_store

    refuse_unknown(read)
    if map_of(fitted)._reads_matrix():  # the table of a square matrix is another kind than that of queries
        stored = str(file) != "-" and not beyond_limits(read) and is_store(file)
        return (file if stored else _queries(file, read)), ""
    options = read_options(file, read, settings_beside(model))
    if str(file) == "-":
        return iter_records("-", **options), ""
    found = format_in(file, options)
    return (iter_records(file, **options), found) if found in STREAMED else (read_as(file, options), "")


def _not_too_long(objects: Any, fitted: Any, file: Path, threads: int | None, count: Callable[[], int] | None) -> Any:
    """The same objects; ValueError where to compare them will take hours, unless --yes was said.

    count : tells how many there are in a stream; None where that cannot be known.
    """
    from ...readers import Records
    from ...utils.threads import n_threads

    name, cores = "standard input" if str(file) == "-" else str(file), n_threads(threads)
    if isinstance(objects, Records):
        refuse_long_queries(name, objects.objects, fitted, cores)
    if not hasattr(objects, "__next__"):
        return objects
    first = list(islice(objects, FIRST))
    refuse_long_queries(name, [each.object for each in first], fitted, cores, None if len(first) < FIRST else count)
    return none_too_long(name, chain(first, objects), fitted)


def _queries(file: Path, read: Mapping[str, Any]) -> Any:
    """Dissimilarities to training points or prototypes, which may happen to be as many as the objects."""
    from ...sources.squares import SquareInDoubt

    try:
        return read_as(file, read)
    except SquareInDoubt:
        return read_as(file, {**read, "kind": "matrix"})


def _print(lines: Any) -> None:
    """Lines on standard output as they come; a mistake in the first objects is said before anything is printed."""
    try:
        first = [line for line in [next(lines, None)] if line is not None]
        sys.stdout.writelines(f"{line}\n" for line in chain(first, lines))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            "stopped, and the table that was printed is not complete; with -o FILE the same command could go on."
        ) from None
