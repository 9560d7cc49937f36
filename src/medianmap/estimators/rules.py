"""The half of a map that does not depend on the kind of prototype: K-means, neural gas or SOM, and its annealing."""

from __future__ import annotations

import numpy as np

from ..core.assignment import Assignment, OnLattice, Rank, Winner
from ..core.neighborhood import NEIGHBORHOODS, Lattice, geometric, make_lattice
from ..search.weights import FieldWeights, RankWeights
from ..utils.checks import check_choice, check_count, check_flag, check_positive
from .base import BaseMap, Rule

# After annealing, neural gas and SOM go on at sigma_end until nothing moves; this bounds the wait.
MAX_SETTLING = 300


class KMeansRule(BaseMap):
    n_clusters: int
    max_iter: int
    n_epochs: int | None
    _gives = FieldWeights

    def _size(self) -> tuple[int, str]:
        return check_count(self.n_clusters, "n_clusters"), "n_clusters"

    def _rule(self, K: int) -> Rule:
        epochs = check_count(self.max_iter, "max_iter")
        if self.n_epochs is not None:
            epochs = check_count(self.n_epochs, "n_epochs")
        # Winner-take-all is the limit sigma -> 0: one epoch at 0, and on until nothing moves.
        return Rule(Winner(), np.zeros(1), sigma_end=0.0, max_settling=epochs - 1)

    def _warm_sigma(self, K: int) -> float:
        return 0.0


class AnnealedRule(BaseMap):
    n_epochs: int
    sigma_start: float | None
    sigma_end: float
    neighborhood: str

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.neighborhood, "neighborhood", NEIGHBORHOODS)

    def _annealed(self, assignment: Assignment, default_start: float, lattice: Lattice | None = None) -> Rule:
        n_epochs = check_count(self.n_epochs, "n_epochs")
        end = check_positive(self.sigma_end, "sigma_end")
        start = max(default_start, end) if self.sigma_start is None else check_positive(self.sigma_start, "sigma_start")
        if start < end:
            raise ValueError(f"sigma_start = {start:g} is below sigma_end = {end:g}; sigma falls during training.")
        return Rule(assignment, geometric(start, end, n_epochs), end, MAX_SETTLING, lattice)


class NeuralGasRule(AnnealedRule):
    n_clusters: int
    _gives = RankWeights

    def _size(self) -> tuple[int, str]:
        return check_count(self.n_clusters, "n_clusters"), "n_clusters"

    def _rule(self, K: int) -> Rule:
        return self._annealed(Rank(self.neighborhood), default_start=K / 2)

    def _warm_sigma(self, K: int) -> float:
        return max(1.0, K / 15)  # lower values end in worse maps, higher ones need more epochs


class SOMRule(AnnealedRule):
    grid: tuple[int, int]
    lattice: str
    periodic: bool
    _gives = FieldWeights
    _on_lattice = True

    def _size(self) -> tuple[int, str]:
        if not isinstance(self.grid, tuple | list) or len(self.grid) != 2:
            raise ValueError(f"grid is {self.grid!r}; it must be a pair (rows, columns).")
        rows, cols = (check_count(side, f"grid[{axis}]") for axis, side in enumerate(self.grid))
        return rows * cols, "the number of neurons"

    def _rule(self, K: int) -> Rule:
        check_choice(self.lattice, "lattice", ("hexagonal", "rectangular"))
        rows, cols = (int(side) for side in self.grid)
        lattice = make_lattice((rows, cols), self.lattice, check_flag(self.periodic, "periodic"))
        return self._annealed(OnLattice(lattice, self.neighborhood), lattice.diameter / 2, lattice)

    def _warm_sigma(self, K: int) -> float:
        return 0.5  # from higher sigma a short annealing ends in worse maps than it began with
