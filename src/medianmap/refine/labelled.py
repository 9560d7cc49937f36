"""Swaps with labels: the dissimilarities d_beta, which the labels are part of, as a source for swaps of medoids.

    d_beta[i, l] = (beta / scale) D[i, l] + (1 - beta) |y_i - y_l|^2

A candidate l has its own label. In training a prototype has the mean label of its field instead; where fields are
nearly pure the two differ little, and with own labels d_beta is a matrix, which swaps need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.assignment import Assignment
from ..core.label_term import LabelTerm
from ..sources.base import FloatArray, Index, IntArray, Source, panels, rows_per_panel


@dataclass(frozen=True)
class LabelledSource:
    """d_beta of a source; for a point without label it is the first part alone.

    apart (U, U) : |y - y'|^2 of the distinct label vectors; own (N,) : which of them a point has, -1 for none;
    brought (N,) : which of them it has as a candidate.
    """

    base: Source
    term: LabelTerm
    apart: FloatArray
    own: IntArray
    brought: IntArray
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    symmetric: bool
    ids: Sequence[str] | None

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        own, beta = self.own[rows], self.term.beta
        apart = self.apart[np.ix_(own, self.brought[cols])]
        apart[own < 0] = 0.0
        D = np.asarray(self.base.block(rows, cols), np.float64)
        return ((beta / self.term.scale) * D + (1.0 - beta) * apart).astype(self.dtype)

    def labels_of(self, medoids: IntArray) -> FloatArray:
        """(K, C) the label vectors of exemplars."""
        return self.term.distinct_labels[0][self.brought[medoids]]


def labelled_source(source: Source, term: LabelTerm) -> LabelledSource:
    """d_beta of the source. As a candidate, a point without label has that of the nearest labelled point.

    With no label at all it would represent every class equally well.
    """
    distinct, own = term.distinct_labels
    known, unknown = np.flatnonzero(own >= 0), np.flatnonzero(own < 0)
    brought = own.copy()
    for part in panels(len(unknown), rows_per_panel(len(known))):
        brought[unknown[part]] = own[known[source.block(known, unknown[part]).argmin(axis=0)]]
    # Plain sums, no BLAS: the same bits at any number of threads.
    apart = np.stack([((distinct - one) ** 2).sum(axis=1) for one in distinct])
    dtype = np.dtype(np.float32 if source.dtype == np.float32 else np.float64)
    symmetric = source.symmetric and not len(unknown)
    return LabelledSource(source, term, apart, own, brought, source.shape, dtype, symmetric, source.ids)


def settled_labels(
    term: LabelTerm, assignment: Assignment, G: FloatArray, sigma: float, m: FloatArray, Y: FloatArray
) -> FloatArray:
    """(K, C) label vectors of fixed prototypes at dissimilarities G (N, K).

    They are updated from Y on until they are the means of the fields that they define.
    """
    for _ in range(100):
        before, Y = Y, term.means(assignment(term.added_to(G, Y), sigma, m)[0], Y)
        if term.settled(before, Y):
            break
    return Y
