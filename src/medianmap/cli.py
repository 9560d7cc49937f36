"""The command line: parsing and printing only. Data goes to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._version import __version__

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Commands with a module of their own, imported when they are called: `medianmap --version` waits for none of them.
COMMANDS = {
    "assign": "Find the nearest prototypes of every object in a file of any length.",
    "check": "Say whether dissimilarities can be used, and what they are like.",
    "distances": "Compute the dissimilarities of all pairs of objects.",
    "fit": "Map a file, and write the map into a folder.",
    "predict": "Place new objects on a map, and tell their classes.",
    "patches": "Map a file of any length in one pass.",
    "report": "Make the HTML page of a map anew.",
    "representatives": "Pick the true medoids of clusters.",
}


class Commands(click.Group):
    """The commands here and those in COMMANDS; Ctrl-C ends each of them with one sentence."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*COMMANDS, *super().list_commands(context)})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return super().get_command(context, name)
        command: click.Command = getattr(import_module(f".commands.{name}", __package__), name)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them for a line each."""
        rows = []
        for name in self.list_commands(context):
            own = self.commands.get(name)
            rows.append((name, COMMANDS[name] if own is None else own.get_short_help_str(80)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt as stop:
            click.echo(f"medianmap: {str(stop) or 'stopped; run the same command again.'}", err=True)
            sys.exit(130)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="medianmap")
def cli() -> None:
    """Topographic maps of data known only by pairwise dissimilarities."""


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
    from .commands.fit import watched
    from .demo import run_demo
    from .fitting.settings import parse_grid
    from .report.text import render

    with watched(quiet=False) as watch:
        result = run_demo(out, parse_grid(grid), seed, watch)
    console().print(render(result.summary))
    click.echo("\nWrote " + ", ".join(str(file) for file in result.files))


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
