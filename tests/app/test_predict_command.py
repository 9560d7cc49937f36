"""`medianmap predict` and `medianmap report` as a user meets them."""

import gzip
import io
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.extras import optional
from support.fits import IDS, KIND, WORDS, fit, rows, run, write_words

from medianmap import BatchKMeans, MedianKMeans, PatchClusterer, load, save
from medianmap.metrics import bind
from medianmap.readers import write_lsmat

NEW = ["ACDDCA", "EFGEFGE", "HIKKIH", "ACEGHK", WORDS[7]]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with words.fasta, new.fasta, and nothing else."""
    monkeypatch.chdir(tmp_path)
    write_words()
    Path("new.fasta").write_text("".join(f">n{k}\n{word}\n" for k, word in enumerate(NEW)))
    return tmp_path


@pytest.fixture
def classifier(here):
    assert fit("--map", "gas", "-k", "5", "--labels", "header", "--beta", "0.5", "-q", "-o", "map") == 0
    return load("map/model.mmap")


def test_a_table_on_standard_output(classifier, capsys):
    assert run("predict", "map/model.mmap", "new.fasta") == 0
    header, *lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert header == [
        "id", "neuron", "dissimilarity", "second", "second_dissimilarity", "exemplar", "border", "novelty",
        "new", "class", "probability",
    ]  # fmt: skip
    edit = bind("edit")
    for k, (word, line) in enumerate(zip(NEW, lines, strict=True)):
        d = edit.between([word], list(classifier.estimator_.cluster_centers_))[0]
        order = np.argsort(d, kind="stable")
        far, near = d[order[2]] - d[order[1]], d[order[2]] - d[order[0]]  # between two prototypes: shares of both
        t = far / (far + near) if far > 0 else 0.5 * (near == 0)
        shares = (1 - t) * classifier.prototype_labels_[order[0]] + t * classifier.prototype_labels_[order[1]]
        assert line[:2] == [f"n{k}", str(order[0])]
        assert float(line[2]) == d[order[0]]
        assert line[3] == str(order[1])
        assert float(line[4]) == d[order[1]]
        assert line[5] == classifier.estimator_.prototype_ids_[order[0]]
        usual = classifier.estimator_.usual_  # of 5 prototypes each is a group of its own
        assert line[6] == str(int(d[order[0]] / d[order[1]] >= usual["border"]))
        assert line[8] == str(int(float(line[7]) > usual["novelty"]))
        assert line[9] == classifier.classes_[shares.argmax()]
        assert float(line[10]) == pytest.approx(shares.max(), rel=1e-14)
        assert float(line[10]) == classifier.predict_proba([word]).max()


def test_objects_are_read_as_those_of_training_were(here, capsys):
    table = "name;note;word\n" + "".join(f"{i};7;{word}\n" for i, word in zip(IDS, WORDS, strict=True))
    Path("words.csv").write_text(table)
    chosen = ("--read", "id=name", "--read", "string=word")
    assert run("fit", "words.csv", "--metric", "edit", "--map", "kmeans", "-k", "3", *chosen, "-q", "-o", "map") == 0
    assert run("predict", "map/model.mmap", "words.csv", *chosen) == 0
    told = capsys.readouterr().out
    assert run("predict", "map/model.mmap", "words.csv") == 0
    assert capsys.readouterr().out == told
    assert run("predict", "map/model.mmap", "words.csv", "--read", "id=word") == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{WORDS[0]}\t")


def test_other_files_than_those_of_training(here, capsys):
    table = "name,word,kind\n" + "".join(f"{i},{w},{w[0]}\n" for i, w in zip(IDS, WORDS, strict=True))
    Path("words.csv").write_text(table)
    chosen = ("--read", "id=name", "--read", "string=word", "--read", "label=kind")
    assert run("fit", "words.csv", "--metric", "edit", "--map", "kmeans", "-k", "3", *chosen, "-q", "-o", "map") == 0
    Path("unlabelled.csv").write_text("".join(line.rpartition(",")[0] + "\n" for line in table.splitlines()))
    for verb in ("predict", "report"):
        for file in ("unlabelled.csv", "new.fasta"):
            out = f"{verb}-{file}.{'html' if verb == 'report' else 'tsv'}"
            assert run(verb, "map/model.mmap", file, "-o", out) == 0, capsys.readouterr().err
    assert [row["id"] for row in rows("predict-unlabelled.csv.tsv")] == IDS


def test_a_configuration_of_somebody_else_is_left_alone(here, capsys):
    assert fit("--map", "kmeans", "-k", "3", "-q", "-o", "map") == 0
    ours = '[versions]\nmedianmap = "0.2.0"\n'
    for text in ('baseURL = "https://example.org"', "not toml at all [", "versions = 3", "input = 3\n" + ours,
                 'read = "oops"\n' + ours, 'clusters = "c.tsv"\ninput = "s.fasta"\n' + ours):  # fmt: skip
        Path("map/config.toml").write_text(text)
        assert run("predict", "map/model.mmap", "new.fasta") == 0
        assert run("report", "map/model.mmap") == 2
        assert "Missing argument INPUT" in capsys.readouterr().err


def test_data_that_have_moved(here, capsys, monkeypatch):
    optional("matplotlib")
    assert fit("--map", "kmeans", "-k", "3", "-q", "-o", "map") == 0
    Path("below").mkdir()
    monkeypatch.chdir("below")
    assert run("report", "../map/model.mmap", "-q", "-o", "r.html") == 0  # config.toml says where they are from itself
    Path("../words.fasta").rename("words.fasta")
    said = "map/config.toml names the data ../words.fasta, which are not there; put them there, or give INPUT."
    for args in (("report", "../map/model.mmap"), ("plot", "../map/model.mmap", "-o", "p.svg"),
                 ("fit", "--config", "../map/config.toml", "-o", "new")):  # fmt: skip
        assert run(*args) == 2
        assert said in capsys.readouterr().err


def test_files_packed_and_plain_and_standard_input(classifier, monkeypatch, capsys):
    assert run("predict", "map/model.mmap", "new.fasta") == 0
    printed = capsys.readouterr().out
    assert run("predict", "map/model.mmap", "new.fasta", "-o", "a.tsv", "--threads", "2") == 0
    assert run("predict", "map/model.mmap", "new.fasta", "-o", "a.tsv.gz") == 0
    assert Path("a.tsv").read_text() == gzip.decompress(Path("a.tsv.gz").read_bytes()).decode() == printed
    content = Path("new.fasta").read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(content))))
    capsys.readouterr()
    assert run("predict", "map/model.mmap", "-") == 0
    assert capsys.readouterr().out == printed


def test_training_data_lie_where_the_fit_put_them(classifier):
    assert run("predict", "map/model.mmap", "words.fasta", "-o", "p.tsv") == 0
    fitted, predicted = rows("map/assignments.tsv"), rows("p.tsv")
    assert predicted == [{name: row[name] for name in predicted[0]} for row in fitted]
    assert list(fitted[0]) == [*predicted[0], "ratio", "border_score", "outlier_score", "outlier", "label"]


def test_dissimilarities_to_all_points_to_prototypes_or_by_name(here, capsys):
    edit = bind("edit")
    write_lsmat("D.lsmat", edit.between(WORDS, WORDS), IDS)
    assert run("fit", "D.lsmat", "--map", "kmeans", "-k", "4", "--no-report", "-q", "-o", "map") == 0
    model = load("map/model.mmap")
    to_all = edit.between(NEW, WORDS)
    expected = to_all[:, model.medoid_indices_]
    np.save("all.npy", to_all)
    np.save("prototypes.npy", expected)
    shuffled = list(reversed(model.prototype_ids_))
    lines = [f"n{k}," + ",".join(map(repr, row)) for k, row in enumerate(expected[:, ::-1].tolist())]
    Path("named.csv").write_text("id," + ",".join(shuffled) + "\n" + "\n".join(lines) + "\n")
    for name in ("all.npy", "prototypes.npy", "named.csv"):
        assert run("predict", "map/model.mmap", name, "-o", "p.tsv") == 0
        table = rows("p.tsv")
        assert [int(row["neuron"]) for row in table] == expected.argmin(axis=1).tolist()
        assert [float(row["dissimilarity"]) for row in table] == expected.min(axis=1).tolist()
    assert table[1]["id"] == "n1"
    np.save("odd.npy", to_all[:, :7])
    assert run("predict", "map/model.mmap", "odd.npy") == 2
    said = capsys.readouterr().err
    assert "7 columns" in said
    assert "36 training points" in said
    assert run("predict", "map/model.mmap", "D.lsmat", "-o", "p.tsv") == 0
    assert [row["neuron"] for row in rows("p.tsv")] == [row["neuron"] for row in rows("map/assignments.tsv")]


def test_models_of_means_of_patches_and_of_one_prototype(here, rng, capsys):
    X = rng.normal(size=(30, 2))
    np.savetxt("x.csv", X, delimiter=",")
    save(BatchKMeans(3, random_state=0).fit(X), "means.mmap")
    save(PatchClusterer(MedianKMeans(3, random_state=0), 10).fit(X), "patches.mmap")
    save(MedianKMeans(1).fit(X), "one.mmap")
    for name in ("means", "patches", "one"):
        assert run("predict", f"{name}.mmap", "x.csv", "-o", "p.tsv") == 0
        assert [int(row["neuron"]) for row in rows("p.tsv")] == load(f"{name}.mmap").predict(X).tolist()
    assert rows("p.tsv")[0]["second"] == ""
    # Columns that had names in training need none here.
    Path("named.csv").write_text("id,a,b\n" + "".join(f"p{k},{x!r},{y!r}\n" for k, (x, y) in enumerate(X.tolist())))
    assert run("fit", "named.csv", "--map", "kmeans", "-k", "3", "--no-report", "-q", "-o", "map") == 0
    capsys.readouterr()
    assert run("predict", "map/model.mmap", "x.csv") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["predict", "map/model.mmap", "no.fasta"], "There is no file no.fasta"),
        (["predict", "no.mmap", "new.fasta"], "There is no file no.mmap"),
        (["predict", "new.fasta", "new.fasta"], "not a medianmap model"),
        (["predict", "map/model.mmap", "new.fasta", "-o", "p.csv"], "must end in .tsv"),
        (["predict", "map/model.mmap", "new.fasta", "-o", "no/p.tsv"], "There is no folder .*no"),
        (["predict", "map/model.mmap", "x.npy"], "compares strings"),
        (["predict", "map/model.mmap", "new.fasta", "--threads", "0"], "0 is no number of threads"),
        (["predict", "map/model.mmap", "new.fasta", "--read", "colour=red"], "there is no 'colour'"),
        (["report", "map/model.mmap", "no.fasta"], "There is no file no.fasta"),
        (["report", "map/model.mmap", "-o", "no/r.html"], "There is no folder no"),
        (["report", "map/model.mmap", "--labels", "no.tsv"], "There is no labels file no.tsv"),
        (["report", "alone.mmap"], "Missing argument INPUT: there is no config.toml that names a file"),
        (["report", "map/model.mmap", "D.npy"], "the model was fitted on objects that a metric compares"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(classifier, args, message, capsys):
    np.save("x.npy", np.ones((3, 4)))
    np.save("D.npy", np.zeros((3, 3)))
    save(classifier, "alone.mmap")
    before = sorted(os.listdir())
    capsys.readouterr()
    assert run(*args) == 2
    said = capsys.readouterr()
    assert re.search(message, said.err)
    assert said.out == ""
    assert sorted(os.listdir()) == before


def test_ctrl_c_leaves_nothing_half_written(classifier, capsys, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("medianmap.predict.assign_all.two_nearest", interrupted)
    assert run("predict", "map/model.mmap", "new.fasta") == 130
    said = capsys.readouterr()
    assert said.out == ""
    assert re.fullmatch(r"medianmap: stopped, .*-o FILE.*\n", said.err)
    assert sorted(os.listdir()) == ["map", "new.fasta", "words.fasta"]


def test_the_page_is_made_anew(classifier, capsys):
    assert run("report", "map/model.mmap", "-o", "again.html") == 0
    page = Path("again.html").read_text()
    assert "words.fasta" in page
    assert all(kind in page for kind in KIND)
    Path("labels.tsv").write_text("w0\tviolet\nw20\tindigo\n")
    assert run("report", "map/model.mmap", "words.fasta", "--labels", "labels.tsv", "--title", "My <map>", "-q") == 0
    page = Path("report.html").read_text()
    assert "violet" in page
    assert "My &lt;map&gt;" in page
    assert "My <map>" not in page
