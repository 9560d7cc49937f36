"""`medianmap fit` in one pass over patches, and over a stream, as a user meets it."""

import gzip
import io
import json
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from support.extras import optional
from support.fits import Stops, rows

from medianmap import MedianKMeans, MedianNeuralGas, PatchClusterer, PrototypeClassifier, load, save
from medianmap.app.main import cli, main
from medianmap.app.run import run_fit
from medianmap.app.settings import FitSettings
from medianmap.predict.queries import map_of
from medianmap.readers import read, write_phylip

GAS = ("--metric", "edit", "--map", "gas", "-k", 4, "--patch", 50)


def run(*args):
    return CliRunner().invoke(cli, ["fit", *map(str, args)])


@pytest.fixture
def words(tmp_path):
    rng = np.random.default_rng(4)
    path = tmp_path / "words.fasta"
    path.write_text("".join(f">w{k}\n{''.join(rng.choice(list('ACGT'), 6 + k % 4))}\n" for k in range(300)))
    return path


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_file_becomes_a_model_and_its_tables(stream, words, tmp_path):
    out = tmp_path / "out"
    done = run(words, *GAS, *stream, "--param", "indel=2", "-o", out)
    assert done.exit_code == 0, done.output
    assert "300 points in 6 patches" in done.output
    model = load(out / "model.mmap")
    assert model.multiplicities_.sum() == 300
    assert model.map_.metric_params["indel"] == 2
    told = CliRunner().invoke(cli, ["info", str(out / "model.mmap")]).output
    assert "PatchClusterer, 300 points in 6 patches" in told
    assert "MedianNeuralGas, 4 neurons" in told
    prototypes = read(out / "exemplars.fasta")
    assert prototypes.objects == list(model.cluster_centers_)
    assert prototypes.ids == model.prototype_ids_
    summary = json.loads((out / "summary.json").read_text())
    assert [neuron["exemplar_id"] for neuron in summary["neurons"]] == prototypes.ids
    assert sum(neuron["hits"] for neuron in summary["neurons"]) == 300
    assert summary["n_points"] == 300
    if stream:  # points in the order of the file are those that medoid_indices_ counts
        assert model.prototype_ids_ == [f"w{k}" for k in model.medoid_indices_]
    assert (out / "report.html").exists() == (not stream)
    table = rows(out / "assignments.tsv")
    assert [row["id"] for row in table] == [f"w{k}" for k in range(300)]
    assert [int(row["neuron"]) for row in table] == model.predict(read(words).objects).tolist()
    assert sum(float(row["dissimilarity"]) for row in table) / 2 == pytest.approx(
        summary["quality"]["quantization_error"]
    )


def test_a_stream_is_the_pass_that_python_makes(words, tmp_path):
    assert run(words, *GAS, "--stream", "--seed", 2, "-o", tmp_path / "out").exit_code == 0
    direct = PatchClusterer(MedianNeuralGas(4, metric="edit", random_state=2), 50).fit(iter(read(words).objects))
    assert load(tmp_path / "out/model.mmap").medoid_indices_.tolist() == direct.medoid_indices_.tolist()


@pytest.mark.parametrize("how", [{}, {"tree": True}, {"stream": True}, {"labels": "header", "beta": 0.5}])
def test_no_model_is_altered_after_its_fit(how, words, tmp_path, monkeypatch):
    words.write_text("".join(f">w{k} {'ab'[k % 2]}\n{'ACGT' * (1 + k % 3)}\n" for k in range(200)))
    kind = PrototypeClassifier if "beta" in how else PatchClusterer
    fit = kind.fit

    def fit_and_save(self, *args, **kwargs):
        save(fit(self, *args, **kwargs), tmp_path / "at_once.mmap")
        return self

    monkeypatch.setattr(kind, "fit", fit_and_save)
    done = run_fit(FitSettings(str(words), "gas", k=3, metric="edit", patch=50, threads=2, **how), tmp_path / "out")
    written = load(tmp_path / "out/model.mmap")
    assert map_of(written).usual_["held"].sum() == (50 if "stream" in how else 200)  # what the fit adds to the model
    del map_of(written).usual_
    save(written, tmp_path / "without.mmap")
    assert (tmp_path / "without.mmap").read_bytes() == (tmp_path / "at_once.mmap").read_bytes()
    fitted = done.model.estimator_ if "beta" in how else done.model
    assert fitted.prototype_ids_ == fitted.map_.prototype_ids_ == [f"w{k}" for k in fitted.medoid_indices_]
    if "stream" not in how:
        assert fitted.labels_.tolist() == done.points["prototype"].tolist()


def test_packed_tables(words, tmp_path):
    more = ("--gzip", "--refine", "swap", "--annealing", "median", "--stream")
    done = run(words, *GAS, "-o", tmp_path / "packed", *more)
    assert done.exit_code == 0, done.output
    assert sorted(file.name for file in (tmp_path / "packed").iterdir()) == [
        "assignments.tsv.gz",
        "config.toml",
        "exemplars.fasta.gz",
        "model.mmap",
        "summary.json",
    ]
    assert gzip.decompress((tmp_path / "packed" / "assignments.tsv.gz").read_bytes()).startswith(b"id\tneuron\t")
    model = load(tmp_path / "packed" / "model.mmap")
    assert (model.estimator.refine, model.estimator.annealing) == ("swap", "median")


@pytest.mark.parametrize("how", [("--tree",), ("--stream",)])
def test_the_configuration_repeats_the_run(how, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("words.fasta", *GAS, *how, "--param", "indel=2", "--seed", 3, "-o", "out").exit_code == 0
    config = tomllib.loads((tmp_path / "out/config.toml").read_text())
    assert (config["map"], config["k"], config["patch"], config["seed"]) == ("gas", 4, 50, 3)
    assert (config["params"], config["data"]["points"]) == ({"indel": 2, "spelling": "dna"}, 300)
    assert (config["tree"], config["stream"]) == ("--tree" in how, "--stream" in how)
    assert run("--config", "out/config.toml", "-o", "again").exit_code == 0
    for name in ("model.mmap", "assignments.tsv", "summary.json", "config.toml"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_the_page_of_a_stream_finds_its_data(words, tmp_path):
    out = tmp_path / "out"
    assert run(words, *GAS, "--stream", "-o", out).exit_code == 0
    done = CliRunner().invoke(cli, ["report", str(out / "model.mmap"), "-o", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert "words.fasta" in (tmp_path / "page.html").read_text()


def test_an_earlier_model_is_not_replaced_unasked(words, tmp_path):
    args = (words, *GAS, "--stream", "-o", tmp_path / "out")
    assert run(*args).exit_code == 0
    before = (tmp_path / "out/model.mmap").read_bytes()
    refused = run(*args, "--seed", 5)
    assert isinstance(refused.exception, FileExistsError)
    assert (tmp_path / "out/model.mmap").read_bytes() == before
    (tmp_path / "out/report.html").write_text("of an earlier fit")
    (tmp_path / "out/notes.txt").write_text("mine")
    assert run(*args, "--seed", 5, "--force").exit_code == 0
    assert not (tmp_path / "out/report.html").exists()
    assert (tmp_path / "out/notes.txt").read_text() == "mine"


def test_ids_of_standard_input_and_of_exemplars(words, tmp_path, monkeypatch):
    args = [*map(str, GAS), "--stream", "-o"]
    content = io.BufferedReader(io.BytesIO(words.read_bytes()))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=content))
    with pytest.raises(SystemExit) as ended:
        main(["fit", "-", *args, str(tmp_path / "a")])
    assert ended.value.code == 0
    assert run(words, *args, tmp_path / "b").exit_code == 0
    for name in ("model.mmap", "exemplars.fasta"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert not (tmp_path / "a/assignments.tsv").exists()  # a pipe cannot be read again
    placed = CliRunner().invoke(cli, ["predict", str(tmp_path / "a" / "model.mmap"), str(words)])
    assert placed.stdout == (tmp_path / "b/assignments.tsv").read_text()


def test_columns_of_a_table(tmp_path):
    table = tmp_path / "words.csv"
    table.write_text("note,word,name\n" + "".join(f"7,{'AC' * (1 + k % 5)},n{k}\n" for k in range(60)))
    args = ("--map", "gas", "-k", 3, "--patch", 20, "--read", "string=word", "--read", "id=name", "--stream")
    done = run(table, *args, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "words.csv are compared by 'edit'" in done.output
    model = load(tmp_path / "out/model.mmap")
    assert model.prototype_ids_ == [f"n{k}" for k in model.medoid_indices_]
    assert [row["string"] for row in rows(tmp_path / "out/exemplars.tsv")] == list(model.cluster_centers_)
    placed = CliRunner().invoke(cli, ["predict", str(tmp_path / "out/model.mmap"), str(table)])  # reads it alike
    assert placed.stdout.splitlines()[1].startswith("n0\t")


def test_a_stream_of_vectors(tmp_path, rng):
    X = rng.normal(size=(90, 2))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",")
    done = run(tmp_path / "x.csv", "--grid", "2x2", "--patch", 30, "--stream", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "x.csv are compared by 'euclidean'" in done.output
    model = load(tmp_path / "out/model.mmap")
    assert model.lattice_.shape == (2, 2)
    prototypes = rows(tmp_path / "out/exemplars.tsv")
    assert [[float(row["x0"]), float(row["x1"])] for row in prototypes] == X[model.medoid_indices_].tolist()


@pytest.mark.parametrize("name", ["bad\udcff.txt", "we ird\u2028n\n.txt", "-x.txt"])
def test_odd_names_of_files(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("".join(f"{'AC' * (1 + k % 5)}\n" for k in range(60)))
    done = run("--metric", "edit", "--map", "gas", "-k", 3, "--patch", 20, "--stream", "-o", "out", "--", name)
    assert done.exit_code == 0, (done.output, done.exception)
    text = (tmp_path / "out/config.toml").read_bytes().decode()
    assert tomllib.loads(text)["input"] == "../" + name.encode("utf-8", "replace").decode()
    if name == "-x.txt":
        assert run("--config", "out/config.toml", "-o", "again").exit_code == 0


def test_som_tree_and_budget(words, tmp_path):
    som = run(words, "--metric", "edit", "--grid", "2x3", "--patch", 60, "--stream", "-o", tmp_path / "a")
    assert som.exit_code == 0, som.output
    assert load(tmp_path / "a" / "model.mmap").lattice_.shape == (2, 3)
    for stream in ((), ("--stream",)):
        args = (words, "--metric", "edit", "-k", 4, "--map", "kmeans", "--patch", 50, *stream)
        tree = run(*args, "--tree", "-o", tmp_path / f"tree{len(stream)}")
        assert tree.exit_code == 0, tree.output
        assert load(tmp_path / f"tree{len(stream)}/model.mmap").merge == "tree"
        short = run(*args, "--max-evaluations", 3000, "-o", tmp_path / f"short{len(stream)}")
        assert "stopped by the budget" in short.output
        assert load(tmp_path / f"short{len(stream)}/model.mmap").n_evaluations_ <= 3000
        summary = json.loads((tmp_path / f"short{len(stream)}/summary.json").read_text())
        assert summary["n_points"] == len(rows(tmp_path / f"short{len(stream)}/assignments.tsv")) == 300


@pytest.mark.parametrize("stage", ["patches", "assignment"])
def test_a_stream_goes_on_after_an_interruption(stage, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = FitSettings("words.fasta", "gas", k=4, metric="edit", patch=50, stream=True)
    straight, again = Stops("", 1), Stops("", 1)
    run_fit(settings, "whole", watch=straight)
    with pytest.raises(KeyboardInterrupt, match=r"part\.partial keeps"):
        run_fit(settings, "part", watch=Stops(stage, 0.5))
    assert not Path("part").exists()
    run_fit(settings, "part", watch=again)
    assert again.seen.count("patches") < straight.seen.count("patches")
    for file in Path("whole").iterdir():
        assert (Path("part") / file.name).read_bytes() == file.read_bytes()
    assert not Path("part.partial").exists()


@pytest.mark.parametrize(("tree", "stage"), [(False, "patches"), (False, "assignment"), (True, "assignment")])
def test_a_stream_of_other_data_starts_again(tree, stage, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = FitSettings("words.fasta", "gas", k=4, metric="edit", patch=50, stream=True, tree=tree)
    with pytest.raises(KeyboardInterrupt):
        run_fit(settings, "part", watch=Stops(stage, 0.5))
    words.write_text(words.read_text().replace("A", "T"))
    run_fit(settings, "part")
    run_fit(settings, "whole")
    assert Path("part/model.mmap").read_bytes() == Path("whole/model.mmap").read_bytes()


def test_one_pass_is_chosen_where_all_pairs_are_too_many(words, tmp_path, monkeypatch):
    monkeypatch.setattr("medianmap.app.inputs.MOST_ALL_PAIRS", 200)
    args = (words, "--metric", "edit", "--map", "kmeans", "-k", 3)
    done = run(*args, "-o", tmp_path / "pass")
    assert done.exit_code == 0, done.output
    assert "300 points of" in done.output
    assert "one pass over patches of 1000; --patch 0" in done.output
    assert tomllib.loads((tmp_path / "pass/config.toml").read_text())["patch"] == 1000
    assert isinstance(load(tmp_path / "pass/model.mmap"), PatchClusterer)
    for option in (("--tree",), ("--max-evaluations", 10**6)):  # which --patch 0 does not go with
        said = run(*args, *option, "-o", tmp_path / f"other{option[0]}").output
        assert f"without {option[0]}, --patch 0" in said
    whole = run(*args, "--patch", 0, "-o", tmp_path / "pairs")
    assert "one pass" not in whole.output
    assert isinstance(load(tmp_path / "pairs/model.mmap"), MedianKMeans)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nowhere.fasta", "--stream"], "nowhere.fasta"),
        (["{words}", "--stream", "--metric", "editt"], "no metric 'editt'"),
        (["{words}", "--stream", "--metric", "edit", "--grid", "2x2", "-k", "7"], "Both --grid and -k"),
        (["{words}", "--stream", "--metric", "edit", "--grid", "6x10", "--patch", "50"], "60"),
        (
            ["{words}", "--stream", "--metric", "edit", "--map", "kmeans", "--neighborhood", "gaussian"],
            "--neighborhood",
        ),
        (["{words}", "--metric", "edit", "--scheduler", "nonsense://x"], "scheduler"),
        (["{words}", "--stream", "--labels", "header"], "--stream does not support --labels"),
        (["{words}", "--stream", "--patch", "0"], "--patch 0"),
        (["{words}", "--tree", "--patch", "0"], "--patch 0"),
        (["{empty}", "--stream"], "empty"),
        (["{matrix}", "--stream"], "cannot be read as a stream"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(args, sentence, words, tmp_path, capsys):
    if "--scheduler" in args:
        optional("distributed")
    files = {"words": words, "empty": tmp_path / "empty.fasta", "matrix": tmp_path / "D.phy"}
    files["empty"].touch()
    write_phylip(files["matrix"], np.ones((4, 4)) - np.eye(4), list("abcd"))
    with pytest.raises(SystemExit) as stopped:
        main(["fit", *(arg.format(**files) for arg in args), "-o", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.partial").exists()


def test_a_matrix_is_not_taken_for_a_stream_of_vectors(tmp_path):
    D = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    np.savetxt(tmp_path / "D.csv", D, delimiter=",")
    asked = (tmp_path / "D.csv", "--stream", "--patch", 6, "--grid", "1x2", "-o", tmp_path / "out")
    done = run(*asked)
    assert isinstance(done.exception, ValueError)
    assert all(word in str(done.exception) for word in ("D.csv", "drop --stream", "kind=vectors"))
    assert run(*asked, "--read", "kind=vectors").exit_code == 0
