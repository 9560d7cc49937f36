"""Ctrl-C and SIGTERM end a work alike, and wait for the end of what must not be cut."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Both say "end in order": the terminal by Ctrl-C; batch systems, containers and `kill` by SIGTERM.
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Seconds after which a signal that Python had to ignore is sent again.
AGAIN = 0.02


def _hears_signals() -> bool:
    """Signals reach the main thread alone, and only there their handlers can be set."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def stoppable() -> Iterator[Callable[[], int]]:
    """Inside, SIGTERM raises KeyboardInterrupt as Ctrl-C does; yields what tells the exit code, 128 + the signal.

    What the caller did with SIGTERM holds again afterwards, and inside too if that was not the default. Neither signal
    is lost where Python has to ignore exceptions, as in callbacks of the compiler.
    """
    received = [signal.SIGINT]

    def stop(number: int, frame: Any) -> None:
        received[0] = signal.Signals(number)
        raise KeyboardInterrupt

    taken = _hears_signals() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if taken:
        signal.signal(signal.SIGTERM, stop)
    try:
        with _sent_again(received):
            yield lambda: 128 + received[0]
    finally:
        if taken:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _sent_again(received: list[signal.Signals]) -> Iterator[None]:
    """Inside, an interrupt that Python ignores in a callback from C or in a destructor comes again a moment later."""
    before, timers = sys.unraisablehook, []

    def hook(ignored: Any) -> None:
        if ignored.exc_type is not KeyboardInterrupt or not _hears_signals():
            before(ignored)
            return
        # Raised at once it would be ignored here, too.
        timers.append(threading.Timer(AGAIN, _send, received))
        timers[-1].daemon = True
        timers[-1].start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in timers:
            timer.cancel()


def _send(number: signal.Signals) -> None:
    """To the main thread, which wakes if it waits for something."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(number)


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
