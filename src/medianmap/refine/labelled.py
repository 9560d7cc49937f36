"""Swaps with labels: the dissimilarities d_beta, which the labels are part of, as a source for swaps of medoids.

    d_beta[i, l] = (beta / scale) D[i, l] + (1 - beta) |y_i - y_l|^2

A candidate l has its own label. In training a prototype has the mean label of its field instead; where fields are
nearly pure the two differ little, and with own labels d_beta is a matrix, which swaps need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.assignment import Assignment
from ..core.label_term import LabelTerm
from ..sources.base import FloatArray, Index, IntArray, Source, panels, rows_per_panel
from ..sources.tensors import TensorSource
from ..utils.arrays import tensor_like
from ..utils.device import torch_module


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


@dataclass(frozen=True)
class LabelledTensorSource(TensorSource):
    """The same on a device, computed panel by panel from a source of tensors."""

    parts: LabelledSource = field(kw_only=True)

    def panels(self, size: int | None = None) -> Iterator[tuple[slice, Any]]:
        for rows, D in self.base.panels(size):
            yield rows, self._with_labels(D, self.parts.own[rows], self.parts.brought)

    def rows(self, points: IntArray) -> Any:
        return self._with_labels(self.base.rows(points), self.parts.own[points], self.parts.brought)

    def columns(self, points: IntArray) -> Any:
        return self._with_labels(self.base.columns(points).T, self.parts.own, self.parts.brought[points]).T.contiguous()

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        return self.parts.block(rows, cols)

    def labels_of(self, medoids: IntArray) -> FloatArray:
        """(K, C) the label vectors of exemplars."""
        return self.parts.labels_of(medoids)

    def exact(self) -> LabelledTensorSource:
        base = self.base.exact()
        return self if base is self.base else on_device(replace(self.parts, base=base, dtype=base.dtype), base)

    @property
    def base(self) -> TensorSource:
        base: Any = self.parts.base
        return base

    def _with_labels(self, D: Any, own: IntArray, brought: IntArray) -> Any:
        """d_beta (n, k) for D (n, k), points of the labels `own` and candidates of the labels `brought`."""
        beta, apart = self.parts.term.beta, np.vstack([self.parts.apart, np.zeros(len(self.parts.apart))])
        term = tensor_like((1.0 - beta) * apart, D)  # its last row is that of points without label, -1
        own = np.where(own < 0, len(apart) - 1, own)
        labels = term[tensor_like(own, D)][:, tensor_like(brought, D)]
        return labels.add_(D.double() * (beta / self.parts.term.scale)).to(self.storage)


def on_device(parts: LabelledSource, base: TensorSource) -> LabelledTensorSource:
    """d_beta of a source of tensors."""
    beta, largest = parts.term.beta, float(parts.apart.max(initial=0.0))
    largest = beta / parts.term.scale * base.largest + (1.0 - beta) * largest
    storage = getattr(torch_module(), parts.dtype.name)
    return LabelledTensorSource(
        base.n, None, base.device, storage, parts.symmetric, largest, ids=base.ids, rounded=base.rounded, parts=parts
    )


def labelled_source(source: Source, term: LabelTerm) -> LabelledSource | LabelledTensorSource:
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
    parts = LabelledSource(source, term, apart, own, brought, source.shape, dtype, symmetric, source.ids)
    return on_device(parts, source) if isinstance(source, TensorSource) else parts


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
