"""`medianmap distances` as a user meets it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from medianmap import as_dissimilarity
from medianmap.app.main import main

FASTA = ">one\nACGT\n>two\nACT\n>three\nGGGT\n"


@pytest.fixture
def fasta(tmp_path, monkeypatch):
    (tmp_path / "s.fasta").write_text(FASTA)
    monkeypatch.chdir(tmp_path)
    return "s.fasta"


def run(*args):
    with pytest.raises(SystemExit) as stopped:
        main(["distances", *args])
    return stopped.value.code


def test_sequences_become_a_store(fasta, capsys):
    args = (fasta, "--metric", "edit", "--param", "indel=2", "--param", "substitution=1.5", "-o", "D.npy")
    assert run(*args, "--dtype", "float32", "--threads", "2") == 0
    assert "Wrote D.npy: 3 x 3 float32 dissimilarities under edit" in capsys.readouterr().out
    source = as_dissimilarity("D.npy")
    assert source.ids == ["one", "two", "three"]
    np.testing.assert_array_equal(source.D, np.array([[0, 2, 3], [2, 0, 5], [3, 5, 0]], np.float32))
    assert json.loads(Path("D.npy.json").read_text())["parameters"] == {
        "indel": 2,
        "substitution": 1.5,
        "spelling": "dna",
    }
    assert run(*args) == 2
    assert "another dtype" in capsys.readouterr().err
    assert run(*args, "--restart") == 0
    assert as_dissimilarity("D.npy").dtype == np.float64


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--metric", "edits", "-o", "D.npy"), "There is no metric 'edits'.*Did you mean 'edit'"),
        (("--metric", "edit", "-o", "D.npy", "--param", "indel"), "'indel' is not NAME=VALUE"),
        (("--metric", "edit", "-o", "no/D.npy"), "There is no folder"),
        (("--metric", "edit", "-o", "D.npy", "--threads", "0"), "0 is no number of threads"),
        (("--metric", "edit",), "Missing option"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence_and_leaves_nothing(fasta, capsys, tmp_path, args, message):
    assert run(fasta, *args) == 2
    assert re.search(message, capsys.readouterr().err)
    assert [entry.name for entry in tmp_path.iterdir()] == [fasta]


@pytest.mark.parametrize("name", ["D.npy.gz", "D.tsv", "D"])
def test_the_name_says_what_is_written(fasta, capsys, name):
    assert run(fasta, "--metric", "edit", "-o", name) == 2
    assert (
        capsys.readouterr().err
        == f"medianmap: {name} must end in .npy: that is what is written; -o - prints a table.\n"
    )
    assert not Path(name).exists()


def test_the_file_is_read_as_told_and_a_guess_is_said(fasta, capsys):
    Path("t.csv").write_text("key,one,two\na,xy,pq\nb,xyz,pq\n")
    assert run("t.csv", "--metric", "edit", "-o", "D.npy") == 2
    assert "--read string=NAME" in capsys.readouterr().err
    assert run("t.csv", "--metric", "edit", "-o", "D.npy", "--read", "string=one") == 0
    assert capsys.readouterr().err == "medianmap: t.csv: column 'key' read as ids\n"
    assert as_dissimilarity("D.npy").D.tolist() == [[0, 1], [1, 0]]


def test_an_illegal_letter_is_found_in_its_record(fasta, capsys):
    Path("odd.fasta").write_text(">one\nACGT\n>two\nAC1T\n>three\nacgt\n")
    args = ("odd.fasta", "--metric", "edit", "--param", "alphabet=dna", "-o", "D.npy")
    assert run(*args) == 2
    assert "point 1 ('two') has '1' at position 2" in capsys.readouterr().err
    Path("odd.fasta").write_text(">one\nACGT\n>three\nacgt\n")
    assert run(*args, "--param", "spelling=exact") == 2
    assert re.search(r"point 1 \('three'\) has 'a'.*; write letters in upper case", capsys.readouterr().err)


def test_ctrl_c_says_how_to_go_on(fasta, capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt("40% of D.npy is computed and kept; run the same again to go on.")

    monkeypatch.setattr("medianmap.sources.all_pairs.all_pairs", interrupted)
    assert run(fasta, "--metric", "edit", "-o", "D.npy") == 130
    assert capsys.readouterr().err == "medianmap: 40% of D.npy is computed and kept; run the same again to go on.\n"
