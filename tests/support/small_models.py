"""Small models of every kind and queries for them, in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from medianmap import (
    BatchSOM,
    MedianKMeans,
    MedianNeuralGas,
    MedianSOM,
    PatchClusterer,
    PrototypeClassifier,
    RelationalNeuralGas,
    RelationalSOM,
    save,
)

WORDS = ["heron", "herons", "hero", "quark", "quarks", "quart", "tern", "terns", "turn", "stern"]


def small_models(folder: Path) -> dict[str, tuple[Path, Path]]:
    """name -> (the model file, a file of queries)."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(10, 2)) + 4 * (np.arange(10) % 2)[:, None]
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    columns = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    matrix = "\n".join("\t".join(map(repr, row)) for row in D.tolist())
    files = {
        "words.fasta": "".join(f">w{k}\n{word.upper()}\n" for k, word in enumerate(WORDS)),
        "vectors.csv": f"a,b\n{columns}\n",
        "matrix.tsv": f"{matrix}\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    words, y = [word.upper() for word in WORDS], ["bird", None, "bird", "thing", None] * 2
    few: dict[str, Any] = {"random_state": 0, "n_epochs": 3}
    edit: dict[str, Any] = {"metric": "edit", "metric_params": {"indel": 2.0}, **few}
    made = {
        "median of strings": (MedianNeuralGas(2, **edit).fit(words), "words.fasta"),
        "median of vectors": (MedianSOM((1, 2), **few).fit(X), "vectors.csv"),
        "median of a matrix": (MedianKMeans(2, metric="precomputed", random_state=0).fit(D), "matrix.tsv"),
        "relational of strings": (RelationalNeuralGas(2, **edit).fit(words), "words.fasta"),
        "relational of a matrix": (RelationalSOM((1, 2), metric="precomputed", **few).fit(D), "matrix.tsv"),
        "batch": (BatchSOM((1, 2), **few).fit(X), "vectors.csv"),
        "classifier": (PrototypeClassifier(MedianNeuralGas(2, **edit)).fit(words, y), "words.fasta"),
        "patches": (PatchClusterer(MedianNeuralGas(2, **edit), patch_size=5).fit(words), "words.fasta"),
    }
    found = {}
    for name, (model, queries) in made.items():
        path = folder / f"{name.replace(' ', '-')}.mmap"
        save(model, path)
        found[name] = path, folder / queries
    return found
