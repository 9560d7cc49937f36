"""How a fit tells where it is; whoever shows it decides how."""

from __future__ import annotations


class Watch:
    """Told of stages, notes and warnings; this one keeps silent."""

    def tell(self, sentence: str) -> None:
        """One sentence for the user: what was chosen for them, or what looks wrong."""

    def progress(self, stage: str, done: int, total: int | None) -> None:
        """`done` of `total` steps of a stage are over; total is None where it is not known."""
