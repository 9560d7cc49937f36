"""Memory of a fit on a matrix on disk: 20000 x 20000 float32, 1.6 GB, never loaded whole.

    python benchmarks/memory.py [--n 20000] [--folder DIR]

Counts anonymous memory (RssAnon), which is the process's own; pages of the mapped file belong to the page cache.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from medianmap import MedianKMeans


def anonymous_bytes() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


class Peak:
    """The largest anonymous memory seen inside the block, sampled every 2 ms."""

    def __enter__(self) -> Peak:
        self.before = self.most = anonymous_bytes()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.002):
            self.most = max(self.most, anonymous_bytes())

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def extra(self) -> int:
        return self.most - self.before


def write_matrix(path: Path, n: int) -> None:
    """Euclidean distances of n random vectors, written row panel by row panel."""
    X = np.random.default_rng(0).normal(size=(n, 5))
    D = np.lib.format.open_memmap(path, "w+", np.float32, (n, n))
    for start in range(0, n, 500):
        D[start : start + 500] = cdist(X[start : start + 500], X)
    D.flush()


def means(K: int, n_epochs: int) -> MedianKMeans:
    """The chapter's median K-means, whose prototypes are data points all the way."""
    return MedianKMeans(K, metric="precomputed", annealing="median", search="gemm", max_iter=n_epochs, random_state=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20000)
    parser.add_argument("--folder", type=Path, default=None)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        path = Path(folder) / "D.npy"
        write_matrix(path, args.n)
        means(2, n_epochs=1).fit(1 - np.eye(4))  # compile outside the measurement
        with Peak() as peak:
            began = time.process_time()
            D = np.load(path, mmap_mode="r")
            fitted = means(50, n_epochs=5).fit(D)
            seconds = time.process_time() - began
        print("| N | matrix | epochs | peak extra memory | seconds of the processor |")
        print("| --- | --- | --- | --- | --- |")
        print(f"| {args.n} | {path.stat().st_size / 2**30:.2f} GiB float32 | {fitted.n_iter_} "
              f"| {peak.extra / 2**20:.0f} MiB | {seconds:.1f} |")  # fmt: skip


if __name__ == "__main__":
    main()
