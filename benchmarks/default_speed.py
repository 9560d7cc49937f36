"""Loss and seconds of what users get by default, beside the commit before and what they would use instead.

    python benchmarks/default_speed.py --data FOLDER [--before REV] [--cache FOLDER] [--rounds 3] [--large]

FOLDER holds chromosomes.csv and proteins/D.csv; without it the sets that need them are left out. Every method has a
process of its version, with two threads, and all take turns: round r has seed r in all of them. Seconds are the least
of the rounds, losses the means. Of exemplars a loss is sum_i min_j D[i, w_j], of mean vectors the same of squared
distances. --large adds 20000 points: seconds, and memory beyond the matrix. Exit code 1 if a bound is not kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import data
import numpy as np
from default_fits import Fit
from same_results import ROOT, tree_of
from same_speed import ended, started

# Set of data, sizes of the maps; vectors are measured beside programs for vectors.
MATRICES = {"chromosomes": ((10, 10), (22, 22), (100,), (500,)), "globins": ((50,),), "proteins": ((22,),),
            "digits": ((100,),), "families": ((80,),), "simulated": ((100,), (500,))}  # fmt: skip
VECTORS = {"digits": ((10, 10), (100,)), "breast_cancer": ((8, 8), (40,))}
LARGE = {4400: (100, 500), 20000: (100, 500)}
BEFORE, GAS, SOM = "before: ", "MedianNeuralGas()", "MedianSOM()"


@dataclass(frozen=True)
class Row:
    """A row of a table: how it is called, whose code runs, what is fitted."""

    title: str
    code: str
    kind: str
    params: dict[str, Any]


def rows_of(size: tuple[int, ...], before: bool) -> Iterator[Row]:
    """The rows of one table of dissimilarities."""
    kinds = ["MedianSOM"] if len(size) == 2 else ["MedianNeuralGas", "MedianKMeans"]
    for kind in kinds:
        for params in ({}, {"refine": "swap"}, {"annealing": "median"}):
            said = ", ".join(f'{name}="{value}"' for name, value in params.items())
            yield Row(f"{kind}({said})", "now", kind, params)
        if before:
            yield Row(f"{BEFORE}{kind}()", "before", kind, {})
    if find_spec("kmedoids") is not None:
        yield Row("kmedoids.fasterpam", "now", "fasterpam", {})
        yield Row("kmedoids.alternating", "now", "alternating", {})


def rows_of_vectors(size: tuple[int, ...], before: bool) -> Iterator[Row]:
    ours, theirs = ("BatchSOM", "MiniSom") if len(size) == 2 else ("BatchKMeans", "KMeans")
    yield Row(f"{ours}()", "now", ours, {})
    if before:
        yield Row(f"{BEFORE}{ours}()", "before", ours, {})
    if theirs == "KMeans":
        yield Row("scikit-learn KMeans, random start", "now", theirs, {"init": "random", "n_init": 1})
    elif find_spec("minisom") is not None:
        yield Row("MiniSom, sigma half a side", "now", theirs, {})


class Workers:
    """One process per version of the code, which fits what it is asked for."""

    def __init__(self, folder: Path, codes: dict[str, Path]) -> None:
        self.folder, self.codes = folder, codes
        self.running: dict[str, subprocess.Popen[str]] = {}

    def fit(self, code: str, fit: Fit) -> dict[str, float]:
        if code not in self.running:
            self.running[code] = self.one(code)
        return answer(self.running[code], fit)

    def alone(self, code: str, fit: Fit) -> dict[str, float]:
        """In a new process, for its memory."""
        worker = self.one(code)
        try:
            return answer(worker, fit)
        finally:
            ended(worker)

    def one(self, code: str) -> subprocess.Popen[str]:
        script = str(Path(__file__).with_name("default_fits.py"))
        return started(self.codes[code] / "src", script, str(self.folder))

    def close(self) -> None:
        for worker in self.running.values():
            ended(worker)


def answer(worker: subprocess.Popen[str], fit: Fit) -> dict[str, float]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    print(json.dumps(asdict(fit)), file=worker.stdin, flush=True)
    line = worker.stdout.readline()
    if not line:
        raise SystemExit(f"{fit} ended the process that was to fit it.")
    return json.loads(line)


# (set, size) -> title of the row -> {"seconds", "loss"}
Table = dict[tuple[str, tuple[int, ...]], dict[str, dict[str, float]]]


def measured(workers: Workers, name: str, size: tuple[int, ...], rows: list[Row], rounds: int) -> dict[str, Any]:
    """Every row in each round; the least seconds and the mean loss."""
    found: dict[str, list[dict[str, float]]] = {row.title: [] for row in rows}
    for seed in range(rounds):
        for row in rows:
            found[row.title].append(workers.fit(row.code, Fit(name, row.kind, size, seed, row.params)))
    return {
        title: {"seconds": min(each["seconds"] for each in runs), "loss": float(np.mean([r["loss"] for r in runs]))}
        for title, runs in found.items()
    }


def show(name: str, size: tuple[int, ...], N: int, table: dict[str, dict[str, float]]) -> None:
    base = table.get("kmedoids.fasterpam") or next(iter(table.values()))
    print(f"\n### {name}, N={N}, {' x '.join(map(str, size)) if len(size) == 2 else f'K={size[0]}'}\n")
    print(f"| | loss | loss / {'FasterPAM' if 'kmedoids.fasterpam' in table else 'first'} | seconds | / its |")
    print("| --- | --- | --- | --- | --- |")
    for title, of in table.items():
        loss, seconds = of["loss"] / base["loss"], of["seconds"] / base["seconds"]
        print(f"| {title} | {of['loss']:.6g} | {loss:.4f} | {of['seconds']:.4g} | {seconds:.2f} |", flush=True)


@dataclass(frozen=True)
class Bound:
    """What is promised, what was found, and whether it is kept."""

    text: str
    value: float
    most: float

    @property
    def kept(self) -> bool:
        return self.value <= self.most

    def __str__(self) -> str:
        return f"{'kept  ' if self.kept else 'BROKEN'} {self.text}: {self.value:.4g}, at most {self.most:.4g}"


def bounds(tables: Table) -> Iterator[Bound]:
    """What is promised of the default maps, as far as the rows are there."""
    for (name, size), rows in tables.items():
        title = f"{name} {'x'.join(map(str, size))}"

        def ratio(of: str, over: str, what: str = "seconds", rows: dict[str, Any] = rows) -> float | None:
            return rows[of][what] / rows[over][what] if of in rows and over in rows else None

        found: list[tuple[str, float | None, float]] = []
        if name == "chromosomes" and len(size) == 2:
            found.append((f"{SOM}, time over before", ratio(SOM, BEFORE + SOM), 1 / 5))
        if len(size) == 1:
            found.append((f"{GAS}, loss over before", ratio(GAS, BEFORE + GAS, "loss"), 1.002))
        if name == "chromosomes" and len(size) == 1:
            few = size[0] <= 100
            refined = 'MedianNeuralGas(refine="swap")'
            found.append((f"{GAS}, time over before", ratio(GAS, BEFORE + GAS), 1 / 4 if few else 1 / 8))
            found.append((f"{GAS}, time over FasterPAM", ratio(GAS, "kmedoids.fasterpam"), 2 if few else 4))
            found.append((f"{refined}, time over FasterPAM", ratio(refined, "kmedoids.fasterpam"), 3 if few else 6))
        yield from (Bound(f"{title}: {text}", value, most) for text, value, most in found if value is not None)


def large(workers: Workers, folder: Path, rounds: int) -> Iterator[Bound]:
    """Seconds and memory of default fits of many points; yields the bounds on them."""
    print("\n### Memory beyond the matrix\n\n| map | N | K | seconds | extra, MiB | of the matrix |")
    print("| --- | --- | --- | --- | --- | --- |")
    for N, Ks in LARGE.items():
        name = f"simulated{N}"
        data.kept(folder / f"{name}.npy", lambda N=N: data.simulated(N))
        for kind in ("MedianSOM", "MedianNeuralGas", "MedianKMeans"):
            for K in Ks:
                fit = Fit(name, kind, (K,))
                found = workers.alone("now", fit)
                share = found["extra"] / (4 * N * N)
                said = f"{kind}()", N, K, f"{found['seconds']:.2f}", f"{found['extra'] / 2**20:.0f}", f"{share:.0%}"
                print("|", " | ".join(map(str, said)), "|", flush=True)
                if N == 20000:
                    yield Bound(f"N={N}, K={K}: {kind}(), memory over the matrix", share, 0.15)
    for kind in ("MedianSOM", "MedianNeuralGas"):
        rows = [Row(f"{kind}()", "now", kind, {}), Row("median", "now", kind, {"annealing": "median"})]
        table = measured(workers, "simulated20000", (100,), rows, rounds)
        show("simulated20000", (100,), 20000, table)
        ratio = table[f"{kind}()"]["seconds"] / table["median"]["seconds"]
        yield Bound(f'N=20000, K=100: {kind}(), time over annealing="median"', ratio, 3)


def prepared(folder: Path, name: str, shared: Path | None) -> bool:
    """Write the matrix, and vectors where there are any, for all processes; whether the data are there."""
    path = folder / f"{name}.npy"
    if not path.exists():
        D = data.simulated(10000) if name == "simulated" else data.matrix(name, shared)
        if D is None:
            print(f"{name}: left out, --data was not given", flush=True)
            return False
        data.kept(path, lambda: D)
    if name in VECTORS:
        data.kept(folder / f"x_{name}.npy", lambda: data.vectors(name))
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/D.csv")
    parser.add_argument("--before", help="the revision to compare with")
    parser.add_argument("--cache", type=Path, help="where to keep the matrices")
    parser.add_argument("--sets", nargs="+", default=list(MATRICES), help="sets of dissimilarities")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="20000 points too, and memory (4 GB)")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    args = parser.parse_args()
    tables: Table = {}
    kept: list[Bound] = []
    with ExitStack() as stack:
        folder = args.cache or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        codes = {"now": ROOT}
        if args.before:
            codes["before"] = stack.enter_context(tree_of(args.before))
        workers = Workers(folder, codes)
        stack.callback(workers.close)
        for name in args.sets:
            if prepared(folder, name, args.data):
                N = len(np.load(folder / f"{name}.npy", mmap_mode="r"))
                for size in MATRICES[name]:
                    rows = list(rows_of(size, args.before is not None))
                    tables[name, size] = measured(workers, name, size, rows, args.rounds)
                    show(name, size, N, tables[name, size])
        for name, sizes in VECTORS.items():
            if prepared(folder, name, args.data):
                X = np.load(folder / f"x_{name}.npy", mmap_mode="r")
                for size in sizes:
                    rows = list(rows_of_vectors(size, args.before is not None))
                    tables[f"{name}, vectors", size] = measured(workers, name, size, rows, args.rounds)
                    show(f"{name}, vectors", size, len(X), tables[f"{name}, vectors", size])
        if args.large:
            kept += large(workers, folder, args.rounds)
    kept = [*bounds({key: rows for key, rows in tables.items() if "vectors" not in key[0]}), *kept]
    print(f"\n{len(kept)} bounds, {sum(not bound.kept for bound in kept)} not kept", *kept, sep="\n")
    if args.json:
        found = {f"{name} {'x'.join(map(str, size))}": rows for (name, size), rows in tables.items()}
        args.json.write_text(json.dumps({"tables": found, "bounds": [asdict(bound) for bound in kept]}, indent=1))
    return 0 if all(bound.kept for bound in kept) else 1


if __name__ == "__main__":
    sys.exit(main())
