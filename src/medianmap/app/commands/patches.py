"""`medianmap patches`: one pass over a file of any length, into a model and a table of its exemplars."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...utils.tables import counted, tsv_lines, write_lines
from ..config import CONFIG, command_text
from ..inputs import length_of
from ..settings import MAPS, FitSettings, check_settings, force_option, grid_text, gzip_option, make_map, option
from ..terminal import close, shows_progress, speaking, watched

if TYPE_CHECKING:
    from ...patches.clusterer import PatchClusterer

USUAL_K = 50


@click.command()
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@option("metric", required=True)
@option("params")
@option("read")
@click.option("--map", "kind", type=click.Choice(MAPS), default="gas", show_default=True, help="Which map.")
@click.option("-k", "n_clusters", type=click.IntRange(1), help=f"Prototypes of gas and kmeans; {USUAL_K} by default.")
@option("grid")
@option("neighborhood")
@option("annealing")
@option("refine")
@click.option("--patch-size", type=click.IntRange(1), default=1000, show_default=True, help="Points of a patch.")
@click.option("--max-evaluations", type=click.IntRange(1), default=None, help="Budget of dissimilarities.")
@click.option("--checkpoint", type=click.Path(path_type=Path), default=None, help="File to go on from if killed.")
@click.option("--tree", is_flag=True, help="Cluster patches by themselves, in parallel, then their prototypes.")
@click.option("--scheduler", default=None, metavar="ADDRESS", help="Dask scheduler to run the tree on.")
@option("threads")
@option("seed")
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to write.")
@force_option
@gzip_option
@speaking
def patches(file: Path, out: Path, gzip: bool, force: bool, read: dict[str, Any], **options: Any) -> None:
    """Map the sequences, strings or vectors of INPUT in one pass, patch by patch, in memory that does not grow.

    Writes model.mmap, prototypes.tsv and config.toml. With --checkpoint the same command goes on after a run that
    was killed. Ids are not compared with each other; those of standard input are kept in memory.

    Example: medianmap patches words.txt --metric edit -k 5 --patch-size 100 -o words-map
    """
    from ...estimators.model_file import save
    from ..folder import workshop

    clusterer, source = built(**options), _Objects(file, read)
    table = "prototypes.tsv.gz" if gzip else "prototypes.tsv"
    with workshop(out, force) as shop, watched() as watch:  # its files are among those of a fit
        length = _length(file)
        clusterer.set_params(on_patch=lambda record: watch.progress("patches", record.n_samples_seen, length))
        watch.progress("patches", 0, length)
        try:
            clusterer.fit(iter(source))
        except KeyboardInterrupt:
            again = "the same command goes on" if options["checkpoint"] else "with --checkpoint it could go on"
            raise KeyboardInterrupt(f"stopped; {again} where it was.") from None
        clusterer.set_params(on_patch=None, checkpoint=None, client=None)
        ids = source.ids_at(clusterer.medoid_indices_.tolist())
        for layer in (clusterer, clusterer.map_):
            layer.prototype_ids_ = ids
        rows = zip(range(len(ids)), ids, clusterer.medoid_indices_, clusterer.multiplicities_, strict=True)
        lines = tsv_lines(["prototype", "id", "place", "multiplicity"], ((*row, f"{m:g}") for *row, m in rows))
        save(clusterer, shop.files / "model.mmap")
        config = _config(file, source.options, clusterer, options).rstrip("\n").split("\n")
        write_lines({shop.files / table: lines, shop.files / CONFIG: config})
        shop.deliver()
    stopped = ", stopped by the budget" if clusterer.stopped_early_ else ""
    close(
        f"{counted(clusterer.n_samples_seen_, 'object')} in {clusterer.n_patches_} "
        f"{'patch' if clusterer.n_patches_ == 1 else 'patches'}{stopped}, {clusterer.n_evaluations_} dissimilarities. "
        f"Wrote model.mmap, {table}, {CONFIG} into {out}"
    )


class _Objects:
    """The objects of a file as a stream, and the ids of some of them after it."""

    def __init__(self, file: Path, options: dict[str, Any]) -> None:
        self.file, self.options = file, options
        self.kept: list[str] | None = [] if str(file) == "-" else None  # a pipe cannot be read again

    def __iter__(self) -> Iterator[Any]:
        from ...readers import iter_records

        for record in iter_records(self.file, **self.options):
            if self.kept is not None:
                self.kept.append(record.id)
            yield record.object

    def ids_at(self, places: list[int]) -> list[str]:
        """The ids at these places; reading a long file once more costs less than keeping all of its ids."""
        from ...readers import iter_records

        if self.kept is not None:
            return [self.kept[place] for place in places]
        wanted, found = set(places), {}
        for place, record in enumerate(iter_records(self.file, **self.options)):
            if place in wanted:
                found[place] = record.id
        return [found[place] for place in places]


def _config(file: Path, read: dict[str, Any], clusterer: PatchClusterer, options: dict[str, Any]) -> str:
    """config.toml: what decides the pass, with all parameters of the map."""
    from ..config import about_file

    map_: Any = clusterer.estimator
    plain = {name: value for name, value in map_.get_params(deep=False).items() if isinstance(value, str | float | int)}
    values = {
        "input": str(file),
        "map": options["kind"],
        "grid": options["grid"] and grid_text(options["grid"]),
        "patch_size": clusterer.patch_size,
        "merge": clusterer.merge,
        "max_evaluations": clusterer.max_evaluations,
        **{name: value for name, value in plain.items() if name not in ("verbose", "n_jobs")},
        "threads": options["threads"],
        "metric_params": dict(map_.metric_params or {}),
        "read": read,
    }
    return command_text(
        values, {"objects": clusterer.n_samples_seen_, "patches": clusterer.n_patches_, **about_file(file)}
    )


def built(
    *,
    metric: str,
    params: dict[str, Any],
    kind: str,
    n_clusters: int | None,
    grid: tuple[int, int] | None,
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
    from ...patches.clusterer import PatchClusterer

    if (kind == "som") != (grid is not None):
        raise click.UsageError("--grid goes with --map som, and --map som needs it, for example --grid 6x8.")
    if kind == "som" and n_clusters is not None:
        raise click.UsageError("-k goes with --map gas and kmeans; the neurons of a SOM are given as --grid.")
    if metric == "precomputed":
        raise ValueError("Dissimilarities cannot be streamed in patches; medianmap fit --patch SIZE goes through them.")
    k = None if grid else n_clusters or USUAL_K
    settings = FitSettings("", kind, grid=grid, k=k, metric=metric, params=params, seed=seed, **training)
    check_settings(settings)
    map_ = make_map(settings)
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
    from ...readers import format_of
    from ...readers.opening import opening

    if not shows_progress() or str(file) == "-":
        return None
    with opening(file) as opened:
        found = format_of(opened, None, {}).name
    return length_of(file, found)
