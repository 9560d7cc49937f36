"""The command line as a user meets it: a process, its output, its files, its exit code."""

import json
import os
import subprocess
import sys

import pytest

from medianmap import __version__, load


def medianmap(*args, cwd, **env):
    return subprocess.run(
        [sys.executable, "-m", "medianmap", *args],
        cwd=cwd, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **env},
    )  # fmt: skip


def test_the_demo_prints_a_map_and_names_its_files(tmp_path):
    done = medianmap("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for word in ("MedianSOM of 569 points on 48 neurons", "benign", "malignant", "purity", "topographic error"):
        assert word in done.stdout
    written = done.stdout.split("Wrote ")[1].strip().split(", ")
    assert sorted(os.listdir(tmp_path / "medianmap-demo")) == sorted(os.path.basename(name) for name in written)
    summary = json.loads((tmp_path / "medianmap-demo" / "summary.json").read_text())
    assert sum(n["hits"] for n in summary["neurons"]) == 569
    assert summary["quality"]["purity"] > 0.93
    assignments = (tmp_path / "medianmap-demo" / "assignments.tsv").read_text().splitlines()
    assert len(assignments) == 570
    model = load(tmp_path / "medianmap-demo" / "model.mmap")
    assert assignments[1].split("\t")[1] == str(model.labels_[0])
    majority = summary["neurons"][int(model.labels_[0])]["majority"]
    assert majority in ("benign", "malignant")


def test_the_demo_is_coloured_on_demand_and_repeats_itself(tmp_path):
    runs = [medianmap("demo", "--grid", "3x4", "-o", name, cwd=tmp_path, FORCE_COLOR="1") for name in ("a", "b")]
    assert "\x1b[" in runs[0].stdout
    assert (tmp_path / "a/summary.json").read_bytes() == (tmp_path / "b/summary.json").read_bytes()
    assert runs[0].stdout.replace("a/", "b/") == runs[1].stdout


def test_info_says_what_is_in_a_model(tmp_path):
    medianmap("demo", "--grid", "2x3", "-o", "out", cwd=tmp_path)
    done = medianmap("info", "out/model.mmap", cwd=tmp_path)
    assert done.returncode == 0
    assert "MedianSOM, 6 prototypes" in done.stdout
    assert "metric = 'cosine'" in done.stdout


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
        (["demo", "--grid", "60x60"], "3600 exceeds n_samples = 569"),
        (["demo", "-o", "text.mmap/deeper"], "text.mmap"),
        (["demo", "--sed", "1"], "No such option"),
        (["paint"], "No such command"),
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
    code = "import sys, medianmap.cli; sys.exit(any(m in sys.modules for m in ('numba', 'sklearn', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0
