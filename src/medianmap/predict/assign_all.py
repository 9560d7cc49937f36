"""The two nearest prototypes of every object, and the table of all that a model says of it.

The table (prototype, dissimilarity, exemplar, class of every object) goes to a file
that survives being killed, or out as lines.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.labels import as_label_vectors
from ..core.memberships import Memberships
from ..sources.base import FloatArray, IntArray, rows_per_panel
from ..utils.checks import check_count, check_flag, check_n_jobs
from ..utils.files import FOR_SPREADSHEETS, atomic, packed, protected, table
from ..utils.loading import require
from ..utils.resumable import GrowingText, difference, digest, growing_text, refuse_other
from ..utils.threads import OnProgress, limited, step
from .queries import Block, Queries, as_queries, dissimilarities, exemplar_places, groups_of, map_of
from .verdicts import BORDER_SCORE, novelty, ratios, usual_among

# The first columns of every table, and the types of all in a Parquet file; the class has the type of its values.
COLUMNS = ("id", "neuron", "dissimilarity", "second", "second_dissimilarity")
TYPES = {
    "id": "string", "neuron": "int64", "dissimilarity": "float64", "second": "int64",
    "second_dissimilarity": "float64", "exemplar": "string", "border": "bool", "probability": "float64",
    "novelty": "float64", "new": "bool", "majority": "string", "majority_share": "float64",
}  # fmt: skip
DIFFERENCES = {"model": "another model", "data": "other data", "columns": "other columns"}
TEXTS = ("id", "exemplar", "class", "majority")  # columns that are text of the user
ENDINGS = (".tsv", ".tsv.gz", ".parquet")
# Text that becomes one row group of a Parquet file.
CHUNK_BYTES = 2**22
# Making a block safe more often would cost more than it saves.
VOUCH_SECONDS = 1.0


class Answers:
    """What a model says of an object: the columns of its table, and the cells under them.

    map : the fitted map that answers.
    exemplars : K ids of the prototypes' exemplars, or their places in the training data; None for means.
    classifier : the model, if it predicts classes.
    classes : K (class, probability) of the prototypes of a classifier; None without one.
    """

    def __init__(self, model: Any) -> None:
        self.map: Any = map_of(model)
        names = getattr(self.map, "prototype_ids_", exemplar_places(self.map))
        self.exemplars = None if names is None else [str(name) for name in names]
        shares = getattr(model, "prototype_labels_", None)
        self.classifier: Any = None if shares is None else model
        self.classes: list[tuple[Any, float]] | None = None if shares is None else self._likeliest(shares)
        # What the map remembers of its training points.
        self.usual: dict[str, Any] = getattr(self.map, "usual_", {})
        self.groups: IntArray | None = self.usual.get("groups")
        self.majority: list[tuple[str | None, float]] | None = None
        if "majority" in self.usual and shares is None:
            self.majority = list(zip(self.usual["majority"], self.usual["majority_share"].tolist(), strict=True))

    def _likeliest(self, shares: FloatArray) -> list[tuple[Any, float]]:
        """The class of largest share in each row, and that share."""
        best = np.asarray(self.classifier.classes_)[shares.argmax(axis=1)].tolist()
        return list(zip(best, shares.max(axis=1).tolist(), strict=True))

    def predicted(self, nearest: Nearest) -> list[tuple[Any, float]]:
        """The class that the classifier predicts for each object, and its share."""
        points = Memberships(nearest.first, nearest.second, nearest.second_share)
        return self._likeliest(self.classifier._shares_of(points))

    @property
    def columns(self) -> list[str]:
        exemplar = [] if self.exemplars is None else ["exemplar"]
        told = ["novelty", "new"] if self.usual else []
        classes = [] if self.classes is None else ["class", "probability"]
        majority = [] if self.majority is None else ["majority", "majority_share"]
        return [*COLUMNS, *exemplar, "border", *told, *classes, *majority]

    def cells(self, ids: Iterable[str], nearest: Nearest) -> list[Iterable[str]]:
        """The columns as text, one cell per object; numbers read back exact. With one prototype there is no second."""
        first, d, second, e = (column.tolist() for column in nearest[:4])
        between = ratios(nearest.d, nearest.f) >= self.usual.get("border", BORDER_SCORE)
        border: Iterable[str] = np.where(between, "1", "0").tolist()
        cells: list[Iterable[str]] = [ids, map(str, first), map(str, d), map(str, second), map(str, e)]
        if len(self.map.hits_) == 1:
            cells[3] = cells[4] = border = [""] * len(first)
        if self.exemplars is not None:
            cells.append([self.exemplars[j] for j in first])
        cells.append(border)
        if self.usual:
            score = novelty(table_of([nearest]), self.usual)
            cells += [map(str, score.tolist()), np.where(score > self.usual["novelty"], "1", "0").tolist()]
        if self.classifier is not None:
            texts = _texts(self.predicted(nearest))
            cells += [[text[part] for text in texts] for part in range(2)]
        elif self.majority is not None:
            texts = _texts(self.majority)
            cells += [[texts[j][part] for j in first] for part in range(2)]
        return cells

    def lines(self, block: Block, nearest: Nearest) -> Iterator[str]:
        """The cells of each object, separated by tabs."""
        cells = self.cells(block.ids, nearest)
        if FOR_SPREADSHEETS.get():
            cells = [map(protected, column) if name in TEXTS else column
                     for name, column in zip(self.columns, cells, strict=True)]  # fmt: skip
        return map("\t".join, zip(*cells, strict=True))

    def refuse_tabs(self) -> None:
        """ValueError for exemplars or classes whose names would break lines or columns."""
        classes = [name for name, _ in (self.classes or self.majority or ())]
        for what, names in (("exemplar", self.exemplars), ("class", classes)):
            odd = next((name for name in names or () if any(sign in str(name) for sign in "\t\n\r")), None)
            if odd is not None:
                raise ValueError(f"The {what} {odd!r} contains a tab or line break, which separate columns; rename it.")

    def fingerprint(self) -> str:
        """Tells the model's answers from those of others; empty if no other process could recognise them."""
        names = ("metric", "metric_params_", "cluster_centers_", "medoid_indices_", "n_features_in_", "self_terms_",
                 "support_", "support_objects_", "usual_")  # fmt: skip
        alpha = getattr(self.map, "coefficients_", None)
        prototypes = None if alpha is None else (alpha.data, alpha.indices, alpha.indptr)
        answers = [getattr(self.map, name, None) for name in names]
        try:
            shares = getattr(self.classifier, "prototype_labels_", None)
            return digest([answers, prototypes, self.exemplars, self.classes, shares])
        except ValueError:
            return ""


def _texts(told: Sequence[tuple[Any, float]]) -> list[tuple[str, str]]:
    """Classes and shares as the table has them, empty where there is no class."""
    return [("", "") if name is None else (str(name), str(share)) for name, share in told]


def assigned_lines(
    model: Any, X: Any, *, ids: Iterable[Any] | None = None, block: int = 8192, n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[str]:  # fmt: skip
    """The table of `assign_all` line by line, as the objects come; the names of the columns with the first block.

    model : a fitted map, classifier or pass over patches.
    X : objects, as its `predict` takes them, or a stream of them.
    ids : their names; None takes those that X carries, or numbers.
    block : objects that are compared at a time.
    n_jobs : threads, by default those of the map.
    on_progress : called as on_progress("assignment", done, total or None) after every block.
    """
    check_count(block, "block")
    check_n_jobs(n_jobs)
    answers = Answers(model)
    answers.refuse_tabs()
    queries = as_queries(answers.map, X, ids)
    for part, nearest in nearest_blocks(queries, block, n_jobs, on_progress, answers.groups):
        if part.start == 0:  # what is wrong with the first objects is said before anything is printed
            yield "\t".join(answers.columns)
        yield from answers.lines(part, nearest)


@dataclass(frozen=True)
class AssignmentTotals:
    """What `assign_all` wrote.

    n_objects : rows of the file; n_resumed of them were there from an earlier run.
    hits : (K,) number of objects at each prototype.
    quantization_error : half the sum of all dissimilarities to the nearest prototype.
    """

    path: Path
    n_objects: int
    n_resumed: int
    hits: NDArray[np.int64]
    quantization_error: float
    seconds: float


def assign_all(
    model: Any, X: Any, path: str | PathLike[str], *, ids: Iterable[Any] | None = None, block: int = 8192,
    n_jobs: int | None = None, resume: bool = True, on_progress: OnProgress | None = None,
) -> AssignmentTotals:  # fmt: skip
    """Write j = argmin_j d(x, w_j), d(x, w_j), and the same of the second nearest prototype, for every object x.

    Parameters
    ----------
    model : a fitted map, PatchClusterer or PrototypeClassifier.
    X : what `predict` takes; a source of dissimilarities (metric="precomputed"); what `readers.read` returns, also
        dissimilarities to the prototypes alone; or an iterator of objects, of (id, object) pairs, or of records
        (`readers.iter_records`). Of an iterator one block at a time is held in memory.
    path : .tsv, .tsv.gz or .parquet. It appears when it is complete; an earlier file of that name stays until then.
    ids : names of the objects; by default those that X carries, else their numbers from 0.
    block : objects at a time.
    n_jobs : threads; processes where more than one is asked for and the metric holds Python's lock, as a Python
        function does.
    resume : continue a run that was interrupted or killed, with the same X from its beginning: the objects already done
        are compared with those of the earlier run, and none is computed again. The file is the same to the last bit as
        without the interruption. False starts again from the first object.
    on_progress : called as on_progress("assignment", done, total or None) after every block.

    Columns: id, prototype (from 0), dissimilarity, second, second_dissimilarity; exemplar, the id of the
    prototype's exemplar, where it has one; border, 1 where another group is nearly as near; novelty and new, 1 where
    the object is farther from the training points than nearly all of these, if the map remembers them (`remember`, or
    a model of `medianmap fit`); class and probability of a classifier, else majority and majority_share, the class of
    most training points of the prototype, if they had classes. With one prototype second, second_dissimilarity and
    border are empty. Ties go to the lower prototype. Numbers in text read back exact.
    """
    check_count(block, "block")
    check_n_jobs(n_jobs)
    check_flag(resume, "resume")
    target = Path(path).absolute()
    if not target.name.endswith(ENDINGS):
        raise ValueError(f"{path} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}: that says what is written.")
    if target.suffix == ".parquet":
        require("pyarrow.parquet", "db", "A Parquet file")
    started = time.perf_counter()
    answers = Answers(model)
    answers.refuse_tabs()
    queries = as_queries(answers.map, X, ids)
    with limited(n_jobs), limited(1), growing_text(target) as rows:  # our own threads do the work, not those of BLAS
        about = {"kind": "medianmap-assignment", "model": answers.fingerprint(), "data": queries.sample(),
                 "columns": answers.columns + ["'"] * FOR_SPREADSHEETS.get(), "block": block}  # fmt: skip
        rows.open(about, "\t".join(answers.columns).encode() + b"\n", resume, partial(difference, words=DIFFERENCES))
        return _pass(answers, queries, rows, n_jobs, on_progress or step, started)


def _pass(
    answers: Answers, queries: Queries, rows: GrowingText, n_jobs: int | None, report: OnProgress, started: float
) -> AssignmentTotals:
    hits, error, n = np.zeros(len(answers.map.hits_), np.int64), 0.0, 0
    resumed = rows.marks[-1].n if rows.marks else 0
    known, safe = len(rows.marks), time.perf_counter()
    try:
        for k, block in enumerate(queries.blocks(rows.journal.began["block"])):
            n = block.start + len(block)
            if k < known:
                first, d = _earlier(rows, k, block)
            else:
                nearest = two_nearest(dissimilarities(answers.map, block, n_jobs), answers.groups)
                first, d = nearest.first, nearest.d
                text = "".join(f"{line}\n" for line in answers.lines(block, nearest))
                rows.append(text.encode(), n, block.signature())
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
            f"{kept} points of {rows.path.name} are kept; run the same again to continue."
        ) from None
    except Exception as failure:
        if not isinstance(failure, OSError):  # a disk that took no block will not take a vouch for it
            rows.vouch()
        raise
    if n < resumed:
        refuse_other(rows.path, f"other data: X ends after {n} objects, and there were {resumed}")
    writers = {".parquet": partial(_write_parquet, path=rows.path, answers=answers),
               ".gz": partial(_write_gzip, path=rows.path)}  # fmt: skip
    rows.finish(writers.get(rows.path.suffix))  # the text is the .tsv file already
    return AssignmentTotals(rows.path, n, resumed, hits, error, time.perf_counter() - started)


def _earlier(rows: GrowingText, k: int, block: Block) -> tuple[IntArray, FloatArray]:
    """Nearest prototypes and dissimilarities of block k as an earlier run wrote them, if it was the same block."""
    mark = rows.marks[k]
    if mark.n != block.start + len(block) or mark.signature != block.signature():
        refuse_other(rows.path, f"other data: objects {block.start} to {block.start + len(block) - 1} differ")
    lines = [line.split(b"\t", 3) for line in rows.block(k).split(b"\n")[:-1]]
    return np.array([int(line[1]) for line in lines], np.intp), np.array([float(line[2]) for line in lines])


def _write_gzip(part: Path, path: Path) -> None:
    with part.open("rb") as text, atomic(path) as file, packed(file, path) as stream:
        shutil.copyfileobj(text, stream, 2**20)


def _write_parquet(part: Path, path: Path, answers: Answers) -> None:
    names = ("pyarrow", "pyarrow.csv", "pyarrow.parquet")
    arrow, csv, parquet = (require(name, "db", "A Parquet file") for name in names)
    aliases = dict(TYPES)
    if answers.classes is not None:
        kind = type(answers.classes[0][0])
        aliases["class"] = {bool: "bool", int: "int64", float: "float64"}.get(kind, "string")
    types = {name: arrow.type_for_alias(aliases[name]) for name in answers.columns}
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


class Nearest(NamedTuple):
    """Of n points: nearest prototype (n,), dissimilarity to it, second nearest, dissimilarity to that.

    other, f : (n,) nearest prototype of another group than that of the first, and dissimilarity to it.
    second_share : (n,) the part of the point that belongs to the second prototype, see `Memberships`.
    """

    first: IntArray
    d: FloatArray
    second: IntArray
    e: FloatArray
    other: IntArray
    f: FloatArray
    second_share: FloatArray


def two_nearest(G: FloatArray, groups: IntArray | None = None) -> Nearest:
    """The two nearest prototypes by dissimilarities G (n, K).

    Ties go to the lower index; of one prototype the second is itself, at infinity.

    groups : (K,) the group of each prototype; None: each is its own.
    """
    i, (first, second, t) = np.arange(len(G)), Memberships.of(G)
    d, e = G[i, first], G[i, second] if G.shape[1] > 1 else np.full(len(G), np.inf)
    if groups is None:
        return Nearest(first, d, second, e, second, e, t)
    others = np.where(groups[None, :] == groups[first][:, None], np.inf, G)
    other = others.argmin(axis=1)
    return Nearest(first, d, second, e, other, others[i, other], t)


def nearest_blocks(
    queries: Queries, size: int, n_jobs: int | None, on_progress: OnProgress | None, groups: IntArray | None = None
) -> Iterator[tuple[Block, Nearest]]:
    """Blocks of `size` objects with their two nearest prototypes; on_progress is called after every block."""
    report = on_progress or step
    with limited(n_jobs), limited(1):  # our own threads do the work, not those of BLAS
        for block in queries.blocks(size):
            yield block, two_nearest(dissimilarities(queries.fitted, block, n_jobs), groups)
            report("assignment", block.start + len(block), queries.n)


def two_best(
    model: Any, X: Any, *, groups: IntArray | None = None, n_jobs: int | None = None,
    on_progress: OnProgress | None = None,
) -> NDArray[Any]:  # fmt: skip
    """(N,) records: point, prototype, dissimilarity, second, second_dissimilarity, other, other_dissimilarity,
    ratio, second_share.

    ratio = d(x, nearest) / d(x, second nearest), in [0, 1]: 0 on an exemplar, 1 where two are equally near (also
    both at 0). other is the nearest prototype of another group, at infinity where there is none. Ties go to the lower
    prototype; on a map of one prototype the second is the same, at infinity. second_share is the part of the point that
    belongs to the second, in [0, 1/2] (see `Memberships`). X is read in blocks, so that memory does not grow with N K.

    groups : (K,) the group of each prototype; None takes those of `groups_of`.
    n_jobs : threads, by default those of the map.
    on_progress : called as on_progress("assignment", done, total or None) after every block.
    model : a fitted map, classifier or pass over patches.
    X : objects, as its `predict` takes them.
    """
    fitted = map_of(model)
    groups = groups_of(model, X) if groups is None else groups
    queries = as_queries(fitted, X, None)
    n_jobs = fitted.n_jobs if n_jobs is None else n_jobs
    blocks = nearest_blocks(queries, rows_per_panel(len(fitted.hits_)), n_jobs, on_progress, groups)
    return table_of(nearest for _, nearest in blocks)


def table_of(blocks: Iterable[Nearest]) -> NDArray[Any]:
    """The records of `two_best`, from the two nearest prototypes of all points, block by block."""
    first, d, second, e, other, f, t = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return table(point=np.arange(len(first)), prototype=first, dissimilarity=d, second=second,
                 second_dissimilarity=e, other=other, other_dissimilarity=f, ratio=ratios(d, e),
                 second_share=t)  # fmt: skip


def nearest_of(points: NDArray[Any]) -> Nearest:
    """The two nearest prototypes from the records of `two_best`."""
    names = ("prototype", "dissimilarity", "second", "second_dissimilarity", "other", "other_dissimilarity",
             "second_share")  # fmt: skip
    return Nearest(*(points[name] for name in names))


def remember(
    model: Any, X: Any = None, y: Any = None, *, points: NDArray[Any] | None = None, groups: IntArray | None = None
) -> None:
    """Keep with a fitted map what is usual among its training points, so that `assign_all` can judge new objects.

    model : a fitted map, classifier or pass over patches.
    X : the training data.
    y : (N,) their classes, None where a point has none: each prototype remembers the majority.
    points, groups : the table of `two_best` of the training data, made with these groups, in the place of X.

    It becomes the attribute `usual_` of the map, see `usual_among`, and is stored with it; majority and majority_share
    are the class of most labelled points of each prototype, None where there are none, and its share of them.
    """
    fitted: Any = map_of(model)
    groups = groups_of(model, X) if groups is None else groups
    points = two_best(model, X, groups=groups) if points is None else points
    usual = usual_among(points, groups)
    labels = None if y is None else as_label_vectors(y, len(points))
    if labels is not None and len(labels.classes):
        counts = np.zeros((len(groups), len(labels.classes)))
        np.add.at(counts, points["prototype"], labels.y)  # unlabelled points have rows of zeros
        total = counts.sum(axis=1)
        names = [str(labels.classes[c]) for c in counts.argmax(axis=1)]
        usual["majority"] = [name if n > 0 else None for name, n in zip(names, total, strict=True)]
        usual["majority_share"] = counts.max(axis=1) / np.where(total > 0, total, 1.0)
    fitted.usual_ = usual
