"""Is `standard` an honest baseline? Its loops against the same three loops in C at -O3, interleaved, best of several,
in seconds of the processor: other work on the machine hardly counts.

python benchmarks/baseline.py [--n 4400] [--rounds 3]
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from medianmap.search.exhaustive import _all_costs

PLAIN_C = """
void search(const double *A, const REAL *D, long K, long N, double *C) {
    for (long j = 0; j < K; j++)
        for (long l = 0; l < N; l++) {
            double s = 0;
            for (long i = 0; i < N; i++) s += A[j * N + i] * D[l * N + i];
            C[j * N + l] = s;
        }
}
"""


def plain_c(folder: Path, dtype: type = np.float64) -> Callable[..., None] | None:
    """The loops in C for D of that type, (A, D, C) -> None; None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    (folder / "plain.c").write_text(PLAIN_C)
    real = {np.float32: "float", np.float64: "double"}[dtype]
    library = folder / f"plain-{real}.so"
    flags = ["-O3", "-march=native", f"-DREAL={real}", "-shared", "-fPIC", "-o"]
    subprocess.run([compiler, *flags, library, folder / "plain.c"], check=True)
    function = ctypes.CDLL(str(library)).search
    A, D = (np.ctypeslib.ndpointer(t, flags="C") for t in (np.float64, dtype))
    function.argtypes = [A, D, ctypes.c_long, ctypes.c_long, A]
    return lambda A, D, C: function(A, D, *A.shape, C)


def seconds(work: Callable[..., object], *args: object, clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    work(*args)
    return clock() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4400)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    D = rng.random((args.n, args.n))
    print("| K | plain C, -O3, s | standard, s | standard / C |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        loop = plain_c(Path(folder))
        if loop is None:
            sys.exit("No C compiler was found; install gcc to compare with C.")
        for K in (100, 484):
            A, C = rng.random((K, args.n)), np.empty((K, args.n))
            _all_costs(A[:1], D[:8], C[:1, :8])
            best = [np.inf, np.inf]
            for _ in range(args.rounds):
                took = [seconds(way, A, D, C, clock=time.process_time) for way in (loop, _all_costs)]
                best = [min(pair) for pair in zip(best, took, strict=True)]
            print(f"| {K} | {best[0]:.3f} | {best[1]:.3f} | {best[1] / best[0]:.2f} |")


if __name__ == "__main__":
    main()
