"""`medianmap patches` as a user meets it."""

import gzip
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.extras import optional

from medianmap import load
from medianmap.app.main import cli, main


def run(*args):
    return CliRunner().invoke(cli, ["patches", *map(str, args)])


@pytest.fixture
def words(tmp_path):
    rng = np.random.default_rng(4)
    path = tmp_path / "words.fasta"
    optional("dnaio")
    path.write_text("".join(f">w{k}\n{''.join(rng.choice(list('ACGT'), 6 + k % 4))}\n" for k in range(300)))
    return path


def test_a_file_becomes_a_model_and_a_table(words, tmp_path):
    done = run(words, "--metric", "edit", "--param", "indel=2", "-k", 4, "--patch-size", 50, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "300 objects in 6 patches" in done.output
    model = load(tmp_path / "out" / "model.mmap")
    assert model.multiplicities_.sum() == 300
    assert model.map_.metric_params["indel"] == 2
    told = CliRunner().invoke(cli, ["info", str(tmp_path / "out" / "model.mmap")]).output
    assert "PatchClusterer, 300 points in 6 patches" in told
    assert "MedianNeuralGas, 4 prototypes" in told
    rows = [line.split("\t") for line in (tmp_path / "out" / "prototypes.tsv").read_text().splitlines()]
    assert rows[0] == ["prototype", "id", "place", "multiplicity"]
    assert [row[1] for row in rows[1:]] == [f"w{row[2]}" for row in rows[1:]]
    assert sum(float(row[3]) for row in rows[1:]) == 300


def test_a_packed_table(words, tmp_path):
    for name, more in (("plain", ()), ("packed", ("--gzip", "--refine", "swap", "--annealing", "median"))):
        done = run(words, "--metric", "edit", "-k", 4, "--patch-size", 50, "-o", tmp_path / name, *more)
        assert done.exit_code == 0, done.output
    assert sorted(file.name for file in (tmp_path / "packed").iterdir()) == [
        "config.toml",
        "model.mmap",
        "prototypes.tsv.gz",
    ]
    assert gzip.decompress((tmp_path / "packed" / "prototypes.tsv.gz").read_bytes()).startswith(b"prototype\tid\tplace")
    model = load(tmp_path / "packed" / "model.mmap")
    assert (model.estimator.refine, model.estimator.annealing) == ("swap", "median")


def test_the_configuration_repeats_the_run(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    args = ("words.fasta", "--metric", "edit", "--param", "indel=2", "-k", 4, "--patch-size", 50, "--tree", "--seed", 3)
    assert run(*args, "-o", "out").exit_code == 0
    text = (tmp_path / "out/config.toml").read_text()
    config = tomllib.loads(text)
    assert (config["map"], config["n_clusters"], config["patch_size"], config["random_state"]) == ("gas", 4, 50, 3)
    assert (config["metric_params"], config["merge"], config["data"]["objects"]) == ({"indel": 2}, "tree", 300)
    again = shlex.split(text.splitlines()[0].removeprefix("# "))
    assert again[:2] == ["medianmap", "patches"]
    assert run(*again[2:]).exit_code == 0
    assert (tmp_path / "DIR/model.mmap").read_bytes() == (tmp_path / "out/model.mmap").read_bytes()


def test_the_page_of_a_pass_finds_its_data(words, tmp_path):
    out = tmp_path / "out"
    assert run(words, "--metric", "edit", "-k", 4, "--patch-size", 50, "-o", out).exit_code == 0
    done = CliRunner().invoke(cli, ["report", str(out / "model.mmap"), "-o", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert "words.fasta" in (tmp_path / "page.html").read_text()


def test_an_earlier_model_is_not_replaced_unasked(words, tmp_path):
    args = (words, "--metric", "edit", "-k", 4, "--patch-size", 50, "-o", tmp_path / "out")
    assert run(*args).exit_code == 0
    before = (tmp_path / "out/model.mmap").read_bytes()
    refused = run(*args, "--seed", 5)
    assert isinstance(refused.exception, FileExistsError)
    assert "exists already and is not empty" in str(refused.exception)
    assert (tmp_path / "out/model.mmap").read_bytes() == before
    (tmp_path / "out/report.html").write_text("of an earlier fit")
    (tmp_path / "out/notes.txt").write_text("mine")
    assert run(*args, "--seed", 5, "--force").exit_code == 0
    assert not (tmp_path / "out/report.html").exists()
    (tmp_path / "out/notes.txt").unlink()
    assert run(*args, "--gzip", "--force").exit_code == 0
    left = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert left == ["config.toml", "model.mmap", "prototypes.tsv.gz"]


def test_a_configuration_of_a_pass_is_none_of_a_fit(words, tmp_path, capsys):
    assert run(words, "--metric", "edit", "-k", 4, "--patch-size", 50, "-o", tmp_path / "out").exit_code == 0
    with pytest.raises(SystemExit) as stopped:
        main(["fit", "--config", str(tmp_path / "out/config.toml"), "-o", str(tmp_path / "new")])
    assert stopped.value.code == 2
    assert "there is no setting 'patch_size'" in capsys.readouterr().err


def test_ids_of_standard_input_and_of_exemplars(words, tmp_path):
    args = ("--metric", "edit", "-k", "4", "--patch-size", "50", "-o")
    piped = CliRunner().invoke(cli, ["patches", "-", *args, str(tmp_path / "a")], input=words.read_bytes())
    assert piped.exit_code == 0, piped.output
    assert run(words, *args, tmp_path / "b").exit_code == 0
    for name in ("model.mmap", "prototypes.tsv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    placed = CliRunner().invoke(cli, ["predict", str(tmp_path / "a" / "model.mmap"), str(words)])
    assert {line.split("\t")[5] for line in placed.stdout.splitlines()[1:]} <= {f"w{k}" for k in range(300)}


def test_columns_of_a_table(tmp_path):
    table = tmp_path / "words.csv"
    table.write_text("note,word,name\n" + "".join(f"7,{'AC' * (1 + k % 5)},n{k}\n" for k in range(60)))
    args = ("--metric", "edit", "-k", 3, "--patch-size", 20, "--read", "string=word", "--read", "id=name")
    done = run(table, *args, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    model = load(tmp_path / "out/model.mmap")
    assert model.prototype_ids_ == [f"n{k}" for k in model.medoid_indices_]
    placed = CliRunner().invoke(cli, ["predict", str(tmp_path / "out/model.mmap"), str(table)])  # reads it alike
    assert placed.stdout.splitlines()[1].startswith("n0\t")


@pytest.mark.parametrize("name", ["bad\udcff.txt", "we ird\u2028n\n.txt", "-x.txt"])
def test_odd_names_of_files(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("".join(f"{'AC' * (1 + k % 5)}\n" for k in range(60)))
    done = run("--metric", "edit", "-k", 3, "--patch-size", 20, "-o", "out", "--", name)
    assert done.exit_code == 0, (done.output, done.exception)
    text = (tmp_path / "out/config.toml").read_bytes().decode()
    assert tomllib.loads(text)["input"] == name.encode("utf-8", "replace").decode()
    if name == "-x.txt":
        again = shlex.split(text.splitlines()[0].removeprefix("# "))
        assert run(*again[2:]).exit_code == 0


def test_som_tree_and_budget(words, tmp_path):
    som = run(words, "--metric", "edit", "--map", "som", "--grid", "2x3", "--patch-size", 60, "-o", tmp_path / "a")
    assert som.exit_code == 0, som.output
    assert load(tmp_path / "a" / "model.mmap").lattice_.shape == (2, 3)
    tree = run(
        words, "--metric", "edit", "-k", 4, "--map", "kmeans", "--patch-size", 50, "--tree", "-o", tmp_path / "b"
    )
    assert tree.exit_code == 0, tree.output
    short = run(words, "--metric", "edit", "-k", 4, "--patch-size", 50, "--max-evaluations", 3000, "-o", tmp_path / "c")
    assert "stopped by the budget" in short.output


def test_a_checkpoint_is_gone_on_from(words, tmp_path):
    args = (words, "--metric", "edit", "-k", 4, "--patch-size", 50, "--checkpoint", tmp_path / "c")
    assert run(*args, "-o", tmp_path / "a").exit_code == 0
    assert run(*args, "-o", tmp_path / "b").exit_code == 0
    first, second = (load(tmp_path / name / "model.mmap") for name in "ab")
    np.testing.assert_array_equal(first.medoid_indices_, second.medoid_indices_)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nowhere.fasta", "--metric", "edit"], "nowhere.fasta"),
        (["{words}", "--metric", "editt"], "no metric 'editt'"),
        (["{words}", "--metric", "edit", "--map", "som"], "--map som needs it"),
        (["{words}", "--metric", "edit", "--map", "som", "--grid", "2x2", "-k", "7"], "-k goes with --map gas"),
        (["{words}", "--metric", "edit", "-k", "60", "--patch-size", "50"], "fewer than the 60 prototypes"),
        (
            ["{words}", "--metric", "edit", "--map", "kmeans", "--neighborhood", "gaussian"],
            "--neighborhood",
        ),
        (["{words}", "--metric", "edit", "--scheduler", "nonsense://x"], "scheduler"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(args, sentence, words, tmp_path, capsys):
    if "--scheduler" in args:
        optional("distributed")
    given = [arg.format(words=words) for arg in args]
    with pytest.raises(SystemExit) as stopped:
        main(["patches", *given, "-o", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
