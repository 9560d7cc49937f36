"""Proteins: K=30, 300 epochs, random halves, accuracy against beta; the same on the globins of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit

from medianmap.estimators.median import MedianKMeans, MedianNeuralGas
from medianmap.explore.beta_path import BETAS
from medianmap.explore.refits import standard_error
from medianmap.sources.base import IntArray

from .judging import affinity, faster_pam, has_kmedoids, judged, judged_medoids, leave_one_out, neighbours, share
from .plan import Labelled, Plan, Record, Task, task
from .runs import Runs
from .tables import Claim, Figure, as_mean, figure, markdown, plus_minus

K = 30
LABELINGS = ("learned", "posterior")

MEDIAN, DEFAULT = "median NG, chapter's annealing", "median NG, our default"
MEANS = "median K-means, chapter's"
RAW, SCALED = ", D as it is", ", D over its mean"
CURVES = tuple(name + scale for scale in (RAW, SCALED) for name in (MEDIAN, DEFAULT, MEANS))
NEAREST, LEAVE_ONE_OUT = "1-NN", "1-NN, leave one out"
PAM, PROPAGATION = "FasterPAM, posterior labels", "affinity propagation, posterior labels"
SHOWN = (1.0, 0.95, 0.9, 0.7, 0.5, 0.3, 0.1, 0.05)


def curve(data: Labelled, name: str, train: IntArray, test: IntArray, seed: int, plan: Plan) -> Record:
    """Accuracy and quantization error along the betas, each map annealed afresh: lists in the order of BETAS."""
    scaled = name.endswith(SCALED)
    shared: dict[str, Any] = {"metric": "precomputed", "random_state": seed, "n_jobs": plan.threads}
    if name.startswith(MEANS):
        map_: Any = MedianKMeans(K, annealing="median", **shared)
    else:
        annealing = "median" if name.startswith(MEDIAN) else "auto"
        map_ = MedianNeuralGas(K, n_epochs=plan.short(300, 20), annealing=annealing, **shared)
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
    return tasks(plan.proteins, plan, 50)


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


def figures_of(part: str, runs: Runs) -> list[Figure]:
    """Unsupervised, best supervised and the gain, for every curve; nearest neighbours."""
    found: list[Figure] = []
    proteins = part == "proteins"
    for name in CURVES:
        if name not in runs.records:
            continue
        beta, guided, alone = best(runs, name)
        chapter = 0.10 if proteins and name.startswith(MEDIAN) else None
        found += figure(part, f"{name}: unsupervised", alone)
        found += figure(part, f"{name}: best beta, {beta:g}", guided)
        found += figure(part, f"{name}: gain by labels", guided - alone, chapter)
    for method in (NEAREST, LEAVE_ONE_OUT, PAM, PROPAGATION):
        chapter = 0.91 if proteins and method == NEAREST else None
        found += figure(part, method, runs.values(method, "posterior"), chapter)
    return found


def claims_of(part: str, runs: Runs) -> list[Claim]:
    """Labels help under the chapter's annealing."""
    found = []
    for name in (MEDIAN + RAW, MEDIAN + SCALED):
        if name in runs.records and part == "proteins":
            _, guided, alone = best(runs, name)
            gain = guided - alone
            found.append(
                Claim(part, f"labels are worth 0.05 or more: {name}", as_mean(gain), bool(gain.mean() >= 0.05))
            )
    return found


def curve_table(runs: Runs) -> list[str]:
    """Accuracy against beta, learned labels, for every curve."""
    grid = grid_of(runs)
    names = [name for name in CURVES if name in runs.records]
    rows = []
    for b, beta in enumerate(grid):
        if beta in SHOWN:
            cells = []
            for name in names:
                values = runs.values(name, "learned")[:, b] if b else runs.values(name, "posterior")[:, 0]
                cells.append(plus_minus(float(values.mean()), float(standard_error(values)), len(values)))
            rows.append((f"{beta:g}", *cells))
    return markdown(("beta", *names), rows)


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
        f"{data}. K=30, 300 epochs, {n} random halves; the best beta is chosen on the splits it is reported for. "
        "Learned labels where labels guide the map, majority labels at beta = 1."
    ]
    for name in CURVES:
        if name not in runs.records:
            continue
        beta, guided, alone = best(runs, name)
        gain = guided - alone
        error = float(standard_error(gain))
        clear = abs(gain.mean()) > 2 * error
        verdict = ("labels help" if gain.mean() > 0 else "labels hurt") if clear else "labels make no clear difference"
        where = ""
        if part == "proteins" and name.startswith(MEDIAN):
            inside = 0.5 <= beta <= 0.9
            where = f" The best beta lies {'inside' if inside else 'outside'} the chapter's [0.5, 0.9]."
        said.append(f"{name[0].upper()}{name[1:]}: {verdict}, by {as_mean(gain)} at beta {beta:g}.{where}")
    if MEDIAN + RAW in runs.records and DEFAULT + RAW in runs.records:
        old, new = (best(runs, name + RAW)[2] for name in (MEDIAN, DEFAULT))
        if new.mean() > old.mean() + 0.02:
            said.append(
                f"Without labels our default reaches {as_mean(new)} where the chapter's annealing reaches "
                f"{as_mean(old)}: much of what labels are worth there is to make up for that."
            )
    nearest = runs.values(NEAREST, "posterior")
    if part == "proteins" and N == 213 and nearest.mean() > 0.91 + 2 * float(standard_error(nearest)):
        said.append(
            f"1-NN reaches {as_mean(nearest)}, the chapter's 0.91: the mixed class of 'others', which is not in "
            "this copy, is the likely reason."
        )
    return said
