"""The metric `alignment`: best alignments with affine gaps, scored by numba or stringzillas.

Substitution matrices, three rules. Scores and costs are whole numbers; stringzillas takes those of a signed byte and
at most 32 symbols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.checks import check_choice, check_nonnegative
from ..utils.kernels import kernel
from ..utils.loading import require
from ..utils.threads import run_chunks
from .base import Metric, Parameter, register
from .letters import Packed, Respelling, alphabet_named, coded, respelling, row_chunks, whole

MODES = ("global", "local", "aligned")
RULES = ("normalized", "kimura", "p-distance")
SPELLINGS = ("auto", "exact")
GAP = "-"
# Kimura's formula has no value from p = 0.854 on; from here on it stays at 5.2.
LARGEST_P = 0.85
NOTHING = -(2**62)  # far below any score, and far enough from overflow
SYMBOLS = 32
# A scope of several cores starts and ends its own threads, which takes milliseconds; smaller blocks stay on one core.
CELLS_WORTH_THREADS = 10**8


@kernel
def _best(s, t, W, gap_open, gap_extend, local, H, F):  # type: ignore[no-untyped-def]
    """H[i, l] = max(H[i-1, l-1] + W(s_i, t_l), E[i, l], F[i, l]), E and F ending in a gap in s or in t; the last, or
    with `local` the largest where every H is at least 0.

    E[i, l] = max(H[i, l-1] - gap_open, E[i, l-1] - gap_extend), F likewise along i: a gap of length k costs
    gap_open + (k - 1) gap_extend. One row is kept: H and F are scratch of length len(t) + 1.
    """
    n, m = s.shape[0], t.shape[0]
    H[0] = 0
    for l in range(m):
        H[l + 1] = 0 if local else -gap_open - l * gap_extend
    F[: m + 1] = NOTHING
    best = 0
    for i in range(n):
        weight = W[s[i]]
        diagonal = H[0]
        H[0] = 0 if local else -gap_open - i * gap_extend
        E = NOTHING
        for l in range(m):
            E = max(H[l] - gap_open, E - gap_extend)
            F[l + 1] = max(H[l + 1] - gap_open, F[l + 1] - gap_extend)
            here = max(diagonal + weight[t[l]], max(E, F[l + 1]))
            if local:
                here = max(here, 0)
                best = max(best, here)
            diagonal = H[l + 1]
            H[l + 1] = here
    return best if local else H[m]


@kernel
def _best_block(codes_a, starts_a, codes_b, starts_b, W, gap_open, gap_extend, local, paired, out):  # type: ignore[no-untyped-def]
    """out (len(a), len(b)) of all pairs; if `paired`, out (len(a), 1) of a[i] with b[i]."""
    longest = 0
    for l in range(starts_b.shape[0] - 1):
        longest = max(longest, starts_b[l + 1] - starts_b[l])
    H, F = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    for i in range(out.shape[0]):
        s = codes_a[starts_a[i] : starts_a[i + 1]]
        for k in range(out.shape[1]):
            l = i if paired else k
            out[i, k] = _best(s, codes_b[starts_b[l] : starts_b[l + 1]], W, gap_open, gap_extend, local, H, F)


@kernel
def _columns_block(codes_a, starts_a, codes_b, starts_b, gap, kept, pairs):  # type: ignore[no-untyped-def]
    """Of rows of one alignment: columns where neither has the letter `gap`, and those of them that are equal."""
    for i in range(kept.shape[0]):
        s = codes_a[starts_a[i] : starts_a[i + 1]]
        for l in range(kept.shape[1]):
            t = codes_b[starts_b[l] : starts_b[l + 1]]
            same = both = 0
            for k in range(s.shape[0]):
                if s[k] != gap and t[k] != gap:
                    both += 1
                    same += s[k] == t[k]
            kept[i, l], pairs[i, l] = same, both


def best_scores(
    a: Packed, b: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool, n_jobs: int
) -> NDArray[np.int64]:
    """(len(a), len(b)) scores of the best alignments by numba; W (n, n) scores of letters, gaps as costs."""
    out = np.empty((len(a), len(b)), np.int64)

    def fill(part: slice) -> None:
        rows = a.rows(part)
        _best_block(rows.codes, rows.starts, b.codes, b.starts, W, gap_open, gap_extend, local, False, out[part])

    run_chunks(fill, row_chunks(len(a)), n_jobs)
    return out


def own_scores(a: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool) -> NDArray[np.int64]:
    """(len(a),) best scores of every sequence with itself.

    Where W(c, c) >= 0 and W(c, d) <= (W(c, c) + W(d, d)) / 2, no alignment of a with itself beats the sum of
    W(c, c): each pair scores at most half of its two letters' own scores, no letter is used twice on a side, and
    letters in gaps add nothing. Sequences with other letters (X, which scores -1 with itself) are aligned.
    """
    own = np.diag(W)
    good = own >= 0
    if not np.all(2 * W[np.ix_(good, good)] <= own[good][:, None] + own[good]):
        good[:] = False
    total = np.concatenate([[0], np.cumsum(own[a.codes])])
    wrong = np.concatenate([[0], np.cumsum(~good[a.codes])])
    scores = (total[a.starts[1:]] - total[a.starts[:-1]]).astype(np.int64)
    for i in np.flatnonzero(wrong[a.starts[1:]] > wrong[a.starts[:-1]]):
        one = a.rows(slice(i, i + 1))
        _best_block(one.codes, one.starts, one.codes, one.starts, W, gap_open, gap_extend, local, True,
                    scores[i : i + 1, None])  # fmt: skip
    return scores


def identities(
    a: Packed, b: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool, n_jobs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(equal letters, paired letters), each (len(a), len(b)), along the best alignment; of several with the same score
    the one with most equal letters, of these one with fewest pairs: so the counts are unique and symmetric.

    All three are maximised at once as one number: score B^2 + equal B - pairs, where B exceeds any count.
    """
    B = 1 << int(max(a.lengths.max(initial=0), b.lengths.max(initial=0)) + 1).bit_length()
    most = max(int(np.abs(W).max(initial=0)), gap_open) * 2 * (B + 1)
    if most * B * B >= -NOTHING:
        raise ValueError("These sequences are too long to count identities along their alignment; choose 'normalized'.")
    joint = W * B * B + np.eye(len(W), dtype=np.int64) * B - 1
    key = best_scores(a, b, joint, gap_open * B * B, gap_extend * B * B, local, n_jobs)
    pairs = -key % B
    return (key + pairs) // B % B, pairs


def column_identities(a: Packed, b: Packed, gap: int, n_jobs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(equal letters, columns with two letters), each (len(a), len(b)), of sequences that are aligned already."""
    kept, pairs = np.empty((2, len(a), len(b)), np.int64)

    def fill(part: slice) -> None:
        rows = a.rows(part)
        _columns_block(rows.codes, rows.starts, b.codes, b.starts, gap, kept[part], pairs[part])

    run_chunks(fill, row_chunks(len(a)), n_jobs)
    return kept, pairs


@cache
def available() -> bool:
    """Whether stringzillas is installed."""
    return find_spec("stringzillas") is not None and find_spec("stringzilla") is not None


def fits(*costs: NDArray[np.int64]) -> bool:
    """Whether every score and gap is a signed byte."""
    return all(int(np.abs(cost).max(initial=0)) <= 127 for cost in costs)


def all_scores(
    a: Packed, b: Packed, W: NDArray[np.int64], gap_open: int, gap_extend: int, local: bool, n_jobs: int
) -> NDArray[np.int64]:
    """(len(a), len(b)) scores of the best alignments by stringzillas; W (n, n) scores of symbols, gaps as costs.

    A gap of length k costs gap_open + (k - 1) gap_extend. Costs must fit in a byte (`fits`): larger ones would
    overflow silently.
    """
    library = require("stringzillas", "seq", "The backend 'stringzillas'")
    table = np.zeros((SYMBOLS, SYMBOLS), np.int8)
    table[: len(W), : len(W)] = W
    classes = np.arange(256, dtype=np.uint8) % SYMBOLS
    kind = library.SmithWatermanScores if local else library.NeedlemanWunschScores
    engine = kind(classes, table, -gap_open, -gap_extend)
    cells = float(a.lengths.sum()) * float(b.lengths.sum())
    # The library keeps the GIL, so threads of ours would wait for one another. Its own threads spin while idle and do
    # not survive a fork: the scope lives for this call only.
    scope = library.DeviceScope(cpu_cores=n_jobs if cells >= CELLS_WORTH_THREADS else 1)
    return np.asarray(engine(_strs(a), _strs(b), device=scope))


def _strs(packed: Packed) -> Any:
    strings = require("stringzilla", "seq", "The backend 'stringzillas'")
    return strings.Strs(packed.pieces(packed.codes.astype(np.uint8).tobytes()))


# --- the metric: parameters, rules and checks ------------------------------------------------------------


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
    respelled: Respelling | None = None

    @property
    def local(self) -> bool:
        return self.mode == "local"

    def coded(self, a: Sequence[str], b: Sequence[str]) -> tuple[Packed, Packed]:
        packed_a, packed_b, _ = coded(self._known(a), self._known(b), self.alphabet)
        return packed_a, packed_b

    def _known(self, strings: Sequence[str]) -> Sequence[str]:
        strings = strings if self.respelled is None else self.respelled(strings)
        if self.unknown is None:
            return strings
        foreign = set().union(*map(set, strings)) - set(self.alphabet)
        return [s.translate({ord(letter): self.unknown for letter in foreign}) for s in strings]

    def own(self, a: Packed) -> NDArray[np.int64]:
        return own_scores(a, self.W, self.gap_open, self.gap_extend, self.local)


def alignment_scores(a: Sequence[str], b: Sequence[str], *, n_jobs: int = 1, **params: Any) -> NDArray[np.float64]:
    """S (len(a), len(b)): the score of the best alignment of a[i] with b[l], global or local.

    A gap of length k scores -(gap_open + (k - 1) gap_extend).

    a, b : sequences.
    n_jobs : number of threads.
    params : keyword arguments, as of the metric `alignment`: matrix, gap_open, gap_extend, mode ...
    """
    scoring = _scoring(params)
    packed_a, packed_b = scoring.coded(a, b)
    return _scores(packed_a, packed_b, scoring, n_jobs) / scoring.scale


def _scores(a: Packed, b: Packed, by: Scoring, n_jobs: int) -> NDArray[np.int64]:
    gaps = (np.asarray(by.gap_open), np.asarray(by.gap_extend))
    if available() and len(by.W) <= SYMBOLS and fits(by.W, *gaps):
        return all_scores(a, b, by.W, by.gap_open, by.gap_extend, by.local, n_jobs)
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
    respelled, spelling = None, params.get("spelling", "auto")
    check_choice(spelling, "spelling", SPELLINGS)
    if spelling == "auto" and params.get("alphabet") is None:
        respelled = respelling("protein" if "E" in letters else "dna", alphabet, mode == "aligned")
    return Scoring(alphabet, W, int(first), int(further), scale, mode, rule, unknown, respelled)


def spelled(params: Mapping[str, Any]) -> Respelling | None:
    """How the metric with these parameters spells sequences; None where it takes them as they are."""
    return _scoring(params).respelled


def _matrix(matrix: Any, alphabet: Any) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    if isinstance(matrix, str):
        return named_matrix(matrix)
    letters, scores = alphabet_named(alphabet), np.asarray(matrix, float)
    if letters is None or scores.shape != (len(letters), len(letters)):
        raise ValueError(f"matrix has shape {scores.shape}; a matrix of your own needs alphabet, its letters in order.")
    return letters, scores


@cache
def named_matrix(name: str) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    """The letters of a named table of scores, and the table."""
    if name.upper() == "BLOSUM62":
        return _blosum62()
    matrices = require("Bio.Align.substitution_matrices", "bio", f"The substitution matrix {name!r}")
    names = [known for known in matrices.load() if known != "SCHNEIDER"]  # that one scores codons
    if name.upper() not in names:
        close = get_close_matches(name.upper(), names, n=3) or names
        raise ValueError(f"There is no substitution matrix {name!r}; choose {', '.join(close)}.")
    matrix = matrices.load(name.upper())
    return tuple(matrix.alphabet), np.array(matrix, float)


def _blosum62() -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    lines = files(__package__).joinpath("BLOSUM62.txt").read_text("ascii").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return tuple(rows[0]), np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])


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


_PARAMETERS = (
    Parameter("mode", "global", "'global' (Needleman-Wunsch), 'local' (Smith-Waterman), 'aligned' (as given)"),
    Parameter("rule", "normalized", "'normalized', 'kimura' or 'p-distance'"),
    Parameter("matrix", "BLOSUM62", "BLOSUM62, with the extra bio BLOSUM45-90, PAM30-250, NUC.4.4 ..., or a table"),
    Parameter("alphabet", None, "letters of a matrix of your own, in the order of its rows"),
    Parameter("gap_open", 11, "cost of the first letter of a gap"),
    Parameter("gap_extend", 1, "cost of each further letter: k letters cost gap_open + (k - 1) gap_extend"),
    Parameter(
        "spelling",
        "auto",
        "'auto': lower case as upper, U as C, O as K, J as L, gaps and a final * left out, of "
        "letters that a named matrix lacks; 'exact': as written",
    ),
    Parameter("unknown", None, "letter used for those the matrix lacks, such as 'X'; None refuses them"),
)
register(Metric("alignment", alignment_block, _symmetric, "strings",
                "1 - s(a,b) / sqrt(s(a,a) s(b,b)) of best alignment scores, or Kimura's distance, or the p-distance",
                parameters=_PARAMETERS, prepare=_prepare, own_threads=True))  # fmt: skip
