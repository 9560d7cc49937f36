"""What the points behind a summary cost: mean dissimilarities of fields, exact within a summary, fitted beyond it.

A point s of a summary stands for its field F_s, whose other points are gone. What a prototype at c costs them is

    e(s, c) = sum_{i in F_s} m_i d(x_i, c) / sum_{i in F_s} m_i,   not d(s, c)

While s is chosen, e(s, c) is known for all points c that are summarised. So a rule is fitted there by least squares:
e as a combination of the dissimilarities from s and from the points of the summary next to it,

    e(s, c)  ~  d(s, c) + a_s + sum_q b_sq (d(s_q, c) - d(s, c))

which is exact for squared Euclidean distances if the mean of the field is an affine combination of these points, and
asks nothing of other dissimilarities. It is used for points c of other summaries. See docs/mathematics.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..sources.base import FloatArray, IntArray
from ..utils.threads import limited

# Points next to s that a rule reads, and its penalty: the share of each variance that is added to it.
NEIGHBOURS = 16
PENALTY = 0.01


@dataclass(frozen=True)
class Fields:
    """The fields of the P points of a summary."""

    means: FloatArray  # (P, P) e(s, c) within the summary
    near: IntArray  # (P, NEIGHBOURS) the points s_q, by their places in the summary; s itself where there are no more
    rules: FloatArray  # (P, 1 + NEIGHBOURS) a_s, then b_sq

    @classmethod
    def of_points(cls, D: NDArray[Any]) -> Fields:
        """Points that stand for themselves alone."""
        P = len(D)
        near = np.repeat(np.arange(P)[:, None], NEIGHBOURS, axis=1)
        return cls(D.astype(np.float64), near, np.zeros((P, 1 + NEIGHBOURS)))

    def beyond(self, D: NDArray[Any]) -> FloatArray:
        """(P, n) e(s, c) by the rules, from dissimilarities D (P, n) to n points."""
        P = len(self.near)
        B = np.eye(P)
        B[np.arange(P), np.arange(P)] -= self.rules[:, 1:].sum(axis=1)
        np.add.at(B, (np.arange(P)[:, None], self.near), self.rules[:, 1:])
        with limited(1):
            e = B @ D.astype(np.float64, copy=False)
        e += self.rules[:, :1]
        return np.maximum(e, 0.0, out=e)


def mean_costs(D: NDArray[Any], sets: Sequence[tuple[int, Fields | None]]) -> NDArray[Any]:
    """(n, n) what candidates (columns) cost the fields of points (rows) of all sets, of dissimilarities D (n, n).

    sets : how many points each has, and their fields; None where they stand for themselves. If all do, this is D.
    """
    if all(fields is None for _, fields in sets):
        return D
    costs, start = D.astype(np.float64), 0
    for size, fields in sets:
        own = slice(start, start + size)
        if fields is not None:
            costs[own] = fields.beyond(D[own])
            costs[own, own] = fields.means
        start = own.stop
    return costs


def fields_of(D: NDArray[Any], costs: NDArray[Any], m: FloatArray, w: IntArray, field: IntArray) -> Fields:
    """The fields of the points w (P,) among n: field (n,) tells whose each point is, `costs` (n, n) what it costs."""
    P, n = len(w), len(m)
    share = csr_array((m / np.bincount(field, m, P)[field], (field, np.arange(n))), shape=(P, n))
    means = share @ costs.astype(np.float64, copy=False)
    D = D[w].astype(np.float64)
    near, rules = fitted_rules(D, means, m, D[:, w])
    return Fields(np.ascontiguousarray(means[:, w]), near, rules)


def fitted_rules(D: FloatArray, e: FloatArray, m: FloatArray, among: FloatArray) -> tuple[IntArray, FloatArray]:
    """(near, rules) of least squares over n points of weights m (n,).

    D, e (P, n) : from the points of the summary, and from their fields; among (P, P) : D within the summary.
    """
    P = len(D)
    at, q = np.arange(P), min(NEIGHBOURS, P - 1)
    others = among.copy()
    others[at, at] = np.inf
    near = np.repeat(at[:, None], NEIGHBOURS, axis=1)
    near[:, :q] = others.argsort(axis=1, kind="stable")[:, :q]
    rules = np.zeros((P, 1 + NEIGHBOURS))
    unit = float(D.max(initial=0.0)) or 1.0  # so that squares stay in the range of floats
    share = m / m.sum()
    excess = (e - D) / unit
    centred = D / unit
    a, level = excess @ share, centred @ share
    centred -= level[:, None]
    excess -= a[:, None]
    weighted = centred * share
    with limited(1):
        C, c = weighted @ centred.T, weighted @ excess.T  # (P, P) covariances: c[q, s] of d(s_q, .) and excess s
        # Those of differences d(s_q, .) - d(s, .), for every s at once.
        s, of = at[:, None], near[:, :q]
        G = C[of[:, :, None], of[:, None, :]] - C[s, of][:, :, None] - C[s, of][:, None, :] + C[at, at][:, None, None]
        h = c[of, s] - c[at, at][:, None]
        variances = np.maximum(G[:, np.arange(q), np.arange(q)], 0.0)
        # Points that coincide have no variance, and no share in the rule.
        G[:, np.arange(q), np.arange(q)] += PENALTY * variances + np.where(variances > 1e-12, 0.0, 1.0)
        b = np.linalg.solve(G, h[:, :, None])[:, :, 0] if q else np.zeros((P, 0))
    rules[:, 1 : 1 + q] = b
    rules[:, 0] = unit * (a - (b * (level[of] - level[:, None])).sum(axis=1))
    return near, rules
