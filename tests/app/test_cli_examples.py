"""The examples in the help of every command, run as they stand in a folder that has the files they name."""

import gzip
import re
import shlex
from pathlib import Path

import click
import numpy as np
import pytest
from support.extras import optional
from support.fits import run

from medianmap import MedianSOM, save
from medianmap.app.main import COMMANDS, cli
from medianmap.metrics import bind
from medianmap.readers import write_phylip

PROTEIN = list("ACDEFGHIKLMNPQRSTVWY")


def proteins():
    """120 short ones of four families, of which each is a letter or two from its first."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(4):
        first = rng.choice(PROTEIN, 20)
        for _ in range(30):
            one = first.copy()
            one[rng.integers(20, size=3)] = rng.choice(PROTEIN, 3)
            found.append("".join(one))
    return found


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What users have before they read the help."""
    for module in ("Bio", "matplotlib"):
        optional(module)
    folder = tmp_path_factory.mktemp("examples")
    strings, ids = proteins(), [f"p{k}" for k in range(120)]
    fasta = "".join(f">{i} family{k // 30}\n{s}\n" for k, (i, s) in enumerate(zip(ids, strings, strict=True)))
    for name in ("globins.fasta", "proteins.fasta", "new.fasta", "reads.fasta"):
        (folder / name).write_text(fasta)
    (folder / "reads.fasta.gz").write_bytes(gzip.compress(fasta.encode()))
    (folder / "words.txt").write_text("\n".join(dict.fromkeys(strings)) + "\n")
    (folder / "families.tsv").write_text("".join(f"{i}\tfamily{k // 30}\n" for k, i in enumerate(ids)))
    (folder / "run_cluster.tsv").write_text("".join(f"p{k - k % 30}\t{i}\n" for k, i in enumerate(ids)))
    (folder / "chosen.txt").write_text("\n".join(ids[::6]) + "\n")
    D = bind("edit").between(strings, strings)
    np.save(folder / "distances.npy", D)
    write_phylip(folder / "distances.phy", D, ids)
    hits = [f"{a}\t{b}\t90\t20\t1\t0\t1\t20\t1\t20\t1e-9\t{60 if a == b else 40}" for a in ids[:9] for b in ids[:9]]
    (folder / "hits.m8").write_text("\n".join(hits) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run("fit", "globins.fasta", "--metric", "edit", "--grid", "3x3", "--epochs", "5", "-q", "-o", "map") == 0
        assert run("demo", "--grid", "2x3", "-q") == 0
        for folder_, metric in (("by-alignment", "alignment"), ("by-kmers", "kmer")):
            more = ["--metric", metric, "--grid", "2x2", "--epochs", "3", "-q", "--no-report"]
            assert run("fit", "globins.fasta", *more, "-o", folder_) == 0
    save(MedianSOM((3, 3), metric="edit", random_state=0).fit(strings), folder / "model.mmap")
    return folder


# `compile` takes longest of all; tests/utils/test_kernels.py runs it.
@pytest.mark.parametrize("verb", [verb for verb in COMMANDS if verb != "compile"])
def test_examples_run(verb, prepared, tmp_path, monkeypatch, capsys):
    for each in prepared.iterdir():
        (tmp_path / each.name).symlink_to(each)
    monkeypatch.chdir(tmp_path)
    with click.Context(cli) as context:
        text = cli.get_command(context, verb).help
    examples = re.findall(r"medianmap [^;\n]+", text[text.index("Example") :])
    for example in examples:
        if "-o map" in example.replace("-o map2", ""):
            Path("map").unlink()  # the example makes its own
        assert run(*shlex.split(example)[1:]) == 0, capsys.readouterr().err
