"""`medianmap path` as a user meets it."""

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from support.extras import optional
from support.maps import blob_distances

from medianmap import MedianKMeans, MedianNeuralGas, k_path
from medianmap.app.main import main
from medianmap.utils.files import as_tsv, table

WORDS = ["heron", "herons", "hero", "herring", "quark", "quarks", "quart", "quartz", "sparrow", "arrow", "arrows"]


@pytest.fixture
def folder(tmp_path, monkeypatch, rng):
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n")
    np.save(tmp_path / "D.npy", blob_distances(rng, 40))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args):
    with pytest.raises(SystemExit) as stopped:
        main(["path", *args])
    return stopped.value.code


def rows(text):
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def test_the_table_is_that_of_the_function(folder, capsys):
    assert run("words.txt", "--metric", "edit", "-k", "4,2, 3", "--seed", "7", "--restarts", "3") == 0
    said = capsys.readouterr()
    map_ = MedianKMeans(metric="edit", init="k-medoids++", n_init=10, random_state=7)
    path = k_path(map_, WORDS, [2, 3, 4], n_restarts=3)
    for row, record in zip(rows(said.out), path.as_records(), strict=True):
        assert [float(value) for value in row.values()] == [float(value) for value in record.tolist()]
    for by in ("silhouette", "stability"):
        told = f"K = {path.best(by)} by {by}"
        assert told in said.err
        assert (f"{told} (the largest K tried" in said.err) == (path.best(by) == 4)
    assert "suggested, not proven" in said.err


def test_the_largest_k_tried_is_no_answer(folder, capsys):
    np.save("line.npy", np.abs(np.subtract.outer(np.arange(0.0, 40, 4), np.arange(0.0, 40, 4))))
    assert run("line.npy", "-k", "2,9", "--stability", "restarts", "--restarts", "1") == 0
    assert "K = 9 by silhouette (the largest K tried" in capsys.readouterr().err
    assert run("line.npy", "-k", "9", "--stability", "restarts", "--restarts", "1") == 0
    assert "the largest K tried" not in capsys.readouterr().err


def test_packed_files_and_the_dash(folder, capsys):
    optional("matplotlib")
    args = ("D.npy", "-k", "2,3", "--restarts", "2", "-q", "-o")
    assert run(*args, "-") == 0
    printed = capsys.readouterr().out
    assert run(*args, "t.tsv.gz", "--plot", "p.svg.gz") == 0
    assert capsys.readouterr() == ("", "")
    assert gzip.decompress(Path("t.tsv.gz").read_bytes()).decode() == printed
    assert gzip.decompress(Path("p.svg.gz").read_bytes()).startswith(b"<?xml")
    assert not Path("-").exists()


def test_every_fit_is_told(folder, rng):
    D = blob_distances(rng, 40)
    map_ = MedianKMeans(metric="precomputed", init="k-medoids++", random_state=0)
    for stability, warm, total in (("halves", True, 3 * 5 + 2), ("restarts", False, 3 * 4)):
        told = []
        k_path(
            map_,
            D,
            [2, 3, 4],
            n_restarts=4,
            stability=stability,
            warm=warm,
            on_progress=lambda *now, told=told: told.append(now),
        )
        assert told == [("fits", k + 1, total) for k in range(total)]


def test_a_matrix_another_map_and_files(folder, capsys):
    optional("matplotlib")
    args = [
        "D.npy",
        "-k",
        "1,3,6",
        "--map",
        "gas",
        "--stability",
        "restarts",
        "--restarts",
        "2",
        "-o",
        "t.tsv",
        "--plot",
    ]
    assert run(*args, "p.svg") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith("Wrote t.tsv, p.svg\n")
    map_ = MedianNeuralGas(metric="precomputed", init="k-medoids++", random_state=0)
    expected = k_path(map_, np.load("D.npy"), [1, 3, 6], stability="restarts", n_restarts=2)
    assert Path("t.tsv").read_text() == as_tsv(expected.as_records())
    assert rows(Path("t.tsv").read_text())[0]["silhouette"] == "nan"
    first = Path("p.svg").read_bytes()
    assert first.startswith(b"<?xml")
    assert run(*args, "p.svg") == 0
    assert Path("p.svg").read_bytes() == first
    for name, magic in (("p.png", b"\x89PNG"), ("p.PDF", b"%PDF")):
        assert run(*args, name) == 0
        assert Path(name).read_bytes().startswith(magic)


def test_one_k_of_one_suggests_nothing(folder, capsys):
    assert run("D.npy", "-k", "1", "--restarts", "1") == 0
    assert "nothing is suggested" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["D.npy", "-k", "2,x"], "'2,x' is not a list of numbers such as 2,5,10,20"),
        (["D.npy", "-k", "0"], "'0' is not a list of numbers"),
        (["D.npy", "-k", "2,99"], "n_clusters = 99 exceeds n_samples = 40"),
        (["D.npy", "-k", "2,21"], "Half of the 40 points are too few for n_clusters = 21"),
        (["words.txt", "--metric", "precomputed", "-k", "2"], "words.txt holds 11 strings and no square matrix"),
        (["D.npy", "-k", "2", "-o", "nowhere/t.tsv"], "There is no folder nowhere"),
        (["D.npy", "-k", "2", "--plot", "p.bmp"], "p.bmp must end in .svg, .svg.gz, .png or .pdf"),
        (["D.npy", "-k", "2", "-o", "p.svg", "--plot", "p.svg"], "p.svg cannot hold both the table and the picture"),
        (["none.npy", "-k", "2"], "none.npy"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(folder, capsys, args, message):
    if "p.bmp" in args:
        optional("matplotlib")
    before = sorted(folder.iterdir())
    assert run(*args) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert sorted(folder.iterdir()) == before


def test_tables_read_back_exact(rng):
    written = table(a=rng.random(5), b=np.arange(5), c=np.arange(5) % 2 == 0, d=np.array(list("uvwxy")))
    back = np.genfromtxt(io.StringIO(as_tsv(written)), delimiter="\t", names=True, dtype=None, encoding=None)
    for name in "abcd":
        np.testing.assert_array_equal(back[name], written[name])
