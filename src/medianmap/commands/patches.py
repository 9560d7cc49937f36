"""`medianmap patches`: one pass over a file of any length, into a model and a table of its exemplars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..fitting.settings import MAPS, check_neighborhood_fits, make_map, parse_grid
from ..writers import tsv_lines, write_lines
from .assign import length_of
from .folders import folder_for, force_option
from .maps import trained
from .options import close, gzip_option, seed_option, shows_progress, speaking, threads_option
from .progress import progress_bar
from .reading import param_option, parse_params
from .repeating import CONFIG, config_lines

if TYPE_CHECKING:
    from ..patches.clusterer import PatchClusterer


@click.command()
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("--metric", required=True, metavar="NAME", help="How two objects are compared.")
@param_option
@click.option("--map", "kind", type=click.Choice(MAPS), default="gas", show_default=True, help="Which map.")
@click.option("-k", "n_clusters", type=click.IntRange(1), default=50, show_default=True, help="Number of prototypes.")
@click.option("--grid", default=None, metavar="ROWSxCOLUMNS", help="Neurons of a SOM.")
@trained
@click.option("--patch-size", type=click.IntRange(1), default=1000, show_default=True, help="Points of a patch.")
@click.option("--max-evaluations", type=click.IntRange(1), default=None, help="Budget of dissimilarities.")
@click.option("--checkpoint", type=click.Path(path_type=Path), default=None, help="File to go on from if killed.")
@click.option("--tree", is_flag=True, help="Cluster patches by themselves, in parallel, then their prototypes.")
@click.option("--scheduler", default=None, metavar="ADDRESS", help="Dask scheduler to run the tree on.")
@threads_option
@seed_option
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write.")
@force_option
@gzip_option
@speaking
def patches(file: Path, out: Path, gzip: bool, force: bool, **options: Any) -> None:
    """Map the sequences, strings or vectors of INPUT in one pass, patch by patch, in memory that does not grow.

    Writes model.mmap, prototypes.tsv and config.toml. With --checkpoint the same command goes on after a run that
    was killed.

    Example: medianmap patches words.txt --metric edit -k 5 --patch-size 100 -o words-map
    """
    from ..persistence import save
    from ..readers import iter_records

    clusterer, table = built(**options), "prototypes.tsv.gz" if gzip else "prototypes.tsv"
    with folder_for(out, ("model.mmap", table, CONFIG), force), progress_bar(length=_length(file)) as report:
        clusterer.set_params(on_patch=lambda record: report(record.n_samples_seen, None, record.seconds))
        try:
            clusterer.fit(record.object for record in iter_records(file))
        except KeyboardInterrupt:
            again = "the same command goes on" if options["checkpoint"] else "with --checkpoint it could go on"
            raise KeyboardInterrupt(f"stopped; {again} where it was.") from None
    clusterer.set_params(on_patch=None, checkpoint=None, client=None)
    save(clusterer, out / "model.mmap")
    # The ids of a few exemplars: reading once more costs less than keeping all ids of a long file.
    places = {int(place): j for j, place in enumerate(clusterer.medoid_indices_)}
    ids = [""] * len(places)
    if str(file) != "-":
        for place, record in enumerate(iter_records(file)):
            if place in places:
                ids[places[place]] = record.id
    rows = zip(range(len(ids)), ids, clusterer.medoid_indices_, clusterer.multiplicities_, strict=True)
    lines = tsv_lines(["prototype", "id", "place", "multiplicity"], ((*row, f"{m:g}") for *row, m in rows))
    config = _config(file, clusterer, options)
    write_lines({out / table: lines, out / CONFIG: config})
    stopped = ", stopped by the budget" if clusterer.stopped_early_ else ""
    close(
        f"{clusterer.n_samples_seen_} objects in {clusterer.n_patches_} patches{stopped}, "
        f"{clusterer.n_evaluations_} dissimilarities. Wrote {out / 'model.mmap'}, {out / table}, {out / CONFIG}"
    )


def _config(file: Path, clusterer: PatchClusterer, options: dict[str, Any]) -> list[str]:
    """config.toml: what a fit has, too, under the same names, and what is peculiar to one pass in a table."""
    from ..config import about_file

    map_: Any = clusterer.estimator
    kind = options["kind"]
    values = {
        "input": str(file),
        "map": kind,
        "grid": options["grid"],
        "k": None if kind == "som" else options["n_clusters"],
        "metric": options["metric"],
        "patch": clusterer.patch_size,
        "epochs": map_.max_iter if kind == "kmeans" else map_.n_epochs,
        "sigma_end": None if kind == "kmeans" else map_.sigma_end,
        "neighborhood": None if kind == "kmeans" else map_.neighborhood,
        "annealing": map_.annealing,
        "refine": map_.refine or "none",
        "seed": options["seed"],
        "threads": options["threads"],
        "params": dict(map_.metric_params or {}),
        "patches": {"merge": clusterer.merge, "max_evaluations": clusterer.max_evaluations},
    }
    data = {"objects": clusterer.n_samples_seen_, "patches": clusterer.n_patches_, **about_file(file)}
    return config_lines(values, data)


def built(
    *,
    metric: str,
    params: tuple[str, ...],
    kind: str,
    n_clusters: int,
    grid: str | None,
    patch_size: int,
    max_evaluations: int | None,
    checkpoint: Path | None,
    tree: bool,
    scheduler: str | None,
    threads: int | None,
    seed: int,
    **training: Any,
) -> PatchClusterer:
    """The clusterer that the options describe."""
    from ..patches.clusterer import PatchClusterer

    if (kind == "som") != (grid is not None):
        raise click.UsageError("--grid goes with --map som, and --map som needs it, for example --grid 6x8.")
    if metric == "precomputed":
        raise ValueError("Dissimilarities cannot be streamed in patches; medianmap fit --patch SIZE goes through them.")
    check_neighborhood_fits(kind, {"--neighborhood": training.get("neighborhood")})
    map_ = make_map(
        kind, None if grid is None else parse_grid(grid), n_clusters,
        metric=metric, metric_params=parse_params(params), random_state=seed, **training,
    )  # fmt: skip
    return PatchClusterer(
        map_,
        patch_size,
        merge="tree" if tree or scheduler else "sequential",
        max_evaluations=max_evaluations,
        checkpoint=checkpoint,
        client=scheduler,
        n_jobs=threads,
    )


def _length(file: Path) -> int | None:
    """How many objects there are, where somebody sees the time left."""
    from ..readers.formats import format_of
    from ..readers.opening import opening

    if not shows_progress() or str(file) == "-":
        return None
    with opening(file) as opened:
        found = format_of(opened, None, {}).name
    return length_of(file, found)
