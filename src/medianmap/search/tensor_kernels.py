"""The sums of segments.py as Triton kernels for a card, each of which reads every row of D once.

A program has one field and COLUMNS candidates. It goes through the rows of its field, of which neighbouring threads
read neighbouring entries, and keeps its sums in registers until the field is done. Nothing is added by two programs, so
sums are in the order of the rows and the same each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import triton
import triton.language as tl

from ..utils.arrays import namespace

if TYPE_CHECKING:
    from .segments import Place, Runs

# Candidates of a program, and warps that share them: each thread then reads 32 bytes of a row of float32.
COLUMNS, WARPS = 1024, 4


def add_rows_compiled(S: Any, D: Any, runs: Runs, factor: Any) -> None:
    """See `segments.add_rows`."""
    _launch(_add_rows, S.shape, D, runs, factor.to(S.dtype), S, S.stride(0), S.stride(1))


def add_changes_compiled(nearer: Any, share: Any, D: Any, runs: Runs, m: Any, a: Any, b: Any) -> None:
    """See `segments.add_changes`."""
    near = m.to(nearer.dtype), a.to(nearer.dtype), b.to(nearer.dtype)
    _launch(_add_changes, nearer.shape, D, runs, *near, nearer, share, nearer.stride(0))


def add_tears_compiled(sums: Any, D: Any, runs: Runs, m: Any, a: Any, second: Place, third: Place) -> None:
    """See `segments.add_tears`."""
    places = second.w, second.far, second.weight, third.w, third.far, third.weight
    _launch(_add_tears, sums.shape[1:], D, runs, m, a, *places, sums, sums.stride(0), sums.stride(1))


def add_after_compiled(sums: Any, D: Any, runs: Runs, third: Place) -> None:
    """See `segments.add_after`."""
    _launch(_add_after, sums.shape, D, runs, third.w, third.far, third.weight, sums, sums.stride(0))


def _launch(kernel: Any, shape: tuple[int, int], D: Any, runs: Runs, *given: Any) -> None:
    """One program for each field and each COLUMNS candidates."""
    starts = runs.starts
    # Long runs first: no card waits for one that began last.
    fields = starts.diff().argsort(descending=True, stable=True)
    index, L = runs.index, shape[1]
    # The programs of one field follow each other: they read the same rows at about the same time, whole.
    blocks = triton.cdiv(L, COLUMNS)
    # No fused additions: the sums are those of the plain expressions, to the last bit.
    how = {"COLUMNS": COLUMNS, "num_warps": WARPS, "enable_fp_fusion": False}
    with namespace(D).cuda.device_of(D):  # Triton launches on the current card
        kernel[(blocks * runs.K,)](D, *D.stride(), starts, fields, index, *given, L, blocks, **how)


@triton.jit
def _add_rows(  # type: ignore[no-untyped-def]
    D, row, column, starts, fields, index, factor, S, s_row, s_column, L, blocks, COLUMNS: tl.constexpr
):
    f = tl.load(fields + tl.program_id(0) // blocks)
    l = (tl.program_id(0) % blocks).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    inside = l < L
    total = tl.zeros((COLUMNS,), S.dtype.element_ty)
    for t in range(tl.load(starts + f), tl.load(starts + f + 1)):
        d = tl.load(D + tl.load(index + t) * row + l * column, inside, 0.0)
        total += tl.load(factor + t) * d.to(total.dtype)
    at = S + f * s_row + l * s_column
    tl.store(at, tl.load(at, inside) + total, inside)


@triton.jit
def _add_changes(  # type: ignore[no-untyped-def]
    D, row, column, starts, fields, index, m, near, far, nearer, share, out, L, blocks, COLUMNS: tl.constexpr
):
    f = tl.load(fields + tl.program_id(0) // blocks)
    l = (tl.program_id(0) % blocks).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    inside = l < L
    all_gain = tl.zeros((COLUMNS,), nearer.dtype.element_ty)
    own_gain = tl.zeros((COLUMNS,), nearer.dtype.element_ty)
    for t in range(tl.load(starts + f), tl.load(starts + f + 1)):
        d = tl.load(D + tl.load(index + t) * row + l * column, inside, 0.0).to(all_gain.dtype)
        weight, a, b = tl.load(m + t), tl.load(near + t), tl.load(far + t)
        all_gain += weight * (tl.minimum(d, a) - a)
        own_gain += weight * (tl.minimum(tl.maximum(d, a), b) - a)
    at = f * out + l
    tl.store(nearer + at, tl.load(nearer + at, inside) + all_gain, inside)
    tl.store(share + at, tl.load(share + at, inside) + own_gain, inside)


@triton.jit
def _add_tears(  # type: ignore[no-untyped-def]
    D, row, column, starts, fields, index, m, near, w2, far2, weight2, w3, far3, weight3, sums, each, out, L, blocks,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    f = tl.load(fields + tl.program_id(0) // blocks)
    l = (tl.program_id(0) % blocks).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    inside = l < L
    all_gain = tl.zeros((COLUMNS,), sums.dtype.element_ty)
    own_gain = tl.zeros((COLUMNS,), sums.dtype.element_ty)
    gained = tl.zeros((COLUMNS,), sums.dtype.element_ty)
    now = tl.zeros((COLUMNS,), sums.dtype.element_ty)
    later = tl.zeros((COLUMNS,), sums.dtype.element_ty)
    for t in range(tl.load(starts + f), tl.load(starts + f + 1)):
        weight, a, second, third = tl.load(m + t), tl.load(near + t), tl.load(far2 + t), tl.load(far3 + t)
        d = tl.load(D + tl.load(index + t) * row + l * column, inside, 0.0).to(second.dtype)
        before = (d < second) | ((d == second) & (l < tl.load(w2 + t)))
        after = ~((d < third) | ((d == third) & (l < tl.load(w3 + t))))
        wide, b = d.to(all_gain.dtype), second.to(all_gain.dtype)
        all_gain += weight * (tl.minimum(wide, a) - a)
        own_gain += weight * (tl.minimum(tl.maximum(wide, a), b) - a)
        gained += tl.where(before, weight, 0.0)
        now += tl.where(before, tl.load(weight2 + t), 0.0)
        later += tl.where(after, tl.load(weight3 + t), 0.0)
    at = sums + f * out + l
    tl.store(at, tl.load(at, inside) + all_gain, inside)
    at += each  # step by step: several times it may be more than 32 bits hold
    tl.store(at, tl.load(at, inside) + own_gain, inside)
    at += each
    tl.store(at, tl.load(at, inside) + gained, inside)
    at += each
    tl.store(at, tl.load(at, inside) + now, inside)
    at += each
    tl.store(at, tl.load(at, inside) + later, inside)


@triton.jit
def _add_after(  # type: ignore[no-untyped-def]
    D, row, column, starts, fields, index, w3, far3, weight3, later, out, L, blocks, COLUMNS: tl.constexpr
):
    f = tl.load(fields + tl.program_id(0) // blocks)
    l = (tl.program_id(0) % blocks).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    inside = l < L
    tears = tl.zeros((COLUMNS,), later.dtype.element_ty)
    for t in range(tl.load(starts + f), tl.load(starts + f + 1)):
        third = tl.load(far3 + t)
        d = tl.load(D + tl.load(index + t) * row + l * column, inside, 0.0).to(third.dtype)
        after = ~((d < third) | ((d == third) & (l < tl.load(w3 + t))))
        tears += tl.where(after, tl.load(weight3 + t), 0.0)
    at = f * out + l
    tl.store(later + at, tl.load(later + at, inside) + tears, inside)
