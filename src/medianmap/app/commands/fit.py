"""`medianmap fit`: from a file to a folder with the map, its tables and its page; `demo`: that of globins; `arrange`:
that of exemplars from anywhere, which are laid out on a grid.

The options of `fit` (`--grid`, `-k`, `--metric` ...) are made from the table in settings.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...utils.files import counted
from ..inputs import check_data_of, suitable_data
from ..output import check_out, close, console, speaking, watched
from ..settings import (
    FitSettings,
    check_settings,
    fit_options,
    force_option,
    gzip_option,
    merged,
    option,
    read_config,
    spreadsheet_option,
)

if TYPE_CHECKING:
    from ..run import FitResult


@click.command()
@click.argument("file", metavar="[INPUT]", required=False)
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to write.")
@fit_options
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE",
              help="Settings of an earlier run: its config.toml, or its folder.")  # fmt: skip
@force_option
@gzip_option
@spreadsheet_option
@click.option("--no-report", is_flag=True, help="Leave out report.html.")
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler that runs the patches, as with --tree.")
@speaking
def fit(
    file: str | None, out: Path, config: Path | None, force: bool, gzip: bool, no_report: bool, scheduler: str | None,
    **options: Any,
) -> None:  # fmt: skip
    """Map the sequences, strings, vectors, series or dissimilarities of INPUT, and write the map into DIR.

    INPUT is any file that medianmap reads, plain or .gz, or "-" for standard input. DIR gets model.mmap,
    assignments.tsv, exemplars.fasta or .tsv, summary.json, report.html and config.toml, all of them or none.
    After an interruption or a kill, the same command continues with the dissimilarities (or patches) computed so far.

    Large data are mapped in one pass over patches. With --stream the file need not fit into memory; then there is no
    report.html (medianmap report makes it), and from standard input no assignments.tsv.

    \b
    Examples:
      medianmap fit globins.fasta --labels header --grid 10x10 -o globins-map
      medianmap fit distances.phy --map gas -k 50 -o map
      medianmap fit reads.fasta.gz --map gas -k 20 --patch 100 --stream -o reads-map
      medianmap fit --config map/config.toml --seed 1 -o map2
    """
    settings, recorded = _settings(file, config, options)
    check_out(out, force)  # at once, before compilers and linear algebra are loaded
    check_data_of(None if file is not None else config, settings.input)
    check_settings(settings)
    with watched() as watch:
        data = suitable_data(settings)  # what is wrong with options and file is said before seconds of imports
        from ..run import run_fit

        result = run_fit(settings, out, data=data, force=force, report=not no_report, gzip=gzip, scheduler=scheduler,
                         watch=watch, recorded=recorded)  # fmt: skip
    close("\n".join(told(result)))


def _settings(file: str | None, config: Path | None, options: dict[str, Any]) -> tuple[FitSettings, dict[str, Any]]:
    """The settings of the configuration, those of the command line in their place."""
    given = {name: value for name, value in {"input": file, **options}.items() if value not in (None, {})}
    before, recorded = read_config(config) if config is not None else ({}, {})
    settings = merged(before, given)
    if "input" not in settings:
        raise click.UsageError("Missing argument INPUT: the file to map, or - for standard input.")
    return FitSettings(**settings), recorded if settings["input"] == before.get("input") else {}


def told(result: FitResult) -> Iterator[str]:
    """The outcome in a few lines."""
    summary = result.summary
    size = counted(summary["n_neurons"], "neuron")
    if summary["grid"]:
        size = "x".join(map(str, summary["grid"])) + " neurons"
    by = "their dissimilarities" if summary["metric"] == "precomputed" else summary["metric"]
    ended = counted(summary["epochs"], "epoch") + (", at a fixed point" if summary["converged"] else "")
    yield f"{summary['map']} of {counted(summary['n_points'], 'point')} by {by} on {size}: {ended}."
    shown = ("quantization_error", "topographic_error", "purity", "training_accuracy")
    numbers = [
        f"{name.replace('_', ' ')} {summary['quality'][name]:.4g}" for name in shown if name in summary["quality"]
    ]
    if "n_outliers" in summary:
        far, border = counted(summary["n_outliers"], "outlier"), counted(summary["n_border_points"], "point")
        numbers[-1] += f"; {far}, {border} on borders"
    if numbers:
        yield f"{', '.join(numbers)}."
    if summary.get("verdict"):
        yield summary["verdict"]
    certainty = summary.get("certainty", {})
    if certainty.get("n_resamples"):
        sure, maps = certainty["mean"], counted(certainty["n_resamples"], "resample")
        yield f"By {maps} of the data, a point keeps its neuron with probability {sure:.2f} on average."
    passes = getattr(result.model, "estimator_", result.model)
    if hasattr(passes, "n_patches_"):
        many = f"{passes.n_patches_} {'patch' if passes.n_patches_ == 1 else 'patches'}"
        stopped = ", stopped by the budget" if passes.stopped_early_ else ""
        seen = counted(passes.n_samples_seen_, "point")
        yield f"One pass over {seen} in {many}{stopped}, {passes.n_evaluations_} dissimilarities."
    yield f"Wrote {', '.join(file.name for file in result.files)} into {result.out}"


@click.command()
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("medianmap-demo"),
              show_default=True, help="Folder for the files.")  # fmt: skip
@option("seed")
@option("grid", default="8x10", show_default=True, help="Neurons of the map.")
@option("threads")
@force_option
@speaking
def demo(out: Path, seed: int, grid: tuple[int, ...], threads: int | None, force: bool) -> None:
    """Map 630 globins by how their sequences align, and say where each family lies.

    Example: medianmap demo --grid 5x6 -o my-demo
    """
    from ...report.text import render
    from ..run import run_demo

    with watched() as watch:
        result = run_demo(out, grid, seed, watch, threads=threads, force=force)
    console().print(render(result.summary))
    close("\nWrote " + ", ".join(str(file) for file in result.files))
    close(f"The page of this map: open {(result.out / 'report.html').resolve().as_uri()} in a browser.")


@click.command()
@click.argument("file", metavar="INPUT")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to write.")
@option("exemplars", required=True, help="The ids of the exemplars, one per line, or clusters of another program.")
@option("grid", required=True, help="Neurons, one for each exemplar, for example 8x10.")
@option("metric")
@option("params")
@option("read")
@option("labels")
@option("strict")
@option("seed")
@option("threads")
@force_option
@gzip_option
@spreadsheet_option
@click.option("--no-report", is_flag=True, help="Leave out report.html.")
@speaking
def arrange(file: str, out: Path, force: bool, gzip: bool, no_report: bool, **options: Any) -> None:
    """Lay exemplars out on a grid, so that similar ones are neighbours, and write the map of INPUT into DIR.

    FILE names the exemplars, objects of INPUT: ids one per line, the first column of a table, or the clusters of
    MMseqs2, Foldseek or CD-HIT, whose representatives are taken; "-" is standard input. The exemplars do not
    change; only the place of each one is sought. DIR gets what `medianmap fit` writes, for report, plot and predict.

    \b
    Examples:
      medianmap arrange globins.fasta --exemplars chosen.txt --grid 4x5 -o chosen-map
      medianmap arrange proteins.fasta --exemplars run_cluster.tsv --grid 2x2 -o clusters-map
    """
    settings = FitSettings(**{"input": file, **{name: value for name, value in options.items() if value is not None}})
    if file == settings.exemplars == "-":
        raise click.UsageError("INPUT and --exemplars cannot both be standard input; write one of them to a file.")
    check_out(out, force)
    check_settings(settings)
    with watched() as watch:
        data = suitable_data(settings)  # what is wrong with options and file is said before seconds of imports
        from ..run import run_fit

        result = run_fit(settings, out, data=data, force=force, report=not no_report, gzip=gzip, watch=watch)
    close("\n".join(told(result)))
