"""The experiments by name: what each needs, how it runs, and what the page says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from . import (
    breast_cancer,
    chromosomes,
    chromosomes_page,
    iris,
    left_out,
    patches,
    proteins,
    speed,
    starts,
    study,
    truncated,
)
from .plan import Plan, Task
from .runs import Runs
from .tables import Claim, Figure

Stage = Callable[[Plan, Runs], list[Task]]
Lines = Callable[[Runs], list[str]]


@dataclass(frozen=True)
class Part:
    """needs : files of the user's folder. stages : in turn, each sees the runs of those before it. more : tables
    after the sentences. listed : whether the figures have a table of their own before those."""

    title: str
    stages: tuple[Stage, ...]
    figures: Callable[[Runs], list[Figure]]
    claims: Callable[[Runs], list[Claim]]
    sentences: Lines
    needs: tuple[str, ...] = ()
    more: Lines = lambda runs: []
    listed: bool = True


def _beta_curves(name: str, stage: Stage, needs: tuple[str, ...]) -> Part:
    """Accuracy against beta, which the page shows in the same way for both sets of proteins."""
    return Part(
        name.capitalize(),
        (stage,),
        partial(proteins.figures_of, name),
        partial(proteins.claims_of, name),
        partial(proteins.sentences_of, name),
        needs,
        proteins.curve_table,
    )


PARTS = {
    "iris": Part("Iris", (iris.stage,), iris.figures, iris.claims, iris.sentences),
    "breast-cancer": Part(
        "Wisconsin breast cancer",
        (breast_cancer.stage,),
        breast_cancer.figures,
        breast_cancer.claims,
        breast_cancer.sentences,
    ),
    "patches": Part(
        "Breast cancer in patches",
        (patches.stage,),
        patches.figures,
        patches.claims,
        patches.sentences,
        more=patches.loss_table,
    ),
    "chromosomes": Part(
        "Chromosomes",
        (chromosomes.halves_stage, chromosomes.tenfold_stage, left_out.stage, study.stage),
        chromosomes_page.figures,
        chromosomes_page.claims,
        chromosomes_page.sentences,
        ("chromosomes.csv",),
        lambda runs: [*left_out.lines(runs), *chromosomes_page.directions(runs), *study.lines(runs)],
    ),
    "proteins": _beta_curves("proteins", proteins.protein_stage, ("proteins/D.csv", "proteins/labels.csv")),
    "globins": _beta_curves("globins", proteins.globin_stage, ()),
    "starts": Part(
        "Sensitivity to the start",
        (starts.stage,),
        starts.figures,
        starts.claims,
        starts.sentences,
        more=starts.table,
        listed=False,
    ),
    "truncated": Part(
        "Truncated neighbourhoods",
        (truncated.stage,),
        truncated.figures,
        truncated.claims,
        truncated.sentences,
        more=truncated.table,
        listed=False,
    ),
    "speed": Part(
        "Speed", (speed.stage,), speed.figures, speed.claims, speed.sentences, more=speed.table, listed=False
    ),
}
