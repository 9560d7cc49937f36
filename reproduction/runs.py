"""Finished runs, one JSON line each, so that an interrupted experiment goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medianmap.utils.resumable import About, Journal, journal
from medianmap.utils.threads import OnProgress

from .plan import Record, Task


class Runs:
    """The records of one part, by setting and number of run."""

    def __init__(self, lines: Journal | None = None, day: str = "") -> None:
        self.journal = lines
        self.records: dict[str, dict[int, Record]] = {}
        self.day = day  # on which they were begun

    def add(self, setting: str, run: int, record: Record) -> None:
        """Keep a record, and write its line before anything else is done."""
        if self.journal is not None:
            self.journal.vouch(json.dumps({"setting": setting, "run": run, **record}))
        self._keep(setting, run, record)

    def _keep(self, setting: str, run: int, record: Record) -> None:
        self.records.setdefault(setting, {})[run] = record

    def done(self, task: Task) -> bool:
        """Whether this run is among the records."""
        return task.run in self.records.get(task.setting, {})

    def settings(self, prefix: str = "") -> list[str]:
        """The settings that have a record, in the order in which they were first run."""
        return [setting for setting in self.records if setting.startswith(prefix)]

    def values(self, setting: str, measure: str) -> NDArray[np.float64]:
        """(n_runs,) or (n_runs, grid) the measure in every run, by number of run; empty if there are none."""
        found = self.records.get(setting, {})
        return np.array([found[run][measure] for run in sorted(found) if measure in found[run]], dtype=np.float64)

    def load(self, lines: list[str]) -> None:
        """Take up the records of an earlier run."""
        for line in lines:
            record = json.loads(line)
            self._keep(record.pop("setting"), record.pop("run"), record)


@contextmanager
def open_runs(path: Path, about: dict[str, Any]) -> Iterator[Runs]:
    """The runs in `path`, going on with those of an earlier process if they were begun with the same `about`."""
    with journal(path, path) as lines:
        if lines.resumes(about, _differs, "give another folder with -o, or remove that file."):
            runs = Runs(lines, str(lines.began.get("day", "")))
            runs.load(lines.lines)
        else:
            runs = Runs(lines, date.today().isoformat())
            lines.begin({**about, "day": runs.day})
        yield runs


def _differs(began: About, wanted: About) -> str:
    other = [name for name in wanted if began.get(name) != wanted[name]]
    return f"{other[0]} {began.get(other[0])!r}, not {wanted[other[0]]!r}" if other else ""


def run_all(tasks: list[Task], runs: Runs, on_run: OnProgress) -> None:
    """Do the tasks that are not among the records yet; `on_run` is called before each, and once more at the end."""
    for k, task in enumerate(tasks):
        on_run(f"{task.setting}, run {task.run}", k, len(tasks))
        if not runs.done(task):
            runs.add(task.setting, task.run, task.work())
    on_run("", len(tasks), len(tasks))
