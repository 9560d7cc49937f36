"""config.toml, which a run leaves so that it can be repeated: its settings, what tells its data, and versions."""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .._version import __version__
from .settings import GRID, SETTINGS, TABLE, FitSettings, grid_text, parse_grid

CONFIG = "config.toml"
RECORDED = ("data", "versions")  # what a run leaves for the record; no settings
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
# By the type of a setting: what TOML makes of it, and how it is called.
TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "text"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "bool": ((bool,), "true or false"),
    GRID: ((str,), "text, for example '6x8'"),
    TABLE: ((dict,), "a table"),
}


def read_config(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings in the file by name, each checked, and what it says of the data they were made with."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"There is no configuration {file}; check the path given to --config.")
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
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
    return settings, recorded if isinstance(recorded, dict) else {}


def settings_in(path: Path) -> dict[str, Any]:
    """The settings of a fit in the file beside a model; none where the file is not one that `fit` wrote."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
    versions = content.get("versions")
    if not isinstance(versions, dict) or "medianmap" not in versions or "clusters" in content:
        return {}
    return {name: value for name, value in content.items() if name in SETTINGS and _is_of_type(name, value)}


def _is_of_type(name: str, value: Any) -> bool:
    types, _ = TYPES[SETTINGS[name].type]
    return isinstance(value, types) and (not isinstance(value, bool) or bool in types)


def merged(config: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a configuration, those given in their place; what depends on one that is replaced is dropped."""
    kept = dict(config)
    if {"map", "grid", "k"} & given.keys():
        for name in ("grid", "k", "sigma_start"):
            kept.pop(name, None)
        if given.get("map", kept.get("map", "som")) != config.get("map", "som"):
            for name in ("epochs", "sigma_end", "neighborhood"):
                kept.pop(name, None)
    if given.get("metric", kept.get("metric")) != kept.get("metric"):
        kept.pop("params", None)
    for name in ("params", "read"):
        if name in given:
            kept[name] = {**kept.get(name, {}), **given[name]}
    return {**kept, **{name: value for name, value in given.items() if name not in ("params", "read")}}


# --- writing


def config_text(settings: FitSettings, data: Mapping[str, Any]) -> str:
    """The whole configuration of a fit."""
    values = {name: getattr(settings, name) for name in SETTINGS}
    if settings.grid is not None:
        values["grid"] = grid_text(settings.grid)
    said = "`medianmap fit --config` with this file repeats the run; options on the command line override it."
    return toml_text(said, values, data)


def command_text(values: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The configuration of the command that runs now, which no `--config` reads; its first line repeats the run."""
    said = f"{command_line(click.get_current_context())}\nrepeats the run into a new folder DIR."
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
    tables["versions"] = {"medianmap": __version__, "python": python, **{name: version(name) for name in LIBRARIES}}
    for name, table in tables.items():
        entries = [f"{_key(key)} = {_toml(value)}" for key, value in table.items() if value is not None]
        lines += ["", f"[{name}]", *entries]
    return "\n".join(lines) + "\n"


def about_file(file: str | Path) -> dict[str, Any]:
    """Size and SHA-256 of a file; nothing of standard input, which is gone."""
    path = Path(file)
    if str(file) == "-" or not path.is_file():
        return {}
    with path.open("rb") as stream:
        return {"bytes": path.stat().st_size, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()}


def command_line(context: click.Context) -> str:
    """What was asked for, ready to be typed again; DIR takes the place of the folder."""
    words, arguments = ["medianmap", str(context.info_name)], []
    for parameter in context.command.params:
        name = parameter.name or ""
        value = context.params.get(name)
        given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if value is None or not given or name in ("out", "force"):  # those belong to that run alone
            continue
        if isinstance(parameter, click.Argument):
            arguments.append(str(value))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[-1])
        elif isinstance(value, Mapping):
            for key, each in value.items():
                words += [parameter.opts[-1], f"{key}={each if isinstance(each, str) else json.dumps(each)}"]
        else:
            words += [parameter.opts[-1], str(value)]
    dashed = any(each.startswith("-") and each != "-" for each in arguments)
    return shlex.join([*words, "-o", "DIR", *(["--"] if dashed else []), *arguments])


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
