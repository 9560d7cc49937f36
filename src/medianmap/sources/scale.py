"""Where numbers of extreme size are brought to about 1: dissimilarities and weights, each by a power of two.

Multiplied by a power of two a float keeps all its bits, so whatever is compared afterwards compares as before, and sums
stay inside the range of floats, of float32 where a search screens with it. What is between `LARGE` and its inverse is
left as it is: it would come to the same bits. What a power of two cannot bring into the range is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .base import ALL, LARGE, FloatArray, Index, OwnSource, Source, panels, rows_per_panel

# The exponent up to which the largest weight is left as it is, as LARGE is that of the largest dissimilarity: sums of
# products of both over 2^30 points are inside the range of float32.
HEAVY = 30
# What is smaller than the largest by this power of two would lose bits beside it.
SPAN = 1021


@dataclass(frozen=True)
class ScaledSource(OwnSource):
    """D / 2^exponent of another source, scaled block by block as it is read; in float64, which holds any float32."""

    base: Source
    exponent: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    @property
    def symmetric(self) -> bool:
        return self.base.symmetric

    @property
    def ids(self) -> Sequence[str] | None:
        return self.base.ids

    def block(self, rows: Index, cols: Index) -> NDArray[Any]:
        return np.ldexp(self.base.block(rows, cols).astype(np.float64, copy=False), -self.exponent)


def exponent_of(largest: float, at_most: int) -> int:
    """e with largest / 2^e in [0.5, 1); 0 where largest is 0 or its own exponent no larger in size than at_most."""
    e = int(np.frexp(largest)[1])
    return e if largest > 0 and abs(e) > at_most else 0


def scaled(source: Source, largest: float) -> Source:
    """The source, or one of the same dissimilarities brought to about 1; ValueError if that would lose some."""
    e = exponent_of(largest, LARGE)
    if e == 0:
        return source
    if e > 0 and source.dtype != np.float32:  # only what is scaled down can be lost, and float32 has nothing so small
        least, n = np.ldexp(1.0, e - SPAN), source.shape[0]
        for rows in panels(n, rows_per_panel(n)):
            panel = source.block(rows, ALL)
            lost = (panel > 0) & (panel < least)
            if lost.any():
                i, l = np.argwhere(lost)[0]
                raise ValueError(
                    f"D[{rows.start + i}, {l}] is {panel[i, l]:g} and the largest dissimilarity {largest:g}: they are "
                    "too far apart for sums of both. Set what is so small to 0."
                )
    return ScaledSource(source, e)


def scaled_weights(m: FloatArray) -> tuple[FloatArray, int]:
    """Weights m (N,) brought to about 1, and the exponent e of the 2^e by which they were divided."""
    heaviest = float(m.max())
    e = exponent_of(heaviest, HEAVY)
    lost = np.flatnonzero((m > 0) & (m < np.ldexp(1.0, e - SPAN))) if e > 0 else []
    if len(lost):
        raise ValueError(
            f"sample_weight[{lost[0]}] is {m[lost[0]]:g} and the largest weight {heaviest:g}: they are too far apart "
            "for sums of both. Set what is so small to 0."
        )
    return (np.ldexp(m, -e) if e else m), e
