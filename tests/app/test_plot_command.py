"""`medianmap plot`: which pictures fit which model, the files they become, and what is said where they do not fit."""

import gzip
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from support.extras import optional
from support.maps import blob_distances, blobs

from medianmap import BatchNeuralGas, BatchSOM, MedianNeuralGas, MedianSOM, PatchClusterer, all_pairs, load, save
from medianmap.app.main import main
from medianmap.report.plots import PICTURES, pictures_of

GRID = [name for name, picture in PICTURES.items() if picture.on_grid]
WORDS = ["alpha", "alpine", "alps", "beta", "bet", "beat", "gamma", "gam", "game", "gem"]


@pytest.fixture(scope="module", autouse=True)
def agg():
    optional("matplotlib").use("agg")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with models of each kind and their data."""
    folder, rng = tmp_path_factory.mktemp("models"), np.random.default_rng(3)
    X, D = blobs(rng), blob_distances(rng)
    lines = "".join(f"p{k},{','.join(map(repr, x.tolist()))},{'ab'[k % 2]}\n" for k, x in enumerate(X))
    (folder / "x.csv").write_text("name,len,width,height,kind\n" + lines)
    (folder / "kinds.tsv").write_text("".join(f"p{k}\t{'ab'[k % 2]}\n" for k in range(60)))
    np.save(folder / "D.npy", D)
    (folder / "words.fasta").write_text("".join(f">{w} {w[0]}\n{w}\n" for w in WORDS))
    som = BatchSOM((3, 4), n_epochs=5, random_state=0).fit(X)
    save(som, folder / "som.mmap")
    save(BatchNeuralGas(4, n_epochs=5, random_state=0).fit(X), folder / "gas.mmap")
    save(MedianSOM((2, 3), n_epochs=5, metric="edit", random_state=0).fit(WORDS), folder / "words.mmap")
    save(MedianSOM((2, 3), n_epochs=5, metric="precomputed", random_state=0).fit(D), folder / "matrix.mmap")
    patches = PatchClusterer(MedianNeuralGas(3, n_epochs=5, random_state=0), 30).fit(X)
    save(patches, folder / "patches.mmap")
    return folder


@pytest.fixture
def here(models, tmp_path, monkeypatch):
    """An empty folder beside the models, which `m/` leads to."""
    (tmp_path / "m").symlink_to(models)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args):
    with pytest.raises(SystemExit) as end:
        main(["plot", *map(str, args)])
    return end.value.code


VECTORS = ["m/x.csv", "--read", 'columns=["len","width","height"]', "--read", "id=name"]


@pytest.mark.parametrize("what", list(PICTURES))
def test_a_som_of_vectors_has_every_picture(what, here, capsys):
    more = ["--labels", "kind"] if what == "labels" else ["--component", "x1"] if what == "component" else []
    data = VECTORS if what in ("quality", "labels", "topology") else []
    assert run("m/som.mmap", *data, "--what", what, *more, "-o", "out.svg") == 0
    told = capsys.readouterr()
    assert told.out == f"Wrote out.svg: {what} of BatchSOM\n"
    root = ElementTree.parse(here / "out.svg").getroot()
    words = {text.text.strip() for text in root.iter("{http://www.w3.org/2000/svg}text") if text.text}
    expected = {"hits": "points at the neuron (root scale)", "labels": "b", "component": "x1", "training": "epoch",
                "quality": "mean dissimilarity to the exemplar", "superclusters": "supercluster 1",
                "u-matrix": "dissimilarity of neighbouring exemplars"}  # fmt: skip
    assert what not in expected or expected[what] in words


def test_what_is_drawn_are_the_numbers_of_the_model(models):
    som = load(models / "som.mmap")
    np.testing.assert_array_equal(som.plot("hits").cells_.get_array(), som.hits_)
    plane = som.plot("component", component=2).cells_.get_array()
    np.testing.assert_array_equal(plane, som.cluster_centers_[:, 2])
    assert set(som.plot("superclusters", n_groups=3).values) == {0, 1, 2}
    np.testing.assert_array_equal(som.plot("training").history, som.history_)
    optional("matplotlib.pyplot").close("all")


def test_which_pictures_a_model_has(models):
    assert pictures_of(load(models / "som.mmap")) == list(PICTURES)
    assert pictures_of(load(models / "gas.mmap")) == ["topology", "training"]
    assert pictures_of(load(models / "patches.mmap")) == ["topology"]
    assert set(PICTURES) - set(pictures_of(load(models / "words.mmap"))) == {"component"}


def test_formats_by_ending_repeat_their_bytes(here):
    for name, opens in [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF"), ("a.svg.gz", b"\x1f\x8b")]:
        assert run("m/som.mmap", "-o", name) == run("m/som.mmap", "-o", f"again-{name}", "-q") == 0
        assert (here / name).read_bytes().startswith(opens)
        assert (here / name).read_bytes() == (here / f"again-{name}").read_bytes()
    assert gzip.decompress((here / "a.svg.gz").read_bytes()) == (here / "a.svg").read_bytes()
    assert run("m/som.mmap", "-o", "large.png", "--dpi", "300") == 0
    assert (here / "large.png").stat().st_size > (here / "a.png").stat().st_size
    assert b"<dc:date>" not in (here / "a.svg").read_bytes()
    assert b"CreationDate" not in (here / "a.pdf").read_bytes()
    assert not [path for path in here.iterdir() if path.name.endswith(".part")]


def test_a_picture_on_standard_output_is_svg_alone(here, capsysbinary):
    assert run("m/som.mmap", "-o", "-") == 0
    assert run("m/som.mmap", "-o", "a.svg", "-q") == 0
    assert capsysbinary.readouterr().out == (here / "a.svg").read_bytes()


def test_labels_from_a_file_a_column_and_a_header(here, capsys):
    assert run("m/som.mmap", *VECTORS, "--what", "labels", "--labels", "kind", "-o", "a.svg") == 0
    assert run("m/som.mmap", *VECTORS, "--what", "labels", "--labels", "m/kinds.tsv", "-o", "b.svg") == 0
    assert (here / "a.svg").read_bytes() == (here / "b.svg").read_bytes()
    assert run("m/words.mmap", "m/words.fasta", "--what", "labels", "--labels", "header", "-o", "c.svg") == 0
    (here / "some.tsv").write_text("alpha\tfirst\ngamma\tthird\n")
    assert run("m/words.mmap", "m/words.fasta", "--what", "labels", "--labels", "some.tsv", "-o", "d.svg") == 0
    assert "not labelled" in (here / "d.svg").read_text()


def test_a_model_of_a_matrix_takes_the_matrix_in_a_file_or_a_store(here):
    assert run("m/matrix.mmap", "m/D.npy", "--what", "u-matrix", "-o", "a.svg") == 0
    words = [str(k) for k in range(60)]
    all_pairs(words, "edit", "E.npy", ids=words)
    save(MedianSOM((2, 3), n_epochs=5, metric="precomputed", random_state=0).fit("E.npy"), "store.mmap")
    (here / "kinds.tsv").write_text("".join(f"{k}\t{'ab'[k % 2]}\n" for k in range(60)))
    assert run("store.mmap", "E.npy", "--what", "labels", "--labels", "kinds.tsv", "-o", "b.svg") == 0
    assert run("store.mmap", "E.npy", "--what", "labels", "--labels", "kind", "-o", "b.svg") == 2


def test_data_that_no_picture_needs_are_named(here, capsys):
    assert run("m/som.mmap", "m/x.csv", "-o", "a.svg") == 0
    assert "m/x.csv is not read" in capsys.readouterr().err
    assert run("m/som.mmap", "m/x.csv", "-o", "a.svg", "--quiet") == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["m/gas.mmap", "--what", "hits"],
            "BatchNeuralGas has no grid, so it has no picture 'hits'",
        ),
        (["m/gas.mmap"], "--what topology of m/gas.mmap needs the data as INPUT"),
        (
            ["m/patches.mmap", "--what", "training"],
            "keeps no history, so it has no picture 'training'",
        ),
        (
            ["m/words.mmap", "--what", "component"],
            "not vectors, so it has no picture 'component'",
        ),
        (["m/matrix.mmap", "--what", "superclusters"], "needs the matrix that it was fitted on as INPUT"),
        (["m/som.mmap", "--what", "component", "--component", "9"], "give a number below 3"),
        (["m/som.mmap", "--groups", "3"], "--groups goes with --what superclusters, not with hits"),
        (["m/som.mmap", "--what", "map"], "'map' is not one of"),
        (["m/words.mmap", "m/words.fasta", "--what", "labels"], "has no labels; say where they are with --labels"),
        (["m/words.mmap", "m/words.fasta", "--what", "labels", "--labels", "no.tsv"], "There is no labels file no.tsv"),
        (["m/words.mmap", "m/words.fasta", "--what", "labels", "--labels", "m/kinds.tsv"], "none of its 60 ids is in"),
        (["m/words.mmap", "no.fasta", "--what", "quality"], "There is no file no.fasta"),
        (["no.mmap"], "There is no file no.mmap"),
        (["m/x.csv"], "not a medianmap model"),
    ],
)
def test_misuse_is_one_sentence_and_leaves_nothing(args, message, here, capsys):
    assert run(*args, "-o", "out.svg") == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""
    assert not (here / "out.svg").exists()


@pytest.mark.parametrize(
    ("out", "message"),
    [("out.jpg", "must end in .svg, .svg.gz, .png or .pdf"), ("no/out.svg", "There is no folder no"),
     ("d.svg", "d.svg is a folder")],
)  # fmt: skip
def test_a_target_that_cannot_be_is_said_before_any_work(out, message, here, capsys, monkeypatch):
    (here / "d.svg").mkdir()
    monkeypatch.setattr("medianmap.estimators.model_file.load", lambda path: pytest.fail("the model was read"))
    assert run("m/som.mmap", "-o", out) == 2
    assert message in capsys.readouterr().err


def test_without_matplotlib_the_extra_is_named(here, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("m/som.mmap", "-o", "a.svg") == 2
    assert capsys.readouterr().err == (
        "medianmap: A picture needs matplotlib; install it with: pip install 'medianmap[plot]'\n"
    )


def test_a_failure_while_writing_leaves_the_earlier_picture(here, monkeypatch):
    (here / "a.svg").write_text("earlier")
    monkeypatch.setattr("os.replace", lambda *args: (_ for _ in ()).throw(OSError("the disk is full")))
    assert run("m/som.mmap", "-o", "a.svg") == 1
    assert (here / "a.svg").read_text() == "earlier"
    assert sorted(path.name for path in here.iterdir()) == ["a.svg", "m"]
