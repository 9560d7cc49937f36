"""Weights and a source -> prototypes. One file a strategy; all return the canonical answer, so the choice is speed."""

from __future__ import annotations

from .frame import Finder, Strategy
from .gemm import gemm
from .standard import standard

STRATEGIES: dict[str, Strategy] = {"standard": standard, "gemm": gemm}

# "auto" is the fastest exact strategy; the product through BLAS wins at every size measured (benchmarks/search.py).
CHOICES = ("auto", *STRATEGIES)


def strategy(name: str) -> Strategy:
    """The strategy of that name."""
    return STRATEGIES["gemm" if name == "auto" else name]


__all__ = ["CHOICES", "STRATEGIES", "Finder", "Strategy", "strategy"]
