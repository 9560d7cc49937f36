"""Seconds of the processor and peak memory of `assign_all` on streams of vectors: python benchmarks/assign_memory.py

Each stream goes through a process of its own, whose peak is that of Python and its libraries too.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from medianmap import BatchKMeans
from medianmap.predict.assign_all import assign_all

SIZES, ENDINGS = (100_000, 1_000_000), ("tsv", "parquet")


def stream(n: int) -> Iterator[np.ndarray]:
    for k in range(n // 1000):
        yield from np.random.default_rng(k).normal(size=(1000, 10))


def one(n: int, ending: str) -> str:
    """What one stream took, in words."""
    model = BatchKMeans(50, random_state=0).fit(np.random.default_rng(0).normal(size=(2000, 10)))
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        assign_all(model, stream(n), Path(folder) / f"out.{ending}")
        seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{seconds:.1f} s, peak {peak:.0f} MiB"


def main() -> None:
    if len(sys.argv) > 1:
        print(one(int(sys.argv[1]), sys.argv[2]))
        return
    print(f"| objects | {' | '.join(f'`.{ending}`' for ending in ENDINGS)} |\n| --- | --- | --- |")
    for n in SIZES:
        runs = [[sys.executable, __file__, str(n), ending] for ending in ENDINGS]
        told = [subprocess.run(run, check=True, capture_output=True, text=True).stdout.strip() for run in runs]
        print(f"| 10^{len(str(n)) - 1} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
