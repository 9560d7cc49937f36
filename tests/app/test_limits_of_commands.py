"""The command line's options on size, time and spreadsheets: --max-length, --max-objects, --yes, --spreadsheet."""

import re
import tomllib
from pathlib import Path

import pytest
from support.fits import fit, rows, run, write_words

from medianmap.app import estimates
from medianmap.app.estimates import told


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with words.fasta in it."""
    monkeypatch.chdir(tmp_path)
    write_words()
    return tmp_path


def test_a_limit_is_an_option_that_the_configuration_keeps(here, capsys):
    long = "A" * 10_000_001
    Path("long.fasta").write_text(f"{Path('words.fasta').read_text()}>long acd\n{long}\n")
    for verb in (["check"], ["distances", "-o", "D.npy"], ["fit", "-o", "map"], ["path", "-k", "2"]):
        assert run(verb[0], "long.fasta", *verb[1:]) == 2
        said = capsys.readouterr().err
        assert "long.fasta: record 'long acd' has more than 10000000 letters" in said
        assert "pass --max-length 100000000." in said
    assert sorted(path.name for path in here.iterdir()) == ["long.fasta", "words.fasta"]
    assert fit("--grid", "2x2", "--max-objects", "10", "-o", "map") == 2
    assert "words.fasta holds more than 10 objects" in capsys.readouterr().err
    assert fit("--grid", "2x2", "--max-objects", "36", "--max-length", "70", "-o", "map") == 0
    read = tomllib.loads(Path("map/config.toml").read_text())["read"]
    assert read == {"max_objects": 36, "max_length": 70}
    assert run("predict", "map/model.mmap", "words.fasta", "-o", "new.tsv") == 0
    assert run("predict", "map/model.mmap", "words.fasta", "--max-length", "5", "-o", "newer.tsv") == 2
    assert "more than 5 bytes" in capsys.readouterr().err


def test_a_store_stays_a_store_whatever_the_limits(here, capsys):
    assert run("distances", "words.fasta", "--metric", "edit", "-o", "D.npy") == 0
    capsys.readouterr()
    assert run("fit", "D.npy", "--grid", "2x2", "--max-length", "70", "-o", "map") == 0
    assert rows("map/assignments.tsv")[5]["id"] == "w5"  # ids are beside the matrix


def test_hours_of_comparisons_are_begun_when_that_is_meant(here, capsys, monkeypatch):
    monkeypatch.setattr(estimates, "FREE_CELLS", 100.0)
    monkeypatch.setattr(estimates, "measured_rate", lambda *given: 0.5)
    # 36 words of 6 to 11 letters: some 4e4 cells, a day at one in two seconds.
    verbs = ["distances", "-o", "D.npy"], ["check"], ["fit", "--grid", "2x2", "-o", "map"], ["path", "-k", "2"]
    for verb in verbs:
        assert run(verb[0], "words.fasta", "--metric", "edit", "--threads", "1", *verb[1:]) == 2
        said = capsys.readouterr().err
        assert re.search(
            r"comparing its 36 objects by edit means filling 10\^4\.\d cells, about \d+ hours on this", said
        )
        assert "--yes" in said
    assert sorted(path.name for path in here.iterdir()) == ["words.fasta"]
    assert run("distances", "words.fasta", "--metric", "edit", "-o", "D.npy", "--yes") == 0
    assert run("distances", "words.fasta", "--metric", "kmer", "-o", "E.npy") == 0  # takes no such table


def test_hours_of_placing_are_begun_when_that_is_meant(here, capsys, monkeypatch):
    assert fit("--grid", "2x2", "-o", "map") == 0
    assert fit("--map", "kmeans", "-k", 3, "-o", "other") == 0
    assert run("representatives", write_clusters(), "words.fasta", "--metric", "edit", "-o", "medoids") == 0
    before = sorted(here.rglob("*"))
    monkeypatch.setattr(estimates, "FREE_CELLS", 100.0)
    monkeypatch.setattr(estimates, "measured_rate", lambda *given: 0.01)
    capsys.readouterr()
    asked = {
        ("predict", "map/model.mmap", "words.fasta", "-o", "new.tsv"): "36 objects with 4 of the model by edit",
        ("predict", "map/model.mmap", "words.fasta"): "36 objects with 4 of the model by edit",
        ("report", "map/model.mmap", "-o", "page.html"): "36 objects with 4 of the model by edit",
        ("plot", "map", "--what", "quality", "-o", "quality.svg"): "36 objects with 4 of the model by edit",
        ("compare", "map", "other", "-o", "compared.html"): "36 objects with 4 of the model by edit",
        ("representatives", "clusters.tsv", "words.fasta", "--metric", "edit", "-o", "again"): "36 objects by edit",
        ("arrange", "words.fasta", "--exemplars", "clusters.tsv", "--grid", "1x3", "--metric", "edit", "-o", "laid"):
            "36 objects by edit",
    }  # fmt: skip
    for command, said in asked.items():
        assert run(*command, "--threads", "1") == 2
        err = capsys.readouterr().err
        assert said in err
        assert "pass --yes to begin" in err
    assert sorted(here.rglob("*")) == before
    for command in asked:
        assert run(*command, "--yes") == 0
    assert run("plot", "map", "--what", "hits", "-o", "hits.svg") == 0  # compares nothing


def write_clusters():
    Path("clusters.tsv").write_text("".join(f"w{k - k % 12}\tw{k}\n" for k in range(36)))
    return "clusters.tsv"


def test_a_stream_is_estimated_by_its_beginning_and_its_length(here, capsys, monkeypatch):
    assert fit("--grid", "2x2", "-o", "map") == 0
    monkeypatch.setattr("medianmap.app.commands.predict.FIRST", 5)
    monkeypatch.setattr(estimates, "FREE_CELLS", 3000.0)  # of 36 objects, but not of 5
    monkeypatch.setattr(estimates, "measured_rate", lambda *given: 0.5)
    capsys.readouterr()
    assert run("predict", "map/model.mmap", "words.fasta", "--threads", "1", "-o", "new.tsv") == 2
    assert "36 objects with 4" in capsys.readouterr().err
    monkeypatch.setattr(estimates, "LONG", 50)
    text = Path("words.fasta").read_text() + f">long acd\n{'A' * 500}\n"
    Path("words.fasta").write_text(text)
    monkeypatch.setattr("medianmap.app.commands.predict.length_of", lambda *given: 1)
    assert run("predict", "map/model.mmap", "words.fasta", "--threads", "1", "-o", "new.tsv") == 2
    assert "its 1 objects with 4 of the model" in capsys.readouterr().err
    assert not list(here.glob("new*"))


def test_one_pair_that_nothing_can_interrupt(here, capsys):
    """The true rate, on strings of which one pair alone takes hours."""
    Path("two.txt").write_text(f"{'ACGTT' * 1_000_000}\n{'CAGGT' * 1_000_000}\n")
    assert run("distances", "two.txt", "--metric", "alignment", "--param", "gap_open=3", "-o", "D.npy") == 2
    said = capsys.readouterr().err
    assert "10^13.4 cells" in said
    assert "for one pair of 5000000 and 5000000; pass --yes" in said


def test_an_estimate_in_words():
    assert [told(h) for h in (0.25, 1.2, 3, 30, 40, 24 * 12, 24 * 365 * 3)] == [
        "15 minutes", "72 minutes", "3 hours", "30 hours", "2 days", "12 days", "3 years",
    ]  # fmt: skip


FORMULAS = {"=1+1": "'=1+1", "+cmd": "'+cmd", "-x": "'-x", "@a": "'@a", "-1.5": "-1.5", "=": "'=", "plain": "plain"}


def test_ids_that_spreadsheets_take_for_formulas(here, capsys):
    lines = [f"{i}\t{i}\tword{k}\n" for k, i in enumerate(FORMULAS)]
    Path("f.tsv").write_text("id\tlabel\tstring\n" + "".join(lines))
    assert run("fit", "f.tsv", "--metric", "edit", "--map", "kmeans", "-k", 2, "--labels", "label", "-o", "as-is") == 0
    said = capsys.readouterr().err
    assert "5 ids begin with = + - or @" in said
    assert "--spreadsheet" in said
    assert [row["id"] for row in rows("as-is/assignments.tsv")] == list(FORMULAS)
    args = ("fit", "f.tsv", "--metric", "edit", "--map", "kmeans", "-k", 2, "--labels", "label", "--spreadsheet")
    assert run(*args, "-o", "safe") == 0
    assert "--spreadsheet" not in capsys.readouterr().err
    found = rows("safe/assignments.tsv")
    assert [row["id"] for row in found] == list(FORMULAS.values())
    assert [row["label"] for row in found] == list(FORMULAS.values())
    assert [FORMULAS[row["exemplar"]] for row in rows("as-is/assignments.tsv")] == [row["exemplar"] for row in found]
    assert {row["exemplar_id"] for row in rows("safe/exemplars.tsv")} == {row["exemplar"] for row in found}
    for more, expected in (([], list(FORMULAS)), (["--spreadsheet"], list(FORMULAS.values()))):
        assert run("predict", "safe/model.mmap", "f.tsv", *more, "-o", "new.tsv") == 0
        assert [row["id"] for row in rows("new.tsv")] == expected
    assert run("fit", "f.tsv", "--metric", "edit", "--map", "kmeans", "-k", 2, "--labels", "label", "-o", "again") == 0
    assert [row["id"] for row in rows("again/assignments.tsv")] == list(FORMULAS)  # the option was of one command
