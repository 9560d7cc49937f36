"""Proteins: K=30, 300 epochs, random halves, accuracy against beta; the same on the globins of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit

from medianmap.explore.beta_path import BETAS
from medianmap.sources.base import IntArray

from .judging import affinity, faster_pam, has_kmedoids, judged, judged_medoids, leave_one_out, neighbours, share
from .maps import median_gas, median_means, our_gas, relational_gas, relational_means
from .plan import Labelled, Plan, Record, Task, task
from .runs import Runs
from .tables import FAILS, HOLDS, OPEN, Claim, Figure, as_mean, as_signed, claim, figure, markdown, paired, sign

K = 30
N_RUNS = 50  # the chapter's
LABELINGS = ("learned", "posterior")

MEDIAN, DEFAULT = "median NG, chapter's annealing", "median NG, our default"
MEANS = "median K-means, chapter's"
RELATIONAL, RELATIONAL_MEANS = "relational NG", "relational K-means"
RAW, SCALED = ", D as it is", ", D over its mean"
# Dividing D by its mean moves the best beta, which is asked of the chapter's map and of the most accurate alone.
CURVES = (
    *(name + RAW for name in (MEDIAN, DEFAULT, MEANS, RELATIONAL, RELATIONAL_MEANS)),
    *(name + SCALED for name in (MEDIAN, RELATIONAL)),
)
NEAREST, LEAVE_ONE_OUT = "1-NN", "1-NN, leave one out"
PAM, PROPAGATION = "FasterPAM, posterior labels", "affinity propagation, posterior labels"
SHOWN = (1.0, 0.95, 0.9, 0.7, 0.5, 0.3, 0.1, 0.05)


def curve(data: Labelled, name: str, train: IntArray, test: IntArray, seed: int, plan: Plan) -> Record:
    """Accuracy and quantization error along the betas, each map annealed afresh: lists in the order of BETAS."""
    scaled = name.endswith(SCALED)
    shared: dict[str, Any] = {"metric": "precomputed", "random_state": seed, "n_jobs": plan.threads}
    map_: Any = {
        MEDIAN: lambda: median_gas(K, plan.short(300, 20), **shared),
        DEFAULT: lambda: our_gas(K, **shared),
        MEANS: lambda: median_means(K, 300, **shared),
        RELATIONAL: lambda: relational_gas(K, **shared),
        RELATIONAL_MEANS: lambda: relational_means(K, **shared),
    }[name.removesuffix(RAW).removesuffix(SCALED)]()
    D, y = data.D, data.y
    within, across = np.ascontiguousarray(D[np.ix_(train, train)]), D[np.ix_(test, train)]
    found = [judged(map_, beta, within, y[train], across, y[test], scaled=scaled) for beta in betas(plan)]
    return {measure: [record[measure] for record in found] for measure in found[0]}


def betas(plan: Plan) -> tuple[float, ...]:
    """The grid, 1 first."""
    return (1.0, 0.9, 0.5, 0.1) if plan.quick else BETAS


def other(data: Labelled, method: str, train: IntArray, test: IntArray, seed: int) -> Record:
    """Methods without a map, on the same halves."""
    within, across = np.ascontiguousarray(data.D[np.ix_(train, train)]), data.D[np.ix_(test, train)]
    y, y_test = data.y[train], data.y[test]
    if method == NEAREST:
        return {"posterior": share(neighbours(across, y, 1), y_test)}
    chosen = faster_pam(within, K, seed) if method == PAM else affinity(within, K, seed)
    return judged_medoids(chosen, within, y, across, y_test)


def tasks(data: Labelled, plan: Plan, full: int) -> list[Task]:
    """Every curve and method on random halves."""
    found = []
    n = plan.runs_of(full, 1)
    halves = ShuffleSplit(n, test_size=0.5, random_state=plan.seed).split(data.y)
    for run, (train, test) in enumerate(halves):
        split = (train, test, plan.seed + run)
        for name in CURVES if not plan.quick else CURVES[:2]:
            found.append(task(name, run, curve, data, name, *split, plan))
        for method in [NEAREST, *([PAM] if has_kmedoids() else []), *([PROPAGATION] if run < 10 else [])]:
            found.append(task(method, run, other, data, method, *split))
    grid = Task("betas", 0, lambda: {"betas": list(betas(plan))})
    about = Task("data", 0, lambda: {"N": len(data.y), "classes": len(np.unique(data.y))})
    return [about, grid, Task(LEAVE_ONE_OUT, 0, lambda: {"posterior": leave_one_out(data.D, data.y)}), *found]


def protein_stage(plan: Plan, runs: Runs) -> list[Task]:
    """The user's copy of the 213 proteins."""
    return tasks(plan.proteins, plan, N_RUNS)


def globin_stage(plan: Plan, runs: Runs) -> list[Task]:
    """The 630 globins under the alignment dissimilarity."""
    return tasks(plan.globins, plan, 10)


def grid_of(runs: Runs) -> NDArray[np.float64]:
    """(B,) the betas that were run."""
    return runs.values("betas", "betas").ravel()


def best(runs: Runs, name: str, labeling: str = "learned") -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """The beta < 1 of highest mean accuracy, its accuracies (S,), and those (S,) of the unsupervised map."""
    grid, accuracy = grid_of(runs), runs.values(name, labeling)
    b = 1 + int(accuracy[:, 1:].mean(axis=0).argmax())
    return float(grid[b]), accuracy[:, b], runs.values(name, "posterior")[:, 0]


def gain(runs: Runs, name: str) -> NDArray[np.float64]:
    """(S,) what the best beta adds to the accuracy of the unsupervised map, on the same halves."""
    _, guided, alone = best(runs, name)
    return guided - alone


def figures_of(part: str, runs: Runs) -> list[Figure]:
    """Unsupervised, best supervised and the gain, for every curve; nearest neighbours."""
    found: list[Figure] = []
    proteins = part == "proteins"
    for name in CURVES:
        if name not in runs.records:
            continue
        beta, guided, alone = best(runs, name)
        reported = proteins and name == MEDIAN + SCALED
        beside = gain(runs, DEFAULT + RAW) if reported and DEFAULT + RAW in runs.records else None
        if name.endswith(RAW):  # alone, D is only compared, and its unit does not count
            found += figure(part, f"{name.removesuffix(RAW)}: unsupervised", alone)
        found += figure(part, f"{name}: best beta, {beta:g}", guided)
        chapter = "0.10" if reported else None
        found += figure(part, f"{name}: gain by labels", gain(runs, name), chapter, chapter_runs=N_RUNS, beside=beside)
    for method in (NEAREST, LEAVE_ONE_OUT, PAM, PROPAGATION):
        chapter = "0.91" if proteins and method == NEAREST else None
        values = runs.values(method, "posterior")
        found += figure(part, method, values, chapter, chapter_runs=N_RUNS)
    return found


def claims_of(part: str, runs: Runs) -> list[Claim]:
    """Labels help, and neighbours do, under the chapter's annealing; its best betas lie between 0.5 and 0.9."""
    if part != "proteins" or MEDIAN + SCALED not in runs.records:
        return []
    found = claim(part, "labels raise the accuracy of median NG", gain(runs, MEDIAN + SCALED))
    if MEDIAN + RAW in runs.records and MEANS + RAW in runs.records:
        guided = [best(runs, name + RAW)[1] for name in (MEDIAN, MEANS)]
        found += claim(part, "at their best betas, median NG is above median K-means", paired(*guided))
    for scale in (RAW, SCALED):
        if MEDIAN + scale in runs.records:
            found += claim(part, f"some beta in [0.5, 0.9] is above all others{scale}", _inside(runs, MEDIAN + scale))
    return found


def _inside(runs: Runs, name: str) -> NDArray[np.float64]:
    """(S,) accuracy of the best beta of [0.5, 0.9] less that of the best of all others below 1."""
    grid, accuracy = grid_of(runs), runs.values(name, "learned")
    inside = (grid >= 0.5) & (grid <= 0.9)
    tops = [accuracy[:, which][:, accuracy[:, which].mean(axis=0).argmax()] for which in (inside, ~inside & (grid < 1))]
    return tops[0] - tops[1]


def curve_table(runs: Runs) -> list[str]:
    """Accuracy against beta for every curve: learned labels, and posterior ones."""
    grid = grid_of(runs)
    names = [name for name in CURVES if name in runs.records]
    rows = []
    for b, beta in enumerate(grid):
        if beta in SHOWN:
            cells = []
            for name in names:
                learned, posterior = (runs.values(name, labeling)[:, b] for labeling in LABELINGS)
                both = f"{as_mean(learned)} / {posterior.mean():.3f}"
                cells.append(both if b else as_mean(posterior))
            rows.append((f"{beta:g}", *cells))
    if not rows:
        return []
    said = "Learned labels with their standard error / posterior labels of the same maps; at beta = 1 posterior labels."
    return [said, "", *markdown(("beta", *names), rows)]


def sentences_of(part: str, runs: Runs) -> list[str]:
    """What the curves say."""
    n = len(runs.values(NEAREST, "posterior"))
    N, classes = (int(runs.values("data", what)[0]) for what in ("N", "classes"))
    data = (
        f"{N} globins of {classes} families under evolutionary distances; the chapter has 226 of five classes"
        + (", and its 13 'others' are not in this copy" if N == 213 else "")
        if part == "proteins"
        else f"The {N} globins of {classes} classes that come with the library, alignment dissimilarity (BLOSUM62, "
        "gaps 11 and 1); the chapter does not have them, they are here so that its experiment runs without data of "
        "one's own"
    )
    said = [
        f"{data}. K=30, 300 epochs (our defaults: 30), {n} random halves; the best beta is chosen on the splits it is "
        "reported for, which flatters it. Learned labels where labels guide the map, majority labels at beta = 1."
    ]
    words = []
    for name in CURVES:
        if name in runs.records:
            beta, added = best(runs, name)[0], gain(runs, name)
            verdict = {HOLDS: "help", FAILS: "hurt", OPEN: "neither"}[sign(added)] if len(added) > 1 else "one run"
            words.append(f"{name}: {verdict}, {as_signed(added)} at beta {beta:g}")
    if words:
        said.append(f"Whether labels help or hurt, by the rule of the claims: {'; '.join(words)}.")
    if MEDIAN + RAW in runs.records and DEFAULT + RAW in runs.records:
        old, new = (best(runs, name + RAW)[2] for name in (MEDIAN, DEFAULT))
        more = paired(new, old)
        if len(more) > 1 and sign(more) == HOLDS:
            said.append(
                f"Without labels our default reaches {as_mean(new)} where the chapter's annealing reaches "
                f"{as_mean(old)}: much of what labels are worth there is to make up for that."
            )
    nearest = runs.values(NEAREST, "posterior")
    if part == "proteins" and N == 213 and len(nearest) > 1 and sign(nearest - 0.91) == HOLDS:
        said.append(
            f"1-NN reaches {as_mean(nearest)}, the chapter's 0.91: the mixed class of 'others', which is not in "
            "this copy, is the likely reason."
        )
    return said
