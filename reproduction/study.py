"""Which choices that the chapter leaves open matter: one at a time, on the chromosomes by halves, K=100."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .chromosomes import CHAPTERS, OURS, REFINED, Setting, halves, one
from .plan import Plan, Task, task
from .runs import Runs
from .tables import FAILS, HOLDS, OPEN, as_mean, as_signed, markdown, paired, sign

STUDY = "study: "
K = 100
BASES = {"chapter's annealing": Setting(K, how=CHAPTERS), "our default": Setting(K)}
AS_IT_IS = "as it is"


def changes(base: Setting) -> dict[str, Setting]:
    """The base with one choice changed at a time."""

    def with_(**changed: Any) -> Setting:
        return replace(base, changed=tuple(changed.items()))

    epochs = (30, 300) if base.how == CHAPTERS else (100, 300)
    return {
        AS_IT_IS: base,
        **{f"sigma_start {s:g}": with_(sigma_start=s) for s in (2.0, 5.0, 10.0)},
        **{f"collisions {c}": with_(collisions=c) for c in ("noise", "allow")},
        "init k-medoids++": with_(init="k-medoids++"),
        **{f"{n} epochs": with_(n_epochs=n) for n in epochs},
        "gaussian neighbourhood": with_(neighborhood="gaussian"),
        "refined by swaps": replace(base, changed=REFINED),
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
        for s in range(plan.runs_of(3, 1))
        for base, start in BASES.items()
        for what, setting in changes(start).items()
    ]


def moved(runs: Runs, base: str, what: str, measure: str) -> NDArray[np.float64]:
    """(n_runs,) how much a change moves the measure, run by run on the same split and seed."""
    return paired(*(runs.values(f"{STUDY}{base}, {change}", measure) for change in (what, AS_IT_IS)))


def lines(runs: Runs) -> list[str]:
    """The small table: accuracy and quantization error as they are, then what each choice adds to them."""
    if not runs.settings(STUDY):
        return []
    said = [
        "### Choices that the chapter leaves open",
        "",
        f"K={K}, supervised, part a tested on b and back, learned labels. The first row of each kind is the figure "
        f"itself ('{CHAPTERS}': sigma from K/2 = {K / 2:g}, distinct prototypes, random start, 100 epochs; '{OURS}': "
        "the same in 30 epochs with combinations of the data), the others are what one change adds to it, on the same "
        "splits and seeds (± one standard error). 'Clearly' is by the rule of the claims.",
        "",
    ]
    rows = []
    for base, start in BASES.items():
        for what in changes(start):
            measures = (("learned", 4), ("quantization_error", 0))
            if what == AS_IT_IS:
                cells = [as_mean(runs.values(f"{STUDY}{base}, {what}", m), digits) for m, digits in measures]
                verdict = ""
            else:
                cells = [as_signed(moved(runs, base, what, m), digits) for m, digits in measures]
                verdict = _verdict(moved(runs, base, what, "learned"))
            rows.append((base, what, *cells, verdict))
    return [*said, *markdown(("annealing", "choice", "accuracy", "quantization error", "accuracy is"), rows)]


def _verdict(gain: NDArray[np.float64]) -> str:
    return {HOLDS: "clearly higher", FAILS: "clearly lower", OPEN: ""}[sign(gain)] if len(gain) > 1 else ""
