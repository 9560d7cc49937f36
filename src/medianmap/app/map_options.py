"""How a map is trained: the options that `fit` and `patches` share."""

from __future__ import annotations

import click

from .options import Command
from .settings import ANNEALINGS, NEIGHBORHOODS, REFINEMENTS

_neighborhood = click.option(
    "--neighborhood",
    type=click.Choice(NEIGHBORHOODS),
    help="How weights fall with rank or distance on the grid; exponential by default.",
)
_annealing = click.option(
    "--annealing",
    type=click.Choice(ANNEALINGS),
    help="Anneal combinations of the data (auto, relational), or data points all the way (median); auto by default.",
)
_refine = click.option(
    "--refine",
    type=click.Choice(REFINEMENTS),
    help="swap: at last exchange exemplars as long as the map gets better; none by default.",
)


def trained(command: Command) -> Command:
    """Options --neighborhood, --annealing and --refine, None where they are not given."""
    return _neighborhood(_annealing(_refine(command)))
