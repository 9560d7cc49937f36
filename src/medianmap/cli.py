"""The command line: parsing and printing only. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._version import __version__
from .commands.assign import assign
from .commands.check import check
from .commands.distances import distances
from .commands.patches import patches
from .commands.path import path
from .commands.representatives import representatives

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="medianmap")
def cli() -> None:
    """Topographic maps of data known only by pairwise dissimilarities."""


cli.add_command(assign)
cli.add_command(check)
cli.add_command(distances)
cli.add_command(patches)
cli.add_command(path)
cli.add_command(representatives)


@cli.command()
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("medianmap-demo"),
              show_default=True, help="Folder for the files.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Start of the random numbers."
)
@click.option("--grid", default="6x8", show_default=True, metavar="ROWSxCOLUMNS", help="Neurons of the map.")
def demo(out: Path, seed: int, grid: str) -> None:
    """Map 630 globins by how their sequences align, and say where each family lies.

    Example: medianmap demo --grid 8x10 -o my-demo
    """
    shape = parse_grid(grid)
    from .demo import run_demo
    from .report.text import render

    summary, files = run_demo(out, shape, seed)
    console().print(render(summary))
    click.echo("\nWrote " + ", ".join(str(file) for file in files))


@cli.command()
@click.argument("model", type=click.Path(path_type=Path))
def info(model: Path) -> None:
    """Say what is in a MODEL file.

    Example: medianmap info medianmap-demo/model.mmap
    """
    from .persistence import load

    layer = load(model)
    while layer is not None:  # a classifier holds a map, or patches that hold one
        click.echo(_about(layer))
        for name, value in layer.get_params(deep=False).items():
            if name != "estimator":
                click.echo(f"  {name} = {value!r}")
        layer = getattr(layer, "estimator_", None) or getattr(layer, "map_", None)


def _about(layer: Any) -> str:
    """One line on a classifier, a pass over patches, or a map."""
    name = type(layer).__name__
    if hasattr(layer, "classes_"):
        return f"{name}, classes {', '.join(map(str, layer.classes_))}"
    if hasattr(layer, "map_"):
        return (
            f"{name}, {layer.n_samples_seen_} points in {layer.n_patches_} patches, "
            f"{layer.n_evaluations_} dissimilarities"
        )
    text = f"{name}, {len(layer.hits_)} prototypes, {layer.n_iter_} epochs"
    if hasattr(layer, "quantization_error_"):
        ended = "converged" if layer.converged_ else "not converged"
        text += f", {ended}, quantization error {layer.quantization_error_:.6g}"
    return text


@cli.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list for machines.")
def metrics(names: tuple[str, ...], as_json: bool) -> None:
    """List the metrics: all of them, or those NAMES with their parameters.

    Example: medianmap metrics edit alignment
    """
    from .metrics import bind
    from .metrics.listing import describe

    for name in names:
        bind(name)
    records = [record for record in describe() if not names or record["name"] in names]
    if as_json:
        click.echo(json.dumps(records, indent=1))
        return
    for accepts in dict.fromkeys(record["accepts"] for record in records):
        console().print(_metrics_table(accepts, [record for record in records if record["accepts"] == accepts]))


def _metrics_table(accepts: str, records: list[dict[str, Any]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        "name", "what it is, and its parameters", "symmetric", "extra", title=f"of {accepts}", title_justify="left"
    )
    for record in records:
        lines = [f"  {p['name']}={p['default']!r}: {p['meaning']}" for p in record["parameters"]]
        about = Text("\n".join([record["summary"], *lines]))
        table.add_row(record["name"], about, record["symmetric"], record["extra"] or "")
    return table


def parse_grid(text: str) -> tuple[int, int]:
    """'6x8' -> (6, 8)."""
    sides = text.lower().split("x")
    if len(sides) != 2 or not all(side.isdecimal() and int(side) > 0 for side in sides):
        raise click.BadParameter(f"{text!r} is not ROWSxCOLUMNS, for example 6x8.", param_hint="--grid")
    return int(sides[0]), int(sides[1])


def console() -> Console:
    """Colours on a terminal (or where FORCE_COLOR asks), plain text in a pipe."""
    from rich.console import Console

    # Off a terminal rich assumes 80 columns and would wrap the map.
    return Console(width=None if sys.stdout.isatty() else 120, highlight=False)


def main(args: list[str] | None = None) -> Any:
    """Run the command; a user's mistake is one sentence on stderr and exit code 2, a failure exit code 1."""
    try:
        cli.main(args, prog_name="medianmap")
    except (
        ValueError,
        ModuleNotFoundError,
        FileNotFoundError,
        FileExistsError,
        NotADirectoryError,
        IsADirectoryError,
        PermissionError,
    ) as error:
        click.echo(f"medianmap: {error}", err=True)
        sys.exit(2)
    except (OSError, MemoryError) as error:
        click.echo(f"medianmap: {error or 'out of memory'}", err=True)
        sys.exit(1)
