"""The command line as a user meets it: a process, its output, its files, its exit code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.forked import medianmap

from medianmap import MedianSOM, __version__, load
from medianmap.datasets import load_globins
from medianmap.sources.all_pairs import all_pairs


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One run for all tests that only look at what it wrote: the folder it ran in, and the process, from scratch."""
    folder = tmp_path_factory.mktemp("demo")
    command = [sys.executable, "-m", "medianmap", "demo"]
    return folder, subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


def test_the_demo_replaces_nothing_unasked(demo):
    folder, _ = demo
    before = {file: file.read_bytes() for file in (folder / "medianmap-demo").iterdir()}
    again = medianmap("demo", "--grid", "2x2", cwd=folder)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    assert {file: file.read_bytes() for file in (folder / "medianmap-demo").iterdir()} == before


def test_the_demo_prints_a_map_and_names_its_files(demo):
    folder, done = demo
    assert done.returncode == 0, done.stderr
    for word in ("MedianSOM of 630 points on 80 neurons", "HA", "GG/GP", "others", "purity", "price of order"):
        assert word in done.stdout
    written = done.stdout.split("Wrote ")[1].split("\n")[0].split(", ")
    assert sorted(os.listdir(folder / "medianmap-demo")) == sorted(os.path.basename(name) for name in written)
    summary = json.loads((folder / "medianmap-demo" / "summary.json").read_text())
    assert sum(n["hits"] for n in summary["neurons"]) == 630
    assert summary["quality"]["purity"] > 0.88
    assignments = (folder / "medianmap-demo" / "assignments.tsv").read_text().splitlines()
    assert len(assignments) == 631
    model = load(folder / "medianmap-demo" / "model.mmap")
    assert assignments[1].split("\t")[1] == str(model.labels_[0])
    assert assignments[1].split("\t")[0] == "BAHG_VITSP"
    globins = load_globins()
    assert {n["majority"] for n in summary["neurons"]} - {None} == set(globins.class_names)
    records = (folder / "medianmap-demo" / "exemplars.fasta").read_text().split(">")[1:]
    sequence = dict(zip(globins.ids, globins.sequences, strict=True))
    assert len(records) == 80
    for record, neuron in zip(records, summary["neurons"], strict=True):
        head, *body = record.strip().split("\n")
        assert head.split()[0] == neuron["exemplar_id"]
        assert "".join(body) == sequence[neuron["exemplar_id"]]
    # The model knows its exemplars, so it places a sequence that it has never seen.
    myoglobin = globins.sequences[globins.families.index("MY")]
    assert summary["neurons"][model.predict([myoglobin[:-3]])[0]]["majority"] == "MY"
    assert sum(row["points"] for row in summary["classes"]) == 630
    assert sum(row["neurons"] for row in summary["classes"]) == 80 - summary["empty"]
    at_home = sum(row["points"] * row["at_home"] for row in summary["classes"]) / 630
    assert at_home == pytest.approx(summary["quality"]["purity"])
    assert (folder / "medianmap-demo" / "report.html").resolve().as_uri() in done.stdout
    # The page that the README shows: that of its example in Python.
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    example = re.search(r"medianmap\.(MedianSOM\(.*?\))\.fit\(globins\.sequences\)", readme)[1]
    shown = eval(example, {"MedianSOM": MedianSOM}).fit(globins.sequences)
    np.testing.assert_array_equal(shown.labels_, model.labels_)


def test_the_demo_is_coloured_on_demand_and_repeats_itself(tmp_path):
    runs = [medianmap("demo", "--grid", "3x4", "-o", name, cwd=tmp_path, FORCE_COLOR="1") for name in ("a", "b")]
    assert "\x1b[" in runs[0].stdout
    assert (tmp_path / "a/summary.json").read_bytes() == (tmp_path / "b/summary.json").read_bytes()
    assert runs[0].stdout.replace("a/", "b/") == runs[1].stdout


def test_info_says_what_is_in_a_model(demo):
    folder, _ = demo
    done = medianmap("info", "medianmap-demo/model.mmap", cwd=folder)
    assert done.returncode == 0
    assert "MedianSOM, 80 neurons" in done.stdout
    assert "metric = 'alignment'" in done.stdout


def test_check_tells_people_and_programs(tmp_path):
    x = np.random.default_rng(0).normal(size=30)
    D = np.abs(np.subtract.outer(x, x))
    np.save(tmp_path / "D.npy", D)
    np.savetxt(tmp_path / "D.csv", D, delimiter=",")
    np.savetxt(tmp_path / "x.csv", x)
    plain = medianmap("check", "D.npy", cwd=tmp_path)
    assert plain.returncode == 0
    assert plain.stdout.startswith("30 x 30 float64 is usable")
    told = json.loads(medianmap("check", "D.npy", "--json", cwd=tmp_path).stdout)
    assert told["ok"]
    for args in (["D.csv"], ["x.csv", "--metric", "euclidean"]):
        same = json.loads(medianmap("check", *args, "--json", cwd=tmp_path).stdout)
        assert same["findings"][0] == told["findings"][0]
        assert [f["level"] for f in same["findings"]] == [f["level"] for f in told["findings"]]


def test_check_finds_similarities_however_they_are_stored(tmp_path):
    S = np.array([[1, 0.5, 0.2], [0.5, 1, 0.3], [0.2, 0.3, 1]])
    np.save(tmp_path / "S.npy", S)
    np.savetxt(tmp_path / "S.csv", S, delimiter=",")
    for name in ("S.npy", "S.csv"):
        assert "It looks like similarities" in medianmap("check", name, cwd=tmp_path).stdout
    fixed = medianmap("check", "S.npy", "--read", "kind=matrix", "--read", "similarity=1-s", cwd=tmp_path)
    assert "does not look like a matrix of similarities" in fixed.stdout


def test_check_reads_as_it_is_told(tmp_path):
    (tmp_path / "holes.tsv").write_text("a\tb\t1\nb\tc\t2\n")
    assert "pairs have no value" in medianmap("check", "holes.tsv", cwd=tmp_path).stderr
    assert medianmap("check", "holes.tsv", "--read", "missing=max", cwd=tmp_path).returncode == 0
    np.save(tmp_path / "D.npy", np.zeros((2, 2)))
    for args, message in [
        (["holes.tsv", "--read", "missing"], "is not NAME=VALUE"),
        (["holes.tsv", "--read", "colour=red"], "there is no 'colour'; choose from format"),
        (["holes.tsv", "--read", "columns=1.5"], "of the wrong kind"),
        (["D.npy", "--metric", "euclidean"], "holds dissimilarities already.*--read kind=vectors"),
    ]:
        done = medianmap("check", *args, cwd=tmp_path)
        assert done.returncode == 2
        assert re.search(message, done.stderr)


def test_check_of_a_store_knows_its_ids_and_whether_it_is_finished(tmp_path):
    all_pairs(["ab", "ab", "c"], "edit", tmp_path / "D.npy", ids=["one", "two", "three"])
    assert "D[0, 1] (one, two)" in medianmap("check", "D.npy", cwd=tmp_path).stdout
    (tmp_path / "E.npy.journal").touch()
    assert "not finished" in medianmap("check", "E.npy", cwd=tmp_path).stderr


def test_check_of_an_unusable_matrix_ends_with_2_and_still_tells(tmp_path):
    np.save(tmp_path / "D.npy", np.array([[0, 1, np.nan], [1, 0, 2], [3, -2, 0]]))
    done = medianmap("check", "D.npy", cwd=tmp_path)
    assert done.returncode == 2
    assert "NOT usable" in done.stdout
    assert "1 entry is NaN (first D[0, 2])" in done.stdout
    assert "1 entry is negative (first D[2, 1])" in done.stdout
    assert done.stderr == ""


def test_version_and_help(tmp_path):
    assert __version__ in medianmap("--version", cwd=tmp_path).stdout
    help_text = medianmap("demo", "--help", cwd=tmp_path).stdout
    assert "Example: medianmap demo" in help_text


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["info", "nothing.mmap"], "There is no file nothing.mmap"),
        (["info", "text.mmap"], "not a medianmap model"),
        (["demo", "--grid", "6"], "not ROWSxCOLUMNS"),
        (["demo", "--grid", "60x60"], "3600 neurons, which exceeds the 630 points of globins.fasta"),
        (["demo", "-o", "text.mmap/deeper"], "text.mmap"),
        (["demo", "--sed", "1"], "No such option"),
        (["paint"], "No such command"),
        (["check", "none.npy"], "There is no file none.npy"),
        (["check", "text.mmap"], "text.mmap"),
        (["check", "--metric", "nonsense", "text.mmap"], "text.mmap"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(args, message, tmp_path):
    (tmp_path / "text.mmap").write_text("not a model")
    done = medianmap(*args, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert os.listdir(tmp_path) == ["text.mmap"]


def test_help_does_not_wait_for_heavy_imports(tmp_path):
    code = "import sys, medianmap.app.main; sys.exit(any(m in sys.modules for m in ('numba', 'sklearn', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0
