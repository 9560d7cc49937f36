"""`medianmap path`: error, silhouette and stability for a list of K, to choose the number of prototypes by."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import note, seed_option, speaking, threads_option
from .reading import param_option, parse_params, read_dissimilarities, read_objects, read_option

if TYPE_CHECKING:
    from ..kpath import KPath

MAPS = {"kmeans": "MedianKMeans", "gas": "MedianNeuralGas"}
STARTS = {"kmeans": 10, "gas": 1}


@click.command()
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("--metric", default="precomputed", show_default=True, metavar="NAME",
              help="How two objects are compared; by default INPUT holds the dissimilarities.")  # fmt: skip
@param_option
@read_option
@click.option("-k", "sizes", required=True, metavar="K,K,...", help="Numbers of prototypes, for example 2,5,10,20.")
@click.option("--map", "kind", type=click.Choice(list(MAPS)), default="kmeans", show_default=True, help="Which map.")
@click.option("--starts", type=click.IntRange(1), default=None, metavar="N",
              help="Starts of every fit, the best of which counts; by default 10 for kmeans, 1 for gas.")  # fmt: skip
@click.option("--stability", type=click.Choice(["halves", "restarts"]), default="halves", show_default=True,
              help="Compare fits to random halves of the data, or fits to all of them from other starts.")  # fmt: skip
@click.option("--restarts", type=click.IntRange(1), default=5, show_default=True, metavar="N",
              help="How many of these fits to compare; 1 leaves stability out.")  # fmt: skip
@seed_option
@threads_option
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The .tsv file to write instead of printing.")
@click.option("--plot", type=click.Path(path_type=Path), help="A picture to draw: .svg, .png or .pdf.")
@speaking
def path(
    file: Path, metric: str, params: tuple[str, ...], reading: tuple[str, ...], sizes: str, kind: str,
    starts: int | None, stability: str, restarts: int, seed: int, threads: int | None, out: Path | None,
    plot: Path | None,
) -> None:  # fmt: skip
    """Fit maps of INPUT with each number of prototypes, and print what speaks for it as a table.

    Columns: n_clusters, quantization_error, inertia, silhouette (of medoids), stability (adjusted Rand index), epochs,
    warm. What they suggest is said on stderr; it is a suggestion.

    Example: medianmap path globins.fasta --metric alignment -k 2,3,4,5,6,8,10,15,20 --plot path.svg
    """
    import medianmap

    from ..files import atomic
    from ..tables import as_tsv

    if plot is not None and plot == out:
        raise click.UsageError(f"{out} cannot hold both the table and the picture; give -o and --plot different names.")
    wanted = parse_sizes(sizes)
    draw = None if plot is None else _drawing(plot)
    metric_params = parse_params(params)
    X = read_dissimilarities(file, reading) if metric == "precomputed" else read_objects(file, reading).objects
    map_ = getattr(medianmap, MAPS[kind])(
        metric=metric, metric_params=metric_params or None, init="k-medoids++", n_init=starts or STARTS[kind],
        random_state=seed, n_jobs=threads,
    )  # fmt: skip
    with ExitStack() as files:
        # Opened before the work: a folder that is not there is found out now.
        targets = {target: files.enter_context(atomic(target)) for target in (out, plot) if target is not None}
        found = medianmap.k_path(map_, X, wanted, n_restarts=restarts, stability=stability)
        text = as_tsv(found.as_records())
        if out is None:
            click.echo(text, nl=False)
        else:
            targets[out].write(text.encode())
        if plot is not None:
            assert draw is not None
            draw(found, targets[plot])
    note(_told(found, list(targets)))


def parse_sizes(text: str) -> list[int]:
    """'2,5,10' -> [2, 5, 10]."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 2,5,10,20.", param_hint="-k")
    return [int(part) for part in parts]


def _drawing(plot: Path) -> Any:
    """The function that draws a path into an open file; what it needs is there, and the name says a known format."""
    from ..extras import require

    mpl = require("matplotlib", "plot", "Drawing")
    kind = plot.suffix.removeprefix(".").lower()
    if kind not in ("svg", "png", "pdf"):
        raise click.BadParameter(f"{plot} does not end in .svg, .png or .pdf.", param_hint="--plot")
    from ..plot import KPathDisplay

    def draw(found: KPath, file: Any) -> None:
        mpl.use("agg")
        # Without date and random names the same path is the same file.
        date = {"svg": "Date", "pdf": "CreationDate"}.get(kind)
        with mpl.rc_context({"svg.hashsalt": "medianmap"}):
            figure = KPathDisplay.from_path(found).figure_
            figure.savefig(file, format=kind, dpi=150, metadata={date: None} if date else None)

    return draw


def _told(found: KPath, written: list[Path]) -> str:
    """One sentence on what the table suggests, and where it is."""
    from ..kpath import SUGGESTIONS

    best = []
    for by in SUGGESTIONS:
        try:
            best.append(f"K = {found.best(by)} by {by}")
        except ValueError:
            continue
    said = f"suggested, not proven: {', '.join(best)}." if best else "no K of 2 and more, so nothing is suggested."
    return said + (f" Wrote {', '.join(map(str, written))}" if written else "")
