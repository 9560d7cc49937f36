"""The metric `alignment`: sequences by their best alignment; substitution matrices, affine gaps, three rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_choice, check_nonnegative
from ..utils.loading import require
from . import aligners as simd
from .aligners import best_scores, column_identities, identities, own_scores
from .base import Metric, Parameter, register
from .letters import Packed, alphabet_named, coded, whole

MODES = ("global", "local", "aligned")
RULES = ("normalized", "kimura", "p-distance")
GAP = "-"
# Kimura's formula has no value from p = 0.854 on; from here on it stays at 5.2.
LARGEST_P = 0.85


@dataclass(frozen=True)
class Scoring:
    """Scores W (n, n) of letters and costs of gaps as whole numbers, all multiplied by `scale`."""

    alphabet: tuple[Any, ...]
    W: NDArray[np.int64]
    gap_open: int
    gap_extend: int
    scale: int
    mode: str = "global"
    rule: str = "normalized"
    unknown: str | None = None

    @property
    def local(self) -> bool:
        return self.mode == "local"

    def coded(self, a: Sequence[str], b: Sequence[str]) -> tuple[Packed, Packed]:
        packed_a, packed_b, _ = coded(self._known(a), self._known(b), self.alphabet)
        return packed_a, packed_b

    def _known(self, strings: Sequence[str]) -> Sequence[str]:
        if self.unknown is None:
            return strings
        foreign = set().union(*map(set, strings)) - set(self.alphabet)
        return [s.translate({ord(letter): self.unknown for letter in foreign}) for s in strings]

    def own(self, a: Packed) -> NDArray[np.int64]:
        return own_scores(a, self.W, self.gap_open, self.gap_extend, self.local)


def alignment_scores(a: Sequence[str], b: Sequence[str], *, n_jobs: int = 1, **params: Any) -> NDArray[np.float64]:
    """S (len(a), len(b)): the score of the best alignment of a[i] with b[l], global or local.

    A gap of length k scores -(gap_open + (k - 1) gap_extend). Parameters as of the metric `alignment`.
    """
    scoring = _scoring(params)
    packed_a, packed_b = scoring.coded(a, b)
    return _scores(packed_a, packed_b, scoring, n_jobs) / scoring.scale


def _scores(a: Packed, b: Packed, by: Scoring, n_jobs: int) -> NDArray[np.int64]:
    gaps = (np.asarray(by.gap_open), np.asarray(by.gap_extend))
    if simd.available() and len(by.W) <= simd.SYMBOLS and simd.fits(by.W, *gaps):
        return simd.all_scores(a, b, by.W, by.gap_open, by.gap_extend, by.local, n_jobs)
    return best_scores(a, b, by.W, by.gap_open, by.gap_extend, by.local, n_jobs)


def alignment_block(a: Sequence[str], b: Sequence[str], *, n_jobs: int = 1, **params: Any) -> NDArray[np.float64]:
    """(len(a), len(b)) dissimilarities by the rule:

    normalized  max(0, 1 - s(a, b) / sqrt(s(a, a) s(b, b))) of scores s
    p-distance  p = 1 - equal / paired letters of the best alignment (1 if it pairs none)
    kimura      -ln(1 - p - p^2 / 5), p at most 0.85
    """
    by = _scoring(params)
    packed_a, packed_b = by.coded(a, b)
    if by.rule == "normalized":
        s = _scores(packed_a, packed_b, by, n_jobs).astype(np.float64)
        own_a, own_b = by.own(packed_a).astype(np.float64), by.own(packed_b).astype(np.float64)
        return np.maximum(0.0, 1.0 - s / np.sqrt(own_a[:, None] * own_b[None, :]))
    if by.mode == "aligned":
        equal, pairs = column_identities(packed_a, packed_b, by.alphabet.index(GAP), n_jobs)
        nothing = np.nan  # no column in common: nothing is known about this pair, and the caller names it
    else:
        equal, pairs = identities(packed_a, packed_b, by.W, by.gap_open, by.gap_extend, by.local, n_jobs)
        nothing = 1.0
    p = np.divide(pairs - equal, pairs, out=np.full(pairs.shape, nothing), where=pairs > 0)
    return p if by.rule == "p-distance" else kimura(p)


def kimura(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """-ln(1 - p - p^2 / 5): expected substitutions per site of proteins that differ in a share p of their sites
    (Kimura 1983); p beyond 0.85 counts as 0.85, which gives 5.2."""
    p = np.minimum(p, LARGEST_P)
    return np.abs(np.log(1.0 - p - p * p / 5.0))  # the logarithm is <= 0; no negative zero


def _scoring(params: Mapping[str, Any]) -> Scoring:
    """The parameters of the metric, checked."""
    mode, rule = params.get("mode", "global"), params.get("rule", "normalized")
    for value, name, choices in ((mode, "mode", MODES), (rule, "rule", RULES)):
        check_choice(value, name, choices)
    if mode == "aligned" and rule == "normalized":
        raise ValueError("mode='aligned' compares columns and has no scores; choose rule='p-distance' or 'kimura'.")
    letters, matrix = _matrix(params.get("matrix", "BLOSUM62"), params.get("alphabet"))
    gap_open = check_nonnegative(params.get("gap_open", 11), "gap_open")
    gap_extend = check_nonnegative(params.get("gap_extend", 1), "gap_extend")
    if gap_extend > gap_open:
        raise ValueError(f"gap_extend is {gap_extend:g}, more than gap_open = {gap_open:g}; it must be at most that.")
    numbers = whole(matrix, gap_open, gap_extend)
    if numbers is None:
        raise ValueError("Scores and gap costs must be multiples of 0.001 (or of 1/16); round them.")
    scale, (W, first, further) = numbers
    unknown = params.get("unknown")
    if unknown is not None and unknown not in letters:
        raise ValueError(f"unknown is {unknown!r}; it must be one of the matrix's letters, {''.join(letters)}.")
    alphabet = tuple(letters)
    if mode == "aligned":
        alphabet = (*alphabet, GAP)
    return Scoring(alphabet, W, int(first), int(further), scale, mode, rule, unknown)


def _matrix(matrix: Any, alphabet: Any) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    if isinstance(matrix, str):
        return _named_matrix(matrix)
    letters, scores = alphabet_named(alphabet), np.asarray(matrix, float)
    if letters is None or scores.shape != (len(letters), len(letters)):
        raise ValueError(
            f"matrix has shape {scores.shape}; a matrix of your own needs alphabet, its letters in that order."
        )
    return letters, scores


@cache
def _named_matrix(name: str) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    matrices = require("Bio.Align.substitution_matrices", "bio", "The metric 'alignment'")
    names = [known for known in matrices.load() if known != "SCHNEIDER"]  # that one scores codons
    if name.upper() not in names:
        close = get_close_matches(name.upper(), names, n=3) or names
        raise ValueError(f"There is no substitution matrix {name!r}; choose {', '.join(close)}.")
    matrix = matrices.load(name.upper())
    return tuple(matrix.alphabet), np.array(matrix, float)


def _prepare(objects: list[str], **params: Any) -> list[str]:
    by = _scoring(params)
    packed, _ = by.coded(objects, [])
    empty = np.flatnonzero(packed.lengths == 0)
    if len(empty):
        raise ValueError(f"X[{empty[0]}] is an empty sequence, which has nothing to align; drop it.")
    if by.mode == "aligned":
        odd = np.flatnonzero(packed.lengths != packed.lengths[0])
        if len(odd):
            raise ValueError(
                f"X[{odd[0]}] has {packed.lengths[odd[0]]} columns but X[0] has {packed.lengths[0]}; "
                "mode='aligned' needs rows of one alignment. For unaligned sequences choose mode='global'."
            )
    if by.rule == "normalized":
        low = np.flatnonzero(by.own(packed) <= 0)
        if len(low):
            raise ValueError(
                f"X[{low[0]}] scores {by.own(packed)[low[0]] / by.scale:g} with itself, so rule='normalized' cannot "
                "scale its scores; drop it or choose rule='p-distance'."
            )
    return objects


def _symmetric(params: Mapping[str, Any]) -> bool:
    """A named matrix is symmetric; none is loaded here, so that listing the metrics needs no extra."""
    matrix = params.get("matrix", "BLOSUM62")
    return isinstance(matrix, str) or np.array_equal(np.asarray(matrix), np.asarray(matrix).T)


register(
    Metric(
        "alignment",
        alignment_block,
        _symmetric,
        "strings",
        "1 - s(a,b) / sqrt(s(a,a) s(b,b)) of best alignment scores, or Kimura's distance, or the p-distance",
        extra="bio",
        parameters=(
            Parameter("mode", "global", "'global' (Needleman-Wunsch), 'local' (Smith-Waterman), 'aligned' (as given)"),
            Parameter("rule", "normalized", "'normalized', 'kimura' or 'p-distance'"),
            Parameter("matrix", "BLOSUM62", "BLOSUM45-90, PAM30-250, NUC.4.4 ... by name, or a table with alphabet"),
            Parameter("alphabet", None, "letters of a matrix of your own, in the order of its rows"),
            Parameter("gap_open", 11, "cost of the first letter of a gap"),
            Parameter("gap_extend", 1, "cost of each further letter: k letters cost gap_open + (k - 1) gap_extend"),
            Parameter("unknown", None, "letter used for those the matrix lacks, such as 'X'; None refuses them"),
        ),
        prepare=_prepare,
        own_threads=True,
    )
)
