"""`medianmap check`: the health of a matrix, for people and for programs."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..sources import Source


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

    health = check_dissimilarity(open_source(file, metric), seed=seed)
    click.echo(json.dumps(health.as_dict(), indent=1) if as_json else str(health))
    context.exit(0 if health.ok else 2)


def open_source(file: Path, metric: str) -> Source:
    """What the file holds under the metric; a matrix in a .npy file stays on disk."""
    from ..sources import as_dissimilarity

    if find_spec("medianmap.readers") is None:
        X = _numbers(file)
        return as_dissimilarity(X, symmetric=True) if metric == "precomputed" else as_dissimilarity(X, metric)
    readers: Any = import_module("medianmap.readers")
    found = readers.read(file)
    if metric == "precomputed":
        if not isinstance(found, readers.Matrix):
            raise ValueError(
                f"{file} holds {len(found)} {found.kind} and no dissimilarities; say how to compare them with --metric."
            )
        # The check itself finds out whether the matrix is symmetric.
        return as_dissimilarity(found.D, ids=found.ids, symmetric=True)
    if isinstance(found, readers.Matrix):  # as many vectors as coordinates
        found = readers.read(file, kind="vectors")
    return as_dissimilarity(found.objects, metric, ids=found.ids)


def _numbers(file: Path) -> Any:
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
