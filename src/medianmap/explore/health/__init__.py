"""Is this a table of dissimilarities, and what kind? One pass over the entries, samples for what costs more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...sources import ComputedSource, DenseSource, Source, SubsetSource, as_dissimilarity
from ...sources.base import IntArray, is_source
from ...sources.computed import block_in_steps
from ...utils.checks import check_count
from ...utils.progress import OnProgress
from . import findings as verdict
from .entries import Scan, scan
from .findings import Finding, Health
from .samples import landmark_blocks, mean_estimate, negative_share, occurrences, skewness, triangles

__all__ = ["Finding", "Health", "check_dissimilarity"]

# Objects compared on the fly: all pairs of so many say what a check has to say.
COMPUTED_POINTS = 1000


def check_dissimilarity(
    D: Any,
    *,
    metric: str | Callable[[Any, Any], float] = "precomputed",
    metric_params: Mapping[str, Any] | None = None,
    seed: int = 0,
    max_points: int | None = None,
    max_triples: int = 50_000,
    n_landmarks: int = 400,
    n_samples: int = 8,
    n_neighbors: int = 10,
    on_progress: OnProgress | None = None,
) -> Health:
    """Look at a table of dissimilarities before a map is made of it.

    All entries are read once, in tiles: finite, non-negative, symmetric, zero diagonal, duplicates, scale, suspected
    similarities. The triangle inequality, negative eigenvalues and hubness are estimated from random samples with 95%
    intervals, or computed from all points where these are few.

    Parameters
    ----------
    D, metric, metric_params : anything that `as_dissimilarity` takes; a matrix on disk is never loaded whole.
    seed : start of the random numbers; the same seed gives the same report.
    max_points : look at so many random points instead of all; None: all of a stored matrix, 1000 of objects that a
        metric compares.
    max_triples : triples of points to test; all triples where there are no more than these.
    n_landmarks, n_samples : the spectrum and hubness are taken from `n_samples` random sets of `n_landmarks` points;
        from all points where there are at most twice `n_landmarks`.
    n_neighbors : k of the k-occurrences whose skewness measures hubness.
    on_progress : called as on_progress("health", done, total) of entries while all are read.

    Examples
    --------
    >>> from medianmap import check_dissimilarity
    >>> health = check_dissimilarity([[0, 1, 5], [1, 0, 2], [5, 2, 0]])
    >>> health.ok, health["triangle"].value["where"]
    (True, [0, 1, 2])
    """
    for name, value, at_least in (("max_triples", max_triples, 1), ("n_landmarks", n_landmarks, 3),
                                  ("n_samples", n_samples, 2), ("n_neighbors", n_neighbors, 1),
                                  ("seed", seed, 0)):  # fmt: skip
        check_count(value, name, at_least=at_least)
    rng = np.random.default_rng(seed)
    # Symmetry is looked at here, so the pass that would find it out is spared.
    taken = None if is_source(D) or metric != "precomputed" else True
    source = as_dissimilarity(D, metric, metric_params=metric_params, symmetric=taken)
    computed = isinstance(source, ComputedSource)
    points = _points(source.shape[0], COMPUTED_POINTS if computed else None, max_points, rng)
    n_all = source.shape[0]
    if len(points) < n_all:
        source = SubsetSource(source, points)
    if computed and len(points) <= COMPUTED_POINTS:
        # Both directions are asked, so that a metric which only claims to be symmetric is found out.
        source = DenseSource(block_in_steps(source), False, source.ids)
    names = verdict.Names(points, source.ids)
    scanned = scan(source, on_progress)
    findings = [_scope(len(points), n_all), *_from_all(scanned, names)]
    # Figures from entries that no map can use would mean nothing.
    if all(finding.level != "error" for finding in findings):
        findings += _from_samples(source, names, max_triples, n_landmarks, n_samples, n_neighbors, rng)
    findings = [Finding(f.name, f.level, f.sentence, verdict.plain_value(f.value)) for f in findings]
    return Health(n_all, str(source.dtype), int(seed), tuple(findings))


def _points(n: int, usual: int | None, max_points: int | None, rng: np.random.Generator) -> IntArray:
    """Which of n points to look at, ascending."""
    limit = usual if max_points is None else check_count(max_points, "max_points")
    return np.arange(n) if limit is None or n <= limit else np.sort(rng.choice(n, limit, replace=False))


def _scope(n: int, n_all: int) -> Finding:
    value = {"n_points_read": n, "n_points": n_all}
    if n == n_all:
        return Finding("scope", "ok", f"All {n} x {n} entries were read.", value)
    sentence = f"{n} of {n_all} points were drawn at random, and all entries between them read; the others were not."
    return Finding("scope", "note", sentence, value)


def _from_all(scanned: Scan, names: verdict.Names) -> list[Finding]:
    return [
        verdict.entries(scanned, names),
        verdict.similarity(scanned),
        verdict.symmetry(scanned, names),
        verdict.diagonal(scanned, names),
        verdict.duplicates(scanned, names),
        verdict.scale(scanned),
    ]


def _from_samples(
    source: Source,
    names: verdict.Names,
    max_triples: int,
    n_landmarks: int,
    n_samples: int,
    n_neighbors: int,
    rng: np.random.Generator,
) -> list[Finding]:
    findings = []
    found = triangles(source, max_triples, rng)
    if found is not None:
        findings.append(verdict.triangle(found, names))
    blocks = landmark_blocks(source, n_landmarks, n_samples, rng)
    size = len(blocks[0])
    if size >= 3:
        plain, squared = ([negative_share(B, squared=s) for B in blocks] for s in (False, True))
        findings.append(verdict.spectrum(mean_estimate(plain), mean_estimate(squared), size, len(blocks)))
        k = min(n_neighbors, (size - 1) // 2)
        counts = [occurrences(B, k) for B in blocks]
        largest = max(float(c.max()) for c in counts)
        findings.append(verdict.hubness(mean_estimate([skewness(c) for c in counts]), largest, k, size, len(blocks)))
    return findings
