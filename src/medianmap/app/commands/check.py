"""`medianmap check`: the health of a matrix, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..options import seed_option, speaking, threads_option
from ..progress import watched
from ..reading import param_option, parse_params, read_file, read_objects, read_option

if TYPE_CHECKING:
    from ...sources import Source


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--metric", default="precomputed", show_default=True, metavar="NAME",
              help="How to compare what the file holds; by default it holds the dissimilarities.")  # fmt: skip
@param_option
@read_option
@click.option("--json", "as_json", is_flag=True, help="Print numbers for a program instead of sentences.")
@seed_option
@threads_option
@speaking
@click.pass_context
def check(
    context: click.Context,
    file: Path,
    metric: str,
    params: tuple[str, ...],
    reading: tuple[str, ...],
    as_json: bool,
    seed: int,
    threads: int | None,
) -> None:
    """Say whether the dissimilarities in FILE can be used, and what they are like.

    The exit code is 0 if a map can be made of them and 2 if not.

    Examples: medianmap check distances.npy; medianmap check hits.m8 --read similarity=normalized --read missing=1
    """
    from ...explore.health import check_dissimilarity
    from ...utils.progress import followed

    with watched() as watch, followed(watch.progress):
        source = open_source(file, metric, params, reading, threads)
        health = check_dissimilarity(source, seed=seed)
    click.echo(json.dumps(health.as_dict(), indent=1) if as_json else str(health))
    context.exit(0 if health.ok else 2)


def open_source(
    file: Path, metric: str, params: tuple[str, ...], reading: tuple[str, ...], threads: int | None
) -> Source:
    """What the file holds under the metric; a matrix in a .npy file stays on disk."""
    import numpy as np

    from ...readers import Matrix
    from ...sources import as_dissimilarity, is_store

    if metric != "precomputed":
        return read_objects(file, reading).source(metric, metric_params=parse_params(params), n_jobs=threads)
    if not reading and is_store(file):
        return as_dissimilarity(file)
    found = read_file(file, reading)
    if isinstance(found, Matrix):
        # The check itself finds out whether the matrix is symmetric.
        return as_dissimilarity(found.D, ids=found.ids, symmetric=True)
    # A square without zeros on its diagonal is read as vectors, and may be the similarities that a check is to find.
    if np.shape(found.objects) != (len(found), len(found)):
        raise ValueError(
            f"{file} holds {len(found)} {found.kind} and no dissimilarities; say how to compare them with --metric."
        )
    return as_dissimilarity(found.objects, symmetric=True)
