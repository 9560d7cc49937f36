"""The demonstration behind `medianmap demo`: data, map, summary, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .datasets import load_breast_cancer
from .estimators import MedianSOM
from .files import write_text
from .persistence import save
from .report.summary import summarize
from .sources import as_dissimilarity


def run_demo(out: Path, grid: tuple[int, int], seed: int) -> tuple[dict[str, Any], list[Path]]:
    """Fit a median SOM of breast cancer under the cosine dissimilarity; returns its summary and the files written."""
    data = load_breast_cancer()
    ids = [f"case{i:03d}" for i in range(len(data.X))]
    som = MedianSOM(grid, metric="cosine", random_state=seed).fit(data.X)
    source = as_dissimilarity(data.X, "cosine", ids=ids)
    summary = summarize(som, source, y=data.y, class_names=data.class_names)
    dissimilarity = som.transform(data.X).min(axis=1)

    out.mkdir(parents=True, exist_ok=True)
    files = [out / name for name in ("model.mmap", "assignments.tsv", "neurons.tsv", "summary.json")]
    save(som, files[0])
    rows = zip(ids, som.labels_, dissimilarity, (data.class_names[c] for c in data.y), strict=True)
    write_text(files[1], _tsv(["id", "neuron", "dissimilarity", "class"], rows))
    columns = list(summary["neurons"][0])
    write_text(files[2], _tsv(columns, ([n[c] for c in columns] for n in summary["neurons"])))
    write_text(files[3], json.dumps(summary, indent=1) + "\n")
    return summary, files


def _tsv(header: list[str], rows: Any) -> str:
    lines = ["\t".join(header)]
    lines += ["\t".join("" if value is None else str(value) for value in row) for row in rows]
    return "\n".join(lines) + "\n"
