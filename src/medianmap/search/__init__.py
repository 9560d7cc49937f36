"""The search for prototypes: the table of strategies by name. All return the same prototypes; they differ in speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..sources.base import Source
from .blocksum import blocksum
from .bounds import BoundAll, BoundAllStop, BoundSelf, bounded_by
from .certified import certified
from .exhaustive import gemm, standard
from .frame import FieldWeights, Finder, RankWeights, Search, SoftWeights, Weights
from .stops import Stop, StopCandidates, StopCoarse, StopFine, stopped_by


@dataclass(frozen=True)
class Strategy:
    """How to make a search over a source, and the weights that it can use."""

    make: Callable[[Source, int | None], Search]
    takes: tuple[type[Weights], ...]


ANY = (FieldWeights, RankWeights, SoftWeights)  # soft ones are those at a temperature
FIELDS = (FieldWeights,)  # K-means, SOM
RANKS = (RankWeights,)  # neural gas

STRATEGIES: dict[str, Strategy] = {
    "standard": Strategy(standard, ANY),
    "blocksum": Strategy(blocksum, FIELDS),
    "bound-self": Strategy(bounded_by(BoundSelf), FIELDS),
    "bound-all": Strategy(bounded_by(BoundAll), FIELDS),
    "bound-all-stop": Strategy(bounded_by(BoundAllStop), FIELDS),
    "stop": Strategy(stopped_by(Stop), RANKS),
    "stop-candidates": Strategy(stopped_by(StopCandidates), RANKS),
    "stop-fine": Strategy(stopped_by(StopFine), RANKS),
    "stop-coarse": Strategy(stopped_by(StopCoarse), RANKS),
    "gemm": Strategy(gemm, ANY),
    "certified": Strategy(certified, ANY),
}

CHOICES = ("auto", *STRATEGIES)


def strategies_for(weights: type[Weights]) -> list[str]:
    """Names of the strategies that can use such weights."""
    return [name for name, strategy in STRATEGIES.items() if weights in strategy.takes]


def check_search_fits(name: str, weights: type[Weights], map_name: str) -> None:
    """ValueError if the strategy cannot use the weights of this map."""
    fits = ["auto", *strategies_for(weights)]
    if name not in fits:
        raise ValueError(f"search={name!r} does not fit {map_name}; choose one of {', '.join(map(repr, fits))}.")


def make_search(name: str, source: Source, n_jobs: int | None = None) -> Search:
    """The search of that name over a source."""
    return STRATEGIES["certified" if name == "auto" else name].make(source, n_jobs)


__all__ = ["CHOICES", "STRATEGIES", "Finder", "Search", "Strategy", "make_search", "strategies_for"]
