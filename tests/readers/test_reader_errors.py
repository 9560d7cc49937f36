"""Every bad file gets one sentence that says what is wrong, where, and what to do."""

import gzip
import sys

import numpy as np
import pytest
from support.extras import optional

from medianmap.readers import iter_records, read, write_lsmat, write_pairs, write_phylip

MATRIX = ",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n"
HIT = "a\tb\t80.0\t50\t10\t0\t1\t50\t1\t50\t1e-10\t60\n"

# name of the file, contents, options, what the sentence says
BAD = {
    "empty": ("x.csv", "", {}, "x.csv is empty"),
    "blank": ("x.fasta", " \n\n", {}, "x.fasta is empty"),
    "empty gz": ("x.csv.gz", gzip.compress(b""), {}, "is empty"),
    "truncated gz": ("x.csv.gz", gzip.compress(MATRIX.encode() * 9)[:-9], {}, "is truncated: the compressed data"),
    "damaged gz": ("x.csv.gz", gzip.compress(MATRIX.encode())[:-8] + bytes(8), {}, "is damaged"),
    "unknown ending": ("x.xyz", "a,b", {}, r"x.xyz.*fasta \(.fasta .*m8 \(.m8"),
    "unknown format": ("x.csv", "a,b", {"format": "excel"}, "no format 'excel'.*fasta"),
    "option of another format": (
        "x.phy",
        "1\na 0",
        {"alphabet": "dna"},
        "read as phylip.*'alphabet'.*names, encoding",
    ),
    "unknown kind": ("x.csv", "1,2\n3,4\n", {"kind": "tensor"}, "kind is 'tensor'; choose one of 'strings'"),
    "unknown delimiter": ("x.csv", "1,2\n3,4\n", {"delimiter": "&"}, "delimiter is '&'; choose one of ','"),
    "unknown encoding": ("x.csv", "1,2\n3,4\n", {"encoding": "klingon"}, "no encoding 'klingon'"),
    "wrong encoding": ("x.csv", b"id,text\na,b\nc,gr\xf6\xdfe\n", {}, "line 3 has the byte 0xf6 at position 5"),
    "UTF-16": ("x.csv", "id,text\na,b\n".encode("utf-16-le"), {}, "zero bytes.*encoding='utf-16'"),
    "wrong encoding given": ("x.csv", b"id,text\n\xff,b\n", {"encoding": "ascii"}, "not text.*'ascii'"),
    # sequences
    "no FASTA": ("x.fasta", "ACGT\n", {}, "not a whole FASTA file.*line 1"),
    "truncated FASTQ": ("x.fastq", "@a\nAC\n+\nII\n@b\nAC\n", {}, "not a whole FASTQ file.*line 7"),
    "truncated FASTA": ("x.fasta", ">a\nACGT\n>b\n", {}, r"record 2 \('b'\) has no letters"),
    "no id": ("x.fasta", ">\nACGT\n", {}, "record 1 has no name"),
    "duplicate sequence ids": ("x.fasta", ">a\nA\n>b\nA\n>a\nC\n", {}, "records 1 and 3 have the same id 'a'"),
    "illegal letter": (
        "x.fasta",
        ">a\nACGT\n>b\nAC1T\n",
        {"alphabet": "dna"},
        r"record 2 \('b'\) has '1' at position 3.*'dna'",
    ),
    "illegal letter by hand": ("x.fasta", ">b\nACx\n", {"alphabet": "AC]"}, "has 'x' at position 3"),
    "bad alphabet": ("x.fasta", ">b\nACx\n", {"alphabet": ""}, "pass the letters allowed"),
    "no such word": ("x.fasta", ">a\nACGT\n", {"label": 1}, r"record 1 \('a'\) has 1 words in its header"),
    "label of sequences by name": ("x.fasta", ">a\nACGT\n", {"label": "family"}, "number of a word of the header"),
    "umlauts in FASTA": ("x.fasta", ">a\nACGT\n>b\nA\u00fcC\n".encode(), {}, r"record 2 \('b'\) has 'ü' at position 2"),
    "bad bytes in FASTA": ("x.fasta", b">a\nACGT\n>\xff\nAC\n", {}, "not UTF-8 text: line 3 has the byte 0xff"),
    "qualities of FASTQ": ("x.fastq", "@a\nACG\n+\nII\n", {}, "line 4 is 'II'.*2 qualities for 3 letters.*line 1"),
    "third line of FASTQ": ("x.fastq", "@a\nACG\nACG\nIII\n", {"format": "fastq"}, "line 3 is 'ACG'.*begins with"),
    # tables
    "illegal letter in a table": (
        "x.csv",
        "id,string\na,ACGT\nb,A-T\n",
        {"alphabet": "dna"},
        r"line 3 \('b'\) has '-' at position 2",
    ),
    "no such column": ("x.csv", "id,x,y\na,1,2\n", {"label": "z"}, "no column 'z' for the label.*'id', 'x', 'y'"),
    "no such position": ("x.csv", "a,1,2\nb,1,2\n", {"id": 3}, "no column 3 for the id.*3 columns.*no names"),
    "several texts": ("x.csv", "id,one,two\na,x,y\nb,z,z\n", {}, r"2 columns of text \(column 'one', column 'two'\)"),
    "no text": ("x.csv", "id,x,y\na,1,2\n", {"kind": "strings"}, "0 columns of text"),
    "no numbers": ("x.csv", "id,x\na,u\nb,v\n", {"kind": "vectors"}, "no columns of numbers"),
    "strings and vectors": ("x.csv", "id,x\na,u\n", {"string": "x", "columns": ["x"]}, "Both string= and columns="),
    "ragged rows": ("x.csv", "id,string\na,AC\nb,GT,x\n", {}, "line 3 has 3 columns where 2 are expected"),
    "ragged numbers": ("x.csv", "1,2,3\n4,5\n", {}, "line 2 has 2 columns where 3 are expected"),
    "open quotation mark": ("x.csv", 'id,string\na,AC\nb,"GT\n', {}, "line 3 cannot be split into cells"),
    "tabs alone": ("x.tsv", "id\tstring\na\tAC\n\t\n", {}, "line 3 has an empty id"),
    "lines of an old Mac": ("x.csv", "id,x,y\ra,1,2\rb,3,4\r", {}, r"ends its lines with \\r"),
    "duplicate ids": ("x.csv", "id,string\na,AC\nb,GT\na,TT\n", {}, "records 1 and 3 have the same id 'a'"),
    "empty id": ("x.csv", "id,string\na,AC\n,GT\n", {}, "line 3 has an empty id"),
    "no rows": ("x.csv", "id,string\n", {"header": True}, "a line of names and no rows after it"),
    "text among numbers": (
        "x.csv",
        "id,x,y,class\na,1,2,u\nb,3,x,v\n",
        {"columns": ["x", "y"]},
        r"line 3, column 3 \('y'\) is 'x', but a number is needed",
    ),
    "empty coordinate": ("x.csv", "p,1,2\nq,,4\n", {"kind": "vectors"}, "line 2, column 2 is empty"),
    "decimal comma in tabs": ("x.tsv", "x\ty\n1\t2\n3\t4,5\n5\t6\n", {}, "'4,5'.*decimals with a point"),
    "empty string": ("x.csv", "id,string\na,AC\nb,\n", {}, r"line 3 \('b'\) has an empty string"),
    "ids and labels alone": ("x.csv", "id,class\na,u\nb,v\n", {}, "0 columns of text"),
    "empty row name": ("D.csv", MATRIX.replace("\nb", "\n"), {}, "line 3 has an empty id"),
    "text in plain numbers": ("x.csv", "1,2,4\n5,x,7\n8,9,9\n", {}, "line 2, column 2 is 'x'"),
    "text in the first line": ("x.csv", "1,x,4\n5,6,7\n8,9,9\n", {}, "line 1, column 2 is 'x'"),
    "text in one column": ("x.csv", "id,x,class\na,1,u\nb,z,v\nc,3,v\n", {}, r"line 3, column 2 \('x'\) is 'z'"),
    "ids of a matrix": ("x.csv", MATRIX, {"kind": "matrix", "id": 1}, "id is 1.*first column"),
    "underscore": ("x.csv", "1,2\n3,1_2\n", {"kind": "matrix"}, "line 2, column 2 is '1_2'"),
    "empty series": ("x.csv", "a,1\nb,\n", {"kind": "series", "id": 0}, "line 2 holds no series"),
    "rule for records": ("x.csv", "id,string\na,AC\n", {"missing": 1, "id": 0}, "missing.*kind='matrix'"),
    "rule for strings": ("x.csv", "id,string\na,AC\n", {"missing": 1}, r"line 2, column 2 \('string'\) is 'AC'"),
    "rule for vectors": ("x.csv", "1,2,4\n3,4,4\n", {"kind": "vectors", "missing": 1}, "missing.*kind='matrix'"),
    # matrices
    "text in a matrix": ("D.csv", MATRIX.replace("3,0", "x,0"), {}, r"line 4, column 3 \('b'\) is 'x'"),
    "ragged matrix": ("D.csv", MATRIX.replace("1,0,3", "1,0"), {}, "line 3 has 3 columns where 4 are expected"),
    "truncated matrix": ("D.csv", MATRIX[: MATRIX.index("c,2")], {}, "2 rows and 3 columns of numbers.*truncated"),
    "truncated plain matrix": ("D.csv", "0,1,2,3\n1,0,4,5\n2,4,0,6\n", {}, "3 rows and 4 columns of numbers"),
    "not square": ("D.csv", "1,2,3\n4,5,6\n", {"kind": "matrix"}, "2 rows and 3 columns"),
    "ids disagree": ("D.csv", MATRIX.replace("\nb", "\nq"), {}, "row 2 is named 'q' but column 2.* 'b'"),
    "ids in another order": ("D.csv", ",b,a\na,0,1\nb,1,0\n", {}, "row 1 is named 'a' but column 1.* 'b'"),
    "ids differ altogether": ("D.csv", ",x,y\na,0,1\nb,1,0\n", {"kind": "matrix"}, "row 1 is named 'a' but column 1"),
    "duplicate matrix ids": ("D.csv", ",a,a\na,0,1\na,1,0\n", {}, "rows 1 and 2 have the same id 'a'"),
    "a similarity below zero": (
        "S.csv",
        "a,b\n3,2\n2,3\n",
        {"similarity": "1-s"},
        r"'a', 'a'\) has the similarity 3.*into -2.*max-s",
    ),
    "log of zero": ("S.csv", "1,0\n0,1\n", {"similarity": "-log"}, r"D\[0, 1\] has the similarity 0.*into inf"),
    "unknown rule": ("S.csv", "1,0\n0,1\n", {"similarity": "s-1"}, "similarity is 's-1'; choose one of '1-s'"),
    "rule of another shape": (
        "S.csv",
        "1,0\n0,1\n",
        {"similarity": lambda s: 1.0},
        r"turned 4 values into .*shape \(\)",
    ),
    "unknown policy": ("D.csv", MATRIX, {"missing": "mean"}, "missing is 'mean'; choose 'error', 'max'"),
    "negative policy": ("D.csv", MATRIX, {"missing": -1}, "missing is -1"),
    "unknown symmetrisation": ("D.csv", MATRIX, {"symmetrize": "sum"}, "symmetrize is 'sum'"),
    "self score missing": ("S.csv", "4,1\n1,NA\n", {"similarity": "normalized"}, "row 1 against itself is missing"),
    "nothing known": ("S.csv", "NA,NA\nNA,NA\n", {"similarity": "1-s"}, "no similarity at all"),
    "lsmat without ids": ("D.lsmat", "0\t1\n1\t0\n", {}, "D.lsmat is not .*empty cell"),
    # PHYLIP
    "PHYLIP without a count": ("D.phy", "a 0 1\nb 1 0\n", {}, "line 1 is .a 0 1..*PHYLIP.*number of its points"),
    "PHYLIP too short": ("D.phy", "3\na 0 1 2\nb 1 0 3\n", {}, "says 3 points but holds 2"),
    "PHYLIP count": ("D.phy", "3\na 0 1\nb 1 0\n", {}, r"row of 'a' \(line 2\) has 2 numbers where 3 are expected"),
    "PHYLIP too long": ("D.phy", "1\na 0\nb 1\n", {}, "says 1 points, but there is another row in line 3"),
    "PHYLIP ragged": ("D.phy", "2\na 0 1\nb 1 0 7\n", {}, r"row of 'b' \(line 3\) has 3 numbers where 2 are expected"),
    "PHYLIP text": ("D.phy", "2\na 0 1\nb 1 x\n", {}, "line 3, column 3 is 'x'"),
    "PHYLIP twice": ("D.phy", "2\na 0 1\na 1 0\n", {}, "rows 1 and 2 have the same id 'a'"),
    "PHYLIP names": ("D.phy", "1\na 0\n", {"names": "loose"}, "names is 'loose'; choose one of"),
    "PHYLIP nameless": ("D.phy", "2\n           0 1\nbbbbbbbbbb 1 0\n", {"names": "strict"}, "line 2 has no name"),
    # pairs
    "pair table of four": ("x.pairs", "a b 1 2\n", {}, "has 4 columns;.* three.*columns="),
    "two columns chosen": ("x.pairs", "a b 1 2\n", {"columns": (0, 1)}, "columns names 2 columns"),
    "pair column": ("x.pairs", "a b d\na b 1\n", {"columns": ("a", "b", "e")}, "no column 'e' for the value.*'b', 'd'"),
    "pair value": ("x.pairs", "a b 1\na c x\n", {}, "line 2 has 'x' where a number is needed"),
    "pair value with an underscore": ("x.pairs", "a b 1\na c 1_2\n", {}, "line 2 has '1_2' where a number is needed"),
    "pair without an id": ("x.pairs", "a,b,1\n,c,1\n", {}, "line 2 has an empty id"),
    "ragged pairs": ("x.pairs", "a,b,1\na,c\n", {}, "line 2 has 2 columns where 3 are expected"),
    "pairs of nothing": ("x.pairs", "a,b,value\n", {}, "holds no pairs"),
    "a foreign id": ("x.pairs", "a,b,1\na,c,1\n", {"ids": ["a", "b"]}, "line 2 has the id 'c'.*ids"),
    "an id without pairs": ("x.pairs", "a,b,1\n", {"ids": ["a", "b", "c"]}, "4 of 6 pairs have no value"),
    "ids given twice": ("x.pairs", "a,b,1\n", {"ids": ["a", "a"]}, "places 1 and 2 have the same id"),
    "duplicate pairs": ("x.pairs", "a,b,1\nb,a,2\na,b,1\n", {}, r"lines 1 and 3 are both the pair \('a', 'b'\)"),
    "first of two duplicates": ("x.pairs", "a,b,1\nc,d,1\nc,d,1\na,b,1\n", {}, "lines 2 and 3 are both"),
    "not symmetric": ("x.pairs", "a,b,1\nb,a,2\n", {"symmetric": True}, "symmetric.*is 1 one way and 2 the other"),
    "unknown duplicates": ("x.pairs", "a,b,1\n", {"duplicates": "last"}, "duplicates is 'last'; choose one of"),
    "hits without a rule": ("x.m8", HIT, {}, "bitscore is not a dissimilarity; say how it becomes one.*similarity="),
    "unknown score": ("x.m8", HIT, {"score": "length"}, "score is 'length'; choose one of 'pident', 'evalue'"),
    "e-values": ("x.m8", HIT, {"score": "evalue", "similarity": "1-s"}, "e-value.*1-s.*pass a function"),
    "short hits": ("x.m8", HIT + "a\tc\t80\n", {"similarity": "max-s"}, "line 2 has 3 columns where 12 are expected"),
    "several hits": ("x.m8", HIT + HIT, {"similarity": "max-s"}, "lines 1 and 2 are both.*several hits .* are usual"),
    "percent": ("x.m8", HIT, {"similarity": "1-s", "score": "pident"}, r"has the similarity 80, which '1-s'"),
    # arrays
    "no npy": ("x.npy", "hello", {}, "not a whole .npy file"),
    "no npz": ("x.npz", "hello", {}, "not a whole .npz file"),
    "no AnnData": ("x.h5ad", "hello", {}, "whole .h5ad file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_one_clear_sentence(case, tmp_path):
    name, content, options, message = BAD[case]
    if name.startswith("x.h5ad"):
        optional("anndata")
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)


def test_a_folder_and_a_file_that_is_not_there(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"There is no file .*x\.csv"):
        read(tmp_path / "x.csv")


def arrays(tmp_path):
    D = np.zeros((3, 3))
    np.save(tmp_path / "cut.npy", D)
    whole = (tmp_path / "cut.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-8])
    np.save(tmp_path / "objects.npy", np.array([{}, None]), allow_pickle=True)
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "line.npy", np.zeros(7))
    np.save(tmp_path / "text.npy", np.array(["a", "b"]))
    np.save(tmp_path / "wide.npy", np.zeros((2, 3)))
    np.savez(tmp_path / "two.npz", a=D, b=D)
    np.savez(tmp_path / "ids.npz", D=D, ids=["a", "b"])
    np.savez(tmp_path / "twice.npz", D=D, ids=["a", "b", "a"])
    np.savez(tmp_path / "series.npz", a=np.ones(2), b=np.ones(3), labels=["u"])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cut.npy", {}, "not a whole .npy file"),
        ("objects.npy", {}, "not a whole .npy file"),
        ("cube.npy", {}, r"shape \(2, 2, 2\)"),
        ("line.npy", {}, "7 entries.*condensed matrix"),
        ("text.npy", {"kind": "matrix"}, "holds text, but a matrix is of numbers"),
        ("text.npy", {"kind": "vectors"}, "which is not vectors"),
        ("wide.npy", {"kind": "matrix"}, "2 rows and 3 columns"),
        ("wide.npy", {"missing": 1}, "holds vectors.*missing.*kind='matrix'"),
        ("wide.npy", {"kind": "tensor"}, "kind is 'tensor'"),
        ("two.npz", {}, "the arrays 'a', 'b'; pass key="),
        ("two.npz", {"key": "c"}, "no 'c' but the arrays 'a', 'b'"),
        ("ids.npz", {}, "2 ids for 3 points"),
        ("twice.npz", {}, "1 and 3 have the same id 'a'"),
        ("series.npz", {}, "1 labels for 2 series"),
        ("series.npz", {"kind": "matrix"}, "one series each"),
    ],
)
def test_arrays(tmp_path, name, options, message):
    arrays(tmp_path)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / name, **options)


def test_streams_name_what_is_wrong_too(tmp_path):
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"id,string\n" + b"a,ACGT\n" * 50_000, 0)[:-100])
    with pytest.raises(ValueError, match="is truncated"):
        list(iter_records(path))
    (tmp_path / "D.phy").write_text("1\na 0\n")
    with pytest.raises(ValueError, match=r"is a phylip file.*stream"):
        list(iter_records(tmp_path / "D.phy"))
    (tmp_path / "D.csv").write_text(MATRIX)
    with pytest.raises(ValueError, match="a matrix cannot be read as a stream"):
        list(iter_records(tmp_path / "D.csv", kind="matrix"))


@pytest.mark.parametrize("option", ["header", "allow_empty"])
def test_a_flag_is_true_or_false(tmp_path, option):
    (tmp_path / "w.csv").write_text("id,word\na,xy\nb,yz\n")
    with pytest.raises(ValueError, match=f"{option} is 'maybe'; it must be true or false"):
        read(tmp_path / "w.csv", **{option: "maybe"})


@pytest.mark.parametrize(("name", "module", "extra"), [("x.h5ad", "anndata", "anndata")])
def test_a_missing_extra_is_one_sentence(tmp_path, monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / name).write_text(">a\nACGT\n")
    with pytest.raises(
        ModuleNotFoundError, match=rf"needs {module}; install it with: pip install 'medianmap\[{extra}\]'"
    ):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("write", "ids", "message"),
    [
        (write_phylip, ["a b", "c"], "blank.*PHYLIP"),
        (write_lsmat, ["a\tb", "c"], ".*lsmat"),
        (write_pairs, ["#a", "c"], "#a.*pair table"),
        (write_pairs, ["a", "a"], "1 and 2 have the same id"),
    ],
)
def test_ids_that_a_format_cannot_hold(tmp_path, write, ids, message):
    with pytest.raises(ValueError, match=message):
        write(tmp_path / "D", np.zeros((2, 2)), ids)
    assert not list(tmp_path.iterdir())
