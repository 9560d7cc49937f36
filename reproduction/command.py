"""The command line of `python -m reproduction`: the chapter's experiments beside what it reports."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from medianmap.app.output import close, console, note, shows_progress, speaking, stage_bars
from medianmap.app.settings import option

if TYPE_CHECKING:
    from .tables import Claim, Figure

NAMES = ("iris", "breast-cancer", "patches", "chromosomes", "proteins", "globins", "starts", "truncated", "speed")

logger = logging.getLogger("medianmap")


@click.command()
@click.argument("parts", nargs=-1, metavar="[PART]...", type=click.Choice([*NAMES, "all"]))
@click.option("--data", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Your copies: chromosomes.csv, proteins/D.csv and proteins/labels.csv.")  # fmt: skip
@click.option("--runs", type=click.IntRange(1), metavar="N", help="How many runs of every experiment.")
@click.option("--quick", is_flag=True, help="Few runs of small sizes: does everything work? Under three minutes.")
@click.option(
    "--page", "only_page", is_flag=True, help="Run nothing: write the page of the runs that are in the folder."
)
@click.option("-o", "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reproduced"),
              show_default=True, help="Folder for the page, the pictures, the JSON and the finished runs.")  # fmt: skip
@option("seed")
@option("threads")
@speaking
def reproduce(
    parts: tuple[str, ...],
    data: Path | None,
    runs: int | None,
    quick: bool,
    only_page: bool,
    out: Path,
    seed: int,
    threads: int | None,
) -> None:
    """Run the chapter's experiments and print ours against the chapter's, with standard errors.

    PART is iris, breast-cancer, patches, chromosomes, proteins, globins, starts, truncated, speed or all. Chromosomes
    and proteins need --data; without it all the others run. Interrupted or killed, the same command goes on after the
    last finished run.

    Example: python -m reproduction iris breast-cancer --runs 10
    """
    from . import Plan, runnable
    from . import reproduce as run
    from .page import all_claims, all_figures

    plan = Plan(data, runs, quick, seed, threads, only_page)
    wanted, left_out = runnable(parts, plan)
    if left_out:
        note(f"left out, since your own data are needed with --data: {', '.join(left_out)}.")
    try:
        with stage_bars(shows_progress()) as bars:

            def watch(part: str, what: str, done: int, total: int) -> None:
                bars(part, done, total)
                if what:
                    logger.info("%s: %d of %d done; %s", part, done, total, what)

            found = run(wanted, plan, out, watch)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; the finished runs are kept in {out}, and the same command goes on after them."
        ) from None
    _print(all_figures(found), [claim for claim in all_claims(found) if not claim.holds], quick)
    close(f"Wrote {out / 'reproduction.md'}, its pictures, and every run in {out / 'reproduction.json'}",
          data_on_stdout=True)  # fmt: skip


def _print(figures: list[Figure], broken: list[Claim], quick: bool) -> None:
    """The figures as a table, then the claims that do not hold, or are open."""
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for k, title in enumerate(("part", "", "ours", "runs", "chapter", "difference", "")):
        table.add_column(title, justify="left" if k < 2 else "right", overflow="fold")
    for figure in figures:
        table.add_row(figure.part, *(cell.strip("*") for cell in figure.cells()))
    shown = console()
    shown.print(table)
    if not quick:
        for claim in broken:
            verdict = claim.verdict.replace("*", "")
            shown.print(f"{verdict}: {claim.part}: {claim.what} (measured {claim.measured})", markup=False)
