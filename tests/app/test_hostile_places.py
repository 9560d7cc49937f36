"""Inputs and outputs that are not what they seem: one's own input, pipes, links, closed streams, full disks."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.fits import fit, run, write_words

from medianmap.sources.stored import sidecar_path

POSIX = pytest.mark.skipif(os.name == "nt", reason="pipes, links and descriptors of POSIX")
NESTED = "[" * 100_000


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with words.fasta in it."""
    monkeypatch.chdir(tmp_path)
    write_words()
    return tmp_path


@pytest.fixture
def mapped(here):
    """The same with a map of the words."""
    assert fit("--grid", "2x2", "-q", "-o", "map") == 0
    return here


FASTA = ("--read", "format=fasta", "--metric", "edit")
OVERWRITTEN = {
    "report, model": ("report", "map/model.mmap", "-o", "map/model.mmap"),
    "report, data": ("report", "map/model.mmap", "-o", "words.fasta"),
    "plot": ("plot", "map/model.mmap", "in.svg", "-o", "in.svg"),
    "compare": ("compare", "map", "map", "-o", "words.fasta"),
    "predict": ("predict", "map/model.mmap", "in.tsv", "--read", "format=fasta", "-o", "in.tsv"),
    "path": ("path", "in.tsv", *FASTA, "-k", "2", "-o", "in.tsv"),
    "path --plot": ("path", "in.svg", *FASTA, "-k", "2", "--plot", "in.svg"),
    "distances": ("distances", "X.npy", "--metric", "euclidean", "--read", "kind=vectors", "-o", "X.npy", "--restart"),
    "fit": ("fit", "into/assignments.tsv", *FASTA, "--grid", "2x2", "-o", "into", "--force"),
    "representatives": ("representatives", "into/members.tsv", "words.fasta", *FASTA[2:], "-o", "into", "--force"),
    "report, labels": ("report", "map/model.mmap", "words.fasta", "--labels", "meta.tsv:kind", "-o", "meta.tsv"),
    "fit, labels": ("fit", "words.fasta", *FASTA[2:], "-o", "into", "--labels", "into/exemplars.tsv:kind", "--force"),
    "through a link": ("path", "in.tsv", *FASTA, "-k", "2", "-o", "linked/in.tsv"),
}  # fmt: skip


@pytest.mark.parametrize("case", OVERWRITTEN)
def test_no_command_writes_over_what_it_reads(case, mapped, capsys):
    words = Path("words.fasta").read_bytes()
    for name in ("in.svg", "in.tsv", "into/assignments.tsv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(words)
    Path("into/members.tsv").write_text("w0\tw0\nw0\tw1\n")
    for name in ("meta.tsv", "into/exemplars.tsv"):
        Path(name).write_text("id\tkind\nw0\ta\nw1\tb\n")
    np.save("X.npy", np.random.default_rng(0).random((6, 2)))
    Path("linked").symlink_to(".")
    before = {path: path.read_bytes() for path in mapped.rglob("*") if path.is_file()}
    assert run(*OVERWRITTEN[case]) == 2
    assert "is a file that this command reads, and would be lost; write to another" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in mapped.rglob("*") if path.is_file()} == before


@POSIX
@pytest.mark.parametrize("place", ["pipe", "/dev/zero"])
def test_what_cannot_be_read_twice_is_refused(place, here, capsys):
    """A pipe was opened twice: the second time waited for ever, or had lost its beginning."""
    os.mkfifo("pipe")
    kept = os.open("pipe", os.O_RDWR)  # so that nobody waits for a writer
    os.write(kept, Path("words.fasta").read_bytes())
    for verb in (["check", place], ["fit", place, "-o", "map"], ["distances", place, "-o", "D.npy"]):
        assert run(*verb) == 2
        assert "write - in its place and put the data on standard input" in capsys.readouterr().err
    os.close(kept)


@POSIX
def test_a_link_to_nowhere_is_no_folder(here, capsys):
    Path("out").symlink_to("nowhere")
    assert fit("--grid", "2x2", "-o", "out") == 2
    assert "out is a link to a folder that is not there" in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["out", "words.fasta"]


def test_nesting_without_end_is_one_sentence(mapped, capsys):
    Path("deep.toml").write_text(f"a={NESTED}")
    assert run("fit", "--config", "deep.toml", "-o", "again") == 2
    assert "deep.toml is not TOML: it is nested too deeply" in capsys.readouterr().err
    Path("deep.biom").write_text(f'{{"format": "Biological Observation Matrix 1.0.0", "data": {NESTED}')
    assert run("check", "deep.biom") == 2
    assert "deep.biom is no whole BIOM table" in capsys.readouterr().err
    np.save("D.npy", np.zeros((4, 4)))
    sidecar_path(Path("D.npy")).write_text(NESTED)
    assert run("check", "D.npy") == 2
    assert "is not the sidecar of a matrix (RecursionError" in capsys.readouterr().err
    Path("map/config.toml").write_text(f"a={NESTED}")  # as if there were none
    assert run("predict", "map/model.mmap", "words.fasta", "-q", "-o", "new.tsv") == 0


def test_a_huge_configuration_is_not_read(here, capsys, monkeypatch):
    monkeypatch.setattr("medianmap.app.settings.MOST_CONFIG", 100)
    Path("big.toml").write_text("# " + "x" * 100)
    assert run("fit", "--config", "big.toml", "-o", "map") == 2
    assert "big.toml is not TOML: it has more than 100 bytes" in capsys.readouterr().err


@POSIX
@pytest.mark.parametrize(
    ("closed", "args", "code"),
    [
        ("<&-", "check -", 2),
        (">&-", "predict map/model.mmap words.fasta", 0),
        ("2>&-", "fit words.fasta --metric edit --grid 2x2 --epochs 4 -o new", 0),
    ],
)
def test_closed_streams_are_no_error(closed, args, code, mapped):
    """The next file that was opened would have had their numbers, and stderr would have been written into it."""
    line = f"{sys.executable} -m medianmap {args} {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    if "new" in args:
        assert Path("new/config.toml").exists()


@POSIX
@pytest.mark.parametrize(
    ("args", "name"),
    [
        ("predict map/model.mmap words.fasta -o new.tsv", "new.tsv"),
        ("report map/model.mmap -o page.html", "page.html"),
        ("distances words.fasta --metric edit -o D.npy", "D.npy"),
    ],
)
def test_a_full_disk_is_one_sentence_that_names_the_file(args, name, mapped):
    """By the largest size of a file, which fails as a full disk does: in the midst of a write, and on closing again."""
    before = sorted(mapped.rglob("*"))
    line = f"ulimit -f 1; exec {sys.executable} -m medianmap {args}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert name in done.stderr
    assert "File too large" in done.stderr
    assert sorted(mapped.rglob("*")) == before
