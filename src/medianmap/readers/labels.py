"""Labels that are not in the data themselves: from a file of ids and labels, or from words of sequence headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from ..utils.files import first_few
from .columns import ID_NAMES, LABEL_NAMES, UNKNOWN, guess_delimiter, sample_rows, split_rows
from .records import opening

Labels: TypeAlias = list[str | None]

_HEADER = re.compile(r"header(?::(?P<which>\S+))?")
_ENDINGS = (".tsv", ".csv", ".tab", ".txt", ".gz", ".dat")


def known_or_none(label: str) -> str | None:
    """The label; None for an empty one, NA or the like, and -1, which scikit-learn writes for 'not labelled'."""
    label = label.strip()
    return None if label.lower() in UNKNOWN or label == "-1" else label


def is_header_rule(labels: str) -> bool:
    """'header', 'header:2' or 'header:family'."""
    return _HEADER.fullmatch(labels) is not None


def is_labels_file(labels: str) -> bool:
    """Whether a file is meant rather than a column; FileNotFoundError for the name of a missing file."""
    if Path(labels).is_file():
        return True
    if "/" in labels or labels.lower().endswith(_ENDINGS):
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


def from_file(file: str, ids: Sequence[str], name: str) -> Labels:
    """The labels of the points `ids`; None for those that have none.

    The file has two columns, id and label, or one: the labels of all points in their order.
    """
    in_order = _column(file)
    if in_order is not None:
        if len(in_order) != len(ids):
            raise ValueError(
                f"--labels {file}: {len(in_order)} labels without ids for the {len(ids)} points of {name}; "
                "give one per point, or two columns, id and label."
            )
        return in_order
    pairs, known = _pairs(file), set(ids)
    unknown = [each for each in pairs if each not in known]
    if len(unknown) == len(pairs):
        raise ValueError(
            f"--labels {file}: none of its {len(pairs)} ids is in {name}; the first are {first_few(list(pairs))} there "
            f"and {first_few(list(ids))} here: give the file of these points."
        )
    if unknown:
        raise ValueError(
            f"--labels {file}: {len(unknown)} of its {len(pairs)} ids are not in {name}: {first_few(unknown)}; "
            "correct or remove them."
        )
    return [pairs.get(each) for each in ids]


def _column(file: str) -> Labels | None:
    """The labels in a file of one column, without a name above them; None for a file of more columns."""
    with opening(file) as opened:
        lines = [line.strip() for line in opened.lines() if line.strip()]
    if any(sign in line for line in lines for sign in "\t,; "):
        return None
    return [known_or_none(line) for line in lines[lines[0].lower() in LABEL_NAMES :]]


def _pairs(file: str) -> dict[str, str | None]:
    """id -> label, from the columns of these names, else the first two."""
    pairs: dict[str, str | None] = {}
    with opening(file) as opened:
        delimiter = guess_delimiter(opened.sample(), opened.extension) or " "
        first = [cell.strip().lower() for cell in next(iter(sample_rows(opened, delimiter, "utf-8")), [])]
        has_names = any(cell in ID_NAMES for cell in first) or any(cell in LABEL_NAMES for cell in first[1:])
        at_id = next((first.index(each) for each in ID_NAMES if each in first), 0)
        at_label = next((first.index(each) for each in LABEL_NAMES if each in first), 1 if at_id == 0 else 0)
        rows = split_rows(opened.lines(), delimiter, opened.name)
        if has_names:
            next(rows)
        for line, cells in rows:
            if len(cells) <= max(at_id, at_label):
                raise ValueError(f"{file}: line {line} has no label; every line needs an id and a label.")
            key = cells[at_id].strip()
            if key in pairs:
                raise ValueError(f"{file}: line {line} names {key!r} a second time; give every id one label.")
            pairs[key] = known_or_none(cells[at_label])
    if not pairs:
        raise ValueError(f"{file} holds no labels; check that this is the right file.")
    return pairs
