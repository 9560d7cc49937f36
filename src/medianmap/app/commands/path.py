"""`medianmap path`: error, silhouette and stability for a list of K, to choose the number of neurons by."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..estimates import refuse_long_work
from ..inputs import chosen_metric, read_given
from ..output import is_stdout, note, refuse_own_input, speaking, watched
from ..settings import FitSettings, make_map, option
from .pictures import drawn, picture_format

if TYPE_CHECKING:
    from ...explore.k_path import KPath

STARTS = {"kmeans": 10, "gas": 1}


@click.command()
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@option("metric")
@option("params")
@option("read")
@click.option("-k", "sizes", required=True, metavar="K,K,...", help="Numbers of neurons, for example 2,5,10,20.")
@click.option(
    "--map", "kind", type=click.Choice(list(STARTS)), default="kmeans", show_default=True, help="Kind of map."
)
@click.option("--starts", type=click.IntRange(1), default=None, metavar="N",
              help="Starts of every fit; the best one counts. By default 10 for kmeans, 1 for gas.")  # fmt: skip
@click.option("--stability", type=click.Choice(["halves", "restarts"]), default="halves", show_default=True,
              help="Compare fits to random halves of the data, or fits to all data from other starts.")  # fmt: skip
@click.option("--restarts", type=click.IntRange(1), default=5, show_default=True, metavar="N",
              help="How many of these fits to compare; 1 leaves stability out.")  # fmt: skip
@option("seed")
@option("threads")
@click.option("-o", "--out", type=click.Path(path_type=Path),
              help="The .tsv or .tsv.gz file to write; by default, or with -, the table is printed.")  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path), help="A picture to draw: .svg, .svg.gz, .png or .pdf.")
@speaking
def path(
    file: Path, metric: str | None, params: Mapping[str, Any], read: Mapping[str, Any], sizes: str, kind: str,
    starts: int | None, stability: str, restarts: int, seed: int, threads: int | None, out: Path | None,
    plot: Path | None,
) -> None:  # fmt: skip
    """Fit maps of INPUT with each number of neurons, and print a table to choose from.

    Columns: n_clusters, quantization_error, inertia, silhouette (of medoids), stability (adjusted Rand index), epochs,
    warm. A suggestion is printed on stderr; it is not a proof.

    \b
    Example:
      medianmap path globins.fasta --metric alignment -k 2,3,4,5,10,20 --plot path.svg
    """
    from ...utils.files import as_tsv, check_target, write_bytes
    from ...utils.threads import followed

    if plot is not None and plot == out:
        raise click.UsageError(f"{out} cannot hold both the table and the picture; give -o and --plot different names.")
    wanted = parse_sizes(sizes)
    out = None if out is None or is_stdout(out) else out
    format_ = "" if plot is None else picture_format(plot, "--plot")
    for each in filter(None, (out, plot)):
        check_target(each)
        refuse_own_input(each, file)
    with watched() as watch:
        X, how = _compared(file, metric, params, read, threads)
        from ...explore.k_path import k_path  # seconds, which no refusal waits for

        settings = FitSettings(str(file), map=kind, k=wanted[0], init="k-medoids++", n_init=starts or STARTS[kind],
                               seed=seed, **how)  # fmt: skip
        with followed(lambda *step: None):  # the bar counts fits, not the steps inside them
            map_ = make_map(settings, n_jobs=threads)
            found = k_path(map_, X, wanted, n_restarts=restarts, stability=stability, on_progress=watch.progress)
    texts: dict[Path | None, bytes] = {out: as_tsv(found.as_records()).encode()}
    if plot is not None:
        from ...report.plots import KPathDisplay

        texts[plot] = drawn(lambda: KPathDisplay(found).plot(), format_)
    for target, content in texts.items():
        if target is None:
            click.echo(content, nl=False)
        else:
            write_bytes(target, content)
    note(_told(found, [target for target in texts if target is not None]))


def _compared(
    file: Path, metric: str | None, params: Mapping[str, Any], read: Mapping[str, Any], threads: int | None
) -> tuple[Any, dict[str, Any]]:
    """What the maps are fitted to, and by which metric; all pairs are computed here where that saves time."""
    given = read_given(str(file), read)
    metric, params = chosen_metric(given, metric, params)
    if given.source is not None:
        return given.source, {"metric": metric}
    from ...sources.all_pairs import all_pairs
    from ...sources.base import fits
    from ...utils.threads import n_threads

    if given.kind == "vectors":
        return given.objects, {"metric": metric, "params": params}
    refuse_long_work(given.name, given.objects, metric, params, n_threads(threads))
    if not fits(len(given)):
        return given.objects, {"metric": metric, "params": params}
    matrix = all_pairs(given.objects, metric, metric_params=params, ids=given.ids, n_jobs=threads)
    return matrix, {"metric": "precomputed"}


def parse_sizes(text: str) -> list[int]:
    """'2,5,10' -> [2, 5, 10]."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 2,5,10,20.", param_hint="-k")
    return [int(part) for part in parts]


def _told(found: KPath, written: list[Path]) -> str:
    """One sentence on what the table suggests, and where it is."""
    from ...explore.k_path import SUGGESTIONS

    best = []
    for by in SUGGESTIONS:
        try:
            K = found.best(by)
            best.append(f"K = {K} by {by}" + (" (the largest K tried; try larger ones)" if found.is_largest(K) else ""))
        except ValueError:
            continue
    said = f"suggested, not proven: {', '.join(best)}." if best else "no K of 2 and more, so nothing is suggested."
    return said + (f" Wrote {', '.join(map(str, written))}" if written else "")
