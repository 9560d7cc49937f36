"""FASTA and FASTQ: the first word of a header is the id, the rest the description, the sequence the object."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from .records import Opened, Record, Records, collect

# Letters of the nucleic and amino acid codes of IUPAC, ambiguous ones included; upper and lower case alike.
ALPHABETS = {"dna": "ACGTRYSWKMBDHVN", "rna": "ACGURYSWKMBDHVN", "protein": "ACDEFGHIKLMNPQRSTVWYBJOUXZ*"}
LabelRule = int | Callable[[str], str] | None


def letter_check(alphabet: str | None) -> Callable[[str, str], None]:
    """A function of (string, where it is) that raises ValueError for the first letter outside the alphabet.

    alphabet : "dna", "rna", "protein" (any case), or the letters that are allowed; None allows all.
    """
    if alphabet is None:
        return lambda string, where: None
    if not isinstance(alphabet, str) or not alphabet:
        raise ValueError(f"alphabet is {alphabet!r}; pass the letters allowed, or 'dna', 'rna' or 'protein'.")
    letters = ALPHABETS.get(alphabet)
    flags = re.DOTALL | (re.IGNORECASE if letters else 0)
    outside = re.compile(f"[^{re.escape(letters or alphabet)}]", flags)

    def check(string: str, where: str) -> None:
        found = outside.search(string)
        if found:
            raise ValueError(
                f"{where} has {found.group()!r} at position {found.start() + 1}, which is not in the alphabet "
                f"{alphabet!r}; correct the record or pass another alphabet."
            )

    return check


def iter_sequences(
    opened: Opened, format: str, *, label: LabelRule = None, alphabet: str | None = None, allow_empty: bool = False
) -> Iterator[Record]:
    """The records of a FASTA or FASTQ file one by one; only one record is kept in memory.

    label : which word of the header is the label, counted from 0 (the id), or a function of the whole header.
    allow_empty : whether a record may have no letters.
    """
    label_of = _label_rule(label)
    check = letter_check(alphabet)
    entries = _fasta(opened) if format == "fasta" else _fastq(opened)
    for number, (header, sequence) in enumerate(entries, 1):
        yield _record(header, sequence, f"{opened.name}: record {number}", label_of, check, allow_empty)


def _fasta(opened: Opened) -> Iterator[tuple[str, str]]:
    """(header, sequence) of each record: a line that begins with '>', then lines of letters."""
    header: str | None = None
    lines: list[str] = []
    n = 0
    for number, line in enumerate(opened.lines(), 1):
        if line.startswith(">"):
            if header is not None:
                yield header, "".join(lines)
            header, lines, n = line[1:].strip(), [], 0
        elif header is not None:
            lines.append(line)
            n += len(line.rstrip())
            if n > opened.limits.max_length:
                opened.limits.refuse_length(f"{opened.name}: record {header[:40]!r}", "letters")
        elif line.strip():
            _refuse(opened, "FASTA", number, line, "a record begins with '>'")
    if header is not None:
        yield header, "".join(lines)


def _fastq(opened: Opened) -> Iterator[tuple[str, str]]:
    """(header, sequence) of each record: four lines, '@' and the header, letters, '+', a quality for each letter."""
    lines = ((number, line.rstrip("\r\n")) for number, line in enumerate(opened.lines(), 1))
    for number, line in lines:
        if not line.strip():
            continue
        if not line.startswith("@"):
            _refuse(opened, "FASTQ", number, line, "a record begins with '@'")
        _, letters = next(lines, (0, ""))
        third, plus = next(lines, (number + 2, ""))
        fourth, quality = next(lines, (third + 1, ""))
        if not plus.startswith("+"):
            _refuse(opened, "FASTQ", third, plus, "the third line of a record begins with '+'")
        if len(quality) != len(letters):
            said = f"there are {len(quality)} qualities for {len(letters)} letters"
            _refuse(opened, "FASTQ", fourth, quality, f"{said} of the record that begins in line {number}")
        yield line[1:].strip(), letters


def _refuse(opened: Opened, format: str, line: int, found: str, rule: str) -> NoReturn:
    """ValueError for a line that cannot be part of such a file."""
    found = found.strip()[:40]
    raise ValueError(
        f"{opened.name} is not a whole {format} file: line {line} is {found!r}, but {rule}. Correct or complete it."
    )


def _record(
    header: str, sequence: str, where: str, label_of: Callable[[str, str], str | None],
    check: Callable[[str, str], None], allow_empty: bool,
) -> Record:  # fmt: skip
    name, *description = header.split(maxsplit=1) or [""]
    if not name:
        raise ValueError(f"{where} has no name after '>' or '@'; give every record an id.")
    where = f"{where} ({name!r})"
    letters = "".join(sequence.split())
    if not letters.isascii():
        at = next(k for k, letter in enumerate(letters, 1) if not letter.isascii())
        raise ValueError(f"{where} has {letters[at - 1]!r} at position {at}, which is no ASCII letter; correct it.")
    if not letters and not allow_empty:
        raise ValueError(
            f"{where} has no letters: the file may be truncated. "
            "Complete it, or pass allow_empty=True if this is meant."
        )
    check(letters, where)
    return Record(name, letters, label_of(header, where), "".join(description).strip())


def _label_rule(label: LabelRule) -> Callable[[str, str], str | None]:
    """A function of (header, where it is) that returns the label."""
    if label is None:
        return lambda header, where: None
    if callable(label):
        return lambda header, where: str(label(header))
    if isinstance(label, bool) or not isinstance(label, int) or label < 0:
        raise ValueError(f"label is {label!r}; give the number of a word of the header (0: the id) or a function.")

    def word(header: str, where: str) -> str:
        words = header.split()
        if label >= len(words):
            raise ValueError(f"{where} has {len(words)} words in its header, none at {label} from 0; choose another.")
        return words[label]

    return word


def read_sequences(opened: Opened, format: str, **options: Any) -> Records:
    """A whole FASTA or FASTQ file."""
    return collect(iter_sequences(opened, format, **options), "strings", opened, None, "")
