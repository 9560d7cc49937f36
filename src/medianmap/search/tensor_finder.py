"""The search for prototypes on a device: all costs up to rounding there, the canonical cost of what is close here.

Weights, block sums and the finder do what their counterparts for NumPy do, and give the same prototypes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import FloatArray, IntArray, panels
from ..utils.arrays import is_tensor, namespace, on_host, tensor_like
from ..utils.threads import computed_once
from .field_sums import FieldSums
from .frame import FieldWeights, Finder, RankWeights, SoftWeights, Weights
from .segments import Runs, add_rows

# Points whose weights are made at the same time, times prototypes.
ENTRIES = 2**24
# Rows of D that are multiplied in float32 before their sums are added up in float64.
ROWS = 1024
# With less than this beside it, what is not of rank 0 only moves a sum within its rounding.
NOTHING = 2.0**-60


@dataclass(frozen=True)
class TensorRankWeights(RankWeights):
    """rank is a tensor, whose transpose is contiguous."""

    rank: Any

    @computed_once
    def smallest(self) -> IntArray:
        return on_host(self.rank.amin(1)).astype(np.intp)

    def row(self, j: int) -> FloatArray:
        return self.levels[1][j][on_host(self.rank[j])] * self.m

    def rows(self, js: slice) -> FloatArray:
        return np.stack([self.row(j) for j in range(len(self.rank))[js]])

    @computed_once
    def winner(self) -> IntArray:
        return on_host(self.rank.argmin(0)).astype(np.intp)

    def of_points(self, part: slice, dtype: Any) -> Any:
        ranks, values = self.rank.T[part].long(), self._values(dtype)
        if values.ndim == 1:
            return values[ranks]
        K = values.shape[1]
        return values.flatten()[ranks + K * namespace(ranks).arange(K, device=ranks.device)]

    def _values(self, dtype: Any) -> Any:
        """(K,) what a rank weighs, if that is the same for all prototypes, else (K, K)."""
        values = self.levels[1]
        return tensor_like(values[0] if not self.smallest.any() else values, self.rank, dtype)


@dataclass(frozen=True)
class TensorSoftWeights(SoftWeights):
    """P is a tensor, whose transpose is contiguous."""

    P: Any

    def row(self, j: int) -> FloatArray:
        return on_host(self.P[j]) * self.m

    def rows(self, js: slice) -> FloatArray:
        return on_host(self.P[js]) * self.m

    @property
    def alive(self) -> IntArray:
        return np.flatnonzero(on_host((self.P != 0).any(1)))

    def of_points(self, part: slice, dtype: Any) -> Any:
        return self.P.T[part].to(dtype)


def weights_of_points(weights: Weights, K: int, like: Any, dtype: Any) -> Iterator[tuple[slice, Any]]:
    """Weights A[:, part].T (n, K) of some points after the others, on the device of `like`."""
    for part in panels(len(weights.m), max(1, ENTRIES // K)):
        if isinstance(weights, FieldWeights):
            A = tensor_like(weights.H.T, like, dtype)[tensor_like(weights.winner[part], like)]
        else:
            assert isinstance(weights, TensorRankWeights | TensorSoftWeights)
            A = weights.of_points(part, dtype)
        yield part, A * tensor_like(weights.m[part], like, dtype)[:, None]


class TensorFieldSums(FieldSums):
    """S (K, N) is a tensor; rows of R are those of D, or, across, its columns."""

    def __init__(self, source: Any, across: bool) -> None:
        super().__init__(source.shape[0], None, lambda points: np.zeros(0), None)
        self.source, self.across = source, across and not source.symmetric
        self.largest = float(source.largest)

    def _start(self, K: int) -> None:
        self.S = _zeros(self.source, K)

    def _clear(self, fields: IntArray) -> None:
        self.S[tensor_like(fields, self.S)] = 0.0

    def _changed(self, fields: IntArray) -> None:
        return  # S serves for all products

    def _add_rows(self, field: IntArray, point: IntArray, factor: FloatArray) -> None:
        runs = Runs(tensor_like(point, self.S), tensor_like(field, self.S), len(self.S))
        factors = tensor_like(factor, self.S)
        for rows, D in whole_or_panels(self.source):
            if self.across:
                add_rows(self.S[:, rows], D.T, runs, factors)
                continue
            some, here = runs.among(rows)
            if len(some.index):
                add_rows(self.S, D, some, factors[here])


def whole_or_panels(source: Any) -> Iterator[tuple[slice, Any]]:
    """D as one panel if it is all on the device, else panel by panel."""
    if source.tensor is None:
        yield from source.panels()
    else:
        yield slice(0, source.shape[0]), source.tensor


def _zeros(source: Any, K: int) -> Any:
    torch = namespace_of(source)
    return torch.zeros((K, source.shape[0]), dtype=torch.float64, device=source.device)


def namespace_of(source: Any) -> Any:
    """torch, of a source of tensors."""
    return namespace(source.columns(np.zeros(1, np.intp)))


class TensorSearch:
    """One for a fit; see `Search`."""

    def __init__(self, source: Any) -> None:
        self.source, self.sums = source, TensorFieldSums(source, across=False)

    def __call__(self, weights: Weights, w: IntArray) -> Finder:
        return TensorFinder(weights, self.source, self.sums)


class TensorFinder(Finder):
    """Costs C (K, N) of all candidates on the device, in float64 from sums whose error is known.

    C is below the cost by a relative `slack` and `tiny` at most, since no term is negative:

    * by fields, C = H S: S is within its own error, and the sums over fields are like those of any other order;
    * by ranks, where all but rank 0 weigh next to nothing, C is the sum over the points of rank 0, which leaves out
      what is not negative, and is thus a lower bound;
    * else C = A D, added up in float64 from products of ROWS rows in the precision of D. n float32 products, each of
      rounded factors, and their sum are off by a relative (n + 3) 2^-24 at most.
    """

    def __init__(self, weights: Weights, source: Any, sums: TensorFieldSums) -> None:
        super().__init__(weights.row, source)
        self.C = self._all_costs(weights, source, sums)
        self.terms = int(self.C.numel())
        least, at = self.C.min(1)
        close = self.C <= (least * (1 + 2 * self.slack) + 2 * self.tiny)[:, None]
        self.favourite, self.settled = on_host(at), on_host(close.sum(1)) == 1

    def _all_costs(self, weights: Weights, source: Any, sums: TensorFieldSums) -> Any:
        if isinstance(weights, FieldWeights):
            sums.follow(weights.winner, weights.m, len(weights.H))
            self.tiny += float((weights.H @ sums.error).max())
            fields = tensor_like(weights.fields, sums.S)
            return tensor_like(weights.of_fields, sums.S) @ sums.S[fields]
        K = len(weights.rank) if isinstance(weights, RankWeights) else len(weights.P)
        by_sums = np.zeros(K, bool)
        if isinstance(weights, RankWeights) and (K == 1 or weights.weight_of_rank[1] < NOTHING):
            by_sums = weights.smallest == 0
        C = _zeros(source, K)
        if by_sums.any():
            assert isinstance(weights, RankWeights)
            sums.follow(weights.winner, weights.m, K)
            self.tiny += float(sums.error.max())
            C.copy_(sums.S)
        others = np.flatnonzero(~by_sums)
        if len(others):
            which = tensor_like(others, C)
            C[which] = self._products(weights, K, source, which)
        return C

    def _products(self, weights: Weights, K: int, source: Any, which: Any) -> Any:
        torch = namespace(which)
        single = source.storage != torch.float64
        A = torch.cat([a[:, which] for _, a in weights_of_points(weights, K, which, torch.float64)])
        if single:
            A, self.slack = A.float(), max(self.slack, 4 * (ROWS + 8) * 2.0**-24)
        C = torch.zeros((len(which), source.shape[0]), dtype=torch.float64, device=which.device)
        with all_digits(torch):
            for rows, panel in source.panels():
                for part in panels(len(panel), ROWS):
                    a = A[rows.start + part.start : rows.start + part.stop]
                    C += a.T @ panel[part].to(A.dtype)
        return C

    def costs(self, j: int, taken: NDArray[np.bool_]) -> FloatArray:
        return np.where(taken, np.inf, on_host(self.C[j]))

    def best(self, j: int, taken: NDArray[np.bool_] | None = None) -> int:
        favourite = int(self.favourite[j])
        if self.settled[j] and (taken is None or not taken[favourite]):
            return favourite  # nothing else is close
        return super().best(j, taken)


@contextmanager
def all_digits(torch: Any) -> Iterator[None]:
    """Products of float32 have all its digits, even if the user lets torch take fewer (TF32) for speed."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def rank_weights(rank: Any, *given: Any) -> RankWeights:
    """Weights by ranks (K, N), an array or a tensor."""
    return TensorRankWeights(rank, *given) if is_tensor(rank) else RankWeights(rank, *given)


def soft_weights(P: Any, m: FloatArray) -> SoftWeights:
    """Weights of shares (K, N), an array or a tensor."""
    return TensorSoftWeights(P, m) if is_tensor(P) else SoftWeights(P, m)
