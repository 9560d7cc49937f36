"""What the tests of `assign_all` share: objects, and a file that it wrote held against the dissimilarities."""

import gzip
from pathlib import Path

import numpy as np

WORDS = ["heron", "herons", "hero", "quark", "quarks", "quart", "her", "zero", "quartz", "ark"] * 7
NAMES = [f"w{k}" for k in range(len(WORDS))]


def rows_of(path: Path) -> list[list[str]]:
    content = path.read_bytes()
    head, *lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines()
    assert head.split("\t")[:5] == ["id", "neuron", "dissimilarity", "second", "second_dissimilarity"]
    return [line.split("\t") for line in lines]


def expected(G: np.ndarray) -> list[list[str]]:
    """The columns after the id, by sorting: an independent way to the two nearest."""
    order = np.argsort(G, axis=1, kind="stable")[:, :2]
    return [
        [text for j in nearest for text in (str(j), repr(float(row[j])))] for nearest, row in zip(order, G, strict=True)
    ]


def check(path: Path, ids, G):
    rows = rows_of(path)
    assert [row[0] for row in rows] == list(map(str, ids))
    assert [row[1:5] for row in rows] == expected(np.asarray(G))


def folder(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())
