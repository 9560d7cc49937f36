"""`run_fit`: from a file and settings to a trained model and its folder: tables, summary, configuration and page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..datasets import load_globins
from ..estimators.classifier import PrototypeClassifier
from ..estimators.model_file import save
from ..explore.health import Health, check_dissimilarity
from ..explore.stability import Uncertainty, uncertainty
from ..patches.clusterer import PatchClusterer
from ..patches.one_pass import RunOptions, run_with
from ..predict.assign_all import Answers, assign_all, nearest_of, remember, two_best
from ..predict.queries import ToPrototypes, groups_of, map_of
from ..predict.verdicts import judged
from ..report.html import page_content, render
from ..report.summary import MOST_COMPUTED, summarize, written
from ..sources import ComparedSource, ComputedSource, Source, as_dissimilarity
from ..sources.all_pairs import all_pairs
from ..sources.base import ToPoints, fits
from ..sources.checks import n_apart, n_different
from ..sources.tensors import TensorSource, computed_there, tensor_source
from ..utils.device import bytes_beyond, chosen
from ..utils.files import counted, fasta_lines, tsv_lines, write_lines, write_text
from ..utils.resumable import digest
from ..utils.threads import epochs_watched, followed, limited, n_threads, step
from . import inputs
from .estimates import refuse_long_work
from .inputs import Given, ObjectStream
from .output import Watch, Workshop, workshop
from .settings import SETTINGS, USUAL_PATCH, FitSettings, check_settings, config_text, grid_text, make_map

# The model, the table of `two_best`, and what a check and a summary read dissimilarities from.
Fitted: TypeAlias = tuple[Any, NDArray[Any], Source]

# Points whose dissimilarities are looked at for their health; all entries between them are read.
MOST_CHECKED = 4000
# Stages whose share says how far a fit has come.
COUNTED = ("dissimilarities", "epochs", "patches")


@dataclass(frozen=True)
class FitResult:
    """What a fit leaves.

    points : the table of `two_best`; None of a stream.
    model : the fitted map, classifier or pass over patches.
    summary : as in summary.json.
    settings : the settings in full.
    out : the folder.
    files : what is in it.
    """

    model: Any
    summary: dict[str, Any]
    settings: FitSettings
    points: NDArray[Any] | None
    out: Path
    files: tuple[Path, ...]


def run_fit(
    settings: FitSettings, out: str | Path, *, force: bool = False, report: bool = True, gzip: bool = False,
    scheduler: str | None = None, watch: Watch | None = None, recorded: Mapping[str, Any] | None = None,
    data: Given | ObjectStream | None = None,
) -> FitResult:  # fmt: skip
    """Fit the file that `settings.input` names and write the folder `out`, all of it or nothing.

    settings : what to fit and how.
    out : the folder.
    force : replace the files of an earlier fit in a folder that is not empty.
    report : write report.html, too.
    gzip : pack the tables.
    scheduler : address of a Dask scheduler that runs the patches of a tree.
    watch : is called at every stage, and with what is chosen or looks wrong.
    recorded : what a configuration says of the data that it was made with; a difference is reported.
    data : what `inputs.data_in` read already.

    Interrupted by Ctrl-C, it raises KeyboardInterrupt with a sentence that says what is kept; the same call continues.
    """
    watch = watch or Watch()
    if scheduler is not None:
        settings = replace(settings, tree=True)
    check_settings(settings)
    own = settings.input, settings.labels, settings.exemplars
    with workshop(Path(out), force, given=own) as shop, _going_on(shop, watch):
        step("reading", 0, None)
        about = inputs.about_file(settings.input)
        if recorded and recorded.get("sha256", about.get("sha256")) != about.get("sha256"):
            watch.tell(f"{settings.input} is not the file that the configuration was made with; the map will differ.")
        data = inputs.data_in(settings) if data is None else data
        if isinstance(data, ObjectStream):
            return _fit_stream(settings, data, about, shop, scheduler, gzip=gzip, watch=watch)
        return _fit_given(settings, data, about, shop, scheduler, report=report, gzip=gzip, watch=watch)


def _fit_given(
    settings: FitSettings, given: Given, about: Mapping[str, Any], shop: Workshop, scheduler: str | None = None, *,
    report: bool = True, gzip: bool = False, watch: Watch,
) -> FitResult:  # fmt: skip
    """The same for points that are read already."""
    settings, notes = _settled(settings, given, len(given))
    taken = inputs.exemplars_in(settings, given)
    if given.source is None:  # before long work; of a matrix after it is known to be one
        _tell(notes, watch)
        notes = []
    source = given.source
    if source is None:
        source = computed(settings, given) if settings.patch else compared(settings, given, shop)
    health = _checked(matrix_of(source), given, settings, MOST_COMPUTED if settings.patch else MOST_CHECKED)
    warnings = [f"{given.name}: {finding.sentence}" for finding in health.findings if finding.level == "warning"]
    _tell(notes + warnings, watch)
    fitted_to = source
    if not settings.patch:
        model, points, source = trained(settings, given, source, taken)
    else:
        model, points, source = trained_in_patches(settings, given, source, shop, scheduler)
    sure = None
    if settings.stability is not None:
        how: dict[str, Any] = {"n_resamples": settings.stability, "random_state": settings.seed, "points": points}
        with limited(settings.threads):
            sure = uncertainty(model, fitted_to, **how)
    step("summary", 0, None)
    facts = summarize(model, given.data, ids=given.ids, y=given.labels, points=points, pairs=source, structure=report,
                      seed=settings.seed, sure=sure, metadata=given.metadata)  # fmt: skip
    summary = {"metric": settings.metric, "seed": settings.seed, **written(facts), "health": health.as_dict()}
    texts = {
        "assignments.tsv": assignment_lines(model, points, given, sure),
        **exemplar_lines(given, summary["neurons"]),
    }
    write_lines({shop.files / (f"{name}.gz" if gzip else name): lines for name, lines in texts.items()})
    if report:
        step("report", 0, None)
        shown = {name: value for name, value in vars(settings).items() if value not in (None, {}, False)}
        write_text(shop.files / "report.html", page(facts, given, health, shown))
    data = {"points": len(given), "kind": _kind(given), **about}
    return _delivered(shop, settings, model, summary, data, points)


def _fit_stream(
    settings: FitSettings, stream: ObjectStream, about: Mapping[str, Any], shop: Workshop, scheduler: str | None, *,
    gzip: bool, watch: Watch,
) -> FitResult:  # fmt: skip
    """The same for a file that is read as a stream, a patch at a time; assignments need a file to read again."""
    settings, notes = _settled(settings, stream.head, None)
    _tell(notes, watch)
    again, packed = settings.input != "-", ".gz" if gzip else ""
    n = inputs.length_of(settings.input, stream.format, stream.read) if again else None
    model, exemplars = trained_on_stream(settings, stream, shop, scheduler, n)
    remember(model, stream.head.objects)  # what is usual is taken from the beginning of the file
    summary = {"metric": settings.metric, "seed": settings.seed, "n_points": model.n_samples_seen_,
               **written(summarize(model))}  # fmt: skip
    if again:
        table = shop.path / f"assignments.tsv{packed}"
        assigned = assign_all(model, stream.records(), table, n_jobs=settings.threads)
        summary["n_points"] = assigned.n_objects  # all of the file, though a budget may have ended the pass before
        summary["quality"] = {"quantization_error": assigned.quantization_error}
        table.rename(shop.files / table.name)
    for name, lines in exemplar_lines(exemplars, summary["neurons"]).items():
        write_lines({shop.files / (name + packed): lines})
    data = {"points": summary["n_points"], "kind": _kind(exemplars), **about}
    return _delivered(shop, settings, model, summary, data, None)


def _delivered(
    shop: Workshop, settings: FitSettings, model: Any, summary: dict[str, Any], data: Mapping[str, Any],
    points: NDArray[Any] | None,
) -> FitResult:  # fmt: skip
    """Write the last files of the folder and put it in its place."""
    save(model, shop.files / "model.mmap")
    write_lines({
        shop.files / "summary.json": [json.dumps(summary, indent=1)],
        shop.files / "config.toml": [config_text(settings, data, shop.out).rstrip("\n")],
    })  # fmt: skip
    names = sorted(file.name for file in shop.files.iterdir())
    shop.deliver()
    return FitResult(model, summary, settings, points, shop.out, tuple(shop.out / name for name in names))


@contextmanager
def _going_on(shop: Workshop, watch: Watch) -> Iterator[None]:
    """Report how far a fit has come; after Ctrl-C say what is kept and how to continue."""
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
        if shop.delivered:
            raise
        if not shop.keeps:
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

    n : number of points; None of a stream, of which `given` is the beginning.
    """
    metric, params, notes = inputs.settled_metric(given, settings.metric, settings.params)
    settings = replace(settings, params=params, read={**given.read, **settings.read})
    different = None if settings.n_prototypes is not None else _different(given, n)
    chosen = inputs.completed(inputs.suited(settings, given, n, different), metric)
    unlabelled = given.labels is not None and all(label is None for label in given.labels)
    if settings.beta is not None and unlabelled:
        raise ValueError(f"--labels {settings.labels}: no point has a label, so there is nothing for --beta to weigh.")
    if chosen.stability is not None:
        _check_resamples(chosen, n or 0, given.name)
    if given.source is None:
        try:
            computed(chosen, given)
        except ValueError as error:
            raise ValueError(f"{given.name}: {error}") from None
        K, n_all = chosen.n_prototypes or 1, n or len(given)
        pairs = n_all * (chosen.patch + K) if chosen.patch else n_all**2 / 2
        instead = "" if chosen.patch else ", or map them in one pass: --patch 100"
        refuse_long_work(given.name, given.objects, metric, params, n_threads(chosen.threads), pairs, instead)
    if unlabelled and settings.labels is not None:
        notes.append(f"--labels {settings.labels}: no point has a label; the map is without.")
    if chosen.patch and settings.patch is None and not settings.stream:
        asking = [SETTINGS[name].option for name in ("tree", "max_evaluations") if getattr(settings, name)]
        instead = f"without {' and '.join(asking)}, --patch 0" if asking else "--patch 0"
        pairs = (n or 0) * ((n or 1) - 1) // 2
        many_pairs = "" if asking else f", whose {pairs / 1e6:.0f} million pairs fill {16 * pairs / 1e9:.1f} GB,"
        notes.append(
            f"the {n} points of {given.name}{many_pairs} are mapped in one pass over patches of {chosen.patch}; "
            f"{instead} would compare all pairs."
        )
    if settings.n_prototypes is None:
        many = "a stream" if n is None else counted(n, "point")
        neurons = counted(chosen.n_prototypes or 1, "neuron")
        size = neurons if chosen.grid is None else f"{grid_text(chosen.grid)} neurons"
        notes.append(f"without --grid or -k the map has {size} for {many}.")
    return chosen, notes


def _different(given: Given, n: int | None) -> int | None:
    """How many points are not the same as an earlier one; None where they would have to be read or compared for it."""
    if n is None:
        return None
    if given.source is None:
        return n_different(given.objects)
    matrix = getattr(given.source, "D", None)
    return n_apart(matrix) if isinstance(matrix, np.ndarray) and n <= MOST_CHECKED else None


def _check_resamples(settings: FitSettings, n: int, name: str) -> None:
    """ValueError before long work, where maps cannot be fitted to resamples of the data after it."""
    if settings.patch:
        raise ValueError(
            f"--stability fits maps of all pairs, but the {n} points of {name} are mapped in one pass over patches; "
            "drop it, or compare all pairs with --patch 0."
        )
    if 2 * (settings.n_prototypes or 0) > n:
        raise ValueError(
            f"--stability fits maps to resamples, which hold two thirds of the {n} points of {name}: "
            f"{settings.n_prototypes} neurons are too many for that. Give --grid or -k of at most {n // 2}."
        )


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


# --- training: from all pairs, in one pass over patches, or over a stream


def compared(settings: FitSettings, given: Given, shop: Workshop) -> Source:
    """The dissimilarities of all pairs, kept so that a next run can continue."""
    source = computed(settings, given)
    n = len(given)
    place = chosen(settings.device, n, 4 * n * n) if computed_there(source) else None
    if place is not None:
        there = tensor_source(
            source, place, beside=bytes_beyond(n, settings.n_prototypes or 1, 4, settings.map == "som")
        )
        return ComparedSource(source.objects, source.metric, given.ids, columns=source.columns, matrix=there)
    # Vectors are compared faster than a file is written.
    in_memory = source.metric.metric.accepts == "vectors" and fits(len(given))
    about = digest([given.ids, source.objects, source.metric.name, dict(source.metric.params)])
    path = None if in_memory else shop.state("dissimilarities.npy", about)
    matrix = all_pairs(
        given.objects, source.metric.name, path, metric_params=dict(settings.params), ids=given.ids,
        n_jobs=settings.threads,
    )  # fmt: skip
    return ComparedSource(source.objects, source.metric, given.ids, columns=source.columns, matrix=matrix)


def matrix_of(source: Source) -> Source:
    """The dissimilarities themselves, where they are computed already."""
    return source.matrix if isinstance(source, ComparedSource) else source


def read_from(matrix: Source) -> Source:
    """Where the dissimilarities to a few points are read in all digits: of what a device computed, from the objects."""
    return matrix.unscaled() if isinstance(matrix, TensorSource) else matrix


def computed(settings: FitSettings, given: Given) -> ComputedSource:
    """The objects under their metric; ValueError if it cannot compare them."""
    assert settings.metric is not None
    source = as_dissimilarity(
        given.objects, settings.metric, metric_params=dict(settings.params), ids=given.ids, n_jobs=settings.threads
    )
    assert isinstance(source, ComputedSource)
    return replace(source, columns=given.columns if given.kind == "vectors" else None)


def trained(settings: FitSettings, given: Given, source: Source, taken: Mapping[str, Any]) -> Fitted:
    """The map of all pairs; `taken` are the parameters that exemplars from elsewhere need."""
    model: Any = make_map(settings, **taken)
    model = model if settings.beta is None else PrototypeClassifier(model, settings.beta)
    planned = (settings.epochs or 1) * settings.n_init

    def on_epoch(epoch: Any) -> None:
        # Epochs beyond the planned ones, in which the map settles, lengthen the way.
        done = epoch.run * (settings.epochs or 1) + epoch.number + 1
        step("epochs", done, max(planned, done))

    with limited(settings.threads), epochs_watched(on_epoch):
        model.fit(source, given.labels)
    matrix = matrix_of(source)
    # Read, where objects would be compared again.
    to_exemplars: Any = ToPoints(read_from(matrix), map_of(model).medoid_indices_)
    groups = groups_of(model, matrix)
    points = two_best(model, ToPrototypes(to_exemplars), groups=groups, n_jobs=settings.threads)
    remember(model, y=given.labels, points=points, groups=groups)
    return model, judged(points, matrix), matrix


def trained_in_patches(
    settings: FitSettings, given: Given, source: Source, shop: Workshop, scheduler: str | None
) -> Fitted:
    """The map of one pass over patches in random order, with a checkpoint after each."""
    content = source.objects if isinstance(source, ComputedSource) else getattr(source, "D", given.name)
    about = digest([content, given.ids, given.labels, _decisive(settings)])
    tables: list[NDArray[Any]] = []
    passes = _clusterer(settings, shuffle=True)
    model: Any = passes if settings.beta is None else PrototypeClassifier(passes, settings.beta)
    with _one_pass(settings, len(given), shop, about, scheduler, tables.append):
        model.fit(source, given.labels)
    remember(model, source, given.labels, points=tables[0])
    return model, judged(tables[0]), source


def _clusterer(settings: FitSettings, shuffle: bool) -> PatchClusterer:
    """The clusterer that the settings describe."""
    return PatchClusterer(
        make_map(settings), settings.patch or USUAL_PATCH, merge="tree" if settings.tree else "auto",
        shuffle=shuffle, max_evaluations=settings.max_evaluations,
    )  # fmt: skip


@contextmanager
def _one_pass(
    settings: FitSettings, n: int | None, shop: Workshop, about: str, scheduler: str | None,
    on_points: Callable[[NDArray[Any]], Any] | None = None,
) -> Iterator[None]:  # fmt: skip
    """Give a pass inside a checkpoint, threads or a scheduler, and show its progress; n : points, if known."""
    size, passed = settings.patch or USUAL_PATCH, [0]

    def on_patch(record: Any) -> None:
        passed[0] = record.n_samples_seen
        step("patches", passed[0], n)

    def on_epoch(epoch: Any) -> None:
        # Of the patch that is being clustered; all but the first take a tenth of the epochs.
        part = min(1.0, (epoch.number + 1) / (settings.epochs or 1)) * min(size, size if n is None else n - passed[0])
        step("patches", passed[0] + int(part), n)

    state = shop.state("patches", about)  # also for a tree, so that nothing of other data or settings is left
    checkpoint, n_jobs = (None, settings.threads) if settings.tree else (state, None)
    step("patches", 0, n)
    with (
        limited(settings.threads),
        epochs_watched(on_epoch),
        run_with(RunOptions(checkpoint, n_jobs, scheduler, on_patch, on_points)),
    ):
        yield


def _decisive(settings: FitSettings) -> dict[str, Any]:
    """The settings that decide the result."""
    return {name: value for name, value in vars(settings).items() if name != "threads"}


def trained_on_stream(
    settings: FitSettings, stream: ObjectStream, shop: Workshop, scheduler: str | None, n: int | None
) -> tuple[PatchClusterer, Given]:
    """The map of one pass over the stream, and its exemplars as points: `objects` and `descriptions` by place."""
    about = digest([stream.head.ids, list(stream.head.objects), _decisive(settings)])
    passes = _clusterer(settings, shuffle=False)
    with _one_pass(settings, n, shop, about, scheduler):
        passes.fit(stream)
    objects = dict(zip(passes.medoid_indices_.tolist(), passes.map_.cluster_centers_, strict=True))
    descriptions: Any = {place: description for place, (_, description) in stream.headers.items()}
    return passes, replace(stream.head, objects=objects, descriptions=descriptions)


# --- the texts of the folder


def assignment_lines(model: Any, points: NDArray[Any], given: Given, sure: Uncertainty | None = None) -> Iterable[str]:
    """assignments.tsv: one row per point, with the columns of `medianmap predict`, then scores, outlier and label."""
    answers = Answers(model)
    several = len(answers.map.hits_) > 1
    told = {name: points[name].tolist() if several else [""] * len(points) for name in ("ratio", "border_score")}
    told |= {"outlier_score": points["outlier_score"].tolist(), "outlier": points["outlier"].astype(int).tolist()}
    columns = [*answers.columns, *told]
    cells: list[Any] = [*answers.cells(given.ids, nearest_of(points)), *told.values()]
    if sure is not None:
        columns += ["stability", "confidence"]
        cells += [sure.points[name].tolist() for name in ("stability", "confidence")]
    if given.labels is not None:
        columns.append("label")
        cells.append(given.labels)
    for name, values in given.metadata.items():
        columns.append(f"{name} (data)" if name in columns else name)
        cells.append(values)
    return tsv_lines(columns, zip(*cells, strict=True))


def exemplar_lines(given: Given, neurons: list[dict[str, Any]]) -> dict[str, Iterable[str]]:
    """exemplars.fasta of sequences, exemplars.tsv of all else: one record per neuron, in their order."""
    exemplars = [] if given.objects is None else [given.objects[n["exemplar"]] for n in neurons]
    if given.sequences:
        headers = [_header(neuron, given) for neuron in neurons]
        return {"exemplars.fasta": fasta_lines(zip(headers, exemplars, strict=True))}
    columns = [name for name in neurons[0] if name != "exemplar"]
    rows: list[list[Any]] = [[neuron[name] for name in columns] for neuron in neurons]
    if given.kind == "strings":
        columns.append("string")
        rows = [[*row, each] for row, each in zip(rows, exemplars, strict=True)]
    elif given.kind == "table":
        columns += given.columns or [f"x{k}" for k in range(len(exemplars[0]))]
        rows = [[*row, *each] for row, each in zip(rows, exemplars, strict=True)]
    elif given.kind == "vectors":
        columns += given.columns or [f"x{k}" for k in range(len(exemplars[0]))]
        rows = [[*row, *each.tolist()] for row, each in zip(rows, exemplars, strict=True)]
    return {"exemplars.tsv": tsv_lines(columns, rows)}


def _header(neuron: dict[str, Any], given: Given) -> str:
    """The id, the description in the file, and the place on the map."""
    place = [f"{name}={neuron[name]:g}" for name in ("neuron", "layer", "row", "column", "hits") if name in neuron]
    about = given.descriptions[neuron["exemplar"]] if given.descriptions else ""
    return " ".join(filter(None, [neuron["exemplar_id"], about, *place]))


def page(
    facts: dict[str, Any], given: Given, health: Health | None, settings: Mapping[str, Any], title: str | None = None
) -> str:
    """report.html of the points `given`; `facts` are those of `summarize(..., structure=True)`."""
    title = title or f"{Path(given.name).name}: {_number_of(given)}"
    return render(page_content(facts, title=title, health=health, settings=settings, members=None))


def _number_of(given: Given) -> str:
    """'630 sequences', '1 series', '20 points' of a matrix."""
    if given.kind == "series":
        return f"{len(given)} series"
    kinds = {"dissimilarities": "point", "table": "row"}
    return counted(len(given), "sequence" if given.sequences else kinds.get(given.kind, given.kind.removesuffix("s")))


# --- the demonstration: what `medianmap fit` does, on the globins that come with the library

GLOBINS = Path(str(files("medianmap.datasets") / "globins.fasta"))


def run_demo(
    out: Path, grid: tuple[int, ...], seed: int, watch: Watch | None = None, *, threads: int | None = None,
    force: bool = False,
) -> FitResult:  # fmt: skip
    """Fit a median SOM of 630 globins by alignment, and write what a fit writes."""
    globins = load_globins()
    settings = FitSettings(str(GLOBINS), grid=grid, metric="alignment", labels="header", refine="swap", seed=seed,
                           threads=threads)  # fmt: skip
    check_settings(settings)
    given = Given(GLOBINS.name, list(globins.ids), "strings", list(globins.sequences), sequences=True,
                  descriptions=list(globins.families), labels=list(globins.families))  # fmt: skip
    watch = watch or Watch()
    with workshop(out, force) as shop, _going_on(shop, watch):
        return _fit_given(settings, given, inputs.about_file(GLOBINS), shop, watch=watch)
