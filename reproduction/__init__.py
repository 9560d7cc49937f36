"""The chapter's experiments, run again: protocol, finished runs, tables, pictures and the page that tells them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from medianmap._version import __version__
from medianmap.utils.files import write_text

from .page import as_json, page
from .parts import PARTS
from .pictures import draw
from .plan import Plan
from .runs import Runs, open_runs, run_all

__all__ = ["PARTS", "Plan", "Runs", "reproduce", "runnable"]

# (part, what is run now, done, total) of the part's present stage.
OnRun = Callable[[str, str, int, int], None]


def runnable(parts: Sequence[str], plan: Plan) -> tuple[list[str], list[str]]:
    """The parts to run, and those left out because the user's folder has not what they need.

    A part asked for by its name is never left out: FileNotFoundError or ValueError says what it needs.
    """
    if plan.folder is not None and not plan.folder.is_dir():
        raise FileNotFoundError(f"There is no folder {plan.folder}; give the folder of your data with --data.")
    if parts and "all" not in parts:
        for name in parts:
            plan.fingerprint(PARTS[name].needs)
        return list(dict.fromkeys(parts)), []
    ready = [name for name, part in PARTS.items() if not part.needs or plan.has(part.needs)]
    left_out = [name for name in PARTS if name not in ready]
    if plan.folder is not None and len(left_out) == sum(bool(part.needs) for part in PARTS.values()):
        wanted = " and ".join(need for name in left_out for need in PARTS[name].needs[:1])
        raise FileNotFoundError(f"{plan.folder} has neither {wanted}; put your copies there, or leave --data out.")
    return ready, left_out


def reproduce(parts: Sequence[str], plan: Plan, out: Path, on_run: OnRun = lambda *_: None) -> dict[str, Runs]:
    """Run the parts, going on with what an earlier process left in `out`, and write page, pictures and JSON there."""
    out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Runs] = {}
    drawn = set()
    for name in parts:
        part = PARTS[name]
        about = {"part": name, "seed": plan.seed, "medianmap": __version__, "data": plan.fingerprint(part.needs)}
        journal = out / f"{'quick' if plan.quick else 'runs'}-{name}.jsonl"
        if plan.only_page and not journal.exists():
            continue
        with open_runs(journal, about) as runs:
            for stage in () if plan.only_page else part.stages:
                run_all(stage(plan, runs), runs, partial(on_run, name))
        found[name] = runs
        if draw(name, runs, out) is not None:
            drawn.add(name)
    write_text(out / "reproduction.json", as_json(found, plan))
    write_text(out / "reproduction.md", page(found, drawn, plan))
    return found
