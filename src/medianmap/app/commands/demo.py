"""`medianmap demo`: the globins on a map, with its files."""

from __future__ import annotations

from pathlib import Path

import click

from ..options import close, console, force_option, seed_option, speaking, threads_option
from ..progress import watched
from ..settings import parse_grid


@click.command()
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("medianmap-demo"),
              show_default=True, help="Folder for the files.")  # fmt: skip
@seed_option
@click.option("--grid", default="6x8", show_default=True, metavar="ROWSxCOLUMNS", help="Neurons of the map.")
@threads_option
@force_option
@speaking
def demo(out: Path, seed: int, grid: str, threads: int | None, force: bool) -> None:
    """Map 630 globins by how their sequences align, and say where each family lies.

    Example: medianmap demo --grid 8x10 -o my-demo
    """
    from ...report.text import render
    from ..demo import run_demo

    with watched() as watch:
        result = run_demo(out, parse_grid(grid), seed, watch, threads=threads, force=force)
    console().print(render(result.summary))
    close("\nWrote " + ", ".join(str(file) for file in result.files))
