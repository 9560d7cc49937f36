"""The settings of a fit, checked before anything is read, and the map that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..estimators.base import BaseMap

MAPS = ("som", "gas", "kmeans")
INITS = ("random", "k-medoids++", "embedding")
# As the maps know them, which are not imported where help is asked for.
ANNEALINGS = ("auto", "median", "relational")
NEIGHBORHOODS = ("exponential", "gaussian")
REFINEMENTS = ("none", "swap")
MOST_SEED = 2**32 - 1
SIGMA_END = 0.01


@dataclass(frozen=True)
class FitSettings:
    """What to fit and how; None leaves the choice to the data or to the map.

    input : path of the data, "-" for standard input.
    map : "som", "gas" or "kmeans", with median prototypes.
    grid, k : (rows, columns) of a SOM; number of prototypes of the others. By default about 5 sqrt(N) in all.
    metric, params : how objects are compared, and its parameters; a file of dissimilarities has none.
    read : options of `medianmap.readers.read`.
    labels : a file of ids and labels, a column of a table, or "header" (see docs/fit.md).
    beta : below 1 the labels guide the map (`PrototypeClassifier`); None leaves them out of training.
    patch : points of a patch, for one pass in patches (`PatchClusterer`); None takes all pairs.
    epochs, sigma_start, sigma_end, neighborhood, init, n_init, annealing, seed, threads : as the map has them.
    refine : "swap" or "none", the map's None.
    """

    input: str
    map: str = "som"
    grid: tuple[int, int] | None = None
    k: int | None = None
    metric: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    read: Mapping[str, Any] = field(default_factory=dict)
    labels: str | None = None
    beta: float | None = None
    patch: int | None = None
    epochs: int | None = None
    sigma_start: float | None = None
    sigma_end: float | None = None
    neighborhood: str | None = None
    init: str = "random"
    n_init: int = 1
    annealing: str = "auto"
    refine: str = "none"
    seed: int = 0
    threads: int | None = None

    @property
    def n_prototypes(self) -> int | None:
        return self.k if self.grid is None else self.grid[0] * self.grid[1]


def parse_grid(text: str) -> tuple[int, int]:
    """'6x8' -> (6, 8)."""
    sides = text.lower().split("x")
    if len(sides) != 2 or not all(side.isdecimal() and int(side) > 0 for side in sides):
        raise ValueError(f"--grid {text!r} is not ROWSxCOLUMNS, for example 6x8.")
    return int(sides[0]), int(sides[1])


def grid_text(grid: tuple[int, int]) -> str:
    """(6, 8) -> '6x8'."""
    return f"{grid[0]}x{grid[1]}"


def check_settings(settings: FitSettings) -> None:
    """ValueError in one sentence for settings that cannot be, whatever the data."""
    from ..metrics.registry import bind
    from ..utils.checks import check_beta, check_choice, check_count, check_n_jobs, check_positive

    check_choice(settings.map, "--map", MAPS)
    check_choice(settings.init, "--init", INITS)
    if settings.init == "embedding" and settings.map != "som":
        raise ValueError("--init embedding lays data out on the grid of a SOM; choose another --init, or --map som.")
    check_choice(settings.annealing, "--annealing", ANNEALINGS)
    check_choice(settings.refine, "--refine", REFINEMENTS)
    if settings.neighborhood is not None:
        check_choice(settings.neighborhood, "--neighborhood", NEIGHBORHOODS)
    if settings.grid is not None and settings.k is not None:
        raise ValueError("Both --grid and -k are given; --grid is for --map som, -k for --map gas and kmeans.")
    if settings.map == "som" and settings.k is not None:
        raise ValueError("-k goes with --map gas and kmeans; the neurons of a SOM are given as --grid ROWSxCOLUMNS.")
    if settings.map != "som" and settings.grid is not None:
        raise ValueError(f"--grid goes with --map som; the prototypes of --map {settings.map} are given as -k NUMBER.")
    for name, value in (("-k", settings.k), ("--patch", settings.patch), ("--epochs", settings.epochs)):
        if value is not None:
            check_count(value, name)
    check_count(settings.n_init, "--n-init")
    if check_count(settings.seed, "--seed", at_least=0) > MOST_SEED:
        raise ValueError(f"--seed is {settings.seed}; it must be at most {MOST_SEED}.")
    widths = {"--sigma-start": settings.sigma_start, "--sigma-end": settings.sigma_end}
    for name, sigma in widths.items():
        if sigma is not None:
            check_positive(sigma, name)
    if settings.sigma_start is not None and settings.sigma_start < (settings.sigma_end or SIGMA_END):
        raise ValueError(
            f"--sigma-start {settings.sigma_start:g} is below --sigma-end {settings.sigma_end or SIGMA_END:g}; "
            "the neighbourhood shrinks in training, so start with the larger."
        )
    check_neighborhood_fits(settings.map, {**widths, "--neighborhood": settings.neighborhood})
    if settings.beta is not None:
        check_beta(settings.beta)
        if settings.labels is None:
            raise ValueError("--beta lets labels guide the map, but there are none; give --labels, or drop --beta.")
        if settings.beta < 1 and settings.refine != "none" and settings.map == "som":
            raise ValueError(f"--refine {settings.refine} of a SOM knows nothing of labels; drop it, or --beta.")
    check_n_jobs(settings.threads)
    if settings.metric not in (None, "precomputed"):
        bind(settings.metric, settings.params)
    elif settings.metric == "precomputed" and settings.params:
        raise ValueError("--param is given, but dissimilarities that are there already have no parameters; drop it.")


def check_neighborhood_fits(kind: str, given: Mapping[str, Any]) -> None:
    """ValueError for an option of the neighbourhood, by its name, where the map has none."""
    name = next((name for name, value in given.items() if value is not None), None)
    if kind == "kmeans" and name is not None:
        raise ValueError(f"{name} means nothing to --map kmeans, which has no neighbourhood; drop it.")


def sized(settings: FitSettings, n: int, name: str) -> FitSettings:
    """The settings with a number of prototypes that suits n points of the file `name`; ValueError for too many."""
    if settings.n_prototypes is None:
        K = max(1, min(round(5 * sqrt(n)), n // 4))
        if settings.map != "som":
            return replace(settings, k=K)
        rows = max(1, round(sqrt(0.8 * K)))
        return replace(settings, grid=(rows, max(1, K // rows)))
    K = settings.n_prototypes
    if n < K:
        asked = f"-k {K}" if settings.grid is None else f"--grid {grid_text(settings.grid)} has {K} neurons, which"
        raise ValueError(f"{asked} exceeds the {n} objects of {name}; ask for at most one prototype an object.")
    if settings.patch is not None and settings.patch < K:
        raise ValueError(f"--patch {settings.patch} is less than the {K} prototypes; choose several times as many.")
    return settings


def completed(settings: FitSettings, metric: str) -> FitSettings:
    """The settings with everything said that has a default."""
    kmeans = settings.map == "kmeans"
    return replace(
        settings,
        metric=metric,
        epochs=(300 if kmeans else 100) if settings.epochs is None else settings.epochs,
        sigma_end=SIGMA_END if settings.sigma_end is None and not kmeans else settings.sigma_end,
        neighborhood=NEIGHBORHOODS[0] if settings.neighborhood is None and not kmeans else settings.neighborhood,
    )


def make_map(
    kind: str,
    grid: tuple[int, int] | None,
    k: int | None,
    *,
    epochs: int | None = None,
    refine: str | None = None,
    **options: Any,
) -> BaseMap:
    """The median map of that kind, not fitted; options of None are left to it."""
    from ..estimators.median import MedianKMeans, MedianNeuralGas, MedianSOM

    given = {name: value for name, value in options.items() if value is not None}
    given["refine"] = None if refine == "none" else refine
    if epochs is not None:
        given["max_iter" if kind == "kmeans" else "n_epochs"] = epochs
    if kind == "som":
        assert grid is not None
        return MedianSOM(grid, **given)
    assert k is not None
    return (MedianNeuralGas if kind == "gas" else MedianKMeans)(k, **given)
