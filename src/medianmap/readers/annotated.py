"""AnnData: `obsp` holds matrices of its observations, `obsm` vectors; ids are the names of the observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..utils.extras import require
from .arrays import from_array
from .opening import Opened
from .records import Matrix, Records


def read_anndata(opened: Opened, **options: Any) -> Records | Matrix:
    """An .h5ad file; see `from_anndata`."""
    anndata = require("anndata", "anndata", "The format 'anndata'")
    if opened.path is None or opened.compressed:
        raise ValueError(f"{opened.name}: an .h5ad file is read in place; unpack it and give its path.")
    try:
        data = anndata.read_h5ad(opened.path, backed="r")
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"{opened.name} is not a whole .h5ad file ({str(error).splitlines()[0]}).") from None
    try:
        return from_anndata(data, name=opened.name, **options)
    finally:
        data.file.close()


def from_anndata(
    data: Any,
    *,
    key: str | None = None,
    kind: str | None = None,
    label: str | None = None,
    name: str = "The AnnData",
    **rules: Any,
) -> Records | Matrix:
    """`data.obsp[key]` as a Matrix or `data.obsm[key]` as vectors, whichever has the key.

    label : a column of `data.obs`. An entry that a sparse `obsp` does not store is a missing pair, not a zero: graphs
    of nearest neighbours leave most pairs out.
    """
    if kind not in (None, "matrix", "vectors"):
        raise ValueError(f"kind is {kind!r}; AnnData holds a 'matrix' (obsp) or 'vectors' (obsm).")
    there = {("matrix", k): data.obsp[k] for k in data.obsp} | {("vectors", k): data.obsm[k] for k in data.obsm}
    fitting = [at for at in there if key in (None, at[1]) and kind in (None, at[0])]
    if len(fitting) != 1:
        found = ", ".join(f"{'obsp' if what == 'matrix' else 'obsm'}[{k!r}]" for what, k in there) or "neither"
        wanted = "obsp and obsm" if key is None else f"obsp and obsm under {key!r}"
        raise ValueError(f"{name} has {len(fitting)} arrays in {wanted}; it has {found}: pass one as key=, and kind=.")
    kind = fitting[0][0]
    array = _dense(there[fitting[0]], kind)
    return from_array(name, array, kind, [str(i) for i in data.obs_names], _labels(data, label, name), rules)


def _dense(array: Any, kind: str) -> NDArray[Any]:
    if hasattr(array, "iloc"):
        array = array.to_numpy()
    if not hasattr(array, "tocoo"):
        return np.asarray(array)
    if kind == "vectors":
        return np.asarray(array.toarray())
    stored = array.tocoo(copy=True)
    stored.sum_duplicates()
    D = np.full(stored.shape, np.nan)
    D[stored.row, stored.col] = stored.data
    return D


def _labels(data: Any, label: str | None, name: str) -> list[str] | None:
    if label is None:
        return None
    if label not in data.obs.columns:
        there = ", ".join(map(repr, data.obs.columns)) or "none"
        raise ValueError(f"{name} has no column {label!r} in obs for the label; it has {there}.")
    return [str(each) for each in data.obs[label]]
