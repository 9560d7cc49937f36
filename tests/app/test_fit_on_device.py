"""`--device` of the command line, on torch's CPU tensors: from a file to a page, and what it refuses."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from support.extras import optional
from support.fits import run

from medianmap import load
from medianmap.app import inputs
from medianmap.app.settings import FitSettings, check_settings
from medianmap.utils import device as devices

torch = optional("torch")
THERE = ("--device", "torch:cpu")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with vectors.csv, 5 groups of 30, and D.npy, their distances."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    X = np.repeat(6.0 * rng.normal(size=(5, 4)), 30, axis=0) + rng.normal(size=(150, 4))
    np.savetxt("vectors.csv", X, delimiter=",", header="a,b,c,d", comments="")
    np.save("D.npy", cdist(X, X))
    return tmp_path


@pytest.mark.parametrize("kind", ["som", "gas", "kmeans"])
def test_vectors_from_file_to_page(here, kind):
    size = ("--grid", "3x4") if kind == "som" else ("-k", "5")
    assert run("fit", "vectors.csv", "--map", kind, *size, *THERE, "--refine", "swap", "-o", "there") == 0
    assert run("fit", "vectors.csv", "--map", kind, *size, "--refine", "swap", "-o", "here") == 0
    there, usual = (json.loads(Path(folder, "summary.json").read_text()) for folder in ("there", "here"))
    assert there["quality"]["quantization_error"] <= 1.02 * usual["quality"]["quantization_error"]
    model = load("there/model.mmap")
    assert model.device == "torch:cpu"
    rows = [line.split("\t") for line in Path("there/assignments.tsv").read_text().splitlines()]
    assert [int(row[1]) for row in rows[1:]] == model.labels_.tolist()
    assert Path("there/report.html").stat().st_size > 10_000
    config = tomllib.loads(Path("there/config.toml").read_text())
    assert config["device"] == "torch:cpu"
    assert config["versions"]["torch"] == torch.__version__.partition("+")[0]
    assert run("fit", "--config", "there/config.toml", "-o", "again") == 0
    for name in ("assignments.tsv", "exemplars.tsv", "model.mmap"):
        assert Path("again", name).read_bytes() == Path("there", name).read_bytes()


def test_a_matrix_and_strings_and_resamples(here, capsys):
    assert run("fit", "D.npy", "--map", "gas", "-k", "5", *THERE, "--stability", "2", "-o", "a") == 0
    assert run("info", "a/model.mmap") == 0
    assert "device = 'torch:cpu'" in capsys.readouterr().out
    Path("words.txt").write_text("\n".join(["heron", "herons", "hero", "quark", "quarks", "quart"] * 3) + "\n")
    assert run("fit", "words.txt", "--map", "kmeans", "-k", "2", "--metric", "edit", *THERE, "-o", "b") == 0
    assert sorted(load("b/model.mmap").cluster_centers_) == ["heron", "quark"]


def test_many_points_are_compared_all_with_all_where_a_device_does_it(monkeypatch):
    monkeypatch.setattr(inputs, "MOST_ALL_PAIRS", 100)
    assert inputs.in_patches(FitSettings("x"), 150).patch == 1000
    assert inputs.in_patches(FitSettings("x", device="cpu"), 150).patch == 1000
    assert inputs.in_patches(FitSettings("x", device="auto"), 150).patch == 1000
    assert inputs.in_patches(FitSettings("x", device="torch:cpu"), 150).patch is None
    monkeypatch.setattr(devices, "_against_a_card", lambda n, n_bytes: None)
    assert inputs.in_patches(FitSettings("x", device="auto"), 150).patch is None
    assert inputs.in_patches(FitSettings("x", device="auto", stream=True), 150).patch == 1000


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("device is 'gpu'; it must be None, 'cpu', 'cuda'", ("--device", "gpu")),
        ("torch finds no card", ("--device", "cuda")),
        ("a pass over patches does not; drop --patch, or --device", (*THERE, "--patch", "50")),
        ("a pass over patches does not; drop --stream, or --device", (*THERE, "--stream")),
    ],
)
def test_mistakes_are_one_sentence_before_anything_is_read(here, said, options, capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    Path("vectors.csv").unlink()
    Path("vectors.csv").write_text("no\tvectors")
    assert run("fit", "vectors.csv", "--map", "gas", "-k", "5", *options, "-o", "map") == 2
    heard = capsys.readouterr().err
    assert said in heard
    assert heard.count("\n") == 1
    assert not Path("map").exists()


def test_a_matrix_too_large_for_the_card_is_refused(here, capsys, monkeypatch):
    monkeypatch.setattr(devices, "free_bytes", lambda device: 10_000)
    assert run("fit", "vectors.csv", "--map", "gas", "-k", "5", *THERE, "-o", "map") == 2
    heard = capsys.readouterr().err
    assert "150 x 150 dissimilarities take 90.0 kB" in heard
    assert "--patch" in heard


def test_auto_is_no_mistake_without_a_card(here):
    check_settings(FitSettings("vectors.csv", map="gas", k=5, device="auto"))
    assert run("fit", "vectors.csv", "--map", "gas", "-k", "5", "--device", "auto", "-o", "map") == 0
