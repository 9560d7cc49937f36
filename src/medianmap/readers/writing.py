"""Matrices and pairs as text that other programs, and `read`, understand; every number keeps its last bit.

A name that ends in .gz is compressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources import Source, as_dissimilarity
from ..sources.base import ALL, panels, rows_per_panel
from ..utils.checks import refuse_duplicate_ids
from ..utils.files import atomic, packed
from .records import counted

Target = str | PathLike[str]


def write_phylip(path: Target, D: Any, ids: Sequence[str] | None = None) -> None:
    """A square PHYLIP matrix with relaxed names; D is anything that `as_dissimilarity` takes."""
    source, names = _named(D, ids)
    bad = next((name for name in names if not name or any(c.isspace() for c in name)), None)
    if bad is not None:
        raise ValueError(f"The id {bad!r} is empty or holds a blank, which ends a name in PHYLIP; rename it.")
    _write_rows(path, source, names, f"{len(names)}\n", " ")


def write_lsmat(path: Target, D: Any, ids: Sequence[str] | None = None) -> None:
    """A scikit-bio / QIIME matrix: tab-separated with ids at both sides."""
    source, names = _named(D, ids)
    _refuse_signs(names, "lsmat")
    _write_rows(path, source, names, "".join(f"\t{name}" for name in names) + "\n", "\t")


def write_pairs(path: Target, D: Any, ids: Sequence[str] | None = None) -> None:
    """Three columns by tabs: from, to, value; all N^2 pairs, both directions and the diagonal."""
    source, names = _named(D, ids)
    _refuse_signs(names, "a pair table")
    with atomic(path) as plain, packed(plain, path) as file:
        for i, row in _rows(source):
            lines = "".join(f"{names[i]}\t{to}\t{value!r}\n" for to, value in zip(names, row, strict=True))
            file.write(lines.encode())


def _named(D: Any, ids: Sequence[str] | None) -> tuple[Source, list[str]]:
    source = as_dissimilarity(D, ids=ids) if ids is not None else as_dissimilarity(D)
    names = counted(source.shape[0]) if source.ids is None else [str(each) for each in source.ids]
    refuse_duplicate_ids(names, "ids", "place")
    return source, names


def _refuse_signs(names: Sequence[str], what: str) -> None:
    bad = next(
        (n for n in names if not n.strip() or n != n.strip() or n[0] == "#" or any(c in n for c in '\t\r\n"')), None
    )
    if bad is not None:
        raise ValueError(
            f"The id {bad!r} cannot stand in {what}: it is empty, opens with '#', or holds a tab, a line end, "
            "a quotation mark or blanks at its ends; rename it."
        )


def _rows(source: Source) -> Any:
    """(i, row i as a list of Python floats), panel by panel."""
    n = source.shape[0]
    for rows in panels(n, rows_per_panel(n)):
        block: NDArray[np.float64] = np.asarray(source.block(rows, ALL), np.float64)
        yield from enumerate(block.tolist(), rows.start)


def _write_rows(path: Target, source: Source, names: Sequence[str], opening: str, delimiter: str) -> None:
    with atomic(path) as plain, packed(plain, path) as file:
        file.write(opening.encode())
        for i, row in _rows(source):
            file.write(f"{names[i]}{delimiter}{delimiter.join(map(repr, row))}\n".encode())
