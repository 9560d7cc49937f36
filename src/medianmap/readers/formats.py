"""The formats: what each is called, how its files end, which options it takes; and the guess from name and contents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .columns import KNOWN, guess_delimiter, guess_header, is_number, sample_rows
from .opening import Opened
from .pairs import M8_COLUMNS

RULES = ("similarity", "missing", "symmetrize")
PAIR_OPTIONS = ("ids", "symmetric", "duplicates", "encoding", *RULES)
SEQUENCE_OPTIONS = ("label", "alphabet", "allow_empty")
RECORD_OPTIONS = (
    "kind", "id", "label", "string", "columns", "header", "delimiter", "encoding", "alphabet", "allow_empty",
)  # fmt: skip


@dataclass(frozen=True)
class Format:
    """One file format: its extensions, what it holds in words, and the options of `read` that mean something to it."""

    name: str
    extensions: tuple[str, ...]
    holds: str
    options: tuple[str, ...]


FORMATS = {
    each.name: each
    for each in (
        Format("fasta", (".fasta", ".fa", ".faa", ".fna", ".ffn", ".fas"), "sequences", SEQUENCE_OPTIONS),
        Format("fastq", (".fastq", ".fq"), "sequences", SEQUENCE_OPTIONS),
        Format(
            "table",
            (".csv", ".tsv", ".tab", ".txt", ".dat"),
            "strings, vectors, series or a matrix in delimited text",
            RECORD_OPTIONS + RULES,
        ),
        Format("pairs", (".pairs",), "three columns: id, id, value", ("columns", "header", "delimiter", *PAIR_OPTIONS)),
        Format("m8", (".m8", ".b6", ".blast6", ".outfmt6"), "BLAST or MMseqs2 hits", ("score", *PAIR_OPTIONS)),
        Format("phylip", (".phy", ".phylip", ".phylip_dist"), "a PHYLIP matrix", ("names", "encoding", *RULES)),
        Format("lsmat", (".lsmat",), "a scikit-bio or QIIME matrix", ("encoding", *RULES)),
        Format("npy", (".npy",), "one NumPy array", ("kind", *RULES)),
        Format("npz", (".npz",), "NumPy arrays", ("kind", "key", *RULES)),
        Format("anndata", (".h5ad",), "AnnData obsp or obsm", ("kind", "key", "label", *RULES)),
    )
}
SAME_AS = {"csv": "table", "tsv": "table", "h5ad": "anndata"}
MAGIC = {b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"\x89HDF\r\n": "anndata"}


def list_formats() -> str:
    """All formats with their extensions, for messages."""
    return "; ".join(f"{each.name} ({' '.join(each.extensions)})" for each in FORMATS.values())


def format_of(opened: Opened, format: str | None, options: Mapping[str, Any]) -> Format:
    """The format asked for, or the one that the name says, or the contents where they leave no doubt."""
    if format is not None:
        chosen = SAME_AS.get(format, format)
        if chosen not in FORMATS:
            raise ValueError(f"There is no format {format!r}; the formats are {list_formats()}.")
        return FORMATS[chosen]
    for each in FORMATS.values():
        if opened.extension in each.extensions:
            return FORMATS[_of_text(opened, options)] if each.name == "table" else each
    by_content = _of_content(opened)
    if by_content:
        return FORMATS[by_content]
    if opened.path is None:
        return FORMATS[_of_text(opened, options)]
    raise ValueError(
        f"The ending of {opened.name} tells no format; rename it or pass format=. The formats are {list_formats()}, "
        "each also with .gz."
    )


def _of_content(opened: Opened) -> str | None:
    """The format of contents that cannot be anything else."""
    for magic, name in MAGIC.items():
        if opened.head.startswith(magic):
            return name
    start = opened.head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b">"):
        return "fasta"
    lines = start.split(b"\n", 3)
    return "fastq" if start.startswith(b"@") and len(lines) > 2 and lines[2].startswith(b"+") else None


def _of_text(opened: Opened, options: Mapping[str, Any]) -> str:
    """What a delimited or plain text holds: hits, pairs, a PHYLIP matrix, sequences, or any other table."""
    by_content = _of_content(opened)
    if by_content:
        return by_content
    if any(name in options for name in ("kind", "id", "string")):  # these mean something to a table alone
        return "table"
    encoding = options.get("encoding", "utf-8")
    lines = [line for line in opened.sample(encoding) if line.strip() and not line.startswith("#")]
    if not lines:
        return "table"
    if _is_phylip(lines):
        return "phylip"
    delimiter = guess_delimiter(lines, opened.extension)
    rows = sample_rows(opened, delimiter, encoding, comments=True)
    has_names = guess_header(rows, KNOWN)
    data = rows[1:] if has_names else rows
    widths = {len(row) for row in data}
    if widths == {len(M8_COLUMNS)} and delimiter == "\t" and all(_is_hit(row) for row in data):
        return "m8"
    if widths == {3} and all(is_number(row[2]) for row in data):
        return _pairs_or_table(opened.name, rows[0] if has_names else [], data)
    return "table"


def _is_hit(row: list[str]) -> bool:
    return not is_number(row[0]) and not is_number(row[1]) and all(map(is_number, row[2:]))


def _is_phylip(lines: list[str]) -> bool:
    """A count alone on the first line, then a name and numbers; a first row without any is followed by one with one."""
    if not lines[0].strip().isdecimal() or len(lines) < 2:
        return False
    first = lines[1].split()
    second = lines[2].split() if len(lines) > 2 else ["", "0"]
    numbers = first[2:] if len(first) > 1 else second[1:]  # a strict name may be two words
    return not is_number(first[0]) and (len(first) == 2 or bool(numbers)) and all(map(is_number, numbers))


def _pairs_or_table(name: str, names: list[str], data: list[list[str]]) -> str:
    """Two columns of ids that share members, and a number, are pairs; whole numbers might be ids or coordinates."""
    first, second = ({row[k].strip() for row in data} for k in (0, 1))
    if not first & second:
        return "table"
    if all(each.isdecimal() for each in first | second):
        square = len(data) == 3 and all(float(data[k][k]) == 0 for k in range(3))
        if square or any(each.strip().lower() in KNOWN for each in names):
            return "table"
        raise ValueError(
            f"{name} has two columns of whole numbers and a third of numbers: pairs (id, id, value) or vectors of "
            "three coordinates. Say which: format='pairs', or format='table' (with kind='vectors' or kind='matrix')."
        )
    return "table" if any(is_number(each) for each in first | second) else "pairs"
