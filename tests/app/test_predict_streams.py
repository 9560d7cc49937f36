"""`medianmap predict` of files of any length: streams, tables that survive being killed, Parquet."""

import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.assigned import NAMES, WORDS, check, folder
from support.extras import optional
from support.maps import blob_distances, blobs

from medianmap import BatchKMeans, MedianKMeans, PatchClusterer, PrototypeClassifier, save
from medianmap.app.inputs import length_of
from medianmap.app.main import main
from medianmap.app.output import pace


def run(*args):
    with pytest.raises(SystemExit) as stopped:
        main(["predict", *args])
    return stopped.value.code


@pytest.fixture
def words(tmp_path, monkeypatch):
    """A model of words in an otherwise empty folder."""
    monkeypatch.chdir(tmp_path)
    model = PatchClusterer(MedianKMeans(3, metric="edit", random_state=0), 40).fit(WORDS)
    save(model, "model.mmap")
    return model


def test_a_stream_of_sequences(words, capsys):
    Path("words.fasta").write_text("".join(f">{n} word\n{w}\n" for n, w in zip(NAMES, WORDS, strict=True)))
    assert run("model.mmap", "words.fasta", "-o", "out.tsv", "--threads", "2", "--block", "16") == 0
    said = capsys.readouterr().out
    assert re.search(r"Wrote out.tsv: 70 points on 3 neurons, quantization error [\d.]+; \d+ points per second", said)
    check(Path("out.tsv"), NAMES, words.transform(WORDS))
    assert folder(Path()) == ["model.mmap", "out.tsv", "words.fasta"]


def test_tables_of_strings_and_vectors(words, rng):
    Path("words.tsv").write_text("id\tstring\n" + "".join(f"{n}\t{w}\n" for n, w in zip(NAMES, WORDS, strict=True)))
    assert run("model.mmap", "words.tsv", "-o", "out.tsv") == 0
    check(Path("out.tsv"), NAMES, words.transform(WORDS))
    X = blobs(rng, n=40)
    model = PrototypeClassifier(BatchKMeans(4, random_state=0)).fit(X, ["a", "b"] * 20)
    save(model, "vectors.mmap")
    Path("x.csv").write_text("a,b,c\n" + "".join(",".join(map(repr, row)) + "\n" for row in X.tolist()))
    np.save("x.npy", X)
    for name in ("x.csv", "x.npy"):
        assert run("vectors.mmap", name, "-o", "out.tsv") == 0
        check(Path("out.tsv"), range(40), model.estimator_.transform(X))


@pytest.mark.parametrize("name", ["D.npy", "D.phy"])
def test_dissimilarities(name, tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    D = np.round(blob_distances(rng, n=30), 3)
    model = MedianKMeans(3, metric="precomputed", random_state=0).fit(D)
    save(model, "model.mmap")
    if name == "D.npy":
        np.save(name, D)
    else:
        lines = [f"p{k:<9}" + " ".join(map(repr, row)) for k, row in enumerate(D.tolist())]
        Path(name).write_text("\n".join(["30", *lines]) + "\n")
    assert run("model.mmap", name, "-o", "out.tsv") == 0
    check(Path("out.tsv"), range(30) if name == "D.npy" else [f"p{k}" for k in range(30)], model.transform(D))


def test_parquet(words):
    optional("pyarrow")
    from pyarrow import parquet

    Path("words.txt").write_text("\n".join(WORDS) + "\n")
    assert run("model.mmap", "words.txt", "-o", "out.parquet") == 0
    assert parquet.read_table("out.parquet")["neuron"].to_pylist() == words.predict(WORDS).tolist()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("model.mmap", "words.txt", "-o", "out.csv"), "must end in .tsv"),
        (("model.mmap", "no.txt", "-o", "out.tsv"), "There is no file no.txt"),
        (("no.mmap", "words.txt", "-o", "out.tsv"), "There is no file no.mmap"),
        (("words.txt", "words.txt", "-o", "out.tsv"), "not a medianmap model"),
        (("model.mmap", "words.txt", "-o", "no/out.tsv"), "There is no folder"),
        (("model.mmap", "words.txt", "-o", "out.tsv", "--threads", "0"), "0 is no number of threads"),
        (("model.mmap", "words.txt", "-o", "out.tsv", "--block", "0"), "--block"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(words, capsys, args, message):
    Path("words.txt").write_text("\n".join(WORDS) + "\n")
    assert run(*args) == 2
    assert re.search(message, capsys.readouterr().err)
    assert folder(Path()) == ["model.mmap", "words.txt"]


def test_ctrl_c_says_how_to_go_on_and_the_next_run_does(words, capsys, monkeypatch):
    Path("words.txt").write_text("\n".join(WORDS) + "\n")
    from medianmap.predict import assign_all as module

    lines = module.Answers.lines

    def interrupted(self, block, nearest):
        if block.start == 40:
            raise KeyboardInterrupt
        return lines(self, block, nearest)

    with monkeypatch.context() as patch:
        patch.setattr(module.Answers, "lines", interrupted)
        assert run("model.mmap", "words.txt", "-o", "out.tsv", "--block", "10") == 130
    assert "40 points of out.tsv are kept" in capsys.readouterr().err
    assert run("model.mmap", "words.txt", "-o", "out.tsv") == 0
    assert "70 points, 40 of them by an earlier run" in capsys.readouterr().out
    check(Path("out.tsv"), range(70), words.transform(WORDS))


def test_how_long_a_file_is(put):
    assert length_of(put("a.fasta", ">x\nAC\nGT\n>y\nA\n"), "fasta", {}) == 2
    assert length_of(put("a.fastq", "@x\nAC\n+\nII\n@y\nA\n+\nI\n"), "fastq", {}) == 2
    assert length_of(put("a.txt", "one\ntwo\nthree\n"), "table", {}) == 3


def test_standard_input(words, monkeypatch):
    content = "".join(f">{n}\n{w}\n" for n, w in zip(NAMES, WORDS, strict=True)).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert run("model.mmap", "-", "-o", "out.tsv") == 0
    check(Path("out.tsv"), NAMES, words.transform(WORDS))


def test_a_pace_in_words():
    assert pace(100.0, 1000, 13000) == "100 points/s, 2 min 0 s left"
    assert pace(100.0, 1000, 1500) == "100 points/s, 5 s left"
    assert pace(100.0, 1000, None) == "100 points/s"
    assert pace(0.0, 0, 5) == ""
