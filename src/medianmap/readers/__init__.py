"""Files become objects or dissimilarities with ids: `read`, the stream `iter_records`, how a format is recognised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

from .arrays import from_anndata, read_anndata, read_npy, read_npz
from .biom import begins_as_biom, read_biom, read_qza
from .columns import KNOWN, Column, guess_delimiter, guess_header, is_number, listed_columns, sample_rows
from .foreign import FOREIGN
from .matrices import read_phylip, write_lsmat, write_pairs, write_phylip
from .pairs import M8_COLUMNS, read_m8, read_pairs
from .records import LIMITS, Limits, Matrix, Opened, Record, Records, limits_in, opening
from .sequences import iter_sequences, read_sequences
from .similarity import RULE_OPTIONS, Rule
from .tables import iter_table, read_lsmat, read_table

__all__ = [
    "FORMATS", "LIMITS", "Limits", "Matrix", "Record", "Records", "format_of", "from_anndata", "iter_records", "read",
    "write_lsmat", "write_pairs", "write_phylip",
]  # fmt: skip

PAIR_OPTIONS = ("ids", "symmetric", "duplicates", "encoding", *RULE_OPTIONS)
SEQUENCE_OPTIONS = ("label", "alphabet", "allow_empty")
RECORD_OPTIONS = ("kind", "id", "label", "string", "columns", "header", "delimiter", "encoding",
                  "alphabet", "allow_empty")  # fmt: skip


@dataclass(frozen=True)
class Format:
    """One file format: its extensions, what it holds in words, the options of `read` that apply, and its reader."""

    name: str
    extensions: tuple[str, ...]
    holds: str
    options: tuple[str, ...]
    read: Callable[..., Records | Matrix]


FORMATS = {
    each.name: each
    for each in (
        Format("fasta", (".fasta", ".fa", ".faa", ".fna", ".ffn", ".fas"), "sequences", SEQUENCE_OPTIONS,
               partial(read_sequences, format="fasta")),
        Format("fastq", (".fastq", ".fq"), "sequences", SEQUENCE_OPTIONS, partial(read_sequences, format="fastq")),
        Format("table", (".csv", ".tsv", ".tab", ".txt", ".dat", ".dist"),
               "strings, vectors, series or a matrix in delimited text", (*RECORD_OPTIONS, *RULE_OPTIONS), read_table),
        Format("pairs", (".pairs",), "three columns: id, id, value",
               ("columns", "header", "delimiter", *PAIR_OPTIONS), read_pairs),
        Format("m8", (".m8", ".b6", ".blast6", ".outfmt6"), "BLAST or MMseqs2 hits", ("score", *PAIR_OPTIONS), read_m8),
        Format("phylip", (".phy", ".phylip", ".phylip_dist"), "a PHYLIP matrix",
               ("names", "encoding", *RULE_OPTIONS), read_phylip),
        Format("lsmat", (".lsmat",), "a scikit-bio or QIIME matrix", ("encoding", *RULE_OPTIONS), read_lsmat),
        Format("npy", (".npy",), "one NumPy array", ("kind", *RULE_OPTIONS), read_npy),
        Format("npz", (".npz",), "NumPy arrays", ("kind", "key", *RULE_OPTIONS), read_npz),
        Format("biom", (".biom",), "a BIOM table of samples", (), read_biom),
        Format("qza", (".qza",), "a QIIME 2 distance matrix or feature table", RULE_OPTIONS, read_qza),
        Format("anndata", (".h5ad",), "AnnData obsp or obsm", ("kind", "key", "label", *RULE_OPTIONS), read_anndata),
    )
}  # fmt: skip
SAME_AS = {"csv": "table", "tsv": "table", "h5ad": "anndata"}
MAGIC = {b"\x93NUMPY": "npy", b"PK\x03\x04": "npz", b"\x89HDF\r\n": "anndata"}


def list_formats() -> str:
    """All formats with their extensions, for messages."""
    return "; ".join(f"{each.name} ({' '.join(each.extensions)})" for each in FORMATS.values())


def format_of(opened: Opened, format: str | None, options: Mapping[str, Any]) -> Format:
    """The format asked for; else the one of the name; else the one that the contents show without doubt."""
    if format is not None:
        chosen = SAME_AS.get(format, format)
        if chosen not in FORMATS:
            raise ValueError(f"There is no format {format!r}; choose one of {list_formats()}.")
        return FORMATS[chosen]
    for each in FORMATS.values():
        if opened.extension in each.extensions:
            return FORMATS[_of_text(opened, options)] if each.name == "table" else each
    by_content = _of_content(opened)
    if by_content:
        return FORMATS[by_content]
    if opened.path is None:
        return FORMATS[_of_text(opened, options)]
    if opened.extension in FOREIGN:
        raise ValueError(f"{opened.name} holds {FOREIGN[opened.extension]}.")
    raise ValueError(
        f"The ending of {opened.name} belongs to no format; rename it, or pass format=NAME, one of "
        f"{list_formats()}, each also with .gz."
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
    if any(name in options for name in ("kind", "id", "string")):  # these apply to tables alone
        return "table"
    encoding = options.get("encoding", "utf-8")
    if begins_as_biom(opened.sample(encoding)):
        return "biom"
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
    hit = [False, False] + [True] * (len(M8_COLUMNS) - 2)  # which cells are numbers
    if data and delimiter == "\t" and all(list(map(is_number, row)) == hit for row in data):
        return "m8"
    if widths == {3} and all(is_number(row[2]) for row in data):
        return _pairs_or_table(opened.name, rows[0] if has_names else [], data)
    return "table"


def _is_phylip(lines: list[str]) -> bool:
    """A count alone on the first line, then a name and numbers; if the first row has no numbers, the second has one."""
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
            "three coordinates; pass format='pairs', or format='table' with kind='vectors' or kind='matrix'."
        )
    return "table" if any(is_number(each) for each in first | second) else "pairs"


FLAGS = ("header", "allow_empty", "symmetric")


def read(
    path: str | PathLike[str], *, format: str | None = None, kind: str | None = None, id: Column | None = None,
    label: Column | Callable[[str], str] | None = None, string: Column | None = None,
    columns: str | Sequence[Column] | None = None, header: bool | None = None, delimiter: str | None = None,
    encoding: str | None = None, alphabet: str | None = None, allow_empty: bool | None = None, key: str | None = None,
    names: str | None = None, ids: Sequence[str] | None = None, score: str | None = None, similarity: Rule = None,
    missing: str | float | None = None, symmetrize: str | None = None, symmetric: bool | None = None,
    duplicates: str | None = None, max_length: int | None = None, max_unpacked: int | None = None,
    max_objects: int | None = None,
) -> Records | Matrix:  # fmt: skip
    """Read a file, plain or .gz, or standard input ("-"), as Records (objects and ids) or as a Matrix (D and ids).

    Parameters
    ----------
    path : the file.
    format : one of FORMATS; by default what the name says, then the contents.
    kind : "strings", "vectors", "series", "table" (numbers, categories, missing values), "matrix" or "similarity", for
        formats that can hold several (table, npy, npz, anndata).
    id, label, string : columns of a table, by name or position from 0. For sequences, label is a word of the header
        (1 is the word after the id) or a function of the header; for AnnData a column of obs.
    columns : the coordinates of a table of vectors, or (from, to, value) of a pair table: a list of names or positions,
        or a string of them separated by commas.
    header : whether a table starts with a line of names.
    delimiter : "," ";" tab, "|", " " (blanks), "" (lines).
    encoding : of text, UTF-8 by default, UTF-16 where the file begins with its mark.
    alphabet : "dna", "rna", "protein" or the letters allowed.
    allow_empty : strings without letters are meant.
    key : which array of a .npz or AnnData.
    names : "relaxed" or "strict" names of PHYLIP.
    ids : which objects of a pair table, in which order.
    score : "bitscore" (default), "pident" or "evalue" of m8.
    similarity : how similarities become dissimilarities: "1-s", "1-s/100", "max-s", "-log", "normalized"
        (1 - s_ab / sqrt(s_aa s_bb)), "kernel" (s_aa + s_bb - 2 s_ab; "kernel-clip", "kernel-flip" and "kernel-shift"
        without negative eigenvalues) or a function of an array. Required for m8.
    missing : "error" (default), "max" (the largest dissimilarity of the row; where the rest is symmetric, the larger of
        the pair's two rows) or a number, for pairs without a value.
    symmetrize : "min", "max" or "mean" of the two directions; by default both stay as they are.
    symmetric : whether a pair table is one triangle; by default it is if no pair occurs in both directions.
    duplicates : "error" (default), "first", "min" or "max", for a pair on several lines.
    max_length, max_unpacked, max_objects : see `Limits`: what is larger is refused before it fills the memory.
    """
    options = {name: value for name, value in locals().items() if name not in ("path", "format") and value is not None}
    limits = limits_in(options)
    options = {name: value for name, value in options.items() if name not in LIMITS}
    with opening(path, limits) as opened:
        chosen = _checked(opened, format, options)
        return chosen.read(opened, **options)


def iter_records(path: str | PathLike[str], *, format: str | None = None, **options: Any) -> Iterator[Record]:
    """The records of a FASTA, FASTQ or table file one by one, in memory that does not grow with the file.

    format, options : as for `read`. Ids are not compared with each other: that would mean keeping them all. There may
    be any number of records, unless max_objects is given.
    path : the file, plain or .gz, or "-" for standard input.
    """
    limits, asked = limits_in(options), options.get("max_objects")
    options = {name: value for name, value in options.items() if value is not None and name not in LIMITS}
    with opening(path, limits) as opened:
        chosen = _checked(opened, format, options)
        for n, record in enumerate(_iterated(opened, chosen, options), 1):
            if asked is not None:
                limits.check_objects(opened.name, n)
            yield record


def _iterated(opened: Opened, chosen: Format, options: dict[str, Any]) -> Iterator[Record]:
    if chosen.name in ("fasta", "fastq"):
        return iter_sequences(opened, chosen.name, **options)
    if chosen.name == "table":
        return iter_table(opened, **options)
    raise ValueError(f"{opened.name} is a {chosen.name} file, which cannot be read as a stream; read it whole.")


def _checked(opened: Opened, format: str | None, options: dict[str, Any]) -> Format:
    """The format, if every option given applies to it; `options` gets the tabs that format='tsv' says."""
    chosen = format_of(opened, format, options)
    if format == "tsv":
        options.setdefault("delimiter", "\t")
    odd = [name for name in options if name not in chosen.options]
    if odd:
        raise ValueError(
            f"{opened.name} is read as {chosen.name}, which has no option {odd[0]!r}; leave it out. The options are "
            f"{', '.join(chosen.options)}."
        )
    if "columns" in options:
        options["columns"] = listed_columns(options["columns"])
    for name in FLAGS:
        if not isinstance(options.get(name, True), bool):
            raise ValueError(f"{name} is {options[name]!r}; it must be true or false.")
    return chosen
