"""`medianmap representatives` as a user meets it."""

import csv
import gzip
import hashlib
import os
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest

import medianmap.explore.representatives
from medianmap import all_pairs
from medianmap.app.main import main
from medianmap.readers import read

FASTA = ">one first of all\nACGT\n>two\nACT\n>three\nGGGT\n>four\nACGG\n>five\n" + "ACGT" * 20 + "\n"
TABLE = "one\tone\none\ttwo\none\tfour\nfive\tfive\n"
CLSTR = (
    ">Cluster 3\n0\t3aa, >two... at 9%\n1\t4aa, >one... *\n2\t4aa, >four... at 9%\n>Cluster 5\n0\t80aa, >five... *\n"
)
FILES = ["coverage.tsv", "members.tsv", "representatives.fasta", "representatives.tsv"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "s.fasta").write_text(FASTA)
    (tmp_path / "c.tsv").write_text(TABLE)
    (tmp_path / "c.clstr").write_text(CLSTR)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args):
    with pytest.raises(SystemExit) as stopped:
        main(["representatives", *args])
    return stopped.value.code


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_packed_files(folder):
    args = ("c.tsv", "s.fasta", "--metric", "edit", "-q", "-o")
    assert run(*args, "plain") == run(*args, "packed", "--gzip") == 0
    assert sorted(entry.name for entry in Path("packed").iterdir()) == sorted(
        ["config.toml", *(f"{name}.gz" for name in FILES)]
    )
    for name in FILES:
        assert gzip.decompress(Path(f"packed/{name}.gz").read_bytes()) == Path(f"plain/{name}").read_bytes()


def test_the_configuration_repeats_the_run(folder):
    assert run("c.tsv", "s.fasta", "--metric", "edit", "--param", "indel=2", "--max-members", "2", "--seed", "3",
               "-o", "one two") == 0  # fmt: skip
    text = Path("one two/config.toml").read_text()
    config = tomllib.loads(text)
    assert (config["metric"], config["params"], config["max_members"]) == ("edit", {"indel": 2, "spelling": "dna"}, 2)
    assert config["data"]["sha256"] == hashlib.sha256(FASTA.encode()).hexdigest()
    words = shlex.split(text.splitlines()[0].removeprefix("# "))
    assert words[:2] == ["medianmap", "representatives"]
    assert run(*words[2:]) == 0
    for name in FILES:
        assert Path("DIR", name).read_bytes() == Path("one two", name).read_bytes()


def test_an_earlier_result_is_not_replaced_unasked(folder, capsys):
    args = ("c.tsv", "s.fasta", "--metric", "edit", "-o", "out")
    assert run(*args) == 0
    before = {path: path.read_bytes() for path in Path("out").iterdir()}
    capsys.readouterr()
    assert run(*args, "--seed", "5") == 2
    assert capsys.readouterr().err == (
        "medianmap: The folder out exists already and is not empty; choose another for -o, or pass --force to replace "
        "the files of an earlier run in it.\n"
    )
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == before
    assert run(*args, "--seed", "5", "--force") == 0
    assert tomllib.loads(Path("out/config.toml").read_text())["seed"] == 5
    assert run(*args, "--gzip", "--force") == 0
    assert sorted(os.listdir("out")) == sorted(["config.toml", *(f"{name}.gz" for name in FILES)])
    assert sorted(os.listdir()) == ["c.clstr", "c.tsv", "out", "s.fasta"]


def test_a_folder_that_cannot_be_made(folder, capsys):
    assert run("c.tsv", "s.fasta", "--metric", "edit", "-o", "s.fasta/deep/out") == 2
    assert capsys.readouterr().err == (
        "medianmap: s.fasta/deep/out cannot be written: Not a directory; choose another folder for -o.\n"
    )
    assert run("c.tsv", "s.fasta", "--metric", "no", "-o", "some/deep/out") == 2
    assert not Path("some").exists()


def test_files_and_summary(folder, capsys):
    assert run("c.tsv", "s.fasta", "--metric", "edit", "-o", "out/deep", "--threads", "2") == 0
    said = capsys.readouterr()
    assert sorted(entry.name for entry in Path("out/deep").iterdir()) == sorted(["config.toml", *FILES])
    assert "medianmap: 1 of 5 points in s.fasta is in no cluster and left out: 'three'.\n" == said.err
    assert said.out.startswith("2 clusters of 4 members: 0 have a medoid other than")
    assert rows("out/deep/representatives.tsv") == [
        {"cluster": "0", "old_representative": "one", "medoid": "one", "size": "3", "compared": "3",
         "mean_to_old": str(2 / 3), "mean_to_medoid": str(2 / 3), "outliers": "0"},
        {"cluster": "1", "old_representative": "five", "medoid": "five", "size": "1", "compared": "1",
         "mean_to_old": "0.0", "mean_to_medoid": "0.0", "outliers": "0"},
    ]  # fmt: skip
    assert [list(row.values()) for row in rows("out/deep/members.tsv")] == [
        ["one", "0", "0.0", "0.0", "0"],
        ["two", "0", "1.0", "1.0", "0"],
        ["four", "0", "1.0", "1.0", "0"],
        ["five", "1", "0.0", "0.0", "0"],
    ]
    curve = rows("out/deep/coverage.tsv")
    assert list(curve[0].values()) == ["0.0", "0.5", "0.5"]
    assert list(curve[-1].values()) == ["1.0", "1.0", "1.0"]
    text = Path("out/deep/representatives.fasta").read_text()
    assert text == ">one first of all\nACGT\n>five\n" + "ACGT" * 15 + "\n" + "ACGT" * 5 + "\n"


def test_cd_hit_compressed_and_a_tie_to_the_earlier_member(folder, capsys):
    Path("c.gz").write_bytes(gzip.compress(CLSTR.encode()))
    assert run("c.gz", "s.fasta", "--metric", "edit", "--param", "indel=0", "-o", "out") == 0
    table = rows("out/representatives.tsv")
    assert [row["cluster"] for row in table] == ["3", "5"]
    assert [row["medoid"] for row in table] == ["two", "five"]  # every dissimilarity is 0
    assert [row["old_representative"] for row in table] == ["one", "five"]
    assert rows("out/coverage.tsv") == [{"threshold": "0.0", "old": "1.0", "medoid": "1.0"}]


def test_without_a_metric_the_data_say_it_and_a_stored_matrix_gives_the_same(folder, capsys):
    records = read("s.fasta")
    all_pairs(records.objects, "edit", "D.npy", ids=records.ids)
    assert run("c.tsv", "s.fasta", "-o", "a") == 0
    assert "s.fasta are compared by 'edit'" in capsys.readouterr().err
    assert run("c.tsv", "D.npy", "-o", "b") == 0
    assert "compared by" not in capsys.readouterr().err
    assert run("c.tsv", "s.fasta", "-o", "again") == 0
    for name in FILES:
        if name != "representatives.fasta":
            assert Path("a", name).read_text() == Path("b", name).read_text()
        assert Path("a", name).read_text() == Path("again", name).read_text()
    assert not Path("b/representatives.fasta").exists()


def test_a_sample_is_told(folder, capsys):
    assert run("c.tsv", "s.fasta", "--metric", "edit", "--max-members", "2", "--seed", "4", "-o", "out") == 0
    assert "1 of 2 clusters have their medoid from a sample" in capsys.readouterr().err
    assert [row["compared"] for row in rows("out/representatives.tsv")] == ["2", "1"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("none.tsv", "s.fasta", "-o", "out"), "There is no file none.tsv"),
        (("c.tsv", "none.fasta", "-o", "out"), "There is no file none.fasta"),
        (("s.fasta", "c.tsv", "-o", "out"), "s.fasta looks like sequences, not clusters"),
        (("-", "-", "-o", "out"), "cannot both be standard input"),
        (("c.tsv", "s.fasta"), "Missing option"),
        (("c.tsv", "s.fasta", "-o", "c.tsv"), "c.tsv is a file"),
        (("c.tsv", "s.fasta", "-o", "out", "--metric", "edits"), "There is no metric 'edits'"),
        (("c.tsv", "s.fasta", "-o", "out", "--metric", "precomputed"), "s.fasta holds 5 strings and no .*dissim"),
        (("c.tsv", "D.npy", "-o", "out", "--metric", "precomputed"), "D.npy has no ids"),
        (("bad.tsv", "s.fasta", "-o", "out", "--metric", "edit"), "1 of 2 cluster members are not in the input: 'six'"),
        (("c.tsv", "s.fasta", "-o", "out", "--max-members", "1"), "1 is not in the range"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(folder, capsys, args, message):
    Path("bad.tsv").write_text("one\tone\none\tsix\n")
    np.save("D.npy", np.zeros((5, 5)))
    before = sorted(folder.rglob("*"))
    assert run(*args) == 2
    assert re.search(message, capsys.readouterr().err)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "where", ["medianmap.explore.representatives.medoid", "medianmap.explore.representatives.coverage"]
)
def test_an_interruption_leaves_nothing_new_and_says_so(folder, capsys, monkeypatch, where):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    assert run("c.tsv", "s.fasta", "--metric", "edit", "-o", "old") == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    monkeypatch.setattr(where, interrupted)
    for out in ("new", "old"):
        assert run("c.clstr", "s.fasta", "--metric", "edit", "--force", "-o", out) == 130
        assert "medianmap: stopped, and nothing was written" in capsys.readouterr().err
    assert not Path("new").exists()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_failure_while_writing_leaves_none_of_the_files(folder, capsys, monkeypatch):
    monkeypatch.setattr("medianmap.app.commands.representatives._fasta", lambda *args: iter(["\ud800"]))
    assert run("c.tsv", "s.fasta", "--metric", "edit", "-o", "out") == 2
    assert not Path("out").exists()


def test_gaps_do_not_end_a_line_of_the_fasta(folder, capsys):
    aligned = "AC-GT" * 30
    Path("gaps.fasta").write_text(f">one\n{aligned}\n")
    Path("one.tsv").write_text("one\tone\n")
    assert run("one.tsv", "gaps.fasta", "--metric", "edit", "-o", "out") == 0
    lines = Path("out/representatives.fasta").read_text().splitlines()
    assert [len(line) for line in lines] == [4, 60, 60, 30]
    assert read("out/representatives.fasta").objects == [aligned]


def test_the_rule_for_outliers_in_the_help_is_the_one_in_force(capsys):
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert f"clusters of {medianmap.explore.representatives.OUTLIER_LEAST} members" in text
    assert f"[default: {medianmap.explore.representatives.OUTLIER_MADS}" in text
