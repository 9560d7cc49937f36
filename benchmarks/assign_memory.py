"""Peak memory and time of `assign_all` on a stream of vectors: `python benchmarks/assign_memory.py N tsv|parquet`."""

import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from medianmap import BatchKMeans
from medianmap.predict.assign_all import assign_all


def stream(n: int) -> Iterator[np.ndarray]:
    for k in range(n // 1000):
        yield from np.random.default_rng(k).normal(size=(1000, 10))


def main() -> None:
    n, ending = int(sys.argv[1]), sys.argv[2]
    model = BatchKMeans(50, random_state=0).fit(np.random.default_rng(0).normal(size=(2000, 10)))
    with tempfile.TemporaryDirectory() as folder:
        done = assign_all(model, stream(n), Path(folder) / f"out.{ending}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{done.n_objects} objects to .{ending}: {done.seconds:.1f} s, peak {peak:.0f} MiB")


if __name__ == "__main__":
    main()
