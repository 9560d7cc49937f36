"""Files of a few MB that would fill memory or take for ever to read: packed zeros, endless lines, lying headers."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

MB = 2**20


def gz_of(part: bytes, times: int, begin: bytes = b"") -> bytes:
    """`begin`, and `times` MB of which each is `part` over and over, packed; made of one packed piece many times."""
    piece = (part * (16 * MB // len(part) + 1))[: 16 * MB - 16 * MB % len(part)]
    return (gzip.compress(begin) if begin else b"") + gzip.compress(piece) * (times // 16)


def zip_of(name: str, begin: bytes, n: int, other: dict[str, bytes] | None = None) -> bytes:
    """An archive with a member of `begin` and n MB of zeros."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in (other or {}).items():
            archive.writestr(each, content)
        with archive.open(name, "w", force_zip64=True) as file:
            file.write(begin)
            for _ in range(n):
                file.write(b"\0" * MB)
    return packed.getvalue()


def npy_header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def text_bombs(packed_mb: int = 4096) -> Iterator[tuple[str, bytes]]:
    """(name of the file, its content), of every format that is text or packed."""
    yield "one-sequence.fasta.gz", gz_of(b"ACGT", packed_mb, b">a\n")
    yield "short-sequences.fasta.gz", gz_of(b">a\nA\n", packed_mb)
    yield "blank-lines.fasta.gz", gz_of(b"\n", packed_mb, b">a\nAC\n")
    yield "headers.fasta.gz", gz_of(b">", packed_mb)
    yield "one-line.txt.gz", gz_of(b"x", packed_mb)
    yield "columns.csv.gz", gz_of(b"1,", packed_mb)
    yield "rows.csv.gz", gz_of(b"1,2\n", packed_mb)
    yield "one-line.fasta", b">a\n" + b"ACGT" * (8 * MB)
    yield "one-line.csv", b"1" * (32 * MB)
    yield "columns.csv", b"1," * (8 * MB)
    yield "quote.csv", b'a,b\n"' + b"x,\n" * (8 * MB)
    yield "rows.tsv", b"".join(b"a%d\tword\n" % k for k in range(2_200_000))
    yield "blanks.txt", b" " * (32 * MB)
    yield "returns.txt", b"\r" * (32 * MB)
    yield "zeros.csv", b"\0" * (32 * MB)
    yield "fastq-lines.fastq", b"@a\n" + b"\n" * (16 * MB)
    yield "hits.m8", b"".join(b"a%d\tb%d" % (k, k) + b"\t1" * 10 + b"\n" for k in range(300_000))
    yield "pairs.pairs", b"".join(b"a%d\tb%d\t1\n" % (k, k) for k in range(1_000_000))
    yield "count.phy", b"999999999999\na 0 1\nb 1 0\n"
    yield "wide.lsmat", b"\t" + b"\t".join(b"a%d" % k for k in range(400_000)) + b"\na0\t0\n"
    yield "nested.biom", b'{"format": "Biological Observation Matrix 1.0.0", "data": ' + b"[" * (4 * MB)
    yield "shape.biom", json.dumps({
        "id": "x", "format": "Biological Observation Matrix 1.0.0", "type": "OTU table", "rows": [], "columns": [],
        "matrix_type": "sparse", "matrix_element_type": "int", "shape": [10**9, 10**9], "data": [[10**9 - 1] * 2 + [1]],
    }).encode()  # fmt: skip
    yield "zeros.npz", zip_of("X.npy", npy_header(f"{packed_mb * MB // 8 // 4}, 4"), packed_mb)
    yield "petabyte.npz", zip_of("X.npy", npy_header(f"{10**15},"), 1)
    yield "petabyte.npy", npy_header(f"{10**7}, {10**8}") + bytes(64)
    yield "zeros.xlsx", zip_of("xl/worksheets/sheet1.xml", b"<worksheet>", packed_mb)
    yield "zeros.qza", zip_of("u/data/distance-matrix.tsv", b"\ta\n", packed_mb, {"u/metadata.yaml": b"uuid: u\n"})
    yield "members.npz", _many_members()


def _many_members() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for k in range(100_000):
            archive.writestr(f"a{k}.npy", b"")
    return packed.getvalue()


def library_bombs(folder: Path, n: int = 10**9) -> Iterator[Path]:
    """Files that other libraries parse, which say that they hold n rows; only those whose library is there."""
    try:
        import h5py
    except ImportError:
        return
    for name, table in (("zeros.biom", "sample/matrix/data"), ("zeros.h5ad", "obsp/distances")):
        with h5py.File(folder / name, "w") as file:
            shape = (n,) if name.endswith("biom") else (40_000, 40_000)
            file.create_dataset(table, shape, "f8", compression="gzip", chunks=True)
        yield folder / name
