"""`run_fit`: from a file to a folder with model, tables, summary, configuration and page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets import load_globins
from ..estimators.model_file import save
from ..explore.health import Health, check_dissimilarity
from ..predict.assign_all import Answers, assign_all
from ..predict.nearest import nearest_of, outliers
from ..report import report as make_report
from ..report.summary import MOST_COMPUTED, summarize, written
from ..sources import Source
from ..utils.files import counted, fasta_lines, tsv_lines, write_lines, write_text
from ..utils.progress import followed, step
from ..utils.threads import limited
from .config import about_file, config_text
from .folder import Workshop, workshop
from .inputs import Given, check_metric_fits, default_metric, length_of, metric_note, read_given
from .settings import FitSettings, check_settings, completed, in_patches, sized
from .terminal import Watch
from .training import ObjectStream, compared, computed, matrix_of, trained, trained_in_patches, trained_on_stream

# Points whose dissimilarities are looked at for their health; all entries between them are read.
MOST_CHECKED = 4000
# Stages whose share says how far a fit has come.
COUNTED = ("dissimilarities", "epochs", "patches")


@dataclass(frozen=True)
class FitResult:
    """What a fit leaves: the model, its summary (as in summary.json), the settings in full, and the files.

    points : the table of `two_best`; None of a stream.
    """

    model: Any
    summary: dict[str, Any]
    settings: FitSettings
    points: NDArray[Any] | None
    out: Path
    files: tuple[Path, ...]


def run_fit(
    settings: FitSettings,
    out: str | Path,
    *,
    force: bool = False,
    report: bool = True,
    gzip: bool = False,
    scheduler: str | None = None,
    watch: Watch | None = None,
    recorded: Mapping[str, Any] | None = None,
) -> FitResult:
    """Fit the file that `settings.input` names and write the folder `out`, all of it or nothing.

    force : replace the files of an earlier fit in a folder that is not empty.
    report : write report.html, too. gzip : pack the tables.
    scheduler : address of a Dask scheduler that runs the patches of a tree.
    watch : told of every stage, and of what is chosen or looks wrong.
    recorded : what a configuration says of the data that it was made with; a difference is told.

    Interrupted by Ctrl-C, it raises KeyboardInterrupt with a sentence that says what is kept; the same call goes on.
    """
    watch = watch or Watch()
    if scheduler is not None:
        settings = replace(settings, tree=True)
    check_settings(settings)
    with workshop(Path(out), force) as shop, _going_on(shop, watch):
        step("reading", 0, None)
        about = about_file(settings.input)
        if recorded and recorded.get("sha256", about.get("sha256")) != about.get("sha256"):
            watch.tell(f"{settings.input} is not the file that the configuration was made with; the map will differ.")
        if settings.stream:
            return _fit_stream(settings, about, shop, scheduler, gzip=gzip, watch=watch)
        given = read_given(settings.input, settings.read, settings.labels)
        return _fit_given(settings, given, about, shop, scheduler, report=report, gzip=gzip, watch=watch)


def _fit_given(
    settings: FitSettings,
    given: Given,
    about: Mapping[str, Any],
    shop: Workshop,
    scheduler: str | None = None,
    *,
    report: bool = True,
    gzip: bool = False,
    watch: Watch,
) -> FitResult:
    """The same of points that are read already."""
    settings, notes = _settled(settings, given, len(given))
    if given.source is None:  # before long work; of a matrix after it is known to be one
        _tell(notes, watch)
    if not settings.patch:
        source = compared(settings, given, shop)
        health = _checked(matrix_of(source), given, settings, MOST_CHECKED)
    else:
        source = computed(settings, given) if given.source is None else given.source
        health = _checked(source, given, settings, MOST_COMPUTED)
    warnings = [f"{given.name}: {finding.sentence}" for finding in health.findings if finding.level == "warning"]
    _tell(warnings if given.source is None else notes + warnings, watch)
    if not settings.patch:
        fitted = trained(settings, given, source)
    else:
        fitted = trained_in_patches(settings, given, shop, scheduler)
    step("summary", 0, None)
    facts = summarize(fitted.model, fitted.source, ids=given.ids, y=given.labels, points=fitted.points,
                      pairs=fitted.source, seed=settings.seed)  # fmt: skip
    summary = {"metric": settings.metric, "seed": settings.seed, **written(facts), "health": health.as_dict()}
    texts = {
        "assignments.tsv": assignment_lines(fitted.model, fitted.points, given),
        **prototype_lines(given, summary["neurons"]),
    }
    write_lines({shop.files / (f"{name}.gz" if gzip else name): lines for name, lines in texts.items()})
    if report:
        step("report", 0, None)
        shown = {name: value for name, value in vars(settings).items() if value not in (None, {}, False)}
        write_text(shop.files / "report.html", page(fitted.model, given, fitted.points, health, shown))
    data = {"objects": len(given), "kind": _kind(given), **about}
    return _delivered(shop, settings, fitted.model, summary, data, fitted.points)


def _fit_stream(
    settings: FitSettings, about: Mapping[str, Any], shop: Workshop, scheduler: str | None, *, gzip: bool, watch: Watch
) -> FitResult:
    """The same of a file that is read as a stream, a patch at a time; assignments need a file to read again."""
    stream = ObjectStream(settings)
    settings, notes = _settled(settings, stream.head, None)
    _tell(notes, watch)
    again, packed = settings.input != "-", ".gz" if gzip else ""
    n = length_of(settings.input, stream.format) if again else None
    model, exemplars = trained_on_stream(settings, stream, shop, scheduler, n)
    summary = {"metric": settings.metric, "seed": settings.seed, "n_points": model.n_samples_seen_,
               **written(summarize(model))}  # fmt: skip
    if again:
        table = shop.path / f"assignments.tsv{packed}"
        assigned = assign_all(model, stream.records(), table, n_jobs=settings.threads)
        summary["quality"] = {"quantization_error": assigned.quantization_error}
        table.rename(shop.files / table.name)
    for name, lines in prototype_lines(exemplars, summary["neurons"]).items():
        write_lines({shop.files / (name + packed): lines})
    data = {"objects": model.n_samples_seen_, "kind": _kind(exemplars), **about}
    return _delivered(shop, settings, model, summary, data, None)


def _delivered(
    shop: Workshop,
    settings: FitSettings,
    model: Any,
    summary: dict[str, Any],
    data: Mapping[str, Any],
    points: NDArray[Any] | None,
) -> FitResult:
    """The folder with the last of its files in it."""
    save(model, shop.files / "model.mmap")
    write_lines({
        shop.files / "summary.json": [json.dumps(summary, indent=1)],
        shop.files / "config.toml": [config_text(settings, data).rstrip("\n")],
    })  # fmt: skip
    names = sorted(file.name for file in shop.files.iterdir())
    shop.deliver()
    return FitResult(model, summary, settings, points, shop.out, tuple(shop.out / name for name in names))


@contextmanager
def _going_on(shop: Workshop, watch: Watch) -> Iterator[None]:
    """Tells the watch how far a fit has come, and after Ctrl-C what is left and how to go on."""
    reached = "it was at the reading"

    def follow(stage: str, done: int, total: int | None) -> None:
        nonlocal reached
        counts = total and stage in COUNTED
        reached = f"{done / total:.0%} of the {stage} were done" if total and counts else f"it was at the {stage}"
        watch.progress(stage, done, total)

    try:
        with followed(follow):
            yield
    except KeyboardInterrupt:
        if not (shop.path.exists() and shop.keeps):
            raise KeyboardInterrupt(f"stopped, nothing was written ({reached}); run the same command again.") from None
        raise KeyboardInterrupt(
            f"stopped; {reached}, and {shop.path} keeps {shop.keeps}: run the same command again to go on, "
            "or delete that folder."
        ) from None


def _tell(notes: Iterable[str], watch: Watch) -> None:
    for note in notes:
        watch.tell(note)


def _settled(settings: FitSettings, given: Given, n: int | None) -> tuple[FitSettings, list[str]]:
    """The settings with all that the data decide, and what to say of that; mistakes in them are found here.

    n : number of objects; None of a stream, of which `given` is the beginning.
    """
    metric = settings.metric or default_metric(given)
    check_metric_fits(given, metric)
    patched = in_patches(settings, n or 0) if given.source is None else settings
    chosen = completed(sized(patched, n or patched.patch or 0, given.name), metric)
    unlabelled = given.labels is not None and all(label is None for label in given.labels)
    if settings.beta is not None and unlabelled:
        raise ValueError(f"--labels {settings.labels}: no point has a label, so there is nothing for --beta to weigh.")
    if given.source is None:
        try:
            computed(chosen, given)
        except ValueError as error:
            raise ValueError(f"{given.name}: {error}") from None
    notes = [f"{given.name}: {given.note}"] if given.note else []
    if unlabelled and settings.labels is not None:
        notes.append(f"--labels {settings.labels}: no point has a label; the map is without.")
    if settings.metric is None and given.source is None:
        notes.append(metric_note(given, metric))
    if chosen.patch and settings.patch is None and not settings.stream:
        notes.append(
            f"the {n} objects of {given.name} are mapped in one pass over patches of {chosen.patch}; "
            "--patch 0 would compare all pairs."
        )
    if settings.n_prototypes is None:
        many = "objects of a stream" if n is None else counted(n, "object")
        notes.append(f"without --grid or -k the map has {counted(chosen.n_prototypes or 1, 'prototype')} for {many}.")
    return chosen, notes


def _kind(given: Given) -> str:
    return "sequences" if given.sequences else given.kind


def _checked(source: Source, given: Given, settings: FitSettings, most: int) -> Health:
    """The health of the dissimilarities; what no map can use is an error."""
    with limited(1):  # the same bits everywhere; small eigenproblems are slower on more
        health = check_dissimilarity(source, seed=settings.seed, max_points=most)
    wrong = [finding.sentence for finding in health.findings if finding.level == "error"]
    if wrong:
        raise ValueError(f"{given.name}: {wrong[0]}")
    return health


# --- the texts of the folder


def assignment_lines(model: Any, points: NDArray[Any], given: Given) -> Iterable[str]:
    """assignments.tsv: one row per point, with the columns of `medianmap predict`, then outlier and label."""
    answers = Answers(model)
    outlier = np.zeros(len(points), int)
    outlier[outliers(points)["point"]] = 1
    columns = [*answers.columns, "outlier"]
    cells: list[Any] = [*answers.cells(given.ids, nearest_of(points)), outlier.tolist()]
    if given.labels is not None:
        columns.append("label")
        cells.append(given.labels)
    return tsv_lines(columns, zip(*cells, strict=True))


def prototype_lines(given: Given, neurons: list[dict[str, Any]]) -> dict[str, Iterable[str]]:
    """prototypes.fasta of sequences, prototypes.tsv of all else: one record per neuron, in their order."""
    exemplars = [] if given.objects is None else [given.objects[n["exemplar"]] for n in neurons]
    if given.sequences:
        headers = [_header(neuron, given) for neuron in neurons]
        return {"prototypes.fasta": fasta_lines(zip(headers, exemplars, strict=True))}
    columns = [name for name in neurons[0] if name != "exemplar"]
    rows: list[list[Any]] = [[neuron[name] for name in columns] for neuron in neurons]
    if given.kind == "strings":
        columns.append("string")
        rows = [[*row, each] for row, each in zip(rows, exemplars, strict=True)]
    elif given.kind == "vectors":
        columns += given.columns or [f"x{k}" for k in range(len(exemplars[0]))]
        rows = [[*row, *each.tolist()] for row, each in zip(rows, exemplars, strict=True)]
    return {"prototypes.tsv": tsv_lines(columns, rows)}


def _header(neuron: dict[str, Any], given: Given) -> str:
    """The id, the description in the file, and the place on the map."""
    place = [f"{name}={neuron[name]:g}" for name in ("neuron", "row", "column", "hits") if name in neuron]
    about = given.descriptions[neuron["exemplar"]] if given.descriptions else ""
    return " ".join(filter(None, [neuron["exemplar_id"], about, *place]))


def page(
    model: Any,
    given: Given,
    points: NDArray[Any],
    health: Health | None,
    settings: Mapping[str, Any],
    title: str | None = None,
) -> str:
    """report.html of the points `given`; `points` is their table of `two_best`."""
    title = title or f"{Path(given.name).name}: {_number_of(given)}"
    return make_report(
        model, given.data, ids=given.ids, y=given.labels, points=points, title=title, health=health, settings=settings
    ).html


def _number_of(given: Given) -> str:
    """'630 sequences', '1 series', '20 points' of a matrix."""
    if given.kind == "series":
        return f"{len(given)} series"
    kinds = {"dissimilarities": "point"}
    return counted(len(given), "sequence" if given.sequences else kinds.get(given.kind, given.kind.removesuffix("s")))


# --- the demonstration: what `medianmap fit` does, on the globins that come with the library

GLOBINS = Path(str(files("medianmap.datasets") / "globins.fasta"))


def run_demo(
    out: Path,
    grid: tuple[int, int],
    seed: int,
    watch: Watch | None = None,
    *,
    threads: int | None = None,
    force: bool = False,
) -> FitResult:
    """Fit a median SOM of 630 globins by alignment, and write what a fit writes."""
    globins = load_globins()
    settings = FitSettings(str(GLOBINS), grid=grid, metric="alignment", labels="header", seed=seed, threads=threads)
    check_settings(settings)
    given = Given(GLOBINS.name, list(globins.ids), "strings", list(globins.sequences), sequences=True,
                  descriptions=list(globins.families), labels=list(globins.families))  # fmt: skip
    watch = watch or Watch()
    with workshop(out, force) as shop, _going_on(shop, watch):
        return _fit_given(settings, given, about_file(GLOBINS), shop, watch=watch)
