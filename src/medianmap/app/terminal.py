"""What commands say and show: notes and errors, -v and -q, progress bars on stderr, results on standard output."""

from __future__ import annotations

import logging
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..utils.progress import followed

if TYPE_CHECKING:
    from rich.console import Console

Command = TypeVar("Command", bound=Callable[..., Any])

_LOUDNESS = "medianmap.loudness"

# How the library's sentences about files name an option of `readers.read`: "pass kind='matrix'".
_READING = re.compile(r"\bpass (kind|format|allow_empty|encoding|missing|symmetrize|header|id)='?([\w.-]+)'?")

# --- -v and -q, notes and errors


def speaking(command: Command) -> Command:
    """Options -v and -q: let the logger "medianmap" speak on stderr, or silence notes, progress and closing lines."""
    quiet = click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_set_quiet,
                         help="No notes and no progress; errors still speak.")  # fmt: skip
    verbose = click.option("-v", "--verbose", count=True, expose_value=False, callback=_set_verbose,
                           help="Say on stderr what is being done; -vv says more.")  # fmt: skip
    return verbose(quiet(command))


def _set_quiet(context: click.Context, _: click.Parameter, quiet: bool) -> None:
    if quiet:
        _set_loudness(context, -1)


def _set_verbose(context: click.Context, _: click.Parameter, count: int) -> None:
    if not count or context.resilient_parsing:
        return
    _set_loudness(context, count)
    logger, handler = logging.getLogger("medianmap"), _Spoken()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if count == 1 else logging.DEBUG)

    @context.call_on_close
    def restore() -> None:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _set_loudness(context: click.Context, loudness: int) -> None:
    if context.meta.setdefault(_LOUDNESS, loudness) != loudness:
        context.close()  # click leaves it open where options cannot be parsed, and the log would go on speaking
        raise click.UsageError("-q and -v exclude each other; give one of them.", context)


class _Spoken(logging.Handler):
    """Log lines on whatever stderr is at that time: while a bar is drawn, rich puts them above it."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr)


def loudness() -> int:
    """-1 with -q, the number of -v otherwise."""
    context = click.get_current_context(silent=True)
    return 0 if context is None else int(context.meta.get(_LOUDNESS, 0))


def shows_progress() -> bool:
    """Bars are for people: on a terminal, and not with -q."""
    return sys.stderr.isatty() and loudness() >= 0


def say(text: object) -> None:
    """A sentence on stderr; what the library advises is put in the words of the command line."""
    advised = _READING.sub(lambda found: f"pass --read {found[1]}={found[2].replace('True', 'true')}", str(text))
    # On whatever stderr is now: click would write past the bar that rich is drawing, onto its line.
    print(f"medianmap: {advised}", file=sys.stderr, flush=True)


def note(text: str) -> None:
    """A sentence on stderr that a user should know of, silent with -q."""
    if loudness() >= 0:
        say(text)


def close(text: str, *, data_on_stdout: bool = False) -> None:
    """The closing line: what was done and written, silent with -q; on stderr where stdout has the data."""
    if loudness() >= 0:
        click.echo(text, err=data_on_stdout)


def console() -> Console:
    """Colours on a terminal (or where FORCE_COLOR asks), plain text in a pipe."""
    from rich.console import Console

    # Off a terminal rich assumes 80 columns and would wrap the map.
    return Console(width=None if sys.stdout.isatty() else 120, highlight=False)


# --- Standard output as the target of a command that writes a file


def is_stdout(out: Path) -> bool:
    """Whether '-' was asked for."""
    return str(out) == "-"


@contextmanager
def printed(name: str) -> Iterator[Path]:
    """A file to write that is printed when the block ends well: half a result never reaches the next command."""
    with TemporaryDirectory(prefix="medianmap-") as folder:
        try:
            yield Path(folder, name)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                "stopped, and nothing was printed; with -o FILE the same command could go on where it was."
            ) from None
        with Path(folder, name).open("rb") as lines:
            shutil.copyfileobj(lines, sys.stdout.buffer)
            sys.stdout.buffer.flush()


# --- Progress bars

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


# --- Long work with stages


class Watch:
    """Told of stages, notes and warnings; this one keeps silent."""

    def tell(self, sentence: str) -> None:
        """One sentence for the user: what was chosen for them, or what looks wrong."""

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` steps of a stage are over; total is None where it is not known."""


class _Shown(Watch):
    def __init__(self, move: Callable[[str, int, int | None], None]) -> None:
        self.move = move

    def tell(self, sentence: str) -> None:
        note(sentence)

    def progress(self, stage: str, done: int, total: int | None) -> None:
        self.move(stage, done, total)


@contextmanager
def watched() -> Iterator[Watch]:
    """Bars for all steps inside, and what tells the user, as loud as -v and -q ask; the same warning is told once."""
    with stage_bars(shows_progress()) as move, followed(move), warnings.catch_warnings():
        warnings.simplefilter("once", UserWarning)
        # The command line reads plain columns, whatever they were called in training.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield _Shown(move)
