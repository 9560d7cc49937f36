"""Ours against the chapter's: means and standard errors as cells, rows and tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medianmap.explore.refits import standard_error


@dataclass(frozen=True)
class Figure:
    """One figure: our mean over n runs and its standard error, and what the chapter reports, if it does."""

    part: str
    what: str
    ours: float
    error: float
    n: int
    chapter: float | None = None
    digits: int = 3

    @property
    def difference(self) -> float | None:
        """Ours minus the chapter's."""
        return None if self.chapter is None else self.ours - self.chapter

    def as_record(self) -> dict[str, Any]:
        return {**asdict(self), "difference": self.difference}

    def cells(self) -> tuple[str, ...]:
        """What, ours ± standard error, runs, the chapter's, the difference."""
        chapter = "" if self.chapter is None else f"{self.chapter:.{self.digits}f}"
        difference = "" if self.difference is None else f"{self.difference:+.{self.digits}f}"
        return self.what, plus_minus(self.ours, self.error, self.n, self.digits), str(self.n), chapter, difference


@dataclass(frozen=True)
class Claim:
    """Something that should hold, and what was measured."""

    part: str
    what: str
    measured: str
    holds: bool


HEAD = ("", "ours", "runs", "chapter", "difference")


def figure(
    part: str, what: str, values: NDArray[np.float64], chapter: float | None = None, digits: int = 3
) -> list[Figure]:
    """The figure of the values (n_runs,), as a list that is empty where nothing was run."""
    if len(values) == 0:
        return []
    return [Figure(part, what, float(values.mean()), float(standard_error(values)), len(values), chapter, digits)]


def plus_minus(mean: float, error: float, n: int, digits: int = 3) -> str:
    """'0.953 ± 0.001'; of a single run the number alone."""
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if n > 1 else f"{mean:.{digits}f}"


def as_mean(values: NDArray[np.float64], digits: int = 3) -> str:
    """The same from the values (n_runs,); a dash for none."""
    return plus_minus(float(values.mean()), float(standard_error(values)), len(values), digits) if len(values) else "–"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; none where there are no rows."""
    body = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", "|" + " --- |" * len(head), *body, ""] if body else []


def figure_table(figures: Iterable[Figure]) -> list[str]:
    """Lines of the table of these figures."""
    return markdown(HEAD, (one.cells() for one in figures))


def above(part: str, what: str, values: NDArray[np.float64], least: float) -> list[Claim]:
    """The claim that the mean of the values is `least` or more; none where nothing was run."""
    if len(values) == 0:
        return []
    return [Claim(part, f"{what} is {least:g} or more", as_mean(values, 4), bool(values.mean() >= least))]


def agrees(ours: float, chapter: float, error: float, slack: float) -> str:
    """How two figures compare, in words: within `slack`, within two standard errors, or apart."""
    difference = ours - chapter
    if abs(difference) <= slack:
        return f"agrees with the chapter within {slack:g}"
    side = "above" if difference > 0 else "below"
    near = "; that is within two of our standard errors" if abs(difference) <= 2 * error else ""
    return f"is {abs(difference):.3f} {side} the chapter's{near}"
