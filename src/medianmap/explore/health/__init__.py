"""Is this matrix fit for a map? `check_dissimilarity`: what is wrong or unusual with dissimilarities, as sentences.

What all entries say is judged in `entries`; what would cost more than one pass over them, in `samples`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...sources import ComputedSource, DenseSource, SubsetSource, as_dissimilarity
from ...sources.base import is_source
from ...sources.computed import block_in_steps
from ...utils.checks import check_count
from ...utils.files import counted
from ...utils.progress import OnProgress
from .entries import Level, Names, Verdict, judge_entries, scan
from .samples import judge_samples

__all__ = ["Finding", "Health", "check_dissimilarity"]

# Of objects that a metric compares, so many points are drawn: all pairs of them are enough to judge.
COMPUTED_POINTS = 1000


@dataclass(frozen=True)
class Finding:
    """One property of a matrix.

    level : "ok"; "note", legal and worth knowing; "warning", legal but probably not intended; "error", no map can use
        the matrix.
    value : numbers, text and None in plain dictionaries and lists, as JSON holds them.
    """

    name: str
    level: Level
    sentence: str
    value: dict[str, Any]


@dataclass(frozen=True)
class Health:
    """All findings about dissimilarities (N, N); `print` it, or take `as_dict()`."""

    n_points: int
    dtype: str
    seed: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether a map can be fitted: no finding has the level "error"."""
        return all(finding.level != "error" for finding in self.findings)

    def __getitem__(self, name: str) -> Finding:
        """The finding of that name; KeyError if there is none."""
        return {finding.name: finding for finding in self.findings}[name]

    def as_dict(self) -> dict[str, Any]:
        """Everything in a form that JSON can hold."""
        about = {"ok": self.ok, "n_points": self.n_points, "dtype": self.dtype, "seed": self.seed}
        return about | {"findings": [asdict(finding) for finding in self.findings]}

    def __str__(self) -> str:
        counts = Counter(finding.level for finding in self.findings)
        found = [counted(counts[level], level) for level in ("error", "warning", "note") if counts[level]]
        usable = ("usable" if self.ok else "NOT usable") + (f": {', '.join(found)}" if found else ", nothing to remark")
        lines = [f"{self.n_points} x {self.n_points} {self.dtype} is {usable}."]
        width = max(len(finding.name) for finding in self.findings)
        lines += [f"  {f.level:<7}  {f.name:<{width}}  {f.sentence}" for f in self.findings]
        return "\n".join(lines)


def check_dissimilarity(
    D: Any, *, metric: str | Callable[[Any, Any], float] = "precomputed",
    metric_params: Mapping[str, Any] | None = None, seed: int = 0, max_points: int | None = None,
    max_triples: int = 50_000, n_landmarks: int = 400, n_samples: int = 8, n_neighbors: int = 10,
    on_progress: OnProgress | None = None,
) -> Health:  # fmt: skip
    """Check dissimilarities before a map is fitted to them.

    All entries are read once, in tiles: finite, non-negative, symmetric, zero diagonal, duplicates, scale, suspected
    similarities. The triangle inequality, negative eigenvalues and hubness are estimated from random samples with 95%
    intervals, or computed from all points if there are few.

    Parameters
    ----------
    D, metric, metric_params : anything that `as_dissimilarity` takes
        A matrix on disk is never loaded whole.
    seed : int, default=0
        Seed of the random samples; the same seed gives the same report.
    max_points : int or None
        Check so many random points instead of all. None takes all points of a stored matrix, and 1000 of objects that a
        metric compares.
    max_triples : int, default=50000
        How many triples of points to test; all triples if there are no more than these.
    n_landmarks, n_samples : int, default=400, 8
        Spectrum and hubness are taken from `n_samples` random sets of `n_landmarks` points; from all points if there
        are at most twice `n_landmarks`.
    n_neighbors : int, default=10
        k of the k-occurrences whose skewness measures hubness.
    on_progress : callable or None
        Called as `on_progress("health", done, total)`, in entries, while all entries are read.

    Returns
    -------
    Health
        `ok` says whether a map can be fitted; `findings` has a level, a sentence and numbers for each property.

    See Also
    --------
    as_dissimilarity : what D may be.

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
    # Symmetry is checked here, so as_dissimilarity need not make a pass for it.
    symmetric = None if is_source(D) or metric != "precomputed" else True
    source = as_dissimilarity(D, metric, metric_params=metric_params, symmetric=symmetric)
    computed, n_all = isinstance(source, ComputedSource), source.shape[0]
    usual = COMPUTED_POINTS if computed else n_all
    limit = usual if max_points is None else check_count(max_points, "max_points")
    points = np.arange(n_all) if n_all <= limit else np.sort(rng.choice(n_all, limit, replace=False))
    if len(points) < n_all:
        source = SubsetSource(source, points)
    if computed and len(points) <= COMPUTED_POINTS:
        # Both directions are computed, to catch a metric that claims to be symmetric and is not.
        source = DenseSource(block_in_steps(source), False, source.ids)
    names, scanned = Names(points, source.ids), scan(source, on_progress)
    verdicts = {"scope": _scope(len(points), n_all)} | judge_entries(scanned, names)
    # Figures from entries that no map can use would mean nothing.
    if all(level != "error" for level, _, _ in verdicts.values()):
        verdicts |= judge_samples(source, names, max_triples, n_landmarks, n_samples, n_neighbors, rng)
    findings = [Finding(name, level, said, json_value(value)) for name, (level, said, value) in verdicts.items()]
    return Health(n_all, str(source.dtype), int(seed), tuple(findings))


def _scope(n: int, n_all: int) -> Verdict:
    value = {"n_points_read": n, "n_points": n_all}
    if n == n_all:
        return "ok", f"All {n} x {n} entries were read.", value
    return "note", f"{n} of {n_all} points were drawn at random; only the entries between them were read.", value


def json_value(value: Any) -> Any:
    """NaN and infinity, which JSON cannot hold, become None."""
    if isinstance(value, dict):
        return {key: json_value(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [json_value(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
