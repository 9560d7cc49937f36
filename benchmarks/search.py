"""Seconds per search: `standard` against a plain C loop and `gemm`, interleaved in one run, best of several.

    python benchmarks/search.py [--n 4400] [--k 100] [--rounds 3]

The C loop is compiled with -O3 if a compiler is there; it is the textbook's three loops over a float64 matrix.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from medianmap.search import STRATEGIES
from medianmap.sources import DenseSource
from medianmap.threads import limited

PLAIN_C = """
void search(const double *A, const double *D, long K, long N, double *C) {
    for (long j = 0; j < K; j++)
        for (long l = 0; l < N; l++) {
            double s = 0;
            for (long i = 0; i < N; i++) s += A[j * N + i] * D[l * N + i];
            C[j * N + l] = s;
        }
}
"""


def plain_c(folder: Path) -> Callable[..., None] | None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    (folder / "plain.c").write_text(PLAIN_C)
    subprocess.run(
        [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", folder / "plain.so", folder / "plain.c"],
        check=True,
    )
    function = ctypes.CDLL(str(folder / "plain.so")).search
    pointer = np.ctypeslib.ndpointer(np.float64, flags="C")
    function.argtypes = [pointer, pointer, ctypes.c_long, ctypes.c_long, pointer]
    return lambda A, D, C: function(A, D, *A.shape, C)


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4400)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(args.n, 5))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    D = (D + D.T) / 2
    A = np.exp(-rng.integers(0, args.k, (args.k, args.n)) / 10.0)
    source = DenseSource(D, symmetric=True)
    for strategy in STRATEGIES.values():
        strategy(A[:1, :50].copy(), DenseSource(np.ascontiguousarray(D[:50, :50]), symmetric=True))

    work: dict[str, Callable[[], object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        loop = plain_c(Path(folder))
        if loop is not None:
            C = np.empty((args.k, args.n))
            work["plain C, -O3, 1 thread"] = lambda: loop(A, D, C)
        work["standard, 1 thread"] = lambda: STRATEGIES["standard"](A, source)
        for n in (1, 2):
            work[f"gemm, {n} thread{'s' * (n > 1)}"] = lambda n=n: in_threads(n, lambda: STRATEGIES["gemm"](A, source))
        best = dict.fromkeys(work, np.inf)
        for _ in range(args.rounds):
            for name, call in work.items():
                best[name] = min(best[name], seconds(call))
    print(f"One search, N={args.n}, K={args.k}, float64, best of {args.rounds} interleaved rounds.\n")
    print("| search | seconds | ratio to standard |")
    print("| --- | --- | --- |")
    for name, least in best.items():
        print(f"| {name} | {least:.4f} | {best['standard, 1 thread'] / least:.2f} |")


def in_threads(n: int, call: Callable[[], object]) -> object:
    with limited(n):
        return call()


if __name__ == "__main__":
    main()
