"""What the tests of `medianmap fit`, `predict` and `report` share: words of three families, and helpers."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from medianmap.app.main import main
from medianmap.app.output import Watch

FILES = ["assignments.tsv", "config.toml", "exemplars.fasta", "model.mmap", "report.html", "summary.json"]
SAME = [name for name in FILES if name != "report.html"]


def family(letters, n, rng):
    """n words of one alphabet, no two alike."""
    words = set()
    while len(words) < n:
        words.add("".join(rng.choice(list(letters), rng.integers(6, 12))))
    return sorted(words)


WORDS = [word for letters in ("ACD", "EFG", "HIK") for word in family(letters, 12, np.random.default_rng(5))]
IDS = [f"w{k}" for k in range(len(WORDS))]
KIND = ["acd", "efg", "hik"]


def run(*args):
    with pytest.raises(SystemExit) as stopped:
        main([str(arg) for arg in args])
    return stopped.value.code


def fit(*args):
    """A small quick fit of words.fasta with no more said than a test needs."""
    return run("fit", "words.fasta", "--metric", "edit", "--epochs", 8, *args)


def write_words():
    """words.fasta here: ids, a class and a key=value in the headers."""
    records = zip(IDS, WORDS, np.repeat(KIND, 12), strict=True)
    Path("words.fasta").write_text("".join(f">{i} {kind} len={len(w)}\n{w}\n" for i, w, kind in records))


def rows(path):
    content = Path(path).read_bytes()
    text = (gzip.decompress(content) if str(path).endswith(".gz") else content).decode()
    header, *lines = [line.split("\t") for line in text.splitlines()]
    return [dict(zip(header, line, strict=True)) for line in lines]


def contents(folder, names=SAME):
    return {name: (Path(folder) / name).read_bytes() for name in names}


class Stops(Watch):
    """Ctrl-C when a stage has come so far."""

    def __init__(self, stage, share):
        self.stage, self.share, self.seen, self.told = stage, share, [], []

    def progress(self, stage, done, total):
        self.seen.append(stage)
        if stage == self.stage and done >= self.share * (total or 1):
            raise KeyboardInterrupt

    def tell(self, sentence):
        self.told.append(sentence)
