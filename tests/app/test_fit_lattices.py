"""`medianmap fit` on chains, layers and lattices of a file: the map of the library, and all that follows from it."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from support.extras import optional
from support.fits import WORDS, fit, run, write_words

from medianmap import MedianSOM, load

RING = shortest_path(np.roll(np.eye(6), 1, axis=1), directed=False)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with words.fasta and two files of one lattice in it."""
    optional("dnaio")
    monkeypatch.chdir(tmp_path)
    write_words()
    np.save("ring.npy", RING)
    rows = [f"n{j}\t" + "\t".join(f"{each:g}" for each in row) for j, row in enumerate(2.5 * RING)]
    Path("ring.tsv").write_text("\t" + "\t".join(f"n{j}" for j in range(6)) + "\n" + "\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.parametrize(("options", "params"), [
    (["--grid", "1x6"], {"grid": (1, 6)}),
    (["--grid", "2x1x3", "--lattice", "rectangular"], {"grid": (2, 1, 3), "lattice": "rectangular"}),
    (["--lattice", "ring.npy"], {"lattice": RING}),
    (["--lattice", "ring.tsv"], {"lattice": RING}),
])  # fmt: skip
def test_the_map_is_the_librarys_and_other_commands_take_it(options, params, here):
    optional("matplotlib")
    assert fit(*options, "-o", "map") == 0
    som = load("map/model.mmap")
    expected = MedianSOM(metric="edit", n_epochs=8, random_state=0, **params).fit(WORDS)
    np.testing.assert_array_equal(som.medoid_indices_, expected.medoid_indices_)
    assert som.lattice_ == expected.lattice_
    names = [] if "ring" in options[-1] else ["layer", "row", "column"][-len(som.lattice_.shape) :]
    for neuron, place in zip(json.loads(Path("map/summary.json").read_text())["neurons"],
                             np.ndindex(*som.lattice_.shape), strict=True):  # fmt: skip
        assert {name: neuron[name] for name in ("layer", "row", "column") if name in neuron} == dict(
            zip(names, place if names else (), strict=True)
        )
    assert run("predict", "map/model.mmap", "words.fasta") == 0
    for picture in ("hits", "u-matrix"):
        assert run("plot", "map/model.mmap", "words.fasta", "--what", picture, "-o", f"{picture}.svg") == 0
    assert run("report", "map/model.mmap", "words.fasta", "-o", "page.html") == 0
    assert run("fit", "--config", "map/config.toml", "-o", "again") == 0
    np.testing.assert_array_equal(load("again/model.mmap").medoid_indices_, som.medoid_indices_)


def test_a_pass_over_patches_and_chosen_exemplars_take_a_lattice_of_a_file(here, capsys):
    assert fit("--lattice", "ring.tsv", "--patch", "12", "-o", "patches") == 0
    assert load("patches/model.mmap").lattice_.shape == (6,)
    Path("ids.txt").write_text("".join(f"w{k}\n" for k in range(0, 36, 6)))
    assert fit("--lattice", "ring.tsv", "--exemplars", "ids.txt", "-o", "chosen") == 0
    assert sorted(load("chosen/model.mmap").medoid_indices_) == list(range(0, 36, 6))
    Path("ids.txt").write_text("w0\nw1\n")
    assert fit("--lattice", "ring.tsv", "--exemplars", "ids.txt", "-o", "few") == 2
    assert "There are 2 exemplars for the 6 neurons of the lattice" in capsys.readouterr().err
