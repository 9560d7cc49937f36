"""What a check leaves: findings with a level, a sentence for people and numbers for programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Level: TypeAlias = Literal["ok", "note", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One property of a matrix.

    level : "ok"; "note", legal and worth knowing; "warning", legal but hardly meant; "error", no map can use it.
    value : numbers, text and None in plain dictionaries and lists, as JSON holds them.
    """

    name: str
    level: Level
    sentence: str
    value: dict[str, Any]


@dataclass(frozen=True)
class Health:
    """The verdict on a table of dissimilarities (N, N); `print` it, or take `as_dict()`."""

    n_points: int
    dtype: str
    seed: int
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether a map can be fitted: nothing was found at the level "error"."""
        return all(finding.level != "error" for finding in self.findings)

    def __getitem__(self, name: str) -> Finding:
        """The finding of that name; KeyError where nothing was found out about it."""
        return {finding.name: finding for finding in self.findings}[name]

    def as_dict(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "ok": self.ok,
            "n_points": self.n_points,
            "dtype": self.dtype,
            "seed": self.seed,
            "findings": [asdict(finding) for finding in self.findings],
        }

    def __str__(self) -> str:
        counts = Counter(finding.level for finding in self.findings)
        told = [_counted(counts[level], level) for level in ("error", "warning", "note") if counts[level]]
        verdict = ("usable" if self.ok else "NOT usable") + (f": {', '.join(told)}" if told else ", nothing to remark")
        lines = [f"{self.n_points} x {self.n_points} {self.dtype} is {verdict}."]
        width = max(len(finding.name) for finding in self.findings)
        lines += [f"  {f.level:<7}  {f.name:<{width}}  {f.sentence}" for f in self.findings]
        return "\n".join(lines)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}" + ("s" if n > 1 else "")
