"""What commands show on stderr while they work: bars with rate and time left on a terminal, nothing elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .options import shows_progress

# What is counted in a stage whose name does not say it.
UNITS = {
    "reading": "kB", "patches": "objects", "assignment": "objects", "sample": "objects", "health": "entries",
    "swaps": "candidates", "moves": "neurons", "layout": "steps",
}  # fmt: skip

Report = Callable[[int, "int | None", float], None]


@contextmanager
def progress_bar(shown: bool | None = None, length: int | None = None, unit: str = "objects") -> Iterator[Report]:
    """A bar, and the function (done, total, seconds) that moves it; `length` stands in for a total that is not known.

    shown : None finds out whether stderr is a terminal, and -q not given.
    """
    start: list[tuple[int, float]] = []  # what an earlier run did is no measure of the pace of this one
    with _bars(shows_progress() if shown is None else shown) as bars:
        task = bars.add_task("", total=None)

        def report(done: int, total: int | None, seconds: float) -> None:
            if not start:
                start.append((done, seconds))
            n, at = start[0]
            rate = (done - n) / (seconds - at) if seconds > at else 0.0
            told = pace(rate, done, total or length, unit)
            bars.update(task, completed=done, total=total or length, description=told)

        yield report


@contextmanager
def stage_bars(shown: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar for every stage of a longer work, and the function (stage, done, total) that moves it."""
    with _bars(shown) as bars:
        stages: dict[str, _Stage] = {}

        def report(stage: str, done: int, total: int | None) -> None:
            now = time.perf_counter()
            if stage not in stages:
                stages[stage] = _Stage(bars.add_task("", total=total), done, now)
            for name, each in stages.items():
                bars.update(each.task, visible=name == stage)
            at = stages[stage]
            if done < at.done:  # the stage has come again
                at.start, at.began = done, now
            at.done = done
            rate = (done - at.start) / (now - at.began) if now > at.began else 0.0
            told = pace(rate, done, total, UNITS.get(stage, stage))
            bars.update(at.task, completed=done, total=total, description=f"{stage}: {told}" if told else stage)

        yield report


class _Stage:
    """The bar of a stage, and since when it has done how much."""

    def __init__(self, task: Any, done: int, now: float) -> None:
        self.task, self.start, self.began, self.done = task, done, now, done


def _bars(shown: bool) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}")
    return Progress(*columns, console=Console(stderr=True), disable=not shown, transient=True)


def pace(rate: float, done: int, total: int | None, unit: str = "objects") -> str:
    """'1200 objects/s, 2 min 5 s left'."""
    if rate <= 0:
        return ""
    said = f"{rate:.0f} {unit}/s" if rate >= 10 else f"{rate:.2g} {unit}/s"
    if total is None:
        return said
    minutes, seconds = divmod(round(max(0, total - done) / rate), 60)
    return f"{said}, {f'{minutes} min ' if minutes else ''}{seconds} s left"
