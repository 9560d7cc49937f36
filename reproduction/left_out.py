"""Chromosomes: the chapter has 4200 strings of 22 classes, the data 4400, 200 of each. Is one class left out there?

4200 = 21 x 200. So every class is left out in turn, and the maps of the chapter's four figures are set beside them.
That one of 22 choices comes near is to be expected; the table shows them all, and the nearest is named as what it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .chromosomes import CHAPTERS, REFINED, Setting, accuracy, halves, one, rival
from .plan import Plan, Task, task
from .runs import Runs
from .tables import markdown

LEFT = "without class "
NONE = "no class"


def compared(K: int) -> list[Setting]:
    """The chapter's K-means, its neural gas, and ours."""
    return [rival(K), Setting(K, how=CHAPTERS), Setting(K), Setting(K, changed=REFINED)]


# The chapter's figures, with what is taken for its method: rounded to two digits, of unknown splits.
REPORTED = {100: ("0.83", "0.89"), 500: ("0.91", "0.93")}


def stage(plan: Plan, runs: Runs) -> list[Task]:
    """Every class left out, by halves: run 2 s + direction."""
    if plan.quick:
        return []
    data, tasks = plan.chromosomes, []
    for c, name in enumerate(data.class_names):
        for direction, split in enumerate(halves(plan)):
            train, test = (points[data.y[points] != c] for points in split)
            for K in REPORTED:
                for setting in compared(K):
                    what = f"{LEFT}{name}: {setting.name}"
                    tasks.append(task(what, direction, one, plan, setting, train, test, plan.seed))
    return tasks


def classes_of(runs: Runs) -> list[str]:
    """The classes that were left out."""
    return list(dict.fromkeys(setting.removeprefix(LEFT).split(":")[0] for setting in runs.settings(LEFT)))


def mean_accuracy(runs: Runs, left: str, setting: Setting) -> float:
    """Accuracy by halves without a class; nan where it was not run."""
    values = accuracy(runs, f"{LEFT}{left}: ", setting.name)
    return float(values.mean()) if len(values) else np.nan


def distances(runs: Runs, left: str) -> NDArray[np.float64]:
    """(4,) ours less the chapter's figures: K-means and the best of the neural gases, at both sizes."""
    apart = []
    for K, (clusters, gas) in REPORTED.items():
        first, *others = compared(K)
        nearest = [mean_accuracy(runs, left, setting) - float(gas) for setting in others]
        apart += [mean_accuracy(runs, left, first) - float(clusters), min(nearest, key=abs)]
    return np.array(apart)


def lines(runs: Runs) -> list[str]:
    """All choices, the nearest to the chapter first."""
    classes = classes_of(runs)
    if not classes:
        return []
    apart = {left: float(np.sqrt(np.mean(distances(runs, left) ** 2))) for left in classes}
    classes.sort(key=lambda left: apart[left])
    settings = [setting for K in REPORTED for setting in compared(K)]
    rows = [
        (left, *(f"{mean_accuracy(runs, left, setting):.3f}" for setting in settings), f"{apart[left]:.3f}")
        for left in classes
    ]
    best = classes[0]
    cells = [f"{figure}" for K in REPORTED for figure in (REPORTED[K][0], *[REPORTED[K][1]] * 3)]
    worst = max(apart.values())
    n = max(len(runs.values(f"{LEFT}{best}: {setting.name}", "posterior")) for setting in settings)
    said = (
        f"4200 = 21 x 200: each of the {len(classes)} classes is left out in turn, training and test alike, part a "
        f"tested on b and back, one seed ({n} maps a cell). 'Apart' is the root mean square distance from the "
        "chapter's four figures, of the three neural gases the nearest. The rows are sorted by it: the first, "
        f"**without class {best}**, is the most favourable choice found by trying all of them, and was looked for on "
        f"the very figures that it is to explain. It lies {apart[best]:.3f} from the chapter's, the least favourable "
        f"{worst:.3f}. This shows that leaving out one class is enough to explain the chapter's figures; it proves "
        "neither that this was done nor which class it was."
    )
    head = ("class left out", *(setting.name for setting in settings), "apart")
    return [
        "### 4200 strings: one class left out?",
        "",
        said,
        "",
        *markdown(head, [("the chapter", *cells, ""), *rows]),
    ]
