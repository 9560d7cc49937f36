"""The full fit, simple sampling, and patches, one after the other or as a tree, side by side.

python benchmarks/compare_passes.py     at growing N, for docs/assign.md
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from medianmap import MedianNeuralGas
from medianmap.core.engine import State
from medianmap.core.labels import UNLABELLED, LabelVectors, class_numbers, training_labels
from medianmap.core.quality import inertia
from medianmap.estimators.base import BaseMap, check_map
from medianmap.estimators.labelings import majority_labels
from medianmap.estimators.median import MedianMap
from medianmap.estimators.relational import RelationalMap
from medianmap.patches.clusterer import PatchClusterer
from medianmap.patches.input import BLOCK, Input, distance_blocks, is_stream, read_input
from medianmap.patches.one_patch import Patch, PatchSettings, cluster_patch
from medianmap.patches.points import Prototypes, map_of_prototypes
from medianmap.predict.queries import as_queries, dissimilarities
from medianmap.sources.base import FloatArray, IntArray
from medianmap.sources.computed import take
from medianmap.utils.checks import check_count, check_n_prototypes, check_weights
from medianmap.utils.files import table
from medianmap.utils.threads import limited

# Of the table of docs/assign.md.
SIZES = (2000, 8000, 16000)
K, PATCH, HELD_OUT = 50, 1000, 2000

# The compilers work before the clock runs, on a fit of so many points.
WARM_UP = 64


def compare_passes(
    estimator: BaseMap,
    X: Any,
    *,
    patch_size: int | None = None,
    n_patches: int | None = None,
    sample_size: int | None = None,
    held_out: Any = None,
    y: Any = None,
    held_out_y: Any = None,
    sample_weight: Any = None,
    shuffle: bool = True,
    random_state: int = 0,
) -> NDArray[Any]:
    """Train the map in four ways on the same data and measure each: a table with one row per way.

    "full": the map's own fit, on all dissimilarities. "sample": the map on a random sample, then one last run with all
    data, in which every point goes to its nearest prototype and every prototype to the median (batch maps: the mean) of
    its points. "patches" and "patches, tree": `PatchClusterer`, sequential and merge="tree".

    Parameters
    ----------
    estimator : any median or batch map; it is cloned, with this random_state.
    X : data of known length, as the map takes them.
    patch_size, n_patches : of the patches, one of them; 1000 points per patch by default.
    sample_size : points of the sample; by default as many as a patch has, so that both need the same memory.
    held_out : queries on which the prototypes are judged; by default X itself.
    y : labels of X, where there are any; held_out_y those of held_out.
    sample_weight : (N,) multiplicities of X.
    shuffle : patches take points in random order, as a sample does.

    Columns
    -------
    method; quantization_error, 0.5 sum_i m_i min_j d(x_i, w_j) over X or over held_out (weight 1);
    evaluations, dissimilarities computed, or read from a source, in training (judging is not counted; batch maps have
    none); seconds of the processor for training, without judging; accuracy, with y: the share of labelled points whose
    class is that of their nearest prototype, which has the class of most labelled points of X that are nearest to it.
    """
    check_map(estimator)
    if isinstance(estimator, RelationalMap):
        raise TypeError(f"{type(estimator).__name__} has no last run with all data; pass a median or batch map.")
    if is_stream(X):
        raise ValueError("X is a stream, which can be gone through once; pass data of known length to compare passes.")
    if patch_size is not None and n_patches is not None:
        raise ValueError("patch_size and n_patches were both given; pass one of them.")
    if held_out is not None and y is not None and held_out_y is None:
        raise ValueError("held_out and y were given, but not the labels of held_out; pass held_out_y, too.")
    map_ = clone(estimator).set_params(random_state=random_state)
    found = read_input(map_, X, lambda N: check_weights(sample_weight, N), map_.n_jobs)
    N = len(found.points)
    m = check_weights(sample_weight, N)
    size = 1000 if patch_size is None else check_count(patch_size, "patch_size")
    if n_patches is not None:
        size = -(-N // check_count(n_patches, "n_patches"))
    size = min(size, N)
    sample_size = size if sample_size is None else min(check_count(sample_size, "sample_size"), N)
    check_n_prototypes(map_._size()[0], sample_size, "the number of prototypes")
    labels = None if y is None else training_labels(y, m, stacklevel=3)
    judge = _Judge(X, m, labels, held_out, y if held_out is None else held_out_y)

    def patches(merge: str) -> tuple[BaseMap, int]:
        clusterer = PatchClusterer(
            map_, size, n_patches=n_patches, merge=merge, shuffle=shuffle, compute_labels=False, n_jobs=map_.n_jobs
        )
        clusterer.fit(X, sample_weight=sample_weight)
        return clusterer.map_, clusterer.n_evaluations_

    ways: dict[str, Callable[[], tuple[BaseMap, int]]] = {
        "full": lambda: _full(map_, X, sample_weight, N),
        "sample": lambda: sampled(map_, found, m, sample_size, random_state),
        "patches": lambda: patches("sequential"),
        "patches, tree": lambda: patches("tree"),
    }
    sampled(map_, found, m, min(N, max(WARM_UP, 2 * map_._size()[0])), random_state, last_run=False)
    results = [_timed(way) for way in ways.values()]
    columns: dict[str, NDArray[Any]] = {
        "method": np.array(list(ways)),
        "quantization_error": np.array([judge.quantization_error(fitted) for fitted, _, _ in results]),
        "evaluations": np.array([evaluations for _, evaluations, _ in results], np.int64),
        "seconds": np.array([seconds for _, _, seconds in results]),
    }
    if judge.labels is not None:
        columns["accuracy"] = np.array([judge.accuracy(fitted, judge.labels) for fitted, _, _ in results])
    return table(**columns)


def sampled(
    estimator: BaseMap, found: Input, m: FloatArray, sample_size: int, seed: int, last_run: bool = True
) -> tuple[BaseMap, int]:
    """Simple sampling: the map trained on a random sample, then one last run with all data; and the evaluations."""
    counting = np.flatnonzero(m)
    at = np.sort(np.random.default_rng([seed, 2]).choice(counting, min(sample_size, len(counting)), replace=False))
    no_labels = np.empty((len(at), 0))
    with limited(estimator.n_jobs):
        sample = Patch(take(found.points, at), at, m[at], no_labels, len(at))
        prototypes, done = cluster_patch(PatchSettings(estimator), found.compared, None, sample, seed)
        evaluations = done.evaluations
        if last_run:
            prototypes, more = _last_run(estimator, found, m, prototypes)
            evaluations += more
    others = {**found.features, "n_iter_": done.epochs}
    return map_of_prototypes(estimator, prototypes, found.compared, found.ids, others), evaluations


def _last_run(estimator: BaseMap, found: Input, m: FloatArray, before: Prototypes) -> tuple[Prototypes, int]:
    """w_j = argmin_{l in R_j} sum_{i in R_j} m_i D[i, l], R_j the points nearest to w_j; of vectors the weighted mean.

    Medians are searched among the points of the field: sum_j |R_j|^2 dissimilarities beside the N K of the assignment.
    A prototype without points stays.
    """
    nearest = np.empty(len(m), np.intp)
    for at, G in distance_blocks(found, before):
        nearest[at] = G.argmin(axis=1)
    K = len(before.m)
    hits = np.bincount(nearest, weights=m, minlength=K).astype(np.float64)
    median = isinstance(estimator, MedianMap)
    places, points, evaluations = before.places.copy(), before.points, len(m) * K if median else 0
    if not median:
        points = points.copy()
    for j in np.flatnonzero(hits):
        field = np.flatnonzero((nearest == j) & (m > 0))
        members = take(found.points, field)
        if not median:
            points[j] = (m[field, None] * members).sum(axis=0) / hits[j]
            continue
        D, read = found.compared.extended(None, members, field)
        # Plain sums, no BLAS: the same bits at any number of threads.
        costs = (m[field, None] * D.block(slice(None), slice(None))).sum(axis=0)
        places[j], evaluations = field[costs.argmin()], evaluations + read
    if median:
        points = take(found.points, places)
    return Prototypes(points, places, hits, None, before.Y), evaluations


def _full(estimator: BaseMap, X: Any, sample_weight: Any, N: int) -> tuple[BaseMap, int]:
    fitted = clone(estimator).fit(X, sample_weight=sample_weight)
    of_matrix = N * N if isinstance(fitted, MedianMap) else 0
    return fitted, getattr(fitted, "n_evaluations_", of_matrix)


def _timed(way: Callable[[], tuple[BaseMap, int]]) -> tuple[BaseMap, int, float]:
    began = time.process_time()
    fitted, evaluations = way()
    return fitted, evaluations, time.process_time() - began


@dataclass(frozen=True)
class _Judge:
    """What the prototypes are judged on: X with weights m (N,), or held_out; y are labels of either, `labels` of X."""

    X: Any
    m: FloatArray
    labels: LabelVectors | None
    held_out: Any
    y: Any

    def quantization_error(self, fitted: BaseMap) -> float:
        return 0.5 * sum(inertia(G, m) for G, m in self._judged(fitted))

    def accuracy(self, fitted: BaseMap, labels: LabelVectors) -> float:
        classes = majority_labels(_Fields(fitted, self, labels)).argmax(axis=1)  # type: ignore[arg-type]
        judged = [(classes[G.argmin(axis=1)], m) for G, m in self._judged(fitted)]
        proposed, m = (np.concatenate(parts) for parts in zip(*judged, strict=True))
        truth, _ = class_numbers(self.y, len(proposed), labels.classes)
        return float(np.average(proposed == truth, weights=np.where(truth == UNLABELLED, 0.0, m)))

    def training(self, fitted: BaseMap) -> Iterator[tuple[IntArray, FloatArray]]:
        """(places (n,), dissimilarities (n, K) to the prototypes) over all of X."""
        yield from _dissimilarity_blocks(fitted, self.X)

    def _judged(self, fitted: BaseMap) -> Iterator[tuple[FloatArray, FloatArray]]:
        """(dissimilarities (n, K), weights (n,)) of what is judged on."""
        if self.held_out is None:
            yield from ((G, self.m[at]) for at, G in self.training(fitted))
        else:
            yield from ((G, np.ones(len(at))) for at, G in _dissimilarity_blocks(fitted, self.held_out))


def _dissimilarity_blocks(fitted: BaseMap, X: Any) -> Iterator[tuple[IntArray, FloatArray]]:
    for block in as_queries(fitted, X, None).blocks(BLOCK):
        yield np.arange(block.start, block.start + len(block)), dissimilarities(fitted, block, fitted.n_jobs)


@dataclass(frozen=True)
class _Fields:
    """The labelled training data around the prototypes of a map, as `majority_labels` goes through them."""

    fitted: BaseMap
    judge: _Judge
    labels: LabelVectors

    @property
    def state(self) -> State:
        return State(np.empty(0), np.empty((len(self.fitted.hits_), len(self.labels.classes))))

    def blocks(self) -> Iterator[tuple[FloatArray, FloatArray, LabelVectors]]:
        for at, G in self.judge.training(self.fitted):
            yield G, self.judge.m[at], self.labels.subset(at)


def clouds(rng: np.random.Generator, centers: np.ndarray, n: int) -> np.ndarray:
    return centers[rng.integers(len(centers), size=n)] + rng.normal(size=(n, centers.shape[1]))


def main() -> None:
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=4, size=(60, 8))
    held_out = clouds(rng, centers, HELD_OUT)
    print(
        "| N | method | quantization error | evaluations | seconds of the processor |\n| --- | --- | --- | --- | --- |"
    )
    for N in SIZES:
        rows = compare_passes(
            MedianNeuralGas(K, annealing="median"), clouds(rng, centers, N), patch_size=PATCH, held_out=held_out
        )
        for row in rows:
            print(f"| {N} | {row['method']} | {row['quantization_error']:.0f} | {row['evaluations'] / 1e6:.2f} M "
                  f"| {row['seconds']:.2f} |")  # fmt: skip


if __name__ == "__main__":
    main()
