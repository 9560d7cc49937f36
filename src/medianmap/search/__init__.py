"""Weights and a source -> prototypes. One file a strategy; all return the canonical answer, so the choice is speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..sources.base import Source
from .blocksum import blocksum
from .bound_all import bound_all
from .bound_all_stop import bound_all_stop
from .bound_self import bound_self
from .certified import certified
from .frame import Finder, Search
from .gemm import gemm
from .standard import standard
from .stop import stop
from .stop_candidates import stop_candidates
from .stop_coarse import stop_coarse
from .stop_fine import stop_fine
from .weights import FieldWeights, RankWeights, Weights


@dataclass(frozen=True)
class Strategy:
    """How to make a search over a source, and the weights that it can use."""

    make: Callable[[Source, int | None], Search]
    takes: tuple[type[Weights], ...]


ANY = (FieldWeights, RankWeights)
FIELDS = (FieldWeights,)  # K-means, SOM
RANKS = (RankWeights,)  # neural gas

STRATEGIES: dict[str, Strategy] = {
    "standard": Strategy(standard, ANY),
    "blocksum": Strategy(blocksum, FIELDS),
    "bound-self": Strategy(bound_self, FIELDS),
    "bound-all": Strategy(bound_all, FIELDS),
    "bound-all-stop": Strategy(bound_all_stop, FIELDS),
    "stop": Strategy(stop, RANKS),
    "stop-candidates": Strategy(stop_candidates, RANKS),
    "stop-fine": Strategy(stop_fine, RANKS),
    "stop-coarse": Strategy(stop_coarse, RANKS),
    "gemm": Strategy(gemm, ANY),
    "certified": Strategy(certified, ANY),
}

CHOICES = ("auto", *STRATEGIES)


def fitting(weights: type[Weights]) -> list[str]:
    """Names of the strategies for maps with such weights."""
    return [name for name, strategy in STRATEGIES.items() if weights in strategy.takes]


def check_search_fits(name: str, weights: type[Weights], map_name: str) -> None:
    """ValueError if the strategy cannot use the weights of this map."""
    fits = ["auto", *fitting(weights)]
    if name not in fits:
        raise ValueError(f"search={name!r} does not fit {map_name}; choose one of {', '.join(map(repr, fits))}.")


def make_search(name: str, source: Source, n_jobs: int | None = None) -> Search:
    """The search of that name over a source."""
    return STRATEGIES["certified" if name == "auto" else name].make(source, n_jobs)


__all__ = ["CHOICES", "STRATEGIES", "Finder", "Search", "Strategy", "fitting", "make_search"]
