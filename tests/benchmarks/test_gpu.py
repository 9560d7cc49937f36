"""The benchmark of a card runs, small and on torch's CPU tensors, and prints the tables that its page shows."""

import subprocess
import sys
from pathlib import Path

from figures import split
from support.extras import optional

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu.py"


def test_all_of_its_tables():
    optional("torch")
    optional("kmedoids")
    options = ["--device", "torch:cpu", "--size", "300:6:2x3", "--rounds", "1", "--cpu", "300", "--file", "120"]
    done = subprocess.run([sys.executable, str(BENCHMARK), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (on_device, beside), _ = split(done.stdout)
    names = [line.split("|")[1].strip() for line in on_device[2:]]
    assert names[:2] == ["D from vectors", "read of D (row sums)"]
    assert names[2].startswith("pass of swaps, all 300 x 6 (")
    fits = {line.split("|")[1].strip(): float(line.split("|")[4]) for line in on_device[5:]}
    assert len(fits) == 5
    assert all(loss > 0 for loss in fits.values())
    assert fits["neural gas, refine=swap"] <= fits["neural gas, default"]
    ratios = {line.split("|")[1].strip(): float(line.split("|")[4]) for line in beside[2:]}
    assert ratios.keys() == fits.keys() | {"FasterPAM (kmedoids)"}
    assert all(0.9 < ratio < 1.1 for ratio in ratios.values())
    assert "From a file of 120 vectors to a report of" in done.stdout
