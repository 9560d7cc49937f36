"""Figures of the pages are those that a benchmark wrote."""

import json
import re

import figures
import pytest

FILES = sorted(figures.FOLDER.glob("*.json"))


def test_some_figures_are_kept():
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_page_shows_what_the_benchmark_wrote(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    script = re.match(r"python (benchmarks/\w+\.py)", content["command"])[1]
    assert (figures.ROOT / script).exists()
    assert content["date"]
    assert content["machine"]
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


def test_every_table_of_figures_has_a_file_or_is_listed_as_without():
    missing, listed = figures.not_kept(), figures.listed()
    whole = {page for page, section in listed if section == "all"}
    assert sorted(entry for entry in missing if entry not in listed and entry[0] not in whole) == []
    needless = [
        entry for entry in listed if entry not in missing and not (entry[1] == "all" and entry[0] in dict(missing))
    ]
    assert needless == []
    assert len(listed) == len(set(listed))
    assert len(listed) <= 21  # it only becomes shorter, but for what needs a card


def test_tables_of_words_are_not_figures():
    assert figures.is_measured(["| K | loss |", "| --- | --- |", "| 2 | **4.5** |", "| 3 | - |"])
    assert not figures.is_measured(["| you have | do |", "| --- | --- |", "| 2 files | call twice |"])


@pytest.mark.parametrize(("page", "words"), figures.sentences(), ids=lambda each: each[:40])
def test_a_sentence_has_the_figures_of_its_file(page, words):
    assert words in " ".join(figures.page_text(page).split())


def test_the_readme_makes_no_measured_claim_that_is_not_compared():
    told = " ".join(
        figures.page_text("README.md").partition("## What you can rely on")[2].partition("\n## ")[0].split()
    )
    for page, words in figures.sentences():
        told = told.replace(words, "") if page == "README.md" else told
    assert re.findall(r"[^ ]*\d[\d.]* (?:times|s|seconds|MiB|percent)\b|\d\.\d{2,}", told) == []


def test_the_readme_divides_the_figures_of_default_fits_by_fasterpam():
    """Its table has losses as they are and seconds over FasterPAM's, of the page's table of default fits."""
    shown = next(table for section, table in figures.measured("README.md") if section == "What is in it")
    sets = ("chromosomes, K=100", "chromosomes, K=500", "simulated, K=100", "simulated, K=500")
    columns = {'refine="swap"': 'refine="swap"', "": "default"}
    for line in shown[2:]:
        title, *told = figures.cells(line)
        kind, arguments = re.match(r"([\w.]+)(?:\((.*)\))?", title).groups()
        alternating = kind == "kmedoids.alternating"
        for name, cell in zip(sets, told, strict=True):
            row = f"benchmarks.md | {name}, {'MedianKMeans' if alternating else kind}"
            column = "alternating" if alternating else columns[arguments]
            loss, seconds = (figures.figure(f"{row} | {column} | {k}") for k in (1, 2))
            ratio = float(seconds) / float(figures.figure(f"{row} | FasterPAM, s"))
            assert cell == f"{loss} / {ratio:.{2 if ratio < 0.995 else 1}f}", (title, name)


def test_a_folder_of_somebody_is_not_told(tmp_path):
    (tmp_path / "D.csv").touch()
    assert figures.told(str(tmp_path)) == "FOLDER"
    assert figures.told(str(tmp_path / "D.csv")) == "FOLDER/D.csv"
    assert [figures.told(each) for each in ("--data", "5", "docs/growth.svg")] == ["--data", "5", "docs/growth.svg"]
