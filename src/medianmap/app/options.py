"""What all commands share: -v and -q, --threads and --seed, and where a command speaks."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

Command = TypeVar("Command", bound=Callable[..., Any])

_LOUDNESS = "medianmap.loudness"

# How Python passes an option of `readers.read`, as sentences about files advise.
_READING = re.compile(r"\bpass (kind|format|allow_empty|encoding|missing|symmetrize|header|id)='?([\w.-]+)'?")


def _check_threads(context: click.Context, _: click.Parameter, n: int | None) -> int | None:
    if n is not None and (n == 0 or n < -1):
        raise click.BadParameter(f"{n} is no number of threads; give 1 or more, or -1 for all cores.")
    return n


threads_option = click.option(
    "--threads", type=int, default=None, metavar="N", callback=_check_threads,
    help="How many threads; -1 for all cores.",
)  # fmt: skip
seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Start of the random numbers."
)
force_option = click.option("--force", is_flag=True, help="Replace the files of an earlier run in the folder.")
gzip_option = click.option("--gzip", is_flag=True, help="Write tables and sequences as .gz.")


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
