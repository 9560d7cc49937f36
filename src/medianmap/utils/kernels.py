"""Compiled loops: how one is declared, and who is told while one is compiled.

numba compiles a loop for the types of its arguments when it first meets them, and keeps the code on disk: the first fit
after installation waits for that, later ones do not. Code that came with the package is used before that, see
`shipped.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeAlias

from .shipped import ShippedFirst, shipped

Teller: TypeAlias = Callable[[str, int], Any]

logger = logging.getLogger("medianmap")

KERNELS: list[Any] = []  # what numba made of each function, in the order of imports


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The function as a compiled loop that runs beside other threads; its code is kept on disk.

    options : more of numba's, for @kernel(...).
    """
    if function is None:
        return partial(kernel, **options)
    from numba import njit  # here: the command line follows compilation before it knows whether it needs numba

    _listen()
    try:
        compiled: Any = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # neither the folder of the source nor the user's folder of caches can be written
        compiled = njit(nogil=True, **options)(function)
    pack = shipped()
    if pack is not None:
        compiled._cache = ShippedFirst(function, pack, compiled._cache)
    KERNELS.append(compiled)
    return compiled


_tellers: list[Teller] = []  # of the whole process: a loop may be compiled in a thread that works for another
_begun: list[str] = []  # the loops that were compiled in this process


@contextmanager
def compiling_told(teller: Teller) -> Iterator[None]:
    """Inside, teller(name, k) is called before the k-th loop of this process is compiled, in any thread."""
    _tellers.append(teller)
    try:
        yield
    finally:
        _tellers.remove(teller)


@cache
def _listen() -> None:
    """Hear of every compilation of a loop of ours."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            dispatcher = event.data["dispatcher"]
            if any(dispatcher is one for one in KERNELS):
                _begun.append(f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}")
                logger.info("compiling %s, once for these types", _begun[-1])
                for teller in _tellers:
                    teller(_begun[-1], len(_begun))

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
