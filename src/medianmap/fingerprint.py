"""Digests of objects and functions that are the same in every process, to know again what a run was begun with."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from types import CodeType, FunctionType
from typing import Any

import numpy as np


def digest(value: Any) -> str:
    """SHA-256 of the content of a value: arrays, text, numbers, containers of them, functions by their code, anything
    else as pickle writes it. Equal digests mean equal values; where pickle writes one value in two ways, the opposite
    does not hold. ValueError for what pickle cannot write."""
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
    elif isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        yield from _parts((value.__code__, value.__defaults__, value.__kwdefaults__, cells))
    elif hasattr(value, "py_func"):  # compiled by numba
        yield from _parts(value.py_func)
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
