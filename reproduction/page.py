"""The page: every figure of the chapter beside ours, what should hold, and a section per part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import fill
from typing import Any

from medianmap._version import __version__

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
    lines += ["## Every figure of the chapter", ""]
    figures = [figure for figure in all_figures(found) if figure.chapter is not None]
    rows = [(figure.part, *figure.cells()) for figure in figures]
    lines += markdown(("part", "", "ours", "runs", "chapter", "difference"), rows)
    lines += ["## What should hold", ""]
    claims = [] if plan.quick else all_claims(found)
    if plan.quick:
        lines += ["Nothing is judged after a quick run.", ""]
    lines += markdown(
        ("part", "", "measured", ""),
        [(claim.part, claim.what, claim.measured, "holds" if claim.holds else "**does not hold**") for claim in claims],
    )
    for name, runs in found.items():
        lines += _section(name, runs, name in drawn, plan.quick)
    return "\n".join(wrapped(line) for line in lines).rstrip() + "\n"


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
    said = [
        f"Written by `{command}`, medianmap {__version__}.{kind} Every number and every sentence below is made from "
        "the runs by that command. ± is one standard error over the runs; 'difference' is ours minus the chapter's.",
        "",
        "'Chapter's annealing' is `annealing=\"median\"`, prototypes that are data points all the way, with our "
        "default sigma_start of K/2; 'our default' anneals with combinations of the data (`annealing=\"auto\"`). "
        "FasterPAM (package `kmedoids`), scikit-learn's affinity propagation and nearest neighbours run on the same "
        "splits; the chapter does not have them.",
        "",
    ]
    if not has_kmedoids():
        said += ["FasterPAM was left out: the package `kmedoids` is not installed.", ""]
    missing = [name for name in PARTS if name not in found]
    if missing:
        said += [f"Not run: {', '.join(missing)}.", ""]
    return said


def _section(name: str, runs: Runs, drawn: bool, quick: bool) -> list[str]:
    part = PARTS[name]
    sentences = [] if quick else part.sentences(runs)  # they speak of full sizes
    lines = [f"## {part.title}", "", *[line for said in sentences for line in (said, "")]]
    if name != "speed":  # its tables say the same with more columns
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
