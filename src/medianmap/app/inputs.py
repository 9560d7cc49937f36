"""A user's file -> its points: objects or dissimilarities, ids and labels; and which metric compares them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config import CONFIG, settings_in
from .terminal import note

if TYPE_CHECKING:
    from ..readers import Matrix, Records
    from ..readers.labels import Labels
    from ..sources import Source

SEQUENCES = ("fasta", "fastq")
STREAMED = (*SEQUENCES, "table")
NUCLEOTIDES = re.compile("[ACGTUN]+", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Given:
    """N points: `objects` to compare, or a `source` of their dissimilarities, never both.

    labels : one per point, None where a point has none; None altogether where there are no labels.
    sequences : whether they came as FASTA or FASTQ.
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


def read_given(file: str, options: Mapping[str, Any], labels: str | None = None) -> Given:
    """The points in the file, read as `options` say, with their labels where `labels` says where these are."""
    from ..readers import Matrix
    from ..readers.labels import is_header_rule, is_labels_file
    from ..sources import as_dissimilarity, is_store

    path, name = Path(file), "standard input" if file == "-" else file
    if file != "-" and not options and not path.is_dir() and is_store(path):
        stored = as_dissimilarity(path)
        return _labelled(Given(name, _names(stored), "dissimilarities", source=stored), labels)
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
        given = Given(
            name, _names(source), "dissimilarities", source=source, labels=_own(found.labels), note=found.note
        )
    else:
        sequences = sequences or (file == "-" and found.kind == "strings" and found.descriptions is not None)
        given = Given(name, found.ids, found.kind, found.objects, None, sequences, found.columns, found.descriptions,
                      _own(found.labels), found.note)  # fmt: skip
    if column and given.labels is None:
        raise ValueError(f"--labels {labels}: {name} has no such column, and there is no such file.")
    return given if column else _labelled(given, labels)


def format_in(file: str | Path, options: Mapping[str, Any]) -> str:
    """The format of the file; of standard input, which is read once, "fasta" where its first letter tells, else ""."""
    from ..readers import format_of
    from ..readers.records import opening

    if str(file) == "-":
        peek = getattr(sys.stdin.buffer, "peek", None)
        return options.get("format") or ("fasta" if peek is not None and peek(1)[:1] in (b">", b"@") else "")
    with opening(file) as opened:
        return format_of(opened, options.get("format"), options).name


def length_of(file: str | Path, format_: str) -> int:
    """How many objects a file has that can be a stream: one quick look at it, exact up to a header."""
    from ..readers.records import opening

    with opening(file) as opened:
        if format_ == "fasta":
            return sum(line.startswith(b">") for line in opened.stream)
        return sum(1 for _ in opened.stream) // (4 if format_ == "fastq" else 1)


def _labelled(given: Given, labels: str | None) -> Given:
    from ..readers.labels import from_file, from_headers, is_header_rule, is_labels_file

    if labels is None:
        return given
    if is_header_rule(labels):
        return replace(given, labels=from_headers(labels, given.descriptions, given.name))
    if is_labels_file(labels):
        return replace(given, labels=from_file(labels, given.ids, given.name))
    raise ValueError(f"--labels {labels}: there is no such file, and {given.name} has no columns.")


def _names(source: Source) -> list[str]:
    return [str(each) for each in (range(source.shape[0]) if source.ids is None else source.ids)]


def _own(labels: Sequence[str] | None) -> Labels | None:
    from ..readers.labels import known_or_none

    return None if labels is None else [known_or_none(label) for label in labels]


# --- the metric


def chosen_metric(given: Given, metric: str | None) -> str:
    """`metric`, or the usual one for such points, which is said on stderr; ValueError if it does not fit them."""
    chosen = metric or default_metric(given)
    if given.source is None:
        if given.note:
            note(f"{given.name}: {given.note}")
        if metric is None:
            note(metric_note(given, chosen))
    check_metric_fits(given, chosen)
    return chosen


def default_metric(given: Given) -> str:
    """How objects of this kind are usually compared; dissimilarities are "precomputed"."""
    if given.source is not None:
        return "precomputed"
    if given.kind != "strings":
        return "euclidean" if given.kind == "vectors" else "dtw"
    nucleic = all(NUCLEOTIDES.fullmatch(letters) for letters in given.objects)
    return "alignment" if given.sequences and not nucleic else "edit"


def metric_note(given: Given, metric: str) -> str:
    """What was chosen where no --metric is given."""
    return f"without --metric the {given.kind} of {given.name} are compared by {metric!r}."


def check_metric_fits(given: Given, metric: str) -> None:
    """Dissimilarities are not compared again, and objects are not taken for dissimilarities."""
    if given.source is not None and metric != "precomputed":
        raise ValueError(
            f"{given.name} holds dissimilarities already, so there is nothing to compare with --metric {metric}; "
            "drop it, or, if they are vectors, pass --read kind=vectors."
        )
    if given.source is None and metric == "precomputed":
        shape = f" of shape {given.objects.shape}" if given.kind == "vectors" else ""
        raise ValueError(
            f"{given.name} holds {len(given)} {given.kind}{shape} and no square matrix of dissimilarities; "
            "say how to compare them with --metric."
        )


# --- what config.toml beside a model says of its data


def settings_beside(model: Path) -> dict[str, Any]:
    """What config.toml beside the model, as `fit` leaves it, says; data of standard input are gone."""
    settings = settings_in(model.parent / CONFIG)
    if settings.get("input") == "-":
        del settings["input"]
    return settings


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


def check_data_of(config: Path, file: str) -> None:
    """FileNotFoundError if the file that a configuration names is not there."""
    if file != "-" and not Path(file).exists():
        raise FileNotFoundError(
            f"{config} names the data {file}, which are not there; run this where they are, or give INPUT."
        )


def read_options(file: str | Path, given: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """How to read the file: as `given` by --read, and else as the data of a model were read, which `settings` tell.

    Another file than those data is read alike if its name ends alike, except for labels, which it need not have.
    """
    before = dict(settings.get("read", {}))
    if str(file) != settings.get("input"):
        before.pop("label", None)
        if _ending(file) != _ending(settings.get("input", "")):
            before = {}
    return {**before, **given}


def _ending(file: str | Path) -> str:
    return Path(Path(file).name.lower().removesuffix(".gz")).suffix
