"""Ctrl-C and SIGTERM end a work alike, and wait for the end of what must not be cut."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Both say "end in order": the terminal by Ctrl-C; batch systems, containers and `kill` by SIGTERM.
SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _hears_signals() -> bool:
    """Signals reach the main thread alone, and only there their handlers can be set."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def stoppable() -> Iterator[Callable[[], int]]:
    """Inside, SIGTERM raises KeyboardInterrupt as Ctrl-C does; yields what tells the exit code, 128 + the signal.

    What the caller did with SIGTERM holds again afterwards, and inside too if that was not the default.
    """
    received: list[int] = [signal.SIGINT]

    def stop(number: int, frame: Any) -> None:
        received[0] = number
        raise KeyboardInterrupt

    taken = _hears_signals() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if taken:
        signal.signal(signal.SIGTERM, stop)
    try:
        yield lambda: 128 + received[0]
    finally:
        if taken:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM that come inside are heard when the block has ended."""
    if not _hears_signals():
        yield
        return
    heard: list[int] = []
    before: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}
    ours = {number: handler for number, handler in before.items() if handler is not None}  # None: not Python's
    try:
        for number in ours:
            signal.signal(number, lambda number, frame: heard.append(number))
        yield
    finally:
        _restore(ours)
    for number in heard[:1]:
        signal.raise_signal(number)


def _restore(handlers: dict[int, Any]) -> None:
    """Set the handlers of signals; one that is heard as soon as it is set must not keep the others from being set."""
    heard: BaseException | None = None
    while True:
        try:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            break
        except KeyboardInterrupt as stop:
            heard = stop
    if heard is not None:
        raise heard
