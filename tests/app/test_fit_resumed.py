"""`medianmap fit` stopped in the middle: what is kept, and that the same command goes on to the same bytes."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.fits import IDS, WORDS, Stops, contents, fit, rows, run, write_words

from medianmap import load
from medianmap.app.output import workshop
from medianmap.app.run import run_fit
from medianmap.app.settings import FitSettings
from medianmap.metrics import bind
from medianmap.readers import write_phylip


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with words.fasta in it."""
    monkeypatch.chdir(tmp_path)
    write_words()
    return tmp_path


@pytest.mark.parametrize("beta", [None, 0.5])
def test_patches_go_on_after_an_interruption(beta, here):
    settings = FitSettings("words.fasta", "kmeans", k=3, metric="edit", patch=9, labels="header", beta=beta)
    straight = Stops("", 1)
    run_fit(settings, "whole", watch=straight)
    with pytest.raises(KeyboardInterrupt, match=r"50% of the patches were done, and part\.partial keeps"):
        run_fit(settings, "part", watch=Stops("patches", 0.5))
    assert os.listdir("part.partial") != []
    assert not Path("part").exists()
    again = Stops("", 1)
    run_fit(settings, "part", watch=again)
    assert again.seen.count("patches") < straight.seen.count("patches")  # half of them were done before
    assert contents("part") == contents("whole")
    assert not Path("part.partial").exists()
    model = load("part/model.mmap")
    assert len(rows("part/assignments.tsv")) == 36
    assert np.bincount([int(row["neuron"]) for row in rows("part/assignments.tsv")], minlength=3).sum() == 36
    assert model.predict(WORDS[:3]).shape == (3,)


def test_patches_of_a_matrix(here):
    D = bind("edit").between(WORDS, WORDS)
    write_phylip("D.phy", D, IDS)
    assert run("fit", "D.phy", "--map", "kmeans", "-k", 3, "--patch", 12, "-o", "map") == 0
    w = load("map/model.mmap").medoid_indices_
    assert [int(row["neuron"]) for row in rows("map/assignments.tsv")] == D[:, w].argmin(axis=1).tolist()
    assert [row["exemplar_id"] for row in rows("map/exemplars.tsv")] == [IDS[i] for i in w]


def test_dissimilarities_go_on_and_those_of_other_data_are_dropped(here, monkeypatch):
    monkeypatch.setattr("medianmap.sources.all_pairs.BLOCK_SECONDS", 1e-5)  # many blocks
    settings = FitSettings("words.fasta", grid=(2, 2), metric="edit")
    run_fit(settings, "whole")
    with pytest.raises(KeyboardInterrupt, match=r"of the dissimilarities were done, and part\.partial keeps"):
        run_fit(settings, "part", watch=Stops("dissimilarities", 0.3))
    again = Stops("", 1)
    run_fit(settings, "part", watch=again)
    assert contents("part") == contents("whole")
    with pytest.raises(KeyboardInterrupt):
        run_fit(settings, "other", watch=Stops("epochs", 0.1))
    assert sorted(os.listdir("other.partial")) == [
        "dissimilarities.npy",
        "dissimilarities.npy.json",
        "journal",
    ]
    other = FitSettings("words.fasta", grid=(2, 2), metric="edit", params={"indel": 3})
    run_fit(other, "other")
    run_fit(other, "fresh")
    assert contents("other") == contents("fresh")


def test_what_can_not_be_gone_on_with_is_not_kept(here, rng):
    np.savetxt("x.csv", rng.normal(size=(30, 2)), delimiter=",")
    with pytest.raises(KeyboardInterrupt, match=r"stopped, nothing was written"):
        run_fit(FitSettings("x.csv", grid=(2, 2)), "new/map", watch=Stops("epochs", 0.1))
    assert sorted(os.listdir()) == ["words.fasta", "x.csv"]


def test_two_fits_into_one_folder(here, capsys):
    with workshop(Path("map"), force=False) as shop:
        shop.state("dissimilarities.npy", "of the first").write_bytes(b"long work")
        assert fit("--grid", "2x2", "-o", "map") == 2
        assert "Another process is writing map;" in capsys.readouterr().err
        assert shop.keeps


def started(*args):
    return subprocess.Popen(
        [sys.executable, "-m", "medianmap", *args], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def wait_for(path, at_least=0):
    for _ in range(1200):
        if path.exists() and path.stat().st_size > at_least:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_while_dissimilarities_are_computed_and_in_training(number, code, here, rng):
    long = ["".join(rng.choice(list("ACGT"), 4000)) for _ in range(36)]
    Path("long.fasta").write_text("".join(f">s{k}\n{s}\n" for k, s in enumerate(long)))
    command = ["fit", "long.fasta", "--metric", "edit", "--grid", "2x2", "-o", "map"]
    process = started(*command)
    wait_for(Path("map.partial/dissimilarities.npy.journal"))
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, err
    assert err.count("\n") == 1
    assert re.search(r"medianmap: stopped; .*map\.partial keeps .* run the same command again", err)
    assert out == ""
    assert not Path("map").exists()
    # It goes on, into a training that takes minutes.
    process = started(*command, "--epochs", "1000000", "-v")
    epochs = 0
    while epochs < 50:  # by then all is compiled, and an interrupt cannot be lost in a compiler's callback
        line = process.stderr.readline()
        assert line, "it ended before it was trained"
        epochs += "epoch" in line
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == code, err[-2000:]
    assert "Traceback" not in err
    assert re.search(r"medianmap: stopped; 0% of the epochs were done, and map\.partial keeps .*\n$", err)
    assert sorted(os.listdir()) == ["long.fasta", "map.partial", "words.fasta"]
    assert run(*command) == 0
    assert sorted(os.listdir()) == ["long.fasta", "map", "words.fasta"]
