"""The demonstration behind `medianmap demo`: what `medianmap fit` does, on the globins that come with the library."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ..datasets import load_globins
from .data import Given
from .folder import workshop
from .run import FitResult, about_data, fit_given
from .settings import FitSettings, check_settings
from .watch import Watch

METRIC = "alignment"
FILE = Path(str(files("medianmap.datasets") / "globins.fasta"))


def run_demo(
    out: Path,
    grid: tuple[int, int],
    seed: int,
    watch: Watch | None = None,
    *,
    threads: int | None = None,
    force: bool = False,
) -> FitResult:
    """Fit a median SOM of 630 globins, and write what a fit writes."""
    globins = load_globins()
    settings = FitSettings(str(FILE), grid=grid, metric=METRIC, labels="header", seed=seed, threads=threads)
    check_settings(settings)
    given = Given(FILE.name, list(globins.ids), "strings", list(globins.sequences), sequences=True,
                  descriptions=list(globins.families), labels=list(globins.families))  # fmt: skip
    with workshop(out, force) as shop:
        data = about_data(settings.input, given)
        return fit_given(settings, given, data, shop, report=True, gzip=False, watch=watch or Watch())
