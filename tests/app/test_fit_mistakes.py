"""What a user can get wrong with `medianmap fit`: one sentence, exit code 2, and nothing left behind."""

import io
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.fits import fit, run, write_words


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with words.fasta in it."""
    monkeypatch.chdir(tmp_path)
    write_words()
    return tmp_path


BAD = {
    "wrong path": (["no.fasta"], "There is no file no.fasta; check the path."),
    "a folder": (["."], "is a folder"),
    "empty file": (["empty.fasta"], "empty.fasta is empty"),
    "duplicated id": (["twice.fasta"], "records 1 and 3 have the same id 'a'"),
    "unknown metric": (["words.fasta", "--metric", "edt"], "no metric 'edt'. Did you mean 'edit'"),
    "name from a book": (["words.fasta", "--metric", "Levenstein"], "no metric 'Levenstein'. Did you mean 'edit'"),
    "unknown parameter": (["words.fasta", "--metric", "edit", "--param", "x=1"], "its parameters are"),
    "K above N": (["words.fasta", "--map", "gas", "-k", "37"], "-k 37 exceeds the 36 points of words.fasta"),
    "grid above N": (["words.fasta", "--grid", "6x7"], "--grid 6x7 has 42 neurons, which exceeds the 36 points"),
    "patch below K": (["words.fasta", "--grid", "3x3", "--patch", "8"], "--patch 8 is less than the 9 neurons"),
    "grid with gas": (["words.fasta", "--map", "gas", "--grid", "2x2"], "--grid goes with --map som"),
    "k with som": (["words.fasta", "-k", "4"], "-k goes with --map gas and kmeans"),
    "both": (["words.fasta", "-k", "4", "--grid", "2x2"], "Both --grid and -k"),
    "no grid": (["words.fasta", "--grid", "22"], "not ROWSxCOLUMNS"),
    "sigma of kmeans": (["words.fasta", "--map", "kmeans", "--sigma-end", "1"], "--sigma-end has no meaning"),
    "neighbourhood of kmeans": (
        ["words.fasta", "--map", "kmeans", "--neighborhood", "gaussian"],
        "--neighborhood has no meaning for --map kmeans",
    ),
    "grid of four numbers": (["words.fasta", "--grid", "1x2x3x4"], "or LAYERSxROWSxCOLUMNS"),
    "lattice of a gas": (["words.fasta", "--map", "gas", "--lattice", "rectangular"], "--lattice goes with --map som"),
    "no lattice file": (["words.fasta", "--lattice", "square"], "there is no such file; .*hexagonal or rectangular"),
    "lattice and grid": (
        ["words.fasta", "--lattice", "D.npy", "--grid", "2x2"],
        "how many neurons there are; drop --g",
    ),
    "lattice above N": (["words.fasta", "--lattice", "far.tsv"], "--lattice far.tsv has 40 neurons, which exceeds the"),
    "lattice of no distances": (
        ["words.fasta", "--lattice", "near.tsv"],
        r"--lattice near.tsv: lattice\[0, 1\] is 0; it",
    ),
    "order of a gas": (["words.fasta", "--map", "gas", "--order", "0.1"], "--order goes with --map som"),
    "order above 1": (["words.fasta", "--order", "2"], r"--order is 2.0; .*\[0, 1\]"),
    "negative sigma": (["words.fasta", "--sigma-start", "-1"], "--sigma-start is -1.0"),
    "beta without labels": (["words.fasta", "--beta", "0.5"], "give --labels, or drop --beta"),
    "beta above 1": (["words.fasta", "--beta", "2", "--labels", "header"], r"beta is 2.0; .*\(0, 1\]"),
    "temperature of a gas": (
        ["words.fasta", "--map", "gas", "--temperature", "2"],
        "--temperature anneals --map kmeans and som",
    ),
    "no temperature": (["words.fasta", "--map", "kmeans", "--temperature", "hot"], "'hot' is neither a number"),
    "stability of patches": (
        ["words.fasta", "--stability", "5", "--patch", "20"],
        "--stability fits maps of all pairs",
    ),
    "stability with beta": (
        ["words.fasta", "--stability", "5", "--beta", "0.5", "--labels", "header"],
        "without --beta; drop one",
    ),
    "stability of one": (["words.fasta", "--stability", "1"], "1 is not in the range x>=2"),
    "stability of most": (
        ["words.fasta", "--stability", "5", "--grid", "4x5"],
        "20 neurons are too many .* at most 18",
    ),
    "beta a word": (["words.fasta", "--beta", "half", "--labels", "header"], "'half' is neither a number nor 'auto'"),
    "threads": (["words.fasta", "--threads", "0"], "0 is no number of threads"),
    "no labels file": (["words.fasta", "--labels", "no.tsv"], "There is no labels file no.tsv"),
    "no such column": (["words.fasta", "--labels", "colour"], "sequences have no columns"),
    "no such word": (["words.fasta", "--labels", "header:9"], "no header in words.fasta has it"),
    "no such key": (["words.fasta", "--labels", "header:kind"], "no header in words.fasta has it"),
    "unknown ids": (
        ["words.fasta", "--labels", "unknown.tsv", "--strict"],
        "35 of the 36 points of words.fasta are not in it: 'w1'.*--strict",
    ),
    "no such column of a file": (["words.fasta", "--labels", "named.tsv:kind"], "no column 'kind'; choose one of"),
    "no known id": (["words.fasta", "--labels", "none.tsv"], "none of its 1 ids is in words.fasta"),
    "a label twice": (["words.fasta", "--labels", "again.tsv"], "line 2 names 'w0' a second time"),
    "labels of no point": (["words.fasta", "--labels", "na.tsv", "--beta", "0.5"], "no point has a label"),
    "metric of vectors": (["words.fasta", "--metric", "cosine"], "holds strings, but --metric cosine compares"),
    "metric of a matrix": (["D.npy", "--metric", "edit"], "D.npy holds dissimilarities already"),
    "no matrix": (["words.fasta", "--metric", "precomputed"], "no square matrix of dissimilarities"),
    "NaN": (["nan.npy"], r"1 entry is NaN \(first D\[1, 2\]\)"),
    "negative": (["negative.npy"], r"1 entry is negative \(first D\[1, 2\]\)"),
    "not square": (["long.npy", "--metric", "precomputed"], r"4 vectors of shape \(4, 3\) and no square matrix"),
    "not square, though said": (["long.npy", "--read", "kind=matrix"], "4 rows and 3 columns"),
    "reading": (["words.fasta", "--read", "colour=red"], "there is no 'colour'; choose from format"),
    "no file at all": ([], "Missing argument INPUT"),
    "no configuration": (["--config", "no.toml"], "There is no configuration no.toml"),
    "config key": (["--config", "key.toml"], "key.toml: there is no setting 'colour'; the settings are input, map"),
    "config type": (["--config", "type.toml"], "type.toml: k is '3'; it must be a whole number"),
    "config flag": (["--config", "flag.toml"], "flag.toml: seed is True; it must be a whole number"),
    "config syntax": (["--config", "syntax.toml"], "syntax.toml is not TOML"),
    "config map": (["words.fasta", "--config", "map.toml"], "--map is 'tree'; choose one of 'som', 'gas', 'kmeans'"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_one_sentence_and_leaves_nothing(case, here, capsys):
    for name, text in {
        "empty.fasta": "", "twice.fasta": ">a\nACD\n>b\nACE\n>a\nAAA\n", "unknown.tsv": "zz\tx\nw0\ty\n",
        "none.tsv": "zz\tx\n", "again.tsv": "w0\tx\nw0\ty\n", "named.tsv": "id\tx\nw0\ty\n",
        "na.tsv": "w0\tNA\n", "key.toml": "colour = 1\n",
        "type.toml": "k = '3'\n", "flag.toml": "seed = true\n", "syntax.toml": "k =\n", "map.toml": "map = 'tree'\n",
    }.items():  # fmt: skip
        Path(name).write_text(text)
    D = np.ones((40, 40)) - np.eye(40)
    for name, each in (("far", D), ("near", 0 * D)):
        np.savetxt(f"{name}.tsv", each, fmt="%g", delimiter="\t")
    D = np.ones((4, 4)) - np.eye(4)
    for name, value in (("D", 1), ("nan", np.nan), ("negative", -1)):
        D[1, 2] = value
        np.save(f"{name}.npy", D)
    np.save("long.npy", np.ones((4, 3)))
    before = sorted(os.listdir())
    args, message = BAD[case]
    assert run("fit", *args, "-o", "map") == 2
    said = capsys.readouterr()
    assert re.search(message, said.err)
    assert said.out == ""
    assert sum(line.startswith(("medianmap: ", "Error: ")) for line in said.err.splitlines()) <= 2
    assert sorted(os.listdir()) == before


def test_an_empty_standard_input(here, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(b""))))
    assert run("fit", "-", "-o", "map") == 2
    assert capsys.readouterr().err == "medianmap: standard input is empty; check that this is the right file.\n"


def test_a_place_that_cannot_be_written(here, capsys, monkeypatch):
    assert fit("-o", "words.fasta") == 2
    assert "words.fasta is a file; give -o the name of a folder" in capsys.readouterr().err
    assert fit("-o", "words.fasta/deeper") == 2
    assert "cannot be written: Not a directory" in capsys.readouterr().err

    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("medianmap.app.output.mkdtemp", refused)  # root may write everywhere
    assert fit("-o", "new/map") == 2
    assert capsys.readouterr().err == (
        "medianmap: new/map cannot be written: Permission denied; choose another folder for -o.\n"
    )
    assert os.listdir() == ["words.fasta"]
