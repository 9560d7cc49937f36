"""Points and settings -> a trained model that knows its exemplars, and where every point lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.classifier import PrototypeClassifier
from ..patches.clusterer import PatchClusterer
from ..predict.nearest import two_best
from ..predict.queries import ToPrototypes, map_of
from ..sources import ComparedSource, ComputedSource, Source, as_dissimilarity
from ..sources.all_pairs import all_pairs
from ..sources.base import ToPoints
from ..sources.memory import fits
from ..utils.fingerprint import digest
from ..utils.progress import epochs_watched, followed
from ..utils.threads import limited
from .folder import Workshop
from .inputs import Given
from .settings import FitSettings, make_map
from .watch import Watch


@dataclass(frozen=True)
class Fitted:
    """The model, the table of `two_best`, and what a check and a summary read dissimilarities from."""

    model: Any
    points: NDArray[Any]
    source: Source


def compared(settings: FitSettings, given: Given, shop: Workshop, watch: Watch) -> Source:
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
        on_progress=watch.progress,
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


def trained(settings: FitSettings, given: Given, source: Source, watch: Watch) -> Fitted:
    """The map of all pairs."""
    map_ = make_map(settings)
    model: Any = map_ if settings.beta is None else PrototypeClassifier(map_, settings.beta)
    with _watched(settings, watch, _on_epoch(settings, watch)):
        model.fit(source, given.labels)
    matrix = matrix_of(source)
    to_exemplars: Any = ToPoints(matrix, map_of(model).medoid_indices_)  # read, where objects would be compared again
    points = two_best(model, ToPrototypes(to_exemplars), n_jobs=settings.threads, on_progress=watch.progress)
    return Fitted(model, points, matrix)


def trained_in_patches(settings: FitSettings, given: Given, shop: Workshop, watch: Watch) -> Fitted:
    """The map of one pass over patches in random order, with a checkpoint after each."""
    source = computed(settings, given) if given.source is None else given.source
    objects = given.objects if given.source is None else source
    content = source.objects if isinstance(source, ComputedSource) else getattr(source, "D", given.name)
    passed = [0]

    def on_epoch(epoch: Any) -> None:
        # Of the patch that is being clustered; all but the first take a tenth of the epochs.
        part = min(1.0, (epoch.number + 1) / (settings.epochs or 1)) * min(settings.patch or 1, len(given) - passed[0])
        watch.progress("patches", passed[0] + int(part), len(given))

    map_ = make_map(settings)
    about = digest([content, given.ids, given.labels, {k: v for k, v in vars(settings).items() if k != "threads"}])

    def on_patch(record: Any) -> None:
        passed[0] = record.n_samples_seen
        watch.progress("patches", passed[0], len(given))

    passes = PatchClusterer(
        map_, settings.patch or 1, shuffle=True, compute_labels=False, checkpoint=shop.state("patches", about),
        on_patch=on_patch,
    )  # fmt: skip
    model: Any = passes if settings.beta is None else PrototypeClassifier(passes, settings.beta)
    watch.progress("patches", 0, len(given))
    with _watched(settings, watch, on_epoch):
        model.fit(objects, given.labels)
    fitted: Any = model if settings.beta is None else model.estimator_
    points = two_best(model, objects, n_jobs=settings.threads, on_progress=watch.progress)
    total = float(points["dissimilarity"].sum())
    for layer in (fitted, fitted.map_):
        layer.prototype_ids_ = [given.ids[i] for i in fitted.medoid_indices_]
    fitted.labels_, fitted.inertia_, fitted.quantization_error_ = points["prototype"], total, total / 2
    if given.kind == "vectors" and given.columns is not None:
        for layer in (model, fitted, fitted.map_):
            layer.feature_names_in_ = np.array(given.columns, object)
    for layer in {id(passes): passes, id(fitted): fitted}.values():
        layer.set_params(checkpoint=None, on_patch=None, compute_labels=True)
    return Fitted(model, points, source)


@contextmanager
def _watched(settings: FitSettings, watch: Watch, on_epoch: Callable[[Any], None]) -> Iterator[None]:
    """Fits inside use as many threads as the settings say, and `watch` is told how far they are."""
    with limited(settings.threads), followed(watch.progress), epochs_watched(on_epoch):
        yield


def _on_epoch(settings: FitSettings, watch: Watch) -> Callable[[Any], None]:
    """Epochs beyond the planned ones, in which the map settles, lengthen the way."""
    planned = (settings.epochs or 1) * settings.n_init

    def report(epoch: Any) -> None:
        done = epoch.run * (settings.epochs or 1) + epoch.number + 1
        watch.progress("epochs", done, max(planned, done))

    return report
