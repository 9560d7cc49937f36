"""How well maps quantize and how well they are ordered: ours, those of an earlier revision, and MiniSom's.

    python benchmarks/topology.py --data FOLDER --before REV [--cache FOLDER] [--sets a,b] [--seeds 5] [--json FILE]

FOLDER holds chromosomes.csv and proteins/D.csv; without it the sets that need them are left out. Figures are
means over the seeds; the finished fits in the cache are not done again, whichever code they belong to.

QE : sum_i min_j D[i, e_j] over the exemplars e_j, over FasterPAM's mean loss with as many medoids from random starts.
    Combinations of the data (RelationalSOM) are not comparable with data points: theirs is that of the data
    points nearest to them, `exemplar_indices_`. Prototypes that are vectors (BatchSOM, MiniSom) are compared by the sum
    of Euclidean distances to them (not squared), over FasterPAM's loss on the matrix of these distances.
TE : share of points whose two nearest prototypes are not neighbours on the lattice; of RelationalSOM the combinations.
rho : Spearman's correlation of dissimilarity and lattice distance, 40000 random pairs of points.
trust : trustworthiness, ten nearest. border : share of points on the border over the border's share of neurons.

Sets: 4400 chromosome strings by edit distance, the 630 globins of the package and 2000 simulated proteins by alignment,
213 proteins by D.csv; and vectors by Euclidean distance: iris and breast cancer as z-scores, digits as they are. Fits
take turns, seed by seed. Exit code 1 if a bound is not kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from same_results import ROOT, tree_of
from topology_figures import VECTORS, Bench, Figures
from topology_fits import Fit, fasterpam

GRIDS = (
    ("chromosomes", (10, 10)),
    ("chromosomes", (22, 22)),
    ("globins", (8, 10)),
    ("proteins", (4, 5)),
    ("breast_cancer", (8, 8)),
    ("iris", (6, 6)),
    ("digits", (10, 10)),
    ("families", (8, 10)),
)
# The start is named too, so that this is the chapter's whatever the default is.
CHAPTER = {
    "normalized": False, "neighborhood": "exponential", "sigma_end": 0.01, "init": "random", "arrange": False,
}  # fmt: skip
LARGE = 10**6  # points times neurons: above it --few seeds
MEDIAN, SWAPPED, RELATIONAL, BATCH = "MedianSOM()", "MedianSOM(refine='swap')", "RelationalSOM()", "BatchSOM()"
FORMULA, MINISOM, MINISOM_1 = "the chapter's formula", "MiniSom, sigma half a side", "MiniSom, sigma 1"


@dataclass(frozen=True)
class Row:
    """A row of the tables: whose code, which class of map, with which parameters; vectors says what it can map."""

    title: str
    code: str
    kind: str
    params: Mapping[str, Any]

    @property
    def vectors(self) -> bool:
        return self.kind in ("BatchSOM", "MiniSom")


def rows_of(data: str, grid: tuple[int, int], earlier: bool) -> list[Row]:
    ours = [
        Row(MEDIAN, "now", "MedianSOM", {}),
        Row(SWAPPED, "now", "MedianSOM", {"refine": "swap"}),
        Row(RELATIONAL, "now", "RelationalSOM", {}),
        Row(BATCH, "now", "BatchSOM", {}),
    ]
    before = [Row(f"before: {row.title}", "before", row.kind, row.params) for row in ours]
    others = [Row(FORMULA, "now", "MedianSOM", CHAPTER)]
    if find_spec("minisom") is not None:
        others += [Row(MINISOM, "", "MiniSom", {"sigma": min(grid) / 2}), Row(MINISOM_1, "", "MiniSom", {})]
    return [row for row in (before if earlier else []) + ours + others if data in VECTORS or not row.vectors]


def title_of(data: str, grid: tuple[int, int]) -> str:
    return f"{data.replace('_', ' ')} {grid[0]}x{grid[1]}"


def mean_figures(runs: list[Figures], yardstick: float) -> dict[str, float]:
    """Means over the seeds; the loss over the yardstick, as "quantization"; and the least seconds, as "fastest"."""
    means = {each.name: float(np.mean([getattr(run, each.name) for run in runs])) for each in fields(Figures)}
    means["quantization"] = means.pop("loss") / yardstick
    return means | {"fastest": min(run.seconds for run in runs)}


# set and row -> mean figures
Table = dict[tuple[str, str], dict[str, float]]


@dataclass(frozen=True)
class Verdict:
    """A bound in words, and whether it is kept."""

    text: str
    kept: bool


def verdicts(table: Table) -> Iterator[Verdict]:
    """Every bound whose rows are there."""
    for name in dict.fromkeys(name for name, _ in table):

        def of(title: str, name: str = name) -> dict[str, float] | None:
            return table.get((name, title))

        def most(text: str, value: float, bound: float, name: str = name) -> Verdict:
            return Verdict(f"{name}: {text} {value:.3f}, at most {bound:.3f}", value <= bound)

        before, median, swapped, relational = of(f"before: {MEDIAN}"), of(MEDIAN), of(SWAPPED), of(RELATIONAL)
        if swapped:
            yield most(f"{SWAPPED} QE", swapped["quantization"], 1.02)
            yield most(f"{SWAPPED} TE", swapped["torn"], torn_at_most(name))
        if before and median:
            yield most(f"{MEDIAN} QE, before and", median["quantization"], before["quantization"])
            yield most(f"{MEDIAN} TE, 0.6 of before", median["torn"], 0.6 * before["torn"])
        if relational:
            yield most(f"{RELATIONAL} TE", relational["torn"], 0.10 if name.endswith("22x22") else 0.06)
        batch, other = of(BATCH), of(MINISOM)
        if batch and other:
            lower = batch["quantization"] < other["quantization"]
            said = f"{batch['quantization']:.3f}, MiniSom's {other['quantization']:.3f}"
            yield Verdict(f"{name}: {BATCH} mean distance {said}: lower", lower)
            yield most(f"{BATCH} TE, MiniSom's + 0.02", batch["torn"], other["torn"] + 0.02)
            said = f"{batch['fastest']:.3f}, MiniSom's {other['fastest']:.3f}"
            yield Verdict(
                f"{name}: {BATCH} seconds, least of the seeds, {said}: fewer", batch["fastest"] < other["fastest"]
            )
    yield from far_order(table)


def torn_at_most(name: str) -> float:
    """The bound on the topographic error of refined maps."""
    data, _, grid = name.rpartition(" ")
    if data == "chromosomes":
        return 0.40 if grid == "22x22" else 0.30
    return 0.25 if data in ("digits", "breast cancer", "families") else 0.20


def far_order(table: Table) -> Iterator[Verdict]:
    """rho of refined maps no lower than that of the earlier unrefined ones on most sets."""
    pairs = {
        name: (table[name, f"before: {MEDIAN}"], table[name, SWAPPED])
        for name in dict.fromkeys(name for name, _ in table)
        if (name, f"before: {MEDIAN}") in table and (name, SWAPPED) in table
    }
    if not pairs:
        return
    lower = [name for name, (before, now) in pairs.items() if now["rho"] < before["rho"]]
    trades = "".join(
        f"; {name} rho {before['rho']:.2f} -> {now['rho']:.2f}, TE {before['torn']:.2f} -> {now['torn']:.2f}, "
        f"QE {before['quantization']:.3f} -> {now['quantization']:.3f}"
        for name, (before, now) in pairs.items()
        if name in lower
    )
    said = f"{SWAPPED} rho no lower than {MEDIAN}'s before on {len(pairs) - len(lower)} of {len(pairs)} sets, most"
    yield Verdict(said + trades, len(lower) < len(pairs) / 2)


def print_table(name: str, N: int, seeds: int, means: dict[str, dict[str, float]]) -> None:
    print(f"\n### {name}, N={N}, {seeds} seeds\n")
    print("| map | QE | TE | rho | trust | border | seconds |\n| --- | --- | --- | --- | --- | --- | --- |")
    for title, of in means.items():
        print(
            f"| {title} | {of['quantization']:.3f} | {of['torn']:.3f} | {of['rho']:.3f} | {of['trust']:.3f} "
            f"| {of['border']:.2f} | {of['seconds']:.2f} |",
            flush=True,
        )


def arrangement(bench: Bench) -> Iterator[Verdict]:
    """Seconds in which 484 medoids are laid out, the least of three."""
    import medianmap

    if not hasattr(medianmap, "arrange"):
        print("\nArrangement of 484 exemplars: left out, medianmap has no function `arrange`.")
        return
    name = "chromosomes" if bench.has("chromosomes") else "digits"
    D = bench.matrix(name)
    medoids = fasterpam(D, 484, 0)[0]
    medianmap.arrange(D, medoids[:6], (2, 3))  # compiles
    took = []
    for _ in range(3):
        began = time.perf_counter()
        medianmap.arrange(D, medoids, (22, 22))
        took.append(time.perf_counter() - began)
    yield Verdict(f"{name}: arrangement of 484 exemplars {min(took):.2f} seconds, at most 5", min(took) <= 5)


def wanted(text: str | None) -> list[tuple[str, tuple[int, int]]]:
    """The sets whose titles begin with one of the comma-separated texts; all without a text."""
    texts = [part.strip().replace("_", " ") for part in (text or "").split(",")]
    return [(data, grid) for data, grid in GRIDS if any(title_of(data, grid).startswith(part) for part in texts)]


def measured(
    bench: Bench, data: str, grid: tuple[int, int], seeds: int, of: int, only: str
) -> dict[str, dict[str, float]]:
    """Mean figures of every row; `of` seeds for the yardstick."""
    runs: dict[str, list[Figures]] = {}
    rows = [row for row in rows_of(data, grid, "before" in bench.codes) if only in row.title]
    for seed in range(seeds):
        for row in rows:
            fit = Fit(data, grid, row.kind, seed, dict(row.params))
            runs.setdefault(row.title, []).append(bench.figures(row.code, fit))
    yardstick = bench.yardstick(data, grid[0] * grid[1], of)
    return {title: mean_figures(each, yardstick) for title, each in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/D.csv")
    parser.add_argument("--before", metavar="REV", help="the git revision to compare with")
    parser.add_argument("--cache", type=Path, help="where to keep matrices and finished fits: the next run goes on")
    parser.add_argument("--sets", help='comma-separated, e.g. "globins,chromosomes 10x10"; default all')
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--few", type=int, help="seeds where N K is above a million, instead of --seeds")
    parser.add_argument("--only", default="", help="only rows whose title holds this text")
    parser.add_argument("--json", type=Path, help="where to write all figures")
    args = parser.parse_args()
    if find_spec("minisom") is None:
        print("MiniSom: left out, it is not installed (pip install minisom)", flush=True)
    table: Table = {}
    with ExitStack() as stack:
        folder = args.cache or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        codes = {"now": ROOT}
        if args.before is not None:
            codes["before"] = stack.enter_context(tree_of(args.before))
        bench = stack.enter_context(closing(Bench(folder.resolve(), args.data, codes)))
        for data, grid in wanted(args.sets):
            name = title_of(data, grid)
            if not bench.has(data):
                print(f"{name}: left out, --data was not given", flush=True)
                continue
            N = len(bench.matrix(data))
            large = args.few is not None and N * grid[0] * grid[1] > LARGE
            seeds = args.few if large else args.seeds
            means = measured(bench, data, grid, seeds, args.seeds, args.only)
            print_table(name, N, seeds, means)
            table |= {(name, title): of for title, of in means.items()}
            if args.json is not None:
                args.json.write_text(json.dumps([{"set": n, "map": t, **of} for (n, t), of in table.items()], indent=1))
        found = [*verdicts(table), *arrangement(bench)]
    print(f"\n{len(found)} bounds, {sum(not verdict.kept for verdict in found)} not kept")
    for verdict in found:
        print(f"{'passed' if verdict.kept else 'FAILED'}  {verdict.text}")
    sys.exit(0 if all(verdict.kept for verdict in found) else 1)


if __name__ == "__main__":
    main()
