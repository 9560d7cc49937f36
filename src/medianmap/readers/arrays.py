"""NumPy's .npy (a memory map) and .npz, and AnnData: arrays read as a matrix, vectors, series or strings."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.base import condensed_size
from ..sources.squares import SIMILARITIES, judge_square, without_diagonal
from ..utils.checks import refuse_duplicate_ids
from ..utils.loading import require
from .records import DENSE_BYTES, Matrix, Opened, Records, check_archive, check_hdf5, numbered_ids
from .similarity import finish

BESIDE = ("ids", "labels")  # arrays of a .npz that describe another one
KINDS = ("strings", "vectors", "series", "matrix", "similarity")


def read_npy(opened: Opened, *, kind: str | None = None, **rules: Any) -> Records | Matrix:
    """One array; from a plain file it stays on disk as a memory map."""
    try:
        if opened.path is None or opened.compressed:
            array = np.load(BytesIO(opened.stream.read()), allow_pickle=False)
        else:
            array = np.load(opened.path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"{opened.name} is not a whole .npy file ({error}); save numbers or strings.") from None
    except MemoryError as error:
        raise _too_large(opened, error) from None
    return from_array(opened.name, array, kind, None, None, rules)


def _too_large(opened: Opened, error: MemoryError) -> ValueError:
    """What to say of an array whose header asks for more than there is."""
    return ValueError(f"{opened.name} cannot be read ({error}): it is damaged, or larger than the memory here.")


def read_npz(opened: Opened, *, kind: str | None = None, key: str | None = None, **rules: Any) -> Records | Matrix:
    """One array of the archive, with the arrays `ids` and `labels` if they are there; or one series per array."""
    content = opened.stream.read()
    check_archive(opened, content, ".npz file")
    try:
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, OSError) as error:
        raise ValueError(f"{opened.name} is not a whole .npz file ({error}); save numbers or strings.") from None
    except MemoryError as error:
        raise _too_large(opened, error) from None
    odd = next((name for name, array in arrays.items() if not isinstance(array, np.ndarray)), None)
    if odd is not None:  # NumPy returns such members as bytes
        raise ValueError(f"{opened.name} is not a whole .npz file ({odd!r} is no array); save numbers or strings.")
    beside = {name: arrays.pop(name).astype(str).ravel().tolist() for name in BESIDE if name in arrays and name != key}
    if key is None and len(arrays) > 1 and all(a.ndim == 1 and a.dtype.kind in "fiub" for a in arrays.values()):
        return _series(arrays, beside.get("labels"), kind, opened.name)
    if key is None and len(arrays) == 1:
        key = next(iter(arrays))
    if key is None or key not in arrays:
        wanted = "" if key is None else f"no {key!r} but "
        raise ValueError(f"{opened.name} holds {wanted}the arrays {', '.join(map(repr, arrays))}; pass key=NAME.")
    return from_array(opened.name, arrays[key], kind, beside.get("ids"), beside.get("labels"), rules)


def from_array(
    name: str, array: NDArray[Any], kind: str | None, ids: list[str] | None, labels: list[str] | None,
    rules: dict[str, Any],
) -> Records | Matrix:  # fmt: skip
    """Text is strings; a 1-D array, or a square one with a zero diagonal, is a matrix; other 2-D arrays are vectors."""
    if kind not in (None, *KINDS):
        raise ValueError(f"kind is {kind!r}; choose one of {', '.join(map(repr, KINDS))}.")
    if array.size == 0 or array.ndim not in (1, 2) or array.dtype.kind not in "fiubU":
        raise ValueError(f"{name} has {array.dtype} of shape {array.shape}; save numbers or text in 1 or 2 dimensions.")
    kind, array, note = _kind_of(name, array, kind, rules)
    n = condensed_size(len(array)) if kind == "matrix" and array.ndim == 1 else len(array)
    for given, what in ((ids, "ids"), (labels, "labels")):
        if given is not None and len(given) != n:
            raise ValueError(f"{name} holds {len(given)} {what} for {n} points; give one per point.")
    if ids is not None:
        refuse_duplicate_ids(ids, name, "place")
    if kind == "matrix":
        return _matrix(name, array, ids, labels, note, rules)
    if rules:
        raise ValueError(f"{name} holds {kind}; leave {next(iter(rules))} out, or for a matrix pass kind='matrix'.")
    if (kind == "strings") != (array.dtype.kind == "U") or array.ndim != (1 if kind == "strings" else 2):
        raise ValueError(f"{name} has {array.dtype} of shape {array.shape}, which is not {kind}; choose another kind.")
    objects: Any = array
    if kind != "vectors":
        objects = [str(s) for s in array] if kind == "strings" else list(array)
    return Records(ids or numbered_ids(len(array)), objects, kind, None, labels, None, note)  # type: ignore[arg-type]


def _kind_of(name: str, array: NDArray[Any], kind: str | None, rules: dict[str, Any]) -> tuple[str, NDArray[Any], str]:
    """The kind, the array as it is read, and what was guessed; `rules` may be completed."""
    if kind is None and array.dtype.kind == "U":
        return "strings", array, ""
    if kind is None and array.ndim == 1:
        return "matrix", array, "a 1-D array was read as a condensed matrix"
    if array.dtype.kind != "U" and array.ndim == 2:
        return square_kind(name, array, kind, rules)
    return ("matrix", array, "") if kind == "similarity" else (kind or "", array, "")


def square_kind(
    name: str, X: NDArray[Any], kind: str | None, rules: dict[str, Any], same_names: bool | None = None
) -> tuple[str, NDArray[Any], str]:
    """Whether numbers X (N, M) are a "matrix" or "vectors", X as it is read, and a note on what was guessed.

    kind : what the user says; "similarity" completes `rules` by the rule that such numbers need. Without it, and
    without rules, a square is what `judge_square` says, and refused where that is not dissimilarities.
    same_names : whether rows and columns are named alike; a square whose are named differently is vectors.
    """
    n = len(X)
    square = n == X.shape[1]
    if kind == "similarity":
        refuse_not_square(X, name)
        if "similarity" in rules:
            return "matrix", X, ""
        found = judge_square(X).similarity
        if found is None:
            raise ValueError(f"{name}: the numbers do not show which similarities they are; pass similarity=RULE.")
        _, rules["similarity"], formula = SIMILARITIES[found]
        return "matrix", X, f"similarities, converted by {formula}"
    if kind is not None or not square or rules:
        return kind or ("matrix" if square else "vectors"), X, ""
    verdict = judge_square(X)
    if same_names is False:
        # By chance only small squares are symmetric.
        if n > 2 and verdict.symmetric:
            verdict = replace(verdict, kind="in doubt", doubt="they are symmetric, but rows and columns differ in name")
            verdict.refuse(name, n)
        return "vectors", X, "rows and columns have different names, so read as vectors"
    verdict.refuse(name, n)
    if verdict.diagonal:
        said = f"the diagonal, up to {verdict.diagonal:g}, was taken for rounding and set to 0"
        return "matrix", without_diagonal(X), f"square, so read as a matrix; {said}; for vectors pass kind='vectors'"
    alike = (
        "" if same_names else "square with zeros on the diagonal, so read as a matrix; for vectors pass kind='vectors'"
    )
    return "matrix", X, alike


def _matrix(
    name: str, array: NDArray[Any], ids: list[str] | None, labels: list[str] | None, note: str, rules: dict[str, Any]
) -> Matrix:
    if array.dtype.kind == "U":
        raise ValueError(f"{name} holds text, but a matrix is of numbers; for texts pass kind='strings'.")
    if array.ndim == 1:
        n = condensed_size(len(array))
        if n is None:
            raise ValueError(f"{name}: {len(array)} entries are no condensed matrix of N (N - 1) / 2; check the file.")
        if not rules:
            return Matrix(ids, array, labels, note)
        square = np.full((n, n), np.nan)
        square[np.triu_indices(n, 1)] = array
        array = np.where(np.isnan(square), square.T, square)
    refuse_not_square(array, name)
    return finish(name, array, ids, labels=labels, note=note, **rules)


def refuse_not_square(array: NDArray[Any], name: str) -> None:
    """ValueError for a matrix whose sides differ."""
    if array.shape[0] != array.shape[1]:
        raise ValueError(
            f"{name} has {array.shape[0]} rows and {array.shape[1]} columns of numbers, but a matrix of "
            "dissimilarities is square; the file may be truncated. For vectors pass kind='vectors'."
        )


def _series(arrays: dict[str, NDArray[Any]], labels: list[str] | None, kind: str | None, name: str) -> Records:
    if kind not in (None, "series"):
        raise ValueError(f"{name} holds {len(arrays)} 1-D arrays, one series each; to read one of them pass key=NAME.")
    if labels is not None and len(labels) != len(arrays):
        raise ValueError(f"{name} holds {len(labels)} labels for {len(arrays)} series; give one per series.")
    return Records(list(arrays), list(arrays.values()), "series", None, labels, None, "")


def read_anndata(opened: Opened, **options: Any) -> Records | Matrix:
    """An .h5ad file; see `from_anndata`."""
    anndata = require("anndata", "anndata", "The format 'anndata'")
    if opened.path is None or opened.compressed:
        raise ValueError(f"{opened.name}: an .h5ad file is read in place; unpack it and give its path.")
    check_hdf5(opened, opened.path, ".h5ad file")
    try:
        data = anndata.read_h5ad(opened.path, backed="r")
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"{opened.name} is no whole .h5ad file ({str(error).splitlines()[0]}); copy it.") from None
    try:
        return from_anndata(data, name=opened.name, **options)
    finally:
        data.file.close()


def from_anndata(
    data: Any, *, key: str | None = None, kind: str | None = None, label: str | None = None, name: str = "The AnnData",
    **rules: Any,
) -> Records | Matrix:  # fmt: skip
    """`data.obsp[key]` as a Matrix or `data.obsm[key]` as vectors, whichever has the key; key="X": `data.X` as vectors.

    Without `key` the only one of them is taken, `data.X` where there is no other.
    label : a column of `data.obs`; an entry that a sparse `obsp` does not store is a missing pair, not a zero: graphs
        of nearest neighbours leave most pairs out.
    data : an AnnData.
    key : the name in `obsp` or `obsm`.
    kind : "matrix" (obsp) or "vectors" (obsm), where the key is in both.
    name : what messages call the data.
    rules : similarity, missing, symmetrize and symmetric, as for `read`.
    """
    if kind not in (None, "matrix", "vectors"):
        raise ValueError(f"kind is {kind!r}; AnnData holds a 'matrix' (obsp) or 'vectors' (obsm).")
    there = {("matrix", k): data.obsp[k] for k in data.obsp} | {("vectors", k): data.obsm[k] for k in data.obsm}
    if data.X is not None and (key == "X" or not (there or key)):
        there = {("vectors", "X"): data.X.to_memory() if hasattr(data.X, "to_memory") else data.X}
    fitting = [at for at in there if key in (None, at[1]) and kind in (None, at[0])]
    if len(fitting) != 1:
        found = ", ".join(f"{'obsp' if what == 'matrix' else 'obsm'}[{k!r}]" for what, k in there) or "neither"
        wanted = "obsp and obsm" if key is None else f"obsp and obsm under {key!r}"
        raise ValueError(f"{name} has {len(fitting)} arrays in {wanted}; it has {found}; pass key=NAME and kind=KIND.")
    kind = fitting[0][0]
    array = _dense(there[fitting[0]], kind)
    records = from_array(name, array, kind, [str(i) for i in data.obs_names], _labels(data, label, name), rules)
    if isinstance(records, Records) and fitting[0] == ("vectors", "X"):
        return replace(records, columns=[str(each) for each in data.var_names])
    return records


def _dense(array: Any, kind: str) -> NDArray[Any]:
    if hasattr(array, "iloc"):
        array = array.to_numpy()
    if not hasattr(array, "tocoo"):
        return np.asarray(array)
    if kind == "vectors":
        return np.asarray(array.toarray())
    if 8 * array.shape[0] * array.shape[1] > DENSE_BYTES:
        raise ValueError(
            f"{array.shape[0]} points have a matrix of {8 * array.shape[0] ** 2 / 2**30:.0f} GiB, which is too large; "
            "keep the pairs in a Parquet file or DuckDB database, which is read as needed (see PairSource)."
        )
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
        raise ValueError(f"{name} has no column {label!r} in obs for the label; choose from {there}.")
    return [str(each) for each in data.obs[label]]
