"""Quantization and order of maps over a cross of parameters: what defaults are chosen with.

    python benchmarks/topology_study.py --cache FOLDER [--data FOLDER] --sets iris,digits --maps MedianSOM,RelationalSOM
        --vary sigma_end=0.01,0.5 neighborhood=exponential,gaussian init=random,embedding
        [--grids 4x5,8x10] [--seeds 0,1]

One line for each set, lattice, map and setting: the figures of benchmarks/topology.py, means over the seeds. Without
--grids every set has the lattices of that benchmark. Finished fits are kept in the cache and not done again, so the
cross can grow. Fits with the code of this tree.
"""

from __future__ import annotations

import argparse
import ast
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

from same_results import ROOT
from topology import mean_figures, title_of, wanted
from topology_figures import VECTORS, Bench
from topology_fits import Fit

COLUMNS = ("quantization", "torn", "rho", "trust", "border", "seconds")


def values(text: str) -> tuple[str, list[Any]]:
    """'sigma_end=0.01,0.5' -> ('sigma_end', [0.01, 0.5]); what is no Python literal is a word."""
    name, _, listed = text.partition("=")
    return name, [literal(part) for part in listed.split(",")]


def literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def side_lengths(text: str) -> tuple[int, int]:
    """'8x10' -> (8, 10)."""
    rows, cols = text.split("x")
    return int(rows), int(cols)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="matrices and finished fits")
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/D.csv")
    parser.add_argument("--sets", help='comma-separated, e.g. "globins,chromosomes 10x10"; default all')
    parser.add_argument("--maps", default="MedianSOM,RelationalSOM", help="classes, comma-separated")
    parser.add_argument("--grids", help="lattices, comma-separated, in the place of the benchmark's")
    parser.add_argument("--vary", nargs="*", default=[], help="NAME=VALUE,VALUE of parameters of the maps")
    parser.add_argument("--seeds", default="0,1", help="comma-separated")
    parser.add_argument("--yardstick", type=int, default=5, help="seeds of FasterPAM")
    args = parser.parse_args()
    names, lists = zip(*(values(text) for text in args.vary), strict=True) if args.vary else ((), ())
    sets = wanted(args.sets)
    if args.grids:
        grids = [side_lengths(text) for text in args.grids.split(",")]
        sets = list(product(dict.fromkeys(data for data, _ in sets), grids))
    seeds = [int(text) for text in args.seeds.split(",")]
    print("| set | map |", *(f"{name} |" for name in names), *(f"{column} |" for column in COLUMNS))
    print("| --- " * (2 + len(names) + len(COLUMNS)) + "|")
    with closing(Bench(args.cache.resolve(), args.data, {"now": ROOT})) as bench:
        for (data, grid), kind, setting in product(sets, args.maps.split(","), list(product(*lists))):
            if not bench.has(data) or (kind == "BatchSOM" and data not in VECTORS):
                continue
            params = dict(zip(names, setting, strict=True))
            runs = [bench.figures("now", Fit(data, grid, kind, seed, params)) for seed in seeds]
            means = mean_figures(runs, bench.yardstick(data, grid[0] * grid[1], args.yardstick))
            print(
                f"| {title_of(data, grid)} | {kind} |",
                *(f"{value} |" for value in setting),
                *(f"{means[column]:.3f} |" for column in COLUMNS),
                flush=True,
            )


if __name__ == "__main__":
    main()
