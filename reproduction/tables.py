"""Ours against the chapter's: means and standard errors, what a difference is worth, and tables of Markdown.

The rule of all verdicts. The chapter prints figures without error bars. A figure of the chapter is taken for a mean of
n' runs that spread as ours do, with n' the number of runs it states, or ours, n, where it states none, and it is known
to half a unit of its last digit, u. With s the standard error of our mean, a difference between them has the standard
error s sqrt(1 + n / n'), and the two agree where it is at most t of those plus u; t is Student's for 95% and n runs, a
little more than 2. A claim holds where what should be positive is so by more than t standard errors, does not hold
where it is negative by as many, and is open between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from medianmap.explore.refits import standard_error


def far(n: int) -> float:
    """How many standard errors of n runs are 95%: 12.7 for 2 runs, 2.26 for 10, 1.98 for 100."""
    return float(student.ppf(0.975, n - 1))


@dataclass(frozen=True)
class Figure:
    """One figure: our mean over n runs and its standard error, and what the chapter prints, if it does.

    chapter_runs : of the chapter's mean; None where it does not say. beside : the same by our default, as a cell.
    """

    part: str
    what: str
    ours: float
    error: float
    n: int
    chapter: str | None = None
    digits: int = 3
    chapter_runs: int | None = None
    beside: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the chapter's."""
        return None if self.chapter is None else self.ours - float(self.chapter)

    @property
    def error_of_difference(self) -> float:
        """Standard error of the difference; 0 where a single run gives none."""
        return self.error * float(np.sqrt(1 + self.n / (self.chapter_runs or self.n)))

    @property
    def verdict(self) -> str:
        """Whether the two agree; nothing where the chapter has no figure or ours has no error bar."""
        if self.chapter is None or self.difference is None or self.n < 2:
            return ""
        unit = 0.5 * 10.0 ** -len(self.chapter.partition(".")[2])
        if abs(self.difference) <= far(self.n) * self.error_of_difference + unit:
            return "agrees"
        return "**above**" if self.difference > 0 else "**below**"

    def as_record(self) -> dict[str, Any]:
        return {**asdict(self), "difference": self.difference, "verdict": self.verdict.strip("*")}

    def cells(self) -> tuple[str, ...]:
        """What, ours ± standard error, runs, the chapter's, the difference ± its standard error, the verdict."""
        difference = ""
        if self.difference is not None:
            difference = signed(self.difference, self.error_of_difference, self.n, self.digits)
        ours = plus_minus(self.ours, self.error, self.n, self.digits)
        return self.what, ours, str(self.n), self.chapter or "", difference, self.verdict


HEAD = ("", "ours", "runs", "chapter", "difference", "")


@dataclass(frozen=True)
class Claim:
    """Something that the chapter says, what was measured, and what that says of it."""

    part: str
    what: str
    measured: str
    verdict: str

    @property
    def holds(self) -> bool:
        return self.verdict == HOLDS


HOLDS, FAILS, OPEN = "holds", "**does not hold**", "open"


def claim(part: str, what: str, values: NDArray[np.float64], digits: int = 4) -> list[Claim]:
    """The claim that the values (n_runs,) are positive in the mean; none where there are fewer than two."""
    if len(values) < 2:
        return []
    return [Claim(part, what, as_signed(values, digits), sign(values))]


def sign(values: NDArray[np.float64]) -> str:
    """What the values (n_runs,), two or more, say of the claim that they are positive in the mean."""
    return verdict(float(values.mean()), float(standard_error(values)), len(values))


def verdict(mean: float, error: float, n: int) -> str:
    """The same from the mean of n runs and its standard error."""
    return HOLDS if mean > far(n) * error else FAILS if mean < -far(n) * error else OPEN


def figure(
    part: str,
    what: str,
    values: NDArray[np.float64],
    chapter: str | None = None,
    digits: int = 3,
    chapter_runs: int | None = None,
    beside: NDArray[np.float64] | None = None,
) -> list[Figure]:
    """The figure of the values (n_runs,), as a list that is empty where nothing was run."""
    if len(values) == 0:
        return []
    mean, error = float(values.mean()), float(standard_error(values))
    other = "" if beside is None else as_mean(beside, digits)
    return [Figure(part, what, mean, error, len(values), chapter, digits, chapter_runs, other)]


def plus_minus(mean: float, error: float, n: int, digits: int = 3) -> str:
    """'0.953 ± 0.001'; of a single run the number alone."""
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if n > 1 else f"{mean:.{digits}f}"


def signed(mean: float, error: float, n: int, digits: int = 3) -> str:
    """'+0.003 ± 0.001'."""
    return ("+" if mean >= 0 else "") + plus_minus(mean, error, n, digits)


def as_mean(values: NDArray[np.float64], digits: int = 3) -> str:
    """'0.953 ± 0.001' from the values (n_runs,); a dash for none."""
    return plus_minus(float(values.mean()), float(standard_error(values)), len(values), digits) if len(values) else "–"


def as_signed(values: NDArray[np.float64], digits: int = 3) -> str:
    """The same of differences, with their sign."""
    return signed(float(values.mean()), float(standard_error(values)), len(values), digits) if len(values) else "–"


def paired(ours: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_runs,) differences run by run; empty where one of the two is not complete."""
    return ours - others if len(ours) == len(others) else np.zeros(0)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; none where there are no rows."""
    body = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", "|" + " --- |" * len(head), *body, ""] if body else []


def figure_table(figures: Iterable[Figure]) -> list[str]:
    """Lines of the table of these figures."""
    return markdown(HEAD, (one.cells() for one in figures))
