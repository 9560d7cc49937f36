"""The settings of a fit in one table: the option (`--grid`, `-k`, `--metric` ...), its type, the map's parameter.

A row of the table is a field of `FitSettings`: its name is the key in config.toml, its annotation the type there and on
the command line, and `setting(...)` says the rest. `fit_options` makes the options of `medianmap fit` from it, `option`
the same option for another command, `config.py` reads and writes config.toml by it, and `make_map` builds the map.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import click

from ..estimators.parameters import (
    ANNEALINGS,
    INITS,
    NEIGHBORHOODS,
    AnnealedParameters,
    KMeansParameters,
    MedianParameters,
)

if TYPE_CHECKING:
    from ..estimators.base import BaseMap
    from .terminal import Command

# Types of settings that are not Python's own; the others are "str", "int", "float" and "bool".
GRID, TABLE = "tuple[int, int]", "Mapping[str, Any]"

MAPS = ("som", "gas", "kmeans")
MOST_SEED = 2**32 - 1
# Beyond so many objects, whose pairs fill 3 GB, a fit takes one pass over patches unless it is told otherwise.
MOST_ALL_PAIRS = 20_000
USUAL_PATCH = 1000
SIGMA_END = AnnealedParameters.sigma_end


@dataclass(frozen=True)
class Setting:
    """One row of the table, less its name, type and default, which the field of `FitSettings` has.

    help : of the option.
    option : how it is typed; by default the name after two dashes.
    choices : values it can take. at_least, at_most : limits of a whole number.
    metavar : what stands for its value in the help.
    sets : the parameter of the maps that it sets; of two, the first that the map has.
    """

    help: str
    option: str = ""
    choices: tuple[str, ...] = ()
    at_least: int | None = None
    at_most: int | None = None
    metavar: str | None = None
    sets: tuple[str, ...] = ()
    name: str = ""
    type: str = ""
    default: Any = None


def setting(default: Any, help: str, **row: Any) -> Any:
    """A row of the table as a field of `FitSettings`."""
    how: dict[str, Any] = {"default_factory": dict} if default == {} else {"default": default}
    return field(**how, metadata={"row": Setting(help, **row)})


@dataclass(frozen=True)
class FitSettings:
    """What to fit and how; None leaves the choice to the data or to the map.

    input : path of the data, "-" for standard input. The others are explained by `medianmap fit --help`.
    """

    input: str
    map: str = setting("som", "Which map.", choices=MAPS)
    grid: tuple[int, int] | None = setting(
        None, "Neurons of a SOM, for example 10x10; by default about 5 sqrt(N) of N objects.",
        metavar="ROWSxCOLUMNS", sets=("grid",),
    )  # fmt: skip
    k: int | None = setting(
        None, "Prototypes of --map gas or kmeans; by default about 5 sqrt(N) of N objects.",
        option="-k", at_least=1, sets=("n_clusters",),
    )  # fmt: skip
    metric: str | None = setting(
        None, "How two objects are compared (see medianmap metrics); by default alignment for proteins, edit for other "
        "strings, euclidean for vectors, dtw for series.", metavar="NAME", sets=("metric",),
    )  # fmt: skip
    params: Mapping[str, Any] = setting(
        {}, "A parameter of the metric, for example indel=2; may be repeated.",
        option="--param", metavar="NAME=VALUE", sets=("metric_params",),
    )  # fmt: skip
    read: Mapping[str, Any] = setting(
        {}, "How to read the file, as in medianmap.readers.read: format=pairs, kind=matrix, missing=max, "
        "similarity=1-s ...; may be repeated.", metavar="NAME=VALUE",
    )  # fmt: skip
    labels: str | None = setting(
        None, "A file of ids and labels; a column of a table INPUT; of sequences header (the word after the id), "
        "header:2 (the second) or header:KEY (what follows KEY=).", metavar="FILE|COLUMN",
    )  # fmt: skip
    beta: float | None = setting(None, "Let labels guide the map: 1 not at all, towards 0 they decide.")
    patch: int | None = setting(
        None, "One pass over patches of SIZE objects, for large data; 0 compares all pairs. By default all pairs of up "
        f"to {MOST_ALL_PAIRS} objects, else patches of {USUAL_PATCH}.", at_least=0, metavar="SIZE",
    )  # fmt: skip
    stream: bool = setting(
        False, "One pass that reads INPUT as a stream, in the order of the file: memory does not grow with it."
    )
    tree: bool = setting(False, "One pass that clusters patches in parallel, and then their prototypes.")
    max_evaluations: int | None = setting(
        None, "Largest number of dissimilarities that a pass may compute.", at_least=1, metavar="N"
    )
    epochs: int | None = setting(
        None, f"Epochs of training; by default {AnnealedParameters.n_epochs}, of kmeans at most "
        f"{KMeansParameters.max_iter}.", at_least=1, metavar="N", sets=("max_iter", "n_epochs"),
    )  # fmt: skip
    sigma_start: float | None = setting(
        None, "Width of the neighbourhood at the start; by default half the map.", sets=("sigma_start",)
    )
    sigma_end: float | None = setting(
        None, f"Width of the neighbourhood at the end; by default {SIGMA_END}.", sets=("sigma_end",)
    )
    neighborhood: str | None = setting(
        None, f"How weights fall with rank or with distance on the grid; by default {AnnealedParameters.neighborhood}.",
        choices=NEIGHBORHOODS, sets=("neighborhood",),
    )  # fmt: skip
    init: str = setting(MedianParameters.init, "How prototypes start.", choices=INITS, sets=("init",))
    n_init: int = setting(
        MedianParameters.n_init,
        "Number of starts, of which the best is kept.",
        at_least=1,
        metavar="N",
        sets=("n_init",),
    )
    annealing: str = setting(
        MedianParameters.annealing, "Anneal combinations of the data (auto, relational), or data points all the way "
        "(median).", choices=ANNEALINGS, sets=("annealing",),
    )  # fmt: skip
    refine: str = setting(
        "none", "swap: at the end, exchange exemplars as long as the map gets better.",
        choices=("none", "swap"), sets=("refine",),
    )  # fmt: skip
    seed: int = setting(0, "Start of the random numbers.", at_least=0, at_most=MOST_SEED, sets=("random_state",))
    threads: int | None = setting(None, "How many threads; -1 for all cores.", metavar="N")

    @property
    def n_prototypes(self) -> int | None:
        return self.k if self.grid is None else self.grid[0] * self.grid[1]


def _row(each: Any) -> Setting:
    default = each.default if isinstance(each.default, str | int | float) else None
    row = each.metadata.get("row", Setting("The file to map, or - for standard input.", "INPUT"))
    kind = str(each.type).removesuffix(" | None")
    default = None if default is False else default
    return replace(row, name=each.name, type=kind, default=default, option=row.option or _spelled(each.name))


def _spelled(name: str) -> str:
    return "--" + name.replace("_", "-")


SETTINGS = {each.name: _row(each) for each in fields(FitSettings)}


# --- the command line's options


def option(name: str, **changes: Any) -> Callable[[Command], Command]:
    """The option of a setting, which passes its value on as the argument `name`; `changes` are click's own."""
    row = SETTINGS[name]
    how: dict[str, Any] = {"help": row.help, "metavar": row.metavar, "default": row.default}
    if row.choices:
        how["type"] = click.Choice(row.choices)
    elif row.at_least is not None:
        how["type"] = click.IntRange(row.at_least, row.at_most)
    elif row.type in ("int", "float"):
        how["type"] = click.INT if row.type == "int" else click.FLOAT
    elif row.type == "bool":
        how |= {"is_flag": True, "flag_value": True}
    elif row.type == TABLE:
        how |= {"multiple": True, "callback": _parse_named}
    elif row.type == GRID:
        how["callback"] = lambda context, parameter, text: None if text is None else parse_grid(text)
    if name == "threads":
        how["callback"] = _check_threads
    if row.default is not None:
        how["show_default"] = True
    return click.option(row.option, name, **{**how, **changes})


def fit_options(command: Command) -> Command:
    """All options of the table; those that are not given are None, so that a configuration can say them."""
    for row in reversed(SETTINGS.values()):
        if row.name != "input":
            said = (
                {} if row.default is None else {"show_default": False, "help": f"{row.help}  [default: {row.default}]"}
            )
            command = option(row.name, **{"default": None, **said})(command)
    return command


def parse_grid(text: str) -> tuple[int, int]:
    """'6x8' -> (6, 8)."""
    sides = text.lower().split("x")
    if len(sides) != 2 or not all(side.isdecimal() and int(side) > 0 for side in sides):
        raise ValueError(f"--grid {text!r} is not ROWSxCOLUMNS, for example 6x8.")
    return int(sides[0]), int(sides[1])


def grid_text(grid: tuple[int, int]) -> str:
    """(6, 8) -> '6x8'."""
    return f"{grid[0]}x{grid[1]}"


def _parse_named(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """('indel=2', 'table=blosum62') -> {'indel': 2, 'table': 'blosum62'}: values are JSON where they can be."""
    parsed: dict[str, Any] = {}
    for each in given or ():
        name, equals, value = each.partition("=")
        if not (name and equals):
            example = "indel=2" if parameter.name == "params" else "kind=matrix"
            raise click.BadParameter(f"{each!r} is not NAME=VALUE, for example {example}.")
        try:
            parsed[name] = json.loads(value)
        except ValueError:
            parsed[name] = value
    return parsed


def _check_threads(context: click.Context, _: click.Parameter, n: int | None) -> int | None:
    if n is not None and (n == 0 or n < -1):
        raise click.BadParameter(f"{n} is no number of threads; give 1 or more, or -1 for all cores.")
    return n


force_option = click.option("--force", is_flag=True, help="Replace the files of an earlier run in the folder.")
gzip_option = click.option("--gzip", is_flag=True, help="Write tables and sequences as .gz.")


# --- checks, and what is chosen where nothing is said


def check_settings(settings: FitSettings) -> None:
    """ValueError in one sentence for settings that cannot be, whatever the data."""
    from ..metrics.registry import bind
    from ..utils.checks import check_beta, check_choice, check_count, check_n_jobs, check_positive

    for row in SETTINGS.values():
        value = getattr(settings, row.name)
        if value is None:
            continue
        if row.choices:
            check_choice(value, row.option, row.choices)
        if row.at_least is not None:
            check_count(value, row.option, at_least=row.at_least)
        if row.at_most is not None and value > row.at_most:
            raise ValueError(f"{row.option} is {value}; it must be at most {row.at_most}.")
        if row.name in ("sigma_start", "sigma_end"):
            check_positive(value, row.option)
    if settings.init == "embedding" and settings.map != "som":
        raise ValueError("--init embedding lays data out on the grid of a SOM; choose another --init, or --map som.")
    if settings.grid is not None and settings.k is not None:
        raise ValueError("Both --grid and -k are given; --grid is for --map som, -k for --map gas and kmeans.")
    if settings.map == "som" and settings.k is not None:
        raise ValueError("-k goes with --map gas and kmeans; the neurons of a SOM are given as --grid ROWSxCOLUMNS.")
    if settings.map != "som" and settings.grid is not None:
        raise ValueError(f"--grid goes with --map som; the prototypes of --map {settings.map} are given as -k NUMBER.")
    for name in ("sigma_start", "sigma_end", "neighborhood"):
        if settings.map == "kmeans" and getattr(settings, name) is not None:
            option = SETTINGS[name].option
            raise ValueError(f"{option} has no meaning for --map kmeans, which has no neighbourhood; drop it.")
    if settings.sigma_start is not None and settings.sigma_start < (settings.sigma_end or SIGMA_END):
        raise ValueError(
            f"--sigma-start {settings.sigma_start:g} is below --sigma-end {settings.sigma_end or SIGMA_END:g}; "
            "the neighbourhood shrinks in training, so start with the larger."
        )
    for name in ("stream", "tree", "max_evaluations"):
        if settings.patch == 0 and getattr(settings, name):
            raise ValueError(
                f"{SETTINGS[name].option} goes with a pass over patches, --patch 0 with all pairs; drop one."
            )
    if settings.stream and settings.labels is not None:
        raise ValueError("--stream does not support --labels; drop one of them.")
    if settings.beta is not None:
        check_beta(settings.beta)
        if settings.labels is None:
            raise ValueError("--beta lets labels guide the map, but there are none; give --labels, or drop --beta.")
        if settings.beta < 1 and settings.refine != "none" and settings.map == "som":
            raise ValueError(f"--refine {settings.refine} of a SOM does not support labels; drop it, or --beta.")
    check_n_jobs(settings.threads)
    if settings.metric not in (None, "precomputed"):
        bind(settings.metric, settings.params)
    elif settings.metric == "precomputed" and settings.params:
        raise ValueError("--param is given, but dissimilarities that are there already have no parameters; drop it.")


def sized(settings: FitSettings, n: int, name: str) -> FitSettings:
    """The settings with a number of prototypes that suits n points of the file `name`; ValueError for too many.

    In a pass the prototypes must suit a patch.
    """
    if settings.n_prototypes is None:
        n = min(n, settings.patch or n)
        K = max(1, min(round(5 * sqrt(n)), n // 4))
        if settings.map != "som":
            return replace(settings, k=K)
        rows = max(1, round(sqrt(0.8 * K)))
        return replace(settings, grid=(rows, max(1, K // rows)))
    K = settings.n_prototypes
    if n < K:
        asked = f"-k {K}" if settings.grid is None else f"--grid {grid_text(settings.grid)} has {K} neurons, which"
        raise ValueError(f"{asked} exceeds the {n} objects of {name}; ask for at most one prototype per object.")
    if settings.patch and settings.patch < K:
        raise ValueError(f"--patch {settings.patch} is less than the {K} prototypes; choose several times as many.")
    return settings


def in_patches(settings: FitSettings, n: int) -> FitSettings:
    """The settings with the size of a patch, where one pass is asked for or n objects are too many for all pairs."""
    asked = settings.stream or settings.tree or settings.max_evaluations is not None
    if settings.patch is None and (asked or n > MOST_ALL_PAIRS):
        return replace(settings, patch=USUAL_PATCH)
    return settings


def completed(settings: FitSettings, metric: str) -> FitSettings:
    """The settings with everything said that has a default."""
    kmeans = settings.map == "kmeans"
    return replace(
        settings,
        metric=metric,
        epochs=settings.epochs or (KMeansParameters.max_iter if kmeans else AnnealedParameters.n_epochs),
        sigma_end=settings.sigma_end or (None if kmeans else SIGMA_END),
        neighborhood=settings.neighborhood or (None if kmeans else AnnealedParameters.neighborhood),
    )


def make_map(settings: FitSettings, **more: Any) -> BaseMap:
    """The median map that the settings describe, not fitted; what is None is left to it.

    more : parameters of the map that no setting sets, or that take the place of a setting's.
    """
    from ..estimators.median import MedianKMeans, MedianNeuralGas, MedianSOM

    kind: Any = {"som": MedianSOM, "gas": MedianNeuralGas, "kmeans": MedianKMeans}[settings.map]
    known = kind().get_params(deep=False)
    given = {}
    for row in SETTINGS.values():
        value, parameter = getattr(settings, row.name), next((each for each in row.sets if each in known), None)
        if parameter is not None and value not in (None, {}, "none"):
            given[parameter] = value
    map_: BaseMap = kind(**{**given, **more})
    return map_
