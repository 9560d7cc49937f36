"""The Snakemake and Nextflow examples name what exists, and where Snakemake is installed ours runs."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click import Context

from medianmap import load_globins
from medianmap.app.main import cli

FOLDER = Path(__file__).resolve().parents[1] / "examples/workflows"


@pytest.mark.parametrize("name", ["Snakefile", "medianmap.nf"])
def test_workflows_use_commands_and_options_that_exist(name):
    text = re.sub(r'"\s*\n\s*"', "", (FOLDER / name).read_text(encoding="utf-8"))
    lines = re.findall(r"^\s*\"?medianmap (\w+) (.*)$", text, re.MULTILINE)
    assert lines
    context = Context(cli)
    for verb, rest in lines:
        command = cli.get_command(context, verb)
        known = {option for parameter in command.params for option in parameter.opts} | {"-q"}
        used = re.findall(r"(?<=\s)(--?[a-z][\w-]*)", rest)
        assert used
        assert [option for option in used if option not in known] == [], (verb, rest)


def snakemake(folder, *options):
    """Run our workflow in a folder, with the commands of this environment first on the path."""
    here = str(Path(sys.executable).parent)
    path = os.pathsep.join([here, os.environ.get("PATH", "")])
    program = shutil.which("snakemake", path=path)
    if program is None and not os.environ.get("MEDIANMAP_REQUIRE_ALL"):
        pytest.skip("Snakemake is not installed (make workflows)")
    command = [program or "snakemake", "-s", str(FOLDER / "Snakefile"), "--cores", "1", *options]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_snakemake_maps_the_shipped_globins_and_places_new_ones(tmp_path):
    globins = load_globins()
    records = [f">{i} {f}\n{s}\n" for i, f, s in zip(globins.ids, globins.families, globins.sequences, strict=True)]
    for folder, some in (("data", records[::20]), ("new", records[1::90])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "some.fasta").write_text("".join(some))
    said = snakemake(tmp_path, "--config", "grid=2x3")
    for rule in ("distances", "check", "map", "place"):
        assert f"rule {rule}:" in said
    assert json.loads((tmp_path / "health/some.json").read_text())["ok"]
    assert "<html" in (tmp_path / "maps/some/report.html").read_text()[:200]
    placed = (tmp_path / "placed/some.tsv").read_text().splitlines()
    assert [line.split("\t")[0] for line in placed[1:]] == globins.ids[1::90]
    assert "Nothing to be done" in snakemake(tmp_path, "--config", "grid=2x3")
