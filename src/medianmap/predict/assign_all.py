"""A second pass, after training: every object's prototype, dissimilarity and second best, into a file."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..estimators.base import BaseMap
from ..estimators.classifier import PrototypeClassifier
from ..estimators.families import RelationalMap
from ..patches.clusterer import PatchClusterer
from ..sources.base import FloatArray, IntArray
from ..utils.checks import check_count, check_flag, check_n_jobs
from ..utils.extras import require
from ..utils.files import atomic, packed
from ..utils.fingerprint import digest
from ..utils.progress import OnProgress, step
from ..utils.threads import limited
from .growing import Growing, growing
from .queries import Block, Queries, as_queries, dissimilarities

COLUMNS = ("id", "prototype", "dissimilarity", "second", "second_dissimilarity")
ENDINGS = (".tsv", ".tsv.gz", ".parquet")
# Text that becomes one row group of a Parquet file.
CHUNK_BYTES = 2**22
# Making a block safe more often would cost more than it saves.
VOUCH_SECONDS = 1.0


@dataclass(frozen=True)
class Assigned:
    """What `assign_all` wrote.

    n_objects : rows of the file; n_resumed of them were there from an earlier run.
    hits : (K,) objects at each prototype.
    quantization_error : half the sum of all dissimilarities to the nearest prototype.
    """

    path: Path
    n_objects: int
    n_resumed: int
    hits: NDArray[np.int64]
    quantization_error: float
    seconds: float


def assign_all(
    model: Any,
    X: Any,
    path: str | PathLike[str],
    *,
    ids: Iterable[Any] | None = None,
    block: int = 8192,
    n_jobs: int | None = None,
    resume: bool = True,
    on_progress: OnProgress | None = None,
) -> Assigned:
    """Write j = argmin_j d(x, w_j), d(x, w_j), and the same of the second best prototype, for every object x.

    Parameters
    ----------
    model : a fitted map, PatchClusterer or PrototypeClassifier; of a classifier the class is written, too.
    X : what `predict` takes; a source of dissimilarities (metric="precomputed"); or an iterator of objects, of
        (id, object) pairs, or of records (`readers.iter_records`). Never more than a block of it is held.
    path : .tsv, .tsv.gz or .parquet. It appears when it is whole; an earlier file of that name stays until then.
    ids : names of the objects; by default those that X carries, else their numbers from 0.
    block : objects at a time.
    n_jobs : threads; processes, where more than one is asked for, of a metric that holds Python's lock, such as a
        Python function.
    resume : go on where a run that was interrupted or killed left off, with the same X from its beginning: the objects
        already done are compared with those of the earlier run, and none is computed again. The file is the same to the
        last bit as without the interruption. False starts anew.
    on_progress : called as on_progress("assignment", done, total or None) after every block.

    Columns: id, prototype (from 0), dissimilarity, second, second_dissimilarity (empty if there is one prototype), and
    class for a classifier. Ties go to the lower prototype. Numbers of a .tsv are written so that they read back exact.
    """
    check_count(block, "block")
    check_n_jobs(n_jobs)
    check_flag(resume, "resume")
    check_is_fitted(model)
    target = Path(path).absolute()
    if not target.name.endswith(ENDINGS):
        raise ValueError(f"{path} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}: that says what is written.")
    if target.suffix == ".parquet":
        require("pyarrow.parquet", "db", "A Parquet file")
    started = time.perf_counter()
    told = _Told(model)
    queries = as_queries(told.map, X, ids)
    with limited(n_jobs), limited(1), growing(target) as rows:  # our own threads do the work, not those of BLAS
        about = {"model": told.fingerprint(), "data": queries.sample(), "columns": told.columns, "block": block}
        rows.open(about, "\t".join(told.columns).encode() + b"\n", resume)
        return _pass(told, queries, rows, n_jobs, on_progress or step, started)


def map_of(model: Any) -> BaseMap:
    """The fitted map that answers for a model."""
    if isinstance(model, PrototypeClassifier):
        model = model.estimator_
    if isinstance(model, PatchClusterer):
        model = model.map_
    if not isinstance(model, BaseMap):
        raise TypeError(f"model is a {type(model).__name__}; pass a fitted map, PatchClusterer or classifier.")
    return model


class _Told:
    """What a model can tell of an object."""

    def __init__(self, model: Any) -> None:
        self.classes: list[Any] | None = None
        if isinstance(model, PrototypeClassifier):
            self.classes = model.classes_[model.prototype_labels_.argmax(axis=1)].tolist()
        self.map = map_of(model)
        odd = next((name for name in self.classes or () if any(sign in str(name) for sign in "\t\n\r")), None)
        if odd is not None:
            raise ValueError(f"The class {odd!r} has a tab or a line's end in it, which parts columns; rename it.")

    @property
    def columns(self) -> list[str]:
        return [*COLUMNS, "class"] if self.classes is not None else [*COLUMNS]

    def fingerprint(self) -> str:
        """Tells the model's answers from another's; empty if they cannot be known again in another process."""
        names = ("metric", "metric_params_", "cluster_centers_", "medoid_indices_", "n_features_in_")
        answers = {name: getattr(self.map, name, None) for name in names}
        if isinstance(self.map, RelationalMap):
            alpha = self.map.coefficients_
            answers["prototypes"] = (alpha.data, alpha.indices, alpha.indptr, self.map.self_terms_, self.map.support_)
            answers["objects"] = getattr(self.map, "support_objects_", None)
        try:
            return digest([answers, self.classes])
        except ValueError:
            return ""

    def rows(self, block: Block, n_jobs: int | None) -> tuple[bytes, IntArray, FloatArray]:
        """The block as lines of text, nearest prototypes (n,) and dissimilarities to them (n,)."""
        first, d, second, e = two_nearest(dissimilarities(self.map, block, n_jobs))
        near, far = zip(first.tolist(), d.tolist(), strict=True), zip(second.tolist(), e.tolist(), strict=True)
        beyond = [f"{j}\t{value!r}" for j, value in far] if len(self.map.hits_) > 1 else ["\t"] * len(block)
        if self.classes is not None:
            words = [str(self.classes[j]) for j in first.tolist()]
            beyond = [f"{text}\t{word}" for text, word in zip(beyond, words, strict=True)]
        lines = [
            f"{name}\t{j}\t{value!r}\t{rest}\n" for name, (j, value), rest in zip(block.ids, near, beyond, strict=True)
        ]
        return "".join(lines).encode(), first, d


def two_nearest(G: FloatArray) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """Of dissimilarities G (n, K): nearest prototype (n,), its dissimilarity, the second nearest, its dissimilarity.

    Ties go to the lower index; of one prototype the second is itself, at infinity.
    """
    i = np.arange(len(G))
    first = G.argmin(axis=1)
    d = G[i, first]
    others = G.copy()
    others[i, first] = np.inf
    second = others.argmin(axis=1)
    return first, d, second, others[i, second]


def _pass(
    told: _Told, queries: Queries, rows: Growing, n_jobs: int | None, report: OnProgress, started: float
) -> Assigned:
    hits, error, n = np.zeros(len(told.map.hits_), np.int64), 0.0, 0
    resumed = rows.marks[-1].n if rows.marks else 0
    known, safe = len(rows.marks), time.perf_counter()
    try:
        for k, block in enumerate(queries.blocks(rows.about["block"])):
            n = block.start + len(block)
            if k < known:
                first, d = _earlier(rows, k, block)
            else:
                text, first, d = told.rows(block, n_jobs)
                rows.append(text, n, block.signature())
            hits += np.bincount(first, minlength=len(hits))
            error += 0.5 * float(d.sum())
            if time.perf_counter() - safe > VOUCH_SECONDS:
                rows.vouch()
                safe = time.perf_counter()
            if n >= resumed:
                report("assignment", n, queries.n)
    except KeyboardInterrupt:
        rows.vouch()
        kept = rows.marks[-1].n if rows.marks else 0
        raise KeyboardInterrupt(
            f"{kept} objects of {rows.path.name} are assigned and kept; run the same again to go on."
        ) from None
    except Exception as failure:
        if not isinstance(failure, OSError):  # a disk that took no block will not take a vouch for it
            rows.vouch()
        raise
    if n < resumed:
        raise _other_data(rows, f"it ends after {n} objects, and there were {resumed}")
    if n == 0:
        raise ValueError("X is empty: 0 sample(s) were passed while a minimum of 1 is required.")
    rows.finish(_writer(rows.path, told))
    return Assigned(rows.path, n, resumed, hits, error, time.perf_counter() - started)


def _earlier(rows: Growing, k: int, block: Block) -> tuple[IntArray, FloatArray]:
    """Nearest prototypes and dissimilarities of block k as an earlier run wrote them, if it was the same block."""
    mark = rows.marks[k]
    if mark.n != block.start + len(block) or mark.signature != block.signature():
        raise _other_data(rows, f"objects {block.start} to {block.start + len(block) - 1} differ")
    lines = [line.split(b"\t", 3) for line in rows.block(k).split(b"\n")[:-1]]
    return np.array([int(line[1]) for line in lines], np.intp), np.array([float(line[2]) for line in lines])


def _other_data(rows: Growing, how: str) -> ValueError:
    return ValueError(
        f"X is not what {rows.path} was begun with: {how}; pass resume=False (--restart) to start anew, "
        "or choose another path."
    )


def _writer(path: Path, told: _Told) -> Callable[[Path], None] | None:
    """What turns the finished text into the file asked for; None where it is that already."""
    if path.suffix == ".parquet":
        return lambda part: _write_parquet(part, path, told.classes)
    return None if path.suffix == ".tsv" else lambda part: _write_gzip(part, path)


def _write_gzip(part: Path, path: Path) -> None:
    with part.open("rb") as text, atomic(path) as file, packed(file, path) as stream:
        shutil.copyfileobj(text, stream, 2**20)


def _write_parquet(part: Path, path: Path, classes: list[Any] | None) -> None:
    arrow, csv, parquet = (
        require(name, "db", "A Parquet file") for name in ("pyarrow", "pyarrow.csv", "pyarrow.parquet")
    )
    aliases = dict(zip(COLUMNS, ("string", "int64", "float64", "int64", "float64"), strict=True))
    if classes is not None:
        aliases["class"] = {bool: "bool", int: "int64", float: "float64"}.get(type(classes[0]), "string")
    types = {name: arrow.type_for_alias(alias) for name, alias in aliases.items()}
    how = {
        "read_options": csv.ReadOptions(column_names=list(types), use_threads=False),
        "parse_options": csv.ParseOptions(delimiter="\t", quote_char=False),
        "convert_options": csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=False),
    }
    schema = arrow.schema(list(types.items()))
    with part.open("rb") as text, atomic(path) as file, parquet.ParquetWriter(file, schema) as writer:
        text.readline()
        # Chunk by chunk rather than as pyarrow streams a file, which reads ahead as far as it gets.
        while chunk := text.read(CHUNK_BYTES):
            whole = arrow.BufferReader(chunk + text.readline())
            writer.write_table(csv.read_csv(whole, **how))
