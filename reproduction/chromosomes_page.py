"""What the chromosome runs say beside the chapter: figures, claims and sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .chromosomes import (
    CHAPTERS,
    COMBINED,
    HALVES,
    ONE,
    PART,
    REFINED,
    TENFOLD,
    TWELVE,
    Setting,
    accuracy,
    by_seed,
    gain_over,
    gas,
    means,
    rival,
    sizes_of,
)
from .left_out import REPORTED
from .runs import Runs
from .tables import Claim, Figure, as_mean, as_signed, claim, figure, markdown

WAYS = (TENFOLD, HALVES)


def reported(K: int, setting: Setting) -> str | None:
    """The chapter's accuracy of this setting, if it has one."""
    clusters, neighbours = REPORTED.get(K, (None, None))
    return clusters if setting == rival(K) else neighbours if setting == Setting(K, how=CHAPTERS) else None


def figures(runs: Runs) -> list[Figure]:
    """By ten folds, which the chapter's figures are set beside, and by halves."""
    found: list[Figure] = []
    for how in WAYS:
        for K in sizes_of(runs, how):
            for setting in (*gas(K), *means(K)):
                chapter = reported(K, setting) if how == TENFOLD else None
                ours = Setting(K, setting.kind, beta=setting.beta)
                beside = accuracy(runs, how, ours.name) if chapter and ours in (*gas(K), *means(K)) else None
                values = accuracy(runs, how, setting.name)
                found += figure(PART, how + setting.name, values, chapter, beside=beside)
            name = f"K={K}, FasterPAM, posterior labels"
            found += figure(PART, how + name, accuracy(runs, how, name))
        for name in (TWELVE, ONE):
            chapter = "0.944" if (how, name) == (TENFOLD, TWELVE) else None
            found += figure(PART, how + name, runs.values(how + name, "posterior"), chapter)
    return found + figure(PART, "1-NN, leave one out", runs.values("1-NN, leave one out", "posterior"))


def claims(runs: Runs) -> list[Claim]:
    """Neural gas above K-means, more prototypes above fewer, neighbours above both; by ten folds."""
    found = []
    sizes = sizes_of(runs, TENFOLD)
    for K in sizes:
        labels = "K-means without labels" if rival(K).beta == 1 else "K-means with labels"
        for words, setting in (("its annealing", Setting(K, how=CHAPTERS)), ("our default", Setting(K))):
            gain = gain_over(runs, TENFOLD, setting, rival(K))
            found += claim(PART, f"K={K}: neural gas with labels is above {labels}; {words}", gain)
    if len(sizes) == 2:
        more = gain_over(runs, TENFOLD, Setting(sizes[1], how=CHAPTERS), Setting(sizes[0], how=CHAPTERS))
        found += claim(PART, f"K={sizes[1]} is above K={sizes[0]}", more)
    return found


def sentences(runs: Runs) -> list[str]:
    """The protocol, and what labels, swaps and combinations are worth."""
    n = max((len(by_seed(runs.values(s, "learned"))) for s in runs.settings(HALVES + "K=100")), default=0)
    folds = max((len(runs.values(s, "learned")) for s in runs.settings(TENFOLD + "K=")), default=0)
    N, classes = (int(runs.values("data", what)[0]) for what in ("N", "classes"))
    said = [
        f"{N} strings of {classes} classes; the chapter has 4200 of 22"
        + (" ([below](#4200-strings-one-class-left-out) one class after the other is left out)" if N == 4400 else "")
        + ". Edit distance, substitution |a-b|, insertion and deletion 4.5. '10-fold' is stratified cross-validation "
        "over all strings"
        + (f", {folds // 10} times with other folds" if folds > 10 else "")
        + "; a run is a fold (folds share most of their training strings, so that standard errors are a little too "
        "small). 'Halves' trains on part a and tests on part b, and back; a run is the mean of both directions for one "
        "seed"
        + (f" ({n} {'seeds' if n > 1 else 'of them'})" if n else "")
        + ". Supervised maps have beta 0.1 and are judged by their learned labels, others by majority labels. The "
        "chapter states neither its splits nor where sigma starts nor what happens when two prototypes meet; "
        "'chapter's' is annealing with data points from sigma K/2 over 100 epochs. Its 0.83 is what 6% less than 0.89 "
        "leaves to 'median K-means', of which it does not say that labels guided it: so it stands beside K-means "
        "without labels. At K=500 it says 'supervised'.",
    ]
    for K in sizes_of(runs, TENFOLD):
        ours, swapped = Setting(K), Setting(K, changed=REFINED)
        words = [
            ("annealing with combinations instead of data points", gain_over(runs, TENFOLD, ours, gas(K)[0])),
            ("swaps after that", gain_over(runs, TENFOLD, swapped, ours)),
            ("combinations to the end (relational)", gain_over(runs, TENFOLD, Setting(K, how=COMBINED), ours)),
            ("neural gas instead of K-means, both refined by swaps",
             gain_over(runs, TENFOLD, swapped, Setting(K, "K-means", changed=REFINED))),
            ("labels for the chapter's K-means",
             gain_over(runs, TENFOLD, Setting(K, "K-means", CHAPTERS), Setting(K, "K-means", CHAPTERS, 1.0))),
        ]  # fmt: skip
        parts = [f"{what} {as_signed(values, 4)}" for what, values in words if len(values)]
        if parts:
            said.append(f"K={K}, what changes accuracy by how much, fold by fold: {'; '.join(parts)}.")
    return said


def directions(runs: Runs) -> list[str]:
    """Both directions of the halves by themselves."""
    rows = []
    for K in sizes_of(runs, HALVES):
        for setting in (*gas(K), *means(K)):
            learned, posterior = (runs.values(HALVES + setting.name, m) for m in ("learned", "posterior"))
            if len(learned) == 0 or len(learned) % 2:
                continue
            both: NDArray[np.float64] = (learned if setting.beta < 1 else posterior).reshape(-1, 2)
            errors = runs.values(HALVES + setting.name, "quantization_error")
            rows.append((setting.name, as_mean(both[:, 0], 4), as_mean(both[:, 1], 4), as_mean(by_seed(posterior), 4),
                         f"{errors.mean():.0f}"))  # fmt: skip
    head = ("setting", "a to b", "b to a", "both, posterior labels", "quantization error")
    return ["### Both halves, setting by setting", "", *markdown(head, rows)] if rows else []
