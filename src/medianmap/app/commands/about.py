"""`medianmap info`: what a model file holds; `metrics`: the metrics; `compile`: what the first fit would compile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...utils.kernels import compiling_told
from ..output import close, console, speaking, watched
from ..settings import model_argument

if TYPE_CHECKING:
    from rich.table import Table


@click.command()
@model_argument
@speaking
def info(model: Path) -> None:
    """Show what a MODEL file contains.

    Example: medianmap info medianmap-demo/model.mmap
    """
    from ...estimators.model_file import load

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
    text = f"{name}, {len(layer.hits_)} neurons, {layer.n_iter_} epochs"
    if hasattr(layer, "quantization_error_"):
        ended = "converged" if layer.converged_ else "not converged"
        text += f", {ended}, quantization error {layer.quantization_error_:.6g}"
    return text


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list for programs.")
@speaking
def metrics(names: tuple[str, ...], as_json: bool) -> None:
    """List the metrics: all of them, or those NAMES with their parameters.

    Example: medianmap metrics edit alignment
    """
    from ...metrics import bind
    from ...metrics.registry import describe

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


@click.command()
@speaking
def compile() -> None:
    """Compile the inner loops now, so that the first fit does not have to.

    Takes about a minute, once after installation. It runs small fits of all maps and keeps what they compile on disk,
    as every fit does. Use it where nobody should have to wait later, for example when building a container image.

    Example: medianmap compile
    """
    compiled: list[str] = []
    with watched(), compiling_told(lambda name, k: compiled.append(name)):
        from ..warm import warm

        warm()
    if compiled:
        close(f"Compiled {len(compiled)} loops; fits of the usual kinds find them on disk.")
    else:
        close("Nothing had to be compiled: all loops of the usual fits are at hand.")
