"""Ctrl-C and SIGTERM end a command alike, with the same sentence and the same files; what must not be cut is not."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

STOPPED = "stopped; no file was left half written, and the same command starts again."
# Both say "end in order": the terminal by Ctrl-C; batch systems, containers and `kill` by SIGTERM.
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DELIVERED = "medianmap.delivered"


@contextmanager
def stoppable() -> Iterator[Callable[[], int]]:
    """Inside, SIGTERM raises KeyboardInterrupt as Ctrl-C does; yields what tells the exit code, 128 + the signal.

    What the caller did with SIGTERM holds again afterwards, and inside too if that was not the default.
    """
    received: list[int] = [signal.SIGINT]

    def stop(number: int, frame: Any) -> None:
        received[0] = number
        raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    taken = main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if taken:
        signal.signal(signal.SIGTERM, stop)
    try:
        yield lambda: 128 + received[0]
    finally:
        if taken:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM inside are ignored: the block is short, and its end is the end of the work.

    Only the main thread can say so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def delivered(out: Path) -> None:
    """Remember that the files of this command are in their place: a signal after that stops nothing."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_DELIVERED] = out


def said_of(stop: KeyboardInterrupt, context: click.Context) -> str:
    """The sentence for a command that was stopped: its own, or that all was done already."""
    out = context.meta.get(_DELIVERED)
    if out is not None:
        return f"stopped, but all was done already: the files in {out} are complete."
    return str(stop) or STOPPED
