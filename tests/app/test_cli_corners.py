"""Corners of the command line that a newcomer walks into: dashes, zeros, and advice that can be followed."""

import errno
import inspect
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.extras import optional
from support.fits import WORDS, contents, fit, rows, run, write_words

from medianmap.app import output
from medianmap.app import run as fitting
from medianmap.app.inputs import Given
from medianmap.readers import read

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_words()
    return tmp_path


def test_a_dash_is_no_folder(here, capsys):
    Path("c.tsv").write_text("w0\tw0\nw0\tw1\n")
    for args in (
        ("fit", "words.fasta"),
        ("fit", "words.fasta", "--stream"),
        ("representatives", "c.tsv", "words.fasta", "--metric", "edit"),
    ):
        assert run(*args, "-o", "-") == 2
        assert "-o - means standard output, which cannot hold a folder" in capsys.readouterr().err
    assert not Path("-").exists()


def test_a_page_on_standard_output(here, capfdbinary):
    assert fit("--grid", "2x2", "-o", "map", "-q") == 0
    assert run("report", "map/model.mmap", "-o", "page.html", "-q") == run("report", "map/model.mmap", "-o", "-") == 0
    assert capfdbinary.readouterr() == (Path("page.html").read_bytes(), b"")
    assert not Path("-").exists()


@pytest.mark.parametrize("verb", [("fit", "words.fasta"), ("predict", "m", "x"), ("report", "m"), ("plot", "m")])
def test_no_threads(verb, here, capsys):
    assert run(*verb, "-o", "out.tsv", "--threads", "0") == 2
    assert "0 is no number of threads; give 1 or more, or -1 for all cores" in capsys.readouterr().err


def test_widths_in_the_wrong_order_are_found_before_any_work(here, capsys):
    for more in (("--sigma-start", "0.001"), ("--sigma-start", "1", "--sigma-end", "2")):
        assert run("fit", "words.fasta", "-o", "map", *more) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1  # no note came first
        assert f"--sigma-start {more[1]} is below --sigma-end" in said
    assert sorted(os.listdir()) == ["words.fasta"]


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("fit", ("--grid", "1x2", "-o", "out")),
        ("path", ("-k", "2", "--restarts", "1", "-o", "out.tsv")),
        ("distances", ("-o", "D.npy")),
        ("check", ()),
    ],
)
def test_the_metric_has_one_rule_under_every_verb(verb, more, here, capsys):
    Path("w.txt").write_text("heron\nherons\nquark\nquarks\n")
    Path("v.csv").write_text("1.5,2\n1.25,2\n9,8\n9,7.5\n")
    for name, metric in (("w.txt", "edit"), ("v.csv", "euclidean")):
        assert run(verb, name, *more, *(("--force",) if verb == "fit" and Path("out").exists() else ())) == 0
        assert f"of {name} are compared by {metric!r}" in capsys.readouterr().err
        for file in Path().glob("D.npy*"):
            file.unlink()
    np.save("given.npy", np.ones((4, 4)) - np.eye(4))
    assert run(verb, "given.npy", *more, *(("--force",) if verb == "fit" else ())) == (2 if verb == "distances" else 0)
    said = capsys.readouterr().err
    assert "compared by" not in said
    assert ("holds dissimilarities already" in said) == (verb == "distances")
    assert run(verb, "w.txt", "--metric", "precomputed", *more) == 2
    assert "w.txt holds 4 strings and no square matrix" in capsys.readouterr().err or verb == "fit"


def test_labels_of_nothing_are_told(here, capsys):
    Path("none.tsv").write_text("w0\tNA\nw1\t\n")
    assert fit("--grid", "2x2", "--labels", "none.tsv", "-o", "map") == 0
    assert "--labels none.tsv: no point has a label; the map is without." in capsys.readouterr().err


def test_one_is_singular(here, capsys):
    Path("one.fasta").write_text(">a\nACD\n")
    assert run("fit", "one.fasta", "--metric", "edit", "--epochs", "1", "-o", "map") == 0
    said = capsys.readouterr()
    assert "MedianSOM of 1 point by edit on 1x1 neurons" in said.out
    assert "0 outliers, 0 points on borders" in said.out
    assert "the map has 1x1 neurons for 1 point." in said.err


def test_advice_is_in_the_words_of_the_command_line(here, capsys):
    np.save("D.npy", np.ones((4, 4)) - np.eye(4))
    assert run("fit", "D.npy", "--grid", "1x2", "-o", "map") == 0
    assert "for vectors pass --read kind=vectors" in capsys.readouterr().err
    Path("gap.fasta").write_text(">a\nACD\n>b\n>c\nAC\n")
    assert run("fit", "gap.fasta", "--metric", "edit", "-o", "gap") == 2
    assert "--read allow_empty=true" in capsys.readouterr().err
    assert run("fit", "gap.fasta", "--metric", "edit", "--read", "allow_empty=true", "-o", "gap") == 0
    assert set(output.READING) <= set(inspect.signature(read).parameters)


@pytest.mark.parametrize(
    ("said", "here"),
    [
        ("choose one: columns=(0, 1, 2), say", "choose one: --read columns=[0,1,2], say"),
        ("pass duplicates='first' or missing=NUMBER.", "pass --read duplicates=first or --read missing=NUMBER."),
        ("(header=True)", "(--read header=true)"),
        ("choose metric='edit'.", "choose --metric edit."),
        ("or rule='p-distance'; not x_id=3", "or --param rule=p-distance; not x_id=3"),
        ("pass --read kind=vectors", "pass --read kind=vectors"),
    ],
)
def test_arguments_become_options(said, here, capsys):
    output.say(said)
    assert capsys.readouterr().err == f"medianmap: {here}\n"


def test_series_are_assigned_as_they_were_read(here, rng):
    Path("s.csv").write_text("".join(",".join(map(str, rng.normal(size=n))) + "\n" for n in range(3, 12)))
    assert run("fit", "s.csv", "--read", "kind=series", "--grid", "2x2", "-o", "map", "-q") == 0
    assert run("predict", "map/model.mmap", "s.csv", "--read", "kind=series", "-o", "a.tsv", "-q") == 0
    assert [row["neuron"] for row in rows("a.tsv")] == [row["neuron"] for row in rows("map/assignments.tsv")]


@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
def test_notes_stand_above_the_bar(here):
    """On a terminal, a note has a line of its own while a bar is drawn."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "medianmap", "fit", "words.fasta", "--epochs", "2", "-o", "map"]
    process = subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    seen = b""
    try:
        while piece := os.read(ours, 65536):
            seen += piece
    except OSError:  # how Linux tells that the other side is closed
        pass
    assert process.wait(300) == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    notes = re.findall(r"(?:^|[\r\n])medianmap: without --", text)
    assert len(notes) == text.count("medianmap: ") == 2
    assert "reading" in text


def test_a_full_disk_is_a_sentence(here, capsys, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device", "map/model.mmap")

    monkeypatch.setattr("medianmap.app.run.save", full)
    assert fit("--grid", "2x2", "-o", "map") == 1
    assert capsys.readouterr().err.endswith("medianmap: map/model.mmap: No space left on device.\n")
    assert not Path("map").exists()


def test_data_of_standard_input(here, monkeypatch, capsys):
    """They are called so, and nobody waits for them a second time."""
    content = io.BytesIO(Path("words.fasta").read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(content)))
    assert run("fit", "-", "--grid", "2x2", "-o", "map") == 0
    assert "the strings of standard input are compared" in capsys.readouterr().err
    assert "standard input: 36 sequences" in Path("map/report.html").read_text()
    assert run("report", "map/model.mmap") == 2
    assert "Missing argument INPUT" in capsys.readouterr().err
    optional("matplotlib")
    assert run("plot", "map/model.mmap", "--what", "quality", "-o", "p.svg") == 2
    assert "needs the data as INPUT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("n", "how", "title"),
    [
        (1, {"kind": "strings", "sequences": True}, "f: 1 sequence"),
        (3, {"kind": "strings", "sequences": True}, "f: 3 sequences"),
        (1, {"kind": "series"}, "f: 1 series"),
        (1, {"kind": "vectors"}, "f: 1 vector"),
        (20, {"kind": "dissimilarities"}, "f: 20 points"),
    ],
)
def test_titles(n, how, title):
    given = Given("some/f", [str(k) for k in range(n)], **how)
    assert f"f: {fitting._number_of(given)}" == title


def test_verbose_fit_speaks_and_changes_nothing(here, capsys):
    assert fit("--grid", "2x2", "-o", "a", "-q") == 0
    assert capsys.readouterr() == ("", "")
    assert fit("--grid", "2x2", "-o", "b", "-v") == 0
    said = capsys.readouterr()
    assert "epoch 0: sigma" in said.err
    assert "epoch" not in said.out.replace("epochs", "")
    assert contents("a") == contents("b")
    assert len(WORDS) == 36


def test_tab_completes_in_the_shells_of_the_documentation():
    lines = dict(re.findall(r"\| (bash|zsh|fish)\b[^|]* \| `(.*)` \| `~", (ROOT / "docs/command-line.md").read_text()))
    assert set(lines) == {"bash", "zsh", "fish"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def shell(text):
        return subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True,
                              env={**os.environ, "PATH": path}).stdout  # fmt: skip

    for typed, at, expected in (("fi", 1, "fit"), ("fit --gr", 2, "--grid"), ("fit --map ", 3, "som gas kmeans")):
        words = f"COMP_WORDS=(medianmap {typed}); COMP_CWORD={at}"
        told = shell(f"{lines['bash']}\n{words}\n_medianmap_completion medianmap\necho ${{COMPREPLY[@]}}")
        assert told.split() == expected.split()
    for name, sign in (("zsh", "compdef _medianmap_completion medianmap"), ("fish", "complete --no-files --command")):
        asked = re.search(r"_MEDIANMAP_COMPLETE=\w+ medianmap", lines[name])[0]
        assert sign in shell(asked)
