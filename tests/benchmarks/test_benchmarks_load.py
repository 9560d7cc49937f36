"""The benchmarks are not run here, but all of them load as commands do: they name only what is there."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
# Each by itself: what one puts on the path or loads is gone before the next.
LOAD = """
import importlib, sys
folder, *names = sys.argv[1:]
sys.path.insert(0, folder)
for name in names:
    path = list(sys.path)
    importlib.import_module(name)
    sys.path[:] = path
    for loaded in [m for m in sys.modules if m in names or m.split(".")[0] == "reproduction"]:
        del sys.modules[loaded]
"""


def test_every_benchmark_loads(tmp_path):
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    command = [sys.executable, "-c", LOAD, str(FOLDER), *names]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
