"""The Snakemake and Nextflow examples are whole, and where Snakemake is installed it accepts ours."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click import Context

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


@pytest.mark.skipif(shutil.which("snakemake") is None, reason="Snakemake is not installed")
def test_snakemake_plans_every_step(tmp_path):
    for folder in ("data", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "some.fasta").write_text(">a\nMKV\n>b\nMKL\n")
    command = ["snakemake", "-s", str(FOLDER / "Snakefile"), "-n", "--cores", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for rule in ("distances", "check", "map", "place"):
        assert f"rule {rule}:" in done.stdout + done.stderr
