"""Seconds that a user waits at first: imports, until `medianmap fit` opens its file or says what is wrong, first fits.

    python benchmarks/first_contact.py [--before REV] [--wheel FILE] [--rounds 5] [--compiling 1] [--no-fits]

Versions take turns, each run is a process of its own, and the best counts. "After installation" has a new folder for
what numba keeps; a wheel that brings its compiled loops is made by `MEDIANMAP_COMPILED=1 pip wheel --no-deps .`
"""

from __future__ import annotations

import argparse
import os
import resource
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
# Ends when the command opens its file, and prints the processor time until then.
OPENING = """
import os, sys, time
file = sys.argv[2]
def opened(event, args):
    if event == "open" and str(args[0]) == file:
        print(time.process_time(), flush=True)
        os._exit(0)
sys.addaudithook(opened)
from runpy import run_module
sys.argv = ["medianmap", *sys.argv[1:]]
run_module("medianmap", run_name="__main__")
"""
# What is typed after `medianmap fit`; each must end with exit code 2.
MISTAKES = {
    "a file that is not there": ("none.fasta", "-o", "m"),
    "an option that is none": (str(GLOBINS), "-o", "m", "--neurons", "9"),
    "a grid that is none": (str(GLOBINS), "-o", "m", "--grid", "9"),
    "options that exclude each other": (str(GLOBINS), "-o", "m", "-k", "9"),
    "a metric that is none": (str(GLOBINS), "-o", "m", "--metric", "edt"),
    "a parameter of no metric": (str(GLOBINS), "-o", "m", "--metric", "edit", "--param", "x=1"),
    "labels that are nowhere": (str(GLOBINS), "-o", "m", "--labels", "none.tsv"),
    "more neurons than points": (str(GLOBINS), "-o", "m", "--grid", "60x60"),
}


def seconds(source: Path, kept: Path | None, *arguments: str, printed: bool = False) -> float:
    """What a process takes for this: by the clock, or as it says itself; `kept` is where numba keeps compiled code."""
    env = os.environ | {"PYTHONPATH": str(source)} | ({"NUMBA_CACHE_DIR": str(kept)} if kept else {})
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], check=True, env=env, capture_output=True, text=True)
    return float(done.stdout) if printed else time.perf_counter() - began


def opening_seconds(source: Path) -> float:
    """Processor time from the start of `medianmap fit globins.fasta` to the opening of the file."""
    env = os.environ | {"PYTHONPATH": str(source)}
    arguments = ["-c", OPENING, "fit", str(GLOBINS), "-o", "m"]
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=True)
    return float(done.stdout)


def mistake_seconds(source: Path, arguments: tuple[str, ...]) -> float:
    """Processor time of `medianmap fit` with a mistake: on a busy machine the clock says more of the others."""
    env = os.environ | {"PYTHONPATH": str(source)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "medianmap", "fit", *arguments], env=env, capture_output=True, check=False
    )
    if done.returncode != 2:
        raise SystemExit(f"medianmap fit {' '.join(arguments)} ended with {done.returncode} instead of 2.")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compiling", type=int, default=1, help="rounds of the first fits after installation")
    parser.add_argument("--no-fits", action="store_true", help="leave the fits out")
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
        row(
            f"{COMMAND}, processor time until it opens the file",
            given.rounds,
            lambda version: opening_seconds(sources[version]),
        )
        for what, arguments in MISTAKES.items():
            row(
                f"medianmap fit, processor time: {what}",
                given.rounds,
                lambda version, a=arguments: mistake_seconds(sources[version], a),
            )
        for what in () if given.no_fits else (*FITS, COMMAND):
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
