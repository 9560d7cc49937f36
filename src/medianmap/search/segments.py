"""Sums over runs of rows of a matrix on a device, which read each row once.

    add_rows      S[f, l] += sum_t factor[t] D[index[t], l]                         over the t with field[t] = f
    add_changes   nearer[f, l] += sum_t m[t] (min(D[t', l], a[t]) - a[t])           t' = index[t]
                  share[f, l]  += sum_t m[t] (min(max(D[t', l], a[t]), b[t]) - a[t])
    add_tears     the same, and                                                     B = 1 if l comes before the second
                  gained[f, l] += sum_t m[t] B,   now[f, l] += sum_t torn[t] B      C = 1 if l comes after the third
                  next[f, l]   += sum_t more[t] C
    add_after     next alone

a and b are the dissimilarities of a point to its nearest and second nearest exemplar. Candidate l comes before the
exemplar w that is b away if D[t', l] < b, or equal and l < w; after it if neither.

The t are in the order of their fields, so a field is a run of them. No sum depends on the order in which a card happens
to work: there are no atomic additions. On a card with Triton each sum is one kernel that reads D once
(tensor_kernels.py); elsewhere it is a plain expression over some rows at a time, with the same terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ..utils.arrays import namespace

# Entries of D that a plain expression works on at a time: many on a card, few enough for the cache of a CPU.
ENTRIES = {"cuda": 2**24, "cpu": 2**19}


@dataclass(frozen=True)
class Runs:
    """Rows of a matrix in the order of their fields: tensors index (T,) and field (T,), ascending, of K fields."""

    index: Any
    field: Any
    K: int

    @classmethod
    def by_field(cls, field: Any, K: int) -> Runs:
        """All rows, in the order of field (N,), a tensor."""
        ascending, order = field.sort(stable=True)
        return cls(order, ascending, K)

    def among(self, rows: slice) -> tuple[Runs, Any]:
        """Those in some rows, numbered from the first of these; and which of all they are."""
        if rows == slice(0, len(self.index)):
            return self, slice(None)
        here = ((self.index >= rows.start) & (self.index < rows.stop)).nonzero().flatten()
        return Runs(self.index[here] - rows.start, self.field[here], self.K), here

    @property
    def starts(self) -> Any:
        """(K + 1,) where the run of each field begins."""
        return namespace(self.field).searchsorted(
            self.field, namespace(self.field).arange(self.K + 1, dtype=self.field.dtype, device=self.field.device)
        )


@dataclass(frozen=True)
class Place:
    """The second or third nearest exemplar of each point, tensors (T,): which point it is, how far, and a weight."""

    w: Any
    far: Any
    weight: Any

    def of(self, which: Any) -> Place:
        """That of some points, in their order."""
        return Place(self.w[which], self.far[which], self.weight[which])


def add_rows(S: Any, D: Any, runs: Runs, factor: Any) -> None:
    """S (K, L) float64 += the rows of D (n, L), each times its factor (T,), in its field."""
    if _compiled(D):
        from .tensor_kernels import add_rows_compiled

        add_rows_compiled(S, D, runs, factor)
        return
    for part, rows, add in _parts(D, runs):
        add(S, rows.to(S.dtype) * factor[part, None].to(S.dtype))


def add_changes(nearer: Any, share: Any, D: Any, runs: Runs, m: Any, a: Any, b: Any) -> None:
    """nearer and share (K, L) += what points gain by each of L candidates: D (n, L), and m, a, b (T,) of the runs."""
    if _compiled(D):
        from .tensor_kernels import add_changes_compiled

        add_changes_compiled(nearer, share, D, runs, m, a, b)
        return
    kind = nearer.dtype
    for part, rows, add in _parts(D, runs):
        d, low, high, weight = rows.to(kind), *(x[part, None].to(kind) for x in (a, b, m))
        add(nearer, (d.clamp(max=low) - low) * weight)
        add(share, (d.clamp(min=low).minimum(high) - low) * weight)


def add_tears(sums: Any, D: Any, runs: Runs, m: Any, a: Any, second: Place, third: Place) -> None:
    """sums (5, K, L), nearer, share, gained, now and next, += what points add if l replaces an exemplar of a map.

    torn is the weight of `second`, more that of `third`; second.far is b.
    """
    if _compiled(D):
        from .tensor_kernels import add_tears_compiled

        add_tears_compiled(sums, D, runs, m, a, second, third)
        return
    add_changes(sums[0], sums[1], D, runs, m, a, second.far.to(sums.dtype))
    for part, rows, add in _parts(D, runs):
        before = _before(rows, second, part).to(sums.dtype)
        add(sums[2], before * m[part, None])
        add(sums[3], before * second.weight[part, None])
    add_after(sums[4], D, runs, third)


def add_after(sums: Any, D: Any, runs: Runs, third: Place) -> None:
    """sums (K, L), next, += the weights of the points for which l comes after the third."""
    if _compiled(D):
        from .tensor_kernels import add_after_compiled

        add_after_compiled(sums, D, runs, third)
        return
    for part, rows, add in _parts(D, runs):
        add(sums, (~_before(rows, third, part)).to(sums.dtype) * third.weight[part, None])


def _before(rows: Any, place: Place, part: slice) -> Any:
    """(n, L) whether a candidate comes before that exemplar, for rows of D."""
    d, w, far = rows.to(place.far.dtype), place.w[part, None], place.far[part, None]
    return (d < far) | ((d == far) & (namespace(d).arange(d.shape[1], device=d.device) < w))


def _compiled(D: Any) -> bool:
    """Whether D is where a kernel of Triton's can work on it."""
    return D.device.type == "cuda" and find_spec("triton") is not None


def _parts(D: Any, runs: Runs) -> Iterator[tuple[slice, Any, Callable[[Any, Any], None]]]:
    """Some of the runs' rows at a time: which they are, the rows, and what adds values of theirs to sums by field."""
    size = max(1, ENTRIES.get(D.device.type, 2**22) // max(1, D.shape[1]))
    for start in range(0, len(runs.index), size):
        part = slice(start, start + size)
        field = runs.field[part]
        first, last = int(field[0]), int(field[-1]) + 1
        lengths = (field - first).bincount(minlength=last - first)

        def add(sums: Any, values: Any, first: int = first, last: int = last, lengths: Any = lengths) -> None:
            sums[first:last] += namespace(values).segment_reduce(values, "sum", lengths=lengths, axis=0)

        yield part, D[runs.index[part]], add
