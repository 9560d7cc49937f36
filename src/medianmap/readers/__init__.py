"""Files become objects or dissimilarities, ids kept: one front door, `read`, and a stream, `iter_records`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any

from .annotated import from_anndata, read_anndata
from .arrays import read_npy, read_npz
from .columns import Column
from .formats import FORMATS, Format, format_of
from .number_tables import read_lsmat
from .opening import Opened, opening
from .pairs import read_m8, read_pairs
from .phylip import read_phylip
from .records import Matrix, Record, Records
from .sequences import iter_sequences, read_sequences
from .similarity import Rule
from .tables import iter_table, read_table
from .writing import write_lsmat, write_pairs, write_phylip

__all__ = [
    "FORMATS",
    "Matrix",
    "Record",
    "Records",
    "from_anndata",
    "iter_records",
    "read",
    "write_lsmat",
    "write_pairs",
    "write_phylip",
]

_READERS: dict[str, Callable[..., Records | Matrix]] = {
    "table": read_table,
    "pairs": read_pairs,
    "m8": read_m8,
    "phylip": read_phylip,
    "lsmat": read_lsmat,
    "npy": read_npy,
    "npz": read_npz,
    "anndata": read_anndata,
}
FLAGS = ("header", "allow_empty", "symmetric")


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    kind: str | None = None,
    id: Column | None = None,
    label: Column | Callable[[str], str] | None = None,
    string: Column | None = None,
    columns: Sequence[Column] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    alphabet: str | None = None,
    allow_empty: bool | None = None,
    key: str | None = None,
    names: str | None = None,
    ids: Sequence[str] | None = None,
    score: str | None = None,
    similarity: Rule = None,
    missing: str | float | None = None,
    symmetrize: str | None = None,
    symmetric: bool | None = None,
    duplicates: str | None = None,
) -> Records | Matrix:
    """Read a file, plain or .gz, or standard input ("-"), as Records (objects and ids) or as a Matrix (D and ids).

    Parameters
    ----------
    format : one of FORMATS; by default what the name says, then the contents.
    kind : "strings", "vectors", "series" or "matrix", for formats that can hold several (table, npy, npz, anndata).
    id, label, string : columns of a table, by name or position from 0. For sequences, label is a word of the header
        (1 is the word after the id) or a function of the header; for AnnData a column of obs.
    columns : the coordinates of a table of vectors, or (from, to, value) of a pair table.
    header : whether a table opens with a line of names. delimiter : "," ";" tab, " " (blanks), "" (lines).
    encoding : of text, UTF-8 by default.
    alphabet : "dna", "rna", "protein" or the letters allowed. allow_empty : strings without letters are meant.
    key : which array of a .npz or AnnData.
    names : "relaxed" or "strict" names of PHYLIP.
    ids : which objects of a pair table, in which order. score : "bitscore" (default), "pident" or "evalue" of m8.
    similarity : how similarities become dissimilarities: "1-s", "1-s/100", "max-s", "-log", "normalized"
        (1 - s_ab / sqrt(s_aa s_bb)) or a function of an array. Required for m8.
    missing : "error" (default), "max" (the largest dissimilarity of the row; where the rest is symmetric, the larger of
        the pair's two rows) or a number, for pairs without a value.
    symmetrize : "min", "max" or "mean" of the two directions; by default both stay as they are.
    symmetric : whether a pair table is one triangle; by default it is if no pair occurs in both directions.
    duplicates : "error" (default), "first", "min" or "max", for a pair on several lines.
    """
    options = {name: value for name, value in locals().items() if name not in ("path", "format") and value is not None}
    with opening(path) as opened:
        chosen = _checked(opened, format, options)
        if chosen.name in ("fasta", "fastq"):
            return read_sequences(opened, chosen.name, **options)
        return _READERS[chosen.name](opened, **_with_delimiter(format, options))


def iter_records(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    kind: str | None = None,
    id: Column | None = None,
    label: Column | Callable[[str], str] | None = None,
    string: Column | None = None,
    columns: Sequence[Column] | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    alphabet: str | None = None,
    allow_empty: bool | None = None,
) -> Iterator[Record]:
    """The records of a FASTA, FASTQ or table file one by one, in memory that does not grow with the file.

    Options as for `read`. Ids are not compared with each other: that would mean keeping them all.
    """
    options = {name: value for name, value in locals().items() if name not in ("path", "format") and value is not None}
    with opening(path) as opened:
        chosen = _checked(opened, format, options)
        if chosen.name in ("fasta", "fastq"):
            yield from iter_sequences(opened, chosen.name, **options)
        elif chosen.name == "table":
            yield from iter_table(opened, **_with_delimiter(format, options))
        else:
            raise ValueError(f"{opened.name} is a {chosen.name} file, which has no records to stream; use read.")


def _checked(opened: Opened, format: str | None, options: dict[str, Any]) -> Format:
    """The format, once every option given means something to it."""
    chosen = format_of(opened, format, options)
    odd = [name for name in options if name not in chosen.options]
    if odd:
        raise ValueError(
            f"{opened.name} is read as {chosen.name}, for which {odd[0]} means nothing; "
            f"its options are {', '.join(chosen.options)}."
        )
    for name in FLAGS:
        if not isinstance(options.get(name, True), bool):
            raise ValueError(f"{name} is {options[name]!r}; it must be true or false.")
    return chosen


def _with_delimiter(format: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """format='tsv' is a table by tabs, whatever the file is called."""
    return {"delimiter": "\t", **options} if format == "tsv" else options
