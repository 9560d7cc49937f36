"""Arrays of NumPy and tensors of torch: what code that takes either asks of them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_tensor(x: Any) -> bool:
    """Whether x is a tensor; torch is not imported to find out."""
    return type(x).__module__ == "torch"


def on_host(x: Any) -> NDArray[Any]:
    """x as a NumPy array; a copy only if it is on a card."""
    return x.cpu().numpy() if is_tensor(x) else np.asarray(x)


def namespace(x: Any) -> Any:
    """numpy or torch, whichever has the functions for x."""
    return sys.modules["torch"] if is_tensor(x) else np


def in_double(x: Any) -> Any:
    """x in float64."""
    return x.double() if is_tensor(x) else np.asarray(x, np.float64)


def tensor_like(x: NDArray[Any], other: Any, dtype: Any = None) -> Any:
    """A NumPy array as a tensor on the device of another, in its own type unless another is given."""
    x = np.ascontiguousarray(x)
    if not x.flags.writeable:  # torch warns of those
        x = x.copy()
    return namespace(other).as_tensor(x, device=other.device).to(dtype)
