"""Digests of objects and functions that are the same in every process: they tell whether a run has the same input."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


def digest(value: Any) -> str:
    """SHA-256 of the content of a value: arrays, text, numbers, containers of them, functions by their code and what it
    refers to, anything else as pickle writes it. Equal digests mean equal values; where pickle writes one value in two
    ways, the opposite does not hold. ValueError for what pickle cannot write."""
    total = hashlib.sha256()
    for part in _parts(value):
        total.update(part)
    return total.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """The value as bytes; each part says its kind and length first, so that no two values run together alike."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        yield f"array {value.dtype.str} {value.shape} ".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, str):
        data = value.encode("utf-8", "surrogatepass")
        yield b"text %d " % len(data)
        yield data
    elif isinstance(value, bytes | bytearray):
        yield b"bytes %d " % len(value)
        yield bytes(value)
    elif value is None or isinstance(value, bool | int | float | complex | np.generic):
        yield f"{type(value).__name__} {value!r} ".encode()
    elif isinstance(value, Mapping):
        yield b"mapping "
        yield from _parts(sorted((digest(key), digest(each)) for key, each in value.items()))
    elif isinstance(value, Set):
        yield b"set "
        yield from _parts(sorted(digest(each) for each in value))
    elif isinstance(value, CodeType):
        yield from _parts((value.co_code, value.co_names, value.co_consts))
    elif _plain_function(value) is not None:
        yield from _function_parts(value)
    elif isinstance(value, partial):
        yield from _parts((value.func, value.args, value.keywords))
    elif isinstance(value, Sequence | np.ndarray):
        yield b"sequence %d " % len(value)
        for each in value:
            yield from _parts(each)
    else:
        try:
            yield pickle.dumps(value, protocol=4)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise ValueError(f"A {type(value).__name__} cannot be told from others of its kind ({error}).") from None


def _plain_function(value: Any) -> FunctionType | None:
    """The Python function that a value is, or that numba compiled; None for anything else."""
    function = getattr(value, "py_func", value)
    return function if isinstance(function, FunctionType) else None


def _function_parts(value: Any) -> Iterator[bytes]:
    """A function, the data that it takes from around it, and all functions that it calls by their names."""
    todo, seen = [value], set()
    while todo:
        function = _plain_function(todo.pop())
        if function is None or function in seen:
            continue
        seen.add(function)
        yield from _parts((function.__code__, function.__defaults__, function.__kwdefaults__))
        for name, used in _names_used(function):
            yield from _parts(name)
            if _plain_function(used) is not None:
                todo.append(used)
            elif not isinstance(used, ModuleType):  # of a module the name says enough
                yield from _parts(used)


def _names_used(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """(name, value) of what a function finds in the functions around it and in its module."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    yield from ((name, cell.cell_contents) for name, cell in cells)
    names = sorted(_global_names(function.__code__) & function.__globals__.keys())
    yield from ((name, function.__globals__[name]) for name in names)


def _global_names(code: CodeType) -> set[str]:
    """Names that the code, or a function inside it, may look up in its module."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_global_names, inner))
