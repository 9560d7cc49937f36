"""`run_fit`: from a file to a folder with model, tables, summary, configuration and page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..datasets import load_globins
from ..estimators.model_file import save
from ..explore.health import Health, check_dissimilarity
from ..report.summary import MOST_COMPUTED, summarize, written
from ..sources import Source
from ..utils.files import write_text
from ..utils.progress import followed
from ..utils.tables import counted, write_lines
from ..utils.threads import limited
from .config import about_file, config_text
from .folder import Workshop, workshop
from .inputs import Given, check_metric_fits, default_metric, metric_note, read_given
from .page import page
from .settings import FitSettings, check_settings, completed, sized
from .tables import assignment_lines, prototype_lines
from .training import Fitted, compared, computed, matrix_of, trained, trained_in_patches
from .watch import Watch

# Points whose dissimilarities are looked at for their health; all entries between them are read.
MOST_CHECKED = 4000
# Stages whose share says how far a fit has come.
COUNTED = ("dissimilarities", "epochs", "patches")


@dataclass(frozen=True)
class FitResult:
    """What a fit leaves: the model, its summary (as in summary.json), the settings in full, and the files."""

    model: Any
    summary: dict[str, Any]
    settings: FitSettings
    points: NDArray[Any]
    out: Path
    files: tuple[Path, ...]


def run_fit(
    settings: FitSettings,
    out: str | Path,
    *,
    force: bool = False,
    report: bool = True,
    gzip: bool = False,
    watch: Watch | None = None,
    recorded: Mapping[str, Any] | None = None,
) -> FitResult:
    """Fit the file that `settings.input` names and write the folder `out`, all of it or nothing.

    force : replace the files of an earlier fit in a folder that is not empty.
    report : write report.html, too. gzip : pack the tables.
    watch : told of every stage, and of what is chosen or looks wrong.
    recorded : what a configuration says of the data that it was made with; a difference is told.

    Interrupted by Ctrl-C, it raises KeyboardInterrupt with a sentence that says what is kept; the same call goes on.
    """
    watch = watch or Watch()
    check_settings(settings)
    with workshop(Path(out), force) as shop:
        watch.progress("reading", 0, None)
        with followed(watch.progress):
            given = read_given(settings.input, settings.read, settings.labels)
        data = about_data(settings.input, given)
        if recorded and recorded.get("sha256", data.get("sha256")) != data.get("sha256"):
            watch.tell(f"{settings.input} is not the file that the configuration was made with; the map will differ.")
        return fit_given(settings, given, data, shop, report=report, gzip=gzip, watch=watch)


def fit_given(
    settings: FitSettings,
    given: Given,
    data: Mapping[str, Any],
    shop: Workshop,
    *,
    report: bool,
    gzip: bool,
    watch: Watch,
) -> FitResult:
    """The same of points that are read already, into a workshop that is open."""
    stage = Stage(watch)
    try:
        settings, notes = _settled(settings, given)
        if given.source is None:  # before long work; of a matrix after it is known to be one
            _tell(notes, watch)
        if settings.patch is None:
            source = compared(settings, given, shop, stage)
            health = checked(matrix_of(source), given, settings, MOST_CHECKED, stage)
        else:
            source = computed(settings, given) if given.source is None else given.source
            health = checked(source, given, settings, MOST_COMPUTED, stage)
        _tell(_warnings(health, given, notes), watch)
        if settings.patch is None:
            fitted = trained(settings, given, source, stage)
        else:
            fitted = trained_in_patches(settings, given, shop, stage)
        stage.progress("summary", 0, None)
        with followed(stage.progress):
            summary = summary_of(fitted, given, settings, health)
        texts = {
            "assignments.tsv": assignment_lines(fitted, given),
            **prototype_lines(fitted, given, summary["neurons"]),
        }
        save(fitted.model, shop.files / "model.mmap")
        write_lines({shop.files / (f"{name}.gz" if gzip else name): lines for name, lines in texts.items()})
        write_lines({
            shop.files / "summary.json": [json.dumps(summary, indent=1)],
            shop.files / "config.toml": [config_text(settings, data).rstrip("\n")],
        })  # fmt: skip
        if report:
            stage.progress("report", 0, None)
            shown = {name: value for name, value in vars(settings).items() if value not in (None, {})}
            with followed(stage.progress):
                text = page(fitted.model, given, fitted.points, health, shown)
            write_text(shop.files / "report.html", text)
        written = sorted(file.name for file in shop.files.iterdir())
        shop.deliver()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(stage.stopped(shop)) from None
    files = tuple(shop.out / name for name in written)
    return FitResult(fitted.model, summary, settings, fitted.points, shop.out, files)


class Stage(Watch):
    """Passes on what is told, and knows how far a fit has come."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.at, self.share = watch, "reading", ""

    def tell(self, sentence: str) -> None:
        self.watch.tell(sentence)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        self.at, self.share = stage, ""
        if total and stage in COUNTED:
            self.share = f"{done / total:.0%} of the {stage} were done"
        self.watch.progress(stage, done, total)

    def stopped(self, shop: Workshop) -> str:
        """What is left after Ctrl-C, and how to go on."""
        reached = self.share or f"it was at the {self.at}"
        if not (shop.path.exists() and shop.keeps):
            return f"stopped, nothing was written ({reached}); run the same command again."
        return (
            f"stopped; {reached}, and {shop.path} keeps {shop.keeps}: run the same command again to go on, "
            "or delete that folder."
        )


def _tell(notes: Iterable[str], watch: Watch) -> None:
    for note in notes:
        watch.tell(note)


def _warnings(health: Health, given: Given, notes: list[str]) -> list[str]:
    """What is legal but hardly meant; and the notes on a matrix, which were kept back until it was known to be one."""
    found = [f"{given.name}: {finding.sentence}" for finding in health.findings if finding.level == "warning"]
    return found if given.source is None else notes + found


def _settled(settings: FitSettings, given: Given) -> tuple[FitSettings, list[str]]:
    """The settings with all that the data decide, and what to say of that; mistakes in them are found here."""
    metric = settings.metric or default_metric(given)
    check_metric_fits(given, metric)
    chosen = completed(sized(settings, len(given), given.name), metric)
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
    if settings.n_prototypes is None:
        notes.append(
            f"without --grid or -k the map has {counted(chosen.n_prototypes or 1, 'prototype')} for "
            f"{counted(len(given), 'object')}."
        )
    return chosen, notes


def about_data(file: str, given: Given) -> dict[str, Any]:
    """What tells the data from others: their number, and of a file its size and SHA-256."""
    return {"objects": len(given), "kind": "sequences" if given.sequences else given.kind, **about_file(file)}


def checked(source: Source, given: Given, settings: FitSettings, most: int, watch: Watch) -> Health:
    """The health of the dissimilarities; what no map can use is an error."""
    with limited(1), followed(watch.progress):  # the same bits everywhere; small eigenproblems are slower on more
        health = check_dissimilarity(source, seed=settings.seed, max_points=most, on_progress=watch.progress)
    wrong = [finding.sentence for finding in health.findings if finding.level == "error"]
    if wrong:
        raise ValueError(f"{given.name}: {wrong[0]}")
    return health


def summary_of(fitted: Fitted, given: Given, settings: FitSettings, health: Health) -> dict[str, Any]:
    """summary.json."""
    facts = summarize(
        fitted.model, fitted.source, ids=given.ids, y=given.labels, points=fitted.points, pairs=fitted.source,
        seed=settings.seed,
    )  # fmt: skip
    return {"metric": settings.metric, "seed": settings.seed, **written(facts), "health": health.as_dict()}


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
    with workshop(out, force) as shop:
        data = about_data(settings.input, given)
        return fit_given(settings, given, data, shop, report=True, gzip=False, watch=watch or Watch())
