"""Metrics of vectors on a device, block by block, in float64: the same values as SciPy's but for rounding.

Euclidean distances come from products, |x - y|^2 = |x|^2 + |y|^2 - 2 x.y of centred vectors, where that keeps its
digits; a pair so near that they cancel is compared coordinate by coordinate. So the same vectors are at distance 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.device import torch_module
from .base import BoundMetric
from .vector import SAME_AS

PRODUCTS = ("euclidean", "sqeuclidean", "cosine", "correlation")
BY_COORDINATE = ("cityblock", "hamming")
# Below this share of |x|^2 + |y|^2 a product leaves |x - y|^2 fewer than twelve digits of float64.
CANCELLED = 1e-4
# Numbers of two vectors that are gathered at a time to compare such pairs.
GATHERED = 2**24
# Numbers of vectors and dissimilarities that are worked on at a time where neighbours are looked for.
AT_A_TIME = 2**25
# Rows and columns of a block: of products as large as keeps a card busy, else what its cache holds.
PRODUCT_TILE, COORDINATE_TILE = 4096, 2048


def on_tensors(metric: BoundMetric) -> str | None:
    """The name by which `Vectors` knows the metric; None if it is not computed there."""
    name = SAME_AS.get(metric.name, metric.name)
    plain = all(value is None for value in metric.params.values())
    return name if plain and name in PRODUCTS + BY_COORDINATE else None


class Vectors:
    """N vectors on a device, ready to be compared: `block(i, l)` has the dissimilarities of slices of them."""

    def __init__(self, X: NDArray[Any], name: str, device: Any) -> None:
        torch = torch_module()
        self.name = name
        self.tile = PRODUCT_TILE if name in PRODUCTS else COORDINATE_TILE
        R = torch.tensor(np.ascontiguousarray(X), dtype=torch.float64, device=device)
        if name in BY_COORDINATE:
            self.coordinates = R.T.contiguous()  # (M, N)
            return
        if name in ("euclidean", "sqeuclidean"):
            R -= R.mean(dim=0)
            self.squares = torch.einsum("nm,nm->n", R, R)
        else:
            if name == "correlation":
                R -= R.mean(dim=1, keepdim=True)
            R /= torch.linalg.vector_norm(R, dim=1, keepdim=True)  # of zeros it is NaN, which is refused with its pair
        self.R = R

    def block(self, rows: slice, cols: slice) -> Any:
        """Dissimilarities (n, k) in float64 from the vectors `rows` to the vectors `cols`."""
        if self.name in BY_COORDINATE:
            return self._by_coordinate(rows, cols)
        a, b = self.R[rows], self.R[cols]
        if self.name in ("cosine", "correlation"):
            return (1.0 - a @ b.T).clamp_(0.0, 2.0)  # as SciPy does, which takes cosines beyond 1 for 1
        sums = self.squares[rows, None] + self.squares[cols]
        d = sums - 2.0 * (a @ b.T)
        near = (d < CANCELLED * sums).nonzero()
        for pairs in near.split(max(1, GATHERED // max(1, a.shape[1]))):
            i, l = pairs.unbind(dim=1)
            d[i, l] = (a[i] - b[l]).square().sum(dim=1)
        return d.sqrt_() if self.name == "euclidean" else d

    def _by_coordinate(self, rows: slice, cols: slice) -> Any:
        a, b = self.coordinates[:, rows], self.coordinates[:, cols]
        d = a.new_zeros((a.shape[1], b.shape[1]))
        for x, y in zip(a, b, strict=True):
            d += (x[:, None] != y) if self.name == "hamming" else (x[:, None] - y).abs()
        return d / len(a) if self.name == "hamming" else d

    def least_gap(self, d: Any) -> Any:
        """By how much two entries of a block, of which d is the larger, differ if SciPy tells them apart, too.

        Twice what an entry can be off by rounding, here and in SciPy, with room to spare: relative to the entry, and
        absolute where a difference of centred coordinates, or of a cosine and 1, is left with few digits.
        """
        u = 2.0**-53
        if self.name in BY_COORDINATE:
            return 16 * (len(self.coordinates) + 8) * u * d
        terms = 16 * (self.R.shape[1] + 8) * u
        if self.name in ("cosine", "correlation"):
            return terms + 0.0 * d
        lengths = d.sqrt() if self.name == "sqeuclidean" else d
        off = terms / CANCELLED * lengths + 16 * u * self.squares.max().sqrt()
        return off * (2 * lengths + off) if self.name == "sqeuclidean" else off


def nearest(X: NDArray[Any], W: NDArray[Any], metric: BoundMetric, device: Any) -> NDArray[np.intp]:
    """(n,) the nearest of the vectors W (K, M) to each of X (n, M), as the metric itself says; the lowest on ties.

    On a device; where two are so close that rounding could decide, the metric does. metric : one of `on_tensors`.
    """
    name = on_tensors(metric)
    assert name is not None
    K, found = len(W), np.zeros(len(X), np.intp)
    size = max(1, AT_A_TIME // (K + X.shape[1]))
    for start in range(0, len(X), size):
        part = X[start : start + size]
        vectors = Vectors(np.concatenate([W, part]), name, device)
        d = vectors.block(slice(K, K + len(part)), slice(0, K))
        best = d.topk(min(2, K), dim=1, largest=False)
        at = best.indices[:, 0].cpu().numpy()
        near, next_ = best.values[:, 0], best.values[:, -1]
        told_apart = (next_ - near > vectors.least_gap(next_)) & d.isfinite().all(dim=1)
        in_doubt = np.flatnonzero(~told_apart.cpu().numpy())
        if len(in_doubt):
            at[in_doubt] = metric.between(part[in_doubt], W, start + in_doubt).argmin(axis=1)
        found[start : start + size] = at
    return found
