"""Memory while all pairs are computed into a file: 20000 x 20000 float32, 1.6 GB, never held in memory.

    python benchmarks/allpairs_memory.py [--n 20000] [--folder DIR]

Counts anonymous memory (RssAnon), which is the process's own; pages of the mapped file belong to the page cache.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from memory import Peak
from scipy.spatial.distance import cdist

from medianmap.sources.all_pairs import all_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20000)
    parser.add_argument("--folder", default=None, help="where the file goes, 4 n^2 bytes")
    args = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(args.n, 8))
    all_pairs(X[:10], "sqeuclidean")  # imports outside the measurement
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = Path(folder) / "D.npy"
        with Peak() as peak:
            began = time.process_time()
            stored = all_pairs(X, "sqeuclidean", path, dtype="float32")
            seconds = time.process_time() - began
        print("| N | file | peak extra memory | seconds of the processor |")
        print("| --- | --- | --- | --- |")
        print(f"| {args.n} | {path.stat().st_size / 2**30:.2f} GiB float32 | {peak.extra / 2**20:.0f} MiB "
              f"| {seconds:.1f} |")  # fmt: skip
        some = np.random.default_rng(1).integers(0, args.n, 200)
        assert np.array_equal(stored.block(some, some), cdist(X[some], X[some], "sqeuclidean").astype(np.float32))


if __name__ == "__main__":
    main()
