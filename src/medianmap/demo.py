"""The demonstration behind `medianmap demo`: the globins, their map, summary and files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .datasets import Sequences, load_globins
from .estimators import MedianSOM
from .files import write_text
from .persistence import save
from .report.summary import summarize
from .sources import computed, with_ids

METRIC = "alignment"


def run_demo(out: Path, grid: tuple[int, int], seed: int) -> tuple[dict[str, Any], list[Path]]:
    """Fit a median SOM of 630 globins; returns its summary and the files written."""
    globins = load_globins()
    som = MedianSOM(grid, metric=METRIC, random_state=seed).fit(globins.sequences)
    out.mkdir(parents=True, exist_ok=True)  # before the summary takes its time, after nothing can be wrong with the map
    # Kept: the indices of the summary go over the whole matrix several times.
    source = with_ids(computed(globins.sequences, METRIC), globins.ids).kept()
    summary = summarize(som, source, y=globins.y, class_names=globins.class_names)
    dissimilarity = som.transform(globins.sequences).min(axis=1)

    names = ("model.mmap", "assignments.tsv", "neurons.tsv", "prototypes.fasta", "summary.json")
    model, assignments, neurons, prototypes, numbers = files = [out / name for name in names]
    save(som, model)
    rows = zip(globins.ids, som.labels_, dissimilarity, globins.families, strict=True)
    write_text(assignments, _tsv(["id", "neuron", "dissimilarity", "family"], rows))
    columns = list(summary["neurons"][0])
    write_text(neurons, _tsv(columns, ([n[c] for c in columns] for n in summary["neurons"])))
    write_text(prototypes, _fasta(summary["neurons"], globins))
    write_text(numbers, json.dumps(summary, indent=1) + "\n")
    return summary, files


def _tsv(header: list[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = ["\t".join(header)]
    lines += ["\t".join("" if value is None else str(value) for value in row) for row in rows]
    return "\n".join(lines) + "\n"


def _fasta(neurons: list[dict[str, Any]], globins: Sequences) -> str:
    """The exemplars, each under its own name, with its family and its place on the map."""
    return "".join(
        f">{n['exemplar_id']} {globins.families[n['exemplar']]} neuron={n['neuron']} "
        f"row={n['row']} column={n['column']} hits={n['hits']:g}\n{globins.sequences[n['exemplar']]}\n"
        for n in neurons
    )
