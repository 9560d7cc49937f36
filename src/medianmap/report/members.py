"""Who lies at each prototype, nearest first, as many as a page of bounded size can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import IntArray
from .embedding import n_bytes
from .exemplars import numbers

DIGITS = 5
# Bytes of a listed member beside its id: its dissimilarity, its class, commas.
PER_LISTED = 16


def members(
    points: NDArray[Any], ids: Sequence[str], classes: IntArray | None, K: int, n_free: int, most: int | None
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """(one record a prototype, what is listed).

    A record: ids, dissimilarities and classes of the nearest members, `others`: the ids, alone, of those beyond, which
    can be searched. What is listed: cap (members listed of a prototype; None: all), complete, n_listed, n_searchable.

    points : the table of `two_best`; classes (N,) numbers, -1 without.
    n_free : bytes that members may take; most : members listed of a prototype, None: as many as fit.
    """
    order = np.lexsort((points["dissimilarity"], points["prototype"]))
    owner = points["prototype"][order]
    start = np.searchsorted(owner, np.arange(K + 1))
    rank = np.arange(len(order)) - start[owner]
    size = np.array([n_bytes(ids[i]) + 1 for i in order], np.int64)
    cap, reach = caps(rank, size, n_free, most)
    records = []
    for j in range(K):
        here = order[start[j] : start[j + 1]]
        near, beyond = here[:cap], here[cap:reach]
        record: dict[str, Any] = {
            "ids": [ids[i] for i in near],
            "dissimilarities": numbers(points["dissimilarity"][near], DIGITS),
        }
        if classes is not None:
            record["classes"] = classes[near].tolist()
        record["others"] = [ids[i] for i in beyond]
        records.append(record)
    largest = int(rank.max()) + 1
    listed = {
        "cap": None if cap >= largest else cap,
        "complete": cap >= largest,
        "n_listed": int((rank < cap).sum()),
        "n_searchable": int((rank < reach).sum()),
    }
    return records, listed


def caps(rank: IntArray, size: IntArray, n_free: int, most: int | None) -> tuple[int, int]:
    """(members listed of a prototype, members whose ids are there at all) within n_free bytes.

    rank (N,) : place of each point among the members of its prototype; size (N,) : bytes of its id.

    All ids come first, for then every one can be found; where they do not fit, listed members have half of the room.
    """
    by_rank = np.bincount(rank, weights=size)
    ids, rows = np.cumsum(by_rank), np.cumsum(np.bincount(rank) * PER_LISTED)
    whole = len(by_rank)
    if ids[-1] <= n_free:
        cap = int(np.searchsorted(rows, n_free - ids[-1], side="right"))
    else:
        cap = int(np.searchsorted(ids + rows, n_free / 2, side="right"))
    cap = min(cap, whole) if most is None else min(most, whole)
    left = n_free - (rows[cap - 1] if cap else 0)
    reach = max(cap, int(np.searchsorted(ids, left, side="right")))
    return cap, reach
