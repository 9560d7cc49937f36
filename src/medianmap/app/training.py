"""Points and settings -> a trained model: from all pairs, in one pass over patches, or over a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.classifier import PrototypeClassifier
from ..patches.clusterer import PatchClusterer
from ..predict.nearest import two_best
from ..predict.queries import ToPrototypes, map_of
from ..sources import ComparedSource, ComputedSource, Source, as_dissimilarity
from ..sources.all_pairs import all_pairs
from ..sources.base import ToPoints, fits
from ..utils.progress import epochs_watched, step
from ..utils.resumable import digest
from ..utils.threads import limited
from .folder import Workshop
from .inputs import SEQUENCES, STREAMED, Given, format_in, refuse_unknown
from .settings import USUAL_PATCH, FitSettings, make_map


@dataclass(frozen=True)
class Fitted:
    """The model, the table of `two_best`, and what a check and a summary read dissimilarities from."""

    model: Any
    points: NDArray[Any]
    source: Source


# --- all pairs


def compared(settings: FitSettings, given: Given, shop: Workshop) -> Source:
    """The dissimilarities of a fit without patches: those given, or all pairs, which a next run can go on with."""
    if given.source is not None:
        return given.source
    source = computed(settings, given)
    # Vectors are compared faster than a file is written.
    in_memory = source.metric.accepts == "vectors" and fits(len(given))
    about = digest([given.ids, source.objects, source.metric.name, dict(source.metric.params)])
    path = None if in_memory else shop.state("dissimilarities.npy", about)
    matrix = all_pairs(
        given.objects, source.metric.name, path, metric_params=dict(settings.params), ids=given.ids,
        n_jobs=settings.threads,
    )  # fmt: skip
    columns = given.columns if given.kind == "vectors" else None
    return ComparedSource(source.objects, source.metric, given.ids, columns=columns, matrix=matrix)


def matrix_of(source: Source) -> Source:
    """The dissimilarities themselves, where they are computed already."""
    return source.matrix if isinstance(source, ComparedSource) else source


def computed(settings: FitSettings, given: Given) -> ComputedSource:
    """The objects under their metric; ValueError if it cannot compare them."""
    assert settings.metric is not None
    source = as_dissimilarity(
        given.objects, settings.metric, metric_params=dict(settings.params), ids=given.ids, n_jobs=settings.threads
    )
    assert isinstance(source, ComputedSource)
    return source


def trained(settings: FitSettings, given: Given, source: Source) -> Fitted:
    """The map of all pairs."""
    map_ = make_map(settings)
    model: Any = map_ if settings.beta is None else PrototypeClassifier(map_, settings.beta)
    planned = (settings.epochs or 1) * settings.n_init

    def on_epoch(epoch: Any) -> None:
        # Epochs beyond the planned ones, in which the map settles, lengthen the way.
        done = epoch.run * (settings.epochs or 1) + epoch.number + 1
        step("epochs", done, max(planned, done))

    with limited(settings.threads), epochs_watched(on_epoch):
        model.fit(source, given.labels)
    matrix = matrix_of(source)
    to_exemplars: Any = ToPoints(matrix, map_of(model).medoid_indices_)  # read, where objects would be compared again
    points = two_best(model, ToPrototypes(to_exemplars), n_jobs=settings.threads)
    return Fitted(model, points, matrix)


# --- one pass over patches


def trained_in_patches(settings: FitSettings, given: Given, shop: Workshop, scheduler: str | None) -> Fitted:
    """The map of one pass over patches in random order, with a checkpoint after each."""
    source = computed(settings, given) if given.source is None else given.source
    content = source.objects if isinstance(source, ComputedSource) else getattr(source, "D", given.name)
    about = digest([content, given.ids, given.labels, _decisive(settings)])
    with _one_pass(settings, len(given), shop, about, scheduler) as passes:
        passes.set_params(shuffle=True)
        model: Any = passes if settings.beta is None else PrototypeClassifier(passes, settings.beta)
        model.fit(given.data, given.labels)
    fitted: Any = model if settings.beta is None else model.estimator_
    points = two_best(model, given.data, n_jobs=settings.threads)
    total = float(points["dissimilarity"].sum())
    _name_exemplars(fitted, [given.ids[i] for i in fitted.medoid_indices_])
    fitted.labels_, fitted.inertia_, fitted.quantization_error_ = points["prototype"], total, total / 2
    if given.kind == "vectors" and given.columns is not None:
        for layer in (model, fitted, fitted.map_):
            layer.feature_names_in_ = np.array(given.columns, object)
    for layer in {id(passes): passes, id(fitted): fitted}.values():
        _plain(layer)
    return Fitted(model, points, source)


@contextmanager
def _one_pass(
    settings: FitSettings, n: int | None, shop: Workshop, about: str, scheduler: str | None
) -> Iterator[PatchClusterer]:
    """The clusterer that the settings describe, its progress told while it is trained inside; n : points, if known."""
    size, passed = settings.patch or USUAL_PATCH, [0]

    def on_patch(record: Any) -> None:
        passed[0] = record.n_samples_seen
        step("patches", passed[0], n)

    def on_epoch(epoch: Any) -> None:
        # Of the patch that is being clustered; all but the first take a tenth of the epochs.
        part = min(1.0, (epoch.number + 1) / (settings.epochs or 1)) * min(size, size if n is None else n - passed[0])
        step("patches", passed[0] + int(part), n)

    state = shop.state("patches", about)  # also for a tree, so that nothing of other data or settings is left
    passes = PatchClusterer(
        make_map(settings), size, compute_labels=False, merge="tree" if settings.tree else "sequential",
        max_evaluations=settings.max_evaluations, checkpoint=None if settings.tree else state,
        client=scheduler, n_jobs=settings.threads if settings.tree else None, on_patch=on_patch,
    )  # fmt: skip
    step("patches", 0, n)
    with limited(settings.threads), epochs_watched(on_epoch):
        yield passes


def _decisive(settings: FitSettings) -> dict[str, Any]:
    """The settings that decide the result."""
    return {name: value for name, value in vars(settings).items() if name != "threads"}


def _plain(passes: PatchClusterer) -> None:
    """Without what watched, hurried and secured the pass, which says nothing about the map."""
    passes.set_params(checkpoint=None, on_patch=None, compute_labels=True, n_jobs=None, client=None)


def _name_exemplars(passes: Any, ids: list[str]) -> None:
    for layer in (passes, passes.map_):
        layer.prototype_ids_ = ids


# --- a stream, of which one patch at a time is in memory


class ObjectStream:
    """The objects of a file as a stream.

    head : the first of them as points, to say which metric and which number of prototypes suit them.
    """

    def __init__(self, settings: FitSettings) -> None:
        self.file, self.read = settings.input, dict(settings.read)
        name = "standard input" if self.file == "-" else self.file
        refuse_unknown(self.read)
        self.format = format_in(self.file, self.read)
        if self.format not in (*STREAMED, ""):
            raise ValueError(f"{name} is a {self.format} file, which cannot be read as a stream; drop --stream.")
        self._records = self.records()
        self._first = list(islice(self._records, settings.patch or USUAL_PATCH))
        if not self._first:
            raise ValueError(f"{name} holds no records; check that this is the right file.")
        ids, objects = [each.id for each in self._first], [each.object for each in self._first]
        kind = "strings" if isinstance(objects[0], str) else "vectors"
        self.head = Given(name, ids, kind, objects if kind == "strings" else np.array(objects),
                          sequences=self.format in SEQUENCES)  # fmt: skip
        self._kept: list[tuple[str, str]] | None = [] if self.file == "-" else None  # a pipe cannot be read again

    def records(self) -> Iterator[Any]:
        """All records, from the beginning of the file."""
        from ..readers import iter_records

        return iter_records(self.file, **self.read)

    def objects(self) -> Iterator[Any]:
        """The objects, once."""
        for record in chain(self._first, self._records):
            if self._kept is not None:
                self._kept.append((record.id, record.description))
            yield record.object

    def headers_at(self, places: Iterable[int]) -> dict[int, tuple[str, str]]:
        """(id, description) of the objects at these places; a long file is read once more rather than kept."""
        wanted = set(places)
        every: Iterable[tuple[str, str]] = self._kept or ((each.id, each.description) for each in self.records())
        return {place: header for place, header in enumerate(every) if place in wanted}


def trained_on_stream(
    settings: FitSettings, stream: ObjectStream, shop: Workshop, scheduler: str | None, n: int | None
) -> tuple[PatchClusterer, Given]:
    """The map of one pass over the stream, and its exemplars as points: `objects` and `descriptions` by place."""
    about = digest([stream.head.ids, list(stream.head.objects), _decisive(settings)])
    with _one_pass(settings, n, shop, about, scheduler) as passes:
        passes.fit(stream.objects())
    places = passes.medoid_indices_.tolist()
    found = stream.headers_at(places)
    _name_exemplars(passes, [found[place][0] for place in places])
    _plain(passes)
    objects = dict(zip(places, passes.map_.cluster_centers_, strict=True))
    descriptions: Any = {place: description for place, (_, description) in found.items()}
    return passes, replace(stream.head, objects=objects, descriptions=descriptions)
