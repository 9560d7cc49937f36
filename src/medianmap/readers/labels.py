"""Labels that are not in the data themselves: from a file of metadata, or from words of sequence headers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ..utils.files import first_few
from .columns import LABEL_NAMES, UNKNOWN, guess_delimiter, is_id_name, split_rows
from .records import opening

Labels: TypeAlias = list[str | None]

_HEADER = re.compile(r"header(?::(?P<which>\S+))?")
_ENDINGS = (".tsv", ".csv", ".tab", ".txt", ".gz", ".dat", ".xlsx")


def known_or_none(label: str) -> str | None:
    """The label; None for an empty one, NA or the like."""
    label = label.strip()
    return None if label.lower() in UNKNOWN else label


def is_header_rule(labels: str) -> bool:
    """'header', 'header:2' or 'header:family'."""
    return _HEADER.fullmatch(labels) is not None


def is_labels_file(labels: str) -> bool:
    """Whether a file, or FILE:COLUMN, is meant rather than a column; FileNotFoundError for a missing file."""
    if Path(split_rule(labels)[0]).is_file():
        return True
    file = labels.rpartition(":")[0] or labels
    if "/" in labels or file.lower().endswith(_ENDINGS):
        raise FileNotFoundError(f"There is no labels file {labels}; check the path given to --labels.")
    return False


def from_headers(rule: str, descriptions: Sequence[str] | None, name: str) -> Labels:
    """'header': the word after the id; 'header:2': the second; 'header:family': what follows 'family='."""
    match = _HEADER.fullmatch(rule)
    assert match is not None
    which = match["which"] or "1"
    if descriptions is None:
        raise ValueError(f"--labels {rule}: {name} has no headers with words after the ids; give a file of labels.")
    if which == "0":
        raise ValueError(f"--labels {rule}: words are counted from 1, the one after the id; give header:1.")
    found = [_word(text.split(), which) for text in descriptions]
    if all(label is None for label in found):
        raise ValueError(f"--labels {rule}: no header in {name} has it; choose from the words of {descriptions[0]!r}.")
    return found


def _word(words: list[str], which: str) -> str | None:
    if which.isdecimal():
        return known_or_none(words[int(which) - 1]) if len(words) >= int(which) else None
    return next((known_or_none(w[len(which) + 1 :]) for w in words if w.startswith(f"{which}=")), None)


@dataclass(frozen=True)
class Metadata:
    """What a file says of N points: the labels that colour the map, its other columns by name, and what to say of it.

    labels, and each of columns : one per point, None where the file does not say.
    """

    labels: Labels
    columns: dict[str, Labels]
    notes: tuple[str, ...] = ()


def from_file(rule: str, ids: Sequence[str], name: str, strict: bool = False) -> Metadata:
    """What FILE or FILE:COLUMN says of the points `ids`, whose ids are in whichever of its columns has most of them.

    A file of one column has the labels of all points in their order. Without COLUMN a column called like labels is
    taken, else the only other one, else the first whose values repeat.
    strict : ValueError where a point is missing in the file, or a line of the file has no point.
    """
    file, wanted = split_rule(rule)
    header, body = _rows(file, ids, wanted)
    if max(map(len, body), default=0) == 1 and wanted is None:
        in_order = [known_or_none(row[0]) for row in body]
        if len(in_order) != len(ids):
            raise ValueError(
                f"--labels {file}: {len(in_order)} labels without ids for the {len(ids)} points of {name}; "
                "give one per point, or two columns, id and label."
            )
        return Metadata(in_order, {})
    at_id = _id_column(header, body, ids)
    titles = header or [f"column {k}" for k in range(max(map(len, body), default=0))]
    others = [k for k in range(len(titles)) if k != at_id]
    lines: dict[str, list[str]] = {}
    for number, row in enumerate(body, 1 + bool(header)):
        if len(row) <= at_id or len(row) < 2:
            raise ValueError(f"{file}: line {number} has no label; every line needs an id and a label.")
        key = row[at_id].strip()
        if key in lines:
            raise ValueError(f"{file}: line {number} names {key!r} a second time; give every id one label.")
        lines[key] = row
    notes = _matched(file, list(lines), ids, name, strict)
    columns = {titles[k]: [known_or_none(lines[i][k]) if i in lines and k < len(lines[i]) else None for i in ids]
               for k in others}  # fmt: skip
    title = _label_column(columns, wanted, file)
    if wanted is None and len(columns) > 1:
        rest = ", ".join(map(repr, (each for each in columns if each != title)))
        notes.append(f"--labels {file}: the labels are its column {title!r}; {file}:COLUMN takes another: {rest}.")
    return Metadata(columns.pop(title), columns, tuple(notes))


def split_rule(rule: str) -> tuple[str, str | None]:
    """'meta.tsv:BodySite' -> ('meta.tsv', 'BodySite') where that is a file and the whole is none."""
    if not Path(rule).is_file():
        for found in re.finditer(":", rule):
            if Path(rule[: found.start()]).is_file():
                return rule[: found.start()], rule[found.end() :]
    return rule, None


def _rows(file: str, ids: Sequence[str], wanted: str | None) -> tuple[list[str] | None, list[list[str]]]:
    """The names of the columns, None where there are none, and the cells; comments and types of QIIME are left out."""
    with opening(file) as opened:
        sample = opened.sample()
        delimiter = guess_delimiter([line for line in sample if not line.startswith("#")] or sample, opened.extension)
        if not delimiter and all(" " in line.strip() for line in sample if line.strip()):
            delimiter = " "
        rows = [[cell.strip() for cell in cells] for _, cells in split_rows(opened.lines(), delimiter, opened.name)]
    while rows and rows[0][0].startswith("#") and not is_id_name(rows[0][0]):
        rows.pop(0)
    if not rows:
        raise ValueError(f"{file} holds no labels; check that this is the right file.")
    known, first = set(ids), rows[0]
    lower = [cell.lower() for cell in first]
    named = (
        wanted in first or any(map(is_id_name, first)) or any(cell in LABEL_NAMES for cell in lower[len(first) > 1 :])
    )
    header = named or (len(first) > 2 and not known.intersection(first))
    body = [row for row in rows[header:] if not row[0].startswith("#") or row[0] in known]
    if not body:
        raise ValueError(f"{file} holds no labels; check that this is the right file.")
    return ([cell.lstrip("#") if k == 0 else cell for k, cell in enumerate(first)] if header else None), body


def _id_column(header: list[str] | None, body: list[list[str]], ids: Sequence[str]) -> int:
    """The column that has most of the ids; where none has any, one that is called like ids, or the first."""
    known = set(ids)
    hits = [len({row[k] for row in body if k < len(row)} & known) for k in range(max(map(len, body)))]
    titled = next((k for k, title in enumerate(header or ()) if is_id_name(title)), 0)
    best = max(range(len(hits)), key=lambda k: (hits[k], k == titled, -k))
    return best if hits[best] else titled


def _label_column(columns: Mapping[str, Labels], wanted: str | None, file: str) -> str:
    if wanted is not None:
        same = [title for title in columns if title == wanted] or [
            title for title in columns if title.lower() == wanted.lower()
        ]
        if not same:
            there = ", ".join(map(repr, columns))
            raise ValueError(f"--labels {file}:{wanted}: there is no column {wanted!r}; choose one of {there}.")
        return same[0]
    titled = next((title for name in LABEL_NAMES for title in columns if title.lower() == name), None)
    repeats = (title for title, cells in columns.items() if 1 < len({*cells} - {None}) <= len(cells) / 2)
    return titled or (next(iter(columns)) if len(columns) == 1 else next(repeats, next(iter(columns))))


def _matched(file: str, lines: Sequence[str], ids: Sequence[str], name: str, strict: bool) -> list[str]:
    """What to say of points without a line and lines without a point; ValueError if no line has a point."""
    there, here = set(lines), set(ids)
    foreign = [each for each in lines if each not in here]
    if len(foreign) == len(lines):
        raise ValueError(
            f"--labels {file}: none of its {len(lines)} ids is in {name}; the first are {first_few(list(lines))} there "
            f"and {first_few(list(ids))} here: give the file of these points."
        )
    absent = [each for each in ids if each not in there]
    notes = []
    if absent:
        notes.append(f"--labels {file}: {len(absent)} of the {len(ids)} points of {name} are not in it: "
                     f"{first_few(absent)}; they have no label.")  # fmt: skip
    if foreign:
        notes.append(f"--labels {file}: {len(foreign)} of its {len(lines)} ids are not in {name}: "
                     f"{first_few(foreign)}; they are left out.")  # fmt: skip
    if strict and notes:
        raise ValueError(f"{notes[0]} With --strict that is an error.")
    return notes
