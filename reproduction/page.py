"""The page: every figure of the chapter beside ours, its claims, where its items are, and a section per part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import fill
from typing import Any

from medianmap._version import __version__

from .items import items
from .judging import has_kmedoids
from .parts import PARTS
from .pictures import PICTURES, picture_name
from .plan import Plan
from .runs import Runs
from .tables import Claim, Figure, figure_table, markdown

WIDTH = 120


def page(found: Mapping[str, Runs], drawn: set[str], plan: Plan) -> str:
    """Markdown of the whole page. found : runs by part. drawn : parts that have a picture beside the page."""
    lines = ["# The chapter's experiments", "", *_head(found, plan)]
    lines += ["## Every figure of the chapter", "", RULE, ""]
    figures = [figure for figure in all_figures(found) if figure.chapter is not None]
    head = ("part", "", "ours", "runs", "chapter", "difference", "", "our default")
    lines += markdown(head, ((figure.part, *figure.cells(), figure.beside) for figure in figures))
    lines += ["## What the chapter claims", ""]
    if plan.quick:
        lines += ["Nothing is judged after a quick run.", ""]
    else:
        claims = all_claims(found)
        lines += [CLAIMED, ""]
        lines += markdown(
            ("part", "", "measured", ""),
            [(claim.part, claim.what, claim.measured, claim.verdict) for claim in claims],
        )
    lines += ["## Where everything of the chapter is", "", *items()]
    for name, runs in found.items():
        lines += _section(name, runs, name in drawn, plan.quick)
    return "\n".join(wrapped(line) for line in lines).rstrip() + "\n"


RULE = (
    "The chapter gives no error bars. Its figure is taken for a mean of as many runs as it states, or of as many as "
    "ours where it states none, which spread as ours do; the difference has a standard error that follows from both. "
    "'agrees' is a difference of at most t of these plus half a unit of the chapter's last digit, t Student's for 95% "
    "(2.26 for ten runs). Of figures that agree in truth one in twenty is marked all the same. 'our default' is the "
    "same by the library's defaults; of the speed tables, the ratio of `auto`."
)
CLAIMED = (
    "A claim holds where the difference that it is about has the right sign by more than t standard errors over the "
    "same splits, does not hold where it has the wrong one by as many, and is open between."
)


def wrapped(line: str) -> str:
    """A paragraph in lines of at most 120 characters; tables, titles and pictures as they are."""
    if line.startswith(("|", "#", "!")):
        return line
    return fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)


def _head(found: Mapping[str, Runs], plan: Plan) -> list[str]:
    kind = (
        " A quick run: few runs of small sizes, which shows that everything works and no figure." if plan.quick else ""
    )
    command = " ".join(["python -m reproduction", *(found if len(found) < len(PARTS) else ["all"])])
    command += (" --data FOLDER" if plan.folder else "") + (f" --runs {plan.runs}" if plan.runs else "")
    command += (" --quick" if plan.quick else "") + (f" --seed {plan.seed}" if plan.seed else "")
    command += " --page" if plan.only_page else ""
    said = [
        f"Written by `{command}`, medianmap {__version__}.{kind} Every number and every sentence below is made from "
        "the runs by that command"
        + (" without `--page`, of which there may be fewer than it makes by itself" if plan.only_page else "")
        + "; tables say how many runs there are, and each section on which day they were begun. ± is one standard "
        "error over the runs; 'difference' is ours minus the chapter's.",
        "",
        "'Chapter's' is the chapter's method as far as it is stated, with prototypes that are data points all the way "
        '(`annealing="median"`), from sigma K/2 to 0.01, exponential, over the chapter\'s number of epochs; '
        "`reproduction/maps.py` says it in one place. 'Our default' is the library's, which anneals with combinations "
        "of the data in 30 epochs. 'Relational' maps keep combinations to the end. FasterPAM (package `kmedoids`), "
        "scikit-learn's affinity propagation and nearest neighbours run on the same splits; the chapter does not have "
        "them.",
        "",
    ]
    if not has_kmedoids():
        said += ["FasterPAM was left out: the package `kmedoids` is not installed.", ""]
    missing = [name for name in PARTS if name not in found]
    if missing:
        said += [f"Not run: {', '.join(missing)}.", ""]
    days = [runs.day for runs in found.values() if runs.day]
    older = [name for name in found if found[name].day and found[name].day < max(days)]
    if older:
        said += [
            f"Of an earlier day than the rest, and not run again since, so that the code may have changed: "
            f"{', '.join(f'{name} ({found[name].day})' for name in older)}.",
            "",
        ]
    return said


def _section(name: str, runs: Runs, drawn: bool, quick: bool) -> list[str]:
    part = PARTS[name]
    sentences = [] if quick else part.sentences(runs)  # they speak of full sizes
    if runs.day and not quick:
        sentences = [*sentences, f"Runs begun on {runs.day}."]
    lines = [f"## {part.title}", "", *[line for said in sentences for line in (said, "")]]
    if part.listed:
        lines += figure_table(part.figures(runs))
    if drawn:
        lines += [f"![{PICTURES[name][1]}]({picture_name(name)})", ""]
    return [*lines, *part.more(runs)]


def all_figures(found: Mapping[str, Runs]) -> list[Figure]:
    """The figures of all parts."""
    return [figure for name, runs in found.items() for figure in PARTS[name].figures(runs)]


def all_claims(found: Mapping[str, Runs]) -> list[Claim]:
    """The claims of all parts."""
    return [claim for name, runs in found.items() for claim in PARTS[name].claims(runs)]


def as_json(found: Mapping[str, Runs], plan: Plan) -> str:
    """Figures, claims and every run as JSON."""
    content: dict[str, Any] = {
        "medianmap": __version__,
        "quick": plan.quick,
        "seed": plan.seed,
        "figures": [figure.as_record() for figure in all_figures(found)],
        "claims": [vars(claim) for claim in all_claims(found) if not plan.quick],
        "runs": {
            name: [
                {"setting": setting, "run": run, **record}
                for setting, records in runs.records.items()
                for run, record in sorted(records.items())
            ]
            for name, runs in found.items()
        },
    }
    return json.dumps(content, indent=1) + "\n"
