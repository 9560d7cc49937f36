"""`medianmap representatives`: the true medoids of clusters that MMseqs2, Foldseek or CD-HIT made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...utils.tables import fasta_lines, first_few, tsv_lines, write_lines
from ..config import CONFIG, config_lines
from ..options import close, force_option, gzip_option, note, seed_option, speaking, threads_option
from ..progress import watched
from ..reading import param_option, parse_named, parse_params, read_dissimilarities, read_objects, read_option

if TYPE_CHECKING:
    from ...explore.representatives import Representatives
    from ...readers import Records
    from ...readers.clusters import Clusters

FILES = ("representatives.tsv", "members.tsv", "coverage.tsv", "representatives.fasta")


@click.command()
@click.argument("clusters", metavar="CLUSTERS", type=click.Path(path_type=Path))
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to write.")
@click.option("--metric", default="alignment", show_default=True, metavar="NAME",
              help="How two members are compared; 'precomputed' if INPUT holds dissimilarities.")  # fmt: skip
@param_option
@read_option
@click.option("--max-members", type=click.IntRange(2), default=None, metavar="N",
              help="Seek medoids of larger clusters in a random sample of N members; by default in all.")  # fmt: skip
@click.option("--outlier-mads", type=click.FloatRange(0), default=3.0, show_default=True, metavar="X",
              help="An outlier is further from the medoid than median + X MAD of its cluster.")  # fmt: skip
@force_option
@gzip_option
@seed_option
@threads_option
@speaking
def representatives(
    clusters: Path, file: Path, out: Path, metric: str, params: tuple[str, ...], reading: tuple[str, ...],
    max_members: int | None, outlier_mads: float, force: bool, gzip: bool, seed: int, threads: int | None,
) -> None:  # fmt: skip
    """Pick the true medoid of each of the CLUSTERS of the objects in INPUT, and flag outliers.

    CLUSTERS is the two-column .tsv of MMseqs2 or Foldseek (representative, member) or the .clstr of CD-HIT, plain or
    .gz; INPUT holds what was clustered. Writes representatives.tsv, members.tsv, coverage.tsv and, of sequences,
    representatives.fasta; config.toml says how it was made. Outliers are told in clusters of 5 members and more.

    Example: medianmap representatives run_cluster.tsv proteins.fasta -o medoids --threads -1
    """
    from ...explore.representatives import representatives as find
    from ...readers.clusters import read_clusters
    from ...utils.progress import followed
    from ..config import about_file
    from ..folder import workshop

    if str(clusters) == str(file) == "-":
        raise click.UsageError("CLUSTERS and INPUT cannot both be standard input; write one of them to a file.")
    metric_params = parse_params(params)
    values = {"clusters": str(clusters), "input": str(file), "metric": metric, "max_members": max_members,
              "outlier_mads": outlier_mads, "seed": seed, "threads": threads, "params": metric_params,
              "read": parse_named(reading, "--read", "kind=matrix")}  # fmt: skip
    with workshop(out, force, (*FILES, *(f"{name}.gz" for name in FILES), CONFIG)) as shop, watched() as watch:
        try:
            with followed(watch.progress):
                given = read_clusters(clusters)
                records, ids, objects = _input(file, metric, reading)
            found = find(given, ids, objects, metric, metric_params=metric_params, max_members=max_members,
                         outlier_mads=outlier_mads, seed=seed, n_jobs=threads, on_progress=watch.progress)  # fmt: skip
            sums = {"objects": len(ids), **about_file(file), "clusters": about_file(clusters)}
            names = write_representatives(shop.files, given, found, ids, records, config_lines(values, sums), gzip)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "stopped, and nothing was written; run the same again, or with --max-members for less work."
            ) from None
        shop.deliver()
    written = [out / name for name in names]
    _tell(given, found, ids, file, written)


def _input(file: Path, metric: str, reading: tuple[str, ...]) -> tuple[Records | None, list[str], Any]:
    """The records where INPUT has any, the ids, and the objects or dissimilarities that they name."""
    if metric != "precomputed":
        records = read_objects(file, reading)
        return records, records.ids, records.objects
    source = read_dissimilarities(file, reading)
    if source.ids is None:
        raise ValueError(f"{file} has no ids, so its points cannot be found in the clusters; give a matrix with ids.")
    return None, list(source.ids), source


def write_representatives(
    folder: Path,
    clusters: Clusters,
    found: Representatives,
    ids: list[str],
    records: Records | None,
    config: list[str],
    gzip: bool,
) -> list[str]:
    """Write the tables, of strings a FASTA file, and config.toml; all are whole before the first takes its place."""
    from ...explore.representatives import coverage

    texts = {
        "representatives.tsv": tsv_lines(
            ("cluster", "old_representative", "medoid", *(found.clusters.dtype.names or ())[2:]),
            (
                (name, ids[old], ids[medoid], *numbers)
                for name, (old, medoid, *numbers) in zip(clusters.names, found.clusters.tolist(), strict=True)
            ),
        ),
        "members.tsv": tsv_lines(
            ["member", "cluster", "to_medoid", "to_old", "outlier"],
            (
                (ids[member], clusters.names[cluster], to_medoid, to_old, int(outlier))
                for member, cluster, to_medoid, to_old, outlier in found.members.tolist()
            ),
        ),
        "coverage.tsv": tsv_lines(["threshold", "old", "medoid"], coverage(found.members).tolist()),
    }
    if records is not None and records.kind == "strings":
        texts["representatives.fasta"] = _fasta(records, found.clusters["medoid"].tolist())
    packed = {folder / (f"{name}.gz" if gzip else name): lines for name, lines in texts.items()}
    return [file.name for file in write_lines({**packed, folder / CONFIG: config})]


def _fasta(records: Records, places: list[int]) -> Iterator[str]:
    about = records.descriptions or [""] * len(records)
    return fasta_lines((f"{records.ids[k]} {about[k]}", str(records.objects[k])) for k in places)


def _tell(given: Clusters, found: Representatives, ids: list[str], file: Path, written: list[Path]) -> None:
    table, n = found.clusters, len(found.members)
    left = [ids[k] for k in found.unclustered]
    if left:
        verb = "is" if len(left) == 1 else "are"
        note(f"{len(left)} of {len(ids)} objects in {file} {verb} in no cluster and left out: {first_few(left)}.")
    sampled = int((table["compared"] < table["size"]).sum())
    if sampled:
        note(f"{sampled} of {len(given)} clusters have their medoid from a sample of --max-members members.")
    changed = int((table["medoid"] != table["old"]).sum())
    close(
        f"{len(given)} clusters of {n} members: {changed} have a medoid other than their representative so far; "
        f"mean dissimilarity to it {found.members['to_old'].mean():.6g}, to the medoid "
        f"{found.members['to_medoid'].mean():.6g}; {int(found.members['outlier'].sum())} outliers. "
        f"Wrote {', '.join(map(str, written))}"
    )
