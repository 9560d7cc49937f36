"""Metrics of mass spectra, peak lists (n, 2) of m/z and intensity: cosine and spectral entropy with a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_flag, check_nonnegative
from ..utils.kernels import kernel
from .base import Metric, Parameter, register

Gain = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Peaks:
    """m/z (n,) ascending and what each peak counts (n,)."""

    mz: NDArray[np.float64]
    weight: NDArray[np.float64]

    @property
    def rank(self) -> tuple[int, bytes, bytes]:
        return len(self.mz), self.mz.tobytes(), self.weight.tobytes()


@kernel
def _within(mz_a, mz_b, tolerance):  # type: ignore[no-untyped-def]
    """All (i, l) with |mz_a[i] - mz_b[l]| <= tolerance, both ascending, and whether no peak is in two of them."""
    i_found, l_found = [0][:0], [0][:0]
    alone = True
    start, last = 0, -1
    for i in range(mz_a.shape[0]):
        while start < mz_b.shape[0] and mz_a[i] - mz_b[start] > tolerance:
            start += 1
        l = start
        while l < mz_b.shape[0] and mz_b[l] - mz_a[i] <= tolerance:
            alone = alone and l == start and l != last
            i_found.append(i)
            l_found.append(l)
            last = l
            l += 1
    return np.array(i_found, np.int64), np.array(l_found, np.int64), alone


def _similarity(x: Peaks, y: Peaks, tolerance: float, gain: Gain) -> float:
    """The largest sum of gain(x_i, y_l) over ways to match peaks within the tolerance, each peak at most once.

    The matching is optimal, not greedy, so the order of the peaks does not matter. The smaller spectrum always comes
    first, so that rounding is the same in both directions.
    """
    if y.rank < x.rank:
        x, y = y, x
    i, l, alone = _within(x.mz, y.mz, tolerance)
    from scipy.optimize import linear_sum_assignment

    if not len(i):
        return 0.0
    gains = gain(x.weight[i], y.weight[l])
    if alone:
        return float(gains.sum())
    rows, row = np.unique(i, return_inverse=True)
    cols, col = np.unique(l, return_inverse=True)
    table = np.zeros((len(rows), len(cols)))
    table[row, col] = gains
    return float(table[linear_sum_assignment(table, maximize=True)].sum())


def _block(a: Sequence[Peaks], b: Sequence[Peaks], tolerance: float, gain: Gain) -> NDArray[np.float64]:
    out = np.zeros((len(a), len(b)))
    for i, x in enumerate(a):
        for l, y in enumerate(b):
            if x.rank != y.rank:
                out[i, l] = max(0.0, 1.0 - _similarity(x, y, tolerance, gain))
    return out


def spectrum_cosine_block(
    a: Any, b: Any, *, tolerance: float = 0.01, mz_power: float = 0.0, intensity_power: float = 1.0
) -> NDArray[np.float64]:
    """(len(a), len(b)): 1 - sum over matched peaks of u_i v_l, u = mz^mz_power intensity^intensity_power, |u| = 1."""

    def unit(spectrum: NDArray[np.float64]) -> Peaks:
        weight = spectrum[:, 0] ** mz_power * spectrum[:, 1] ** intensity_power
        return Peaks(spectrum[:, 0].copy(), weight / np.sqrt((weight * weight).sum()))

    return _block([unit(s) for s in a], [unit(s) for s in b], tolerance, np.multiply)


def spectrum_entropy_block(a: Any, b: Any, *, tolerance: float = 0.01, weighted: bool = True) -> NDArray[np.float64]:
    """(len(a), len(b)): (2 S_AB - S_A - S_B) / ln 4 for entropies S of spectra that sum to 1 and S_AB of their mean
    (Li et al., Nature Methods 2021).

    Only matched peaks make S_AB less than for spectra without common peaks, each pair by (p + q) log2(p + q) - p log2 p
    - q log2 q over 2; that gain is summed. `weighted`: intensities of a spectrum with S < 3 are first raised to
    (1 + S) / 4, as the authors do.
    """
    return _block([_shares(s, weighted) for s in a], [_shares(s, weighted) for s in b], tolerance, _entropy_gain)


def _entropy_gain(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    # Added in an order that does not depend on which of the two comes first.
    return ((p + q) * np.log2(p + q) - (p * np.log2(p) + q * np.log2(q))) / 2


def _shares(spectrum: NDArray[np.float64], weighted: bool) -> Peaks:
    p = spectrum[:, 1] / spectrum[:, 1].sum()
    entropy = float(-(p * np.log(p)).sum())
    if weighted and entropy < 3:
        p = p ** (0.25 * (1 + entropy))
        p /= p.sum()
    return Peaks(spectrum[:, 0].copy(), p)


def _prepare(objects: list[Any], *, name: str, **params: Any) -> list[NDArray[np.float64]]:
    """Every spectrum as (n, 2) in order of m/z, without peaks of intensity 0; at least one peak."""
    for key, value in params.items():
        if key == "weighted":
            check_flag(value, key)
        else:
            check_nonnegative(value, key)
    return [_spectrum(thing, i, name) for i, thing in enumerate(objects)]


def _spectrum(thing: Any, i: int, name: str) -> NDArray[np.float64]:
    try:
        peaks = np.asarray(thing, dtype=np.float64)
    except (TypeError, ValueError):
        peaks = np.empty(0)
    if peaks.ndim != 2 or peaks.shape[1] != 2:
        raise ValueError(f"X[{i}] is not a peak list; for {name!r} pass arrays (n, 2) of m/z and intensity.")
    good = np.isfinite(peaks) & (peaks >= 0)
    good[:, 0] &= peaks[:, 0] > 0
    bad = np.argwhere(~good)
    if len(bad):
        k, side = bad[0]
        what, least = (("m/z", "> 0"), ("intensity", ">= 0"))[side]
        raise ValueError(f"X[{i}] has the {what} {peaks[k, side]:g} at peak {k}; it must be finite and {least}.")
    peaks = peaks[peaks[:, 1] > 0]
    if not len(peaks):
        raise ValueError(f"X[{i}] has no peak with an intensity > 0; drop it.")
    return peaks[np.lexsort((peaks[:, 1], peaks[:, 0]))]


_TOLERANCE = Parameter("tolerance", 0.01, "peaks match if their m/z differ by no more")
_COSINE = (_TOLERANCE, Parameter("mz_power", 0.0, "peaks count m/z to this power"),
           Parameter("intensity_power", 1.0, "times intensity to this power"))  # fmt: skip
_ENTROPY = (_TOLERANCE, Parameter("weighted", True, "raise intensities to (1 + S) / 4 where the entropy S < 3"))

register(Metric("spectrum-cosine", spectrum_cosine_block, True, "peak lists",
                "1 - cosine of peaks matched within a tolerance (the best matching)",
                parameters=_COSINE, prepare=partial(_prepare, name="spectrum-cosine")))  # fmt: skip
register(Metric("spectrum-entropy", spectrum_entropy_block, True, "peak lists",
                "1 - spectral entropy similarity of peaks matched within a tolerance",
                parameters=_ENTROPY, prepare=partial(_prepare, name="spectrum-entropy")))  # fmt: skip
