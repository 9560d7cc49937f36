"""`medianmap fit`: from a file to a folder with the map, its tables, its page and its configuration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...utils.tables import counted
from ..map_options import trained
from ..options import close, force_option, gzip_option, speaking, threads_option
from ..progress import watched
from ..reading import check_data_of, labels_option, param_option, parse_named, parse_params, read_option
from ..settings import INITS, MAPS, MOST_SEED, FitSettings, parse_grid

if TYPE_CHECKING:
    from ..run import FitResult


@click.command()
@click.argument("file", metavar="[INPUT]", required=False)
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to write.")
@click.option("--map", "map", type=click.Choice(MAPS), help="Which map; som by default.")
@click.option("--grid", metavar="ROWSxCOLUMNS", help="Neurons of a SOM, for example 10x10.")
@click.option("-k", "k", type=click.IntRange(1), help="Prototypes of --map gas or kmeans.")
@click.option("--metric", metavar="NAME", help="How two objects are compared (see medianmap metrics); by default "
              "alignment for proteins, edit for other strings, euclidean for vectors, dtw for series.")  # fmt: skip
@param_option
@read_option
@labels_option
@click.option("--beta", type=float, help="Let labels guide the map: 1 not at all, towards 0 they decide.")
@click.option("--patch", type=click.IntRange(1), metavar="SIZE", help="One pass in patches of SIZE, for large data.")
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Epochs of training; 100, of kmeans at most 300.")
@click.option("--sigma-start", type=float, help="Width of the neighbourhood at first; half the map by default.")
@click.option("--sigma-end", type=float, help="Width of the neighbourhood at last; 0.01 by default.")
@trained
@click.option("--init", type=click.Choice(INITS), help="How prototypes start; random by default.")
@click.option("--n-init", type=click.IntRange(1), metavar="N", help="Starts, of which the best is kept; 1 by default.")
@click.option("--seed", type=click.IntRange(0, MOST_SEED), help="Start of the random numbers; 0 by default.")
@threads_option
@click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Settings of an earlier run (TOML).")
@force_option
@gzip_option
@click.option("--no-report", is_flag=True, help="Leave out report.html.")
@speaking
def fit(
    file: str | None, out: Path, config: Path | None, force: bool, gzip: bool, no_report: bool, **options: Any
) -> None:
    """Map the sequences, strings, vectors, series or dissimilarities of INPUT, and write the map into DIR.

    INPUT is any file that medianmap reads, plain or .gz, or "-" for standard input. DIR gets model.mmap,
    assignments.tsv, prototypes.fasta or .tsv, summary.json, report.html and config.toml, all of them or none.
    Interrupted, the same command goes on with the dissimilarities (or patches) that are computed.

    \b
    Examples:
      medianmap fit globins.fasta --labels header --grid 10x10 -o globins-map
      medianmap fit distances.phy --map gas -k 50 -o map
      medianmap fit --config map/config.toml --seed 1 -o map2
    """
    from ..folder import check_out

    settings, recorded = _settings(file, config, options)
    check_out(out, force)  # at once, before compilers and linear algebra are loaded
    _check_there(settings.input, None if file is not None else config)
    with watched() as watch:
        from ..run import run_fit

        result = run_fit(settings, out, force=force, report=not no_report, gzip=gzip, watch=watch, recorded=recorded)
    close("\n".join(told(result)))


def _settings(file: str | None, config: Path | None, options: dict[str, Any]) -> tuple[FitSettings, dict[str, Any]]:
    """The settings of the configuration, those of the command line in their place."""
    from ..config import merged, read_config

    given = {name: value for name, value in options.items() if value is not None}
    given["params"] = parse_params(given["params"])
    given["read"] = parse_named(given.pop("reading"), "--read", "kind=matrix")
    if "grid" in given:
        given["grid"] = parse_grid(given["grid"])
    if file is not None:
        given["input"] = file
    before, recorded = read_config(config) if config is not None else ({}, {})
    settings = merged(before, {name: value for name, value in given.items() if value != {}})
    if "input" not in settings:
        raise click.UsageError("Missing argument INPUT: the file to map, or - for standard input.")
    return FitSettings(**settings), recorded if settings["input"] == before.get("input") else {}


def _check_there(file: str, config: Path | None) -> None:
    if config is not None:
        check_data_of(config, file)
    elif file != "-" and not Path(file).exists():
        raise FileNotFoundError(f"There is no file {file}; check the path.")


def told(result: FitResult) -> Iterator[str]:
    """The outcome in a few lines."""
    summary = result.summary
    n = summary["n_prototypes"]
    size = "x".join(map(str, summary["grid"])) + " neurons" if summary["grid"] else counted(n, "prototype")
    ended = counted(summary["epochs"], "epoch") + (", at a fixed point" if summary["converged"] else "")
    yield f"{summary['map']} of {counted(summary['n_points'], 'object')} by {summary['metric']} on {size}: {ended}."
    shown = ("quantization_error", "topographic_error", "purity", "training_accuracy")
    numbers = [
        f"{name.replace('_', ' ')} {summary['quality'][name]:.4g}" for name in shown if name in summary["quality"]
    ]
    far, border = counted(summary["n_outliers"], "outlier"), counted(summary["n_border_points"], "point")
    yield f"{', '.join(numbers)}; {far}, {border} on borders."
    yield f"Wrote {', '.join(file.name for file in result.files)} into {result.out}"
