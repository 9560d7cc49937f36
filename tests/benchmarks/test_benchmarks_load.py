"""Every benchmark still finds what it imports: it is loaded, not run."""

import runpy
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).resolve().parents[2] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_benchmark_loads(script):
    assert runpy.run_path(str(script), run_name="loaded")["__doc__"]
