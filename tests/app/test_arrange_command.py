"""`medianmap arrange` as a user meets it."""

from pathlib import Path

import numpy as np
import pytest
from support.fits import write_words

from medianmap import as_dissimilarity, load
from medianmap.app.main import main
from medianmap.readers.clusters import read_ids
from medianmap.refine import arrange
from medianmap.sources import ALL


def run(capsys, *args):
    """Exit code, stdout and stderr of a command."""
    with pytest.raises(SystemExit) as stop:
        main([*args])
    return stop.value.code or 0, *capsys.readouterr()


@pytest.fixture
def words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_words()
    lines = Path("words.fasta").read_text().split("\n")
    return [line[1:].split()[0] for line in lines if line.startswith(">")], [s for s in lines if s and s[0] != ">"]


def test_chosen_exemplars_become_a_map_that_other_commands_take(words, capsys):
    ids, strings = words
    chosen = ids[::3][:6]
    Path("ids.txt").write_text("\n".join(chosen) + "\n\n")
    code, _, err = run(capsys, "arrange", "words.fasta", "--exemplars", "ids.txt", "--grid", "2x3", "--metric", "edit",
                       "-o", "map")  # fmt: skip
    assert code == 0, err
    som = load("map/model.mmap")
    assert sorted(som.prototype_ids_) == sorted(chosen)
    D = as_dissimilarity(strings, "edit").block(ALL, ALL)
    expected = arrange(D, [ids.index(name) for name in chosen], (2, 3))
    np.testing.assert_array_equal(som.medoid_indices_, expected.medoid_indices)
    assert {"report.html", "assignments.tsv", "exemplars.fasta"} <= {file.name for file in Path("map").iterdir()}
    before = som.medoid_indices_
    code, _, err = run(capsys, "arrange", "words.fasta", "--exemplars", "map/exemplars.fasta", "--grid", "2x3",
                       "--metric", "edit", "-o", "same")  # fmt: skip
    assert code == 0, err
    assert sorted(load("same/model.mmap").medoid_indices_) == sorted(before)
    code, out, err = run(capsys, "predict", "map/model.mmap", "words.fasta")
    assert code == 0, err
    assert len(out.strip().split("\n")) == len(ids) + 1
    config = Path("map/config.toml").read_text()
    assert all(f"# {name} is not set" in config for name in ("epochs", "sigma_end", "init"))  # nothing was trained
    code, _, err = run(capsys, "fit", "--config", "map/config.toml", "-o", "again")
    assert code == 0, err
    np.testing.assert_array_equal(load("again/model.mmap").medoid_indices_, som.medoid_indices_)


def test_clusters_of_another_program_give_their_representatives(words, capsys):
    ids, _ = words
    pairs = [(ids[k // 4 * 4], name) for k, name in enumerate(ids[:16])]
    Path("clu.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    Path("clu.clstr").write_text("".join(f">Cluster {k}\n0\t9aa, >{ids[4 * k]}... *\n" for k in range(4)))
    for name in ("clu.tsv", "clu.clstr"):
        code, _, err = run(capsys, "arrange", "words.fasta", "--exemplars", name, "--grid", "2x2", "--metric", "edit",
                           "--no-report", "--force", "-o", "map")  # fmt: skip
        assert code == 0, err
        assert sorted(load("map/model.mmap").prototype_ids_) == sorted(ids[:16:4])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("chosen.csv", 'id,why\n{0},big\n{1},"small, and odd"\n{2},\n{3},\n'),
        ("chosen.csv", "why;id\nbig;{0}\nsmall;{1}\nodd;{2}\nodd;{3}\n"),
        ("chosen.txt", "{0},x\n{1},y\n{2},z\n{3},x\n"),
        ("chosen.tsv", "neuron\tid\n0\t{0}\n1\t{1}\n2\t{2}\n3\t{3}\n"),
        ("chosen.txt", "id\n{0}\n{1}\n{2}\n{3}\n"),
    ],
)
def test_ids_in_any_table(words, capsys, name, text):
    ids, _ = words
    Path(name).write_text(text.format(*ids[:4]))
    code, _, err = run(capsys, "arrange", "words.fasta", "--exemplars", name, "--grid", "2x2", "--metric", "edit",
                       "--no-report", "-o", "map")  # fmt: skip
    assert code == 0, err
    assert sorted(load("map/model.mmap").prototype_ids_) == sorted(ids[:4])


def test_the_exemplars_of_a_map_of_a_matrix_are_laid_out(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(30, 2))
    np.save("D.npy", np.linalg.norm(X[:, None] - X[None], axis=2))
    assert run(capsys, "fit", "D.npy", "--map", "kmeans", "-k", "4", "--no-report", "-o", "four")[0] == 0
    code, _, err = run(capsys, "arrange", "D.npy", "--exemplars", "four/exemplars.tsv", "--grid", "2x2", "-o", "map")
    assert code == 0, err
    assert set(load("map/model.mmap").medoid_indices_) == set(load("four/model.mmap").medoid_indices_)


def test_an_id_may_hold_a_comma(tmp_path):
    (tmp_path / "ids.txt").write_text("1,2-diol\n1,3-diol\n")
    assert read_ids(tmp_path / "ids.txt", ["1,2-diol", "1,3-diol", "ene"]) == ["1,2-diol", "1,3-diol"]
    assert read_ids(tmp_path / "ids.txt") == ["1"]


def test_points_of_a_matrix_without_ids_go_by_their_numbers(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    X = rng.normal(size=(30, 2))
    np.save("D.npy", np.linalg.norm(X[:, None] - X[None], axis=2))
    Path("ids").write_text("4\n17\n9\n22\n")
    code, _, err = run(capsys, "arrange", "D.npy", "--exemplars", "ids", "--grid", "1x4", "-o", "map")
    assert code == 0, err
    assert sorted(load("map/model.mmap").medoid_indices_) == [4, 9, 17, 22]


@pytest.mark.parametrize(
    ("lines", "options", "facts"),
    [
        ("a\nb\nc", [], ["3 exemplars", "4 neurons", "1x3"]),
        ("", [], ["ids.txt", "empty"]),
        ("a\nb\nc\nnobody", [], ["'nobody'", "1 of 4"]),
        (None, [], ["ids.txt"]),
    ],
)
def test_mistakes_are_one_sentence(words, capsys, lines, options, facts):
    ids, _ = words
    if lines is not None:
        for letter, name in zip("abc", ids, strict=False):
            lines = "\n".join(name if line == letter else line for line in lines.split("\n"))
        Path("ids.txt").write_text(lines)
    code, _, err = run(
        capsys, "arrange", "words.fasta", "--exemplars", "ids.txt", "--grid", "2x2", *options, "-o", "map"
    )
    assert code == 2
    assert all(fact in err for fact in facts), err
    assert len(err.strip().split("\n")) == 1
    assert not Path("map").exists()


def test_settings_that_do_not_go_with_exemplars(words, capsys):
    Path("ids.txt").write_text("\n".join(words[0][:4]))
    for options, fact in ((["--map", "gas", "-k", "4"], "--map som"), (["--grid", "2x2", "--patch", "9"], "--patch")):
        code, _, err = run(capsys, "fit", "words.fasta", "--exemplars", "ids.txt", *options, "-o", "map")
        assert code == 2
        assert "--exemplars" in err
        assert fact in err
    code, _, err = run(capsys, "arrange", "-", "--exemplars", "-", "--grid", "2x2", "-o", "map")
    assert code == 2
    assert "standard input" in err
