"""The settings of a fit: their table, the options (`--grid`, `-k`, `--metric` ...), config.toml, the map they describe.

A row of the table is a field of `FitSettings`: its name is the key in config.toml, its annotation the type there and on
the command line, and `setting(...)` says the rest. `fit_options` makes the options of `medianmap fit` from it, `option`
the same option for another command, `read_config` and `config_text` read and write config.toml, which a run leaves so
that it can be repeated, and `make_map` builds the map.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._version import __version__
from ..estimators.parameters import ANNEALINGS, INITS, LATTICES, NEIGHBORHOODS, MedianSOMParameters, PlaneStart
from ..estimators.parameters import KMeansParameters as KMeans
from ..estimators.parameters import MedianParameters as Median
from ..estimators.parameters import NeuralGasParameters as Gas
from ..estimators.parameters import SOMParameters as SOM
from ..utils.files import FOR_SPREADSHEETS
from ..utils.threads import bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..estimators.base import BaseMap
    from .output import Command

# Types of settings that are not Python's own; the others are "str", "int", "float" and "bool".
GRID, TABLE, AUTO = "tuple[int, ...]", "Mapping[str, Any]", "float | str"
# By the type of a setting: what TOML makes of it, and how it is called.
TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "text"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "bool": ((bool,), "true or false"),
    GRID: ((str,), "text, for example '6x8'"),
    TABLE: ((dict,), "a table"),
    AUTO: ((int, float, str), "a number or 'auto'"),
}
CONFIG, MODEL = "config.toml", "model.mmap"
PATHS = ("input", "labels", "exemplars")  # settings that name files, in config.toml relative to its folder
RECORDED = ("data", "versions")  # what a run leaves for the record; no settings
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")

MAPS = {"som": SOM, "gas": Gas, "kmeans": KMeans}
MOST_SEED = 2**32 - 1
# With more objects, whose pairs fill 3 GB, a fit makes one pass over patches unless asked otherwise.
MOST_ALL_PAIRS = 20_000
USUAL_PATCH = 1000


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
    map: str = setting("som", "Kind of map.", choices=tuple(MAPS))
    grid: tuple[int, ...] | None = setting(
        None, "Size of a SOM, for example 10x10, 1x12 for a chain, 4x4x4 for layers. By default 5 sqrt(N) neurons for "
        "N points, or one per four different points if that is fewer.", metavar="ROWSxCOLUMNS", sets=("grid",),
    )  # fmt: skip
    lattice: str | None = setting(
        None, f"How the neurons of a SOM are arranged: {' or '.join(LATTICES)}, or a FILE with a square matrix of the "
        f"distances between them, which needs no --grid. By default {SOM.lattice}.", metavar="KIND|FILE",
    )  # fmt: skip
    k: int | None = setting(
        None, "Number of neurons (clusters) of --map gas or kmeans. By default 5 sqrt(N) for N points, or one per four "
        "different points if that is fewer.",
        option="-k", at_least=1, sets=("n_clusters",),
    )  # fmt: skip
    metric: str | None = setting(
        None, "How two points are compared (see medianmap metrics); by default alignment for proteins, edit for other "
        "strings, euclidean for vectors, dtw for series.", metavar="NAME", sets=("metric",),
    )  # fmt: skip
    params: Mapping[str, Any] = setting(
        {}, "A parameter of the metric, for example indel=2; may be repeated.",
        option="--param", metavar="NAME=VALUE", sets=("metric_params",),
    )  # fmt: skip
    read: Mapping[str, Any] = setting(
        {}, "How to read the file, as in medianmap.readers.read: format=pairs, kind=matrix, columns=a,b, missing=max, "
        "similarity=1-s ...; may be repeated.", metavar="NAME=VALUE",
    )  # fmt: skip
    labels: str | None = setting(
        None, "Where the labels are: FILE or FILE:COLUMN of metadata; a column, if INPUT is a table; for sequences, "
        "header (the word after the id), header:2 (the second word) or header:KEY (what follows KEY=).",
        metavar="FILE|COLUMN",
    )  # fmt: skip
    strict: bool = setting(False, "Refuse a file of labels that lacks a point, or has a line without a point.")
    beta: float | str | None = setting(
        None, "How far labels guide the map: 1 not at all, near 0 they decide, auto by how many labels there are.",
        metavar="NUMBER|auto",
    )  # fmt: skip
    patch: int | None = setting(
        None, "Map large data in one pass over patches of SIZE points; 0 compares all pairs. By default all pairs of "
        f"up to {MOST_ALL_PAIRS} points, otherwise patches of {USUAL_PATCH}.", at_least=0, metavar="SIZE",
    )  # fmt: skip
    stream: bool = setting(
        False, "Read INPUT as a stream, in one pass in the order of the file, so memory does not grow with its size."
    )
    tree: bool = setting(False, "Summarise patches in parallel, then their summaries.")
    max_evaluations: int | None = setting(
        None, "Limit the dissimilarities a pass computes: patches become smaller, or the pass stops early.",
        at_least=1, metavar="N",
    )  # fmt: skip
    epochs: int | None = setting(
        None, f"Epochs of training; by default {SOM.n_epochs} for som, {Gas.n_epochs} for gas, at most "
        f"{KMeans.max_iter} for kmeans.", at_least=1, metavar="N", sets=("max_iter", "n_epochs"),
    )  # fmt: skip
    sigma_start: float | None = setting(
        None, "Width of the neighbourhood at the start; by default half the map.", sets=("sigma_start",)
    )
    sigma_end: float | None = setting(
        None, f"Width of the neighbourhood at the end; by default {SOM.sigma_end} for som, {Gas.sigma_end} for gas.",
        sets=("sigma_end",),
    )  # fmt: skip
    neighborhood: str | None = setting(
        None, "How a neuron's influence falls with rank or with distance on the grid; by default "
        f"{SOM.neighborhood} for som, {Gas.neighborhood} for gas.", choices=NEIGHBORHOODS, sets=("neighborhood",),
    )  # fmt: skip
    init: str | None = setting(
        None, f"How the first exemplars are chosen; by default {PlaneStart.init} for som, otherwise {Median.init}.",
        choices=INITS, sets=("init",),
    )  # fmt: skip
    n_init: int = setting(
        Median.n_init, "Number of starts; the best one is kept.", at_least=1, metavar="N", sets=("n_init",)
    )
    annealing: str = setting(
        Median.annealing, "Anneal with combinations of data points (auto, relational), with data points throughout "
        "(median), or not at all (none).", choices=ANNEALINGS, sets=("annealing",),
    )  # fmt: skip
    refine: str = setting(
        "none", "swap: at the end, swap exemplars for other points as long as the map gets better.",
        choices=("none", "swap"), sets=("refine",),
    )  # fmt: skip
    order: float | None = setting(
        None, "How much quantization error a SOM may give up for order on the grid, as a share; by default "
        f"{MedianSOMParameters.order:g}.", sets=("order",),
    )  # fmt: skip
    temperature: float | str | None = setting(
        None, "Start --map kmeans or som by deterministic annealing, from this temperature or from one chosen by auto: "
        "at first, points count for several neurons.", metavar="T|auto", sets=("temperature",),
    )  # fmt: skip
    stability: int | None = setting(
        None, "Fit N more maps to resamples of the data, and report how often each point keeps its neuron.",
        at_least=2, metavar="N",
    )  # fmt: skip
    exemplars: str | None = setting(
        None, "A file of ids: these points become the exemplars and are arranged on the grid of a SOM; nothing is "
        "trained.", metavar="FILE",
    )  # fmt: skip
    seed: int = setting(0, "Seed of the random numbers.", at_least=0, at_most=MOST_SEED, sets=("random_state",))
    threads: int | None = setting(None, "Number of threads; -1 for all cores.", metavar="N")
    device: str | None = setting(
        None, "Where all pairs are compared and the map is fitted: cuda or cuda:1 for a graphics card (extra gpu), "
        "auto for a card if that should be faster, torch:cpu to try its code without one. By default the processor.",
        metavar="NAME", sets=("device",),
    )  # fmt: skip

    @property
    def n_prototypes(self) -> int | None:
        if self.lattice is not None and self.lattice not in LATTICES:
            return len(neuron_distances(self.lattice))
        return self.k if self.grid is None else prod(self.grid)


def _row(each: Any) -> Setting:
    default = each.default if isinstance(each.default, str | int | float) and each.default is not False else None
    row = each.metadata.get("row", Setting("The file to map, or - for standard input.", "INPUT"))
    option = row.option or "--" + each.name.replace("_", "-")
    return replace(row, name=each.name, type=str(each.type).removesuffix(" | None"), default=default, option=option)


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
    elif row.type == AUTO:
        how["callback"] = _parse_auto
    if name == "threads":
        how["callback"] = _check_threads
    if row.default is not None:
        how["show_default"] = True
    made = click.option(row.option, name, **{**how, **changes})
    more = {"read": _limit_options, "metric": yes_option}.get(name)
    return made if more is None else lambda command: made(more(command))


# What the context of a command remembers of options that go with others.
_SIZES, _YES = "medianmap.sizes", "medianmap.yes"


def _limit_options(command: Command) -> Command:
    """How large a file may be: options that are short for --read NAME=VALUE, which a run records."""
    for name, help in {
        "max-objects": "The most objects to read into memory, instead of 2000000.",
        "max-unpacked": "The most bytes a packed file may unpack to, instead of 100 times its size (256 MiB at least).",
        "max-length": "The longest line or sequence to accept, instead of 10000000.",
    }.items():
        kept = click.option(f"--{name}", type=click.IntRange(1), metavar="N", help=help, expose_value=False,
                            is_eager=True, callback=_keep_size)  # fmt: skip
        command = kept(command)
    return command


def _keep_size(context: click.Context, parameter: click.Parameter, value: int | None) -> None:
    if value is not None:
        context.meta.setdefault(_SIZES, {})[parameter.name] = value


def yes_option(command: Command) -> Command:
    """--yes, which `said_yes` tells."""

    def keep(context: click.Context, parameter: click.Parameter, yes: bool) -> None:
        context.meta[_YES] = yes

    return click.option("--yes", is_flag=True, expose_value=False, callback=keep,
                        help="Start even if the comparisons will take hours.")(command)  # fmt: skip


def said_yes() -> bool:
    """Whether the command was told to begin, however long it takes; elsewhere nobody can be asked."""
    context = click.get_current_context(silent=True)
    return context is None or bool(context.meta.get(_YES, True))


def fit_options(command: Command) -> Command:
    """All options of the table; those that are not given are None, so that a configuration can say them."""
    for row in reversed(SETTINGS.values()):
        if row.name != "input":
            help = row.help if row.default is None else f"{row.help}  [default: {row.default}]"
            command = option(row.name, default=None, show_default=False, help=help)(command)
    return command


def parse_grid(text: str) -> tuple[int, ...]:
    """'6x8' -> (6, 8)."""
    sides = text.lower().split("x")
    if len(sides) not in (2, 3) or not all(side.isdecimal() and int(side) > 0 for side in sides):
        raise ValueError(f"--grid {text!r} is not ROWSxCOLUMNS, for example 6x8, or LAYERSxROWSxCOLUMNS.")
    return tuple(map(int, sides))


def grid_text(grid: tuple[int, ...]) -> str:
    """(6, 8) -> '6x8'."""
    return "x".join(map(str, grid))


def neuron_distances(file: str) -> NDArray[Any]:
    """(K, K) distances between neurons, of a file that holds a matrix."""
    from ..core.neighborhood import given_lattice
    from ..readers import Matrix, read
    from ..sources import ALL

    try:
        if not Path(file).is_file():
            raise ValueError(f"there is no such file; give one, or {' or '.join(LATTICES)}.")
        matrix = read(file, kind="matrix")
        assert isinstance(matrix, Matrix)
        return given_lattice(matrix.source().block(ALL, ALL)).distances
    except ValueError as error:
        raise ValueError(f"--lattice {file}: {error}") from None


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
    return parsed | (context.meta.get(_SIZES, {}) if parameter.name == "read" else {})


def _parse_auto(context: click.Context, parameter: click.Parameter, text: str | None) -> float | str | None:
    """'0.5' -> 0.5; 'auto' stays."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither a number nor 'auto'.") from None


def _check_threads(context: click.Context, _: click.Parameter, n: int | None) -> int | None:
    if n is not None and (n == 0 or n < -1):
        raise click.BadParameter(f"{n} is no number of threads; give 1 or more, or -1 for all cores.")
    return n


def model_in(context: click.Context, _: click.Parameter, path: Path) -> Path:
    """The model in a folder that `medianmap fit` wrote; a file is the model itself."""
    if path.is_dir() and not (path / MODEL).exists():
        raise FileNotFoundError(
            f"The folder {path} holds no {MODEL}; give one that medianmap fit wrote, or a model file."
        )
    return path / MODEL if path.is_dir() else path


model_argument = click.argument("model", type=click.Path(path_type=Path), callback=model_in)
force_option = click.option("--force", is_flag=True, help="Replace the files of an earlier run in the folder.")


def _for_spreadsheets(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked:
        context.with_resource(bound(FOR_SPREADSHEETS, True))


spreadsheet_option = click.option(
    "--spreadsheet", is_flag=True, expose_value=False, callback=_for_spreadsheets,
    help="Write ' before ids and labels that begin with = + - @, which spreadsheets take for formulas.",
)  # fmt: skip
gzip_option = click.option("--gzip", is_flag=True, help="Write tables and sequences as .gz.")


# --- settings -> a map


def check_settings(settings: FitSettings) -> None:
    """ValueError in one sentence for settings that cannot be, whatever the data."""
    from ..metrics.registry import bind
    from ..utils.checks import (
        check_beta_or_auto,
        check_choice,
        check_count,
        check_n_jobs,
        check_positive,
        check_share,
        check_temperature,
    )

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
        raise ValueError(f"--grid goes with --map som; the neurons of --map {settings.map} are given as -k NUMBER.")
    if settings.lattice is not None and settings.lattice not in LATTICES:
        if settings.grid is not None:
            raise ValueError(f"--lattice {settings.lattice} says how many neurons there are; drop --grid.")
        neuron_distances(settings.lattice)
    for name in ("sigma_start", "sigma_end", "neighborhood"):
        if settings.map == "kmeans" and getattr(settings, name) is not None:
            said = f"{SETTINGS[name].option} has no meaning for --map kmeans, which has no neighbourhood; drop it."
            raise ValueError(said)
    own: Any = MAPS[settings.map]
    sigma_end = settings.sigma_end or float(getattr(own, "sigma_end", 0.0))
    if settings.sigma_start is not None and settings.sigma_start < sigma_end:
        raise ValueError(
            f"--sigma-start {settings.sigma_start:g} is below --sigma-end {sigma_end:g}; "
            "the neighbourhood shrinks in training, so start with the larger."
        )
    for name in ("stream", "tree", "max_evaluations"):
        if settings.patch == 0 and getattr(settings, name):
            said = f"{SETTINGS[name].option} goes with a pass over patches, --patch 0 with all pairs; drop one."
            raise ValueError(said)
    for name in ("exemplars", "order", "lattice"):
        if settings.map != "som" and getattr(settings, name) is not None:
            raise ValueError(f"{SETTINGS[name].option} goes with --map som, which has a grid; drop it.")
    if settings.exemplars is not None:
        if settings.patch or settings.stream or settings.tree or settings.max_evaluations is not None:
            said = "drop --patch, --stream, --tree and --max-evaluations."
            raise ValueError(f"--exemplars are taken as they are, without a pass over patches; {said}")
        if settings.n_prototypes is None:
            raise ValueError("--exemplars are laid out on a grid; give --grid ROWSxCOLUMNS, one neuron for each.")
    if settings.temperature is not None:
        check_temperature(settings.temperature, "--temperature")
        if settings.map == "gas" or settings.annealing == "none":
            raise ValueError("--temperature anneals --map kmeans and som; drop it with gas, and with --annealing none.")
    if settings.stability is not None:
        if settings.patch or settings.stream or settings.tree or settings.max_evaluations is not None:
            said = "drop --patch, --stream, --tree and --max-evaluations."
            raise ValueError(f"--stability fits maps of all pairs, without a pass over patches; {said}")
        for name in ("beta", "exemplars"):
            if getattr(settings, name) is not None:
                raise ValueError(f"--stability fits maps by dissimilarities alone, without --{name}; drop one of them.")
    if settings.order is not None:
        check_share(settings.order, "--order")
    if settings.stream and settings.labels is not None:
        raise ValueError("--stream does not support --labels; drop one of them.")
    if settings.beta is not None:
        check_beta_or_auto(settings.beta)
        if settings.labels is None:
            raise ValueError("--beta lets labels guide the map, but there are none; give --labels, or drop --beta.")
    check_n_jobs(settings.threads)
    _check_device(settings)
    if settings.metric not in (None, "precomputed"):
        bind(settings.metric, settings.params)
    elif settings.metric == "precomputed" and settings.params:
        raise ValueError("--param is given, but dissimilarities that are there already have no parameters; drop it.")


def _check_device(settings: FitSettings) -> None:
    """ValueError for a device that there is not, and beside a pass over patches, which would not gain by one."""
    from ..utils.device import asked, check_device, found

    check_device(settings.device)
    if not asked(settings.device) or settings.device == "auto":
        return
    for name in ("patch", "stream", "tree", "max_evaluations"):
        if getattr(settings, name):
            said = f"a pass over patches does not; drop {SETTINGS[name].option}, or --device."
            raise ValueError(f"--device {settings.device} compares all pairs, and {said}")
    assert settings.device is not None
    found(settings.device)


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
    if settings.lattice is not None:
        given["lattice"] = settings.lattice if settings.lattice in LATTICES else neuron_distances(settings.lattice)
    return kind(**{**given, **more})


# --- config.toml

MOST_CONFIG = 2**24  # bytes: some hundred thousand names of columns


def read_config(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings in the file by name, each checked, and what it says of the data they were made with."""
    file = Path(path) / CONFIG if Path(path).is_dir() else Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"There is no configuration {file}; check the path given to --config.")
    try:
        content = _toml_in(file)
    except ValueError as error:
        raise ValueError(f"{file} is not TOML: {error}.") from None
    settings = {name: value for name, value in content.items() if name not in RECORDED}
    for name, value in settings.items():
        if name not in SETTINGS:
            raise ValueError(f"{file}: there is no setting {name!r}; the settings are {', '.join(SETTINGS)}.")
        if not _is_of_type(name, value):
            raise ValueError(f"{file}: {name} is {value!r}; it must be {TYPES[SETTINGS[name].type][1]}.")
    if "grid" in settings:
        settings["grid"] = parse_grid(settings["grid"])
    recorded = content.get("data", {})
    settings |= {name: _from_folder(name, settings[name], file.parent) for name in PATHS if name in settings}
    return settings, recorded if isinstance(recorded, dict) else {}


def _toml_in(file: Path) -> dict[str, Any]:
    """The content of a file of settings; ValueError for what is none, as a stranger's may be."""
    if file.stat().st_size > MOST_CONFIG:
        raise ValueError(f"it has more than {MOST_CONFIG} bytes")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def settings_beside(model: Path) -> dict[str, Any]:
    """What config.toml beside a model says, if `fit` wrote it; not where the data are if they were standard input."""
    try:
        content = _toml_in(model.parent / CONFIG)
    except (OSError, ValueError):
        return {}
    versions = content.get("versions")
    if not isinstance(versions, dict) or "medianmap" not in versions or "clusters" in content:
        return {}
    if content.get("input") == "-":
        del content["input"]
    settings = {name: value for name, value in content.items() if name in SETTINGS and _is_of_type(name, value)}
    return settings | {name: _from_folder(name, settings[name], model.parent) for name in PATHS if name in settings}


def _is_of_type(name: str, value: Any) -> bool:
    types, _ = TYPES[SETTINGS[name].type]
    return isinstance(value, types) and (not isinstance(value, bool) or bool in types)


def merged(config: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a configuration, those given in their place; what depends on one that is replaced is dropped."""
    kept = dict(config)
    if {"map", "grid", "k"} & given.keys():
        for name in ("grid", "k", "sigma_start", *(() if kept.get("lattice") in LATTICES else ("lattice",))):
            kept.pop(name, None)
        if given.get("map", kept.get("map", "som")) != config.get("map", "som"):
            for name in ("epochs", "sigma_end", "neighborhood", "init", "order", "exemplars", "lattice"):
                kept.pop(name, None)
    if given.get("lattice", LATTICES[0]) not in LATTICES:
        kept.pop("grid", None)
    if given.get("metric", kept.get("metric")) != kept.get("metric"):
        kept.pop("params", None)
    for name in ("params", "read"):
        if name in given:
            kept[name] = {**kept.get(name, {}), **given[name]}
    return {**kept, **{name: value for name, value in given.items() if name not in ("params", "read")}}


def _from_folder(name: str, value: str, folder: Path) -> str:
    """A path in the config.toml of the folder as it is called from here."""
    place = os.path.normpath(os.path.join(os.path.realpath(folder), value))
    if os.path.isabs(value) or not _is_path(name, value, place):
        return value
    return os.path.relpath(place, os.path.realpath("."))


def _to_folder(name: str, value: str, folder: Path) -> str:
    """The reverse: a path as the config.toml of the folder has it, an absolute one as it is."""
    if os.path.isabs(value) or not _is_path(name, value, value):
        return value
    parent, file = os.path.split(value)
    return Path(os.path.relpath(os.path.join(os.path.realpath(parent), file), os.path.realpath(folder))).as_posix()


def _is_path(name: str, value: str, place: str) -> bool:
    """Whether the setting names a file: --labels may name a column, or FILE:COLUMN. place : where it would be."""
    if name != "labels":
        return value != "-"
    parts = place.split(":")
    return any(os.path.isfile(":".join(parts[:k])) for k in range(len(parts), 0, -1))


def config_text(settings: FitSettings, data: Mapping[str, Any], folder: Path) -> str:
    """The whole configuration of a fit, to be written into the folder, to which paths in it are relative."""
    values = {name: getattr(settings, name) for name in SETTINGS}
    values |= {name: _to_folder(name, values[name], folder) for name in PATHS if values[name] is not None}
    if settings.grid is not None:
        values["grid"] = grid_text(settings.grid)
    said = "`medianmap fit --config` with this file repeats the run; options on the command line override it."
    return toml_text(said, values, data)


def toml_text(said: str, values: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """A comment, the settings, what tells the data, and versions; settings of None are named in a comment."""
    lines = [f"# {line}" for line in _written(said).split("\n")]
    tables: dict[str, Mapping[str, Any]] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            tables[name] = value
        elif value is None:
            lines.append(f"# {name} is not set")
        else:
            lines.append(f"{name} = {_toml(value)}")
    python = ".".join(map(str, sys.version_info[:3]))
    tables["data"] = data
    used = (*LIBRARIES, *(["torch"] if values.get("device") is not None and "torch" in sys.modules else []))
    tables["versions"] = {"medianmap": __version__, "python": python, **{name: version(name) for name in used}}
    for name, table in tables.items():
        entries = [f"{_key(key)} = {_toml(value)}" for key, value in table.items() if value is not None]
        lines += ["", f"[{name}]", *entries]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name) else _toml(name)


def _toml(value: Any) -> str:
    """A value as TOML writes it; strings have the escapes of JSON, and one more."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(str(key))} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return _written(json.dumps(value, ensure_ascii=False)).replace("\x7f", "\\u007f")


def _written(text: str) -> str:
    """The text as UTF-8 can hold it: a file name may be bytes that are no text."""
    return text.encode("utf-8", "replace").decode()
