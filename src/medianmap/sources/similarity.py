"""Similarities as dissimilarities: the table of rules, of which a kernel's is d = k_ii + k_jj - 2 k_ij.

Where the eigenvalues of J K J, J = 1 - 1/N, are not negative, d is the squared distance of points in a Euclidean space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .base import ALL, DenseSource, FloatArray, Index, IntArray, OwnSource, Source, fits, panels, rows_per_panel

SimilarityRule: TypeAlias = str | Callable[[NDArray[np.float64]], Any]
Formula: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray, float], FloatArray]


def _kernel(s: FloatArray, own: FloatArray, other: FloatArray, most: float) -> FloatArray:
    return own + other - 2 * s


# What each rule is, and its formula: of similarities s, those of the two points with themselves, the largest of all.
RULES: dict[str, tuple[str, Formula]] = {
    "1-s": ("1 - s, for similarities in [0, 1]", lambda s, own, other, most: 1 - s),
    "1-s/100": ("1 - s / 100, for percentages", lambda s, own, other, most: 1 - s / 100),
    "max-s": ("the largest similarity of the table - s", lambda s, own, other, most: most - s),
    "-log": ("-log s, for similarities in (0, 1]", lambda s, own, other, most: -np.log(s)),
    "normalized": (
        "1 - s_ab / sqrt(s_aa s_bb), for scores that include every object against itself",
        lambda s, own, other, most: 1 - s / np.sqrt(own * other),
    ),
    "kernel": ("s_aa + s_bb - 2 s_ab, the squared distance of a kernel", _kernel),
    "kernel-clip": ("the same with negative eigenvalues set to 0", _kernel),
    "kernel-flip": ("the same with eigenvalues by their size", _kernel),
    "kernel-shift": ("the same with the lowest eigenvalue added to all pairs, twice", _kernel),
}
# What is done with negative eigenvalues, in words; by the rules that need all eigenvalues and a matrix in memory.
REPAIRS = {"kernel-clip": "they are set to 0", "kernel-flip": "their sizes are taken",
           "kernel-shift": "all are raised by the lowest"}  # fmt: skip
KERNELS = ("kernel", *REPAIRS)
REMEDIES = (
    "similarity='kernel-clip' sets such eigenvalues to 0, similarity='kernel-flip' takes their sizes, "
    "similarity='kernel-shift' raises all by the lowest"
)

# Rounding may bring a similarity slightly above its maximum; its dissimilarity is zero.
ROUNDING = 1e-12
# The same of kernels: their entries are sums themselves, rounded in the precision of the matrix.
ROUNDINGS = 4096
# Of more points a random sample is looked at for negative eigenvalues.
MOST_POINTS = 1000


@dataclass(frozen=True)
class SimilaritySource(OwnSource):
    """d computed from a source of similarities block by block.

    own : (N,) similarities of the points with themselves. most : the largest similarity.
    precision : type of the numbers that the similarities were computed in.
    """

    base: Source
    rule: str
    own: FloatArray
    most: float
    precision: np.dtype[Any]

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
        return without_rounding(*self.raw(rows, cols))

    def raw(self, rows: Index, cols: Index) -> tuple[FloatArray, FloatArray]:
        """d as the formula gives it, and how far below 0 rounding may bring it."""
        s = self.base.block(rows, cols).astype(np.float64)
        own, other = self.own[rows][:, None], self.own[cols][None, :]
        with np.errstate(divide="ignore", invalid="ignore"):  # a bad value is reported with its pair
            d = RULES[self.rule][1](s, own, other, self.most)
        if self.rule not in KERNELS:
            return d, np.full((1, 1), ROUNDING)
        return d, ROUNDINGS * epsilon(self.precision) * (np.abs(own) + np.abs(other))


def without_rounding(d: FloatArray, tolerance: FloatArray) -> FloatArray:
    """d with 0 for what lies below it by no more than the tolerance."""
    d[(d < 0) & (d >= -tolerance)] = 0.0
    return d


def epsilon(precision: np.dtype[Any]) -> float:
    """Relative rounding of numbers of this type; integers are summed exactly, and then converted."""
    return float(np.finfo(precision if precision.kind == "f" else np.float64).eps)


def from_similarities(
    base: Source, rule: str, *, name: str = "The matrix", whole: bool = True, missing: bool = False
) -> tuple[Source, FloatArray | None, str]:
    """Dissimilarities of a source of similarities: (source, D (N, N) or None where `whole` is False, what to tell).

    name : of the data, for messages. missing : whether NaN stands for a missing pair, and stays.
    """
    S, said = base, ""
    n, precision = base.shape[0], base.dtype
    if rule in KERNELS:
        base, said = _looked_at(base, rule, name)
    source = SimilaritySource(base, rule, _own(base, rule, name), _largest(base, rule), precision)
    D = np.empty((n, n)) if whole else None
    n_rounded = 0
    for rows in panels(n, rows_per_panel(n)):
        d, tolerance = source.raw(rows, ALL)
        n_rounded += int(np.count_nonzero((d < 0) & (d >= -tolerance)))
        d = without_rounding(d, tolerance)
        bad = ~((d >= 0) & (d < np.inf))
        if missing:
            bad &= ~np.isnan(S.block(rows, ALL))
        if bad.any():
            i, l = (int(k) for k in np.argwhere(bad)[0])
            s = float(S.block(slice(rows.start + i, rows.start + i + 1), ALL)[0, l])
            raise ValueError(refusal(name, pair(rows.start + i, l, S.ids), s, float(d[i, l]), rule, said))
        if D is not None:
            D[rows] = d
    if said and rule == "kernel":
        said = f"{said}, so d is no squared distance in a Euclidean space: {REMEDIES}"
    if n_rounded and rule in KERNELS:
        said = "; ".join(filter(None, [said, f"{n_rounded} values below 0 by rounding count as 0"]))
    return source, D, said


def by_function(
    rule: Callable[[NDArray[np.float64]], Any], S: FloatArray, ids: Sequence[str] | None, *, name: str = "The matrix"
) -> FloatArray:
    """D (N, N) by the user's function of all similarities S (N, N) that are there; NaN, a missing pair, stays NaN."""
    known = ~np.isnan(S)
    with np.errstate(divide="ignore", invalid="ignore"):  # a bad value is reported with its pair
        values = np.asarray(rule(S[known]), np.float64)
    n = int(known.sum())
    if values.shape != (n,):
        raise ValueError(
            f"The function given as similarity turned {n} values into an array of shape {values.shape}; "
            "it gets an array of similarities and must return as many dissimilarities."
        )
    D = np.full(S.shape, np.nan)
    D[known] = without_rounding(values, np.full(1, ROUNDING))
    bad = np.argwhere(known & ~((D >= 0) & (D < np.inf)))
    if len(bad):
        i, l = (int(k) for k in bad[0])
        raise ValueError(refusal(name, pair(i, l, ids), float(S[i, l]), float(D[i, l]), rule))
    return D


def refusal(name: str, where: str, s: float, d: float, rule: SimilarityRule, said: str = "") -> str:
    """Why a similarity cannot be converted by the rule."""
    if np.isnan(s):
        return f"{name}: {where} has no similarity; every pair needs one. Fill in missing entries or drop points."
    title = "your function" if callable(rule) else f"'{rule}' ({RULES[rule][0]})"
    advice = "Choose another rule, for example similarity='max-s'."
    if rule == "kernel":
        advice = f"{said}: {REMEDIES}." if said else f"Choose another rule: {REMEDIES}."
    return (
        f"{name}: {where} has the similarity {s:g}, which {title} turns into {d:g}; "
        f"dissimilarities are finite and >= 0. {advice}"
    )


def pair(i: int, l: int, ids: Sequence[str] | None) -> str:
    """How a message names an entry: by ids where there are any, else by row and column counted from 0."""
    return f"D[{i}, {l}]" if ids is None else f"the pair ({ids[i]!r}, {ids[l]!r})"


def _own(base: Source, rule: str, name: str) -> FloatArray:
    """(N,) similarities of the points with themselves; ValueError where the rule needs one that is not there."""
    n = base.shape[0]
    own = np.concatenate(
        [base.block(rows, rows).diagonal().astype(np.float64) for rows in panels(n, rows_per_panel(min(n, 2048)))]
    )
    bad = ~np.isfinite(own) if rule in KERNELS else ~(own > 0) if rule == "normalized" else np.zeros(n, bool)
    if bad.any():
        i = int(bad.argmax())
        who = f"row {i}" if base.ids is None else repr(base.ids[i])
        found = "is missing" if np.isnan(own[i]) else f"is {own[i]:g}"
        wanted = "a finite one" if rule in KERNELS else "one > 0"
        raise ValueError(f"{name}: the score of {who} against itself {found}; '{rule}' needs {wanted}. Add it.")
    return own


def _largest(base: Source, rule: str) -> float:
    """The largest similarity, for the rule that needs it."""
    if rule != "max-s":
        return 0.0
    n = base.shape[0]
    most = [np.nanmax(block, initial=-np.inf) for block in (base.block(p, ALL) for p in panels(n, rows_per_panel(n)))]
    return float(max(most))


# --- eigenvalues of kernels


def _looked_at(base: Source, rule: str, name: str) -> tuple[Source, str]:
    """The kernel, repaired as the rule says, and what to tell of its negative eigenvalues."""
    n = base.shape[0]
    if rule != "kernel" and not fits(n):
        raise ValueError(f"{name}: '{rule}' needs the {n} x {n} matrix in memory, which is too large; take 'kernel'.")
    some: IntArray = np.arange(n)
    if rule == "kernel" and n > MOST_POINTS:
        some = np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))
    K = base.block(some, some).astype(np.float64)
    if not np.isfinite(K).all():  # what is missing is told pair by pair, or filled by the reader's rule
        if rule == "kernel":
            return base, ""
        raise ValueError(
            f"{name}: '{rule}' needs every similarity, finite; fill in the missing ones, or take 'kernel'."
        )
    B = centred(K)
    values, vectors = np.linalg.eigh(B) if rule in ("kernel-clip", "kernel-flip") else (np.linalg.eigvalsh(B), B)
    rounding = max(1e-9, 100 * epsilon(base.dtype)) * float(np.abs(values).max())
    negative = values[values < -rounding]
    if not len(negative):
        return base, ""
    share = -negative.sum() / np.abs(values).sum()
    of = "" if len(some) == n else f" of {len(some)} of the {n} points"
    said = (
        f"{len(negative)} of the {len(values)} eigenvalues of the centred similarities{of} are negative, "
        f"{share:.2g} of the sum of their sizes"
    )
    if rule == "kernel":
        return base, said
    if rule == "kernel-shift":
        B[np.diag_indices(n)] -= values[0]
    else:
        B = (vectors * (np.maximum(values, 0.0) if rule == "kernel-clip" else np.abs(values))) @ vectors.T
        B = (B + B.T) / 2  # symmetric to the last bit
    return DenseSource(B, True, base.ids), f"{said}; {REPAIRS[rule]}"


def centred(K: FloatArray) -> FloatArray:
    """J (K + K') / 2 J with J = 1 - 1/N: it has the same d, and no eigenvalue that d does not see."""
    K = (K + K.T) / 2
    means = K.mean(axis=0)
    return K - (means + means[:, None]) + means.mean()  # in this order symmetric to the last bit
