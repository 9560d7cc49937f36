"""What the chromosome runs say beside the chapter: figures, claims and sentences."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..beta_path import standard_error
from .chromosomes import HALVES, PART, TENFOLD, TUNING, Setting, by_seed, chapter, chosen, means, narrower, tried
from .runs import Runs
from .tables import Claim, Figure, figure, markdown, told_values

# By K: supervised median NG, supervised median K-means.
REPORTED = {100: (0.89, 0.83), 500: (0.93, 0.91)}
# What throw-away code had reached by halves.
LEAST = {100: 0.86, 500: 0.905}
TWELVE, ONE = "12-NN", "1-NN"


def sizes_of(runs: Runs) -> list[int]:
    """The numbers of prototypes that were run."""
    return sorted({int(setting.removeprefix(HALVES + "K=").split(",")[0]) for setting in runs.settings(HALVES + "K=")})


def accuracy(runs: Runs, how: str, name: str) -> NDArray[np.float64]:
    """(n,) learned labels where labels guided the map, posterior ones elsewhere; by halves the mean of both."""
    measure = "learned" if "supervised" in name else "posterior"
    values = runs.values(how + name, measure)
    return by_seed(values) if how == HALVES else values


def best(runs: Runs, K: int) -> Setting:
    """The candidate that is best on the halves it is reported for."""
    ran = [setting for setting in tried(runs, K) if HALVES + setting.name in runs.records]
    return max(ran, key=lambda setting: accuracy(runs, HALVES, setting.name).mean())


def names(runs: Runs, K: int) -> dict[str, float | None]:
    """The settings to compare, with the chapter's accuracy."""
    gas, clusters = REPORTED.get(K, (None, None))
    settings = dict.fromkeys([chapter(K), Setting(K), *narrower(K), chosen(runs, K), best(runs, K)])
    found: dict[str, float | None] = dict.fromkeys([setting.name for setting in settings], gas)
    found |= {means(K).name: clusters, means(K, "auto").name: clusters}
    return {**found, f"K={K}, FasterPAM, posterior labels": None}


def figures(runs: Runs) -> list[Figure]:
    """By halves, then by ten folds."""
    found: list[Figure] = []
    for how in (HALVES, TENFOLD):
        for K in sizes_of(runs):
            for name, reported in names(runs, K).items():
                found += figure(PART, how + name, accuracy(runs, how, name), reported)
        for name, reported in ((TWELVE, 0.944), (ONE, None)):
            found += figure(PART, how + name, runs.values(how + name, "posterior"), reported)
    return found + figure(PART, "1-NN, leave one out", runs.values("1-NN, leave one out", "posterior"))


def claims(runs: Runs) -> list[Claim]:
    """Least accuracies by halves, neural gas above K-means by ten folds, 12-NN."""
    found = []
    for K in sizes_of(runs):
        if K not in LEAST:
            continue
        ways = {
            "our default": Setting(K),
            "chosen within part a": chosen(runs, K),
            "best of those tried": best(runs, K),
        }
        for how, setting in ways.items():
            values = accuracy(runs, HALVES, setting.name)
            what = f"halves, K={K}: supervised median NG, {how}, reaches {LEAST[K]:g}"
            found.append(Claim(PART, what, told_values(values, 4), bool(values.mean() >= LEAST[K])))
        for setting in (chapter(K), Setting(K), *narrower(K)):
            gain = gain_over_means(runs, setting)
            if len(gain):
                what = f"10-fold: {setting.name} is above {means(K, setting.annealing).name}"
                found.append(Claim(PART, what, told_values(gain, 4), bool(gain.mean() > 0)))
    twelve = runs.values(HALVES + TWELVE, "posterior")
    if len(twelve) and len(sizes_of(runs)) > 1:
        near = bool(abs(twelve.mean() - 0.944) <= 0.005)
        found.append(Claim(PART, "halves: 12-NN is 0.944 within 0.005", told_values(twelve, 4), near))
    return found


def sentences(runs: Runs) -> list[str]:
    """The protocol, what was chosen how, and where the figures differ."""
    n = max(
        (len(runs.values(setting, "learned")) // 2 for setting in runs.settings(HALVES + "K=100, superv")), default=0
    )
    folds = {K: len(accuracy(runs, TENFOLD, chapter(K).name)) for K in sizes_of(runs)}
    N, classes = (int(runs.values("data", what)[0]) for what in ("N", "classes"))
    said = [
        f"{N} strings of {classes} classes; the chapter has 4200 of 22"
        + (" (21 classes would be 4200, and which strings were left out is not stated)" if N == 4400 else "")
        + ". Edit distance, substitution |a-b|, insertion and deletion 4.5. 'Halves' trains on part a and tests on "
        "part b, and back; a run is the mean of both directions for one seed"
        + (f" ({n} seeds at K=100)" if n else "")
        + ". '10-fold' is stratified cross-validation over all strings; a run is a fold"
        + "".join(f" (at K={K} the first {folds[K]} of the ten)" for K in folds if 0 < folds[K] < 10)
        + ". Supervised maps (beta 0.1 "
        "unless said otherwise) are judged by their learned labels. The chapter states neither its splits nor "
        "sigma_start nor what happens when two prototypes meet; 'chapter's annealing' is annealing='median' from "
        "sigma_start = K/2.",
    ]
    for K in sizes_of(runs):
        setting, top = chosen(runs, K), best(runs, K)
        if runs.settings(TUNING):
            said.append(
                f"K={K}: '{setting.name}' "
                + (
                    "was best of all settings in three folds within part a"
                    if TUNING + setting.name in runs.records
                    else "is the setting that was best for the smaller map in three folds within part a"
                )
                + ". The list of settings was drawn up after trial runs on both halves, so that no figure of "
                "the halves is quite untouched by choice."
                + (
                    " It is also the best of them on both halves."
                    if setting == top
                    else f" On both halves themselves '{top.name}' is best; that choice was made on the data it is "
                    "reported for."
                )
            )
        said += [*_missed(runs, K), *_against_means(runs, K)]
    if any(len(accuracy(runs, TENFOLD, setting.name)) for K in sizes_of(runs) for setting in narrower(K)):
        said.append(
            "The narrower start of the ten folds, sigma_start 5, was taken from the table of choices below: it was "
            "chosen on strings that it is judged on. The other rows of the ten folds are at the chapter's beta and at "
            "defaults."
        )
    return said


def gain_over_means(runs: Runs, setting: Setting) -> NDArray[np.float64]:
    """(n,) accuracy of a gas above K-means of the same K and annealing, fold by fold; empty where one is missing."""
    gas, other = (accuracy(runs, TENFOLD, one.name) for one in (setting, means(setting.K, setting.annealing)))
    return gas - other if len(gas) == len(other) else np.zeros(0)


def _against_means(runs: Runs, K: int) -> list[str]:
    """Neural gas against K-means on the same folds, and whether the chapter's order is found."""
    said = []
    for setting in (chapter(K), Setting(K), *narrower(K)):
        gain = gain_over_means(runs, setting)
        if len(gain) > 1:
            said.append(
                f"On the same folds '{setting.name}' is {abs(gain.mean()):.4f} "
                f"{'above' if gain.mean() > 0 else 'below'} '{means(K, setting.annealing).name}', "
                f"{'more' if _clear(gain) else 'less'} than two standard errors ({standard_error(gain):.4f} each)."
            )
    theirs, ours = gain_over_means(runs, chapter(K)), gain_over_means(runs, Setting(K))
    if len(theirs) > 1 and len(ours) > 1 and theirs.mean() <= 0:
        found = f"K={K}: the chapter's order, neural gas above K-means, is not found under its annealing from K/2"
        if ours.mean() <= 0:
            said.append(f"{found}, nor under our default.")
        else:
            said.append(f"{found}; under our default it is, {'clearly' if _clear(ours) else 'but not clearly'}.")
    return said


def _clear(gain: NDArray[np.float64]) -> bool:
    return bool(abs(gain.mean()) > 2 * float(standard_error(gain)))


def _missed(runs: Runs, K: int) -> list[str]:
    """Where a figure stays below, what was tried and the likely reason."""
    if K not in REPORTED:
        return []
    said = []
    top = accuracy(runs, HALVES, best(runs, K).name)
    if top.mean() < LEAST[K]:
        said.append(
            f"K={K}: {LEAST[K]:g} by halves is missed by {LEAST[K] - top.mean():.4f}; tried were both ways of "
            "annealing, sigma_start K/2, 5 and 10, and beta 0.1, 0.05 and 0.02, and at K=100 the choices in the table "
            "below."
        )
    gas = {s.name: accuracy(runs, TENFOLD, s.name) for s in (chapter(K), Setting(K), *narrower(K))}
    gas = {name: values for name, values in gas.items() if len(values)}
    if gas:
        name, values = max(gas.items(), key=lambda pair: pair[1].mean())
        gap, twelve = REPORTED[K][0] - float(values.mean()), runs.values(TENFOLD + TWELVE, "posterior")
        if gap > 0.005:
            said.append(
                f"K={K}: the best by ten folds, '{name}', stays {gap:.3f} below the chapter's {REPORTED[K][0]:g}"
                + (
                    f", although 12-NN reaches {told_values(twelve)} on such folds (chapter: 0.944), so that the "
                    "dissimilarities are not to blame; the 200 strings more, the unknown splits and what is not stated "
                    "of the annealing are left as reasons."
                    if len(twelve) and twelve.mean() >= 0.939
                    else "."
                )
            )
        else:
            said.append(f"K={K}: the best by ten folds, '{name}', is within 0.005 of the chapter's or above it.")
    return said


def directions(runs: Runs) -> list[str]:
    """Both directions by themselves, for all candidates."""
    rows = []
    for K in sizes_of(runs):
        for setting in (*tried(runs, K), means(K), means(K, "auto")):
            learned, posterior = (runs.values(HALVES + setting.name, m) for m in ("learned", "posterior"))
            if len(learned) == 0 or len(learned) % 2:
                continue
            both = learned.reshape(-1, 2)
            errors = runs.values(HALVES + setting.name, "quantization_error")
            tuning = runs.values(TUNING + setting.name, "learned")
            rows.append((setting.name, told_values(tuning, 4), told_values(both[:, 0], 4), told_values(both[:, 1], 4),
                         told_values(by_seed(posterior), 4), f"{errors.mean():.0f}"))  # fmt: skip
    head = ("setting", "within a", "a to b", "b to a", "both, posterior labels", "quantization error")
    if not rows:
        return []
    return ["### Both halves, setting by setting", "", *markdown(head, rows)]
