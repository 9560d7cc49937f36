"""`medianmap check`: the health of a matrix, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--metric", default="precomputed", show_default=True, metavar="NAME",
              help="How to compare what the file holds; by default it holds the dissimilarities.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print numbers for a program instead of sentences.")
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Start of the random numbers."
)
@click.pass_context
def check(context: click.Context, file: Path, metric: str, as_json: bool, seed: int) -> None:
    """Say whether the dissimilarities in FILE can be used, and what they are like.

    The exit code is 0 if a map can be made of them and 2 if not.

    Example: medianmap check distances.npy
    """
    from ..health import check_dissimilarity

    health = check_dissimilarity(open_input(file), metric=metric, seed=seed)
    click.echo(json.dumps(health.as_dict(), indent=1) if as_json else str(health))
    context.exit(0 if health.ok else 2)


def open_input(file: Path) -> Any:
    """The matrix or the vectors in a .npy (not loaded whole) or .csv file."""
    import numpy as np

    from ..sources import open_npy

    if not file.exists():
        raise FileNotFoundError(f"There is no file {file}; give the path of a matrix.")
    if file.suffix != ".csv":
        return open_npy(file)
    try:
        return np.loadtxt(file, delimiter=",", ndmin=2)
    except ValueError as error:
        raise ValueError(f"{file} is not a matrix of numbers separated by commas ({error}).") from None
