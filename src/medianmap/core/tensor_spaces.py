"""Where prototypes live when D is on a device: median, relational and compressed spaces over a `TensorSource`.

The formulas are those of spaces.py and compression.py. Dissimilarities G (N, K) are tensors with the prototypes of a
point adjacent, which is what ranks and winners read; what has N or K K numbers is NumPy's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..search import Search
from ..search.frame import FieldWeights, RankWeights, Weights
from ..search.tensor_finder import TensorFieldSums, TensorSearch, weights_of_points
from ..sources.base import FloatArray, IntArray, Source
from ..sources.tensors import TensorSource
from ..utils.arrays import in_double, namespace, on_host, tensor_like
from ..utils.threads import computed_once
from .compression import PROTOTYPES, CompressedPrototypes
from .field_combinations import TINY, TOLERANCE, FieldCombinations, combined
from .spaces import NOISE, MedianSpace, RelationalSpace, Space
from .tensors import parts


def median_space(source: Source, *given: Any) -> MedianSpace:
    """The median space over a source, wherever that is."""
    return TensorMedianSpace(source, *given) if isinstance(source, TensorSource) else MedianSpace(source, *given)


def relational_space(source: Source, *given: Any) -> RelationalSpace:
    """The relational space over a source, wherever that is."""
    return (
        TensorRelationalSpace(source, *given) if isinstance(source, TensorSource) else RelationalSpace(source, *given)
    )


class _OnDevice(Space):
    """What the spaces of tensors have in common."""

    source: Any  # a TensorSource

    @property
    def shareable(self) -> bool:
        return False  # one run fills a card

    @property
    def exponent(self) -> int:
        return int(self.source.exponent)

    def subset(self, keep: IntArray) -> Self:
        return replace(self, source=self.source.subset(keep), memory={})  # type: ignore[type-var]

    def mean(self, m: FloatArray) -> float:
        p = m / m.sum()
        panels = self.source.panels()
        return sum(float(p[rows] @ on_host(panel.double() @ tensor_like(p, panel))) for rows, panel in panels)


@dataclass(frozen=True)
class TensorMedianSpace(_OnDevice, MedianSpace):
    """The same prototypes as on the CPU from the same weights, whatever the name of the search.

    Where the device holds fewer digits than the user's matrix has, that matrix is read: exemplars settle on it.
    """

    source: TensorSource

    def unscaled(self) -> MedianSpace:  # type: ignore[override]
        """On the CPU: fitted distances are those that `predict` computes."""
        return MedianSpace(self.source.unscaled(), self.strategy, self.collisions, self.n_jobs)

    def _compute(self, P: IntArray) -> Any:
        return in_precision(self.source.exact().columns(P)).T.contiguous()

    def combinations(self) -> RelationalSpace:
        return TensorRelationalSpace(self.source, self.n_jobs)

    def perturbed(self, G: Any, rng: np.random.Generator) -> Any:
        if self.collisions != "noise":
            return G
        return in_double(G) * tensor_like(1 + NOISE * rng.random(tuple(G.shape)), G)

    @computed_once
    def search(self) -> Search:
        return TensorSearch(self.source.exact())


def in_precision(D: Any) -> Any:
    """Entries of D as they are computed with: float64 or float32."""
    return D if D.dtype == namespace(D).float64 else D.float()


@dataclass(frozen=True)
class TensorCombinations:
    """alpha (N, K), a tensor: column = prototype."""

    alpha: Any

    def __len__(self) -> int:
        return int(self.alpha.shape[1])

    def array(self) -> FloatArray:
        """Coefficients (K, N) that sum to 1 in float64."""
        P = on_host(self.alpha).T.astype(np.float64)
        return P / P.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class TensorRelationalSpace(_OnDevice, RelationalSpace):
    """Prototypes are `FieldCombinations`, else `TensorCombinations`; a start may be indices or coefficients (K, N).

    Products are in float64 where D is, else in float32.
    """

    source: TensorSource

    def unscaled(self) -> RelationalSpace:  # type: ignore[override]
        """On the CPU, reading all of D once more: from the device, unless other numbers than the user's are there."""
        others = self.source.rounded or self.source.exponent
        return RelationalSpace(self.source.unscaled() if others else self.source, self.n_jobs)

    def at(self, indices: IntArray) -> Any:
        return indices

    def as_array(self, P: Any) -> FloatArray:
        if isinstance(P, TensorCombinations):
            return P.array()
        return super().at(P) if isinstance(P, np.ndarray) and P.ndim == 1 else super().as_array(P)

    def n_moved(self, before: Any, after: Any) -> int:
        if isinstance(before, TensorCombinations) and isinstance(after, TensorCombinations):
            differ = before.alpha != after.alpha if len(before) == len(after) else after.alpha == after.alpha
            return int(differ.any(0).sum())
        if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
            return Space.n_moved(self, before, after)
        return len(after) if type(before) is not type(after) else super().n_moved(before, after)

    def compressed_by(self, kind: Any, U: NDArray[np.float32], w: NDArray[np.float32]) -> Any:
        U, w = tensor_like(U, self._like), tensor_like(w, self._like)
        return CompressedTensorSpace(self.source, self.n_jobs, U=U, w=w)

    @computed_once
    def _like(self) -> Any:
        """Any tensor on the device."""
        return self.source.columns(np.zeros(1, np.intp))

    @computed_once
    def _sums(self) -> Any:
        return TensorFieldSums(self.source, across=True)

    def _compute(self, P: Any) -> Any:
        if isinstance(P, FieldCombinations):
            return self._by_fields(P)
        if isinstance(P, np.ndarray) and P.ndim == 1:
            G = in_precision(self.source.columns(P)).T.contiguous()
            own = G[tensor_like(P, G)].diagonal() / 2
            return G - own if own.any() else G
        return self._by_products(self._as_tensor(P).alpha)

    def _by_fields(self, P: FieldCombinations) -> Any:
        """G from block sums, as `field_distances`."""
        self._sums.follow(P.field, P.m, len(P))
        S, torch = self._sums.S, namespace(self._sums.S)
        kind = self._kind(torch)
        fields = np.flatnonzero(P.w.any(axis=0))
        w, S = tensor_like(P.w[:, fields].T, S, kind), S if len(fields) == len(S) else S[tensor_like(fields, S)]
        G = torch.empty((self.n_points, len(P)), dtype=kind, device=S.device)
        own, shares = torch.zeros(len(P), dtype=torch.float64, device=S.device), tensor_like(P.w.T, S)
        for part in parts(G):
            Q = torch.mm(S[:, part].to(kind).T, w, out=G[part])
            own += (shares[tensor_like(P.field[part], S)] * tensor_like(P.m[part], S)[:, None] * Q).sum(0)
        return G.sub_((own / 2).to(kind))

    def _by_products(self, alpha: Any) -> Any:
        """G from coefficients alpha (N, K), which takes all of D."""
        torch = namespace(alpha)
        G = torch.empty_like(alpha)
        own = torch.zeros(alpha.shape[1], dtype=torch.float64, device=alpha.device)
        for rows, panel in self.source.panels():
            Q = torch.mm(panel.to(alpha.dtype), alpha, out=G[rows])
            own += (alpha[rows].double() * Q).sum(0)
        return G.sub_((own / 2).to(G.dtype))

    def _kind(self, torch: Any) -> Any:
        # Products of float32 numbers as small as TINY lose digits.
        return torch.float64 if self.source.storage == torch.float64 or self.source.largest < TINY else torch.float32

    def _as_tensor(self, P: Any) -> TensorCombinations:
        if isinstance(P, TensorCombinations):
            return P
        return TensorCombinations(tensor_like(self.as_array(P).T, self._like, self._kind(namespace(self._like))))

    def update(self, weights: Weights, P: Any) -> tuple[Any, int]:
        fields = combined(weights) if isinstance(weights, FieldWeights) else self._by_rank_0(weights)
        if fields is not None:
            return fields, fields.w.size
        like, torch = self._like, namespace(self._like)
        alpha = torch.empty((self.n_points, len(P)), dtype=self._kind(torch), device=like.device)
        for part, A in weights_of_points(weights, len(P), like, alpha.dtype):
            alpha[part] = A
        alpha[alpha < TOLERANCE * alpha.amax(0)] = 0.0
        mass = alpha.sum(0, dtype=torch.float64)
        alpha /= mass.clamp(min=torch.finfo(alpha.dtype).tiny).to(alpha.dtype)
        dead = mass == 0
        if dead.any():
            alpha[:, dead] = self._as_tensor(P).alpha[:, dead]
        return TensorCombinations(alpha), int(alpha.numel())

    def _by_rank_0(self, weights: Any) -> FieldCombinations | None:
        """The means of the fields, where all other coefficients are below TOLERANCE: they are found from block sums."""
        if not isinstance(weights, RankWeights) or len(weights.rank) == 1 or weights.smallest.any():
            return None
        heaviest = np.zeros(len(weights.rank))
        np.maximum.at(heaviest, weights.winner, weights.m)
        if weights.weight_of_rank[1] * weights.m.max() >= TOLERANCE * heaviest.min():
            return None
        return combined(FieldWeights(np.eye(len(heaviest)), weights.winner, weights.m))


@dataclass(frozen=True, kw_only=True)
class CompressedTensorSpace(TensorRelationalSpace):
    """Combinations of the data as r numbers each: U (N, r) and w (r,), float32 tensors (see compression.py)."""

    U: Any
    w: Any

    @property
    def compression(self) -> int:
        return len(self.w)

    def compressed(self, P: NDArray[Any]) -> CompressedPrototypes:
        """Data points (K,) or coefficients (K, N) as prototypes of this space."""
        exact = self._exact()
        if P.ndim == 1:
            return CompressedPrototypes(self.U[tensor_like(P, self.U)], lambda: P)
        p = tensor_like(P, self.U, self.U.dtype) @ self.U
        return CompressedPrototypes(p, lambda: exact._as_tensor(P))

    def _exact(self) -> TensorRelationalSpace:
        return TensorRelationalSpace(self.source, self.n_jobs)

    def n_moved(self, before: Any, after: Any) -> int:
        return int((before.p != after.p).any(1).sum())

    def as_array(self, P: Any) -> Any:
        """Prototypes of the space that this one stands for."""
        return P.coefficients()

    def _compute(self, P: Any) -> Any:
        scaled = P.p * self.w
        own = (scaled.double() * P.p).sum(1) / 2
        return (self.U @ scaled.T).sub_(own.float())

    def update(self, weights: Any, P: Any) -> tuple[Any, int]:
        torch, K = namespace(self.U), len(P)
        total = torch.zeros(K, dtype=torch.float64, device=self.U.device)
        sums = torch.zeros(P.p.shape, dtype=torch.float64, device=self.U.device)
        for part, A in weights_of_points(weights, K, self.U, self.U.dtype):
            total += A.sum(0, dtype=torch.float64)
            sums += A.T @ self.U[part]
        alive = (total > 0)[:, None]
        p = torch.where(alive, sums / torch.where(alive, total[:, None], 1.0), P.p.double()).float()
        # Coefficients are asked for once, at the end: a prototype without weight then has those of no point.
        exact, none = self._exact(), partial(np.zeros, (K, self.n_points))
        return CompressedPrototypes(p, lambda: exact.update(weights, none())[0]), K * p.shape[1]

    def error(self, points: IntArray) -> tuple[float, float]:
        """As `CompressedSpace.error`."""
        torch, squares = namespace(self.U), 0.0
        near = torch.full((self.n_points,), torch.inf, dtype=torch.float64, device=self.U.device)
        for start in range(0, len(points), PROTOTYPES):
            js = points[start : start + PROTOTYPES]
            true = in_precision(self.source.columns(js))
            found = (self.U[tensor_like(js, self.U)] * self.w) @ self.U.T
            squares += float(((found - true) ** 2).sum(dtype=torch.float64))
            near = near.minimum(true.amin(0))
        return float(np.sqrt(squares / (self.n_points * len(points)))), float(near.mean())
