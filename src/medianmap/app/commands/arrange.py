"""`medianmap arrange`: exemplars from anywhere, laid out on a grid, become a map as `medianmap fit` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..inputs import suitable_data
from ..output import check_out, close, speaking, watched
from ..settings import FitSettings, check_settings, force_option, gzip_option, option
from .fit import told


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
@click.option("--no-report", is_flag=True, help="Leave out report.html.")
@speaking
def arrange(file: str, out: Path, force: bool, gzip: bool, no_report: bool, **options: Any) -> None:
    """Lay exemplars out on a grid, so that similar ones are neighbours, and write the map of INPUT into DIR.

    FILE names the exemplars, objects of INPUT: ids one per line, the first column of a table, or the clusters of
    MMseqs2, Foldseek or CD-HIT, whose representatives are taken; "-" is standard input. Exemplars stay what they are:
    only where each one sits is sought. DIR gets what `medianmap fit` writes; report, plot and predict take it.

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
