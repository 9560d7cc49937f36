"""How long a block of dissimilarities takes to fetch from each kind of source.

    python benchmarks/blocks.py [--n 2000] [--repeat 7]

Three kinds of block: one row, 100 consecutive rows, and 100 x 100 at random places; the median of --repeat fetches of
different blocks, after one that is not counted. `whole` is the matrix once, as a fit reads it. Every block is compared
with the matrix. The PostgreSQL server is one of our own on loopback; without its programs that row is left out.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist, squareform

from medianmap.sources import CondensedSource, DenseSource, PairSource, PostgresSource, as_dissimilarity, write_store

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # the tables that the tests compare with, too
from support.pair_tables import pair_rows, write_postgres, write_tables
from support.postgres_server import binaries, postgres


def sources(X: np.ndarray, D: np.ndarray, folder: Path, stack: ExitStack) -> Iterator[tuple[str, Any]]:
    """(name, source) of the same dissimilarities."""
    ids = [f"p{k:05d}" for k in range(len(D))]
    yield "dense array", DenseSource(D, True, ids)
    yield "condensed vector", CondensedSource(squareform(D, checks=False), len(D), ids)
    yield "store (.npy memory map)", write_store(folder / "D.npy", DenseSource(D, True, ids))
    yield "on-the-fly euclidean, 8 columns", as_dissimilarity(X, "euclidean", ids=ids)
    rows = pair_rows(D, ids)
    for name, path in write_tables(folder, *rows).items():
        yield {"duckdb": "DuckDB file", "parquet": "Parquet", "csv": "CSV"}[name], PairSource(path)
    if binaries() is not None:
        uri = stack.enter_context(postgres())
        write_postgres(uri, *rows)
        yield "PostgreSQL, index on (row, column)", PostgresSource(uri, "pairs")


def milliseconds(source: Any, D: np.ndarray, block: Callable[[], tuple[Any, Any]], repeat: int) -> str:
    times = []
    for _ in range(repeat + 1):
        rows, cols = block()
        began = time.perf_counter()
        fetched = np.array(source.block(rows, cols))  # a view of a memory map is read only when it is used
        times.append(1e3 * (time.perf_counter() - began))
        i, l = np.arange(len(D))[rows], np.arange(len(D))[cols]
        assert np.array_equal(fetched, D[np.ix_(i, l)])
    return f"{statistics.median(times[1:]):.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=7)
    args = parser.parse_args()
    n, rng = args.n, np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    D = cdist(X, X)

    def consecutive(height: int) -> Callable[[], tuple[Any, Any]]:
        def block() -> tuple[Any, Any]:
            start = int(rng.integers(0, n - height))
            return slice(start, start + height), slice(None)

        return block

    def scattered() -> tuple[Any, Any]:
        return rng.choice(n, 100, replace=False), rng.choice(n, 100, replace=False)

    print(f"milliseconds per block, N = {n}\n")
    print("| source | 1 row | 100 rows | 100 x 100 at random | whole |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for name, source in sources(X, D, Path(folder), stack):
            blocks = [
                milliseconds(source, D, block, args.repeat) for block in (consecutive(1), consecutive(100), scattered)
            ]
            whole = milliseconds(source, D, lambda: (slice(None), slice(None)), 1)
            print(f"| {name} | {' | '.join(blocks)} | {whole} |", flush=True)


if __name__ == "__main__":
    main()
