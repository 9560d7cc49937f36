"""`medianmap fit` as a user meets it: what it writes, what it says, and what is left when it is stopped."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.extras import optional
from support.fits import FILES, IDS, KIND, SAME, WORDS, Stops, contents, fit, rows, run, write_words

from medianmap import MedianKMeans, MedianSOM, PrototypeClassifier, as_dissimilarity, load, save, uncertainty
from medianmap.app import inputs, settings
from medianmap.app.run import run_fit
from medianmap.app.settings import FitSettings
from medianmap.explore import judged, two_best
from medianmap.metrics import bind
from medianmap.readers import read, write_phylip
from medianmap.sources import DenseSource


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with words.fasta in it."""
    monkeypatch.chdir(tmp_path)
    write_words()
    return tmp_path


# --- what it writes -----------------------------------------------------------------------------------------------


def test_stability_is_told_in_every_file(here, capfd):
    assert fit("--grid", "2x3", "--stability", "5", "--seed", "3", "-o", "map") == 0
    D = read_matrix()
    som = load("map/model.mmap")
    told = uncertainty(som, WORDS, n_resamples=5, random_state=3)
    table = rows("map/assignments.tsv")
    for name in ("ratio", "stability", "confidence"):
        assert [float(row[name]) for row in table] == told.points[name].tolist()
    assert [float(row["ratio"]) for row in table] == [a / b for a, b in np.sort(D[:, som.medoid_indices_])[:, :2]]
    certainty = json.loads(Path("map/summary.json").read_text())["certainty"]
    least = int(np.lexsort((-told.points["ratio"], told.points["confidence"]))[0])
    assert certainty["n_resamples"] == 5
    assert certainty["mean"] == pytest.approx(told.points["confidence"].mean())
    assert f"By 5 resamples of the data, a point keeps its neuron with probability {certainty['mean']:.2f}" in (
        capfd.readouterr().out
    )
    assert len(certainty["least_sure"]) == 10
    assert certainty["least_sure"][0]["id"] == IDS[least]
    assert certainty["least_sure"][0]["confidence"] == told.points["confidence"][least]
    page = Path("map/report.html").read_text()
    assert "How sure" in page
    assert '"n_resamples":5' in page
    assert run("fit", "--config", "map/config.toml", "-o", "again") == 0
    assert contents("again") == contents("map")


def read_matrix():
    """(36, 36) edit distances of the words."""
    return np.asarray(as_dissimilarity(WORDS, "edit").block(slice(None), slice(None)))


@pytest.mark.parametrize(("asked", "temperature"), [("auto", "auto"), ("3.5", 3.5)])
def test_a_temperature_is_that_of_the_map(asked, temperature, here):
    assert fit("--map", "kmeans", "-k", "3", "--temperature", asked, "-o", "map") == 0
    expected = MedianKMeans(3, metric="edit", max_iter=8, temperature=temperature, random_state=0).fit(WORDS)
    np.testing.assert_array_equal(load("map/model.mmap").medoid_indices_, expected.medoid_indices_)
    assert tomllib.loads(Path("map/config.toml").read_text())["temperature"] == temperature
    assert '"cools":true' in Path("map/report.html").read_text()
    assert run("fit", "--config", "map/config.toml", "-o", "again") == 0
    assert contents("again") == contents("map")


def test_a_som_is_cooled_too(here):
    assert fit("--map", "som", "--grid", "2x2", "--temperature", "auto", "-o", "map") == 0
    assert load("map/model.mmap").temperature == "auto"
    assert '"cools":true' in Path("map/report.html").read_text()


def test_a_kernel_is_read_from_a_file(here, capfd):
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.save("K.npy", X @ X.T)
    asked = ["--read", "kind=matrix", "--read", "similarity=kernel", "--map", "kmeans", "-k", "3"]
    assert run("fit", "K.npy", *asked, "-o", "map") == 0
    by_kernel = as_dissimilarity(X @ X.T, similarity="kernel")
    expected = MedianKMeans(3, metric="precomputed", random_state=0).fit(by_kernel)
    assert [int(row["neuron"]) for row in rows("map/assignments.tsv")] == expected.labels_.tolist()
    np.save("S.npy", X @ X.T - 4 * np.eye(30))
    assert run("fit", "S.npy", *asked, "-o", "no") == 2
    told = capfd.readouterr().err
    assert "into -" in told
    assert "--read similarity=kernel-clip sets such eigenvalues to 0" in told


def test_all_files_tell_the_same(here, capsys):
    assert fit("--grid", "2x3", "--labels", "header", "-o", "map") == 0
    assert sorted(os.listdir("map")) == FILES
    assert sorted(os.listdir()) == ["map", "words.fasta"]
    model, summary, table = load("map/model.mmap"), json.loads(Path("map/summary.json").read_text()), None
    table = rows("map/assignments.tsv")
    edit = bind("edit")
    exemplars = [WORDS[i] for i in model.medoid_indices_]
    G = np.array([[edit.between([a], [b])[0, 0] for b in exemplars] for a in WORDS])
    assert [row["id"] for row in table] == IDS
    assert [int(row["neuron"]) for row in table] == G.argmin(axis=1).tolist()
    assert [float(row["dissimilarity"]) for row in table] == G.min(axis=1).tolist()
    assert [row["exemplar"] for row in table] == [IDS[model.medoid_indices_[j]] for j in G.argmin(axis=1)]
    assert [float(row["second_dissimilarity"]) for row in table] == np.sort(G, axis=1)[:, 1].tolist()
    ratio = np.array([1.0 if b == 0 else a / b for a, b in np.sort(G, axis=1)[:, :2]])
    assert [float(row["border_score"]) for row in table] == ratio.tolist()  # of 6 neurons each is a group of its own
    least = max(0.9, np.sort(ratio)[-2])  # one in twenty of 36 is the second from the top
    assert [row["border"] for row in table] == [str(int(each >= least)) for each in ratio]
    scores = judged(two_best(model, WORDS), DenseSource(edit.between(WORDS, WORDS), True))["outlier_score"]
    assert [float(row["outlier_score"]) for row in table] == scores.tolist()
    assert [(each["id"], each["score"]) for each in summary["outliers"]] == [
        (IDS[i], scores[i]) for i in np.argsort(-scores, kind="stable")[:20]
    ]
    majority = [Counter(np.repeat(KIND, 12)[G.argmin(axis=1) == j]).most_common(1)[0][1] for j in range(6)]
    for row, j in zip(table, G.argmin(axis=1), strict=True):
        assert float(row["majority_share"]) == majority[j] / (G.argmin(axis=1) == j).sum()
    assert [row["label"] for row in table] == np.repeat(KIND, 12).tolist()
    assert summary["quality"]["quantization_error"] == G.min(axis=1).sum() / 2
    assert summary["n_points_labelled"] == 36
    assert summary["health"]["ok"]
    assert [n["exemplar_id"] for n in summary["neurons"]] == [IDS[i] for i in model.medoid_indices_]
    prototypes = read("map/exemplars.fasta")
    assert prototypes.objects == exemplars
    assert prototypes.ids == [IDS[i] for i in model.medoid_indices_]
    assert re.search(r"neuron=0 row=0 column=0 hits=\d+", prototypes.descriptions[0])
    # The model holds its exemplars: it answers for words that it has never seen.
    assert model.predict([exemplars[3] + "A"])[0] in np.flatnonzero(
        edit.between([exemplars[3] + "A"], exemplars)[0] == edit.between([exemplars[3] + "A"], exemplars).min()
    )
    said = capsys.readouterr()
    assert summary["verdict"] in said.out
    assert re.search(r"MedianSOM of 36 points by edit on 2x3 neurons: \d+ epochs", said.out)
    assert "Wrote assignments.tsv, config.toml" in said.out
    assert said.err == ""


def test_it_is_the_map_that_python_fits(here):
    assert fit("--grid", "2x3", "--seed", "3", "-o", "map") == 0
    direct = MedianSOM((2, 3), metric="edit", n_epochs=8, random_state=3).fit(WORDS)
    fitted = load("map/model.mmap")
    assert fitted.medoid_indices_.tolist() == direct.medoid_indices_.tolist()
    assert fitted.history_.tolist() == direct.history_.tolist()
    assert fitted.transform(WORDS).tolist() == direct.transform(WORDS).tolist()
    assert set(vars(fitted)) - {"prototype_ids_", "usual_"} == set(vars(direct))


def test_how_a_map_is_trained(here):
    how = {"annealing": "median", "refine": "swap", "neighborhood": "gaussian"}
    assert fit("--grid", "2x3", *(f"--{name}={value}" for name, value in how.items()), "-o", "map") == 0
    direct = MedianSOM((2, 3), metric="edit", n_epochs=8, random_state=0, **how).fit(WORDS)
    fitted = load("map/model.mmap")
    assert fitted.medoid_indices_.tolist() == direct.medoid_indices_.tolist()
    assert {name: fitted.get_params()[name] for name in how} == how
    config = tomllib.loads(Path("map/config.toml").read_text())
    assert {name: config[name] for name in how} == how
    # What is not said is resolved, and a configuration can be taken back.
    assert run("fit", "--config", "map/config.toml", "--refine", "none", "--map", "kmeans", "-k", "3", "-o", "b") == 0
    config = tomllib.loads(Path("b/config.toml").read_text())
    assert (config["annealing"], config["refine"], "neighborhood" in config) == ("median", "none", False)
    assert fit("--map", "gas", "-k", "3", "-o", "c") == 0
    config = tomllib.loads(Path("c/config.toml").read_text())
    assert (config["annealing"], config["refine"], config["neighborhood"]) == ("auto", "none", "exponential")


@pytest.mark.parametrize(("kind", "size"), [("som", {"grid": (2, 3)}), ("gas", {"k": 4}), ("kmeans", {"k": 4})])
def test_a_setting_sets_the_parameter_that_the_table_says(kind, size):
    """What is not said is the map's own default, and every setting that names a parameter reaches it."""
    plain = settings.make_map(FitSettings("x", map=kind, **size))
    completed = inputs.completed(FitSettings("x", map=kind, **size), "euclidean")
    assert settings.make_map(completed).get_params() == {**plain.get_params(), "random_state": 0}
    said = {"metric": "edit", "params": {"indel": 2}, "epochs": 7, "init": "k-medoids++", "n_init": 3,
            "annealing": "median", "refine": "swap", "seed": 9, "device": "auto", **size}  # fmt: skip
    if kind == "som":
        said |= {"order": 0.3}
    if kind == "kmeans":
        said |= {"temperature": "auto"}
    else:
        said |= {"sigma_start": 1.5, "sigma_end": 0.5, "neighborhood": "gaussian"}
    reached = settings.make_map(FitSettings("x", map=kind, **said)).get_params()
    for name, value in said.items():
        assert value in [reached.get(parameter) for parameter in settings.SETTINGS[name].sets], name
    left = ("grid", "k", "sigma_start", "sigma_end", "neighborhood", "order", "init", "temperature")
    assert all(name in said or not row.sets or name in left for name, row in settings.SETTINGS.items())


def test_same_seed_same_bytes_also_with_threads(here):
    assert fit("--grid", "2x3", "-o", "a") == 0
    time.sleep(2.1)  # the time of day, which zip files know to 2 s, must not matter
    assert fit("--grid", "2x3", "-o", "b") == 0
    assert contents("a", FILES) == contents("b", FILES)
    assert fit("--grid", "2x3", "--threads", "2", "-o", "c") == 0
    names = [name for name in SAME if name != "config.toml"]
    assert contents("a", names) == contents("c", names)
    assert fit("--grid", "2x3", "--seed", "1", "-o", "d") == 0
    assert contents("a")["model.mmap"] != contents("d")["model.mmap"]


def test_a_configuration_repeats_its_run_and_the_command_line_overrides_it(here, capsys):
    assert fit("--map", "gas", "-k", "5", "--param", "indel=2", "--labels", "header", "--beta", "0.5", "-o", "a") == 0
    assert run("fit", "--config", "a/config.toml", "-o", "b") == 0
    assert contents("a") == contents("b")
    config = tomllib.loads(Path("a/config.toml").read_text())
    assert config["params"] == {"indel": 2, "spelling": "protein"}
    assert config["data"]["points"] == 36
    assert config["beta"] == 0.5
    assert run("fit", "--config", "a/config.toml", "--map", "som", "--grid", "2x2", "--metric", "edit", "-o", "c") == 0
    other = tomllib.loads(Path("c/config.toml").read_text())
    assert (other["map"], other["grid"], "k" in other, other["params"]) == (
        "som",
        "2x2",
        False,
        {"indel": 2, "spelling": "protein"},
    )
    capsys.readouterr()
    with open("words.fasta", "a") as file:
        file.write(">new acd\nACDACD\n")
    assert run("fit", "--config", "a/config.toml", "-o", "d") == 0
    assert "is not the file that the configuration was made with" in capsys.readouterr().err


def test_strange_names_survive_the_configuration(here):
    Path('it\'s \\ "odd" \u00e9\x7f\U0001f600.fasta').write_bytes(Path("words.fasta").read_bytes())
    name = next(name for name in os.listdir() if "odd" in name)
    assert run("fit", name, "--metric", "edit", "--map", "kmeans", "-k", "3", "--no-report", "-o", "a") == 0
    assert tomllib.loads(Path("a/config.toml").read_text())["input"] == f"../{name}"
    assert run("fit", "--config", "a/config.toml", "--no-report", "-o", "b") == 0
    assert contents("a") == contents("b")


def test_force_replaces_our_files_alone(here, capsys):
    assert fit("--grid", "2x2", "-o", "map") == 0
    Path("map/notes.txt").write_text("mine")
    Path("map/exemplars.tsv").write_text("of an earlier fit")
    before = contents("map")
    assert fit("--grid", "2x3", "-o", "map") == 2
    assert "The folder map exists already" in capsys.readouterr().err
    assert contents("map") == before
    assert run("fit", "words.fasta", "--metric", "nonsense", "--force", "-o", "map") == 2
    assert contents("map") == before
    assert fit("--grid", "2x3", "--force", "--gzip", "--no-report", "-o", "map") == 0
    assert sorted(os.listdir("map")) == [
        "assignments.tsv.gz", "config.toml", "exemplars.fasta.gz", "model.mmap", "notes.txt", "summary.json",
    ]  # fmt: skip
    assert len(rows("map/assignments.tsv.gz")) == 36
    assert Path("map/notes.txt").read_text() == "mine"
    assert sorted(os.listdir()) == ["map", "words.fasta"]


def test_an_empty_folder_is_as_good_as_none(here):
    Path("deep/er").mkdir(parents=True)
    assert fit("--grid", "2x2", "-o", "deep/er") == 0
    assert fit("--grid", "2x2", "-o", "new/too") == 0
    assert contents("deep/er") == contents("new/too")
    Path("here").mkdir()
    os.chdir("here")
    assert run("fit", "../words.fasta", "--metric", "edit", "--grid", "2x2", "-o", ".") == 0
    assert sorted(os.listdir()) == FILES
    assert sorted(os.listdir("..")) == ["deep", "here", "new", "words.fasta"]


# --- what it takes ------------------------------------------------------------------------------------------------


def test_dissimilarities_in_three_forms(here, capsys):
    D = bind("edit").between(WORDS, WORDS)
    np.save("D.npy", D)
    write_phylip("D.phy", D, IDS)
    Path("labels.tsv").write_text("id\tlabel\nw0\tx\nw1\ty\nw2\tNA\n")
    assert fit("--grid", "2x3", "-o", "words") == 0
    for name, more in (("D.npy", []), ("D.phy", ["--labels", "labels.tsv"])):
        assert run("fit", name, "--grid", "2x3", "--epochs", 8, *more, "-o", f"{name}-map") == 0
        assert sorted(os.listdir(f"{name}-map")) == [*FILES[:2], "exemplars.tsv", *FILES[3:]]
        model = load(f"{name}-map/model.mmap")
        assert model.medoid_indices_.tolist() == load("words/model.mmap").medoid_indices_.tolist()
    table = rows("D.phy-map/assignments.tsv")
    assert [row["label"] for row in table[:4]] == ["x", "y", "", ""]
    assert [row["exemplar_id"] for row in rows("D.phy-map/exemplars.tsv")] == [IDS[i] for i in model.medoid_indices_]
    assert json.loads(Path("D.phy-map/summary.json").read_text())["n_points_labelled"] == 2
    np.savez("D.npz", D=D, ids=IDS, labels=np.repeat(KIND, 12))
    assert run("fit", "D.npz", "--map", "kmeans", "-k", 3, "--labels", "labels", "--no-report", "-o", "npz") == 0
    assert rows("npz/assignments.tsv")[0]["label"] == "acd"


def test_vectors_with_a_column_of_labels(here, rng, capsys):
    X = rng.normal(size=(40, 2)) + np.repeat([[0, 0], [8, 8]], 20, axis=0)
    lines = [f"p{k},{a!r},{b!r},{'left' if k < 20 else 'right'}" for k, (a, b) in enumerate(X.tolist())]
    Path("x.csv").write_text("id,height,width,side\n" + "\n".join(lines) + "\n")
    assert run("fit", "x.csv", "--labels", "side", "--map", "gas", "-k", "4", "-o", "map") == 0
    assert "without --metric the vectors of x.csv are compared by 'euclidean'" in capsys.readouterr().err
    prototypes = rows("map/exemplars.tsv")
    assert [[float(p["height"]), float(p["width"])] for p in prototypes] == [
        X[int(p["exemplar_id"][1:])].tolist() for p in prototypes
    ]
    assert {p["majority"] for p in prototypes} == {"left", "right"}
    model = load("map/model.mmap")
    assert model.feature_names_in_.tolist() == ["height", "width"]
    assert model.n_features_in_ == 2
    assert run("fit", "x.csv", "--labels", "colour", "--map", "gas", "-k", "4", "-o", "other") == 2
    assert "colour" in capsys.readouterr().err


def test_standard_input_and_gz_are_like_a_file(here, monkeypatch):
    assert fit("--map", "kmeans", "-k", "3", "-o", "a") == 0
    content = Path("words.fasta").read_bytes()
    Path("words.fasta.gz").write_bytes(gzip.compress(content))
    assert run("fit", "words.fasta.gz", "--metric", "edit", "--map", "kmeans", "-k", 3, "--epochs", 8, "-o", "b") == 0
    stdin = io.BufferedReader(io.BytesIO(content))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stdin))
    assert run("fit", "-", "--metric", "edit", "--map", "kmeans", "-k", 3, "--epochs", 8, "-o", "c") == 0
    names = [name for name in SAME if name != "config.toml"]
    assert contents("a", names) == contents("b", names) == contents("c", names)


@pytest.mark.parametrize(
    ("name", "content", "metric", "table"),
    [
        ("p.fasta", ">a\nMKVLA\n>b\nMKVLW\n>c\nWWHHP\n>d\nWWHHK\n", "alignment", "exemplars.fasta"),
        ("n.fasta", ">a\nACGT\n>b\nACGA\n>c\nTTTT\n>d\nTTTA\n", "edit", "exemplars.fasta"),
        ("w.txt", "heron\nherons\nquark\nquarks\n", "edit", "exemplars.tsv"),
        ("v.csv", "1.5,2\n1.25,2\n9,8\n9,7.5\n", "euclidean", "exemplars.tsv"),
    ],
)
def test_a_metric_and_a_size_that_suit_the_data(name, content, metric, table, here, capsys):
    if metric == "alignment":
        optional("Bio")
    Path(name).write_text(content)
    assert run("fit", name, "-o", "map") == 0
    said = capsys.readouterr().err
    assert f"are compared by {metric!r}" in said
    assert "without --grid or -k the map has 1x1 neurons for 4 points" in said
    assert tomllib.loads(Path("map/config.toml").read_text())["metric"] == metric
    assert Path("map", table).exists()
    assert len(rows("map/assignments.tsv")) == 4


def test_series(here):
    Path("s.csv").write_text("slow,0,1,2,3,4\nfast,0,2,4\nflat,1,1,1,1\nflatter,1,1\n")
    reading = ["--read", "kind=series", "--read", "id=0"]
    assert run("fit", "s.csv", *reading, "--map", "kmeans", "-k", "2", "-o", "map") == 0
    assert load("map/model.mmap").metric == "dtw"
    assert run("fit", "--config", "map/config.toml", "-o", "again") == 0


# --- labels -------------------------------------------------------------------------------------------------------


def test_labels_of_headers(here):
    for rule, expected in (("header", "acd"), ("header:2", f"len={len(WORDS[0])}"), ("header:len", str(len(WORDS[0])))):
        assert fit("--map", "kmeans", "-k", "2", "--no-report", "--force", "--labels", rule, "-o", "map") == 0
        assert rows("map/assignments.tsv")[0]["label"] == expected


def test_labels_in_the_order_of_the_points(here, capsys):
    Path("column.txt").write_text("label\n" + "\n".join(["x", "y", "?"] * 12) + "\n")
    assert fit("--map", "kmeans", "-k", "2", "--no-report", "--labels", "column.txt", "-o", "map") == 0
    assert [row["label"] for row in rows("map/assignments.tsv")[:4]] == ["x", "y", "", "x"]
    Path("column.txt").write_text("x\ny\n")
    assert fit("--map", "kmeans", "-k", "2", "--labels", "column.txt", "-o", "other") == 2
    assert "2 labels without ids for the 36 points of words.fasta" in capsys.readouterr().err


@pytest.mark.parametrize("beta", [0.3, "auto"])
def test_labels_guide_the_map_if_beta_says_so(here, beta):
    Path("few.csv").write_text("w0,a\nw13,b\nw14,b\nw30,\n")
    args = ["--map", "gas", "-k", "4", "--labels", "few.csv"]
    assert fit(*args, "-o", "plain") == 0
    assert fit(*args, "--beta", str(beta), "-o", "guided") == 0
    assert "class" not in rows("plain/assignments.tsv")[0]
    table, model = rows("guided/assignments.tsv"), load("guided/model.mmap")
    assert isinstance(model, PrototypeClassifier)
    assert [row["class"] for row in table] == model.predict(WORDS).tolist()
    assert [float(row["probability"]) for row in table] == model.predict_proba(WORDS).max(axis=1).tolist()
    map_ = load("plain/model.mmap").__class__(4, metric="edit", n_epochs=8, random_state=0)
    direct = PrototypeClassifier(map_, beta)
    y = [None] * 36
    y[0], y[13], y[14] = "a", "b", "b"
    direct.fit(WORDS, y)
    assert np.array_equal(model.prototype_labels_, direct.prototype_labels_)
    assert model.estimator_.medoid_indices_.tolist() == direct.estimator_.medoid_indices_.tolist()
    assert json.loads(Path("guided/summary.json").read_text())["quality"]["training_accuracy"] == 1


# --- what it says -------------------------------------------------------------------------------------------------


def test_what_looks_wrong_is_said_and_quiet_says_nothing(here, capsys):
    S = np.exp(-np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))))
    np.save("S.npy", S)
    args = ["fit", "S.npy", "--read", "kind=matrix", "--map", "kmeans", "-k", "2", "--force", "-o", "map"]
    assert run(*args) == 0
    assert "similarities" in capsys.readouterr().err
    assert run(*args, "-q") == 0
    assert capsys.readouterr() == ("", "")


def test_verbose_logs_every_epoch(here, capfd, monkeypatch):
    monkeypatch.setattr("medianmap.estimators.base.logger.hasHandlers", lambda: False)  # those of pytest
    assert fit("--grid", "2x2", "-v", "-o", "map") == 0
    assert len(re.findall(r"run 0 epoch \d+: sigma", capfd.readouterr().err)) >= 8
    assert fit("--grid", "2x2", "-o", "plain") == 0
    assert contents("map") == contents("plain")


STAGES = ("reading", "dissimilarities", "health", "epochs", "swaps", "assignment", "neighbours",
          "summary", "report", "exemplars")  # fmt: skip


def test_python_prints_nothing_and_tells_every_stage(here, capfd):
    watch = Stops("", 1)
    result = run_fit(FitSettings("words.fasta", grid=(2, 2), labels="header"), "map", watch=watch)
    assert dict.fromkeys(watch.seen) == dict.fromkeys(STAGES)
    assert len(watch.told) == 1
    assert sorted(file.name for file in result.files) == FILES
    assert result.model.metric == result.settings.metric == "alignment"
    assert capfd.readouterr() == ("", "")


def test_the_commands_import_nothing_heavy(tmp_path):
    code = (
        "import sys, medianmap.app.commands.fit, medianmap.app.commands.predict, medianmap.app.commands.pictures\n"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'rich', 'numba', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0


def test_a_model_file_has_no_time_of_day(here):
    model = MedianSOM((2, 2), metric="edit", random_state=0).fit(WORDS)
    save(model, "a.mmap")
    time.sleep(2.1)
    save(model, "b.mmap")
    assert Path("a.mmap").read_bytes() == Path("b.mmap").read_bytes()
