"""Seconds that a user waits at first: the import, the first fit of a process, and the first after installation.

    python benchmarks/first_contact.py [--before REV] [--wheel FILE] [--rounds 3] [--compiling 1]

Versions take turns, each run is a process of its own, and the best counts. "After installation" has a new folder for
what numba keeps; a wheel that brings its compiled loops is made by `MEDIANMAP_COMPILED=1 pip wheel --no-deps .`
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from same_results import ROOT, tree_of

GLOBINS = ROOT / "src/medianmap/datasets/globins.fasta"
MAPS = {"MedianSOM": "(4, 5)", "MedianNeuralGas": "10", "MedianKMeans": "10"}
# Prints what the fit took; data and imports are at hand before.
FIT = """
import time
import numpy as np
from medianmap import {name}
x = np.random.default_rng(0).random((200, 5))
D = np.sqrt(((x[:, None] - x) ** 2).sum(axis=2))
began = time.perf_counter()
{name}({size}, metric="precomputed", random_state=0).fit(D)
print(time.perf_counter() - began)
"""
FITS = {f"{name}({size}), N=200": ("-c", FIT.format(name=name, size=size)) for name, size in MAPS.items()}
WHOLE = {
    "python -c 'import medianmap'": ("-c", "import medianmap"),
    "python -c 'from medianmap import MedianSOM'": ("-c", "from medianmap import MedianSOM"),
    "of these NumPy, SciPy, scikit-learn and numba": (
        "-c", "import numpy, scipy.linalg, scipy.spatial.distance, sklearn.base, numba"),
    "medianmap --version": ("-m", "medianmap", "--version"),
}  # fmt: skip
COMMAND = "medianmap fit globins.fasta"


def seconds(source: Path, kept: Path | None, *arguments: str, printed: bool = False) -> float:
    """What a process takes for this: by the clock, or as it says itself; `kept` is where numba keeps compiled code."""
    env = os.environ | {"PYTHONPATH": str(source)} | ({"NUMBA_CACHE_DIR": str(kept)} if kept else {})
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], check=True, env=env, capture_output=True, text=True)
    return float(done.stdout) if printed else time.perf_counter() - began


def fit_seconds(source: Path, kept: Path, what: str) -> float:
    """One of the fits; the folder that the command writes is removed."""
    if what != COMMAND:
        return seconds(source, kept, *FITS[what], printed=True)
    with TemporaryDirectory() as out:
        return seconds(source, kept, "-m", "medianmap", "fit", str(GLOBINS), "-o", f"{out}/map")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="REV", help="a git revision to compare with")
    parser.add_argument("--wheel", type=Path, metavar="FILE", help="a wheel of this version, with its compiled loops")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compiling", type=int, default=1, help="rounds of the first fits after installation")
    given = parser.parse_args()
    with ExitStack() as held:
        sources = {"source": ROOT / "src"}
        if given.before:
            sources = {given.before: held.enter_context(tree_of(given.before)) / "src"} | sources
        if given.wheel:
            sources["wheel"] = Path(held.enter_context(TemporaryDirectory()))
            ZipFile(given.wheel).extractall(sources["wheel"])
        print(f"| seconds | {' | '.join(sources)} |\n| --- |{' --- |' * len(sources)}")

        def row(name: str, rounds: int, measure: Callable[[str], float]) -> None:
            best = dict.fromkeys(sources, float("inf"))
            for _ in range(rounds):
                for version in sources:
                    best[version] = min(best[version], measure(version))
            print(f"| {name} | {' | '.join(f'{best[version]:.3f}' for version in sources)} |", flush=True)

        for name, arguments in WHOLE.items():
            row(name, given.rounds, lambda version, a=arguments: seconds(sources[version], None, *a))
        for what in (*FITS, COMMAND):
            kept: dict[str, Path] = {}

            def anew(version: str, what: str = what, kept: dict[str, Path] = kept) -> float:
                kept[version] = Path(held.enter_context(TemporaryDirectory()))
                return fit_seconds(sources[version], kept[version], what)

            def again(version: str, what: str = what, kept: dict[str, Path] = kept) -> float:
                return fit_seconds(sources[version], kept[version], what)

            row(f"{what}, first after installation", given.compiling, anew)
            row(f"{what}, first of a process", given.rounds, again)


if __name__ == "__main__":
    main()
