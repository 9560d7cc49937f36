"""Fourteen files as people have them, each from the file to the folder by one command.

The files and commands are those of benchmarks/first_tasks.py; what is special about each folder is here.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from first_tasks import TASKS, make
from sklearn.metrics import adjusted_rand_score
from support.extras import optional
from support.fits import rows, run

from medianmap import load


def labels_of(folder="map"):
    return [row["label"] for row in rows(f"{folder}/assignments.tsv")]


def agreement(at=3):
    """ARI of the neurons with the families that the points belong to in turn."""
    table = rows("map/assignments.tsv")
    return adjusted_rand_score([k % at for k in range(len(table))], [row["neuron"] for row in table])


def of_a_microbiome():
    table = rows("map/assignments.tsv")
    assert [row["label"] for row in table[:3]] == ["gut", "skin", "oral"]
    assert [row["year"] for row in table[-2:]] == ["2010", ""]
    assert '"name":"year"' in Path("map/report.html").read_text()


def of_votes():
    assert set(labels_of()) == {"left", "right"}
    assert json.loads(Path("map/summary.json").read_text())["quality"]["purity"] > 0.9


def of_dissimilarities():
    assert load("map/model.mmap").metric == "precomputed"
    own = [row for row in rows("map/assignments.tsv") if row["id"] == row["exemplar"]]
    assert own
    assert {float(row["dissimilarity"]) for row in own} == {0}


def of_proteins():
    assert agreement() > 0.1  # several neurons a family
    table = {row["id"]: row for row in rows("map/assignments.tsv")}
    assert len({table[f"sp|P{k:05}|NAME{k}_YEAST"]["neuron"] for k in (0, 1, 2)}) == 3
    assert Path("map/exemplars.fasta").read_text().startswith(">sp|P")


def of_signs():
    assert set(labels_of()) == {"-1", "1"}
    assert {row["class"] for row in rows("map/assignments.tsv")} == {"-1", "1"}
    assert json.loads(Path("map/summary.json").read_text())["quality"]["training_accuracy"] > 0.85


def of_years():
    assert labels_of() == [str(1968 + k) for k in range(40)]
    neurons = np.array([int(row["neuron"]) for row in rows("map/assignments.tsv")])
    assert (neurons[1:] == neurons[:-1]).mean() > 0.5  # of one year and the next


def of_peptides():
    assert labels_of()[:3] == ["A*00:01", "A*01:01", "A*02:01"]
    assert "string" in Path("map/exemplars.tsv").read_text().splitlines()[0]


def of_reads():
    model, lines = load("map/model.mmap"), Path("map/exemplars.fasta").read_text().splitlines()
    assert model.n_evaluations_ < 20_500**2 / 10
    assert [len(line) for line in lines[1::2]] == [16] * 50


def of_series():
    assert [row["id"] for row in rows("map/assignments.tsv")] == [f"curve{k}" for k in range(30)]
    assert agreement() > 0.2


def of_nucleotides():
    assert 'spelling = "dna"' in Path("map/config.toml").read_text()
    assert agreement() > 0.1


def of_wine():
    assert len(set(labels_of())) == 3
    assert "proline" in Path("map/exemplars.tsv").read_text().splitlines()[0]


FOLDERS = {
    "a microbiome and its metadata": of_a_microbiome,
    "a table of votes": of_votes,
    "a matrix with a rounded diagonal": of_dissimilarities,
    "a matrix of similarities": of_dissimilarities,
    "proteins of a database": of_proteins,
    "classes called -1 and 1": of_signs,
    "isolates by year": of_years,
    "peptides": of_peptides,
    "a large matrix on disk": of_dissimilarities,
    "reads": of_reads,
    "series": of_series,
    "DNA": of_nucleotides,
    "wine, in a workbook": of_wine,
}


@pytest.mark.parametrize("name", TASKS)
def test_from_the_file_to_the_folder(name, tmp_path, monkeypatch, capsys):
    if "workbook" in name:
        optional("python_calamine")
    monkeypatch.chdir(tmp_path)
    task = make(name)
    before = sorted(Path().iterdir())
    if task.refused is not None:
        command, why = task.refused
        assert run(*command.split(), "-o", "map") == 2
        assert re.search(why, capsys.readouterr().err)
        assert sorted(Path().iterdir()) == before
    assert run(*task.command.split(), "-o", "map") == 0
    said = capsys.readouterr()
    for what in task.says:
        assert re.search(what, said.err), said.err
    assert not re.search(r"Traceback|metric_params|\bX\[|\by\[", said.err)
    files = {file.name for file in Path("map").iterdir()}
    assert files - {"exemplars.fasta", "exemplars.tsv"} == {
        "report.html", "assignments.tsv", "model.mmap", "config.toml", "summary.json",
    }  # fmt: skip
    assert {f"Wrote {', '.join(sorted(files))} into map"} <= set(said.out.splitlines())
    FOLDERS.get(name, lambda: None)()
