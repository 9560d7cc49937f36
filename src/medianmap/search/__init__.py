"""Weights and a source -> prototypes. One file a strategy; all return the canonical answer, so the choice is speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..sources.base import Source
from ..weights import FieldWeights, RankWeights, Weights
from .frame import Finder, Search
from .gemm import gemm
from .standard import standard


@dataclass(frozen=True)
class Strategy:
    """How to make a search over a source, and the weights that it can use."""

    make: Callable[[Source, int | None], Search]
    takes: tuple[type[Weights], ...]


ANY = (FieldWeights, RankWeights)

STRATEGIES: dict[str, Strategy] = {
    "standard": Strategy(standard, ANY),
    "gemm": Strategy(gemm, ANY),
}

CHOICES = ("auto", *STRATEGIES)


def fitting(weights: type[Weights]) -> list[str]:
    """Names of the strategies for maps with such weights."""
    return [name for name, strategy in STRATEGIES.items() if weights in strategy.takes]


def make_search(name: str, source: Source, n_jobs: int | None = None) -> Search:
    """The search of that name over a source."""
    return STRATEGIES["gemm" if name == "auto" else name].make(source, n_jobs)


__all__ = ["CHOICES", "STRATEGIES", "Finder", "Search", "Strategy", "fitting", "make_search"]
