"""What goes into a pass: data of known length with a plan, or a stream; both give one patch after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ..labels import LabelVectors
from ..sources.base import FloatArray, IntArray, panels
from .combined import to_prototypes
from .ground import Prototypes
from .intake import Intake
from .plan import Plan
from .step import Patch

# Points whose dissimilarities to the prototypes are held at a time.
BLOCK = 8192


@dataclass(frozen=True)
class Data:
    """N points, their weights m (N,) and labels, and the order (N,) they are taken in, patch by patch as planned."""

    found: Intake
    m: FloatArray
    labels: LabelVectors | None
    order: IntArray
    plan: Plan

    @property
    def patch_size(self) -> int:
        return self.plan.patch_size

    def opened(self) -> tuple[Data, Iterator[Patch]]:
        """The data and their patches."""
        return self, self.patches()

    def patches(self) -> Iterator[Patch]:
        """One patch after the other; points of weight 0 are left out of them."""
        y = np.empty((len(self.m), 0))
        if self.labels is not None:
            y = np.where(self.labels.known[:, None], self.labels.y, np.nan)
        stop = 0
        for size in self.plan.sizes:
            start, stop = stop, stop + int(size)
            at = self.order[start:stop]
            at = at[self.m[at] > 0]
            yield Patch(self.found.take(at), at, self.m[at], y[at], int(size))


@dataclass(frozen=True)
class Stream:
    """Points that come as they come, patch_size at a time, each of weight 1 and without label."""

    found: Intake
    patch_size: int
    m: None = None
    labels: None = None
    plan: None = None

    def opened(self) -> tuple[Stream, Iterator[Patch]]:
        """The stream with what its first points fix of the metric, and all its patches."""
        points = self.found.next_points(self.patch_size, 0)
        if points is None:
            return self, iter(())
        known = replace(self, found=self.found.after_first(points, np.ones(len(points))))
        return known, chain([_unweighted(points, 0)], known._rest(len(points)))

    def _rest(self, seen: int) -> Iterator[Patch]:
        while (points := self.found.next_points(self.patch_size, seen)) is not None:
            yield _unweighted(points, seen)
            seen += len(points)


def _unweighted(points: Any, seen: int) -> Patch:
    n = len(points)
    return Patch(points, np.arange(seen, seen + n), np.ones(n), np.empty((n, 0)), n)


def distance_blocks(found: Intake, prototypes: Prototypes) -> Iterator[tuple[IntArray, FloatArray]]:
    """(places (n,), dissimilarities (n, K) from these points to the prototypes), over all points."""
    assert found.N is not None
    distances = to_prototypes(found.ground, prototypes)
    for part in panels(found.N, BLOCK):
        at = np.arange(part.start, part.stop)
        yield at, distances(found.take(at))
