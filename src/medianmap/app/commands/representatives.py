"""`medianmap representatives`: the true medoids of clusters that MMseqs2, Foldseek or CD-HIT made."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ...utils.files import fasta_lines, first_few, tsv_lines, write_lines
from ..estimates import refuse_long_work
from ..inputs import Given, about_file, chosen_metric, read_given
from ..output import close, note, speaking, watched, workshop
from ..settings import CONFIG, force_option, gzip_option, option, spreadsheet_option, toml_text

if TYPE_CHECKING:
    from ...explore.representatives import Representatives
    from ...readers.clusters import Clusters

FILES = ("representatives.tsv", "members.tsv", "coverage.tsv", "representatives.fasta")


@click.command()
@click.argument("clusters", metavar="CLUSTERS", type=click.Path(path_type=Path))
@click.argument("file", metavar="INPUT", type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to write.")
@option("metric")
@option("params")
@option("read")
@click.option("--max-members", type=click.IntRange(2), default=None, metavar="N",
              help="Find medoids of larger clusters in a random sample of N members; by default in all.")  # fmt: skip
@click.option("--outlier-mads", type=click.FloatRange(0), default=3.0, show_default=True, metavar="X",
              help="An outlier is farther from the medoid than median + X MAD of its cluster.")  # fmt: skip
@force_option
@gzip_option
@spreadsheet_option
@option("seed")
@option("threads")
@speaking
def representatives(
    clusters: Path, file: Path, out: Path, metric: str | None, params: Mapping[str, Any], read: Mapping[str, Any],
    max_members: int | None, outlier_mads: float, force: bool, gzip: bool, seed: int, threads: int | None,
) -> None:  # fmt: skip
    """Pick the true medoid of each of the CLUSTERS of the points in INPUT, and flag outliers.

    CLUSTERS is the two-column .tsv of MMseqs2 or Foldseek (representative, member) or the .clstr of CD-HIT, plain or
    .gz; INPUT holds what was clustered. Writes representatives.tsv, members.tsv, coverage.tsv and, of sequences,
    representatives.fasta; config.toml says how it was made. Outliers are looked for in clusters of 5 members or more.

    \b
    Example:
      medianmap representatives run_cluster.tsv proteins.fasta -o medoids --threads -1
    """
    from ...readers.clusters import read_clusters
    from ...utils.threads import n_threads

    if str(clusters) == str(file) == "-":
        raise click.UsageError("CLUSTERS and INPUT cannot both be standard input; write one of them to a file.")
    every = (*FILES, *(f"{name}.gz" for name in FILES), CONFIG)
    with workshop(out, force, every, (clusters, file)) as shop, watched():
        try:
            wanted, given = read_clusters(clusters), read_given(str(file), read)
            metric, params = chosen_metric(given, metric, params)
            if given.source is not None and given.source.ids is None:
                raise ValueError(
                    f"{file} has no ids, so its points cannot be found in the clusters; give a matrix with ids."
                )
            pairs = sum(min(len(each), max_members or len(each)) ** 2 for each in wanted.members) / 2
            if given.source is None:
                fewer = ", or compare fewer members of each cluster: --max-members"
                refuse_long_work(given.name, given.objects, metric, params, n_threads(threads), pairs, fewer)
            from ...explore.representatives import representatives as find  # seconds, which no refusal waits for

            found = find(wanted, given.ids, given.data, metric, metric_params=dict(params), max_members=max_members,
                         outlier_mads=outlier_mads, seed=seed, n_jobs=threads)  # fmt: skip
            values = {"clusters": str(clusters), "input": str(file), "metric": metric, "max_members": max_members,
                      "outlier_mads": outlier_mads, "seed": seed, "threads": threads, "params": params,
                      "read": read}  # fmt: skip
            sums = {"objects": len(given), **about_file(file), "clusters": about_file(clusters)}
            said = f"{_command_line(click.get_current_context())}\nrepeats the run into a new folder DIR."
            config = toml_text(said, values, sums)  # no `--config` reads it
            names = write_representatives(shop.files, wanted, found, given, config, gzip)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "stopped, and nothing was written; run the same again, or with --max-members for less work."
            ) from None
        shop.deliver()
    _tell(wanted, found, given.ids, file, [out / name for name in names])


def write_representatives(
    folder: Path, clusters: Clusters, found: Representatives, given: Given, config: str, gzip: bool
) -> list[str]:
    """Write the tables, for strings a FASTA file too, and config.toml; all are complete before the first is moved."""
    from ...explore.representatives import coverage

    ids = given.ids
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
    if given.kind == "strings":
        texts["representatives.fasta"] = _fasta(given, found.clusters["medoid"].tolist())
    packed = {folder / (f"{name}.gz" if gzip else name): lines for name, lines in texts.items()}
    return [file.name for file in write_lines({**packed, folder / CONFIG: config.rstrip("\n").split("\n")})]


def _fasta(given: Given, places: list[int]) -> Iterator[str]:
    about = given.descriptions or [""] * len(given)
    return fasta_lines((f"{given.ids[k]} {about[k]}", str(given.objects[k])) for k in places)


def _tell(given: Clusters, found: Representatives, ids: list[str], file: Path, written: list[Path]) -> None:
    table, n = found.clusters, len(found.members)
    left = [ids[k] for k in found.unclustered]
    if left:
        verb = "is" if len(left) == 1 else "are"
        note(f"{len(left)} of {len(ids)} points in {file} {verb} in no cluster and left out: {first_few(left)}.")
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


def _command_line(context: click.Context) -> str:
    """What was asked for, ready to be typed again; DIR takes the place of the folder."""
    words, arguments = ["medianmap", str(context.info_name)], []
    for parameter in context.command.params:
        name = parameter.name or ""
        value = context.params.get(name)
        given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if value is None or not given or name in ("out", "force"):  # those belong to that run alone
            continue
        if isinstance(parameter, click.Argument):
            arguments.append(str(value))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[-1])
        elif isinstance(value, Mapping):
            for key, each in value.items():
                words += [parameter.opts[-1], f"{key}={each if isinstance(each, str) else json.dumps(each)}"]
        else:
            words += [parameter.opts[-1], str(value)]
    dashed = any(each.startswith("-") and each != "-" for each in arguments)
    return shlex.join([*words, "-o", "DIR", *(["--"] if dashed else []), *arguments])
