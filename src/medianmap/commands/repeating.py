"""What a run leaves beside its files so that it can be repeated: config.toml with its command line and settings."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

CONFIG = "config.toml"


def config_lines(values: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
    """The lines of config.toml for the command that runs now."""
    from ..config import toml_text

    said = f"{command_line(click.get_current_context())}\nrepeats the run into a new folder DIR."
    return toml_text(said, values, data).rstrip("\n").split("\n")


def command_line(context: click.Context) -> str:
    """What was asked for, ready to be typed again; the folder to write stands as DIR."""
    words, arguments = ["medianmap", str(context.info_name)], []
    for parameter in context.command.params:
        name = parameter.name or ""
        value = context.params.get(name)
        given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
        if value is None or not given or name in ("out", "force", "checkpoint"):  # those belong to that run alone
            continue
        if isinstance(parameter, click.Argument):
            arguments.append(str(value))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[-1])
        else:
            for each in value if parameter.multiple else [value]:
                words += [parameter.opts[-1], str(each)]
    dashed = any(each.startswith("-") and each != "-" for each in arguments)
    return shlex.join([*words, "-o", "DIR", *(["--"] if dashed else []), *arguments])
