"""Figures of the pages are those that a benchmark wrote."""

import json

import figures
import pytest

FILES = sorted(figures.FOLDER.glob("*.json"))


def test_some_figures_are_kept():
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_page_shows_what_the_benchmark_wrote(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["command"].startswith(f"python benchmarks/{path.stem}.py")
    assert content["date"]
    assert figures.differences(path) == []


def test_a_figure_changed_by_hand_is_found(tmp_path, monkeypatch):
    (tmp_path / "docs/figures").mkdir(parents=True)
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    monkeypatch.setattr(figures, "FOLDER", tmp_path / "docs/figures")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks/toy.py").write_text("print('| K | loss |\\n| --- | --- |\\n| 2 | 4.5 |')")
    page = tmp_path / "docs/benchmarks.md"
    page.write_text("# Toy\n\n| K | loss |\n| --- | --- |\n| 2 | 4.5 |\n")
    path = figures.record("toy", "benchmarks.md", [])
    assert figures.differences(path) == []
    page.write_text(page.read_text().replace("4.5", "4.4"))
    assert figures.differences(path) == ["| 2 | 4.5 |"]
