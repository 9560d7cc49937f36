"""Lines, sequences, packed files and numbers of objects larger than real ones, refused before they fill memory."""

import gzip
import io
import sys
import zipfile

import numpy as np
import pytest
from support.extras import optional

from medianmap.readers import LIMITS, Limits, iter_records, read, records

SMALL = {"max_length": 50, "max_unpacked": 3000, "max_objects": 20}
LONG = "ACGT" * 20


def words(n, length=4):
    return "".join(f">w{k}\n{'ACGT'[k % 4] * length}\n" for k in range(n))


def of_zeros(n):
    content = io.BytesIO()
    np.savez_compressed(content, X=np.zeros((n, 2)))
    return content.getvalue()


TOO_LARGE = {
    "a line": ("x.txt", f"abc\n{LONG}\n", r"first lines has more than 50 bytes.*max_length=500\.", {"string": 0}),
    "the first line": ("x.csv", f"{LONG},1\n{LONG},2\n", r"first lines has more than 50 bytes.*max_length=500\.", {}),
    "a line of latin-1": ("x.csv", f"a,b\n{LONG},1\nx,2\n", "more than 50 bytes", {"encoding": "latin-1"}),
    "blank lines": ("x.fa", ">a\nAC\n" + 6 * "\n" + ">b\nAC\n", "line 2 has more than 1 blank lines after it", {}),
    "columns": ("x.csv", "1,2,3,4,5,6\n1,2,3,4,5,6\n", "line 1 has more than 5 columns.*max_length=500", {}),
    "a quoted cell": ("x.csv", 'a,b\n"x,' + "1,2\n" * 2000, "quote", {"string": "a"}),
    "a sequence on one line": ("x.fa", f">a\nAC\n>b\n{LONG}\n", "line 4 has more than 50 bytes", {}),
    "a sequence on many": ("x.fa", ">a\nAC\n>b c\n" + "ACGTA\n" * 11, "record 'b c' has more than 50 letters", {}),
    "sequences": ("x.fa", words(21), "x.fa holds more than 20 objects.*max_objects=200", {}),
    "rows of numbers": ("x.csv", "1,2,3\n" * 21, "more than 20 objects", {"kind": "vectors"}),
    "rows of text": ("x.tsv", "".join(f"a{k}\tterm\n" for k in range(21)), "more than 20 objects", {"string": 1}),
    "a packed one": ("x.fa.gz", gzip.compress(words(400).encode()), r"x\.fa\.gz unpacks from \d+ to more", {}),
    "an archive": ("x.npz", of_zeros(1000), r"x\.npz unpacks from \d+ to more than 3000 .*max_unpacked=30000\.", {}),
}  # fmt: skip


@pytest.fixture
def usual(monkeypatch):
    """Small limits as if they were the usual ones."""
    monkeypatch.setattr(records, "UNPACKED_FREE", 3000)


@pytest.mark.parametrize("case", TOO_LARGE)
def test_what_is_too_large_is_one_sentence(case, tmp_path):
    name, content, said, options = TOO_LARGE[case]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=said) as refused:
        read(path, **SMALL, **options)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500
    if case != "a quoted cell":
        larger = {name: 100 * value for name, value in SMALL.items()}
        assert len(read(path, **larger, **options)) > 1


def test_what_is_just_small_enough_is_read(tmp_path):
    path = tmp_path / "x.fa"
    for ends in ("\n", "\r\n"):
        path.write_bytes("".join(f">w{k}{ends}{'A' * 50}{ends}" for k in range(20)).encode())
        assert len(read(path, **SMALL)) == 20
        assert len(list(iter_records(path, **SMALL))) == 20
    path.write_text(">a\n" + 10 * "ACGTA\n" + ">b\nA\n")
    assert [len(each) for each in read(path, **SMALL).objects] == [50, 1]


def test_a_stream_may_have_any_number_of_objects_unless_it_is_said(tmp_path, monkeypatch):
    path = tmp_path / "x.fa"
    path.write_text(words(30))
    monkeypatch.setattr(records.Limits, "max_objects", 20)
    assert len(list(iter_records(path))) == 30
    with pytest.raises(ValueError, match="more than 25 objects"):
        list(iter_records(path, max_objects=25))


def test_unasked_a_packed_file_may_grow_a_hundredfold(tmp_path, usual):
    path = tmp_path / "x.fa.gz"
    rng = np.random.default_rng(0)
    real = "".join(f">w{k}\n{''.join(rng.choice(list('ACGT'), 40))}\n" for k in range(500))
    path.write_bytes(gzip.compress(real.encode()))
    assert len(read(path)) == 500  # 4 times its size, and beyond what is free
    path.write_bytes(gzip.compress(words(40_000).encode()[:400_000]))
    size = path.stat().st_size
    assert 400_000 > 100 * size or size > 4000
    path.write_bytes(gzip.compress(b">a\n" + b"A" * 60 + b"\n" + b"\n" * 2_000_000))
    with pytest.raises(ValueError, match="unpacks from"):
        read(path)
    with pytest.raises(ValueError, match="unpacks from"):
        list(iter_records(path))


def test_standard_input_has_the_same_limits(monkeypatch):
    bomb = gzip.compress(b">a\n" + b"ACGT\n" * 10_000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bomb)))
    with pytest.raises(ValueError, match="standard input unpacks from"):
        read("-", max_unpacked=20_000)


def test_an_archive_that_lies_about_its_size_is_no_whole_one(tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 2)})
        archive.writestr("X.npy", header.getvalue() + bytes(64))
    with pytest.raises(ValueError, match=r"not a whole \.npz"):
        read(path)


@pytest.mark.parametrize("name", ["x.npz", "x.npy.gz"])
def test_a_header_of_a_petabyte_is_one_sentence(name, tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    content = header.getvalue() + bytes(64)
    if name == "x.npz":
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("X.npy", content)
    else:
        (tmp_path / name).write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=rf"{name} cannot be read \(Unable to allocate .*it is damaged, or larger"):
        read(tmp_path / name)


def test_an_archive_of_what_is_no_array(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("X.npy", b"")
    with pytest.raises(ValueError, match=r"not a whole \.npz file \('X' is no array\)"):
        read(tmp_path / "x.npz")


def test_hdf5_says_how_large_its_tables_are(tmp_path):
    h5py = optional("h5py")
    path = tmp_path / "x.biom"
    with h5py.File(path, "w") as file:
        file.create_dataset("sample/matrix/data", (10**9,), "f8", compression="gzip", chunks=(10**6,))
    assert path.stat().st_size < 10**6
    with pytest.raises(ValueError, match=r"x\.biom unpacks from \d+ to more than"):
        read(path)


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("value", [0, -1, 2.5, "many", True])
def test_limits_are_whole_numbers(name, value, tmp_path):
    (tmp_path / "x.fa").write_text(words(3))
    with pytest.raises(ValueError, match=f"{name} is {value!r}"):
        read(tmp_path / "x.fa", **{name: value})
    assert Limits(max_unpacked=None) == Limits()
