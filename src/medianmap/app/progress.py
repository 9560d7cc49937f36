"""What commands show on stderr while they work: bars with rate and time left on a terminal, nothing elsewhere."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .options import note, shows_progress
from .watch import Watch

# What is counted in a stage whose name does not say it.
UNITS = {
    "reading": "kB", "patches": "objects", "assignment": "objects", "sample": "objects", "health": "entries",
    "swaps": "candidates", "moves": "neurons", "layout": "steps",
}  # fmt: skip


@contextmanager
def stage_bars(shown: bool) -> Iterator[Callable[[str, int, int | None], None]]:
    """A bar for every stage of a longer work, and the function (stage, done, total) that moves it."""
    with _bars(shown) as bars:
        stages: dict[str, _Stage] = {}

        def report(stage: str, done: int, total: int | None) -> None:
            now = time.perf_counter()
            if stage not in stages:
                stages[stage] = _Stage(bars.add_task("", total=total), done, now)
            at = stages[stage]
            if not at.shown:
                for each in stages.values():
                    each.shown = each is at
                    bars.update(each.task, visible=each.shown)
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
        self.task, self.start, self.began, self.done, self.shown = task, done, now, done, False


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


# --- Long work with stages, as a user sees it: sentences and bars on stderr


class _Shown(Watch):
    def __init__(self, move: Callable[[str, int, int | None], None]) -> None:
        self.move = move

    def tell(self, sentence: str) -> None:
        note(sentence)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        self.move(stage, done, total)


@contextmanager
def watched() -> Iterator[Watch]:
    """What tells the user, as loud as -v and -q ask; the same warning is told once."""

    with stage_bars(shows_progress()) as move, warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        # The command line reads plain columns, whatever they were called in training.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield _Shown(move)
