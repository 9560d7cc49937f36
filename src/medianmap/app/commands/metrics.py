"""`medianmap metrics`: the metrics and their parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..options import console, speaking

if TYPE_CHECKING:
    from rich.table import Table


@click.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list for machines.")
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
