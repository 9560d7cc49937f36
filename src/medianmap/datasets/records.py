"""What the loaders and simulators return, and what they share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Vectors:
    """X (N, M) vectors, y (N,) classes 0 .. C-1 and their names."""

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    class_names: list[str]


@dataclass(frozen=True)
class Sequences:
    """N strings with their ids and the names of the families (classes) that they belong to."""

    sequences: list[str]
    ids: list[str]
    families: list[str]

    @cached_property
    def class_names(self) -> list[str]:
        """The families, each once, in order of first appearance."""
        return list(dict.fromkeys(self.families))

    @cached_property
    def y(self) -> NDArray[np.intp]:
        """(N,) the families as numbers: places in class_names."""
        code = {name: k for k, name in enumerate(self.class_names)}
        return np.array([code[family] for family in self.families], np.intp)


def random_generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a generator (as it is) or None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(f"random_state is {random_state!r}; it must be a seed >= 0 or a numpy Generator.") from None


def check_not_negative(value: Any, name: str) -> float:
    """A finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} is {value!r}; it must be a number >= 0.")
    return float(value)
