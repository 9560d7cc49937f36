"""`medianmap distances`: all pairs of the objects in a file; `medianmap check`: whether dissimilarities can be used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..estimates import refuse_long_work
from ..inputs import chosen_metric, read_given
from ..output import close, in_options, is_stdout, printed, refuse_own_input, speaking, watched
from ..settings import option


@click.command()
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@option("metric")
@option("params")
@option("read")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path),
              help="The .npy file to write; - prints a tab-separated table with ids on both sides.")  # fmt: skip
@click.option(
    "--dtype", type=click.Choice(["float64", "float32"]), default="float64", show_default=True, help="Type of an entry."
)
@option("threads")
@click.option("--restart", is_flag=True, help="Start again and replace what is there, instead of continuing it.")
@speaking
def distances(
    file: Path, metric: str | None, params: Mapping[str, Any], read: Mapping[str, Any], out: Path, dtype: str,
    threads: int | None, restart: bool,
) -> None:  # fmt: skip
    """Compute the dissimilarities of all pairs of points in INPUT: sequences, strings, vectors or series.

    Writes a .npy matrix and a .json file beside it with ids, metric and parameters. After an
    interruption or a kill, the same command resumes.

    \b
    Example:
      medianmap distances words.txt --metric edit --param indel=2 -o D.npy
    """
    from ...sources.all_pairs import all_pairs
    from ...utils.threads import n_threads

    if not is_stdout(out) and out.suffix != ".npy":
        raise ValueError(f"{out} must end in .npy: that is what is written; -o - prints a table.")
    refuse_own_input(out, file)
    with _target(out) as target, watched():
        given = read_given(str(file), read)
        metric, params = chosen_metric(given, metric, params)
        if given.source is not None:
            raise ValueError(
                f"{file} holds dissimilarities already, so there is nothing to compute; "
                "if they are vectors, pass --read kind=vectors."
            )
        refuse_long_work(given.name, given.objects, metric, params, n_threads(threads))
        stored = all_pairs(
            given.objects, metric, target, metric_params=params, ids=given.ids, dtype=dtype, n_jobs=threads,
            resume=not restart,
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


@click.command()
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@option("metric")
@option("params")
@option("read")
@click.option("--json", "as_json", is_flag=True, help="Print numbers for a program instead of sentences.")
@option("seed")
@option("threads")
@speaking
@click.pass_context
def check(
    context: click.Context, file: Path, metric: str | None, params: Mapping[str, Any], read: Mapping[str, Any],
    as_json: bool, seed: int, threads: int | None,
) -> None:  # fmt: skip
    """Say whether the dissimilarities in INPUT, or between its points, can be used, and what they are like.

    The exit code is 0 if a map can use them and 2 if not. check refuses what medianmap fit would refuse, but it
    describes any square of numbers, whatever it holds.

    \b
    Examples:
      medianmap check distances.npy
      medianmap check hits.m8 --read similarity=normalized --read missing=1
    """
    from ...sources.squares import SquareInDoubt

    with watched():
        error = None
        try:
            source = _source(file, metric, params, read, threads)
        except SquareInDoubt as doubt:
            source, error = _source(file, None, {}, {**read, "kind": "matrix"}, threads), doubt
        from ...explore.health import Finding, check_dissimilarity  # seconds, which no refusal waits for

        health = check_dissimilarity(source, seed=seed)
        if error is not None:
            verdict = Finding("kind", "error", in_options(error), {})
            health = replace(health, findings=(verdict, *health.findings))
    click.echo(json.dumps(health.as_dict(), indent=1) if as_json else str(health))
    context.exit(0 if health.ok else 2)


def _source(
    file: Path, metric: str | None, params: Mapping[str, Any], read: Mapping[str, Any], threads: int | None
) -> Any:
    """What the file holds under the metric; a matrix in a .npy file stays on disk."""
    given = read_given(str(file), read)
    metric, params = chosen_metric(given, metric, params)
    if given.source is not None:
        return given.source
    from ...explore.health import COMPUTED_POINTS
    from ...sources import as_dissimilarity
    from ...utils.threads import n_threads

    pairs = min(len(given), COMPUTED_POINTS) ** 2 / 2
    refuse_long_work(given.name, given.objects, metric, params, n_threads(threads), pairs)
    return as_dissimilarity(given.objects, metric, metric_params=params, ids=given.ids, n_jobs=threads)
