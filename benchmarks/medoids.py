"""Final loss and seconds beside the k-medoids packages: one run, interleaved, one matrix in memory, 2 threads each.

    python benchmarks/medoids.py --data FOLDER [--cache FOLDER] [--sets ...] [--k ...] [--seeds 5] [--json FILE]

FOLDER holds chromosomes.csv and proteins/D.csv, which are not part of this project; without it the sets that need them
are left out. Losses are sum_i min_j D[i, w_j] of the medoids that each method returns, summed here. A method that is
not installed, or whose parameters this version does not have, is left out with a note.

    pip install kmedoids scikit-learn-extra "numpy<2"        scikit-learn-extra 0.3.0 cannot be imported beside numpy 2
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import data
import numpy as np
from numpy.typing import NDArray

from medianmap import MedianKMeans, MedianNeuralGas, MedianSOM
from medianmap.core.neighborhood import make_lattice
from medianmap.core.quality import topographic_error
from medianmap.datasets import load_globins
from medianmap.refine.map_cost import MapState
from medianmap.sources import ALL, as_dissimilarity

THREADS = 2
SWAP = {"refine": "swap"}
SMALL, ROUNDS = 1000, 5
SETS = ("chromosomes", "globins", "proteins", "simulated")
YARDSTICK = "kmedoids.fasterpam"
# A method gets D, K and a seed and returns the medoids.
Method = Callable[[NDArray[Any], int, int], NDArray[np.intp]]


@dataclass(frozen=True)
class Run:
    """One method on one set: loss and seconds; for a SOM also its topographic error and the cost that swaps lower."""

    set: str
    K: int
    seed: int
    method: str
    loss: float
    seconds: float
    topographic_error: float | None = None
    map_cost: float | None = None


def matrices(names: list[str], folder: Path | None, cache: Path | None) -> Iterator[tuple[str, NDArray[Any]]]:
    for name in names:
        if name == "globins":
            yield name, np.asarray(as_dissimilarity(load_globins().sequences, "edit").block(ALL, ALL), np.float32)
        elif name == "simulated":
            yield name, data.simulated(10000)
        elif folder is None:
            print(f"{name}: left out, --data was not given", flush=True)
        elif name == "chromosomes":
            yield name, data.chromosomes(folder / "chromosomes.csv", cache)
        else:
            yield name, np.loadtxt(folder / "proteins" / "D.csv", delimiter=",")


def grid_of(K: int) -> tuple[int, int]:
    """The most square grid of K neurons."""
    rows = next(r for r in range(int(K**0.5), 0, -1) if K % r == 0)
    return rows, K // rows


def fasterpam(D: NDArray[Any], K: int, seed: int) -> NDArray[np.intp]:
    import kmedoids

    return kmedoids.fasterpam(D, K, max_iter=100, random_state=seed, n_cpu=THREADS).medoids


def alternating(D: NDArray[Any], K: int, seed: int) -> NDArray[np.intp]:
    import kmedoids

    return kmedoids.alternating(D, K, max_iter=100, random_state=seed).medoids


def sklearn_extra(D: NDArray[Any], K: int, seed: int) -> NDArray[np.intp]:
    from sklearn_extra.cluster import KMedoids

    return KMedoids(K, metric="precomputed", random_state=seed).fit(D).medoid_indices_


def fitted(kind: type, D: NDArray[Any], K: int, seed: int, **params: Any) -> NDArray[np.intp]:
    size = grid_of(K) if kind is MedianSOM else K
    return kind(size, metric="precomputed", random_state=seed, n_jobs=THREADS, **params).fit(D).medoid_indices_


def methods() -> dict[str, Method]:
    """Every row of the table that can run here; the others are named with the reason."""
    rows: dict[str, Method] = {YARDSTICK: fasterpam, "kmedoids.alternating": alternating}
    rows["sklearn_extra KMedoids"] = sklearn_extra
    for kind in (MedianKMeans, MedianNeuralGas, MedianSOM):
        for annealing, refine in product(({}, {"annealing": "median"}, {"annealing": "relational"}), ({}, SWAP)):
            # The default is relational annealing, but for refined K-means, which goes straight to the swaps.
            if annealing != {"annealing": "relational"} or (kind is MedianKMeans and refine):
                params = {**annealing, **refine}
                said = ", ".join(f"{key}={value!r}" for key, value in params.items())
                rows[f"{kind.__name__}({said})"] = partial(fitted, kind, **params)
    small = data.simulated(60)
    runnable = {}
    for name, method in rows.items():
        module = name.partition(".")[0] if name.startswith("kmedoids") else name.partition(" ")[0]
        if module in ("kmedoids", "sklearn_extra") and find_spec(module) is None:
            print(f"{name}: left out, it is not installed", flush=True)
            continue
        try:
            for kind in (np.float32, np.float64):  # compiles for both types of matrix, which no row is charged for
                method(small.astype(kind), 6, 0)
        except (TypeError, ValueError, ImportError) as error:
            print(f"{name}: left out: {error}", flush=True)
        else:
            runnable[name] = method
    return runnable


def measured(name: str, D: NDArray[Any], K: int, seed: int, title: str, method: Method) -> Run:
    began = time.perf_counter()
    w = method(D, K, seed)
    seconds = time.perf_counter() - began
    G = D[:, np.asarray(w, np.intp)].astype(np.float64)
    run = Run(name, K, seed, title, float(G.min(axis=1).sum()), seconds)
    if not title.startswith("MedianSOM"):
        return run
    lattice = make_lattice(grid_of(K))
    cost = MapState.of(G.copy(), np.asarray(w, np.intp), np.ones(len(D)), lattice, MedianSOM().order).cost
    return Run(**{**asdict(run), "topographic_error": topographic_error(G, lattice), "map_cost": cost})


def in_turns(name: str, D: NDArray[Any], K: int, seed: int, rows: dict[str, Method]) -> list[Run]:
    """Every method once; on a small matrix, where a fit takes milliseconds, five times by turns, the least counts."""
    rounds = [
        [measured(name, D, K, seed, title, method) for title, method in rows.items()]
        for _ in range(ROUNDS if len(D) <= SMALL else 1)
    ]
    return [min(runs, key=lambda run: run.seconds) for runs in zip(*rounds, strict=True)]


def mark(good: bool, bound: str) -> str:
    return f"{'pass' if good else 'FAIL'} ({bound})"


def verdict(title: str, loss: float, seconds: float, ratio_of_points: float) -> str:
    """The bound that a row has to meet, and whether it does."""
    if title == "MedianKMeans(refine='swap')":
        return mark(loss <= 1.001 and seconds <= 1.0, "loss <= 1.001, time <= 1.0")
    if title == "MedianNeuralGas(refine='swap')":
        return mark(loss <= 1.0005, "loss <= 1.0005")
    if title == "MedianNeuralGas()":
        most = 1.03 if ratio_of_points >= 40 else 1.07
        return mark(loss <= most, f"loss <= {most}")
    return ""


def table(runs: list[Run], N: int) -> None:
    """One set and one K as Markdown, means over the seeds."""

    def mean(title: str, what: str) -> float:
        return float(np.mean([getattr(run, what) for run in runs if run.method == title]))

    titles = list(dict.fromkeys(run.method for run in runs))
    base = YARDSTICK if YARDSTICK in titles else titles[0]
    print(f"\n### {runs[0].set}, N={N}, K={runs[0].K}, {len({run.seed for run in runs})} seeds; against {base}\n")
    print("| method | loss / its loss | from | to | seconds | seconds / its | topographic error | map cost | bound |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for title in titles:
        loss, seconds = mean(title, "loss") / mean(base, "loss"), mean(title, "seconds") / mean(base, "seconds")
        each = [run.loss / mean(base, "loss") for run in runs if run.method == title]
        order = bound = cost = ""
        if title.startswith("MedianSOM"):
            order, cost = f"{mean(title, 'topographic_error'):.4f}", f"{mean(title, 'map_cost'):.6g}"
            plain = unrefined(title)
            if plain in titles and plain != title:
                lower = mean(title, "map_cost") < mean(plain, "map_cost")
                bound = mark(lower, "cost, loss (1 + order (t + 1 - r)), below the unrefined map's")
        else:
            bound = verdict(title, loss, seconds, N / runs[0].K)
        print(
            f"| {title} | {loss:.5f} | {min(each):.5f} | {max(each):.5f} | {mean(title, 'seconds'):.3f} "
            f"| {seconds:.3f} | {order} | {cost} | {bound} |",
            flush=True,
        )


def unrefined(title: str) -> str:
    """The row of the same map without refinement."""
    return title.replace(", refine='swap'", "").replace("refine='swap'", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with chromosomes.csv and proteins/D.csv")
    parser.add_argument("--cache", type=Path, help="where to keep the chromosomes' matrix")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--k", nargs="+", type=int, default=[22, 100, 500], help="left out where K > N")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--few", type=int, help="seeds where N K is above 4 million, instead of --seeds")
    parser.add_argument("--methods", nargs="+", default=[""], help="only methods whose row holds one of these texts")
    parser.add_argument("--json", type=Path, help="where to write every single run")
    args = parser.parse_args()
    rows = {
        title: method
        for title, method in methods().items()
        if title == YARDSTICK or any(part in title for part in args.methods)
    }
    runs: list[Run] = []
    for name, D in matrices(args.sets, args.data, args.cache):
        for K in [K for K in args.k if K <= len(D)]:
            seeds = range(args.few if args.few is not None and len(D) * K > 4e6 else args.seeds)
            part = [run for seed in seeds for run in in_turns(name, D, K, seed, rows)]
            table(part, len(D))
            runs += part
            if args.json is not None:
                args.json.write_text(json.dumps([asdict(run) for run in runs], indent=1))
    if any(run.method == YARDSTICK for run in runs):
        overview(runs)
    below = share_below(runs)
    if below is not None:
        print(f"\nMedianNeuralGas(refine='swap') has a lower mean loss than {YARDSTICK} in {below:.0%} of the cases.")


def overview(runs: list[Run]) -> None:
    """All cases side by side, means over the seeds: loss and seconds, and of the SOMs also order and cost."""
    cases = dict.fromkeys((run.set, run.K) for run in runs)
    titles = list(dict.fromkeys(run.method for run in runs))

    def means(title: str, what: str) -> NDArray[np.float64]:
        picked = [[getattr(r, what) for r in runs if (r.set, r.K) == case and r.method == title] for case in cases]
        return np.array([np.mean(values) for values in picked])

    def row(title: str, entries: list[str]) -> None:
        print("|", " | ".join([title, *entries]), "|")

    header = [f"{name} K={K}" for name, K in cases]
    losses, times = means(YARDSTICK, "loss"), means(YARDSTICK, "seconds")
    print()
    row("loss / seconds, over FasterPAM's", header)
    row("---", ["---"] * len(cases))
    row("FasterPAM, seconds", [f"{value:.3g}" for value in times])
    soms = [title for title in titles if title.startswith("MedianSOM")]
    for title in titles:
        if title != YARDSTICK and title not in soms:
            ratios = zip(means(title, "loss") / losses, means(title, "seconds") / times, strict=True)
            row(f"`{title}`", [f"{loss:.5f} / {took:.{2 if took < 9.995 else 0}f}" for loss, took in ratios])
    if not soms:
        return
    print()
    row("loss over FasterPAM's / topographic error / map cost", header)
    row("---", ["---"] * len(cases))
    for title in soms:
        three = (means(title, "loss") / losses, means(title, "topographic_error"), means(title, "map_cost"))
        row(f"`{title}`", [f"{loss:.3f} / {torn:.3f} / {cost:.6g}" for loss, torn, cost in zip(*three, strict=True)])


def share_below(runs: list[Run]) -> float | None:
    """Share of the pairs (set, K) where refined neural gas ends below the baseline; None if either did not run."""
    losses: dict[tuple[str, int], dict[str, list[float]]] = {}
    for run in runs:
        losses.setdefault((run.set, run.K), {}).setdefault(run.method, []).append(run.loss)
    ours = "MedianNeuralGas(refine='swap')"
    pairs = [(np.mean(by[ours]), np.mean(by[YARDSTICK])) for by in losses.values() if ours in by and YARDSTICK in by]
    return float(np.mean([a < b for a, b in pairs])) if pairs else None


if __name__ == "__main__":
    main()
