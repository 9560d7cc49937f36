"""The true medoids of clusters that another program made, how far members are from them, and which are outliers.

representatives -> medoid (one cluster) -> blocks of dissimilarities; `far_members` and `coverage` use the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..readers.clusters import Clusters
from ..sources import ALL, DenseSource, Source, SubsetSource, as_dissimilarity, check_entries
from ..sources.base import FloatArray, IntArray, panels, rows_per_panel
from ..utils.checks import check_count, check_n_jobs, check_nonnegative, refuse_duplicate_ids
from ..utils.files import first_few, table
from ..utils.threads import OnProgress, limited, step

# Few rows, since half of each corner on the diagonal is redundant; a block takes a fraction of a second.
ROWS, COLUMNS = 32, 1024
OUTLIER_MADS = 3.0
OUTLIER_LEAST = 5

CLUSTER_FIELDS = [
    ("old", np.intp), ("medoid", np.intp), ("size", np.intp), ("compared", np.intp),
    ("mean_to_old", np.float64), ("mean_to_medoid", np.float64), ("outliers", np.intp),
]  # fmt: skip
MEMBER_FIELDS = [
    ("member", np.intp), ("cluster", np.intp), ("to_medoid", np.float64), ("to_old", np.float64), ("outlier", np.bool_),
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Representatives:
    """What `representatives` found. Objects are named by their places in `ids`, clusters by their places from 0.

    clusters : (K,) old (the representative so far), medoid, size, compared (how many members the medoid was chosen
        among: all, or the size of the sample), mean_to_old and mean_to_medoid (over all members), outliers (how many).
    members : (M,) member, cluster, to_medoid, to_old, outlier; cluster by cluster, in the order of the clusters' file.
    unclustered : places of the objects that are in no cluster.
    """

    clusters: NDArray[Any]
    members: NDArray[Any]
    unclustered: IntArray


def representatives(
    clusters: Clusters, ids: Sequence[str], objects: Any, metric: str | Callable[[Any, Any], float] = "alignment", *,
    metric_params: Mapping[str, Any] | None = None, max_members: int | None = None,
    outlier_mads: float = OUTLIER_MADS, seed: int = 0, n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Representatives:  # fmt: skip
    """medoid = argmin_l sum_i d(x_i, x_l) over the members of each cluster; the earlier member on ties.

    Parameters
    ----------
    clusters : as `read_clusters` returns them
    ids, objects : N names and what they name
        Strings, vectors (N, M) or other objects; with metric="precomputed" a matrix (N, N) or a source.
    metric, metric_params, n_jobs : as in `as_dissimilarity`
    max_members : int or None
        Clusters with more members take their medoid from a sample of that many: the old representative and others drawn
        without replacement, from random numbers that `seed` and the cluster's place fix. Dissimilarities to the medoid,
        means and outliers are still of all members. None: no cluster is sampled.
    outlier_mads : see `far_members`
    seed : what members of sampled clusters are drawn with
    on_progress : called as on_progress("dissimilarities", done, total) after every block

    Returns
    -------
    Representatives
        Tables of clusters and of members, and the objects in no cluster.
    """
    check_n_jobs(n_jobs)
    check_nonnegative(outlier_mads, "outlier_mads")
    seed = check_count(seed, "seed", at_least=0)
    if max_members is not None:
        max_members = check_count(max_members, "max_members", at_least=2)
    names = [str(each) for each in ids]
    refuse_duplicate_ids(names, "ids", "place")
    places, olds = _places(clusters, names)
    given = metric == "precomputed"
    source = as_dissimilarity(objects, metric, metric_params=metric_params, ids=None if given else names, n_jobs=n_jobs)
    if given and source.shape[0] != len(names):
        raise ValueError(f"There are {len(names)} ids for {source.shape[0]} points; give one id per point.")
    if given:
        check_entries(source)
    compared = [_compared(k, old, len(places[k]), max_members, seed) for k, old in enumerate(olds)]
    sizes = [(len(place), len(sample)) for place, sample in zip(places, compared, strict=True) if len(place) > 1]
    done, total = 0, sum(2 * n + _area(c, source.symmetric) for n, c in sizes)

    def computed(n: int) -> None:
        nonlocal done
        done += n
        (on_progress or step)("dissimilarities", done, total)

    found = np.zeros(len(places), CLUSTER_FIELDS)
    members = np.zeros(sum(map(len, places)), MEMBER_FIELDS)
    start = 0
    with limited(n_jobs):
        for k, (place, old, sample) in enumerate(zip(places, olds, compared, strict=True)):
            rows = members[start : start + len(place)]
            start += len(place)
            rows["member"], rows["cluster"] = place, k
            chosen = 0
            if len(place) > 1:  # a single member is its own medoid, at dissimilarity 0
                own: Source = SubsetSource(source, place)
                if len(place) <= ROWS:  # in one block, since calls cost more than pairs
                    own = DenseSource(np.asarray(source.block(place, place)), source.symmetric)
                chosen = medoid(own, sample, computed)
                to = np.asarray(own.block(ALL, np.array([chosen, old])), np.float64)
                rows["to_medoid"], rows["to_old"] = to[:, 0], to[:, 1]
                computed(to.size)
            rows["outlier"] = far_members(rows["to_medoid"], outlier_mads)
            means = (fsum(rows[field]) / len(place) for field in ("to_old", "to_medoid"))
            found[k] = (place[old], place[chosen], len(place), len(sample), *means, rows["outlier"].sum())
    return Representatives(found, members, np.setdiff1d(np.arange(len(names)), members["member"]))


def medoid(source: Source, members: IntArray, on_block: Callable[[int], None] = lambda n: None) -> int:
    """argmin over l in members of sum_{i in members} D[i, l], the earlier in `members` on ties; exact.

    members : (n,) places in the source. on_block : called after each block with how many dissimilarities it had.

    Sums are compared as if they were computed without rounding and rounded once, so that the answer depends neither
    on blocks nor on the order of terms. Memory is that of a block, whatever n is.
    """
    n = len(members)
    if n == 1:
        return int(members[0])
    sums = np.zeros(n)
    for rows, cols in _blocks(n, source.symmetric):
        D = np.asarray(source.block(members[rows], members[cols]), np.float64)
        sums[cols] += D.sum(axis=0)
        if source.symmetric and cols.start >= rows.stop:
            sums[rows] += D.sum(axis=1)
        on_block(D.size)
    # No sum is further from the truth than n roundings, so the medoid is among these.
    close = np.flatnonzero(sums <= sums.min() * (1 + 4 * n * np.finfo(np.float64).eps))
    if len(close) == 1 or sums.min() == 0:
        return int(members[close[0]])
    exact = [
        fsum(column)
        for part in panels(len(close), rows_per_panel(n))
        for column in np.asarray(source.block(members, members[close[part]]), np.float64).T.tolist()
    ]
    return int(members[close[int(np.argmin(exact))]])


def far_members(to_medoid: FloatArray, mads: float = OUTLIER_MADS, least: int = OUTLIER_LEAST) -> NDArray[np.bool_]:
    """d > median(d) + mads * MAD(d), MAD(d) = median |d - median(d)|: (n,) of the members of one cluster.

    to_medoid : (n,) dissimilarities of all members to the medoid, its own included. Of fewer than `least` members
        none is an outlier.
    """
    if len(to_medoid) < least:
        return np.zeros(len(to_medoid), bool)
    middle = np.median(to_medoid)
    return np.asarray(to_medoid > middle + mads * np.median(np.abs(to_medoid - middle)))


def coverage(members: NDArray[Any], n_thresholds: int = 101) -> NDArray[Any]:
    """The share of members within dissimilarity t of their representative: (T,) records threshold, old, medoid.

    members : the table of `Representatives`. Thresholds are spread evenly from 0 to the largest dissimilarity of either
        kind; if all are 0 there is only that one.
    """
    n_thresholds = check_count(n_thresholds, "n_thresholds", at_least=2)
    largest = max(members["to_old"].max(), members["to_medoid"].max())
    t = np.linspace(0.0, largest, n_thresholds) if largest > 0 else np.zeros(1)
    shares = {
        kind: np.searchsorted(np.sort(members[f"to_{kind}"]), t, side="right") / len(members)
        for kind in ("old", "medoid")
    }
    return table(threshold=t, **shares)


def _places(clusters: Clusters, names: list[str]) -> tuple[list[IntArray], list[int]]:
    """Where the members of each cluster are in `names`, which of them represents it; ValueError if one is missing."""
    place = {name: k for k, name in enumerate(names)}
    every = [member for members in clusters.members for member in members]
    if not every:
        raise ValueError("There are no clusters; pass at least one.")
    if any(member not in place for member in every):
        place = {**_accessions(names), **place}
    missing = [member for member in every if member not in place]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(every)} cluster members are not in the input: {first_few(missing)}; pass the file "
            "that was clustered (CD-HIT cuts names short unless it is run with -d 0)."
        )
    places = [np.array([place[member] for member in members], np.intp) for members in clusters.members]
    # Two members may be one object: twice the same id, or an id and its accession.
    order = np.argsort(np.concatenate(places), kind="stable")
    same = np.flatnonzero(np.diff(np.concatenate(places)[order]) == 0)
    if len(same):
        a, b = (every[at] for at in order[same[0] : same[0] + 2])
        raise ValueError(
            f"The cluster members {a!r} and {b!r} are both the object {names[place[a]]!r}; "
            "an object belongs to one cluster, once."
        )
    olds = []
    for old, members in zip(clusters.representatives, clusters.members, strict=True):
        if old not in members:
            raise ValueError(f"The representative {old!r} is not a member of its own cluster; add it to the members.")
        olds.append(members.index(old))
    return places, olds


def _accessions(names: list[str]) -> dict[str, int]:
    """'sp|P69905|HBA_HUMAN' is P69905 to MMseqs2; an accession that two names share is left out."""
    found: dict[str, int] = {}
    twice = set()
    for k, name in enumerate(names):
        parts = name.split("|")
        if len(parts) >= 2 and parts[1]:
            twice |= {parts[1]} & found.keys()
            found[parts[1]] = k
    return {accession: k for accession, k in found.items() if accession not in twice}


def _compared(k: int, old: int, n: int, max_members: int | None, seed: int) -> IntArray:
    """The members of the n of cluster k that its medoid is chosen among, in order: all, or a sample with `old`."""
    every = np.arange(n)
    if max_members is None or n <= max_members:
        return every
    drawn = np.random.default_rng([seed, k]).choice(np.delete(every, old), max_members - 1, replace=False)
    return np.sort(np.append(drawn, old))


def _blocks(n: int, symmetric: bool) -> Iterator[tuple[slice, slice]]:
    """(rows, columns) that cover an n x n matrix; if it is symmetric, corners on the diagonal and all to the right."""
    for rows in panels(n, ROWS):
        if symmetric:
            yield rows, rows
        first = rows.stop if symmetric else 0
        for cols in panels(n - first, COLUMNS):
            yield rows, slice(first + cols.start, first + cols.stop)


def _area(n: int, symmetric: bool) -> int:
    """How many dissimilarities `_blocks` covers."""
    return sum((rows.stop - rows.start) * (cols.stop - cols.start) for rows, cols in _blocks(n, symmetric))
