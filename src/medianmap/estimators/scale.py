"""The size of a fit's numbers: by which powers of two they were divided at the door, and records in the user's size."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.engine import Epoch

# What a temperature may be beside dissimilarities of about 1: below, nothing mixes; above, exponents lose what differs.
COLDEST, HOTTEST = 1e-100, 1e100


@dataclass(frozen=True)
class Scale:
    """The powers of two by which numbers of a fit were divided (sources/scale.py), as exponents; 0 as a rule.

    d : dissimilarities; m : weights; seen : what the assignment sees: with labels, d_beta has a size of its own.
    cools : whether the width that an epoch records is a temperature, which has the size of what is seen.
    """

    d: int = 0
    m: int = 0
    seen: int = 0
    cools: bool = False

    def back(self, epoch: Epoch) -> Epoch:
        """The record of an epoch in the user's numbers."""
        if not (self.d or self.m):
            return epoch
        error, cost = np.ldexp((epoch.quantization_error, epoch.cost), (self.d + self.m, self.seen + self.m)).tolist()
        sigma = float(np.ldexp(epoch.sigma, self.seen)) if self.cools else epoch.sigma
        return replace(epoch, sigma=sigma, cost=cost, quantization_error=error)

    def check_labels(self, scaled: bool) -> None:
        """ValueError for labels that are added to dissimilarities of another size, unless those are scaled."""
        if self.d and not scaled:
            raise ValueError(
                f"The largest dissimilarity is about {np.ldexp(1.0, self.d - 1):.0e}, and label_scale=None adds labels "
                "of about 1 to that, too far apart for sums of both. Choose label_scale='mean'."
            )

    def of_temperature(self, T: float | str | None, total_weight: float) -> float | str | None:
        """The temperature in the numbers of training; total_weight: of all points, times the number of prototypes."""
        if T is None or isinstance(T, str):
            return T
        inside = float(np.ldexp(T, -self.seen))
        with np.errstate(over="ignore"):
            limits = np.ldexp((COLDEST, HOTTEST), self.seen)
            overflows = not np.isfinite(T * total_weight)
        if overflows or not COLDEST <= inside <= HOTTEST:
            found = f"below {limits[0]:.0e}" if inside < 1 else f"above {min(limits[1], 1e308 / total_weight):.0e}"
            raise ValueError(
                f"temperature is {T:g}; for dissimilarities and weights of this size that is {found}, its limit. Choose "
                "it near the mean dissimilarity, or 'auto'."
            )
        return inside
