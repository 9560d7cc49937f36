"""`medianmap distances`: all pairs of the objects in a file, into a store that can be interrupted and resumed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ..options import close, speaking, threads_option
from ..output import is_stdout, printed
from ..progress import watched
from ..reading import param_option, parse_params, read_objects, read_option


@click.command()
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("--metric", required=True, metavar="NAME", help="How two objects are compared.")
@param_option
@read_option
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path),
              help="The .npy file to write; - prints a table by tabs, with ids at both sides.")  # fmt: skip
@click.option(
    "--dtype", type=click.Choice(["float64", "float32"]), default="float64", show_default=True, help="Type of an entry."
)
@threads_option
@click.option("--restart", is_flag=True, help="Start anew and replace what is there, instead of going on with it.")
@speaking
def distances(
    file: Path,
    metric: str,
    params: tuple[str, ...],
    reading: tuple[str, ...],
    out: Path,
    dtype: str,
    threads: int | None,
    restart: bool,
) -> None:
    """Compute the dissimilarities of all pairs of objects in INPUT: sequences, strings or vectors.

    Writes a .npy matrix and a .json file beside it with ids, metric and parameters. Interrupted or killed, the same
    command goes on where it was.

    Example: medianmap distances words.txt --metric edit --param indel=2 -o D.npy
    """
    from ...sources.all_pairs import all_pairs
    from ...utils.progress import followed

    metric_params = parse_params(params)
    if not is_stdout(out) and out.suffix != ".npy":
        raise ValueError(f"{out} must end in .npy: that is what is written; -o - prints a table.")
    with _target(out) as target, watched() as watch:
        with followed(watch.progress):
            records = read_objects(file, reading)
        stored = all_pairs(
            records.objects, metric, target, metric_params=metric_params, ids=records.ids, dtype=dtype, n_jobs=threads,
            resume=not restart, on_progress=watch.progress,
        )  # fmt: skip
    if is_stdout(out):
        return
    n = stored.shape[0]
    close(f"Wrote {out}: {n} x {n} {stored.dtype.name} dissimilarities under {metric}; ids are in {out.name}.json")


@contextmanager
def _target(out: Path) -> Iterator[Path]:
    """The matrix to write; one for standard output is printed as text, since a .npy file has no room for ids."""
    from ...readers import write_lsmat
    from ...sources import as_dissimilarity

    if not is_stdout(out):
        yield out
        return
    with printed("D.tsv") as text:
        matrix = text.with_name("D.npy")
        yield matrix
        write_lsmat(text, as_dissimilarity(matrix))
