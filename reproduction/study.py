"""Which choices that the chapter leaves open matter: one at a time, on the chromosomes by halves, K=100."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from medianmap.explore.refits import standard_error

from .chromosomes import Setting, halves, one
from .plan import Plan, Task, task
from .runs import Runs
from .tables import as_mean, markdown

STUDY = "study: "
CLEAR = 0.005  # what chance alone moves accuracy by between two seeds
K = 100
BASES = {"chapter's annealing": Setting(K, annealing="median"), "our default": Setting(K)}


def changes(base: Setting) -> dict[str, Setting]:
    """The base with one choice changed at a time."""
    return {
        "as it is (sigma_start K/2 = 50, distinct, random, 100 epochs)": base,
        **{f"sigma_start {s:g}": replace(base, sigma_start=s) for s in (2.0, 5.0, 10.0)},
        "collisions noise": replace(base, collisions="noise"),
        "collisions allow": replace(base, collisions="allow"),
        "init k-medoids++": replace(base, init="k-medoids++"),
        "30 epochs": replace(base, n_epochs=30),
        "300 epochs": replace(base, n_epochs=300),
        "gaussian neighbourhood": replace(base, neighborhood="gaussian"),
        "refined by swaps": replace(base, refine="swap"),
        "beta 0.02": replace(base, beta=0.02),
        "beta 0.5": replace(base, beta=0.5),
        "beta 0.5 of D over its mean": replace(base, beta=0.5, scaled=True),
    }


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every change of both bases, both directions, every seed: run 2 s + direction."""
    if plan.quick:
        return []
    return [
        task(f"{STUDY}{base}, {what}", 2 * s + d, one, plan, setting, *split, plan.seed + s)
        for d, split in enumerate(halves(plan))
        for s in range(plan.runs_of(2, 1))
        for base, start in BASES.items()
        for what, setting in changes(start).items()
    ]


def moved(runs: Runs, base: str, what: str, measure: str) -> NDArray[np.float64]:
    """(n_runs,) how much a change moves the measure, run by run on the same split and seed."""
    first = next(iter(changes(BASES[base])))
    values, start = (runs.values(f"{STUDY}{base}, {change}", measure) for change in (what, first))
    return values - start if len(values) == len(start) else np.zeros(0)


def lines(runs: Runs) -> list[str]:
    """The small table: accuracy and quantization error as they are, then what each choice adds to them."""
    if not runs.settings(STUDY):
        return []
    said = [
        "### Choices that the chapter leaves open",
        "",
        f"K={K}, supervised, part a tested on b and back, learned labels. The first row of each kind is the figure "
        "itself, the others are what one change adds to it, on the same splits and seeds (± one standard error).",
        "",
    ]
    rows = []
    for base, start in BASES.items():
        for k, what in enumerate(changes(start)):
            cells = []
            for measure, digits in (("learned", 4), ("quantization_error", 0)):
                if k == 0:
                    cells.append(as_mean(runs.values(f"{STUDY}{base}, {what}", measure), digits))
                else:
                    cells.append(_signed(moved(runs, base, what, measure), digits))
            rows.append((base, what, *cells))
    return [*said, *markdown(("annealing", "choice", "accuracy", "quantization error"), rows), *_sentences(runs)]


def _signed(values: NDArray[np.float64], digits: int) -> str:
    text = as_mean(values, digits)
    return f"+{text}" if len(values) and values.mean() >= 0 else text


def _sentences(runs: Runs) -> list[str]:
    names = list(BASES)
    first = next(iter(changes(BASES[names[0]])))
    old, new = (runs.values(f"{STUDY}{base}, {first}", "learned") for base in names)
    errors = [runs.values(f"{STUDY}{base}, {first}", "quantization_error") for base in names]
    if len(old) == 0 or len(old) != len(new):
        return []
    gain, ratio = new - old, errors[1] / errors[0]
    most = [
        (abs(float(moved(runs, base, what, "learned").mean())), what, base)
        for base in names
        for what in list(changes(BASES[base]))[1:]
        if len(moved(runs, base, what, "learned"))
    ]
    said = (
        f"Annealing with combinations of the data (our default) moves accuracy by {_signed(gain, 4)} and multiplies "
        f"the quantization error by {ratio.mean():.3f}."
    )
    if most:
        size, what, base = max(most)
        less = "less" if size < abs(gain.mean()) else "more"
        said += (
            f" Of the single changes {what!r} under {base} moves accuracy most, by {size:.4f}, {less} than the way of "
            "annealing."
        )
    return [said, "", _on_the_defaults(runs), ""]


def _on_the_defaults(runs: Runs) -> str:
    """Whether a single change of our default is clearly better."""
    base = "our default"
    better = []
    for what in list(changes(BASES[base]))[1:]:
        gain = moved(runs, base, what, "learned")
        if len(gain) > 1 and gain.mean() > max(CLEAR, 2 * float(standard_error(gain))):
            better.append(f"{what!r} ({_signed(gain, 4)})")
    if better:
        return (
            f"Better than our default by more than {CLEAR:g} and two standard errors: {', '.join(better)}. Whether "
            "that holds on other data, this table cannot say."
        )
    return (
        f"No single change of our default raises accuracy by more than {CLEAR:g} and two standard errors: these runs "
        "speak for no other default."
    )
