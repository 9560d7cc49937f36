"""People's files as they are, each from the file to the folder by one command: small stand-ins of the same shape.

Outliers and the page's colours are tested where they are made.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from support.fits import rows, run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mapped(capsys, *args, out="map"):
    """What `medianmap fit ARGS -o OUT` said on stderr; it must have ended well and written its folder."""
    assert run("fit", *args, "-o", out) == 0, capsys.readouterr().err
    assert {"report.html", "assignments.tsv", "model.mmap", "config.toml"} <= {f.name for f in Path(out).iterdir()}
    return capsys.readouterr().err


def refused(capsys, *args):
    """What it said on stderr where it must refuse and leave nothing."""
    before = sorted(Path().iterdir())
    assert run("fit", *args, "-o", "refused") == 2
    assert sorted(Path().iterdir()) == before
    return capsys.readouterr().err


def cloud(n, seed=0):
    """Dissimilarities of n points in space."""
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n, 3))))


# --- matrices


def test_a_matrix_with_a_rounded_diagonal(here, capsys):
    np.savetxt("rounded.csv", cloud(40) + 0.001, delimiter=",", fmt="%.6f")
    said = mapped(capsys, "rounded.csv", "--grid", "3x3")
    assert "taken for rounding and set to 0" in said
    assert 'metric = "precomputed"' in Path("map/config.toml").read_text()


def test_a_matrix_of_similarities(here, capsys):
    np.save("S.npy", np.exp(-cloud(40)))
    assert re.search(r"similarities \(1 on the diagonal.*--read kind=similarity.*D = 1 - S", refused(capsys, "S.npy"))
    assert "converted by D = 1 - S" in mapped(capsys, "S.npy", "--grid", "3x3", "--read", "kind=similarity")


# --- sequences


def test_proteins_as_databases_ship_them(here, capsys):
    rng = np.random.default_rng(1)
    letters = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 30)) for _ in range(20)]
    letters[0] = letters[0][:10] + "U" + letters[0][10:]
    letters[1] = letters[1].lower()
    letters[2] += "*"
    letters[3] = letters[3][:5] + "XX" + letters[3][5:]
    letters[4] = letters[4][:5] + "--." + letters[4][5:]
    letters[5] = "O" + letters[5]
    Path("db.fasta").write_text("".join(f">sp|P{k}|NAME{k} a protein OS=yeast\n{s}\n" for k, s in enumerate(letters)))
    said = mapped(capsys, "db.fasta", "--grid", "2x2")
    for what in ("1 contain U, scored as C", "1 contain O, scored as K", "1 have lower case", "1 end with *",
                 "1 have gaps", "--param spelling=exact"):  # fmt: skip
        assert what in said
    said = refused(capsys, "db.fasta", "--param", "spelling=exact")
    assert re.search(r"\('sp\|P0\|NAME0'\) has 'U' at position 10.*--param unknown=X", said)
    assert not re.search(r"metric_params|X\[", said)
    mapped(capsys, "db.fasta", "--param", "unknown=X", "--grid", "2x2", out="again")
    Path("new.fasta").write_text(">n\nacdefu-*\n")
    assert run("predict", "map/model.mmap", "new.fasta", "-q") == 0


def test_nucleotides_in_any_spelling(here, capsys):
    rng = np.random.default_rng(2)
    letters = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(12)]
    letters += [s.lower() for s in letters[:3]] + [
        letters[0].replace("T", "U"),
        letters[1][:9] + "RN-" + letters[1][9:],
    ]
    Path("reads.fna").write_text("".join(f">r{k}\n{s}\n" for k, s in enumerate(letters)))
    said = mapped(capsys, "reads.fna", "--grid", "2x2")
    assert "compared by 'edit'" in said
    assert "3 have lower case" in said
    assert "1 contain U, scored as T" in said
    same = {row["id"]: row["dissimilarity"] for row in rows("map/assignments.tsv")}
    assert same["r0"] == same["r12"] == same["r15"]
    assert 'spelling = "dna"' in Path("map/config.toml").read_text()


def test_an_alignment(here, capsys):
    text = "".join(f">a{k}\nMKV{'-' * (k % 3)}{'ACDEF'[k % 5] * (4 - k % 3)}W\n" for k in range(12))
    Path("aligned.fasta").write_text(text)
    said = mapped(capsys, "aligned.fasta", "--grid", "2x2")
    assert "alignment of 8 columns" in said
    assert "--param mode=global" in said
    assert "have gaps, which are left out" in mapped(
        capsys, "aligned.fasta", "--grid", "2x2", "--param", "mode=global", out="anew"
    )
