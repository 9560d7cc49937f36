"""A user's file -> its points (objects or dissimilarities, ids, labels), as a whole or a stream; what suits them."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..estimators.parameters import MapParameters, PlaneStart, usual_grid, usual_size
from ..utils.device import gains
from ..utils.files import FOR_SPREADSHEETS, is_formula
from .output import note
from .settings import CONFIG, MAPS, MOST_ALL_PAIRS, USUAL_PATCH, FitSettings, grid_text, make_map, settings_beside

if TYPE_CHECKING:
    from ..readers import Matrix, Records
    from ..readers.labels import Labels
    from ..sources import Source

SEQUENCES = ("fasta", "fastq")
STREAMED = (*SEQUENCES, "table")
# By what a metric compares, the kinds of points that it does not.
STRANGE_TO = {"vectors": ("strings", "series"), "series": ("strings",), "peak lists": ("strings",),
              "mixed tables": ("strings", "series"), "strings": ("vectors", "series"),
              "strings or tokens": ("vectors", "series")}  # fmt: skip
# A column that makes up more than this share of squared distances between vectors is pointed out.
ONE_SIDED = 0.9


@dataclass(frozen=True, eq=False)
class Given:
    """N points: `objects` to compare, or a `source` of their dissimilarities, never both.

    labels : one per point, None where a point has none; None altogether where there are no labels.
    sequences : whether they came as FASTA or FASTQ.
    metadata : other columns of the file of labels, by name. notes : what is to be said of that file.
    usual : the metric by which such points are usually compared, where the file says what they are.
    read : how to read other such files, where that was guessed.
    """

    name: str
    ids: list[str]
    kind: str
    objects: Any = None
    source: Source | None = None
    sequences: bool = False
    columns: list[str] | None = None
    descriptions: list[str] | None = None
    labels: Labels | None = None
    note: str = ""
    metadata: Mapping[str, Labels] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    usual: str = ""
    read: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def data(self) -> Any:
        """What a model takes: the dissimilarities, or the objects."""
        return self.objects if self.source is None else self.source


# --- reading


def read_as(file: str | Path, options: Mapping[str, Any]) -> Records | Matrix:
    """`readers.read` with options that a user has written as text."""
    from ..readers import read

    refuse_unknown(options)
    try:
        return read(file, **options)
    except TypeError as error:
        if not options:
            raise
        raise ValueError(f"--read: a value is of the wrong kind: {error}.") from error


def refuse_unknown(options: Mapping[str, Any]) -> None:
    """ValueError for an option that `readers.read` does not have."""
    from ..readers import read

    known = [name for name in signature(read).parameters if name != "path"]
    unknown = next((name for name in options if name not in known), None)
    if unknown is not None:
        raise ValueError(f"--read: there is no {unknown!r}; choose from {', '.join(known)}.")


def read_given(file: str, options: Mapping[str, Any], labels: str | None = None, strict: bool = False) -> Given:
    """The points in the file, read as `options` say, with their labels where `labels` says where these are.

    strict : whether points without a line in a file of labels, and lines without a point, are an error.
    """
    from ..readers import Matrix
    from ..readers.labels import is_header_rule, is_labels_file
    from ..sources import as_dissimilarity, is_store

    path, name = Path(file), "standard input" if file == "-" else file
    if file != "-" and not beyond_limits(options) and not path.is_dir() and is_store(path):
        stored = as_dissimilarity(path)
        return _labelled(Given(name, _names(stored), "dissimilarities", source=stored), labels, strict)
    column = labels is not None and not is_labels_file(labels) and not is_header_rule(labels)
    sequences = format_in(file, options) in SEQUENCES
    if column and sequences:
        raise ValueError(
            f"--labels {labels}: there is no such file, and sequences have no columns; give a file of ids and labels, "
            "or header, header:NUMBER or header:KEY for a word of the headers."
        )
    found = read_as(file, {**options, "label": labels} if column and labels != "labels" else options)
    if isinstance(found, Matrix):
        # The labels beside a matrix in a .npz file are read with it; elsewhere a matrix has no columns of labels.
        source = found.source()
        given = Given(name, _names(source), "dissimilarities", None, source, labels=_own(found.labels), note=found.note)
    else:
        sequences = sequences or (file == "-" and found.kind == "strings" and found.descriptions is not None)
        given = Given(name, found.ids, found.kind, found.objects, None, sequences, found.columns, found.descriptions,
                      _own(found.labels), found.note, usual=found.usual)  # fmt: skip
        if found.kind == "table" and found.columns is not None:
            given = replace(given, read={"kind": "table", "columns": found.columns})
    if column and given.labels is None:
        raise ValueError(f"--labels {labels}: {name} has no such column, and there is no such file.")
    return given if column else _labelled(given, labels, strict)


def beyond_limits(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say how to read a file, without those that say how large it may be."""
    from ..readers import LIMITS

    return {name: value for name, value in options.items() if name not in LIMITS}


def format_in(file: str | Path, options: Mapping[str, Any]) -> str:
    """The format of the file; of standard input, which is read once, "fasta" where its first letter tells, else ""."""
    from ..readers import format_of
    from ..readers.records import limits_in, opening

    if str(file) == "-":
        peek = getattr(sys.stdin.buffer, "peek", None)
        return options.get("format") or ("fasta" if peek is not None and peek(1)[:1] in (b">", b"@") else "")
    with opening(file, limits_in(options)) as opened:
        return format_of(opened, options.get("format"), options).name


def length_of(file: str | Path, format_: str, options: Mapping[str, Any]) -> int:
    """How many objects a file has that can be a stream: one quick look at it, exact up to a header."""
    from ..readers.records import limits_in, opening

    with opening(file, limits_in(options)) as opened:
        if format_ == "fasta":
            return sum(line.startswith(b">") for line in opened.raw_lines())
        return sum(1 for _ in opened.raw_lines()) // (4 if format_ == "fastq" else 1)


def _labelled(given: Given, labels: str | None, strict: bool) -> Given:
    from ..readers.labels import from_file, from_headers, is_header_rule, is_labels_file

    if labels is None:
        return given
    if is_header_rule(labels):
        return replace(given, labels=from_headers(labels, given.descriptions, given.name))
    if is_labels_file(labels):
        found = from_file(labels, given.ids, given.name, strict)
        return replace(given, labels=found.labels, metadata=found.columns, notes=found.notes)
    raise ValueError(f"--labels {labels}: there is no such file, and {given.name} has no columns.")


def _names(source: Source) -> list[str]:
    return [str(each) for each in (range(source.shape[0]) if source.ids is None else source.ids)]


def _own(labels: Sequence[str] | None) -> Labels | None:
    from ..readers.labels import known_or_none

    return None if labels is None else [known_or_none(label) for label in labels]


def about_file(file: str | Path) -> dict[str, Any]:
    """Size and SHA-256 of a file; nothing of standard input, which is gone."""
    path = Path(file)
    if str(file) == "-" or not path.is_file():
        return {}
    with path.open("rb") as stream:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


# --- a stream, of which one patch at a time is in memory


class ObjectStream(Iterator[Any]):
    """The objects of a file as a stream: an iterator, to be read once.

    headers : place -> (id, description) of the objects whose `ids` were asked for.
    head : the first of them as points, to say which metric and which number of prototypes suit them.
    """

    def __init__(self, settings: FitSettings) -> None:
        import numpy as np

        self.file, self.read = settings.input, dict(settings.read)
        name = "standard input" if self.file == "-" else self.file
        refuse_unknown(self.read)
        self.format = format_in(self.file, self.read)
        if self.format not in (*STREAMED, ""):
            raise ValueError(f"{name} is a {self.format} file, which cannot be read as a stream; drop --stream.")
        self._records = self.records()
        self._first = list(islice(self._records, settings.patch or USUAL_PATCH))
        if not self._first:
            raise ValueError(f"{name} holds no records; check that this is the right file.")
        ids, objects = [each.id for each in self._first], [each.object for each in self._first]
        if isinstance(objects[0], tuple):
            raise ValueError(
                f"{name} is a table with categories or missing values, which cannot be read as a stream; drop --stream."
            )
        kind = "strings" if isinstance(objects[0], str) else "vectors"
        self.head = Given(name, ids, kind, objects if kind == "strings" else np.array(objects),
                          sequences=self.format in SEQUENCES)  # fmt: skip
        if kind == "vectors" and "kind" not in self.read and _begins_a_matrix(self.head.objects):
            raise ValueError(
                f"{name} begins like a matrix of dissimilarities or similarities, which cannot be read as a stream; "
                "drop --stream, or, if these are vectors, pass --read kind=vectors."
            )
        self._left = chain(self._first, self._records)
        self._kept: list[tuple[str, str]] | None = [] if self.file == "-" else None  # a pipe cannot be read again
        self.headers: dict[int, tuple[str, str]] = {}

    def records(self) -> Iterator[Any]:
        """All records, from the beginning of the file."""
        from ..readers import iter_records

        return iter_records(self.file, **self.read)

    def __next__(self) -> Any:
        record = next(self._left)
        if self._kept is not None:
            self._kept.append((record.id, record.description))
        return record.object

    def ids(self, places: Sequence[int]) -> list[str]:
        """The ids of the objects at these places; a long file is read again rather than kept."""
        wanted = set(places)
        every: Iterable[tuple[str, str]] = self._kept or ((each.id, each.description) for each in self.records())
        self.headers = {place: header for place, header in enumerate(every) if place in wanted}
        return [self.headers[place][0] for place in places]


def _begins_a_matrix(rows: Any) -> bool:
    """Whether rows (n, M) could begin an M x M matrix: nothing negative and no row of zeros, as `judge_square` says."""
    from ..sources.squares import judge_square

    n, M = rows.shape
    if not n <= M > 2 or (rows < 0).any() or not rows.any(axis=1).all():
        return False
    verdict = judge_square(rows[:, :n])
    return verdict.kind == "dissimilarities" or (verdict.similarity is not None and verdict.symmetric)


def data_in(settings: FitSettings) -> Given | ObjectStream:
    """The data of a fit: all of them, or the stream that the settings ask for."""
    if settings.stream:
        return ObjectStream(settings)
    return read_given(settings.input, settings.read, settings.labels, settings.strict)


# --- what suits the points where the settings leave it open: metric, number of prototypes, patches


def chosen_metric(given: Given, metric: str | None, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The metric with its parameters, or the usual ones for such points, which is said on stderr.

    ValueError if they do not fit the points.
    """
    chosen, settled, notes = settled_metric(given, metric, params)
    for each in notes if given.source is None else ():
        note(each)
    return chosen, settled


def settled_metric(
    given: Given, metric: str | None, params: Mapping[str, Any]
) -> tuple[str, dict[str, Any], list[str]]:
    """The metric, its parameters, and what to say: what was guessed, chosen, and read otherwise than written."""
    notes = [*([f"{given.name}: {given.note}"] if given.note else []), *given.notes]
    formulas = sum(map(is_formula, given.ids))
    if formulas and not FOR_SPREADSHEETS.get():
        notes.append(f"{given.name}: {formulas} ids begin with = + - or @, which a spreadsheet takes for a formula; "
                     "--spreadsheet protects them by an apostrophe.")  # fmt: skip
    chosen = metric or default_metric(given)
    check_metric_fits(given, chosen)
    params = dict(params)
    if metric is None and given.source is None:
        what = "rows" if given.kind == "table" else given.kind
        notes.append(
            f"without --metric the {what} of {given.name} are compared by {chosen!r}.{_one_sided(given, chosen)}"
        )
    if given.sequences:
        notes += _suit_sequences(given, chosen, params)
    return chosen, params, notes


def _one_sided(given: Given, metric: str) -> str:
    """A sentence where one column of vectors nearly decides Euclidean distances, because its numbers are large."""
    if metric != "euclidean" or given.objects.shape[1] < 2:
        return ""
    import numpy as np

    looked_at = np.asarray(given.objects[:: 1 + len(given) // 4000], np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # what is no finite number is refused by name later
        spread = looked_at.var(axis=0)
    share, most = spread.max() / max(spread.sum(), np.finfo(float).tiny), int(spread.argmax())
    if not (share > ONE_SIDED and (spread > 0).all()):
        return ""
    title = repr(given.columns[most]) if given.columns else most
    return (f" Column {title} makes up {100 * share:.3g}% of their squared distances, on average; "
            "--metric seuclidean gives all columns the same weight.")  # fmt: skip


def default_metric(given: Given) -> str:
    """How objects of this kind are usually compared; dissimilarities are "precomputed"."""
    from ..metrics.letters import is_nucleic

    if given.source is not None:
        return "precomputed"
    if given.kind != "strings":
        return given.usual or {"vectors": "euclidean", "series": "dtw", "table": "gower"}[given.kind]
    return "alignment" if given.sequences and not is_nucleic(given.objects) else "edit"


def _suit_sequences(given: Given, metric: str, params: dict[str, Any]) -> list[str]:
    """Complete the parameters by what suits sequences as databases write them; what to say of that."""
    from ..metrics import alignment, edit
    from ..metrics.letters import are_aligned, is_nucleic

    notes = []
    if metric == "alignment" and not {"mode", "rule", "matrix"} & params.keys() and are_aligned(given.objects):
        params |= {"mode": "aligned", "rule": "p-distance"}
        notes.append(
            f"{given.name} is an alignment of {len(given.objects[0])} columns, in which its sequences are compared; "
            "--param mode=global aligns them anew."
        )
    if metric == "edit":
        params.setdefault("spelling", "dna" if is_nucleic(given.objects) else "protein")
    if metric in ("edit", "alignment"):
        respelled = (edit if metric == "edit" else alignment).spelled(params)
        told = "" if respelled is None else respelled.told(given.objects)
        if told:
            notes.append(f"{given.name}: {told}; --param spelling=exact takes letters as they are.")
    return notes


def check_metric_fits(given: Given, metric: str) -> None:
    """Dissimilarities are not compared again, and objects are not taken for dissimilarities."""
    if given.source is not None and metric != "precomputed":
        raise ValueError(
            f"{given.name} holds dissimilarities already, so there is nothing to compare with --metric {metric}; "
            "drop it, or, if they are vectors, pass --read kind=vectors."
        )
    if given.kind == "table" and metric != "gower":
        raise ValueError(
            f"{given.name} holds a table with categories or missing values, which --metric {metric} does not compare; "
            "drop it, which means gower, or choose columns of whole numbers: --read columns=[...]."
        )
    if given.source is None and metric == "precomputed":
        shape = f" of shape {given.objects.shape}" if given.kind == "vectors" else ""
        raise ValueError(
            f"{given.name} holds {len(given)} {given.kind}{shape} and no square matrix of dissimilarities; "
            "choose another --metric, or leave it out."
        )
    if given.source is None:
        from ..metrics.registry import bind

        compared = bind(metric).metric.accepts
        if given.kind in STRANGE_TO.get(compared, ()):
            raise ValueError(
                f"{given.name} holds {given.kind}, but --metric {metric} compares {compared}; leave it out, which "
                f"means {default_metric(given)}, or choose another: medianmap metrics lists them."
            )


def suited(settings: FitSettings, given: Given, n: int | None, different: int | None = None) -> FitSettings:
    """The settings with the size of a patch and a number of neurons that suit the points; ValueError where none do.

    It imports nothing heavy, so that commands call it before they import the rest.
    n : number of points; None of a stream, of which `given` is the beginning. different : see `sized`.
    """
    check_metric_fits(given, settings.metric or default_metric(given))
    patched = in_patches(settings, n or 0) if given.source is None else settings
    return sized(patched, n or patched.patch or 0, given.name, different)


def suitable_data(settings: FitSettings) -> Given | ObjectStream:
    """The data of a fit, read and seen to suit the settings."""
    data = data_in(settings)
    if settings.exemplars not in (None, "-"):
        from ..readers.clusters import read_ids

        read_ids(settings.exemplars)  # again later; what is wrong with it is said before seconds of imports
    if isinstance(data, ObjectStream):
        suited(settings, data.head, None)
    else:
        suited(settings, data, len(data))
    return data


def sized(settings: FitSettings, n: int, name: str, different: int | None = None) -> FitSettings:
    """The settings with a number of neurons that suits n points of the file `name`; ValueError for too many.

    In a pass the neurons must suit a patch. different : how many of the points are not the same as an earlier one.
    """
    K = settings.n_prototypes
    if K is None:
        K = usual_size(min(n, settings.patch or n), n if different is None else different)
        return replace(settings, k=K) if settings.map != "som" else replace(settings, grid=usual_grid(K))
    if n < K:
        asked = f"-k {K}" if settings.map != "som" else f"--lattice {settings.lattice} has {K} neurons, which"
        if settings.grid is not None:
            asked = f"--grid {grid_text(settings.grid)} has {K} neurons, which"
        raise ValueError(f"{asked} exceeds the {n} points of {name}; ask for at most one neuron per point.")
    if settings.patch and settings.patch < K:
        raise ValueError(f"--patch {settings.patch} is less than the {K} neurons; choose several times as many.")
    return settings


def in_patches(settings: FitSettings, n: int) -> FitSettings:
    """The settings with the size of a patch, where one pass is asked for or n points are too many for all pairs."""
    asked = settings.stream or settings.tree or settings.max_evaluations is not None
    many = n > MOST_ALL_PAIRS and not gains(settings.device, n, 4 * n * n)
    if settings.exemplars is None and settings.patch is None and (asked or many):
        return replace(settings, patch=USUAL_PATCH)
    return settings


def exemplars_in(settings: FitSettings, given: Given) -> dict[str, Any]:
    """The parameters of a map that takes the exemplars of a file as they are; none where the settings name no file."""
    if settings.exemplars is None:
        return {}
    from ..core.neighborhood import checked_lattice
    from ..readers.clusters import read_ids
    from ..refine.arrangement import check_fits, located

    try:
        places = located(read_ids(settings.exemplars, given.ids), len(given), given.ids)
        own: Any = make_map(settings)
        check_fits(len(places), checked_lattice(own.grid, own.lattice, own.periodic))
    except ValueError as error:
        raise ValueError(f"--exemplars {settings.exemplars}: {error}") from None
    return {"init": places.tolist(), "annealing": "none", "refine": "swap", "max_swaps": 0}


def completed(settings: FitSettings, metric: str) -> FitSettings:
    """The settings with all defaults filled in; exemplars that are there already are not trained."""
    if settings.exemplars is not None:
        return replace(settings, metric=metric)
    own: Any = MAPS[settings.map]
    epochs = own.max_iter if hasattr(own, "max_iter") else own.n_epochs
    return replace(
        settings,
        metric=metric,
        epochs=settings.epochs or epochs,
        sigma_end=settings.sigma_end or getattr(own, "sigma_end", None),
        neighborhood=settings.neighborhood or getattr(own, "neighborhood", None),
        init=settings.init or (PlaneStart.init if settings.map == "som" else MapParameters.init),
    )


# --- what config.toml beside a model says of its data


def data_of(model: Path, file: str | None, options: Mapping[str, Any], labels: str | None) -> Given | None:
    """The points in the file, read as those of training were; without a file, the training data themselves.

    options : of --read, which come first. None if there is no file and no configuration beside the model names one.
    """
    settings = settings_beside(model)
    if file is None and "input" not in settings:
        return None
    if file is None:
        file, labels = str(settings["input"]), labels or settings.get("labels")
        check_data_of(model.parent / CONFIG, file)
    return read_given(file, read_options(file, options, settings), labels)


def check_data_of(config: Path | None, file: str) -> None:
    """FileNotFoundError if the file that a configuration, or without one the user, names is not there."""
    if file != "-" and not Path(file).exists():
        if config is None:
            raise FileNotFoundError(f"There is no file {file}; check the path.")
        said = f"{config} names the data {file}, which are not there; put them there, or give INPUT."
        raise FileNotFoundError(said)


def read_options(file: str | Path, given: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """How to read the file: as `given` by --read, and else as the data of a model were read, which `settings` tell.

    Another file than those data is read alike if its name ends alike, except for labels, which it need not have.
    """
    before = dict(settings.get("read", {}))
    if Path(file).resolve() != Path(settings.get("input", "")).resolve():
        before.pop("label", None)
        if _ending(file) != _ending(settings.get("input", "")):
            before = {}
    return {**before, **given}


def _ending(file: str | Path) -> str:
    return Path(Path(file).name.lower().removesuffix(".gz")).suffix
