"""The label term of supervised maps: d_beta instead of d, and the label vectors Y of prototypes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ..search.frame import Weights
from ..sources.base import FloatArray, IntArray, panels
from ..utils.arrays import is_tensor
from ..utils.kernels import kernel
from ..utils.threads import computed_once, run_chunks
from .labels import LabelVectors
from .tensors import label_means, with_labels


@dataclass(frozen=True)
class LabelTerm:
    """d_beta[i, j] = (beta / scale) d[i, j] + (1 - beta) |y_i - Y_j|^2,   Y_j = sum_i A[j, i] y_i / sum_i A[j, i].

    For a point without label it is the first part alone, and the point adds nothing to Y. Both steps of an epoch lower
    the same cost with d_beta instead of d: the label part does not depend on the prototype's place, and Y is a mean.
    """

    labels: LabelVectors
    beta: float
    scale: float = 1.0

    def added_to(self, G: FloatArray, Y: FloatArray) -> FloatArray:
        """d_beta (N, K) for G (N, K) and Y (K, C); G itself when beta = 1."""
        if self.beta == 1.0:
            return G
        distinct, code = self.distinct_labels
        a, b = self.beta / self.scale, 1.0 - self.beta
        if is_tensor(G):
            return with_labels(G, distinct, code, Y, a, b)
        seen = np.empty(G.shape[::-1])
        GT, parts = np.ascontiguousarray(G.T), list(panels(len(Y), 8))
        run_chunks(lambda js: _add_label_term(GT[js], distinct, code, Y[js], a, b, seen[js]), parts, None)
        return seen.T

    def means(self, weights: Weights, Y: FloatArray) -> FloatArray:
        """New label vectors (K, C); a prototype with no weight on labelled points keeps its own."""
        level, value = weights.levels
        if is_tensor(level) or is_tensor(value):
            return label_means(weights, self.labels.y, self.labels.known, Y, level if is_tensor(level) else value)
        rows, Y = self._rows, Y.copy()

        def average(js: slice) -> None:
            own = level[js] if len(level) > 1 else level
            _label_means(own, value[js], weights.m, rows.indptr, rows.indices, rows.data, Y[js])

        run_chunks(average, list(panels(len(Y), 8)), None)
        return Y

    def first(self, weights: Weights) -> FloatArray:
        """Label vectors to start from, (K, C): the means, or the share of each class where there is no weight."""
        m = weights.m[self.labels.known, None]
        share = (m * self.labels.y[self.labels.known]).sum(axis=0) / m.sum()
        return self.means(weights, np.tile(share, (len(weights.levels[1]), 1)))

    def settled(self, before: FloatArray, after: FloatArray) -> bool:
        """Whether the next assignment sees the same labels."""
        return self.beta == 1.0 or bool(np.array_equal(before, after))

    @computed_once
    def distinct_labels(self) -> tuple[FloatArray, IntArray]:
        """Distinct label vectors (U, C), and which of them each point has, (N,); -1 without label."""
        distinct, inverse = np.unique(self.labels.y[self.labels.known], axis=0, return_inverse=True)
        code = np.full(len(self.labels.known), -1, np.intp)
        code[self.labels.known] = inverse.ravel()
        return distinct, code

    @computed_once
    def _rows(self) -> csr_array:
        """The label vectors without their zeros: a hard label is one entry, no label is none."""
        return csr_array(self.labels.y)


@kernel
def _add_label_term(GT, distinct, code, Y, a, b, seen):  # type: ignore[no-untyped-def]
    """seen[j, i] = a GT[j, i] + b |y_i - Y_j|^2; the squares of U label vectors, not of N, are computed."""
    term = np.empty(len(distinct))
    for j in range(GT.shape[0]):
        for u in range(distinct.shape[0]):
            total = 0.0
            for c in range(distinct.shape[1]):
                total += (distinct[u, c] - Y[j, c]) ** 2
            term[u] = b * total
        for i in range(GT.shape[1]):
            d = a * np.float64(GT[j, i])
            seen[j, i] = d + term[code[i]] if code[i] >= 0 else d


@kernel
def _label_means(level, value, m, start, column, share, Y):  # type: ignore[no-untyped-def]
    """Y[j] = sum_i A[j, i] y_i / sum_i A[j, i] over labelled points, in their order; A[j, i] = value[j, level] m_i."""
    for j in range(Y.shape[0]):
        own = level[j % level.shape[0]]  # one row serves all prototypes where the level is the point's field
        total = 0.0
        mean = np.zeros(Y.shape[1])
        for i in range(len(m)):
            if start[i] == start[i + 1]:
                continue
            a = value[j, own[i]] * m[i]
            total += a
            for k in range(start[i], start[i + 1]):
                mean[column[k]] += a * share[k]
        if total > 0.0:
            Y[j] = mean / total
