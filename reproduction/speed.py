"""The chapter's two speed tables: every exact search on the same states, interleaved, in one run.

One annealing of data points by the chapter's formula from a random start: the neighbourhood is exponential, ends at
0.01, and on a lattice is not normalised. An epoch is timed whole: dissimilarities to the prototypes, ranks or winners,
weights, search and collisions. The fast searches run every epoch, the slow ones every few, from the same prototypes;
all must return the same new prototypes. `standard` is one thread by nature, the others use as many as they are given.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from medianmap.core.assignment import OnLattice, Rank
from medianmap.core.engine import Problem, State, epoch
from medianmap.core.neighborhood import geometric, make_lattice
from medianmap.core.spaces import MedianSpace
from medianmap.datasets import simulate_chromosomes
from medianmap.search import strategies_for
from medianmap.search.frame import FieldWeights, RankWeights
from medianmap.sources import as_dissimilarity
from medianmap.utils.threads import limited

from .plan import Plan, Record, Task, string_distances, task
from .runs import Runs
from .tables import FAILS, HOLDS, Claim, Figure, markdown

PART = "speed"
# Seconds per epoch in the chapter's tables.
SECONDS = {
    ("SOM", 100): {"standard": 5.74, "blocksum": 0.248, "bound-self": 0.224, "bound-all": 0.143,
                   "bound-all-stop": 0.141},
    ("SOM", 484): {"standard": 30.1, "blocksum": 3.67, "bound-self": 2.92, "bound-all": 1.23, "bound-all-stop": 0.933},
    ("NG", 100): {"standard": 5.31, "stop": 5.26, "stop-candidates": 4.38, "stop-fine": 1.16, "stop-coarse": 0.966},
    ("NG", 500): {"standard": 25.9, "stop": 24.3, "stop-candidates": 20.7, "stop-fine": 7.45, "stop-coarse": 5.91},
}  # fmt: skip
CHAPTER = {
    name: {s: seconds["standard"] / t for s, t in seconds.items() if s != "standard"}
    for name, seconds in SECONDS.items()
}
EVERY_EPOCH = ("auto", "certified")


def simulated(n: int, seed: int = 0) -> NDArray[np.float32]:
    """Euclidean distances of n vectors in 40 clouds of 8 dimensions: the structure that most data have."""
    rng = np.random.default_rng(seed)
    X = rng.normal(scale=2.0, size=(40, 8))[rng.integers(40, size=n)] + rng.normal(size=(n, 8))
    D = np.empty((n, n), np.float32)
    for start in range(0, n, 500):
        D[start : start + 500] = cdist(X[start : start + 500], X)
    return D


def assignment_of(name: str, K: int) -> tuple[Any, float]:
    """The map's assignment, by the chapter's formula, and where its sigma starts."""
    if name == "NG":
        return Rank(), K / 2
    side = int(K**0.5)
    lattice = make_lattice((side, side))
    return OnLattice(lattice, "exponential", normalized=False), lattice.diameter / 2


def searches(name: str) -> list[str]:
    """All that fit the map."""
    return ["auto", *strategies_for(RankWeights if name == "NG" else FieldWeights)]


def measure(
    D: NDArray[Any],
    name: str,
    K: int,
    n_epochs: int,
    threads: int,
    every: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Any]:
    """Seconds by `clock` of every epoch that was timed, by search, and terms evaluated."""
    sigma_start = assignment_of(name, K)[1]
    sigmas = geometric(sigma_start, 0.01, n_epochs)
    source = as_dissimilarity(D)
    names = searches(name)
    setup, problems = {}, {}
    ones = np.ones(len(D))
    for s in names:
        warm_up(s, name)
        began = clock()
        problems[s] = Problem(MedianSpace(source, s, "distinct", threads), assignment_of(name, K)[0], ones)
        _ = problems[s].space.search  # type: ignore[attr-defined]  # what a search prepares once
        setup[s] = clock() - began
    seconds: dict[str, dict[int, float]] = {s: {} for s in names}
    terms: dict[str, list[int]] = {s: [] for s in names}
    rng = np.random.default_rng(0)
    state = State(rng.permutation(len(D))[:K])
    for t, sigma in enumerate(sigmas):
        after = None
        for s in names:
            if s not in EVERY_EPOCH and t % every:
                continue
            began = clock()
            new = epoch(problems[s], State(state.prototypes), sigma, rng)
            seconds[s][t] = clock() - began
            terms[s].append(new.history[-1].terms)
            if after is not None and not np.array_equal(after.prototypes, new.prototypes):
                raise AssertionError(f"{s} differs in epoch {t}")
            after = new
        assert after is not None
        state = after
    return {"setup": setup, "seconds": seconds, "terms": terms}


def warm_up(search: str, name: str) -> None:
    """Compile on a small problem, large enough for every screen."""
    n, K = (1100, 25) if search in EVERY_EPOCH else (60, 4)
    problem = Problem(
        MedianSpace(as_dissimilarity(simulated(n)), search, "distinct", 2), assignment_of(name, K)[0], np.ones(n)
    )
    state = State(np.arange(K))
    for sigma in (20.0, 2.0, 0.5, 0.01):
        state = epoch(problem, state, sigma, np.random.default_rng(0))


def mean_of_thirds(seen: dict[int, float], n_epochs: int) -> tuple[Any, NDArray[np.float64]]:
    """Mean seconds, every third of the annealing counting alike however many epochs were timed; and the thirds."""
    t, seconds = np.array(list(seen)), np.array(list(seen.values()))
    thirds = np.array([seconds[(t >= a * n_epochs / 3) & (t < (a + 1) * n_epochs / 3)].mean() for a in range(3)])
    return thirds.mean(), thirds


def numbers(result: dict[str, Any], n_epochs: int) -> dict[str, dict[str, Any]]:
    """By search: mean ms per epoch with the preparation shared out, its thirds, ratio to `standard`, terms."""
    standard = mean_of_thirds(result["seconds"]["standard"], n_epochs)[0]
    full = result["terms"]["standard"][0]
    found = {}
    for s, seen in result["seconds"].items():
        mean, thirds = (1e3 * x for x in mean_of_thirds(seen, n_epochs))
        mean += 1e3 * result["setup"][s] / n_epochs
        found[s] = {
            "mean_ms": float(mean),
            "thirds_ms": thirds.tolist(),
            "setup_s": result["setup"][s],
            "ratio": float(1e3 * standard / mean),
            "terms": float(np.mean(result["terms"][s]) / full),
        }
    return found


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """The four maps of the chapter; small ones of few strings where a run is to be quick."""
    maps = [("SOM", 25), ("NG", 25)] if plan.quick else list(SECONDS)
    n_epochs, every = plan.short(100, 6), plan.short(40, 2)

    def work(name: str, K: int) -> Record:
        D = matrix(plan)
        with limited(1):  # one thread, so that the processor's time is what an idle machine would take
            result = numbers(measure(D, name, K, n_epochs, 1, every, time.process_time), n_epochs)
        return {
            "N": len(D),
            "simulated": not plan.has(["chromosomes.csv"]),
            **{f"{s}: {what}": result[s][what] for s in result for what in ("mean_ms", "ratio", "terms")},
        }

    return [task(f"{name}, K={K}", 0, work, name, K) for name, K in maps]


def matrix(plan: Plan) -> NDArray[np.float32]:
    """The user's chromosomes, or simulated strings like them."""
    if plan.quick:
        return string_distances(simulate_chromosomes(600).sequences, plan.threads)
    if plan.has(["chromosomes.csv"]):
        return plan.chromosome_matrix
    return string_distances(simulate_chromosomes(4400).sequences, plan.threads)


def maps_of(runs: Runs) -> list[tuple[str, int]]:
    """(map, K) of every table."""
    return [(setting.split(",")[0], int(setting.split("=")[1])) for setting in runs.records]


def value(runs: Runs, name: str, K: int, search: str, what: str) -> float:
    """One number of one table."""
    return float(runs.values(f"{name}, K={K}", f"{search}: {what}")[0])


def figures(runs: Runs) -> list[Figure]:
    """Ratios to `standard`, those of the chapter and ours; one run each, so that none has an error bar."""
    found = []
    for name, K in maps_of(runs):
        for s, chapter in CHAPTER.get((name, K), {}).items():
            what = f"median {name}, K={K}: {s} is so many times as fast as standard"
            auto = f"{value(runs, name, K, 'auto', 'ratio'):.0f}"
            ours = value(runs, name, K, s, "ratio")
            found.append(Figure(PART, what, ours, 0.0, 1, f"{chapter:.1f}", 1, beside=auto))
    return found


def claims(runs: Runs) -> list[Claim]:
    """What the chapter says of its searches, and that ours gains more than its best: single runs, no error bars."""
    found = []

    def say(what: str, measured: str, chapter: str, holds: bool) -> None:
        verdict = f"{HOLDS if holds else FAILS} (one run)"
        found.append(Claim(PART, what, f"{measured} (chapter: {chapter})", verdict))

    there = set(maps_of(runs))
    for name, K in maps_of(runs):
        if (name, K) in CHAPTER:
            best, ours = max(CHAPTER[name, K].values()), value(runs, name, K, "auto", "ratio")
            what = f"median {name}, K={K}: `auto` gains more over standard than the chapter's best search"
            say(what, f"{ours:.0f}", f"{best:.1f}", ours > best)
    if ("SOM", 484) in there:  # at K=100 the chapter itself finds next to nothing
        ours = saved(runs, 484)
        say("median SOM, K=484: early stopping saves time", f"{ours:.0%}", f"{saved_there(484):.0%}", ours > 0)
    if {("SOM", 100), ("NG", 100)} <= there:
        for words, auto in (("the chapter's fastest searches", False), ("`auto`", True)):
            ours = som_over_gas(runs, auto)
            what = f"K=100: an epoch of the SOM takes less time than one of neural gas, {words}"
            say(what, f"{ours:.1f} times less", f"{som_over_gas_there():.1f}", ours > 1)
    return found


def saved(runs: Runs, K: int) -> float:
    """Share of the time that early stopping saves the SOM beside branch and bound."""
    ms = [value(runs, "SOM", K, s, "mean_ms") for s in ("bound-all", "bound-all-stop")]
    return 1 - ms[1] / ms[0]


def saved_there(K: int) -> float:
    """The same in the chapter: 24% at K=484."""
    seconds = SECONDS["SOM", K]
    return 1 - seconds["bound-all-stop"] / seconds["bound-all"]


def som_over_gas(runs: Runs, auto: bool) -> float:
    """An epoch of neural gas over one of the SOM, K=100, each with the chapter's fastest search, or with `auto`."""
    ms = [
        min(value(runs, name, 100, s, "mean_ms") for s in (["auto"] if auto else SECONDS[name, 100]))
        for name in ("NG", "SOM")
    ]
    return ms[0] / ms[1]


def som_over_gas_there() -> float:
    """The same in the chapter, "a factor 6"."""
    return min(SECONDS["NG", 100].values()) / min(SECONDS["SOM", 100].values())


def sentences(runs: Runs) -> list[str]:
    """What was timed, and on what."""
    if not runs.records:
        return []
    first = next(iter(runs.records))
    N = int(runs.values(first, "N")[0])
    strings = "simulated strings" if runs.values(first, "simulated")[0] else "chromosomes (the chapter: 4200)"
    said = [
        f"{N} {strings}, edit distance, float32; data points are annealed by the chapter's formula: the neighbourhood "
        "is exponential, ends at 0.01, and is not normalised on the lattice. Milliseconds of processor time on one "
        "thread, so that other work on the machine does not count; an epoch is timed whole, what a search prepares "
        "once is shared out over the epochs of an annealing. All searches start from the same prototypes and must "
        "return the same new ones, or the run stops. Ratios compare searches on one machine; the chapter's seconds are "
        "Java on an Athlon 64.",
    ]
    slower = [
        f"`{s}` (median {name}, K={K})"
        for name, K in maps_of(runs)
        for s, ratio in CHAPTER.get((name, K), {}).items()
        if value(runs, name, K, s, "ratio") < 0.9 * ratio
    ]
    if slower:
        said.append(
            f"These gain less over `standard` here than in the chapter: {', '.join(slower)}. They evaluate a fraction "
            "of the terms, as the last column shows, but each of theirs costs more than one of the plain loop of "
            "`standard`, which today's processors run at full width."
        )
    return said


def table(runs: Runs) -> list[str]:
    """A table a map."""
    found: list[str] = []
    for name, K in maps_of(runs):
        seconds, ratios = SECONDS.get((name, K), {}), CHAPTER.get((name, K), {})
        rows = []
        for s in searches(name):
            ms, ratio, terms = (value(runs, name, K, s, what) for what in ("mean_ms", "ratio", "terms"))
            ours = f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}", f"{ratio:.3g}"
            there = (f"{1e3 * seconds[s]:.0f}", f"{ratios.get(s, 1):.3g}") if s in seconds else ("", "")
            rows.append((f"`{s}`", *ours, *there, f"{terms:.2g}"))
        found += [f"**Median {name}, K={K}**", ""]
        found += markdown(("search", "ms", "ratio", "chapter, ms", "chapter, ratio", "terms / (N² K)"), rows)
    return found
