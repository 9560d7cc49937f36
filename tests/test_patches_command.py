"""`medianmap patches` as a user meets it."""

import gzip
import shlex
import tomllib

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import optional

from medianmap import load
from medianmap.cli import cli, main


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
    assert (config["map"], config["k"], config["patch"], config["seed"]) == ("gas", 4, 50, 3)
    assert (config["params"], config["patches"], config["data"]["objects"]) == ({"indel": 2}, {"merge": "tree"}, 300)
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
    assert "holds model.mmap already" in str(refused.exception)
    assert (tmp_path / "out/model.mmap").read_bytes() == before
    assert run(*args, "--seed", 5, "--force").exit_code == 0


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
        (["{words}", "--metric", "edit", "-k", "60", "--patch-size", "50"], "fewer than the 60 prototypes"),
        (
            ["{words}", "--metric", "edit", "--map", "kmeans", "--neighborhood", "gaussian"],
            "--neighborhood means nothing",
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
